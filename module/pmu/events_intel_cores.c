// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of Intel's cores from Alder Lake on: Golden Cove and Redwood Cove, which are the
 * performance cores of hybrid processors and those of Sapphire Rapids, and Gracemont and
 * Crestmont, the efficiency cores. From Intel's event lists for Alder Lake, Sapphire Rapids and
 * Meteor Lake (goldencove, gracemont, redwoodcove, crestmont), whose names the events have
 * here. Pure logic: compiles in user space too.
 */
#include "pmu/event_tables.h"

static const hwpmu_cache_table performance_cache = {
	[PERF_COUNT_HW_CACHE_L1D] = {
		[PERF_COUNT_HW_CACHE_OP_READ] = {
			0x81d0,		/* MEM_INST_RETIRED.ALL_LOADS */
			0xe124,		/* L2_RQSTS.ALL_DEMAND_DATA_RD */
		},
		[PERF_COUNT_HW_CACHE_OP_WRITE] = {
			0x82d0,		/* MEM_INST_RETIRED.ALL_STORES */
			0,
		},
	},
	[PERF_COUNT_HW_CACHE_L1I] = {
		[PERF_COUNT_HW_CACHE_OP_READ] = {
			0,
			0xe424,		/* L2_RQSTS.ALL_CODE_RD */
		},
	},
	[PERF_COUNT_HW_CACHE_DTLB] = {
		[PERF_COUNT_HW_CACHE_OP_READ] = {
			0x81d0,		/* MEM_INST_RETIRED.ALL_LOADS */
			0x0e12,		/* DTLB_LOAD_MISSES.WALK_COMPLETED */
		},
		[PERF_COUNT_HW_CACHE_OP_WRITE] = {
			0x82d0,		/* MEM_INST_RETIRED.ALL_STORES */
			0x0e13,		/* DTLB_STORE_MISSES.WALK_COMPLETED */
		},
	},
	[PERF_COUNT_HW_CACHE_ITLB] = {
		[PERF_COUNT_HW_CACHE_OP_READ] = {
			0,
			0x0e11,		/* ITLB_MISSES.WALK_COMPLETED */
		},
	},
	/* Linux has unit mask 4 here, which the lists do not. */
	[PERF_COUNT_HW_CACHE_BPU] = {
		[PERF_COUNT_HW_CACHE_OP_READ] = {
			0x00c4,		/* BR_INST_RETIRED.ALL_BRANCHES */
			0x00c5,		/* BR_MISP_RETIRED.ALL_BRANCHES */
		},
	},
};

static const hwpmu_cache_table efficiency_cache = {
	[PERF_COUNT_HW_CACHE_L1D] = {
		[PERF_COUNT_HW_CACHE_OP_READ] = {
			0x81d0,		/* MEM_UOPS_RETIRED.ALL_LOADS */
			0,
		},
		[PERF_COUNT_HW_CACHE_OP_WRITE] = {
			0x82d0,		/* MEM_UOPS_RETIRED.ALL_STORES */
			0,
		},
	},
	[PERF_COUNT_HW_CACHE_L1I] = {
		[PERF_COUNT_HW_CACHE_OP_READ] = {
			0x0380,		/* ICACHE.ACCESSES */
			0x0280,		/* ICACHE.MISSES */
		},
	},
	[PERF_COUNT_HW_CACHE_DTLB] = {
		[PERF_COUNT_HW_CACHE_OP_READ] = {
			0x81d0,		/* MEM_UOPS_RETIRED.ALL_LOADS */
			0x0e08,		/* DTLB_LOAD_MISSES.WALK_COMPLETED */
		},
		[PERF_COUNT_HW_CACHE_OP_WRITE] = {
			0x82d0,		/* MEM_UOPS_RETIRED.ALL_STORES */
			0x0e49,		/* DTLB_STORE_MISSES.WALK_COMPLETED */
		},
	},
	[PERF_COUNT_HW_CACHE_ITLB] = {
		[PERF_COUNT_HW_CACHE_OP_READ] = {
			0,
			0x0481,		/* ITLB.MISS, of the list for Goldmont Plus */
		},
	},
	[PERF_COUNT_HW_CACHE_BPU] = {
		[PERF_COUNT_HW_CACHE_OP_READ] = {
			0x00c4,		/* BR_INST_RETIRED.ALL_BRANCHES */
			0x00c5,		/* BR_MISP_RETIRED.ALL_BRANCHES */
		},
	},
};

/* Models with performance cores; the hybrid ones have both */
static const struct {
	u8 model;
	bool hybrid;
} models[] = {
	{ 0x8f, false }, { 0xcf, false },			/* Sapphire, Emerald Rapids */
	{ 0x97, true }, { 0x9a, true },				/* Alder Lake */
	{ 0xb7, true }, { 0xba, true }, { 0xbf, true },		/* Raptor Lake */
	{ 0xaa, true }, { 0xac, true }, { 0xb5, true },		/* Meteor Lake */
	{ 0xad, false }, { 0xae, false },			/* Granite Rapids */
};

/* Efficiency cores only: Alder Lake-N, Sierra Forest, Grand Ridge */
static const u8 efficiency_models[] = { 0xbe, 0xaf, 0xb6 };

/* The type of core whose events these are, 0 if it is none of them */
static u32 core_of(const struct hwpmu_caps *caps)
{
	unsigned int i;

	if (caps->vendor != HWPMU_VENDOR_INTEL || caps->family != 6)
		return 0;
	for (i = 0; i < ARRAY_SIZE(efficiency_models); i++)
		if (caps->model == efficiency_models[i])
			return HWPMU_CORE_EFFICIENCY;
	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (caps->model == models[i].model)
			return models[i].hybrid && caps->core_type ?
				caps->core_type : HWPMU_CORE_PERFORMANCE;
	return 0;
}

const hwpmu_cache_table *hwpmu_intel_core_cache(const struct hwpmu_caps *caps)
{
	switch (core_of(caps)) {
	case HWPMU_CORE_PERFORMANCE:
		return &performance_cache;
	case HWPMU_CORE_EFFICIENCY:
		return &efficiency_cache;
	default:
		return NULL;
	}
}
