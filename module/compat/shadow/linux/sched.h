/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/sched.h> with what newer kernels have in it. */
#ifndef PMUCTL_SHADOW_LINUX_SCHED_H
#define PMUCTL_SHADOW_LINUX_SCHED_H

#include_next <linux/sched.h>

#include "compat/probed.h"

#ifndef COMPAT_HAS_TASK_IS_RUNNING
/* Since 5.14. May go with 5.10. */
#define task_is_running(task)	(READ_ONCE((task)->state) == TASK_RUNNING)
#endif

#ifndef COMPAT_HAS_PF_USER_WORKER
/*
 * Threads of user processes that never run in user space. Since 6.4 they have a flag of
 * their own; before, only those of io_uring existed. May go with 6.1.
 */
#define PF_USER_WORKER		PF_IO_WORKER
#endif

#endif /* PMUCTL_SHADOW_LINUX_SCHED_H */
