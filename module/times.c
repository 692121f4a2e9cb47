// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times of events that somebody may ask for in the midst of their being brought up to date. On
 * the owner's CPU, IRQs off.
 */
#include "times.h"

DEFINE_PER_CPU(struct pmuctl_times, pmuctl_times_before);
bool pmuctl_times_asked;

void pmuctl_times_add_at_once(struct pmuctl_tally *tally, u64 now)
{
	struct pmuctl_times *before = this_cpu_ptr(&pmuctl_times_before);

	before->stamp = tally->stamp;
	before->enabled = tally->time_enabled;
	before->running = tally->time_running;
	barrier(); /* for an NMI here: what was is there before anybody looks at it */
	WRITE_ONCE(before->of, tally);
	barrier(); /* and nothing has changed until then */
	pmuctl_times_add(tally, now);
	barrier(); /* all has, when nobody looks at it any more */
	WRITE_ONCE(before->of, NULL);
}
