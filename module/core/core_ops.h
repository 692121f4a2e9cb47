/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the core calls that is built on it, beside what kinds of events do in their own way
 * (struct pmuctl_event_ops): main.c gives it this table before anything can happen.
 *
 * All is rare, or at least concerns few events: nothing that a switch between hardware
 * events, a read or a sample does each time is called through a pointer.
 */
#ifndef PMUCTL_CORE_OPS_H
#define PMUCTL_CORE_OPS_H

#include <linux/jiffies.h>
#include <linux/types.h>

struct pmuctl_context;
struct pmuctl_cpuctx;
struct pmuctl_event;
struct task_struct;

/**
 * struct pmuctl_core_ops - what the core calls
 * @switched: @next comes instead of the current task, and events of this CPU follow tasks. IRQs
 *	off.
 * @arrived: the context of a task was loaded, of which events count migrations. IRQs off.
 * @tick: what is to be done at times while events are sampled, and
 * @tick_aux: while they trace; each returns true if it is needed again. On that CPU, locked by
 *	pmuctl_cpu_lock().
 * @go_on: an event is about to start that was stopped or throttled. Owner CPU, its context locked.
 * @hooks_dropped: the worker has dropped hooks that are not needed. Process, may sleep.
 */
struct pmuctl_core_ops {
	void (*switched)(struct task_struct *next);
	void (*arrived)(struct pmuctl_context *ctx);
	bool (*tick)(struct pmuctl_cpuctx *pc);
	bool (*tick_aux)(struct pmuctl_cpuctx *pc);
	void (*go_on)(struct pmuctl_event *event);
	void (*hooks_dropped)(void);
};

/* ns between two calls of @tick and @tick_aux, while they are needed */
#define PMUCTL_TICK_NS	((u64)TICK_NSEC)

extern const struct pmuctl_core_ops *pmuctl_core_ops;

#endif /* PMUCTL_CORE_OPS_H */
