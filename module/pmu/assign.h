/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Placement: which event goes on which counter, if each can use only some of
 * them. Pure logic: compiles in user space too.
 */
#ifndef PMUCTL_PMU_ASSIGN_H
#define PMUCTL_PMU_ASSIGN_H

#include "compat/pure.h"
#include "pmu/cpuid.h"

/**
 * hwpmu_assign() - find a counter for each of @n events
 * @allowed: for each event, the counters that it can use, one bit each.
 * @n: number of events, at most HWPMU_MAX_COUNTERS.
 * @index: in: the counter that an event would like to keep, or -1; out: its
 *	counter, all different. Undefined after failure.
 *
 * Finds a placement whenever one exists (maximum bipartite matching by augmenting
 * paths), and keeps every event where it is if the wishes are allowed and do not
 * collide. At most n * n * HWPMU_MAX_COUNTERS steps, no recursion.
 *
 * Context: Any.
 * Return: true if all have been placed.
 */
bool hwpmu_assign(const u64 *allowed, unsigned int n, s8 *index);

#endif /* PMUCTL_PMU_ASSIGN_H */
