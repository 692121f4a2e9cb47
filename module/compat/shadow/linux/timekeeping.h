/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/timekeeping.h> with what newer kernels have in it. */
#ifndef PMUCTL_SHADOW_LINUX_TIMEKEEPING_H
#define PMUCTL_SHADOW_LINUX_TIMEKEEPING_H

#include_next <linux/timekeeping.h>

#include "compat/probed.h"

#ifndef COMPAT_HAS_KTIME_GET_TAI_FAST_NS
/* Since 6.1; compat/tai.c, whose compat_tai_follow() comes first. May go with 5.10. */
u64 compat_tai_fast_ns(void);

#define ktime_get_tai_fast_ns compat_tai_fast_ns
#endif

#endif /* PMUCTL_SHADOW_LINUX_TIMEKEEPING_H */
