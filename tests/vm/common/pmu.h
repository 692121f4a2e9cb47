/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the guest's PMU is, for tests that must fill it: all of them run on every model of
 * the laboratory.
 */
#ifndef VM_PMU_H
#define VM_PMU_H

#include "loops.h"
#include "raw.h"

#define PMU_MAX		64
/* More events of instructions or branches than any model has counters for */
#define PMU_TOO_MANY	12

/* The device is not left open: the module may be unloaded next. */
static inline struct pmuctl_info pmu_info(void)
{
	struct pmuctl_info info = { .size = sizeof(info) };
	int device = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC);

	cr_assert_eq(ioctl(device, PMUCTL_IOC_INFO, &info), 0, "%m");
	close(device);
	return info;
}

static inline bool pmu_is_amd(void)
{
	return pmu_info().pmu_kind == PMUCTL_PMU_AMD;
}

/* General counters: branches can be on these only. */
static inline unsigned int pmu_general(void)
{
	return pmu_info().nr_counters;
}

/* Fixed counters with an event that the module knows: instructions, cycles, ref-cycles */
static inline unsigned int pmu_fixed(void)
{
	unsigned int n = pmu_info().nr_fixed;

	return n < 3 ? n : 3;
}

/* A generic event that this PMU does not have, and what it is called */
static inline uint64_t pmu_missing_event(const char **name)
{
	bool has = pmu_info().generic_events >> PERF_COUNT_HW_STALLED_CYCLES_FRONTEND & 1;

	*name = has ? "bus-cycles" : "stalled-cycles-frontend";
	return has ? PERF_COUNT_HW_BUS_CYCLES : PERF_COUNT_HW_STALLED_CYCLES_FRONTEND;
}

/* The raw events of branches and cycles: SDM Vol. 3B, "Pre-defined Architectural
 * Performance Events"; PPR, "Performance Monitor Counters"
 */
static inline uint64_t pmu_raw_branches(void)
{
	return pmu_is_amd() ? 0xc2 : 0xc4;
}

static inline uint64_t pmu_raw_cycles(void)
{
	return pmu_is_amd() ? 0x76 : 0x3c;
}

/*
 * Generic events that fill the PMU, each counter with one; returns how many. The first
 * is instructions, the second branches. On general counters the two take turns, cycles
 * and ref-cycles come last, if they have a counter of their own.
 */
static inline unsigned int pmu_fill(uint64_t *configs)
{
	static const uint64_t fixed[] = { PERF_COUNT_HW_INSTRUCTIONS,
		PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_REF_CPU_CYCLES };
	unsigned int i, n = 0;

	for (i = 0; i < pmu_general(); i++)
		configs[n++] = i % 2 ? PERF_COUNT_HW_BRANCH_INSTRUCTIONS :
				       PERF_COUNT_HW_INSTRUCTIONS;
	for (i = 0; i < pmu_fixed(); i++)
		configs[n++] = fixed[i];
	return n;
}

#endif /* VM_PMU_H */
