/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CLOCK_TAI in NMIs, where the kernel has no ktime_get_tai_fast_ns(); nothing elsewhere.
 * May go with 5.10.
 */
#ifndef PMUCTL_COMPAT_TAI_H
#define PMUCTL_COMPAT_TAI_H

#include "compat/probed.h"

#ifdef COMPAT_HAS_KTIME_GET_TAI_FAST_NS
static inline void compat_tai_follow(void)
{
}

static inline void compat_tai_exit(void)
{
}
#else
void compat_tai_follow(void);
void compat_tai_exit(void);
#endif

#endif /* PMUCTL_COMPAT_TAI_H */
