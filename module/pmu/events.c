// SPDX-License-Identifier: GPL-2.0-only
/*
 * Encoding of HARDWARE, HW_CACHE and RAW events for Intel's architectural PMU, and
 * the tables that it needs: the architectural events (SDM Vol. 3B, "Pre-defined
 * Architectural Performance Events") and, per family of models, cache events
 * (Intel's event lists of the models named). Pure logic: compiles in user space too.
 */
#include "pmu/events.h"
#include "explain.h"

#define FIXED(n)	BIT_ULL(HWPMU_FIXED_BASE + (n))

/* What the fixed counters count: SDM Vol. 3B, "Fixed-function Performance Counters" */
#define FIXED_INSTRUCTIONS	0	/* INST_RETIRED.ANY */
#define FIXED_CYCLES		1	/* CPU_CLK_UNHALTED.THREAD */
#define FIXED_REF_CYCLES	2	/* CPU_CLK_UNHALTED.REF_TSC */

/* The kernel's name for fixed counter 2 as a raw event; no such event exists on
 * general counters.
 */
#define CONFIG_REF_CYCLES	0x0300

/* IA32_FIXED_CTR_CTRL, SDM Vol. 3B, "Architectural Performance Monitoring Version 2" */
#define FIXED_CTRL_OS		0x1
#define FIXED_CTRL_USR		0x2
#define FIXED_CTRL_ANY		0x4
#define FIXED_CTRL_PMI		0x8

/* Generic events that are architectural: their bit in CPUID.0xA:EBX and encoding */
static const struct generic_event {
	const char *name;
	s8 arch_bit;		/* -1: has no encoding on every model */
	u16 config;
} generic_events[PERF_COUNT_HW_MAX] = {
	[PERF_COUNT_HW_CPU_CYCLES] = { "cpu-cycles", 0, 0x003c },
	[PERF_COUNT_HW_INSTRUCTIONS] = { "instructions", 1, 0x00c0 },
	[PERF_COUNT_HW_CACHE_REFERENCES] = { "cache-references", 3, 0x4f2e },
	[PERF_COUNT_HW_CACHE_MISSES] = { "cache-misses", 4, 0x412e },
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = {
		"branch-instructions", 5, 0x00c4 },
	[PERF_COUNT_HW_BRANCH_MISSES] = { "branch-misses", 6, 0x00c5 },
	[PERF_COUNT_HW_BUS_CYCLES] = { "bus-cycles", 2, 0x013c },
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = {
		"stalled-cycles-frontend", -1, 0 },
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = {
		"stalled-cycles-backend", -1, 0 },
	[PERF_COUNT_HW_REF_CPU_CYCLES] = { "ref-cycles", -1, CONFIG_REF_CYCLES },
};

/* Skylake to Cometlake, Icelake to Rocketlake; 0: no event without extra registers */
static const u16 skylake_cache[PERF_COUNT_HW_CACHE_MAX]
			      [PERF_COUNT_HW_CACHE_OP_MAX]
			      [PERF_COUNT_HW_CACHE_RESULT_MAX] = {
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

static bool can_count_generic(const struct hwpmu_caps *caps, unsigned int event)
{
	const struct generic_event *g = &generic_events[event];

	if (g->config == CONFIG_REF_CYCLES)
		return caps->counters & FIXED(FIXED_REF_CYCLES);
	return g->arch_bit >= 0 && (caps->arch_events & BIT_ULL(g->arch_bit));
}

u64 hwpmu_generic_events(const struct hwpmu_caps *caps)
{
	u64 events = 0;
	unsigned int i;

	for (i = 0; caps->version && i < PERF_COUNT_HW_MAX; i++)
		if (can_count_generic(caps, i))
			events |= BIT_ULL(i);
	return events;
}

static int encode_hardware(const struct hwpmu_caps *caps,
			   const struct perf_event_attr *attr, u64 *config,
			   struct pmuctl_explanation *why)
{
	if (attr->config >= PERF_COUNT_HW_MAX)
		return pmuctl_refuse(why, EVENT_UNKNOWN, "attr.config",
				     attr->config, attr->type);
	if (!can_count_generic(caps, attr->config))
		return pmuctl_refuse(why, EVENT_NOT_HERE, "attr.config",
				     caps->name,
				     generic_events[attr->config].name);
	*config = generic_events[attr->config].config;
	return 0;
}

static int encode_cache(const struct hwpmu_caps *caps,
			const struct perf_event_attr *attr, u64 *config,
			struct pmuctl_explanation *why)
{
	unsigned int cache = attr->config & 0xff;
	unsigned int op = (attr->config >> 8) & 0xff;
	unsigned int result = (attr->config >> 16) & 0xff;

	if (attr->config >> 24 || cache >= PERF_COUNT_HW_CACHE_MAX ||
	    op >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return pmuctl_refuse(why, EVENT_UNKNOWN, "attr.config",
				     attr->config, attr->type);
	*config = has_skylake_events(caps) ? skylake_cache[cache][op][result] : 0;
	if (!*config)
		return pmuctl_refuse(why, EVENT_NOT_HERE, "attr.config",
				     caps->name, "this use of this cache");
	return 0;
}

static int encode_raw(const struct hwpmu_caps *caps,
		      const struct perf_event_attr *attr, u64 *config,
		      struct pmuctl_explanation *why)
{
	u64 bad = attr->config & ~caps->raw_mask;

	if (bad)
		return pmuctl_refuse(why, RAW_BITS, "attr.config", attr->config,
				     caps->raw_mask, bad);
	*config = attr->config;
	return 0;
}

/* Fixed counters know no unit mask, edge, inversion, or counter mask. */
static u64 allowed_counters(const struct hwpmu_caps *caps, u64 config)
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
	}
	return caps->counters & (fixed | GENMASK_ULL(HWPMU_FIXED_BASE - 1, 0));
}

int hwpmu_event_encode(const struct hwpmu_caps *caps,
		       const struct perf_event_attr *attr,
		       struct hwpmu_config *hw, struct pmuctl_explanation *why)
{
	u64 config = 0;
	int err;

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		err = encode_hardware(caps, attr, &config, why);
		break;
	case PERF_TYPE_HW_CACHE:
		err = encode_cache(caps, attr, &config, why);
		break;
	default:
		err = encode_raw(caps, attr, &config, why);
		break;
	}
	if (err)
		return err;

	hw->allowed = allowed_counters(caps, config);
	if (!hw->allowed)
		return pmuctl_refuse(why, EVENT_NOT_HERE, "attr.config",
				     caps->name, "that counter's event");
	hw->evtsel = config | HWPMU_EVTSEL_INT | HWPMU_EVTSEL_EN;
	hw->fixed_ctrl = FIXED_CTRL_PMI;
	if (!attr->exclude_user) {
		hw->evtsel |= HWPMU_EVTSEL_USR;
		hw->fixed_ctrl |= FIXED_CTRL_USR;
	}
	if (!attr->exclude_kernel) {
		hw->evtsel |= HWPMU_EVTSEL_OS;
		hw->fixed_ctrl |= FIXED_CTRL_OS;
	}
	if (config & HWPMU_EVTSEL_ANY)
		hw->fixed_ctrl |= FIXED_CTRL_ANY;
	return 0;
}
