/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an exec does to the events of its task, and what may be told of it: exec.c.
 */
#ifndef PMUCTL_EXEC_H
#define PMUCTL_EXEC_H

#include <linux/sched/coredump.h>

#include "core/event.h"

/**
 * pmuctl_exec_is_secret() - does its exec gain rights, or is the file not readable?
 * @task: current, or about to be.
 *
 * Known from where the kernel commits the new credentials on, before anything is mapped;
 * after that exec nobody may look into the task who could before.
 *
 * Context: Any, on the CPU of the task; NMI-safe.
 */
static inline bool pmuctl_exec_is_secret(const struct task_struct *task)
{
	const struct mm_struct *mm = task->mm;

	/* As perf has it: the same that forbids ptrace(2) and core dumps. */
	return task->in_execve && mm &&
	       __get_dumpable(READ_ONCE(mm->flags)) != SUID_DUMP_USER;
}

/**
 * pmuctl_may_tell() - may this event tell what its task does, now?
 * @event: that has a context. Of a CPU's it is the right to open it that decides.
 *
 * Asked before each record that tells more than about the event itself.
 *
 * Context: Any, on the CPU on which its context is loaded or about to be; NMI-safe.
 */
static inline bool pmuctl_may_tell(const struct pmuctl_event *event)
{
	const struct pmuctl_context *ctx = event->context;

	return likely(!READ_ONCE(ctx->in_exec)) || !pmuctl_exec_is_secret(ctx->task);
}

/* What the hooks tell: the old image is gone, and, if the context did not end with that, the new
 * one is there. Context: that of the tracepoint, see core/task_hooks.c
 */
void pmuctl_context_exec_begin(void);
void pmuctl_context_exec_end(void);

#endif /* PMUCTL_EXEC_H */
