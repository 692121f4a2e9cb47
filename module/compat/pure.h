/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What files of pure logic need from their surroundings: fixed-width types,
 * error numbers, strings, bit counts, atomics. Such files compile in the module and in
 * user space, where their unit tests and fuzzers run; this header hides the
 * difference. It must not grow beyond what both sides have.
 *
 * A test may define PURE_SCHEDULE() before it includes this: it is called before each
 * atomic access, and may let somebody else run.
 */
#ifndef PMUCTL_COMPAT_PURE_H
#define PMUCTL_COMPAT_PURE_H

#ifdef __KERNEL__

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/processor.h>
#include <linux/string.h>
#include <linux/time.h>
#include <linux/types.h>

#else /* user space */

#include <errno.h>
#include <linux/types.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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
#define noinline		__attribute__((__noinline__))
#define scnprintf		snprintf
#define array_index_nospec(i, n) (i)	/* nobody's secrets are here */
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define strscpy(dst, src, n)	snprintf((dst), (n), "%s", (src))

static inline unsigned long __ffs64(u64 word)
{
	return __builtin_ctzll(word);
}

static inline unsigned int hweight64(u64 word)
{
	return __builtin_popcountll(word);
}

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define ____cacheline_aligned	__attribute__((aligned(64)))
#define cpu_relax()		sched_yield()
#define might_sleep()		do { } while (0)

#ifndef PURE_SCHEDULE
#define PURE_SCHEDULE()		do { } while (0)
#endif

#define pure_load(p, order)						\
({									\
	PURE_SCHEDULE();						\
	__atomic_load_n((p), (order));					\
})

#define pure_store(p, v, order)						\
({									\
	PURE_SCHEDULE();						\
	__atomic_store_n((p), (v), (order));				\
})

#define READ_ONCE(x)		pure_load(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	pure_store(&(x), (v), __ATOMIC_RELAXED)
/* Barriers of one access, as in the kernel; their users say what they pair with. */
#define smp_load_acquire(p)	pure_load((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	pure_store((p), (v), __ATOMIC_RELEASE) /* likewise */

/* Likewise; not a fence, which ThreadSanitizer does not know. */
#define smp_mb()							\
({									\
	static s64 pure_word;						\
	(void)__atomic_fetch_add(&pure_word, 0, __ATOMIC_SEQ_CST);	\
})

struct pure_atomic64 {
	s64 counter;
};

#define atomic64_t			struct pure_atomic64
#define atomic64_read(a)		pure_load(&(a)->counter, __ATOMIC_RELAXED)
#define atomic64_read_acquire(a)	pure_load(&(a)->counter, __ATOMIC_ACQUIRE)
#define atomic64_set(a, v)		pure_store(&(a)->counter, (s64)(v), __ATOMIC_RELAXED)

static inline s64 atomic64_xchg(atomic64_t *a, s64 value)
{
	PURE_SCHEDULE();
	return __atomic_exchange_n(&a->counter, value, __ATOMIC_SEQ_CST);
}

static inline void atomic64_add(s64 n, atomic64_t *a)
{
	PURE_SCHEDULE();
	__atomic_fetch_add(&a->counter, n, __ATOMIC_RELAXED);
}

static inline void atomic64_or(s64 bits, atomic64_t *a)
{
	PURE_SCHEDULE();
	__atomic_fetch_or(&a->counter, bits, __ATOMIC_RELAXED);
}

static inline s64 atomic64_fetch_andnot_release(s64 bits, atomic64_t *a)
{
	PURE_SCHEDULE();
	return __atomic_fetch_and(&a->counter, ~bits, __ATOMIC_RELEASE);
}

static inline bool atomic64_try_cmpxchg(atomic64_t *a, s64 *old, s64 new_value)
{
	PURE_SCHEDULE();
	return __atomic_compare_exchange_n(&a->counter, old, new_value, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

#endif /* __KERNEL__ */

#endif /* PMUCTL_COMPAT_PURE_H */
