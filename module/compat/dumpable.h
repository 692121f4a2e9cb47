/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * May everybody with the rights for it look into a task, or only root? The kernel keeps that with
 * the task's memory, and newer ones with what its exec has made of it; none of their functions for
 * that is for modules.
 */
#ifndef PMUCTL_COMPAT_DUMPABLE_H
#define PMUCTL_COMPAT_DUMPABLE_H

#include <linux/sched.h>
#include <linux/sched/coredump.h>

#include "compat/probed.h"

#ifdef COMPAT_HAS_TASK_EXEC_STATE
#include <linux/sched/exec_state.h>

/* Context: Any; NMI-safe. @task: current, or about to be */
static inline bool compat_is_dumpable(const struct task_struct *task)
{
	/* It is exchanged, and then freed, by the task itself. */
	return READ_ONCE(rcu_dereference_raw(task->exec_state)->dumpable) ==
	       TASK_DUMPABLE_OWNER;
}
#else
/* May go with 6.12. */
static inline bool compat_is_dumpable(const struct task_struct *task)
{
	return __get_dumpable(READ_ONCE(task->mm->flags)) == SUID_DUMP_USER;
}
#endif

#endif /* PMUCTL_COMPAT_DUMPABLE_H */
