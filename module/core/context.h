/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Contexts: the events of a task, or of a CPU. A context is "loaded" on a CPU while its events
 * may be on that CPU's PMU: a CPU's always, a task's while the task runs there. Whose they are
 * is in context_table.h.
 *
 * Lock order, outermost first:
 *
 *	opener->mutex		the front's: which descriptors a thread has opened
 *	aux->filter_mutex	one filter of a trace is set after the other
 *	group->mutex		of the events of an inherited group: walks over their children
 *	pmuctl_mutex		opening and closing: lists of events, users of hooks
 *	watch_mutex		soft/tracepoint.c: are we told of modules that go
 *	tracepoints_mutex	which tracepoints have events
 *	hooks_mutex		which hooks are set
 *	(mmap_lock)		mapping and unmapping
 *	aux->map_mutex		how often the AUX buffer of an event is mapped
 *	buffer_mutex		which output writes to which buffer
 *	charge_mutex		whose locked memory a buffer is
 *	user_mutex		which processes may read counters
 *	cpus_read_lock		which CPUs are there; users of the PMU
 *	files_lock		raw: which trace's filter is about which file
 *	(rq->lock)		the scheduler's, held when sched_switch calls us
 *	context->lock		raw, IRQs off: state of the events of a context
 *	shard->lock		raw, IRQs off: the children that were made on a CPU
 *	pmuctl_hash_locks	raw, IRQs off: which contexts tasks have; leaves
 *
 * All other locks are leaves too, and described where they are.
 *
 * Under context->lock nothing may be woken up: rq->lock is outside of it. Only the CPU on
 * which both are loaded locks two contexts at once: its own, then its task's.
 *
 * Whoever changes the state of an event does so under context->lock, on the CPU on which
 * the context is loaded, which brings the PMU in line at once; or anywhere if it is not
 * loaded: whoever loads it next sees the new state.
 */
#ifndef PMUCTL_CONTEXT_H
#define PMUCTL_CONTEXT_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "explain/explain.h"

struct pmuctl_event;

/* Serializes opening and closing. */
extern struct mutex pmuctl_mutex;

/**
 * enum pmuctl_class - how a group gets on the PMU
 * @PMUCTL_PINNED: whenever its context is loaded, or it is in error.
 * @PMUCTL_FLEXIBLE: multiplexed with others, if there are not counters for all.
 */
enum pmuctl_class {
	PMUCTL_PINNED,
	PMUCTL_FLEXIBLE,
	PMUCTL_CLASSES
};

/**
 * struct pmuctl_context - the events of a task or a CPU
 *
 * Constant after creation:
 * @task: whose; NULL if it is a CPU's. Referenced.
 * @cpu: which CPU's; -1 if it is a task's.
 *
 * Protected by @lock:
 * @groups: group leaders, by class, in the order in which they are put on the PMU. Events with
 *	descriptors come only with pmuctl_mutex held too; an exec takes them out without it.
 *	The order changes with every rotation.
 * @loaded_cpu: where it is loaded, or -1. May be read without the lock as a hint.
 * @gone: it will never be loaded again: the task has ended, or has executed what nobody
 *	may look into.
 * @nr_at_switch: of a CPU's: events that do not count while it is idle, or that count what
 *	tasks do; of a task's: those that count its migrations.
 * @migrations: of the task, when it was last unloaded; if somebody counts them.
 * @rotate_necessary: not all of its flexible groups found counters when it was last loaded.
 * @rotation_start: when those that run were put on the PMU, in ns of sched_clock(); while it is
 *	unloaded @rotation_elapsed: how long that had been.
 * @nr_user_pages: events of its lists whose counter.user is set.
 * @nr_inherit: events that children of its task get, of which
 * @nr_inherit_sampling: sample. The task itself may read both without the lock, as a hint.
 * @nr_events: all its events, by their weight (soft.h).
 * @clone_id: between those with the same number a switch needs nothing from the PMU; 0: nobody,
 *	and negative ones are for switches that are always split: see core/clone_switch.c.
 *	Whoever changes which events there are, their order, or which are enabled, sets
 *	it to 0. It stays 0 once the context is gone.
 * @in_exec: its task is in an exec that cannot fail any more, or may be: what it executes may
 *	be nobody's to look into. Read without the lock.
 * @clone_first: its first event, as pmuctl_event.clone_next.
 *
 * Others:
 * @lock: see above.
 * @hash: of a task's, in the table of contexts: pmuctl_hash_locks, read under RCU.
 * @gone_wait: woken when it is gone; its own lock.
 * @refs: one for each event, one for who creates it. A CPU's is never freed.
 * @rcu: delays the end until nobody can find it in the table any more.
 */
struct pmuctl_context {
	struct task_struct *task;
	int cpu;

	raw_spinlock_t lock;
	struct list_head groups[PMUCTL_CLASSES];
	int loaded_cpu;
	bool gone;
	unsigned int nr_at_switch;
	u64 migrations;
	bool rotate_necessary;
	u64 rotation_start;
	u64 rotation_elapsed;
	unsigned int nr_user_pages;
	unsigned int nr_inherit;
	unsigned int nr_inherit_sampling;
	unsigned int nr_events;
	s64 clone_id;
	bool in_exec;
	struct pmuctl_event *clone_first;

	struct hlist_node hash;
	wait_queue_head_t gone_wait;
	refcount_t refs;
	struct rcu_head rcu;
};

/* Walk the groups of a context, pinned ones first, by their leaders. */
#define for_each_group(leading, class, ctx)				\
	for ((class) = 0; (class) < PMUCTL_CLASSES; (class)++)		\
		list_for_each_entry(leading, &(ctx)->groups[class], node)

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
/* That of the current task is never to be loaded again. Under RCU. */
void pmuctl_context_retire(struct pmuctl_context *ctx);

#endif /* PMUCTL_CONTEXT_H */
