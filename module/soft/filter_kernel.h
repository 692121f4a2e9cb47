/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What filters look at that only the kernel knows: who runs, or whom an argument points to, and
 * where. Filters are pure logic: a test of them has functions of its own for these.
 */
#ifndef PMUCTL_FILTER_KERNEL_H
#define PMUCTL_FILTER_KERNEL_H

#include "compat/pure.h"

/*
 * The id and the name, of FILTER_COMM_SIZE characters with its NUL, of the task that an argument
 * points to, or of who runs: 0. Any context.
 */
s64 filter_task_id(u64 task);
void filter_task_comm(u64 task, char *comm);

/* The CPU on which this is. Preemption off. */
s64 filter_cpu(void);

/* The number of the system call that was made with these registers. Any context. */
s64 filter_syscall_nr(u64 regs);

#endif /* PMUCTL_FILTER_KERNEL_H */
