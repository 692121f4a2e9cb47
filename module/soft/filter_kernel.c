// SPDX-License-Identifier: GPL-2.0-only
/*
 * What filters look at that only the kernel knows.
 */
#include <linux/build_bug.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "soft/filter.h"
#include "soft/filter_kernel.h"

s64 filter_task_id(u64 task)
{
	return (task ? (const struct task_struct *)(unsigned long)task : current)->pid;
}

/* An exec that gives it another one meanwhile may have overwritten its end. */
void filter_task_comm(u64 task, char *comm)
{
	const struct task_struct *t = task ? (const void *)(unsigned long)task : current;

	BUILD_BUG_ON(FILTER_COMM_SIZE != TASK_COMM_LEN);
	memcpy(comm, t->comm, FILTER_COMM_SIZE);
	comm[FILTER_COMM_SIZE - 1] = '\0';
}

s64 filter_syscall_nr(u64 regs)
{
	return ((const struct pt_regs *)(unsigned long)regs)->orig_ax;
}

s64 filter_cpu(void)
{
	return smp_processor_id();
}
