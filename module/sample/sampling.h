/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sampling: how often an event overflows, and what becomes of that.
 */
#ifndef PMUCTL_SAMPLING_H
#define PMUCTL_SAMPLING_H

#include "core/sampling_state.h"

struct perf_event_attr;
struct pmuctl_explanation;
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

/* The event is off the PMU for ever: wait for what its last overflow wants. Process, may
 * sleep.
 */
void pmuctl_sampling_sync(struct pmuctl_event *event);

/* Change its period, or its frequency if it has one. Its context is locked, and loaded here
 * or nowhere.
 */
void pmuctl_sampling_set_period(struct pmuctl_event *event, u64 value);

/* May a user change it so? Return: as pmuctl_event_set_period(). */
int pmuctl_sampling_check_period(const struct pmuctl_event *event, u64 value,
				 struct pmuctl_explanation *why);

/* Its counter is about to start, and it was stopped or throttled: struct pmuctl_core_ops.go_on */
void pmuctl_sampling_go_on(struct pmuctl_event *event);

/**
 * pmuctl_tick() - what is to be done at times while events are sampled
 * @pc: this CPU, locked by pmuctl_cpu_lock().
 *
 * Lets go on what was throttled, and finds periods for frequencies.
 *
 * Return: true if it is needed again.
 */
bool pmuctl_tick(struct pmuctl_cpuctx *pc);

/* A counter has overflowed: hwpmu_ops.overflow */
bool pmuctl_overflow(struct hwpmu_counter *counter, struct pt_regs *regs);

#endif /* PMUCTL_SAMPLING_H */
