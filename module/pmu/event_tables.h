/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables of events of each vendor, for events.c: which raw event a generic one is,
 * and which counters can count a raw one. Pure logic: compiles in user space too.
 */
#ifndef PMUCTL_PMU_EVENT_TABLES_H
#define PMUCTL_PMU_EVENT_TABLES_H

#include "compat/pure.h"
#include "pmu/cpuid.h"
#include <linux/pmuctl.h>

/* Cache events, by PERF_COUNT_HW_CACHE_*; 0: none without registers of its own */
typedef u16 hwpmu_cache_table[PERF_COUNT_HW_CACHE_MAX][PERF_COUNT_HW_CACHE_OP_MAX]
			     [PERF_COUNT_HW_CACHE_RESULT_MAX];

/* The table of this CPU, or NULL: events_intel_cores.c */
const hwpmu_cache_table *hwpmu_intel_core_cache(const struct hwpmu_caps *caps);

/* Those of the first 32 counters on which this CPU can count an event */
u64 hwpmu_intel_core_counters(const struct hwpmu_caps *caps, u64 config);

/* The bits of the event select for PERF_COUNT_HW_*, less than PERF_COUNT_HW_MAX; 0 if
 * this CPU has none.
 */
u64 hwpmu_intel_generic(const struct hwpmu_caps *caps, unsigned int event);
u64 hwpmu_amd_generic(const struct hwpmu_caps *caps, unsigned int event);

/* The same for a cache event, each number within its bounds */
u64 hwpmu_intel_cache(const struct hwpmu_caps *caps, unsigned int cache,
		      unsigned int op, unsigned int result);
u64 hwpmu_amd_cache(const struct hwpmu_caps *caps, unsigned int cache,
		    unsigned int op, unsigned int result);

/* The counters that can count an event, one bit each; 0 if none can. */
u64 hwpmu_intel_counters(const struct hwpmu_caps *caps, u64 config);
u64 hwpmu_amd_counters(const struct hwpmu_caps *caps, u64 config);

/* AMD's number of an event, 12 bits, from its event select */
u16 hwpmu_amd_event(u64 config);

/* Does an event of AMD's need a pair of counters, or is it the one that merges these? */
bool hwpmu_amd_is_merged(const struct hwpmu_caps *caps, u64 config);

#endif /* PMUCTL_PMU_EVENT_TABLES_H */
