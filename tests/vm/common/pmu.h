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
struct pmuctl_info pmu_info(void);

bool pmu_is_amd(void);

/* General counters: branches can be on these only. */
unsigned int pmu_general(void);

/* Fixed counters with an event that the module knows: instructions, cycles, ref-cycles */
unsigned int pmu_fixed(void);

/* A generic event that this PMU does not have, and what it is called */
uint64_t pmu_missing_event(const char **name);

/* The raw events of branches and cycles: SDM Vol. 3B, "Pre-defined Architectural
 * Performance Events"; PPR, "Performance Monitor Counters"
 */
uint64_t pmu_raw_branches(void);

uint64_t pmu_raw_cycles(void);

/*
 * Generic events that fill the PMU, each counter with one; returns how many. The first
 * is instructions, the second branches. On general counters the two take turns, cycles
 * and ref-cycles come last, if they have a counter of their own.
 */
unsigned int pmu_fill(uint64_t *configs);

#endif /* VM_PMU_H */
