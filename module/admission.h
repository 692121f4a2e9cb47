/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What decides whether there are counters for an event: admission.c.
 */
#ifndef PMUCTL_ADMISSION_H
#define PMUCTL_ADMISSION_H

#include "core.h"

/**
 * pmuctl_admit() - may one more event be opened?
 * @ctx: whose it is to be.
 * @event: not attached yet; its leader is known.
 * @why: filled on refusal.
 *
 * Context: Process; pmuctl_mutex held.
 * Return: 0; -EINVAL if its group can never be on the PMU; -ENOENT if its CPU is of a type that
 * cannot count it; -EBUSY if counters would not
 * be enough for all and the parameter overcommit forbids that.
 */
int pmuctl_admit(struct pmuctl_context *ctx, const struct pmuctl_event *event,
		 struct pmuctl_explanation *why);

/* If CPUs differ: does this one have all events of a group? Its CPU, IRQs off. */
bool pmuctl_group_can_be_here(struct pmuctl_event *leader);

extern unsigned int pmuctl_reserve_percpu; /* the parameter */
u64 pmuctl_usable_beside_reserved(const struct pmuctl_context *ctx, int cpu);

/* The counters of a CPU that the events of a context may use now. Any context. */
static inline u64 pmuctl_usable_counters(const struct pmuctl_context *ctx, int cpu)
{
	return likely(!READ_ONCE(pmuctl_reserve_percpu)) ? ~0ULL :
		pmuctl_usable_beside_reserved(ctx, cpu);
}

#endif /* PMUCTL_ADMISSION_H */
