/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/preempt.h> with what newer kernels have in it. */
#ifndef PMUCTL_SHADOW_LINUX_PREEMPT_H
#define PMUCTL_SHADOW_LINUX_PREEMPT_H

#include_next <linux/preempt.h>

#include "compat/probed.h"

#ifndef COMPAT_HAS_IN_HARDIRQ
/* The name since 5.11. May go with 5.10. */
#define in_hardirq()	in_irq()
#endif

#endif /* PMUCTL_SHADOW_LINUX_PREEMPT_H */
