// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times of events that somebody may ask for in the midst of their being brought up to date. On
 * the owner's CPU, IRQs off.
 */
#include "core/times.h"

DEFINE_PER_CPU(struct pmuctl_times, pmuctl_times_before);
bool pmuctl_times_asked;

void pmuctl_times_add_at_once(struct pmuctl_count_state *state, u64 now)
{
	struct pmuctl_times *before = this_cpu_ptr(&pmuctl_times_before);

	before->stamp = state->stamp;
	before->enabled = state->time_enabled;
	before->running = state->time_running;
	barrier(); /* for an NMI here: what was is there before anybody looks at it */
	WRITE_ONCE(before->of, state);
	barrier(); /* and nothing has changed until then */
	pmuctl_times_add(state, max(now, READ_ONCE(state->told)));
	barrier(); /* all has, when nobody looks at it any more */
	WRITE_ONCE(before->of, NULL);
}

void pmuctl_times_add_told(struct hwpmu_counter *const *counters, unsigned int n)
{
	while (n--) {
		struct pmuctl_count_state *state =
			container_of(counters[n], struct pmuctl_count_state, counter);
		u64 late = state->told - state->stamp;

		if ((s64)late <= 0)
			continue;
		state->time_enabled += late;
		state->time_running += late;
		state->stamp = state->told;
	}
}
