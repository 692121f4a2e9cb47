// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel's events: the architectural ones (SDM Vol. 3B, "Pre-defined Architectural
 * Performance Events"), what the fixed counters count, per family of models, cache
 * events (Intel's event lists of the models named), and which counters an event can be on, by
 * intel_rules.c. Pure logic: compiles in user space too.
 */
#include "explain/explain.h"
#include "pmu/event_tables.h"
#include "pmu/events_extra.h"

#define FIRST_FOUR	0xfULL
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

/* TOPDOWN.SLOTS as an architectural event, which a general counter can count */
#define CONFIG_SLOTS_ARCH	0x01a4
#define ARCH_SLOTS		7

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

/* ITLB_MISSES.STLB_HIT: from Icelake on no measure of the accesses, and Linux leaves it out */
#define ITLB_STLB_HIT	0x2085

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
			ITLB_STLB_HIT,
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

static const u8 skylake_models[] = { 0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6 };
static const u8 icelake_models[] = { 0x6a, 0x6c, 0x7d, 0x7e, 0x8c, 0x8d, 0xa7 };

static bool is_icelake(const struct hwpmu_caps *caps)
{
	return caps->family == 6 && memchr(icelake_models, caps->model, sizeof(icelake_models));
}

static bool has_skylake_events(const struct hwpmu_caps *caps)
{
	return is_icelake(caps) ||
		(caps->family == 6 && memchr(skylake_models, caps->model, sizeof(skylake_models)));
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
	u64 config;

	if (table)
		return (*table)[cache][op][result];
	if (!has_skylake_events(caps))
		return 0;
	config = skylake_cache[cache][op][result];
	return config == ITLB_STLB_HIT && is_icelake(caps) ? 0 : config;
}

/* ---- Which counters can count an event ---- */

static bool is_model(const struct hwpmu_intel_model *m, const struct hwpmu_caps *caps)
{
	u32 core_type = caps->core_type ?: HWPMU_CORE_PERFORMANCE;

	return m->family == caps->family && m->model == caps->model &&
		(!m->core_type || m->core_type == core_type);
}

/* What is known of this CPU's events, or NULL; performance cores if it does not say which */
static const struct hwpmu_intel_model *model_of(const struct hwpmu_caps *caps)
{
	static const struct hwpmu_intel_model *last; /* asked at each open, of the same one */
	const struct hwpmu_intel_model *m = READ_ONCE(last);

	if (m && is_model(m, caps))
		return m;
	for (m = hwpmu_intel_models; m < hwpmu_intel_models + hwpmu_nr_intel_models; m++) {
		if (!is_model(m, caps))
			continue;
		WRITE_ONCE(last, m);
		return m;
	}
	return NULL;
}

/* The first rule that does not end before an event; the last one's end if there is none */
static const struct hwpmu_intel_rule *first_rule(const struct hwpmu_intel_model *model,
						 unsigned int event)
{
	const struct hwpmu_intel_rule *r = model->rules;
	unsigned int n = model->nr_rules, half;

	while (n) {
		half = n / 2;
		if (r[half].last >= event) {
			n = half;
		} else {
			r += half + 1;
			n -= half + 1;
		}
	}
	return r;
}

static const struct hwpmu_intel_rule *rule_of(const struct hwpmu_intel_model *model, u64 config)
{
	const struct hwpmu_intel_rule *end = model->rules + model->nr_rules, *r;
	unsigned int event = config & HWPMU_EVTSEL_EVENT;
	unsigned int umask = (config & HWPMU_EVTSEL_UMASK) >> 8;

	for (r = first_rule(model, event); r < end && r->first <= event; r++)
		if (r->umask == HWPMU_ANY_UMASK || r->umask == umask)
			return r;
	return NULL;
}

/* All models that have it count it alike. */
static bool is_architectural(const struct hwpmu_caps *caps, u64 config)
{
	u64 event = config & (HWPMU_EVTSEL_EVENT | HWPMU_EVTSEL_UMASK);
	unsigned int i;

	for (i = 0; i < PERF_COUNT_HW_MAX; i++)
		if (generic_events[i].arch_bit >= 0 && generic_events[i].config == event)
			return caps->arch_events & BIT_ULL(generic_events[i].arch_bit);
	return event == CONFIG_SLOTS_ARCH && (caps->arch_events & BIT_ULL(ARCH_SLOTS));
}

static bool is_fixed_number(u64 config)
{
	config &= ~HWPMU_EVTSEL_ANY;
	return config == CONFIG_REF_CYCLES || config == CONFIG_SLOTS;
}

/* Its counter of the same number on the core's other thread would be spoilt. */
static bool spoils_other_thread(const struct hwpmu_caps *caps,
				const struct hwpmu_intel_model *model, u64 config)
{
	/* With hyperthreading off there are eight. */
	return model->spoils && caps->nr_general <= 4 &&
		(config & HWPMU_EVTSEL_EVENT) >= 0xd0 && (config & HWPMU_EVTSEL_EVENT) <= 0xd3;
}

int hwpmu_intel_check_raw(const struct hwpmu_caps *caps, u64 config,
			  struct pmuctl_explanation *why)
{
	const struct hwpmu_intel_model *model = model_of(caps);
	const struct hwpmu_intel_rule *rule;

	if (is_fixed_number(config))
		return 0;
	if (!(config & HWPMU_EVTSEL_EVENT))
		return pmuctl_refuse(why, EVENT_ZERO, "attr.config", config);
	if (!model)
		return is_architectural(caps, config) ? 0 :
			pmuctl_refuse(why, EVENT_NO_TABLE, "attr.config", config,
				      caps->family, caps->model);
	if (hwpmu_extra_counters(caps, config))
		return 0;
	rule = rule_of(model, config);
	if (rule && rule->msr)
		return pmuctl_refuse(why, EVENT_REGISTER, "attr.config", config, rule->msr);
	if (spoils_other_thread(caps, model, config))
		return pmuctl_refuse(why, EVENT_SPOILS, "attr.config", config);
	return 0;
}

static u64 general_counters(const struct hwpmu_caps *caps, u64 config)
{
	const struct hwpmu_intel_model *model;
	const struct hwpmu_intel_rule *rule;
	u64 extra = hwpmu_extra_counters(caps, config);

	if (extra)
		return extra;
	model = model_of(caps);
	rule = model ? rule_of(model, config) : NULL;
	return rule ? rule->counters : FIRST_FOUR;
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
		return caps->counters & FIXED(FIXED_SLOTS);
	}
	return caps->counters & (fixed | general_counters(caps, config));
}

/* ---- Short periods ---- */

#define PREC_DIST	0x01c0	/* INST_RETIRED.PREC_DIST, Broadwell's .ALL */

/*
 * A counter that is set closer to its overflow signals it twice, or is late. Nehalem and Haswell:
 * any event; INST_RETIRED by unit mask 1 on Haswell (erratum HSW11), and on Broadwell, which
 * needs the low six bits to be 0 as well (BDM11, BDM55). By what Linux has for these models.
 */
void hwpmu_intel_periods(const struct hwpmu_caps *caps, u64 config, struct hwpmu_config *hw)
{
	bool prec_dist = (config & (HWPMU_EVTSEL_EVENT | HWPMU_EVTSEL_UMASK)) == PREC_DIST;

	if (caps->family != 6)
		return;
	switch (caps->model) {
	case 0x1a: case 0x1e: case 0x1f: case 0x2e:
		hw->shortest = 32;
		break;
	case 0x3c: case 0x3f: case 0x45: case 0x46:
		hw->shortest = prec_dist ? 128 : 32;
		break;
	case 0x3d: case 0x47: case 0x4f: case 0x56:
		if (!prec_dist)
			break;
		hw->shortest = 128;
		hw->multiple = 64;
		break;
	}
}
