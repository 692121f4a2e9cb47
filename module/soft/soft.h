/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Software events: those that need no counter of the PMU. They belong to contexts and
 * groups as others do, and their count is in the same place, pmuctl_event.own.counter, whose
 * running, count, period, left and stopped mean the same. What differs is how they count:
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
#include "sample/sample.h"
#include "soft/period.h"

struct pmuctl_hook;
struct pmuctl_record_source;
struct pt_regs;

/* How events with hits count */
extern const struct pmuctl_event_ops pmuctl_swevent_ops;
/* The same, of tasks that come from another CPU */
extern const struct pmuctl_event_ops pmuctl_soft_migration_ops;
/* The same, of a source with records */
extern const struct pmuctl_event_ops pmuctl_recorded_ops;

/**
 * struct pmuctl_sw_source - who tells of an event that happens one by one
 * @hook: who tells of them.
 * @record: who makes the kernel's records of them, or NULL; of a dynamic event of the kernel's
 *	tracing, who tells of them.
 * @running: events of each CPU that run there; changed by that CPU, read in any context.
 */
struct pmuctl_sw_source {
	struct pmuctl_hook *hook;
	struct pmuctl_record_source *record;
	struct hlist_head __percpu *running;
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

/* What all but clocks do alike: struct pmuctl_event_ops */
#define PMUCTL_SOFT_OPS						\
	.weight = 1,						\
	.set_period = pmuctl_soft_set_period,			\
	.resume = pmuctl_soft_resume,				\
	.left = pmuctl_soft_left

/* ---- What the switch hook tells; IRQs off ---- */

/* Events of this CPU that count what tasks do: @next comes instead of the current one. */
void pmuctl_soft_switch(struct task_struct *next);

/* The context of a task, which counts migrations, has been loaded. */
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

/* Task, softirq, hard IRQ, NMI */
#define PMUCTL_SOFT_LEVELS	4

/* At which of them the caller is, and whether something is being told there. Preemption off. */
unsigned int pmuctl_soft_level(void);
bool pmuctl_soft_is_telling(unsigned int level);

/* A task has come to this CPU @n times since it was here, or it is @n tasks. IRQs off. */
void pmuctl_soft_migrated(struct pmuctl_event *event, u64 n);

/* Have those tasks counted that have come to this CPU. IRQs off. */
void pmuctl_soft_count_arrivals(void);

/* The sources of PERF_TYPE_SOFTWARE: soft/sources.c */
extern struct pmuctl_sw_source pmuctl_sw_faults;
extern struct pmuctl_sw_source pmuctl_sw_minor;
extern struct pmuctl_sw_source pmuctl_sw_major;
extern struct pmuctl_sw_source pmuctl_sw_switches;
extern struct pmuctl_sw_source pmuctl_sw_cgroup_switches;
extern struct pmuctl_sw_source pmuctl_sw_migrations;

/* How many tasks came to this CPU since it was last asked; IRQs off. */
unsigned int pmuctl_soft_arrivals(void);

/* Put their hooks into the registry. */
void pmuctl_soft_sources_init(void);

int pmuctl_soft_module_init(void);
void pmuctl_soft_module_exit(void);

/* ---- soft/clock.c ---- */

extern const struct pmuctl_event_ops pmuctl_soft_clock_ops;

/* ns; shorter ones are made as long */
#define PMUCTL_CLOCK_PERIOD_MIN	10000

#endif /* PMUCTL_SOFT_H */
