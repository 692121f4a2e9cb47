/* SPDX-License-Identifier: GPL-2.0-only */
/* How the kernel calls the probes of tracepoints. */
#ifndef PMUCTL_COMPAT_TRACEPOINT_H
#define PMUCTL_COMPAT_TRACEPOINT_H

#include <linux/preempt.h>

#include "compat/probed.h"

/* What it adds to preempt_count(): preemption is off in older kernels. May go with 6.12. */
#ifdef COMPAT_HAS_PREEMPTIBLE_TRACEPOINTS
#define COMPAT_TRACEPOINT_OFFSET	0
#else
#define COMPAT_TRACEPOINT_OFFSET	PREEMPT_DISABLE_OFFSET
#endif

#endif /* PMUCTL_COMPAT_TRACEPOINT_H */
