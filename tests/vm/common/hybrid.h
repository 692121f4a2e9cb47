/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests on machines whose CPUs are not all alike: what type each is, and events of
 * perf, which has a PMU of its own for each type.
 */
#ifndef VM_HYBRID_H
#define VM_HYBRID_H

#include "loops.h"

/* SDM Vol. 2A, "CPUID", leaf 1AH, EAX[31:24] */
#define CORE_EFFICIENCY		0x20
#define CORE_PERFORMANCE	0x40

/* SDM Vol. 2A, "CPUID", leaf 7, EDX[15] */
bool is_hybrid(void);

unsigned int core_type(int cpu);

/* The laboratory's: tests/lab/qemu/target/i386/tcg/system/pmu_model.c */
#define BIG_GENERAL	8
#define BIG_FIXED	4
#define SMALL_GENERAL	6
#define SMALL_FIXED	3

/* The CPU, 0 or 1, that is of this type */
int cpu_of_type(unsigned int type);

/* Go where perf counts generic events of which nobody says for which type of CPU. */
void pin_where_perf_counts(void);

/* There perf counts a loop of @n rounds exactly. */
void check_perf_counts(uint64_t n);

/*
 * Does perf know this processor, or its architectural events only? Kernels before 5.13 may be
 * older than the processor; of later ones it is expected.
 */
bool perf_knows_cpu(void);

/* Has it a PMU for each type of CPU? Before 5.13 it has one, for all. */
bool perf_has_types(void);

/*
 * The same event of perf, for CPUs of a type: a generic one names the PMU in its upper half. If
 * perf has no types it is the event itself, which counts on all.
 */
struct perf_event_attr perf_attr(struct perf_event_attr attr, unsigned int type);

#endif /* VM_HYBRID_H */
