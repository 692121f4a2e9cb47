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

/* The event select of an event: with the other one of its two registers its number is another. */
static inline u64 hwpmu_extra_evtsel(const struct hwpmu_counter *counter)
{
	const struct hwpmu_config *hw = &counter->config;

	if (likely(!counter->extra || counter->extra == hw->extra))
		return hw->evtsel;
	return (hw->evtsel & ~(HWPMU_EVTSEL_EVENT | HWPMU_EVTSEL_UMASK)) | hw->other_event;
}

/* Write the register that a counter has. Context: Owner CPU, IRQs off. */
void hwpmu_extra_write(const struct hwpmu_counter *counter);

/* This CPU comes under our control: find out with whom it shares. Its CPU, IRQs off. */
void hwpmu_extra_cpu_online(void);

/* It is not ours any more, and nothing runs there: who shares may be another one the next time. */
void hwpmu_extra_cpu_offline(void);

/* Find out which registers are not there, before anything runs. IRQs off; the PMU is ours. */
void hwpmu_extra_check(void);

/* Does an event need one that is not there? Any context; since hwpmu_get(). */
bool hwpmu_extra_is_absent(const struct hwpmu_config *hw);

#endif /* PMUCTL_PMU_EXTRA_H */
