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

/* Cache events, by PERF_COUNT_HW_CACHE_*; 0: none. Those of the last level and of nodes are
 * in events_extra.c.
 */
typedef u16 hwpmu_cache_table[PERF_COUNT_HW_CACHE_MAX][PERF_COUNT_HW_CACHE_OP_MAX]
			     [PERF_COUNT_HW_CACHE_RESULT_MAX];

/* The table of this CPU, or NULL: events_intel_cores.c */
const hwpmu_cache_table *hwpmu_intel_core_cache(const struct hwpmu_caps *caps);

#define HWPMU_ANY_UMASK	0x100

/**
 * struct hwpmu_intel_rule - which general counters can count some events
 * @first: and @last: their numbers.
 * @umask: their unit mask, or HWPMU_ANY_UMASK.
 * @counters: one bit each, with hyperthreading off, when there are most.
 * @msr: they count only what this register selects; else 0. Those that events_extra.c does not
 *	have are not counted.
 */
struct hwpmu_intel_rule {
	u8 first, last;
	u16 umask;
	u16 counters;
	u16 msr;
};

/**
 * struct hwpmu_intel_model - what is known of the events of a model
 * @family: and @model: as in struct hwpmu_caps.
 * @core_type: HWPMU_CORE_* of a hybrid processor, else 0.
 * @rules: the first one that names an event is its own; none begins, or ends, before the one
 *	before it. What has none can be counted by the first four counters.
 * @nr_rules: how many.
 * @spoils: with hyperthreading, events D0H to D3H spoil a counter of the other thread.
 */
struct hwpmu_intel_model {
	u8 family, model;
	u8 core_type;
	const struct hwpmu_intel_rule *rules;
	u16 nr_rules;
	bool spoils;
};

/* intel_rules.c */
extern const struct hwpmu_intel_model hwpmu_intel_models[];
extern const unsigned int hwpmu_nr_intel_models;

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

/* Set how short a period of an event may be. */
struct hwpmu_config;
void hwpmu_intel_periods(const struct hwpmu_caps *caps, u64 config, struct hwpmu_config *hw);

/* Refuse a raw event whose counts would mean nothing here. 0, or a negative errno. */
int hwpmu_intel_check_raw(const struct hwpmu_caps *caps, u64 config,
			  struct pmuctl_explanation *why);
int hwpmu_amd_check_raw(const struct hwpmu_caps *caps, u64 config,
			struct pmuctl_explanation *why);

#endif /* PMUCTL_PMU_EVENT_TABLES_H */
