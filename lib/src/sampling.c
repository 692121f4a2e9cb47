// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Control of events that sample: how often, how long, and into which ring. Rings
 * themselves are in ring.c.
 */
#include "event.h"
#include "internal.h"
#include "ring.h"

PMUCTL_API int pmuctl_event_refresh(struct pmuctl_event *event, int overflows)
{
	return pmuctl_event_ioctl(event, PERF_EVENT_IOC_REFRESH,
				  (unsigned long)overflows);
}

PMUCTL_API int pmuctl_event_set_period(struct pmuctl_event *event, uint64_t period)
{
	__u64 value = period;

	return pmuctl_event_ioctl(event, PERF_EVENT_IOC_PERIOD,
				  (unsigned long)(uintptr_t)&value);
}

PMUCTL_API int pmuctl_event_set_output(struct pmuctl_event *event,
				       struct pmuctl_event *output)
{
	return pmuctl_event_ioctl(event, PERF_EVENT_IOC_SET_OUTPUT,
				  (unsigned long)(output ? output->fd : -1));
}

PMUCTL_API int pmuctl_event_pause_output(struct pmuctl_event *event, int pause)
{
	return pmuctl_event_ioctl(event, PERF_EVENT_IOC_PAUSE_OUTPUT,
				  (unsigned long)!!pause);
}
