/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The period of a software event, as the tables of most of them have it: struct
 * pmuctl_event_ops. On the CPU on which its context is loaded, IRQs off; it may be read by an NMI.
 */
#ifndef PMUCTL_SOFT_PERIOD_H
#define PMUCTL_SOFT_PERIOD_H

#include <linux/types.h>

struct pmuctl_event;

/* A period begins, of this many events. */
void pmuctl_soft_set_period(struct pmuctl_event *event, u64 period);

/* It was stopped by its samples: it goes on. */
void pmuctl_soft_resume(struct pmuctl_event *event);

/* How many events are left until the period is over */
s64 pmuctl_soft_left(const struct pmuctl_event *event);

#endif /* PMUCTL_SOFT_PERIOD_H */
