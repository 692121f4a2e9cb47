/* SPDX-License-Identifier: GPL-2.0-only */
/* What is done with contexts: see context_types.h for what they are, and the order of locks. */
#ifndef PMUCTL_CONTEXT_H
#define PMUCTL_CONTEXT_H

#include <linux/mutex.h>

#include "core/context_types.h"
#include "explain/explain.h"

/* Serializes opening and closing. */
extern struct mutex pmuctl_mutex;

struct pmuctl_cpuctx;
typedef void (*pmuctl_context_func)(struct pmuctl_context *ctx, void *arg);
typedef bool (*pmuctl_context_change_func)(struct pmuctl_cpuctx *pc, void *arg);
typedef bool (*pmuctl_context_visit)(struct pmuctl_context *ctx, void *arg);

int pmuctl_context_init(void);
void pmuctl_context_exit(void);

/* This CPU's PMU can be used from now on, or not any more; nothing is loaded then. The
 * current task's events are loaded by the last. Context: That CPU, where nothing else
 * can run meanwhile.
 */
void pmuctl_context_cpu_online(void);
void pmuctl_context_cpu_offline(void);
void pmuctl_context_load_current(void);

/* The context of a CPU. It always exists. */
struct pmuctl_context *pmuctl_context_of_cpu(int cpu);

/* Has a context another trace that could be on at the same time as @event's, which need not be in
 * it? Always false if that does not trace. Its lock is held.
 */
bool pmuctl_context_traces(struct pmuctl_context *ctx, const struct pmuctl_event *event);

/* The same where its lock is not held. Any context. */
bool pmuctl_context_is_traced(struct pmuctl_context *ctx, const struct pmuctl_event *event);

/**
 * pmuctl_context_get_task() - the context of a task, made if it has none
 * @task: referenced by the caller.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep; the hooks held.
 * Return: the context with a reference, or ERR_PTR(-ENOMEM).
 */
struct pmuctl_context *pmuctl_context_get_task(struct task_struct *task,
					       struct pmuctl_explanation *why);

/* Memory for a context, to be freed by kfree(); NULL: there is none. Process, may sleep. */
struct pmuctl_context *pmuctl_context_alloc(void);

/*
 * The same as pmuctl_context_get_task() with nothing allocated: @spare, of pmuctl_context_alloc(),
 * is used if the task has none, and is NULL then. NULL if there is neither.
 */
struct pmuctl_context *pmuctl_context_get_with(struct task_struct *task,
					       struct pmuctl_context **spare);

/* The same for a task that has not run, in a hook, under RCU; NULL: no memory. */
struct pmuctl_context *pmuctl_context_get_child(struct task_struct *child);

/* Attach a child event to a context whose lock is held; it takes a reference. @leader: of its
 * group, or NULL. If the context is loaded the caller has the PMU brought in line.
 */
void pmuctl_context_adopt(struct pmuctl_context *ctx, struct pmuctl_event *child,
			  struct pmuctl_event *leader);

/* Drop a reference. A task's context without events is taken out of use before. */
void pmuctl_context_put(struct pmuctl_context *ctx);

/**
 * pmuctl_context_add() - attach an event, and load the context if its task runs
 * @ctx: referenced for the event.
 * @event: counts at once if it is enabled.
 *
 * Context: Process, may sleep; pmuctl_mutex held.
 * Return: true; false if the context is gone: the task is exiting.
 */
bool pmuctl_context_add(struct pmuctl_context *ctx, struct pmuctl_event *event);

/**
 * pmuctl_context_join() - the same for an event that @join attaches, if it may
 * @ctx: referenced by the caller.
 * @join: as that of pmuctl_context_change(); the context may be gone.
 * @arg: its second argument.
 *
 * Context: as pmuctl_context_add()
 * Return: false if the task is exiting, and @join was not called.
 */
bool pmuctl_context_join(struct pmuctl_context *ctx,
			 pmuctl_context_change_func join, void *arg);

/* Take an event out of its context. As the function of pmuctl_context_change(); who calls it
 * says that it has ended.
 */
bool pmuctl_context_take_out(struct pmuctl_cpuctx *pc, struct pmuctl_event *event);

/* Detach an event; it is off the PMU then. Context: as pmuctl_context_add() */
void pmuctl_context_del(struct pmuctl_event *event);

/**
 * pmuctl_context_call() - call a function where the context is loaded
 * @ctx: a context.
 * @func: called with ctx->lock held and IRQs off, on the CPU where the context is
 *	loaded, or here if it is not loaded.
 * @arg: its second argument.
 *
 * Context: Process, IRQs on.
 */
void pmuctl_context_call(struct pmuctl_context *ctx, pmuctl_context_func func,
			 void *arg);

/**
 * pmuctl_context_change() - change the state of events and bring the PMU in line
 * @ctx: theirs.
 * @func: called as by pmuctl_context_call(), with the CPU where the context is loaded,
 *	and all locks of it; or NULL if it is not loaded. Returns true if something
 *	changed.
 * @arg: its second argument.
 *
 * Context: Process, IRQs on.
 */
void pmuctl_context_change(struct pmuctl_context *ctx,
			   pmuctl_context_change_func func, void *arg);

/* Enable or disable it, or its group, if it has not ended, but neither children nor parts of it.
 * Process, IRQs on.
 */
void pmuctl_event_switch(struct pmuctl_event *event, bool group, bool enabled);

/* The same of a child, and of those of its group, whose roots the walk with this number is about */
void pmuctl_event_switch_child(struct pmuctl_event *child, u64 walk, bool enabled);

/**
 * pmuctl_context_visit_tasks() - visit the context of every task that has one
 * @func: returns false to end the walk.
 * @arg: its second argument.
 *
 * Context: Process, may sleep; pmuctl_mutex held; @func may not sleep.
 * Return: false if @func did.
 */
bool pmuctl_context_visit_tasks(pmuctl_context_visit func, void *arg);

/* Choose anew what is on the PMU if the context is loaded here. Hard IRQ. */
void pmuctl_context_resched_here(struct pmuctl_context *ctx);

/* What the hooks tell. Context: that of the tracepoint, see event/task_hooks.c */
void pmuctl_context_switch(struct task_struct *next);
/* Does this CPU have events of cgroups? Any context. */
bool pmuctl_context_has_cgroups(int cpu);
/* The task that runs here may be in another cgroup now. Hard IRQ. */
void pmuctl_context_cgroup_moved(void);
/* That of the current task is never to be loaded again. Under RCU. */
void pmuctl_context_retire(struct pmuctl_context *ctx);

#endif /* PMUCTL_CONTEXT_H */
