/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The core: events, the contexts they belong to, and what makes them count. An event
 * belongs to one context; a context belongs to a task or to a CPU. A context is
 * "loaded" on a CPU while its events may be on that CPU's PMU: a CPU's always, a
 * task's while the task runs there.
 *
 * Lock order, outermost first:
 *
 *	opener->mutex		the front's: which descriptors a thread has opened
 *	family->mutex		of the events of an inherited group: walks over their children
 *	pmuctl_mutex		opening and closing: lists of events, users of hooks
 *	(mmap_lock)		mapping and unmapping
 *	aux_mutex		which AUX buffer is mapped how often
 *	buffer_mutex		which output writes to which buffer
 *	user_mutex		which processes may read counters
 *	cpus_read_lock		which CPUs are there; users of the PMU
 *	(rq->lock)		the scheduler's, held when sched_switch calls us
 *	context->lock		raw, IRQs off: state of the events of a context
 *	pmuctl_hash_locks	raw, IRQs off: which contexts tasks have; leaves
 *
 * Under context->lock nothing may be woken up: rq->lock is outside of it. Only the CPU on
 * which both are loaded locks two contexts at once: its own, then its task's.
 *
 * Whoever changes the state of an event does so under context->lock, on the CPU on which
 * the context is loaded, which brings the PMU in line at once; or anywhere if it is not
 * loaded: whoever loads it next sees the new state.
 */
#ifndef PMUCTL_CORE_H
#define PMUCTL_CORE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "attr.h"
#include "explain.h"
#include "inherit.h"
#include "pmu/hwpmu.h"
#include "user_read.h"

struct pmuctl_aux;
struct pmuctl_hits;
struct pmuctl_output;
struct pmuctl_sampling;
struct pmuctl_soft;
struct pmuctl_trace;

/**
 * enum pmuctl_class - how a group gets on the PMU
 * @PMUCTL_PINNED: whenever its context is loaded, or it is in error.
 * @PMUCTL_FLEXIBLE: in turn with others, if there are not counters for all.
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
 * @groups: group leaders, by class, in the order of their turn. Events with descriptors
 *	come only with pmuctl_mutex held too; an exec takes them out without it. The order
 *	changes with every rotation.
 * @loaded_cpu: where it is loaded, or -1. May be read without the lock as a hint.
 * @gone: it will never be loaded again: the task has ended, or has executed what nobody
 *	may look into.
 * @nr_at_switch: of a CPU's: events that do not count while it is idle, or that count what
 *	tasks do; of a task's: those that count its migrations.
 * @migrations: of the task, when it was last unloaded; if somebody counts them.
 * @waiting: not all of its flexible groups found counters when it was last loaded.
 * @turn_start: when the turn of those that run began, in ns of sched_clock(); while it is
 *	unloaded @turn_used: how long that turn has been.
 * @nr_user_pages: events of its lists whose counter.user is set.
 * @nr_inherit: events that children of its task get, of which
 * @nr_inherit_sampling: sample. The task itself may read both without the lock, as a hint.
 * @nr_events: all its events, by their weight (soft.h).
 * @kin: between those with the same number a switch needs nothing from the PMU; 0: nobody,
 *	and negative ones are for switches that are always split: see inherit_switch.c.
 *	Whoever changes which events there are, their order, or which are enabled, sets
 *	it to 0. It stays 0 once the context is gone.
 * @in_exec: its task is in an exec that cannot fail any more, or may be: what it executes may
 *	be nobody's to look into. Read without the lock.
 * @first_of_kin: its first event, as pmuctl_event.next_of_kin.
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
	bool waiting;
	u64 turn_start;
	u64 turn_used;
	unsigned int nr_user_pages;
	unsigned int nr_inherit;
	unsigned int nr_inherit_sampling;
	unsigned int nr_events;
	s64 kin;
	bool in_exec;
	struct pmuctl_event *first_of_kin;

	struct hlist_node hash;
	wait_queue_head_t gone_wait;
	refcount_t refs;
	struct rcu_head rcu;
};

/**
 * struct pmuctl_soft_state - what an event has that is a software event; see soft.h
 * @hits: what it counts, if somebody tells of each. Constant.
 * @trace: of one of a tracepoint: which, and what of it. Constant.
 * @value_of: what it counts, if the kernel does for each task. Constant.
 * @exclude_user: it does not count what happens in user mode. Constant.
 * @exclude_kernel: nor in the kernel. Constant.
 * @task: whose @value_of was @counter.prev when @counter.count was right; NULL for an
 *	instant, in which @kept is the value. As @counter.
 * @kept: see @task; or hits that are not told yet.
 * @node: among the events that run on a CPU and are told of the same. As @counter.
 */
struct pmuctl_soft_state {
	struct pmuctl_hits *hits;
	struct pmuctl_trace *trace;
	u64 (*value_of)(const struct task_struct *task);
	bool exclude_user;
	bool exclude_kernel;
	struct task_struct *task;
	u64 kept;
	struct hlist_node node;
};

/**
 * struct pmuctl_tally - what an event has counted, and what it counts with
 * @on_pmu: of a leader: its group has counters there.
 * @eligible: the context is loaded on a CPU where the event may count, it is enabled, and so
 *	is its leader.
 * @counter: the hardware counter; of a software event the count and the period.
 * @stamp: when the two times were right, in ns of sched_clock() of that CPU.
 * @time_enabled: ns during which the event was eligible.
 * @time_running: ns during which it was on the PMU.
 * @told: when a sample last told of the two, as @stamp.
 * @base: value of the counter at the last reset.
 *
 * All protected as the event whose it is now.
 */
struct pmuctl_tally {
	bool on_pmu;
	bool eligible;
	struct hwpmu_counter counter;
	u64 stamp;
	u64 time_enabled;
	u64 time_running;
	u64 told;
	u64 base;
};

/**
 * struct pmuctl_event - an open event
 *
 * Constant after creation:
 * @context: whose event it is.
 * @id: what PERF_EVENT_IOC_ID says; never used again.
 * @stream_id: the same, but each part of an event of all CPUs has its own.
 * @sampling: how often it is sampled; NULL if it is not.
 * @cpu: it counts only on this CPU; -1 on any.
 * @read_format: PERF_FORMAT_*.
 * @side: what it wants to be told of beside samples: PMUCTL_SIDE_*.
 * @soft: how it counts, if it is a software event; NULL: by a hardware counter.
 * @aux_action: PMUCTL_AUX_*: what its overflows do to the trace of its leader.
 * @aux: what it has that traces, see aux.h; NULL if it does not. It has @soft too.
 * @exclude_idle: it does not count while the CPU runs its idle task.
 * @remove_on_exec: it ends at the next exec of its task.
 * @inherit_stat: of its children a record tells what each has counted.
 * @claims: while it is open the PMU is ours; see claim.c.
 * @unlimited: there may be any number of them; see pmuctl_admit_number().
 * @class: of its group, if it leads one.
 * @exclusive: its group, if it leads one, is alone on the PMU.
 * @missed: what its hooks had missed before it was opened; see hook.h.
 * @on_cpu: of an event of all CPUs: its parts, one on each possible CPU, by number. The
 *	event itself has no context then, and of all below nothing but its parts'.
 *
 * Others:
 * @user: its pages for user space; NULL until one is mapped. See userpage.c.
 * @output: what its records look like; NULL if it writes none. Of one that does not sample
 *	it is made when it gets a buffer; then it does not change any more.
 *
 * @heritage: all zero if it is not inherited. See inherit.h.
 * @rcu: delays the end until nobody can look at it any more.
 *
 * Protected by @context->lock; an exec of the task changes them without any other:
 * @leader: of its group; itself if it is alone.
 * @node: of a leader in @context->groups[@class], of a sibling in @leader->siblings.
 * @siblings: of a leader; their order never changes.
 *
 * Protected by @context->lock:
 * @enabled: it is to count whenever its context is loaded.
 * @enable_on_exec: enable it at the next exec of its task.
 * @error: its group is pinned and found no counters; until it is enabled again.
 *
 * As @enabled, and changed only by the CPU on which the context is loaded:
 * @tally: what it has counted; &own, or one that it got at a switch between kin for its
 *	own (inherit_switch.c). Of one that samples or is a software event always &own.
 * @sw: what else a software event has.
 * @ended: it was taken out of its context, for ever, and is in no list of it; its count stays.
 * @next_of_kin: that of its context which comes after it; right while the context has a kin.
 *
 * @own: the tally that it was made with.
 * @half_freed: one of two has been given up: itself, and @own. Atomic.
 */
struct pmuctl_event {
	struct pmuctl_user *user;
	struct pmuctl_output *output;
	struct pmuctl_sampling *sampling;
	struct pmuctl_context *context;
	const struct pmuctl_soft *soft;
	struct pmuctl_aux *aux;
	u64 id;
	u64 stream_id;
	int cpu;
	u64 read_format;
	u8 side;
	u8 aux_action;
	bool exclude_idle;
	bool remove_on_exec;
	bool inherit_stat;
	bool exclusive;
	bool claims;
	bool unlimited;
	enum pmuctl_class class;
	u64 missed;
	struct pmuctl_event **on_cpu;

	struct pmuctl_event *leader;
	struct list_head node;
	struct list_head siblings;

	bool enabled;
	bool enable_on_exec;
	bool error;

	bool ended;
	struct pmuctl_tally *tally;
	struct pmuctl_event *next_of_kin;
	struct pmuctl_tally own;
	atomic_t half_freed;

	struct pmuctl_soft_state sw;
	struct pmuctl_heritage heritage;
	struct rcu_head rcu;
};

/* How pmuctl_event_create() makes one */
#define PMUCTL_EVENT_ENABLED	1
#define PMUCTL_EVENT_CLAIMS	2
#define PMUCTL_EVENT_UNLIMITED	4

/* Most events of a group */
#define PMUCTL_GROUP_MAX	HWPMU_MAX_COUNTERS

/* Walk the members of a group: its leader first. */
#define for_each_group_member(event, leading)				\
	for ((event) = (leading); (event); (event) = pmuctl_group_next(event))

/* The member after @event, NULL after the last */
static inline struct pmuctl_event *pmuctl_group_next(struct pmuctl_event *event)
{
	struct pmuctl_event *leader = event->leader;
	struct list_head *next;

	next = event == leader ? leader->siblings.next : event->node.next;
	return next == &leader->siblings ? NULL :
		list_entry(next, struct pmuctl_event, node);
}

/* Walk the event alone, or all of its group; ctx->lock is held. */
#define for_each_meant(each, event, group)				\
	for ((each) = (group) ? (event)->leader : (event); (each);	\
	     (each) = (group) ? pmuctl_group_next(each) : NULL)

/* Walk the groups of a context, pinned ones first, by their leaders. */
#define for_each_group(leading, class, ctx)				\
	for ((class) = 0; (class) < PMUCTL_CLASSES; (class)++)		\
		list_for_each_entry(leading, &(ctx)->groups[class], node)

/**
 * struct pmuctl_counts - the result of reading an event
 * @id: of the event.
 * @value: events counted since the last reset.
 * @time_enabled: and @time_running: ns, see struct pmuctl_event.
 * @lost: records that found no room.
 */
struct pmuctl_counts {
	u64 id;
	u64 lost;
	u64 value;
	u64 time_enabled;
	u64 time_running;
};

/* Serializes opening and closing. */
extern struct mutex pmuctl_mutex;

/* ---- event.c: for the front ---- */

/**
 * pmuctl_event_create() - make an event and attach it
 * @task: whom to count; NULL for everybody on @cpu.
 * @cpu: on which CPU; -1 on any: without a task, on all. Exists if it is not negative.
 * @leader: of the group to join, kept open by the caller; NULL for a group of its own.
 * @attr: validated by pmuctl_attr_check().
 * @trace: if @attr is of a tracepoint: which; the event's, or freed.
 * @flags: PMUCTL_EVENT_ENABLED: it counts at once; else it waits for pmuctl_event_enable(), or
 *	an exec. PMUCTL_EVENT_CLAIMS: its opener may take the PMU, and it keeps it (claim.c).
 *	PMUCTL_EVENT_UNLIMITED: its opener may have any number in one context.
 * @why: filled on refusal.
 *
 * The first hardware event makes the module own the PMU, the first one of a task registers the
 * hooks that follow tasks.
 *
 * Context: Process, may sleep.
 * Return: the event, to be given to pmuctl_event_free(); or ERR_PTR: -ENOENT, -EINVAL
 * as hwpmu_counter_init(); -EBUSY if the PMU is somebody else's or no counter is left;
 * -EACCES if it may not be taken for this opener; -ENOSPC if its context has too many;
 * -EINVAL if it cannot join the group; -ENODEV if the CPU is offline; -ESRCH if the task
 * is exiting; -EOPNOTSUPP if a hook lacks; -ENOMEM; -EINTR.
 */
struct pmuctl_event *pmuctl_event_create(struct task_struct *task, int cpu,
					 const struct perf_event_attr *attr,
					 struct pmuctl_trace *trace, unsigned int flags,
					 struct pmuctl_event *leader,
					 struct pmuctl_explanation *why);
void pmuctl_event_free(struct pmuctl_event *event);

/**
 * pmuctl_event_enable() - let it count
 * pmuctl_event_disable() - stop it; when this returns it counts no more
 * pmuctl_event_reset() - let its value start from 0; times stay
 * @event: in any state. If its task has ended nothing happens.
 * @group: do it to all events of its group.
 *
 * Context: Process, IRQs on.
 */
void pmuctl_event_enable(struct pmuctl_event *event, bool group);
void pmuctl_event_disable(struct pmuctl_event *event, bool group);
void pmuctl_event_reset(struct pmuctl_event *event, bool group);

/**
 * pmuctl_event_read() - read value and times of one instant
 * @event: in any state.
 * @format: PERF_FORMAT_GROUP to read all events of its group, the leader first;
 *	PERF_FORMAT_TOTAL_TIME_* if times are wanted: without they may be old.
 * @counts: is filled.
 * @max: how many of them there are; more are not read.
 *
 * Context: Process, IRQs on.
 * Return: how many were read, or would have been if there were room; 0 if the group is
 * in error.
 */
unsigned int pmuctl_event_read(struct pmuctl_event *event, u64 format,
			       struct pmuctl_counts *counts, unsigned int max);

/* Most that one event takes of what read() gives, beside the times */
#define PMUCTL_WORDS_EACH	3

/**
 * pmuctl_event_read_here() - read an event as read() gives it, if it is at hand
 * @event: as above.
 * @out: is filled according to its read_format: perf_event_open(2), "Reading results".
 * @max: words of room, for one event at least.
 *
 * At hand is the common case: a single event or a group that is on the PMU of this CPU. With
 * IRQs off nobody else changes anything of it then, so no lock is needed and nothing is
 * written.
 *
 * Context: Process, IRQs on.
 * Return: how many words; 0 if it is not so, or there is too little room.
 */
unsigned int pmuctl_event_read_here(struct pmuctl_event *event, u64 *out,
				    unsigned int max);

/**
 * pmuctl_event_read_cpu() - read what an event of CPUs counted on one of them
 * @event: of all CPUs, or of @cpu.
 * @cpu: which CPU.
 * @counts: is filled.
 *
 * Context: Process, IRQs on.
 * Return: true; false if it counts nothing there: it is another CPU's or a task's, or in
 * error there.
 */
bool pmuctl_event_read_cpu(struct pmuctl_event *event, int cpu,
			   struct pmuctl_counts *counts);

/**
 * pmuctl_event_get_output() - its output, made if it has none
 * @event: kept open by the caller.
 *
 * Context: Process, may sleep; mmap_lock may be held.
 * Return: the same each time; NULL: no memory.
 */
struct pmuctl_output *pmuctl_event_get_output(struct pmuctl_event *event);

/* How many records of it were lost, and how many hits its hooks have missed; NMI-safe. */
u64 pmuctl_event_lost(const struct pmuctl_event *event);

/* Does it count CPUs, not a task? Any context. */
static inline bool pmuctl_event_is_of_cpus(const struct pmuctl_event *event)
{
	return event->on_cpu || !event->context->task;
}

/**
 * pmuctl_event_blank() - memory for a child, to be made one by pmuctl_event_copy()
 * @sampling: of an event that samples.
 * @gfp: how to get it. It is charged to the caller's cgroup.
 *
 * Context: any that @gfp is for.
 * Return: to be given to pmuctl_event_free_child(); NULL without memory.
 */
struct pmuctl_event *pmuctl_event_blank(bool sampling, gfp_t gfp);

/* For inheritance: make @child, blank and for one that samples if @from does, a copy of that for a
 * child of its task, disabled. Its context's lock is held, or it is a root that stays as it is.
 */
void pmuctl_event_copy(struct pmuctl_event *child, const struct pmuctl_event *from);

/* Any context; nobody knows it any more. */
void pmuctl_event_free_child(struct pmuctl_event *child);

/* The same once nobody can look at it any more who found it before, and of all that are chained
 * to it by heritage.next_ended.
 */
void pmuctl_event_free_later(struct pmuctl_event *event);

/* Enable or disable a child, or its group, if it has not ended. Process, IRQs on. */
void pmuctl_event_switch_child(struct pmuctl_event *child, bool group, bool enabled);

/* Number of hardware events that are open. Any context. */
unsigned int pmuctl_event_number(void);

int pmuctl_event_init(void);
void pmuctl_event_exit(void);

/* ---- context.c: contexts, and loading them; whose they are: context_table.h ---- */

struct pmuctl_cpu;
typedef void (*pmuctl_context_func)(struct pmuctl_context *ctx, void *arg);
typedef bool (*pmuctl_context_change_func)(struct pmuctl_cpu *pc, void *arg);
typedef bool (*pmuctl_context_visit)(struct pmuctl_context *ctx, void *arg);

int pmuctl_context_init(void);
void pmuctl_context_exit(void);

/* This CPU's PMU can be used from now on, or not any more; nothing is loaded then. The
 * current task's events are loaded by the last. Context: That CPU, where nothing else
 * can run meanwhile.
 */
void pmuctl_context_cpu_comes(void);
void pmuctl_context_cpu_goes(void);
void pmuctl_context_load_current(void);

/* hotplug.c */
int pmuctl_hotplug_init(void);
void pmuctl_hotplug_exit(void);

/* The context of a CPU. It always exists. */
struct pmuctl_context *pmuctl_context_of_cpu(int cpu);

/**
 * pmuctl_context_get_task() - the context of a task, made if it has none
 * @task: referenced by the caller.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep; pmuctl_mutex and the hooks held.
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
bool pmuctl_context_take_out(struct pmuctl_cpu *pc, struct pmuctl_event *event);

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

/* Bring the times of a group up to date (sched.c). Its context's lock is held, and that
 * is loaded on this CPU, or on none. IRQs off.
 */
void pmuctl_sched_account(struct pmuctl_event *leader);

/*
 * The PMU of this CPU was given up, or is about to be given back: all that was on it counts no
 * more; or it has become ours. Hard IRQ.
 */
void pmuctl_sched_stopped(void);

/* What the hooks tell. Context: that of the tracepoint, see hooks.c */
void pmuctl_context_switch(struct task_struct *next);
/* @ended: it will never run again; else only nobody may look into it any more. */
void pmuctl_context_task_gone(bool ended);

/* ---- hooks.c: the scheduler's tracepoints ---- */

void pmuctl_hooks_init(void);

#endif /* PMUCTL_CORE_H */
