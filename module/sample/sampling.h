/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sampling: how often an event overflows, and what becomes of that.
 */
#ifndef PMUCTL_SAMPLING_H
#define PMUCTL_SAMPLING_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/perf_event.h>

#include "core/core_ops.h"
#include "core/cpu_state.h"

struct pmuctl_explanation;
struct pmuctl_sample_data;
struct pt_regs;

/**
 * struct pmuctl_overflow_handler - who is told of overflows instead of samples being written
 * @call: @regs: what was interrupted; may be NULL. @period: events since the last overflow.
 *	Returns false if the event is not to go on. Context: as pmuctl_overflow().
 */
struct pmuctl_overflow_handler {
	bool (*call)(struct pmuctl_overflow_handler *handler, struct pt_regs *regs, u64 period);
};

/**
 * struct pmuctl_sampling - how often an event is sampled
 * @event: whose; constant.
 * @handler: of another module's counter; else NULL. Set before it is enabled for the first time.
 * @freq: samples a second that are wanted; 0: the period is fixed. Changed as the period.
 * @window: the jiffy of the last overflow, in which there were @in_window of @allowed.
 * @throttled: its counter is held until the next tick.
 * @expired: its limit is reached: it counts no more, and is disabled as soon as possible.
 * @ran: of @freq: what its running time was at the last overflow or tick, in ns.
 * @left: events that were left of the period at the last tick.
 * @events: and @ns: what was counted in which time before, the older the less.
 * @work: does what an NMI cannot.
 * @data: of a software event: what the sample that is being written tells of; or NULL.
 * @timer: of a clock: the end of the period.
 *
 * Owner CPU of the counter, NMI may interrupt.
 */
struct pmuctl_sampling {
	struct pmuctl_event *event;
	struct pmuctl_overflow_handler *handler;
	u64 freq;
	unsigned long window;
	unsigned int in_window;
	unsigned int allowed;
	bool throttled;
	bool expired;
	u64 ran;
	s64 left;
	u64 events;
	u64 ns;
	struct irq_work work;
	const struct pmuctl_sample_data *data;
	struct hrtimer timer;
};

/**
 * pmuctl_sampling_alloc() - let an event be sampled
 * @event: whose counter is not attached yet.
 * @attr: validated.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int pmuctl_sampling_alloc(struct pmuctl_event *event,
			  const struct perf_event_attr *attr,
			  struct pmuctl_explanation *why);

/* Memory for the sampling of a child; false: there is none. And: it is sampled as the event it
 * is a copy of, which is. Any context.
 */
bool pmuctl_sampling_blank(struct pmuctl_event *child, gfp_t gfp);
void pmuctl_sampling_copy(struct pmuctl_event *child, const struct pmuctl_event *from);

/* The event is off the PMU for ever: wait for what its last overflow wants. As next. */
void pmuctl_sampling_sync(struct pmuctl_event *event);

/* And free it. Process, may sleep. */
void pmuctl_sampling_free(struct pmuctl_event *event);

/* Change its period, or its frequency if it has one. Its context is locked, and loaded here
 * or nowhere.
 */
void pmuctl_sampling_set_period(struct pmuctl_event *event, u64 value);

/* May a user change it so? Return: as pmuctl_event_set_period(). */
int pmuctl_sampling_check_period(const struct pmuctl_event *event, u64 value,
				 struct pmuctl_explanation *why);

/* Its counter is about to start, and it was held or throttled: struct pmuctl_core_ops.go_on */
void pmuctl_sampling_go_on(struct pmuctl_event *event);

/* Its counter is about to start. Owner CPU, context locked, IRQs off. */
static inline void pmuctl_sampling_start(struct pmuctl_cpuctx *pc, struct pmuctl_event *event)
{
	struct pmuctl_sampling *s = event->sampling;

	if (unlikely(s->throttled || event->own.counter.held))
		pmuctl_core_ops->go_on(event);
	if (s->freq || s->throttled)
		pc->ticking = true;
}

/* Disable it if its limit is reached. As above. */
static inline void pmuctl_sampling_expire(struct pmuctl_event *event)
{
	struct pmuctl_sampling *s = event->sampling;

	if (unlikely(s->expired)) {
		s->expired = false;
		event->enabled = false;
	}
}

/* It is enabled or disabled, so what its limit wanted is over. As above, or anywhere if its
 * context is not loaded. Returns true if it wanted something.
 */
bool pmuctl_sampling_refresh(struct pmuctl_event *event);

/**
 * pmuctl_tick() - what is to be done at times while events are sampled
 * @pc: this CPU, locked by pmuctl_cpu_lock().
 *
 * Lets go on what was throttled, and finds periods for frequencies.
 *
 * Return: true if it is needed again.
 */
bool pmuctl_tick(struct pmuctl_cpuctx *pc);

/* ns between two of them */
#define PMUCTL_TICK_NS	((u64)TICK_NSEC)

/* A counter has overflowed: hwpmu_ops.overflow */
bool pmuctl_overflow(struct hwpmu_counter *counter, struct pt_regs *regs);

#endif /* PMUCTL_SAMPLING_H */
