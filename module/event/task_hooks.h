/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler's tracepoints, and all hooks that an event needs.
 */
#ifndef PMUCTL_TASK_HOOKS_H
#define PMUCTL_TASK_HOOKS_H

#include <linux/types.h>

struct pmuctl_event;
struct pmuctl_explanation;

/**
 * pmuctl_hooks_get() - an event is about to need all hooks that it needs
 * pmuctl_hooks_put() - and does not any more
 * @event: which.
 * @scheduler: the scheduler's is one of them.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep; neither pmuctl_mutex nor cpus_read_lock held.
 * Return: 0; -EOPNOTSUPP if this kernel has no such hook; -ENOMEM; -EINTR if the caller is killed.
 */
int pmuctl_hooks_get(struct pmuctl_event *event, bool scheduler,
		     struct pmuctl_explanation *why);
void pmuctl_hooks_put(struct pmuctl_event *event, bool scheduler);

void pmuctl_hooks_init(void);

#endif /* PMUCTL_TASK_HOOKS_H */
