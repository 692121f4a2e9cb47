// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/events.c module/pmu/events_intel.c module/pmu/events_intel_cores.c module/pmu/events_extra.c module/pmu/intel_rules.c module/pmu/events_amd.c module/explain/explain.c */
/*
 * AMD's events: what each generation has, the high bits of raw events, and the counters
 * that can count an event. The numbers: PPR and BKDG of the families named.
 */
#include <criterion/criterion.h>

#include "explain/explain.h"
#include "pmu/events.h"

#define ON	(HWPMU_EVTSEL_EN | HWPMU_EVTSEL_INT)
#define USER	HWPMU_EVTSEL_USR
#define ALL	0x3fULL

static struct hwpmu_caps amd(unsigned int family, unsigned int model)
{
	return (struct hwpmu_caps) {
		.vendor = HWPMU_VENDOR_AMD, .version = 1, .family = family,
		.model = model, .nr_general = 6, .general_width = 48,
		.counters = ALL, .raw_mask = 0xfff84ffffULL, .full_width = true,
		.core_ext = true, .name = "a PMU",
	};
}

/* The bits of the event; 0 if it is refused. @allowed may be NULL. */
static u64 encode(const struct hwpmu_caps *caps, u32 type, u64 config, u64 *allowed)
{
	const struct perf_event_attr attr = { .type = type, .config = config,
		.exclude_kernel = 1 };
	struct pmuctl_explanation why = { 0 };
	struct hwpmu_config hw;
	int err = hwpmu_event_encode(caps, &attr, &hw, &why);

	if (err) {
		cr_assert_eq(err, -ENOENT, "%s", why.sentence);
		cr_assert_eq(why.code, PMUCTL_WHY_EVENT_NOT_HERE);
		return 0;
	}
	cr_assert_eq(hw.evtsel & (ON | USER | HWPMU_EVTSEL_OS), ON | USER);
	if (allowed)
		*allowed = hw.allowed;
	else
		cr_assert_eq(hw.allowed, caps->counters);
	return hw.evtsel & ~(ON | USER);
}

/* What needs counters merged, and what merges them */
Test(events_amd, refuses_merged_counters)
{
	static const u64 merged[] = { 0x003, 0xff03, 0xf000000ff };
	struct perf_event_attr attr = { .type = PERF_TYPE_RAW, .exclude_kernel = 1 };
	struct hwpmu_caps caps = amd(0x17, 0x31);
	struct pmuctl_explanation why;
	struct hwpmu_config hw;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(merged); i++) {
		attr.config = merged[i];
		memset(&why, 0, sizeof(why));
		cr_assert_eq(hwpmu_event_encode(&caps, &attr, &hw, &why), -EOPNOTSUPP);
		cr_assert_eq(why.code, PMUCTL_WHY_EVENT_MERGED);
	}
	caps = amd(0x15, 0x2);
	attr.config = 0x003;
	cr_assert_eq(hwpmu_event_encode(&caps, &attr, &hw, &why), 0);
}

static u64 generic(unsigned int family, unsigned int model, u64 event)
{
	const struct hwpmu_caps caps = amd(family, model);
	u64 allowed, config = encode(&caps, PERF_TYPE_HARDWARE, event, &allowed);

	cr_assert_eq(hwpmu_generic_events(&caps) >> event & 1, config != 0);
	return config;
}

Test(events_amd, what_all_generations_share)
{
	static const struct {
		unsigned int family, model;
	} cpus[] = {
		{ 6, 8 }, { 0xf, 6 }, { 0x10, 2 }, { 0x15, 1 }, { 0x17, 1 },
		{ 0x17, 0x31 }, { 0x18, 0 }, { 0x19, 1 }, { 0x19, 0x11 }, { 0x1a, 2 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		unsigned int f = cpus[i].family, m = cpus[i].model;

		cr_assert_eq(generic(f, m, PERF_COUNT_HW_CPU_CYCLES), 0x76);
		cr_assert_eq(generic(f, m, PERF_COUNT_HW_INSTRUCTIONS), 0xc0);
		cr_assert_eq(generic(f, m, PERF_COUNT_HW_BRANCH_INSTRUCTIONS), 0xc2);
		cr_assert_eq(generic(f, m, PERF_COUNT_HW_BRANCH_MISSES), 0xc3);
		cr_assert_eq(generic(f, m, PERF_COUNT_HW_BUS_CYCLES), 0);
		cr_assert_eq(generic(f, m, PERF_COUNT_HW_CACHE_REFERENCES),
			     f < 0x17 ? 0x077d : 0xff60);
		cr_assert_eq(generic(f, m, PERF_COUNT_HW_CACHE_MISSES),
			     f < 0x17 ? 0x077e : 0x0964);
	}
}

Test(events_amd, what_differs_between_generations)
{
	const u64 front = PERF_COUNT_HW_STALLED_CYCLES_FRONTEND;
	const u64 back = PERF_COUNT_HW_STALLED_CYCLES_BACKEND;
	const u64 ref = PERF_COUNT_HW_REF_CPU_CYCLES;

	cr_assert_eq(generic(0x10, 2, front), 0xd0);
	cr_assert_eq(generic(0x10, 2, back), 0xd1);
	cr_assert_eq(generic(0x17, 1, front), 0x287);		/* Zen */
	cr_assert_eq(generic(0x17, 1, back), 0x187);
	cr_assert_eq(generic(0x18, 0, front), 0x287);		/* Hygon */
	cr_assert_eq(generic(0x17, 0x31, front), 0xa9);		/* Zen 2 */
	cr_assert_eq(generic(0x17, 0x31, back), 0);
	cr_assert_eq(generic(0x19, 1, ref), 0);			/* Zen 3 */
	cr_assert_eq(generic(0x19, 0x11, ref), 0x100000120ULL);	/* Zen 4 */
	cr_assert_eq(generic(0x19, 0x61, ref), 0x100000120ULL);
	cr_assert_eq(generic(0x1a, 2, ref), 0x100000120ULL);	/* Zen 5 */
	cr_assert_eq(generic(0x19, 0x11, back), 0);
}

static unsigned int count_cache(unsigned int family)
{
	const struct hwpmu_caps caps = amd(family, 1);
	unsigned int id, op, result, good = 0;
	u64 allowed;

	for (id = 0; id < PERF_COUNT_HW_CACHE_MAX; id++)
		for (op = 0; op < PERF_COUNT_HW_CACHE_OP_MAX; op++)
			for (result = 0; result < PERF_COUNT_HW_CACHE_RESULT_MAX; result++)
				good += !!encode(&caps, PERF_TYPE_HW_CACHE,
						 id | op << 8 | result << 16, &allowed);
	return good;
}

Test(events_amd, answers_every_cache_event)
{
	const struct hwpmu_caps zen = amd(0x19, 1), k8 = amd(0xf, 6);

	cr_assert_eq(count_cache(0x10), 16);
	cr_assert_eq(count_cache(0x19), 11);
	cr_assert_eq(encode(&zen, PERF_TYPE_HW_CACHE,
			    PERF_COUNT_HW_CACHE_L1D | 1 << 16, NULL), 0xc860);
	cr_assert_eq(encode(&k8, PERF_TYPE_HW_CACHE,
			    PERF_COUNT_HW_CACHE_L1D | 1 << 16, NULL), 0x141);
	cr_assert_eq(encode(&k8, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL, NULL), 0x37d);
	cr_assert_eq(encode(&zen, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL, NULL), 0);
}

static u64 counters(unsigned int family, u64 config)
{
	const struct hwpmu_caps caps = amd(family, 2);
	u64 allowed = 0;

	encode(&caps, PERF_TYPE_RAW, config, &allowed);
	return allowed;
}

Test(events_amd, family_15h_has_events_for_some_counters_only)
{
	cr_assert_eq(counters(0x15, 0xc0), ALL);
	cr_assert_eq(counters(0x15, 0x76), 0x07);
	cr_assert_eq(counters(0x15, 0xd0), 0x07);
	cr_assert_eq(counters(0x15, 0x010), 0x38);
	cr_assert_eq(counters(0x15, 0x003), 0x08);
	cr_assert_eq(counters(0x15, 0x8f), 0x01);
	cr_assert_eq(counters(0x15, 0x02e), 0x09);
	cr_assert_eq(counters(0x15, 0xdb), ALL);
	cr_assert_eq(counters(0x15, 0x1000000c0ULL), 0x38, "event 0x1c0");
	cr_assert_eq(counters(0x15, 0x1000000d6ULL), ALL, "event 0x1d6");
	cr_assert_eq(counters(0x15, 0xa0), 0);
	cr_assert_eq(counters(0x19, 0x76), ALL);
	cr_assert_eq(counters(0x19, 0x8f), ALL);
	/* One counter adds up several unit masks, or pipes and what they do. */
	cr_assert_eq(counters(0x15, 0x0f00), 0x38);
	cr_assert_eq(counters(0x15, 0x3000), 0x38);
	cr_assert_eq(counters(0x15, 0x1100), 0x08);
	cr_assert_eq(counters(0x15, 0x0104), 0x38);
	cr_assert_eq(counters(0x15, 0x0304), 0x08);
	/* Only by one unit mask at a time */
	cr_assert_eq(counters(0x15, 0x0131), 0x07);
	cr_assert_eq(counters(0x15, 0x0331), 0);
}

/* Whatever the four high bits are: BKDG for family 10h, "Performance Counter Events" */
Test(events_amd, the_north_bridge_is_not_offered)
{
	static const unsigned int families[] = { 0x06, 0x0f, 0x10, 0x12, 0x14, 0x15, 0x16 };
	struct perf_event_attr attr = { .type = PERF_TYPE_RAW };
	struct pmuctl_explanation why;
	struct hwpmu_config hw;
	unsigned int i, event;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		const struct hwpmu_caps caps = amd(families[i], 2);

		for (event = 0; event < 0x1000; event++) {
			bool shared = (event & 0xff) >= 0xe0;
			int err;

			attr.config = (event & 0xff) | (u64)(event & 0xf00) << 24;
			memset(&why, 0, sizeof(why));
			err = hwpmu_event_encode(&caps, &attr, &hw, &why);
			cr_assert_eq(why.code == PMUCTL_WHY_EVENT_NORTH_BRIDGE, shared, "%x", event);
			if (shared)
				cr_assert_eq(err, -ENOENT);
		}
	}
	cr_assert_str_eq(why.sentence,
			 "event 0xfff of this CPU is the north bridge's, which all cores share, so a count would be nobody's: perf can count it");
	cr_assert_eq(counters(0x10, 0xdf), ALL);
	cr_assert_eq(counters(0x17, 0xe9), ALL);
}

Test(events_amd, raw_events_have_twelve_bits)
{
	const struct hwpmu_caps caps = amd(0x19, 1);
	struct perf_event_attr attr = { .type = PERF_TYPE_RAW };
	struct pmuctl_explanation why = { 0 };
	struct hwpmu_config hw;
	unsigned int bit;

	for (bit = 0; bit < 64; bit++) {
		attr.config = BIT_ULL(bit);
		if (caps.raw_mask & attr.config) {
			cr_assert_eq(hwpmu_event_encode(&caps, &attr, &hw, &why), 0);
			cr_assert_eq(hw.evtsel & ~(ON | USER | HWPMU_EVTSEL_OS),
				     attr.config);
			continue;
		}
		cr_assert_eq(hwpmu_event_encode(&caps, &attr, &hw, &why), -EINVAL);
		cr_assert_eq(why.code, PMUCTL_WHY_RAW_BITS);
	}
}
