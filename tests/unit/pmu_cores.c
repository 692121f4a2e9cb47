// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/events.c module/pmu/events_intel.c module/pmu/events_intel_cores.c module/pmu/events_extra.c module/pmu/intel_rules.c module/pmu/events_amd.c module/explain/explain.c */
/*
 * Events of Intel's performance and efficiency cores: which table a model has, what
 * only one of the two has, and the counters that events are restricted to.
 */
#include <criterion/criterion.h>

#include "explain/explain.h"
#include "pmu/events.h"

#define FIXED(n)	BIT_ULL(HWPMU_FIXED_BASE + (n))
#define L1D_MISSES	(1 << 16)
#define L1I_ACCESSES	PERF_COUNT_HW_CACHE_L1I
#define DTLB_MISSES	(PERF_COUNT_HW_CACHE_DTLB | 1 << 16)

static struct hwpmu_caps core(unsigned int model, u32 type)
{
	bool big = type != HWPMU_CORE_EFFICIENCY;

	return (struct hwpmu_caps) {
		.vendor = HWPMU_VENDOR_INTEL, .version = 5, .family = 6, .model = model,
		.nr_general = big ? 8 : 6, .nr_fixed = big ? 4 : 3,
		.counters = big ? 0xf000000ffULL : 0x70000003fULL,
		.arch_events = 0x7f, .raw_mask = 0xff84ffff, .full_width = true,
		.core_type = type, .name = "a core",
	};
}

/* The event select without the bits that all have, 0 if it is refused */
static u64 encode(const struct hwpmu_caps *caps, u32 type, u64 config, u64 *allowed)
{
	const struct perf_event_attr attr = { .type = type, .config = config,
		.exclude_kernel = 1, .exclude_user = 1 };
	struct pmuctl_explanation why;
	struct hwpmu_config hw;
	int err = hwpmu_event_encode(caps, &attr, &hw, &why);

	*allowed = 0;
	if (err) {
		cr_assert_eq(err, -ENOENT);
		cr_assert_eq(why.code, PMUCTL_WHY_EVENT_NOT_HERE);
		return 0;
	}
	*allowed = hw.allowed;
	return hw.evtsel & ~(HWPMU_EVTSEL_EN | HWPMU_EVTSEL_INT);
}

static u64 cache(const struct hwpmu_caps *caps, u64 config)
{
	u64 allowed;

	return encode(caps, PERF_TYPE_HW_CACHE, config, &allowed);
}

static u64 counters(const struct hwpmu_caps *caps, u64 config)
{
	u64 allowed;

	encode(caps, PERF_TYPE_RAW, config, &allowed);
	return allowed;
}

Test(cores, each_type_has_its_table)
{
	static const u8 hybrids[] = { 0x97, 0x9a, 0xb7, 0xba, 0xbf, 0xaa, 0xac };
	struct hwpmu_caps caps;

	for (size_t i = 0; i < ARRAY_SIZE(hybrids); i++) {
		caps = core(hybrids[i], HWPMU_CORE_PERFORMANCE);
		cr_assert_eq(cache(&caps, L1D_MISSES), 0xe124);
		cr_assert_eq(cache(&caps, L1I_ACCESSES), 0);
		cr_assert_eq(cache(&caps, DTLB_MISSES), 0x0e12);
		caps = core(hybrids[i], HWPMU_CORE_EFFICIENCY);
		cr_assert_eq(cache(&caps, L1D_MISSES), 0);
		cr_assert_eq(cache(&caps, L1I_ACCESSES), 0x0380);
		cr_assert_eq(cache(&caps, DTLB_MISSES), 0x0e08);
	}
	/* With its efficiency cores off it is no hybrid. */
	caps = core(0x97, 0);
	cr_assert_eq(cache(&caps, L1D_MISSES), 0xe124);
	caps = core(0x8f, 0);
	cr_assert_eq(cache(&caps, DTLB_MISSES), 0x0e12);
	caps = core(0xbe, 0);
	cr_assert_eq(cache(&caps, L1I_ACCESSES), 0x0380);
	/* Others have none of these tables. */
	caps = core(0x5e, 0);
	cr_assert_eq(cache(&caps, L1D_MISSES), 0x0151);
	caps = core(0x01, HWPMU_CORE_PERFORMANCE);
	cr_assert_eq(cache(&caps, L1D_MISSES), 0);
}

Test(cores, slots_are_the_performance_cores)
{
	struct hwpmu_caps big = core(0x97, HWPMU_CORE_PERFORMANCE);
	struct hwpmu_caps small = core(0x97, HWPMU_CORE_EFFICIENCY);

	cr_assert_eq(counters(&big, 0x0400), FIXED(3));
	cr_assert_eq(counters(&small, 0x0400), 0);
}

Test(cores, events_of_performance_cores_are_restricted)
{
	struct hwpmu_caps big = core(0x97, HWPMU_CORE_PERFORMANCE);
	struct hwpmu_caps small = core(0x97, HWPMU_CORE_EFFICIENCY);

	cr_assert_eq(counters(&big, 0xc4), 0xff);
	cr_assert_eq(counters(&big, 0xc0), 0xff | FIXED(0));
	cr_assert_eq(counters(&big, 0x3c), 0xff | FIXED(1));
	cr_assert_eq(counters(&big, 0x4f2e), 0xff);
	cr_assert_eq(counters(&big, 0xe124), 0xf);
	cr_assert_eq(counters(&big, 0x81d0), 0xf);
	cr_assert_eq(counters(&big, 0x08a4), 0x1);
	cr_assert_eq(counters(&big, 0x02cd), 0x1);
	cr_assert_eq(counters(&big, 0x01a4), 0xff);
	cr_assert_eq(counters(&small, 0x0380), 0x3f);
	cr_assert_eq(counters(&small, 0x81d0), 0x3f);
}
