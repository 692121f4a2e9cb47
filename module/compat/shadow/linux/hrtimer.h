/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/hrtimer.h> with what newer kernels have in it. */
#ifndef PMUCTL_SHADOW_LINUX_HRTIMER_H
#define PMUCTL_SHADOW_LINUX_HRTIMER_H

#include_next <linux/hrtimer.h>

#include "compat/probed.h"

#ifndef COMPAT_HAS_HRTIMER_SETUP
/* Since 6.13; hrtimer_init() is no more since 6.15. May go with 6.12. */
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *timer),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* PMUCTL_SHADOW_LINUX_HRTIMER_H */
