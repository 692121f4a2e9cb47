// SPDX-License-Identifier: GPL-2.0-only
/*
 * AMD's events. Sources, each by the names of the registers PMCx...:
 *
 *	before family 17h: "BIOS and Kernel Developer's Guide" (BKDG), "Performance Counter
 *	Events", for families 0Fh (AMD publication 26094), 10h (31116) and 15h, models 00h
 *	to 0Fh (42301); the K7's are a subset of the K8's
 *	from family 17h on: "Processor Programming Reference" (PPR), "Performance Monitor
 *	Counters", for family 17h models 00h to 0Fh (54945; Zen 1) and 31h (55803; Zen 2),
 *	19h models 01h (55898; Zen 3) and 11h (55901; Zen 4), and 1Ah (58550; Zen 5)
 *
 * Which event a generic one is, is the kernel's choice on the same CPU, so that counts
 * can be compared. Events of the north bridge (PMCx0E0 to 0FF) have counters of their
 * own from family 15h on, and are shared between cores before: they are not offered.
 * Pure logic: compiles in user space too.
 */
#include "explain/explain.h"
#include "pmu/event_tables.h"

enum generation {
	BEFORE_ZEN,
	ZEN1,
	ZEN2,		/* and Zen 3 */
	ZEN4,		/* and later */
	NR_GENERATIONS,
};

/* Models of a family from first to last are of a generation; those not listed: Zen 2 */
static const struct {
	u8 family, first, last;
	u8 generation;
} models[] = {
	{ 0x17, 0x00, 0x2f, ZEN1 }, { 0x17, 0x50, 0x5f, ZEN1 },
	{ 0x18, 0x00, 0xff, ZEN1 },	/* Hygon */
	{ 0x19, 0x10, 0x1f, ZEN4 }, { 0x19, 0x60, 0xaf, ZEN4 },
};

static const u64 generic_events[NR_GENERATIONS][PERF_COUNT_HW_MAX] = {
	[BEFORE_ZEN] = {
		[PERF_COUNT_HW_CPU_CYCLES] = 0x0076,
		[PERF_COUNT_HW_INSTRUCTIONS] = 0x00c0,
		[PERF_COUNT_HW_CACHE_REFERENCES] = 0x077d,	/* Requests to L2 */
		[PERF_COUNT_HW_CACHE_MISSES] = 0x077e,		/* L2 misses */
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = 0x00c2,
		[PERF_COUNT_HW_BRANCH_MISSES] = 0x00c3,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = 0x00d0, /* Decoder empty */
		[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = 0x00d1, /* Dispatch stalls */
	},
	[ZEN1] = {
		[PERF_COUNT_HW_CPU_CYCLES] = 0x0076,
		[PERF_COUNT_HW_INSTRUCTIONS] = 0x00c0,
		[PERF_COUNT_HW_CACHE_REFERENCES] = 0xff60,	/* Requests to L2 */
		[PERF_COUNT_HW_CACHE_MISSES] = 0x0964,	/* Core to L2 misses */
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = 0x00c2,
		[PERF_COUNT_HW_BRANCH_MISSES] = 0x00c3,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = 0x0287, /* Fetch stalls */
		[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = 0x0187,
	},
	[ZEN2] = {
		[PERF_COUNT_HW_CPU_CYCLES] = 0x0076,
		[PERF_COUNT_HW_INSTRUCTIONS] = 0x00c0,
		[PERF_COUNT_HW_CACHE_REFERENCES] = 0xff60,
		[PERF_COUNT_HW_CACHE_MISSES] = 0x0964,
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = 0x00c2,
		[PERF_COUNT_HW_BRANCH_MISSES] = 0x00c3,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = 0x00a9, /* Op queue empty */
	},
	[ZEN4] = {
		[PERF_COUNT_HW_CPU_CYCLES] = 0x0076,
		[PERF_COUNT_HW_INSTRUCTIONS] = 0x00c0,
		[PERF_COUNT_HW_CACHE_REFERENCES] = 0xff60,
		[PERF_COUNT_HW_CACHE_MISSES] = 0x0964,
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = 0x00c2,
		[PERF_COUNT_HW_BRANCH_MISSES] = 0x00c3,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = 0x00a9,
		[PERF_COUNT_HW_REF_CPU_CYCLES] = 0x100000120, /* Cycles at P0's rate */
	},
};

#define LOAD	PERF_COUNT_HW_CACHE_OP_READ
#define STORE	PERF_COUNT_HW_CACHE_OP_WRITE
#define FETCH	PERF_COUNT_HW_CACHE_OP_PREFETCH

typedef u16 cache_table[PERF_COUNT_HW_CACHE_MAX][PERF_COUNT_HW_CACHE_OP_MAX]
		       [PERF_COUNT_HW_CACHE_RESULT_MAX];

/* { accesses, misses }; 0: there is no such event */
static const cache_table early_cache = {
	[PERF_COUNT_HW_CACHE_L1D] = {
		[LOAD] = { 0x0040, 0x0141 },
		[FETCH] = { 0x0267, 0x0167 },	/* attempted, cancelled */
	},
	[PERF_COUNT_HW_CACHE_L1I] = {
		[LOAD] = { 0x0080, 0x0081 },
		[FETCH] = { 0x014b, 0 },	/* prefetch instructions */
	},
	[PERF_COUNT_HW_CACHE_LL] = {
		[LOAD] = { 0x037d, 0x037e },
		[STORE] = { 0x017f, 0 },
	},
	[PERF_COUNT_HW_CACHE_DTLB] = {
		[LOAD] = { 0x0040, 0x0746 },
	},
	[PERF_COUNT_HW_CACHE_ITLB] = {
		[LOAD] = { 0x0080, 0x0385 },
	},
	[PERF_COUNT_HW_CACHE_BPU] = {
		[LOAD] = { 0x00c2, 0x00c3 },
	},
};

static const cache_table zen_cache = {
	[PERF_COUNT_HW_CACHE_L1D] = {
		[LOAD] = { 0x0040, 0xc860 },	/* L2 requests of the data cache */
		[FETCH] = { 0xff5a, 0 },	/* hardware prefetch fills */
	},
	[PERF_COUNT_HW_CACHE_L1I] = {
		[LOAD] = { 0x0080, 0x0081 },
	},
	[PERF_COUNT_HW_CACHE_DTLB] = {
		[LOAD] = { 0xff45, 0xf045 },	/* L1 DTLB misses; those that walk */
	},
	[PERF_COUNT_HW_CACHE_ITLB] = {
		[LOAD] = { 0x0084, 0xff85 },	/* L1 ITLB misses that hit L2; that walk */
	},
	[PERF_COUNT_HW_CACHE_BPU] = {
		[LOAD] = { 0x00c2, 0x00c3 },
	},
};

/*
 * Family 15h: not every counter counts every event. By bits 7:4 of the event; BKDG for
 * family 15h models 00h-0Fh, "Performance Counter Events", each event's heading.
 */
#define PMC20	0x07
#define PMC53	0x38
#define PMC50	0x3f

static const u8 f15_counters[16] = {
	PMC53, PMC53,			/* floating point */
	PMC50, PMC50,			/* load and store */
	PMC50, PMC50,			/* data cache */
	PMC20, PMC20,			/* compute unit */
	PMC20, PMC20,			/* instruction fetch and decode */
	0, 0,
	PMC50, PMC20,			/* execution; decode */
	0, 0,				/* north bridge */
};

static const struct {
	u16 event;
	u8 counters;
} f15_exceptions[] = {
	{ 0x003, 0x08 }, { 0x00b, 0x08 }, { 0x00d, 0x08 },
	{ 0x023, PMC20 }, { 0x02d, 0x08 }, { 0x02e, 0x09 }, { 0x031, PMC20 },
	{ 0x043, PMC20 }, { 0x045, PMC20 }, { 0x046, PMC20 },
	{ 0x054, PMC20 }, { 0x055, PMC20 },
	{ 0x08f, 0x01 }, { 0x187, 0x01 }, { 0x188, 0x01 },
	{ 0x0db, PMC50 }, { 0x0dc, PMC50 }, { 0x0dd, PMC50 },
	{ 0x0de, PMC50 }, { 0x0df, PMC50 },
	{ 0x1c0, PMC53 }, { 0x1d6, PMC50 }, { 0x1d8, PMC50 },
};

static enum generation generation_of(const struct hwpmu_caps *caps)
{
	unsigned int i;

	if (caps->family < 0x17)
		return BEFORE_ZEN;
	if (caps->family > 0x19)
		return ZEN4;
	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (caps->family == models[i].family &&
		    caps->model >= models[i].first && caps->model <= models[i].last)
			return models[i].generation;
	return ZEN2;
}

u64 hwpmu_amd_generic(const struct hwpmu_caps *caps, unsigned int event)
{
	return generic_events[generation_of(caps)][event];
}

u64 hwpmu_amd_cache(const struct hwpmu_caps *caps, unsigned int cache,
		    unsigned int op, unsigned int result)
{
	if (generation_of(caps) == BEFORE_ZEN)
		return early_cache[cache][op][result];
	return zen_cache[cache][op][result];
}

static u16 event_of(u64 config)
{
	return (config & HWPMU_EVTSEL_EVENT) |
		(config & HWPMU_EVTSEL_EVENT_HIGH) >> 24;
}

/*
 * The north bridge's, whatever the four high bits are: PMCx0E0 to 0FF, 1E0 to 1FF, and the L3
 * cache's of family 10h, 4E0 to 4EF.
 */
static bool is_north_bridges(const struct hwpmu_caps *caps, u16 event)
{
	return caps->family < 0x17 && (event & 0xe0) == 0xe0;
}

/*
 * PPR for family 17h, "Large Increment per Cycle Events": a counter adds up to 15 in a cycle.
 * PMCx003 can be more, and counts nothing useful unless the next counter has PMCxFFF,
 * which makes one of the two.
 */
static bool is_merged(const struct hwpmu_caps *caps, u16 event)
{
	return caps->family >= 0x17 && (event == 0x003 || event == 0xfff);
}

int hwpmu_amd_check_raw(const struct hwpmu_caps *caps, u64 config,
			struct pmuctl_explanation *why)
{
	u16 event = event_of(config);

	if (is_north_bridges(caps, event))
		return pmuctl_refuse(why, EVENT_NORTH_BRIDGE, "attr.config", event);
	if (is_merged(caps, event))
		return pmuctl_refuse(why, EVENT_MERGED, "attr.config", event);
	return 0;
}

/*
 * Those that count several of an event's unit masks at once: PMCx000 has pipes in bits 3:0 and
 * what they do in bits 7:4, and one counter that adds up both; so has PMCx004; PMCx031 has none.
 */
static u8 f15_counters_of_several(u16 event, u8 umask, u8 of_one)
{
	bool several = umask & (umask - 1);

	switch (event) {
	case 0x000:
		return (umask & 0xf0) && (umask & 0x0f) ? 0x08 : of_one;
	case 0x004:
		return several ? 0x08 : of_one;
	case 0x031:
		return several ? 0 : of_one;
	default:
		return of_one;
	}
}

u64 hwpmu_amd_counters(const struct hwpmu_caps *caps, u64 config)
{
	u8 umask = (config & HWPMU_EVTSEL_UMASK) >> 8;
	u16 event = event_of(config);
	unsigned int i;
	u8 counters;

	if (caps->family != 0x15)
		return caps->counters;
	counters = f15_counters[event >> 4 & 0xf];
	for (i = 0; i < ARRAY_SIZE(f15_exceptions); i++)
		if (f15_exceptions[i].event == event)
			counters = f15_exceptions[i].counters;
	return caps->counters & f15_counters_of_several(event, umask, counters);
}
