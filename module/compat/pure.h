/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What files of pure logic need from their surroundings: fixed-width types,
 * error numbers, strings, bit counts. Such files compile in the module and in user
 * space, where their unit tests and fuzzers run; this header hides the
 * difference. It must not grow beyond what both sides have.
 */
#ifndef PMUCTL_COMPAT_PURE_H
#define PMUCTL_COMPAT_PURE_H

#ifdef __KERNEL__

#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#else /* user space */

#include <errno.h>
#include <linux/types.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef int32_t s32;
typedef long long s64;

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define BIT_ULL(n)		(1ULL << (n))
#define GENMASK_ULL(h, l)	((~0ULL << (l)) & (~0ULL >> (63 - (h))))
#define __printf(fmt, args)	__attribute__((format(printf, fmt, args)))
#define scnprintf		snprintf
#define strscpy(dst, src, n)	snprintf((dst), (n), "%s", (src))

static inline unsigned long __ffs64(u64 word)
{
	return __builtin_ctzll(word);
}

static inline unsigned int hweight64(u64 word)
{
	return __builtin_popcountll(word);
}

#endif /* __KERNEL__ */

#endif /* PMUCTL_COMPAT_PURE_H */
