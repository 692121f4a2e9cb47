/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Contexts: the events of a task, or of a CPU. A context is "loaded" on a CPU while its events
 * may be on that CPU's PMU: a CPU's always, a task's while the task runs there. Whose they are
 * is in context_table.h.
 *
 * Lock order, outermost first:
 *
 *	opener->mutex		the front's: which descriptors a thread has opened
 *	group->attach		of the events of an inherited group: one gets its leader's children
 *	group->mutex		of the events of an inherited group: walks over their children
 *	aux->filter_mutex	one filter of a trace is set after the other
 *	pmuctl_mutex		opening and closing: lists of events
 *	watch_mutex		soft/tracepoint.c: are we told of modules that go
 *	tracepoints_mutex	which tracepoints have events
 *	(mmap_lock)		mapping and unmapping
 *	aux->map_mutex		how often the AUX buffer of an event is mapped
 *	buffer_mutex		which output writes to which buffer
 *	charge_mutex		whose locked memory a buffer is
 *	page_mutexes		pages of events, from which programs read counters
 *	cpus_read_lock		which CPUs are there; users of the PMU
 *	a chain's lock		raw, aux/filter.c: which trace's filter is about which file
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
#ifndef PMUCTL_CONTEXT_TYPES_H
#define PMUCTL_CONTEXT_TYPES_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

struct pmuctl_event;

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
 *	tasks do, and who waits for the end of its idleness (tick.c); of a task's: those that
 *	count its migrations.
 * @nr_cgroup: of a CPU's: events of cgroups. Read without the lock by who has moved a task.
 * @migrations: of the task, when it was last unloaded; if somebody counts them.
 * @rotate_necessary: flexible groups had to wait for counters when it was last loaded, its own or
 *	those of the other context that was loaded with it.
 * @rotation_start: when its turn began, in ns of sched_clock(); while that does not go on
 *	@rotation_elapsed: how long it has been.
 * @goes_first: of a task's: at the next choice its flexible groups come before the CPU's.
 * @child_goes_first: likewise of the next child's.
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
	unsigned int nr_cgroup;
	u64 migrations;
	bool rotate_necessary;
	bool goes_first;
	bool child_goes_first;
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

static inline bool pmuctl_context_has_groups(const struct pmuctl_context *ctx)
{
	return !list_empty(&ctx->groups[PMUCTL_PINNED]) ||
		!list_empty(&ctx->groups[PMUCTL_FLEXIBLE]);
}

/* Walk the groups of a context, pinned ones first, by their leaders. */
#define for_each_group(leading, class, ctx)				\
	for ((class) = 0; (class) < PMUCTL_CLASSES; (class)++)		\
		list_for_each_entry(leading, &(ctx)->groups[class], node)

#endif /* PMUCTL_CONTEXT_TYPES_H */
