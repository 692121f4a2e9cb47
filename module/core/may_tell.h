/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What may be told of a task that is in an exec: event/exec.c.
 */
#ifndef PMUCTL_MAY_TELL_H
#define PMUCTL_MAY_TELL_H

#include "compat/dumpable.h"
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
	/* As perf has it: the same that forbids ptrace(2) and core dumps. */
	return task->in_execve && task->mm && !compat_is_dumpable(task);
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

#endif /* PMUCTL_MAY_TELL_H */
