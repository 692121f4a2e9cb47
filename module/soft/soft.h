/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Software events: those that need no counter of the PMU. They belong to contexts and
 * groups as others do, and their count is in the same place, pmuctl_event.own.counter, whose
 * running, count, period, left and held mean the same. What differs is how they count:
 *
 *	nothing		there is nothing to count: dummy, and what no x86 does
 *	clocks		the time for which the event is running
 *	task counts	what the kernel counts for each task anyway: looked at when the event
 *			starts, stops and is read; costs nothing in between
 *	hits		somebody tells of each: a hook that is registered while it is wanted
 *
 * An event of the third kind becomes one of the fourth if it is sampled, or if it matters
 * where the CPU was.
 *
 * All changes of an event that is running are made on the CPU on which its context is loaded,
 * with IRQs off. An NMI may read it, and may hit it.
 */
#ifndef PMUCTL_SOFT_H
#define PMUCTL_SOFT_H

#include "core/event.h"

struct pmuctl_hook;
struct pt_regs;

/**
 * struct pmuctl_soft - how a software event counts
 * @start: it is about to run: @counter.running is set afterwards.
 * @stop: it is no longer to run: afterwards @counter.count is its value.
 * @read: its value while it is running; NMI-safe.
 * @unhold: it was held, is running, and goes on; may be NULL.
 * @at_switch: it must be told when tasks are switched.
 */
struct pmuctl_soft {
	void (*start)(struct pmuctl_event *event);
	void (*stop)(struct pmuctl_event *event);
	u64 (*read)(const struct pmuctl_event *event);
	void (*unhold)(struct pmuctl_event *event);
	bool at_switch;
};

/* How events with hits count */
extern const struct pmuctl_soft pmuctl_swevent_ops;
/* The same, of tasks that come from another CPU */
extern const struct pmuctl_soft pmuctl_soft_migration_ops;

/**
 * struct pmuctl_sw_source - who tells of an event that happens one by one
 * @hook: who tells of them.
 * @running: events of each CPU that run there; changed by that CPU, read in any context.
 */
struct pmuctl_sw_source {
	struct pmuctl_hook *hook;
	struct hlist_head __percpu *running;
};

/**
 * struct pmuctl_sample_data - what a sample of a hit tells beside registers
 * @address: PERF_SAMPLE_ADDR.
 * @args: PERF_SAMPLE_RAW: words; or NULL.
 * @nr_args: how many.
 */
struct pmuctl_sample_data {
	u64 address;
	const u64 *args;
	unsigned int nr_args;
};

/* Is an event of this type one of these? Any context. */
bool pmuctl_soft_is(const struct perf_event_attr *attr);

/**
 * pmuctl_soft_init() - let a new event be a software event
 * @event: is set up to count nothing yet.
 * @attr: validated.
 * @why: filled on refusal.
 *
 * Context: Process.
 * Return: 0; -EINVAL if there is no such event; -EOPNOTSUPP if it is none of ours.
 */
int pmuctl_soft_init(struct pmuctl_event *event,
		     const struct perf_event_attr *attr,
		     struct pmuctl_explanation *why);

/**
 * pmuctl_soft_init_tp() - let a new event count a tracepoint
 * @event: is set up to count nothing yet.
 * @tp: of which tracepoint; kept by the caller.
 *
 * Context: Process.
 */
void pmuctl_soft_init_tp(struct pmuctl_event *event, struct pmuctl_tp *tp);

/* For a child: it counts as @from does. Any context. */
void pmuctl_soft_copy(struct pmuctl_event *child, const struct pmuctl_event *from);

/**
 * pmuctl_soft_get() - have it told what it wants to count
 * pmuctl_soft_put() - not any more
 * @event: any; nothing happens unless it is a software event with hits.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep; pmuctl_mutex held, cpus_read_lock not.
 * Return: 0; -EOPNOTSUPP if this kernel has no such hook; -ENOMEM.
 */
int pmuctl_soft_get(struct pmuctl_event *event, struct pmuctl_explanation *why);
void pmuctl_soft_put(struct pmuctl_event *event);

/* As pmuctl_hook_missed(), of who tells of what it counts. A user's; any context. */
unsigned long pmuctl_soft_missed(const struct pmuctl_event *event);

/* Does it need the hooks of core/task_hooks.c although it is of a CPU? Any context. */
bool pmuctl_soft_needs_hooks(const struct pmuctl_event *event);

/* ---- Running; owner CPU, IRQs off, its context locked ---- */

void pmuctl_soft_start(struct pmuctl_event *event);
void pmuctl_soft_stop(struct pmuctl_event *event);

/* As the functions hwpmu_*() of that name do. */
void pmuctl_soft_set_period(struct pmuctl_event *event, u64 period);
void pmuctl_soft_unhold(struct pmuctl_event *event);

static inline u64 pmuctl_soft_count(const struct pmuctl_event *event)
{
	return event->own.counter.running ? event->soft->read(event) :
					    event->own.counter.count;
}

/* The value of an event of either kind; as hwpmu_read(), and for software events NMI-safe. */
static inline u64 pmuctl_count(const struct pmuctl_event *event)
{
	return event->soft ? pmuctl_soft_count(event) : hwpmu_read(&event->tally->counter);
}

/* The same of one that is not inherited: it always has its own tally. */
static inline u64 pmuctl_count_own(const struct pmuctl_event *event)
{
	return event->soft ? pmuctl_soft_count(event) : hwpmu_read(&event->own.counter);
}

/* Does a group count or trace by the PMU? Its context is locked. */
static inline bool pmuctl_group_needs_pmu(struct pmuctl_event *leader)
{
	struct pmuctl_event *event;

	for_each_group_member(event, leader)
		if (!event->soft || event->aux)
			return true;
	return false;
}

/* Does it need no counter? Its context is locked. */
static inline bool pmuctl_group_is_soft(struct pmuctl_event *leader)
{
	struct pmuctl_event *event;

	for_each_group_member(event, leader)
		if (!event->soft)
			return false;
	return true;
}

/* ---- What the switch hook tells; IRQs off ---- */

/* Events of this CPU that count what tasks do: @next comes instead of the current one. */
void pmuctl_soft_switch(struct task_struct *next);

/* Does a switch concern an event of this context, beside loading and unloading that? */
static inline bool pmuctl_is_at_switch(const struct pmuctl_context *ctx,
				       const struct pmuctl_event *event)
{
	if (ctx->task)
		return event->soft == &pmuctl_soft_migration_ops;
	return event->exclude_idle || (event->soft && event->soft->at_switch);
}

/* Have those tasks counted that have come to this CPU. */
void pmuctl_soft_count_arrivals(void);

/* The context of a task, which counts migrations, is unloaded, or has been loaded. */
void pmuctl_soft_leave(struct pmuctl_context *ctx);
void pmuctl_soft_arrive(struct pmuctl_context *ctx);

/* ---- soft/swevent.c ---- */

/**
 * pmuctl_swevent() - something has happened on this CPU, once
 * @source: what.
 * @regs: where.
 * @data: what else there is to tell.
 *
 * Context: Any, NMI too; preemption off.
 */
void pmuctl_swevent(struct pmuctl_sw_source *source, struct pt_regs *regs,
		    const struct pmuctl_sample_data *data);

/* The same, @n times, to one event that is running here. IRQs off. */
void pmuctl_swevent_add(struct pmuctl_event *event, u64 n, struct pt_regs *regs,
			const struct pmuctl_sample_data *data);

/* The period of an event that is running here is over. IRQs off, or an NMI. */
void pmuctl_soft_end_period(struct pmuctl_event *event, struct pt_regs *regs,
			    const struct pmuctl_sample_data *data);

/* Is this place excluded by attr.exclude_user or exclude_kernel? Any context. */
bool pmuctl_soft_excludes(const struct pmuctl_event *event, struct pt_regs *regs);

/**
 * pmuctl_soft_enter() - begin to tell of something, unless this context already does
 * @level: is filled, for pmuctl_soft_exit_level().
 *
 * What is told may make the same thing happen again: a page fault while the user's stack
 * is copied.
 *
 * Context: Any, preemption off.
 * Return: false if the caller must ignore it.
 */
bool pmuctl_soft_enter(unsigned int *level);
void pmuctl_soft_exit_level(unsigned int level);

/* A task has come to this CPU @n times since it was here, or it is @n tasks. IRQs off. */
void pmuctl_soft_migrated(struct pmuctl_event *event, u64 n);

/* The sources of PERF_TYPE_SOFTWARE: soft/sources.c */
extern struct pmuctl_sw_source pmuctl_sw_faults;
extern struct pmuctl_sw_source pmuctl_sw_minor;
extern struct pmuctl_sw_source pmuctl_sw_major;
extern struct pmuctl_sw_source pmuctl_sw_switches;
extern struct pmuctl_sw_source pmuctl_sw_migrations;

/* How many tasks came to this CPU since it was last asked; IRQs off. */
unsigned int pmuctl_soft_arrivals(void);

/* Put their hooks into the registry. */
void pmuctl_soft_sources_init(void);

int pmuctl_soft_module_init(void);
void pmuctl_soft_module_exit(void);

/* ---- soft/clock.c ---- */

extern const struct pmuctl_soft pmuctl_soft_clock_ops;

static inline bool pmuctl_soft_is_clock(const struct pmuctl_event *event)
{
	return event->soft == &pmuctl_soft_clock_ops;
}

/*
 * What an event counts as where their number is limited, for what it costs at a switch. A clock
 * that samples has a timer of its own, which is started and stopped there. Any context.
 */
#define PMUCTL_WEIGHT_CLOCK	4

static inline unsigned int pmuctl_event_weight(const struct pmuctl_event *event)
{
	return event->sampling && pmuctl_soft_is_clock(event) ? PMUCTL_WEIGHT_CLOCK : 1;
}

/* ns; shorter ones are made as long */
#define PMUCTL_CLOCK_PERIOD_MIN	10000

/* Its sampling has just been allocated. Any context. */
void pmuctl_soft_clock_init(struct pmuctl_event *event);

#endif /* PMUCTL_SOFT_H */
