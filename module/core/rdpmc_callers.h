/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading counters in user space: how often a user may have CPUs called for his processes.
 */
#ifndef PMUCTL_CORE_RDPMC_CALLERS_H
#define PMUCTL_CORE_RDPMC_CALLERS_H

#include <linux/types.h>

/* May CPUs be called for a process more of the current user, now? Process. */
bool pmuctl_rdpmc_may_call(void);

#endif /* PMUCTL_CORE_RDPMC_CALLERS_H */
