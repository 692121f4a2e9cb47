/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long an event has been enabled, and running, at an instant that an interrupt or an NMI
 * asks about: it may come between the times' being brought up to date and their stamp. Who
 * does that leaves what was before, for as long as it takes (times.c).
 */
#ifndef PMUCTL_TIMES_H
#define PMUCTL_TIMES_H

#include <linux/sched/clock.h>

#include "core/event.h"

/**
 * struct pmuctl_times - times of an event
 * @of: whose they are; NULL: nobody's.
 * @stamp: when they were right, in ns of sched_clock() of this CPU.
 * @enabled: as the count state's @time_enabled.
 * @running: as its @time_running.
 */
struct pmuctl_times {
	const struct pmuctl_count_state *of;
	u64 stamp;
	u64 enabled;
	u64 running;
};

/* Those that are being brought up to date on this CPU, as they were */
DECLARE_PER_CPU(struct pmuctl_times, pmuctl_times_before);

/* Somebody may ask: an event has been sampled since the module was loaded. */
extern bool pmuctl_times_asked;

/* Of an event that runs here, now. Context: Owner CPU, preemption off; NMI-safe. */
static inline struct pmuctl_times pmuctl_times_now(const struct pmuctl_count_state *state)
{
	struct pmuctl_times times = *this_cpu_ptr(&pmuctl_times_before);
	u64 now = sched_clock();

	if (likely(times.of != state)) {
		times.stamp = state->stamp;
		times.enabled = state->time_enabled;
		times.running = state->time_running;
	}
	times.enabled += now - times.stamp;
	times.running += now - times.stamp;
	times.stamp = now;
	return times;
}

/* The same, to be told: what the times become is not less. */
static inline struct pmuctl_times pmuctl_times_tell(struct pmuctl_count_state *state)
{
	const struct pmuctl_times times = pmuctl_times_now(state);

	WRITE_ONCE(state->told, times.stamp);
	return times;
}

/* Bring times up to date. Context: Owner CPU, IRQs off. */
static inline void pmuctl_times_add(struct pmuctl_count_state *state, u64 now)
{
	state->time_enabled += now - state->stamp;
	if (state->counter.running)
		state->time_running += now - state->stamp;
	state->stamp = now;
}

/*
 * The same, of which an NMI that comes meanwhile sees nothing, and not less than a sample has
 * told since @now.
 */
void pmuctl_times_add_at_once(struct pmuctl_count_state *state, u64 now);

/* Whichever it takes: bring an event's times up to date. Context: as above */
static inline void pmuctl_times_account(struct pmuctl_count_state *state, u64 now)
{
	if (!state->eligible)
		state->stamp = now;
	else if (READ_ONCE(pmuctl_times_asked))
		pmuctl_times_add_at_once(state, now);
	else
		pmuctl_times_add(state, now);
}

/*
 * Counters have been stopped after their times were brought up to date: add what samples told
 * that came in between. Context: Owner CPU, IRQs off.
 */
void pmuctl_times_add_told(struct hwpmu_counter *const *counters, unsigned int n);

#endif /* PMUCTL_TIMES_H */
