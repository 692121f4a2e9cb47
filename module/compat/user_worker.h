/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads of user processes that never run in user space. Since 6.4 they have a flag of
 * their own; before, only those of io_uring existed. May go when no older kernel is
 * supported.
 */
#ifndef PMUCTL_COMPAT_USER_WORKER_H
#define PMUCTL_COMPAT_USER_WORKER_H

#include <linux/sched.h>

#ifndef PF_USER_WORKER
#define PF_USER_WORKER PF_IO_WORKER
#endif

#endif /* PMUCTL_COMPAT_USER_WORKER_H */
