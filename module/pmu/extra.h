/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers that select what some events count: who has them on this CPU, and what is in
 * them. Which events these are is in events_extra.h.
 */
#ifndef PMUCTL_PMU_EXTRA_H
#define PMUCTL_PMU_EXTRA_H

#include "pmu/events_extra.h"
#include "pmu/private.h"

/* Does one of these counters need such a register? */
static inline bool hwpmu_extra_is_wanted(struct hwpmu_counter *const *counters, unsigned int n)
{
	u8 any = 0;

	while (n--)
		any |= counters[n]->config.extra;
	return any;
}

/**
 * hwpmu_extra_get() - have the registers that counters need
 * @cpu: this CPU.
 * @counters: not running.
 * @n: how many.
 *
 * All or none. If none, the counters have nothing that they can use for now.
 *
 * Context: Owner CPU, IRQs off.
 * Return: false if a register has another value, for an event of this CPU, or of another
 * thread of its core.
 */
bool hwpmu_extra_get(struct hwpmu_cpu *cpu, struct hwpmu_counter *const *counters, unsigned int n);

/* Give up those that counters have that do not run. Context: Owner CPU, IRQs off. */
void hwpmu_extra_put(struct hwpmu_cpu *cpu, struct hwpmu_counter *const *counters, unsigned int n);

/* Another counter of the same event goes on with what @from has. Owner CPU, IRQs off. */
static inline void hwpmu_extra_hand_over(struct hwpmu_counter *from, struct hwpmu_counter *to)
{
	if (to->config.extra != from->config.extra)
		hwpmu_extra_swap(&to->config);
	to->has_extra = true;
	from->has_extra = false;
}

/* Write the register that a counter has. Context: Owner CPU, IRQs off. */
void hwpmu_extra_write(const struct hwpmu_counter *counter);

/* This CPU comes under our control: find out with whom it shares. Its CPU, IRQs off. */
void hwpmu_extra_cpu_online(void);

/* Find out which registers are not there, before there are events. IRQs off; the PMU is ours. */
void hwpmu_extra_check(void);

/* Does an event need one that is not there? Any context; since hwpmu_get(). */
bool hwpmu_extra_is_absent(const struct hwpmu_config *hw);

#endif /* PMUCTL_PMU_EXTRA_H */
