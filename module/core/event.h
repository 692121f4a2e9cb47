/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events: what is counted, for whom, and what has been counted. An event belongs to one context
 * (context_types.h), but one of all CPUs, which has a part in each of theirs.
 */
#ifndef PMUCTL_EVENT_H
#define PMUCTL_EVENT_H

#include <linux/list.h>
#include <linux/sched.h>

#include "core/attr.h"
#include "core/context_types.h"
#include "explain/explain.h"
#include "pmu/hwpmu.h"

struct cgroup_subsys_state;
struct pmuctl_aux;
struct pmuctl_child_total;
struct pmuctl_hook;
struct pmuctl_inherit_group;
struct pmuctl_sw_source;
struct pmuctl_output;
struct pmuctl_quota;
struct pmuctl_sampling;
struct pmuctl_event;
struct pmuctl_tp;

/* When an event is to be told of a switch: struct pmuctl_event_ops.at_switch */
#define PMUCTL_AT_SWITCH_CPU	1	/* if it is of a CPU */
#define PMUCTL_AT_SWITCH_TASK	2	/* if it is of a task */

/**
 * struct pmuctl_event_ops - what a kind of event does in its own way
 *
 * There is one table for hardware events (core/hw_event.c), one for each way in which software
 * events and tracepoints count (soft/), and one for events that trace (aux/).
 *
 * @needs_pmu: it counts or traces by the PMU, which must be ours.
 * @at_switch: PMUCTL_AT_SWITCH_*.
 * @weight: what one that samples counts as where the number of events is limited, for what it
 *	costs at a switch.
 *
 * Process, may sleep, pmuctl_mutex and cpus_read_lock held; each may be NULL:
 * @admit: may it be opened beside others? As pmuctl_admit().
 * @unadmit: it was perhaps admitted, but will not be attached.
 * @attached: it has been attached.
 * @detached: it is no longer attached.
 *
 * @free: free what only its kind has. It is not attached; may be NULL. Process, may sleep.
 * @exec: its task executes another program; may be NULL. Its context is locked.
 *
 * Running; owner CPU, IRQs off, its context locked. Of hardware events NULL: switches and reads
 * ask pmuctl_event_is_hw() and call hwpmu_*() themselves, which is a comparison instead of an
 * indirect call for what is to be fastest; and counters start and stop together.
 * @start: it is about to run: @counter.running is set afterwards.
 * @stop: it is no longer to run: afterwards @counter.count is its value.
 * @read: its value while it is running; NMI-safe.
 * @pause: of one that traces: pause or resume that, if it runs; NMI-safe. Others: NULL.
 *
 * Of an event that samples, its context locked, on its CPU or loaded nowhere:
 * @init_timer: a timer of its own ends its periods, which are in ns: prepare it, nobody knows
 *	the event yet. NULL if what it counts does.
 * @set_period: begin another period, of this length.
 * @resume: it was stopped by its overflow, and goes on.
 * @left: what is left of its period.
 */
struct pmuctl_event_ops {
	bool needs_pmu;
	u8 at_switch;
	u8 weight;

	int (*admit)(struct pmuctl_context *ctx, const struct pmuctl_event *event,
		     struct pmuctl_explanation *why);
	void (*unadmit)(void);
	void (*attached)(const struct pmuctl_event *event);
	void (*detached)(const struct pmuctl_event *event);

	void (*free)(struct pmuctl_event *event);
	void (*exec)(struct pmuctl_event *event);

	void (*start)(struct pmuctl_event *event);
	void (*stop)(struct pmuctl_event *event);
	u64 (*read)(const struct pmuctl_event *event);
	void (*pause)(struct pmuctl_event *event, bool pause);

	void (*init_timer)(struct pmuctl_event *event);
	void (*set_period)(struct pmuctl_event *event, u64 period);
	void (*resume)(struct pmuctl_event *event);
	s64 (*left)(const struct pmuctl_event *event);
};

/* Those that a counter of the PMU counts */
extern const struct pmuctl_event_ops pmuctl_hw_event_ops;

/**
 * struct pmuctl_soft_state - what an event has that is a software event; see soft.h
 * @source: what it counts, if somebody tells of each. Constant.
 * @tp: of one of a tracepoint: which, and what of it. Constant.
 * @value_of: what it counts, if the kernel does for each task. Constant.
 * @exclude_user: it does not count what happens in user mode. Constant.
 * @exclude_kernel: nor in the kernel. Constant.
 * @task: whose @value_of was @counter.prev when @counter.count was right; NULL for an
 *	instant, in which @kept is the value. As @counter.
 * @kept: see @task; or hits that are not told yet, while @counter.prev is 0: they are being
 *	counted, and that is the value; or of a clock: it stands still, as it is
 *	being stopped.
 * @node: among the events that run on a CPU and are told of the same. As @counter.
 */
struct pmuctl_soft_state {
	struct pmuctl_sw_source *source;
	struct pmuctl_tp *tp;
	u64 (*value_of)(const struct task_struct *task);
	bool exclude_user;
	bool exclude_kernel;
	struct task_struct *task;
	u64 kept;
	struct hlist_node node;
};

/**
 * struct pmuctl_count_state - what an event has counted, and what it counts with
 * @on_pmu: of a leader: its group has counters there.
 * @eligible: the context is loaded on a CPU, the event is enabled, and so is its leader: its
 *	time goes on, and if it counts on this CPU it may get there.
 * @counter: the hardware counter; of a software event the count and the period.
 * @stamp: when the two times were right, in ns of sched_clock() of that CPU.
 * @time_enabled: ns during which the event was eligible.
 * @time_running: ns during which it was on the PMU.
 * @told: when a sample last told of the two, as @stamp.
 * @base: value of the counter at the last reset.
 *
 * All protected as the event whose it is now.
 */
struct pmuctl_count_state {
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
 * struct pmuctl_inherit - what an event has that is inherited; see inherit/inherit.h
 *
 * Constant:
 * @group: what those of its group share.
 * @root: from which it descends; itself if it has a descriptor.
 * @shard: of a child: where it is listed, a CPU.
 *
 * Of a root:
 * @child_total: for each shard.
 * @sibling: in @group->roots; its mutex.
 * @closing: it gets no more children. Set under the mutex, read under that or a shard's lock.
 * @changes: how often all were changed; if they were ever @switched, they were @enabled or not
 *	the last time; if their period was changed, it became @period. Likewise; of a child:
 *	the last change that it has followed.
 * @thread_only: only threads of the same process inherit it; constant.
 * @process: it is of all threads that its process had; constant once it has a descriptor.
 * @slot: where what its children have counted goes in the walk with number @walk; likewise.
 * @next_meant: of those that are being switched or reset; likewise.
 * @left: it is closed, and its children are to end: in @group->left;
 * @free: what becomes of it then.
 *
 * Of a child:
 * @child_entry: in its shard; that one's lock.
 * @sibling: in @group->born; its lock.
 * @next_ended: of one that is to be freed: which other one is with it.
 * @seen: number of the last walk that has counted it, forgotten its count, or switched it; its
 *	context's lock.
 */
struct pmuctl_inherit {
	struct pmuctl_inherit_group *group;
	struct pmuctl_event *root;
	int shard;

	struct pmuctl_child_total __percpu *child_total;
	struct list_head sibling;
	bool closing;
	bool switched;
	bool enabled;
	u64 period;
	u64 changes;
	bool thread_only;
	bool process;
	unsigned int slot;
	u64 walk;
	struct pmuctl_inherit *next_meant;
	struct llist_node left;
	void (*free)(struct pmuctl_event *event);

	struct list_head child_entry;
	struct pmuctl_inherit *next_ended;
	u64 seen;
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
 * @cgroup: of one of CPUs: it counts only while they run tasks of this one (cgroup.h); NULL if it
 *	counts all. Its parts share the reference.
 * @quota: in which it is counted until it has ended; NULL: in none. Not its parts'.
 * @read_format: PERF_FORMAT_*.
 * @side: what it wants to be told of beside samples: PMUCTL_SIDE_*.
 * @ops: what its kind does in its own way.
 * @hook: who tells it of what it counts, or must be there while it is open; NULL: nobody.
 * @aux_action: PMUCTL_AUX_*: what its overflows do to the trace of its leader.
 * @aux: what it has that traces, see aux.h; NULL if it does not.
 * @places: of one that is inherited: where the files of its trace's filter are in its task; NULL
 *	while nobody has asked for any. Set, and what is there changed, under @context->lock.
 * @exclude_idle: it does not count while the CPU runs its idle task.
 * @remove_on_exec: it ends at the next exec of its task.
 * @inherit_stat: of its children a record tells what each has counted.
 * @claims: while it is open the PMU is ours; see event/claim.c.
 * @unlimited: there may be any number of them; see pmuctl_has_room().
 * @tells_switches: it writes records at each.
 * @class: of its group, if it leads one.
 * @exclusive: its group, if it leads one, is alone on the PMU.
 * @missed: what its hooks had missed before it was opened; see hook.h.
 * @on_cpu: of an event of all CPUs: its parts, one on each possible CPU, by number. The
 *	event itself has no context then, and of all below nothing but its parts'.
 *
 * Others:
 * @user: its pages for user space; NULL until one is mapped. See core/rdpmc.c.
 * @output: what its records look like; NULL if it writes none. Of one that does not sample
 *	it is made when it gets a buffer; then it does not change any more.
 *
 * @inherit: all zero if it is not inherited. See inherit.h.
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
 * @aux_paused: of one that traces: nothing is, though it runs. Its CPU, whose NMI may change it.
 * @aux_cut: likewise: it was told that something is missing since the last record with bytes.
 *
 * As @enabled, and changed only by the CPU on which the context is loaded:
 * @state: what it has counted; &own, or one that it got at a switch of clones for its
 *	own (core/clone_switch.c). Of one that samples or is a software event always &own.
 * @sw: what else a software event has.
 * @ended: it was taken out of its context, for ever, and is in no list of it; its count stays.
 * @clone_next: that of its context which comes after it; right while the context has a clone_id.
 *
 * @own: the count state that it was made with.
 * @parts_freed: one of two has been given up: itself, and @own. Atomic.
 */
struct pmuctl_event {
	struct pmuctl_userpages *user;
	struct pmuctl_output *output;
	struct pmuctl_sampling *sampling;
	struct pmuctl_context *context;
	const struct pmuctl_event_ops *ops;
	struct pmuctl_hook *hook;
	struct pmuctl_aux *aux;
	struct pt_places *places;
	struct cgroup_subsys_state *cgroup;
	struct pmuctl_quota *quota;
	u64 id;
	u64 stream_id;
	u64 read_format;
	u16 side;
	u8 aux_action;
	bool exclude_idle;
	bool remove_on_exec;
	bool inherit_stat;
	bool exclusive;
	bool claims : 1;
	bool unlimited : 1;
	bool tells_switches;
	enum pmuctl_class class;
	int cpu;
	u64 missed;
	struct pmuctl_event **on_cpu;

	struct pmuctl_event *leader;
	struct list_head node;
	struct list_head siblings;

	bool enabled;
	bool enable_on_exec;
	bool error;
	bool aux_paused;
	bool aux_cut;

	bool ended;
	struct pmuctl_count_state *state;
	struct pmuctl_event *clone_next;
	struct pmuctl_count_state own;
	atomic_t parts_freed;

	struct pmuctl_soft_state sw;
	struct pmuctl_inherit inherit;
	struct rcu_head rcu;
};

/* Does a counter of the PMU count it? Any context. */
static inline bool pmuctl_event_is_hw(const struct pmuctl_event *event)
{
	return event->ops == &pmuctl_hw_event_ops;
}

/* Of one that is inherited: it has followed the last change for all. Its context is locked. */
static inline void pmuctl_inherit_follows(struct pmuctl_event *event)
{
	const struct pmuctl_event *root = event->inherit.root;

	if (root)
		event->inherit.changes = READ_ONCE(root->inherit.changes);
}

/* Most events of a group: perf has as many whose values alone fit into a read of 16 KiB. */
#define PMUCTL_GROUP_MAX	2048
/* The same if samples tell the values of all, which they do from an NMI */
#define PMUCTL_GROUP_SAMPLED_MAX	64

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

/* Does a group count or trace by the PMU? Its context is locked. */
static inline bool pmuctl_group_needs_pmu(struct pmuctl_event *leader)
{
	struct pmuctl_event *event;

	for_each_group_member(event, leader)
		if (event->ops->needs_pmu)
			return true;
	return false;
}

/* Does it need no counter? Its context is locked. */
static inline bool pmuctl_group_is_soft(struct pmuctl_event *leader)
{
	struct pmuctl_event *event;

	for_each_group_member(event, leader)
		if (pmuctl_event_is_hw(event))
			return false;
	return true;
}

/* The value of an event that no counter of the PMU counts; NMI-safe. */
static inline u64 pmuctl_count_soft(const struct pmuctl_event *event)
{
	return event->own.counter.running ? event->ops->read(event) :
					    event->own.counter.count;
}

/* The value of an event of any kind; as hwpmu_read(), and of others than hardware NMI-safe. */
static inline u64 pmuctl_count(const struct pmuctl_event *event)
{
	return pmuctl_event_is_hw(event) ? hwpmu_read(&event->state->counter) :
					   pmuctl_count_soft(event);
}

/* The same of one that is not inherited: it always has its own count state. */
static inline u64 pmuctl_count_own(const struct pmuctl_event *event)
{
	return pmuctl_event_is_hw(event) ? hwpmu_read(&event->own.counter) :
					   pmuctl_count_soft(event);
}

/* Does a switch concern an event of this context, beside loading and unloading that? */
static inline bool pmuctl_is_at_switch(const struct pmuctl_context *ctx,
				       const struct pmuctl_event *event)
{
	if (ctx->task)
		return event->ops->at_switch & PMUCTL_AT_SWITCH_TASK;
	return event->exclude_idle || event->cgroup || event->own.counter.lbr ||
	       event->ops->at_switch & PMUCTL_AT_SWITCH_CPU;
}

/* What it counts as where the number of events is limited. Any context. */
static inline unsigned int pmuctl_event_weight(const struct pmuctl_event *event)
{
	return (event->sampling ? event->ops->weight : 1) + event->tells_switches;
}

/* Most of them: a clock that samples starts and stops a timer of its own at a switch. What tells of
 * switches, with two records at each, counts as one more.
 */
#define PMUCTL_WEIGHT_CLOCK	4

/* Walk the event alone, or all of its group; ctx->lock is held. */
#define for_each_meant(each, event, group)				\
	for ((each) = (group) ? (event)->leader : (event); (each);	\
	     (each) = (group) ? pmuctl_group_next(each) : NULL)

/**
 * struct pmuctl_counts - the result of reading an event
 * @id: of the event.
 * @value: events counted since the last reset.
 * @time_enabled: and @time_running: ns, see struct pmuctl_event.
 * @lost: records that found no room.
 * @root: whose it is if it is inherited, as long as its family is locked; else NULL.
 * @parts: of an event of all CPUs: on how many of them it was found.
 */
struct pmuctl_counts {
	u64 id;
	u64 lost;
	u64 value;
	u64 time_enabled;
	u64 time_running;
	struct pmuctl_inherit *root;
	unsigned int parts;
};

/*
 * Whom a record that it makes now is about: its task, which is not the current one yet while it is
 * switched to, or the current one, if it has none. Any context.
 */
static inline struct task_struct *pmuctl_event_task(const struct pmuctl_event *event)
{
	return event->context->task ?: current;
}

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
 * to it by inherit.next_ended.
 */
void pmuctl_event_free_later(struct pmuctl_event *event);

/* Memory for an event, charged to the caller's cgroup, all zero but @state; NULL without. */
struct pmuctl_event *pmuctl_event_zalloc(gfp_t gfp);

/* A number for an event, never used again. Any context. */
u64 pmuctl_event_next_id(void);

int pmuctl_event_init(void);
void pmuctl_event_exit(void);

#endif /* PMUCTL_EVENT_H */
