/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a user changes of an event: whether it counts, its period, its limit.
 */
#ifndef PMUCTL_CHANGE_H
#define PMUCTL_CHANGE_H

#include "core/event.h"

/**
 * pmuctl_event_enable() - let it count
 * pmuctl_event_disable() - stop it; when this returns it counts no more
 * @event: in any state. If its task has ended nothing happens.
 * @group: do it to all events of its group.
 *
 * Context: Process, IRQs on.
 */
void pmuctl_event_enable(struct pmuctl_event *event, bool group);
void pmuctl_event_disable(struct pmuctl_event *event, bool group);

/**
 * pmuctl_event_set_period() - PERF_EVENT_IOC_PERIOD
 * @event: an event.
 * @value: the period, or if it has a frequency that.
 * @why: filled on refusal.
 *
 * Context: Process, IRQs on.
 * Return: 0; -EINVAL if it is not sampled, or the value is 0 or too large.
 */
int pmuctl_event_set_period(struct pmuctl_event *event, u64 value,
			    struct pmuctl_explanation *why);

/**
 * pmuctl_event_refresh() - PERF_EVENT_IOC_REFRESH
 * @event: an event.
 * @overflows: after how many more it is disabled again; 0: as many as are left.
 * @why: filled on refusal.
 *
 * Context: Process, IRQs on.
 * Return: 0; -EINVAL if it is not sampled.
 */
int pmuctl_event_refresh(struct pmuctl_event *event, unsigned int overflows,
			 struct pmuctl_explanation *why);

/**
 * pmuctl_event_set_filter() - PERF_EVENT_IOC_SET_FILTER of an event that traces
 * @event: traces.
 * @text: see pt_filter.h; empty for none.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: as pmuctl_aux_filter_open() and pmuctl_aux_filter_set(). Of one that is inherited also
 * -EOPNOTSUPP, for a file: it has children; if one began in that very moment, or -EINTR, the caller
 * is being killed, or -ENOMEM, the filter is set, and files may be nowhere in some tasks.
 */
int pmuctl_event_set_filter(struct pmuctl_event *event, const char *text,
			    struct pmuctl_explanation *why);

#endif /* PMUCTL_CHANGE_H */
