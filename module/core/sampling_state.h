/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an event has that is sampled, and what of it matters where events are started, stopped,
 * copied and freed. What an overflow does is in sample/sampling.c.
 */
#ifndef PMUCTL_SAMPLING_STATE_H
#define PMUCTL_SAMPLING_STATE_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>

#include "core/core_ops.h"
#include "core/cpu_state.h"

struct pmuctl_overflow_handler;
struct pmuctl_sample_data;

/**
 * struct pmuctl_sampling - how often an event is sampled
 * @event: whose; constant.
 * @handler: of another module's counter; else NULL. Set before it is enabled for the first time.
 * @freq: samples a second that are wanted; 0: the period is fixed. Changed as the period.
 * @window: the jiffy of the last overflow, in which there were @in_window of @allowed.
 * @throttled: its counter is stopped until the next tick.
 * @tells_group: its samples have the values of all of its group; constant.
 * @expired: its limit is reached: it counts no more, and is disabled as soon as possible.
 * @ran: of @freq: what its running time was at the last overflow or tick, in ns;
 * @awake: and what pmuctl_awake_at() was then.
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
	bool tells_group;
	bool expired;
	u64 ran;
	u64 awake;
	s64 left;
	u64 events;
	u64 ns;
	struct irq_work work;
	const struct pmuctl_sample_data *data;
	struct hrtimer timer;
};

/* Memory for the sampling of a child; false: there is none. And: it is sampled as the event it
 * is a copy of, which is. Any context.
 */
bool pmuctl_sampling_blank(struct pmuctl_event *child, gfp_t gfp);
void pmuctl_sampling_copy(struct pmuctl_event *child, const struct pmuctl_event *from);

/* Free it. pmuctl_sampling_sync() was called for it, or it was never attached. Any context. */
void pmuctl_sampling_free(struct pmuctl_event *event);

/*
 * The time for which its CPU was looked at goes on where it was when the event was stopped; or
 * begins.
 */
static inline void pmuctl_sampling_awake(const struct pmuctl_cpuctx *pc,
					 struct pmuctl_event *event)
{
	const u64 now = pmuctl_awake_at(pc, sched_clock()), ran = event->own.time_running;
	struct pmuctl_sampling *s = event->sampling;
	s64 since = min_t(s64, ran - s->ran, now - s->awake);

	since = max(since, 0LL);
	s->ran = ran - since;
	s->awake = now - since;
}

/* Its counter is about to start. Owner CPU, context locked, IRQs off. */
static inline void pmuctl_sampling_start(struct pmuctl_cpuctx *pc, struct pmuctl_event *event)
{
	struct pmuctl_sampling *s = event->sampling;

	if (unlikely(s->throttled || event->own.counter.stopped))
		pmuctl_core_ops->go_on(event);
	if (s->freq || s->throttled)
		pc->ticking = true;
	if (s->freq && !event->context->task)
		pmuctl_sampling_awake(pc, event);
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

#endif /* PMUCTL_SAMPLING_STATE_H */
