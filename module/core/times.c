// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times of events that somebody may ask for in the midst of their being brought up to date. On
 * the owner's CPU, IRQs off.
 */
#include "core/times.h"

DEFINE_PER_CPU(struct pmuctl_times, pmuctl_times_before);
bool pmuctl_times_asked;

void pmuctl_times_add_at_once(struct pmuctl_count_state *tally, u64 now)
{
	struct pmuctl_times *before = this_cpu_ptr(&pmuctl_times_before);

	before->stamp = tally->stamp;
	before->enabled = tally->time_enabled;
	before->running = tally->time_running;
	barrier(); /* for an NMI here: what was is there before anybody looks at it */
	WRITE_ONCE(before->of, tally);
	barrier(); /* and nothing has changed until then */
	pmuctl_times_add(tally, max(now, READ_ONCE(tally->told)));
	barrier(); /* all has, when nobody looks at it any more */
	WRITE_ONCE(before->of, NULL);
}

void pmuctl_times_add_told(struct hwpmu_counter *const *counters, unsigned int n)
{
	while (n--) {
		struct pmuctl_count_state *tally =
			container_of(counters[n], struct pmuctl_count_state, counter);
		u64 late = tally->told - tally->stamp;

		if ((s64)late <= 0)
			continue;
		tally->time_enabled += late;
		tally->time_running += late;
		tally->stamp = tally->told;
	}
}
