// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel's events: the architectural ones (SDM Vol. 3B, "Pre-defined Architectural
 * Performance Events"), what the fixed counters count, and, per family of models, cache
 * events (Intel's event lists of the models named). Pure logic: compiles in user space
 * too.
 */
#include "pmu/event_tables.h"

#define FIXED(n)	BIT_ULL(HWPMU_FIXED_BASE + (n))

/* What the fixed counters count: SDM Vol. 3B, "Fixed-function Performance Counters" */
#define FIXED_INSTRUCTIONS	0	/* INST_RETIRED.ANY */
#define FIXED_CYCLES		1	/* CPU_CLK_UNHALTED.THREAD */
#define FIXED_REF_CYCLES	2	/* CPU_CLK_UNHALTED.REF_TSC */
#define FIXED_SLOTS		3	/* TOPDOWN.SLOTS */

/* The kernel's names for fixed counters 2 and 3 as raw events; no such events exist on
 * general counters.
 */
#define CONFIG_REF_CYCLES	0x0300
#define CONFIG_SLOTS		0x0400

/* Generic events that are architectural: their bit in CPUID.0xA:EBX and encoding */
static const struct {
	s8 arch_bit;		/* -1: has no encoding on every model */
	u16 config;
} generic_events[PERF_COUNT_HW_MAX] = {
	[PERF_COUNT_HW_CPU_CYCLES] = { 0, 0x003c },
	[PERF_COUNT_HW_INSTRUCTIONS] = { 1, 0x00c0 },
	[PERF_COUNT_HW_CACHE_REFERENCES] = { 3, 0x4f2e },
	[PERF_COUNT_HW_CACHE_MISSES] = { 4, 0x412e },
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = { 5, 0x00c4 },
	[PERF_COUNT_HW_BRANCH_MISSES] = { 6, 0x00c5 },
	[PERF_COUNT_HW_BUS_CYCLES] = { 2, 0x013c },
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = { -1, 0 },
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = { -1, 0 },
	[PERF_COUNT_HW_REF_CPU_CYCLES] = { -1, CONFIG_REF_CYCLES },
};

/* Skylake to Cometlake, Icelake to Rocketlake; 0: no event without extra registers */
static const hwpmu_cache_table skylake_cache = {
	[PERF_COUNT_HW_CACHE_L1D] = {
		[PERF_COUNT_HW_CACHE_OP_READ] = {
			0x81d0,		/* MEM_INST_RETIRED.ALL_LOADS */
			0x0151,		/* L1D.REPLACEMENT */
		},
		[PERF_COUNT_HW_CACHE_OP_WRITE] = {
			0x82d0,		/* MEM_INST_RETIRED.ALL_STORES */
			0,
		},
	},
	[PERF_COUNT_HW_CACHE_L1I] = {
		[PERF_COUNT_HW_CACHE_OP_READ] = {
			0,
			0x0283,		/* ICACHE_64B.IFTAG_MISS */
		},
	},
	[PERF_COUNT_HW_CACHE_DTLB] = {
		[PERF_COUNT_HW_CACHE_OP_READ] = {
			0x81d0,		/* MEM_INST_RETIRED.ALL_LOADS */
			0x0e08,		/* DTLB_LOAD_MISSES.WALK_COMPLETED */
		},
		[PERF_COUNT_HW_CACHE_OP_WRITE] = {
			0x82d0,		/* MEM_INST_RETIRED.ALL_STORES */
			0x0e49,		/* DTLB_STORE_MISSES.WALK_COMPLETED */
		},
	},
	[PERF_COUNT_HW_CACHE_ITLB] = {
		[PERF_COUNT_HW_CACHE_OP_READ] = {
			0x2085,		/* ITLB_MISSES.STLB_HIT */
			0x0e85,		/* ITLB_MISSES.WALK_COMPLETED */
		},
	},
	[PERF_COUNT_HW_CACHE_BPU] = {
		[PERF_COUNT_HW_CACHE_OP_READ] = {
			0x00c4,		/* BR_INST_RETIRED.ALL_BRANCHES */
			0x00c5,		/* BR_MISP_RETIRED.ALL_BRANCHES */
		},
	},
};

static const u8 skylake_models[] = {
	0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6,	/* Skylake to Cometlake */
	0x6a, 0x6c, 0x7d, 0x7e, 0x8c, 0x8d, 0xa7,	/* Icelake to Rocketlake */
};

static bool has_skylake_events(const struct hwpmu_caps *caps)
{
	unsigned int i;

	if (caps->family != 6)
		return false;
	for (i = 0; i < ARRAY_SIZE(skylake_models); i++)
		if (caps->model == skylake_models[i])
			return true;
	return false;
}

u64 hwpmu_intel_generic(const struct hwpmu_caps *caps, unsigned int event)
{
	u16 config = generic_events[event].config;
	s8 bit = generic_events[event].arch_bit;

	if (config == CONFIG_REF_CYCLES)
		return caps->counters & FIXED(FIXED_REF_CYCLES) ? config : 0;
	return bit >= 0 && (caps->arch_events & BIT_ULL(bit)) ? config : 0;
}

u64 hwpmu_intel_cache(const struct hwpmu_caps *caps, unsigned int cache,
		      unsigned int op, unsigned int result)
{
	const hwpmu_cache_table *table = hwpmu_intel_core_cache(caps);

	if (table)
		return (*table)[cache][op][result];
	return has_skylake_events(caps) ? skylake_cache[cache][op][result] : 0;
}

/* Fixed counters know no unit mask, edge, inversion, or counter mask. */
u64 hwpmu_intel_counters(const struct hwpmu_caps *caps, u64 config)
{
	u64 fixed = 0;

	switch (config & ~HWPMU_EVTSEL_ANY) {
	case 0x00c0:
		fixed = FIXED(FIXED_INSTRUCTIONS);
		break;
	case 0x003c:
		fixed = FIXED(FIXED_CYCLES);
		break;
	case CONFIG_REF_CYCLES:
		return caps->counters & FIXED(FIXED_REF_CYCLES);
	case CONFIG_SLOTS:
		if (caps->core_type || (caps->counters & FIXED(FIXED_SLOTS)))
			return caps->counters & FIXED(FIXED_SLOTS);
		break;
	}
	return caps->counters & (fixed | hwpmu_intel_core_counters(caps, config));
}
