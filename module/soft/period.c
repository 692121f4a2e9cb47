// SPDX-License-Identifier: GPL-2.0-only
/*
 * The period of a software event: setting it, going on after a stop, and what is left of it. It is
 * counted down by who tells of hits, and that of a clock by its timer.
 */
#include "core/event.h"
#include "soft/period.h"

void pmuctl_soft_set_period(struct pmuctl_event *event, u64 period)
{
	event->own.counter.period = period;
	event->own.counter.left = period;
}

void pmuctl_soft_resume(struct pmuctl_event *event)
{
	event->own.counter.stopped = false;
}

s64 pmuctl_soft_left(const struct pmuctl_event *event)
{
	return event->own.counter.left;
}
