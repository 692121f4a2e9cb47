// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of events_extra.h, and who may have a register beside whom.
 *
 * Which events of a core need which register, by Intel's event lists. Of the bits that may be set
 * the manuals do not tell all, and a write of another one faults: they are those that Linux takes
 * for valid on these models, and what the generic cache events select is what Linux selects.
 */
#include "explain/explain.h"
#include "pmu/event_tables.h"
#include "pmu/events_extra.h"

#define FIRST_FOUR	0xfULL
#define ALL		0xffffffffULL

/**
 * struct extra_event - an event and its register
 * @event: its number, and its unit mask from bit 8 on.
 * @reg: the register.
 * @counters: general ones that can count it.
 * @valid: the bits of the register that may be set for it.
 */
struct extra_event {
	u16 event;
	u8 reg;
	u32 counters;
	u64 valid;
};

/* The values of the register for the last level's and the nodes' cache events; 0: none */
typedef u64 offcore_table[2][PERF_COUNT_HW_CACHE_OP_MAX][PERF_COUNT_HW_CACHE_RESULT_MAX];

#define LL	0
#define NODE	1
#define OP_READ	PERF_COUNT_HW_CACHE_OP_READ
#define OP_WRITE	PERF_COUNT_HW_CACHE_OP_WRITE
#define OP_PREFETCH PERF_COUNT_HW_CACHE_OP_PREFETCH

#define RSP_0(n, bits)		{ n, HWPMU_EXTRA_RSP_0, FIRST_FOUR, bits }
#define RSP_1(n, bits)		{ n, HWPMU_EXTRA_RSP_1, FIRST_FOUR, bits }
#define RSP_0_ALL(n, bits)	{ n, HWPMU_EXTRA_RSP_0, ALL, bits }
#define RSP_1_ALL(n, bits)	{ n, HWPMU_EXTRA_RSP_1, ALL, bits }
#define FRONT(n, bits)		{ n, HWPMU_EXTRA_FRONTEND, FIRST_FOUR, bits }
#define FRONT_ALL(n, bits)	{ n, HWPMU_EXTRA_FRONTEND, ALL, bits }

static const struct extra_event nehalem[] = {
	RSP_0(0x01b7, 0xffff),
};

static const struct extra_event westmere[] = {
	RSP_0(0x01b7, 0xffff), RSP_1(0x01bb, 0xffff),
};

static const struct extra_event sandybridge[] = {
	RSP_0(0x01b7, 0x3f807f8fff), RSP_1(0x01bb, 0x3f807f8fff),
};

/* And Ivy Bridge's servers, Haswell, Broadwell */
static const struct extra_event jaketown[] = {
	RSP_0(0x01b7, 0x3fffff8fff), RSP_1(0x01bb, 0x3fffff8fff),
};

static const struct extra_event skylake[] = {
	RSP_0(0x01b7, 0x3fffff8fff), RSP_1(0x01bb, 0x3fffff8fff),
	FRONT(0x01c6, 0x7fff17),
};

static const struct extra_event icelake[] = {
	RSP_0(0x01b7, 0x3fffffbfff), RSP_1(0x01bb, 0x3fffffbfff),
	FRONT_ALL(0x01c6, 0x7fff17),
};

static const struct extra_event goldencove[] = {
	RSP_0(0x012a, 0x3fffffffff), RSP_1(0x012b, 0x3fffffffff),
	FRONT_ALL(0x01c6, 0x7fff1f), FRONT_ALL(0x40ad, 0x7), FRONT_ALL(0x04c2, 0x8),
};

static const struct extra_event redwoodcove[] = {
	RSP_0(0x012a, 0x3fffffffff), RSP_1(0x012b, 0x3fffffffff),
	FRONT_ALL(0x02c6, 0x9), FRONT_ALL(0x03c6, 0x7fff1f),
	FRONT_ALL(0x40ad, 0x7), FRONT_ALL(0x04c2, 0x8),
};

static const struct extra_event lioncove[] = {
	RSP_0(0x012a, 0xfffffffffff), RSP_1(0x012b, 0xfffffffffff),
	FRONT_ALL(0x02c6, 0x9), FRONT_ALL(0x03c6, 0x7fff1f),
	FRONT_ALL(0x40ad, 0xf), FRONT_ALL(0x04c2, 0x8),
};

/* The highest bit of the first one, outstanding requests, is not there in the second. */
static const struct extra_event silvermont[] = {
	RSP_0(0x01b7, 0x768005ffff), RSP_1(0x02b7, 0x368005ffff),
};

static const struct extra_event knightslanding[] = {
	RSP_0(0x01b7, 0x799ffbb6e7), RSP_1(0x02b7, 0x399ffbffe7),
};

static const struct extra_event goldmont[] = {
	RSP_0(0x01b7, 0x760005ffbf), RSP_1(0x02b7, 0x360005ffbf),
};

static const struct extra_event tremont[] = {
	RSP_0(0x01b7, 0x800ff0ffffff9fff), RSP_1(0x02b7, 0x000ff0ffffff9fff),
};

static const struct extra_event gracemont[] = {
	RSP_0_ALL(0x01b7, 0x3fffffffff), RSP_1_ALL(0x02b7, 0x3fffffffff),
};

static const struct extra_event crestmont[] = {
	RSP_0_ALL(0x01b7, 0x800ff3ffffffffff), RSP_1_ALL(0x02b7, 0x000ff3ffffffffff),
	{ 0x0127, HWPMU_EXTRA_SNOOP_0, ALL, ~0ULL }, { 0x0227, HWPMU_EXTRA_SNOOP_1, ALL, ~0ULL },
};

/*
 * Demand reads (bit 0; on Sandy Bridge prefetches into the last level, 7, too) or demand writes
 * (1, and 8), prefetches (4 and 5): with any response (16), or those that came from memory.
 */
#define SNB_ANY		0x00010000ULL
#define SNB_MISS	0x3fffc00000ULL		/* local and remote, any snoop, not memory */
#define SNB_DRAM	0x1fffc00000ULL
#define SNB_REMOTE	0x1fff800000ULL

static const offcore_table sandybridge_cache = {
	[LL] = {
		[OP_READ] = { 0x81 | SNB_ANY, 0x81 | SNB_MISS },
		[OP_WRITE] = { 0x102 | SNB_ANY, 0x102 | SNB_MISS },
		[OP_PREFETCH] = { 0x30 | SNB_ANY, 0x30 | SNB_MISS },
	},
	[NODE] = {
		[OP_READ] = { 0x81 | SNB_DRAM, 0x81 | SNB_REMOTE },
		[OP_WRITE] = { 0x102 | SNB_DRAM, 0x102 | SNB_REMOTE },
		[OP_PREFETCH] = { 0x30 | SNB_DRAM, 0x30 | SNB_REMOTE },
	},
};

#define HSW_SNOOP	0x3f80000000ULL		/* any */
#define HSW_SNOOP_DRAM	0x1f80000000ULL		/* but those of no memory */
#define HSW_LOCAL	0x00400000ULL
#define HSW_REMOTE	0x38000000ULL
#define BDW_LOCAL	0x04000000ULL

static const offcore_table haswell_cache = {
	[LL] = {
		[OP_READ] = { 0x10001, 0x1 | HSW_LOCAL | HSW_REMOTE | HSW_SNOOP },
		[OP_WRITE] = { 0x10002, 0x2 | HSW_LOCAL | HSW_REMOTE | HSW_SNOOP },
	},
	[NODE] = {
		[OP_READ] = { 0x1 | HSW_LOCAL | HSW_SNOOP_DRAM, 0x1 | HSW_REMOTE | HSW_SNOOP_DRAM },
		[OP_WRITE] = { 0x2 | HSW_LOCAL | HSW_SNOOP_DRAM,
			       0x2 | HSW_REMOTE | HSW_SNOOP_DRAM },
	},
};

static const offcore_table broadwell_cache = {
	[LL] = {
		[OP_READ] = { 0x10001, 0x1 | BDW_LOCAL | HSW_REMOTE | HSW_SNOOP_DRAM },
		[OP_WRITE] = { 0x10002, 0x2 | BDW_LOCAL | HSW_REMOTE | HSW_SNOOP_DRAM },
	},
	[NODE] = {
		[OP_READ] = { 0x1 | BDW_LOCAL | HSW_SNOOP_DRAM, 0x1 | HSW_REMOTE | HSW_SNOOP_DRAM },
		[OP_WRITE] = { 0x2 | BDW_LOCAL | HSW_SNOOP_DRAM,
			       0x2 | HSW_REMOTE | HSW_SNOOP_DRAM },
	},
};

#define SKL_SNOOP	0x3fc0000000ULL
#define SKL_SNOOP_DRAM	0x1fc0000000ULL
#define SKL_MISS	0x3c020000ULL		/* local and remote, and no supplier */
#define SKL_LOCAL	0x04000000ULL
#define SKL_REMOTE	0x38000000ULL

static const offcore_table skylake_cache = {
	[LL] = {
		[OP_READ] = { 0x10001 | SKL_SNOOP, 0x1 | SKL_MISS | SKL_SNOOP },
		[OP_WRITE] = { 0x10002 | SKL_SNOOP, 0x2 | SKL_MISS | SKL_SNOOP },
	},
	[NODE] = {
		[OP_READ] = { 0x1 | SKL_LOCAL | SKL_SNOOP_DRAM, 0x1 | SKL_REMOTE | SKL_SNOOP_DRAM },
		[OP_WRITE] = { 0x2 | SKL_LOCAL | SKL_SNOOP_DRAM,
			       0x2 | SKL_REMOTE | SKL_SNOOP_DRAM },
	},
};

/*
 * From here on they are what the event lists have as OCR.DEMAND_DATA_RD and OCR.DEMAND_RFO:
 * ANY_RESPONSE and L3_MISS, LOCAL_DRAM and REMOTE_DRAM, but that the lists do not have writes to
 * remote memory. So has Linux 7.3; 6.12 has others for some.
 */
static const offcore_table icelakex_cache = {
	[LL] = {
		[OP_READ] = { 0x10001, 0x3fbfc00001 },
		[OP_WRITE] = { 0x3f3ffc0002, 0x3f3fc00002 },
	},
	[NODE] = {
		[OP_READ] = { 0x104000001, 0x730000001 },
		[OP_WRITE] = { 0x104000002, 0x730000002 },
	},
};

static const offcore_table sapphirerapids_cache = {
	[LL] = {
		[OP_READ] = { 0x10001, 0x3fbfc00001 },
		[OP_WRITE] = { 0x3f3ffc0002, 0x3f3fc00002 },
	},
	[NODE] = {
		[OP_READ] = { 0x104000001, 0x730000001 },
	},
};

/* Performance cores of hybrid processors, and Crestmont */
static const offcore_table client_cache = {
	[LL] = {
		[OP_READ] = { 0x10001, 0x3fbfc00001 },
		[OP_WRITE] = { 0x10002, 0x3fbfc00002 },
	},
};

static const offcore_table gracemont_cache = {
	[LL] = {
		[OP_READ] = { 0x10001, 0x3f84400001 },
		[OP_WRITE] = { 0x10002, 0x3f84400002 },
	},
};

/**
 * struct extra_core - the events of a core
 * @models: that are of family 6.
 * @core_type: HWPMU_CORE_* of hybrid processors; 0: any.
 * @shared: the threads of a core have one set of registers. Since Sandy Bridge each has its own.
 * @event: the events, offcore responses first.
 * @nr: how many.
 * @cache: its cache events by offcore responses, or NULL.
 */
struct extra_core {
	u8 models[12];
	u8 core_type;
	bool shared;
	const struct extra_event *event;
	unsigned int nr;
	const offcore_table *cache;
};

static const struct extra_core extra_cores[] = {
#define EVENTS(of)	.event = of, .nr = ARRAY_SIZE(of)
#define PERFORMANCE	.core_type = HWPMU_CORE_PERFORMANCE
#define EFFICIENCY	.core_type = HWPMU_CORE_EFFICIENCY
	{ { 0x1a, 0x1e, 0x2e }, .shared = true, EVENTS(nehalem) },
	{ { 0x25, 0x2c, 0x2f }, .shared = true, EVENTS(westmere) },
	{ { 0x2a, 0x3a }, EVENTS(sandybridge), .cache = &sandybridge_cache },
	{ { 0x2d, 0x3e }, EVENTS(jaketown), .cache = &sandybridge_cache },
	{ { 0x3c, 0x3f, 0x45, 0x46 }, EVENTS(jaketown), .cache = &haswell_cache },
	{ { 0x3d, 0x47, 0x4f, 0x56 }, EVENTS(jaketown), .cache = &broadwell_cache },
	{ { 0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6 }, EVENTS(skylake),
	  .cache = &skylake_cache },
	{ { 0x7d, 0x7e, 0x8c, 0x8d, 0xa7 }, EVENTS(icelake), .cache = &skylake_cache },
	{ { 0x6a, 0x6c }, EVENTS(icelake), .cache = &icelakex_cache },
	{ { 0x97, 0x9a, 0xb7, 0xba, 0xbf }, PERFORMANCE, EVENTS(goldencove),
	  .cache = &client_cache },
	{ { 0x8f, 0xcf }, EVENTS(goldencove), .cache = &sapphirerapids_cache },
	{ { 0xaa, 0xac, 0xb5 }, PERFORMANCE, EVENTS(redwoodcove), .cache = &client_cache },
	{ { 0xad, 0xae }, EVENTS(redwoodcove), .cache = &sapphirerapids_cache },
	{ { 0xbd, 0xc5, 0xc6 }, PERFORMANCE, EVENTS(lioncove) },
	{ { 0x37, 0x4a, 0x4c, 0x4d, 0x5a }, EVENTS(silvermont) },
	{ { 0x57, 0x85 }, .shared = true, EVENTS(knightslanding) },
	{ { 0x5c, 0x5f, 0x7a }, EVENTS(goldmont) },
	{ { 0x86, 0x96, 0x9c }, EVENTS(tremont) },
	{ { 0x97, 0x9a, 0xb7, 0xba, 0xbf }, EFFICIENCY, EVENTS(gracemont),
	  .cache = &gracemont_cache },
	{ { 0xbe }, EVENTS(gracemont), .cache = &gracemont_cache },
	{ { 0xaa, 0xac, 0xb5 }, EFFICIENCY, EVENTS(crestmont), .cache = &client_cache },
	{ { 0xaf, 0xb6 }, EVENTS(crestmont), .cache = &client_cache },
	{ { 0xbd, 0xc5, 0xc6 }, EFFICIENCY, EVENTS(crestmont) },
};

/* ---- What an event is ---- */

static bool is_core(const struct extra_core *core, const struct hwpmu_caps *caps)
{
	u32 core_type = caps->core_type ?: HWPMU_CORE_PERFORMANCE;

	return (!core->core_type || core->core_type == core_type) &&
		memchr(core->models, caps->model, sizeof(core->models));
}

static const struct extra_core *core_of(const struct hwpmu_caps *caps)
{
	static const struct extra_core *last; /* asked at each open, of the same one */
	const struct extra_core *core = READ_ONCE(last);

	if (caps->vendor != HWPMU_VENDOR_INTEL || caps->family != 6 || !caps->model)
		return NULL;
	if (core && is_core(core, caps))
		return core;
	for (core = extra_cores; core < extra_cores + ARRAY_SIZE(extra_cores); core++) {
		if (!is_core(core, caps))
			continue;
		WRITE_ONCE(last, core);
		return core;
	}
	return NULL;
}

static const struct extra_event *find_event(const struct hwpmu_caps *caps, u64 config)
{
	const struct extra_core *core = core_of(caps);
	unsigned int i;

	for (i = 0; core && i < core->nr; i++)
		if (core->event[i].event == (config & (HWPMU_EVTSEL_EVENT | HWPMU_EVTSEL_UMASK)))
			return &core->event[i];
	return NULL;
}

/* The first event of a register, or NULL */
static const struct extra_event *event_of(const struct hwpmu_caps *caps, enum hwpmu_extra_reg reg)
{
	const struct extra_core *core = core_of(caps);
	unsigned int i;

	for (i = 0; core && i < core->nr; i++)
		if (core->event[i].reg == reg)
			return &core->event[i];
	return NULL;
}

u32 hwpmu_extra_msr(enum hwpmu_extra_reg reg)
{
	static const u16 msr[HWPMU_NR_EXTRA] = {
		[HWPMU_EXTRA_RSP_0] = 0x1a6, [HWPMU_EXTRA_RSP_1] = 0x1a7,
		[HWPMU_EXTRA_FRONTEND] = 0x3f7,
		[HWPMU_EXTRA_SNOOP_0] = 0x1328, [HWPMU_EXTRA_SNOOP_1] = 0x1329,
	};

	return msr[reg];
}

u64 hwpmu_extra_valid(const struct hwpmu_caps *caps, enum hwpmu_extra_reg reg)
{
	const struct extra_event *event = event_of(caps, reg);

	return event ? event->valid : 0;
}

bool hwpmu_extra_is_shared(const struct hwpmu_caps *caps)
{
	const struct extra_core *core = core_of(caps);

	return core && core->shared;
}

u64 hwpmu_extra_counters(const struct hwpmu_caps *caps, u64 config)
{
	const struct extra_event *event = find_event(caps, config);

	return event ? event->counters : 0;
}

/* Offcore responses can be counted by either of two registers, each with an event of its own. */
static const struct extra_event *other_event(const struct hwpmu_caps *caps,
					     const struct extra_event *event)
{
	switch (event->reg) {
	case HWPMU_EXTRA_RSP_0:
		return event_of(caps, HWPMU_EXTRA_RSP_1);
	case HWPMU_EXTRA_RSP_1:
		return event_of(caps, HWPMU_EXTRA_RSP_0);
	default:
		return NULL;
	}
}

int hwpmu_extra_encode(const struct hwpmu_caps *caps, u64 config, u64 value,
		       struct hwpmu_config *hw, struct pmuctl_explanation *why)
{
	const struct extra_event *event = find_event(caps, config), *other;

	if (!event)
		return 0;
	if (value & ~event->valid)
		return pmuctl_refuse(why, EXTRA_BITS, "attr.config1", value, event->valid,
				     hwpmu_extra_msr(event->reg), value & ~event->valid);
	hw->extra = event->reg;
	hw->extra_value = value;
	other = other_event(caps, event);
	if (other && !(value & ~other->valid)) {
		hw->other_extra = other->reg;
		hw->other_event = other->event;
	}
	return 0;
}

u64 hwpmu_extra_cache(const struct hwpmu_caps *caps, unsigned int cache, unsigned int op,
		      unsigned int result, u64 *value)
{
	const struct extra_core *core = core_of(caps);

	if (!core || !core->cache)
		return 0;
	*value = (*core->cache)[cache == PERF_COUNT_HW_CACHE_NODE ? NODE : LL][op][result];
	return *value ? core->event[0].event : 0;
}

/* ---- Who has a register ---- */

static bool is_free(const struct hwpmu_extra_regs *regs, enum hwpmu_extra_reg reg, u64 value,
		    bool as_it_is)
{
	if (reg == HWPMU_EXTRA_NONE)
		return false;
	return regs->users[reg] ? regs->value[reg] == value : !as_it_is;
}

enum hwpmu_extra_reg hwpmu_extra_choose(const struct hwpmu_extra_regs *regs,
					const struct hwpmu_config *hw)
{
	if (is_free(regs, hw->extra, hw->extra_value, true))
		return hw->extra;
	if (is_free(regs, hw->other_extra, hw->extra_value, true))
		return hw->other_extra;
	if (is_free(regs, hw->extra, hw->extra_value, false))
		return hw->extra;
	if (is_free(regs, hw->other_extra, hw->extra_value, false))
		return hw->other_extra;
	return HWPMU_EXTRA_NONE;
}

static void add_either(struct hwpmu_extra_demand *demand, u64 value)
{
	unsigned int i;

	for (i = 0; i < demand->nr_either; i++)
		if (demand->either[i] == value)
			return;
	if (demand->nr_either == HWPMU_EXTRA_EITHER)
		demand->too_much = true;
	else
		demand->either[demand->nr_either++] = value;
}

void hwpmu_extra_demand_add(struct hwpmu_extra_demand *demand, const struct hwpmu_config *hw)
{
	enum hwpmu_extra_reg reg = hw->extra;

	if (reg == HWPMU_EXTRA_NONE)
		return;
	if (hw->other_extra != HWPMU_EXTRA_NONE) {
		add_either(demand, hw->extra_value);
		return;
	}
	if ((demand->taken & BIT_ULL(reg)) && demand->value[reg] != hw->extra_value)
		demand->too_much = true;
	demand->taken |= BIT_ULL(reg);
	demand->value[reg] = hw->extra_value;
}

static bool has(const struct hwpmu_extra_demand *demand, enum hwpmu_extra_reg reg, u64 value)
{
	return (demand->taken & BIT_ULL(reg)) && demand->value[reg] == value;
}

bool hwpmu_extra_demand_fits(const struct hwpmu_extra_demand *demand)
{
	unsigned int left = !(demand->taken & BIT_ULL(HWPMU_EXTRA_RSP_0)) +
			    !(demand->taken & BIT_ULL(HWPMU_EXTRA_RSP_1));
	unsigned int i;

	if (demand->too_much)
		return false;
	for (i = 0; i < demand->nr_either; i++) {
		if (has(demand, HWPMU_EXTRA_RSP_0, demand->either[i]) ||
		    has(demand, HWPMU_EXTRA_RSP_1, demand->either[i]))
			continue;
		if (!left--)
			return false;
	}
	return true;
}
