// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/events.c module/pmu/events_intel.c module/pmu/events_intel_cores.c module/pmu/events_extra.c module/pmu/intel_rules.c module/pmu/events_amd.c module/explain/explain.c */
/*
 * Events that count what another register selects: which register and which bits each core has,
 * what is refused, what the cache events of the last level select, and who may have a
 * register beside whom.
 */
#include <errno.h>
#include <string.h>

#include <criterion/criterion.h>

#include "explain/explain.h"
#include "pmu/events_extra.h"

#define EVENT	(HWPMU_EVTSEL_EVENT | HWPMU_EVTSEL_UMASK)

static struct hwpmu_caps caps_of(unsigned int model, u32 core_type)
{
	return (struct hwpmu_caps) {
		.vendor = HWPMU_VENDOR_INTEL, .version = 5, .family = 6, .model = model,
		.nr_general = 8, .nr_fixed = 4, .counters = 0xff | 0xfULL << HWPMU_FIXED_BASE,
		.arch_events = 0xff, .raw_mask = 0xff84ffff, .core_type = core_type,
		.name = "a model",
	};
}

static int encode(const struct hwpmu_caps *caps, u32 type, u64 config, u64 value,
		  struct hwpmu_config *hw, struct pmuctl_explanation *why)
{
	const struct perf_event_attr attr = { .type = type, .config = config, .config1 = value };

	memset(why, 0, sizeof(*why));
	memset(hw, 0xff, sizeof(*hw));
	return hwpmu_event_encode(caps, &attr, hw, why);
}

#define P	HWPMU_CORE_PERFORMANCE
#define E	HWPMU_CORE_EFFICIENCY

/* As perf has them, arch/x86/events/intel/core.c of Linux 6.12 */
static const struct {
	u16 model;
	u8 core_type;
	u16 event;
	u16 msr;
	u64 valid;
	u16 other;	/* the event that counts by the other register */
} events[] = {
	{ 0x1a, 0, 0x01b7, 0x1a6, 0xffff, 0 },
	{ 0x2c, 0, 0x01b7, 0x1a6, 0xffff, 0x01bb },
	{ 0x2c, 0, 0x01bb, 0x1a7, 0xffff, 0x01b7 },
	{ 0x2a, 0, 0x01b7, 0x1a6, 0x3f807f8fff, 0x01bb },
	{ 0x3a, 0, 0x01bb, 0x1a7, 0x3f807f8fff, 0x01b7 },
	{ 0x2d, 0, 0x01b7, 0x1a6, 0x3fffff8fff, 0x01bb },
	{ 0x3e, 0, 0x01b7, 0x1a6, 0x3fffff8fff, 0x01bb },
	{ 0x3c, 0, 0x01bb, 0x1a7, 0x3fffff8fff, 0x01b7 },
	{ 0x3f, 0, 0x01b7, 0x1a6, 0x3fffff8fff, 0x01bb },
	{ 0x4f, 0, 0x01b7, 0x1a6, 0x3fffff8fff, 0x01bb },
	{ 0x5e, 0, 0x01b7, 0x1a6, 0x3fffff8fff, 0x01bb },
	{ 0x5e, 0, 0x01bb, 0x1a7, 0x3fffff8fff, 0x01b7 },
	{ 0x5e, 0, 0x01c6, 0x3f7, 0x7fff17, 0 },
	{ 0x55, 0, 0x01c6, 0x3f7, 0x7fff17, 0 },
	{ 0x6a, 0, 0x01b7, 0x1a6, 0x3fffffbfff, 0x01bb },
	{ 0x6a, 0, 0x01c6, 0x3f7, 0x7fff17, 0 },
	{ 0x8f, 0, 0x012a, 0x1a6, 0x3fffffffff, 0x012b },
	{ 0x8f, 0, 0x012b, 0x1a7, 0x3fffffffff, 0x012a },
	{ 0x8f, 0, 0x01c6, 0x3f7, 0x7fff1f, 0 },
	{ 0x8f, 0, 0x40ad, 0x3f7, 0x7, 0 },
	{ 0x8f, 0, 0x04c2, 0x3f7, 0x8, 0 },
	{ 0x97, P, 0x012a, 0x1a6, 0x3fffffffff, 0x012b },
	{ 0x97, P, 0x01c6, 0x3f7, 0x7fff1f, 0 },
	{ 0x97, E, 0x01b7, 0x1a6, 0x3fffffffff, 0x02b7 },
	{ 0x97, E, 0x02b7, 0x1a7, 0x3fffffffff, 0x01b7 },
	{ 0xad, 0, 0x02c6, 0x3f7, 0x9, 0 },
	{ 0xad, 0, 0x03c6, 0x3f7, 0x7fff1f, 0 },
	{ 0xaa, P, 0x03c6, 0x3f7, 0x7fff1f, 0 },
	{ 0xbd, P, 0x012a, 0x1a6, 0xfffffffffff, 0x012b },
	{ 0xbd, P, 0x40ad, 0x3f7, 0xf, 0 },
	{ 0x37, 0, 0x02b7, 0x1a7, 0x368005ffff, 0x01b7 },
	{ 0x57, 0, 0x02b7, 0x1a7, 0x399ffbffe7, 0 },
	{ 0x5c, 0, 0x02b7, 0x1a7, 0x360005ffbf, 0x01b7 },
	{ 0x86, 0, 0x02b7, 0x1a7, 0x000ff0ffffff9fff, 0x01b7 },
	{ 0xbe, 0, 0x01b7, 0x1a6, 0x3fffffffff, 0x02b7 },
	{ 0xaf, 0, 0x01b7, 0x1a6, 0x800ff3ffffffffff, 0 },
	{ 0xaf, 0, 0x02b7, 0x1a7, 0x000ff3ffffffffff, 0x01b7 },
	{ 0xaf, 0, 0x0227, 0x1329, ~0ULL, 0 },
};

static void check_bits(unsigned int i)
{
	struct hwpmu_caps caps = caps_of(events[i].model, events[i].core_type);
	struct pmuctl_explanation why;
	struct hwpmu_config hw;
	unsigned int bit;

	for (bit = 0; bit < 64; bit++) {
		bool valid = events[i].valid & BIT_ULL(bit);
		int err = encode(&caps, PERF_TYPE_RAW, events[i].event, BIT_ULL(bit), &hw, &why);

		cr_assert_eq(err, valid ? 0 : -EINVAL, "row %u, bit %u: %d", i, bit, err);
		if (valid)
			cr_assert_eq(hw.extra_value, BIT_ULL(bit));
		else
			cr_assert_eq(why.code, PMUCTL_WHY_EXTRA_BITS);
	}
}

Test(extra, each_event_has_its_register_and_bits)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(events); i++) {
		struct hwpmu_caps caps = caps_of(events[i].model, events[i].core_type);
		struct pmuctl_explanation why;
		struct hwpmu_config hw;

		cr_assert_eq(encode(&caps, PERF_TYPE_RAW, events[i].event, events[i].valid, &hw,
				    &why), 0, "row %u: %s", i, why.sentence);
		cr_expect_eq(hwpmu_extra_msr(hw.extra), events[i].msr, "row %u", i);
		cr_expect_eq(hw.extra_value, events[i].valid, "row %u", i);
		cr_expect_eq(hw.evtsel & EVENT, events[i].event, "row %u", i);
		cr_expect_eq(hw.other_extra != HWPMU_EXTRA_NONE, events[i].other != 0, "row %u", i);
		if (events[i].other)
			cr_expect_eq(hw.other_event, events[i].other, "row %u", i);
		check_bits(i);
	}
}

Test(extra, what_is_wrong_is_said)
{
	struct hwpmu_caps skylake = caps_of(0x5e, 0);
	struct pmuctl_explanation why;
	struct hwpmu_config hw;

	cr_assert_eq(encode(&skylake, PERF_TYPE_RAW, 0x01c6, 0x1000018, &hw, &why), -EINVAL);
	cr_assert_str_eq(why.field, "attr.config1");
	cr_assert_str_eq(why.sentence,
			 "config1 0x1000018 has bits outside of 0x7fff17, those that MSR 0x3f7 of this CPU has for this event: clear 0x1000008");
}

/* Of the first register's highest bit the second has none: then there is no choice. */
Test(extra, a_value_that_only_one_register_has_stays_there)
{
	struct hwpmu_caps silvermont = caps_of(0x37, 0);
	struct pmuctl_explanation why;
	struct hwpmu_config hw;

	cr_assert_eq(encode(&silvermont, PERF_TYPE_RAW, 0x01b7, 0x4000000001, &hw, &why), 0);
	cr_assert_eq(hw.other_extra, HWPMU_EXTRA_NONE);
	cr_assert_eq(encode(&silvermont, PERF_TYPE_RAW, 0x01b7, 0x10001, &hw, &why), 0);
	cr_assert_eq(hw.other_extra, HWPMU_EXTRA_RSP_1);
}

Test(extra, config1_of_other_events_is_of_no_meaning)
{
	struct hwpmu_caps skylake = caps_of(0x5e, 0);
	struct pmuctl_explanation why;
	struct hwpmu_config hw;

	cr_assert_eq(encode(&skylake, PERF_TYPE_RAW, 0xc0, ~0ULL, &hw, &why), 0);
	cr_assert_eq(hw.extra, HWPMU_EXTRA_NONE);
	cr_assert_eq(encode(&skylake, PERF_TYPE_HARDWARE, 1, ~0ULL, &hw, &why), 0);
	cr_assert_eq(hw.extra, HWPMU_EXTRA_NONE);
	/* Load latencies need PEBS. */
	cr_assert_eq(encode(&skylake, PERF_TYPE_RAW, 0x01cd, 3, &hw, &why), -ENOENT);
	cr_assert_eq(why.code, PMUCTL_WHY_EVENT_REGISTER);
}

#define CACHE(cache, op, result) (PERF_COUNT_HW_CACHE_##cache |		\
	PERF_COUNT_HW_CACHE_OP_##op << 8 | PERF_COUNT_HW_CACHE_RESULT_##result << 16)

/* As perf has them; see also ocr_cores below */
static const struct {
	u16 model;
	u64 config;
	u16 event;
	u64 value;
} caches[] = {
	{ 0x2d, CACHE(LL, READ, ACCESS), 0x01b7, 0x10081 },
	{ 0x2d, CACHE(LL, PREFETCH, MISS), 0x01b7, 0x3fffc00030 },
	{ 0x2d, CACHE(NODE, WRITE, MISS), 0x01b7, 0x1fff800102 },
	{ 0x3f, CACHE(LL, READ, MISS), 0x01b7, 0x3fb8400001 },
	{ 0x3f, CACHE(NODE, READ, ACCESS), 0x01b7, 0x1f80400001 },
	{ 0x4f, CACHE(LL, WRITE, MISS), 0x01b7, 0x1fbc000002 },
	{ 0x4f, CACHE(NODE, WRITE, ACCESS), 0x01b7, 0x1f84000002 },
};

Test(extra, the_last_level_is_counted_by_offcore_responses)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(caches); i++) {
		struct hwpmu_caps caps = caps_of(caches[i].model, 0);
		struct pmuctl_explanation why;
		struct hwpmu_config hw;

		cr_assert_eq(encode(&caps, PERF_TYPE_HW_CACHE, caches[i].config, ~0ULL, &hw, &why),
			     0, "row %u: %s", i, why.sentence);
		cr_expect_eq(hw.evtsel & EVENT, caches[i].event, "row %u", i);
		cr_expect_eq(hw.extra_value, caches[i].value, "row %u: %llx", i, hw.extra_value);
	}
}

static const u64 ocr[] = {
	CACHE(LL, READ, ACCESS), CACHE(LL, READ, MISS),
	CACHE(LL, WRITE, ACCESS), CACHE(LL, WRITE, MISS),
	CACHE(NODE, READ, ACCESS), CACHE(NODE, READ, MISS),
	CACHE(NODE, WRITE, ACCESS), CACHE(NODE, WRITE, MISS),
};

#define SKYLAKE		{ 0x3fc0010001, 0x3ffc020001, 0x3fc0010002, 0x3ffc020002,	\
			  0x1fc4000001, 0x1ff8000001, 0x1fc4000002, 0x1ff8000002 }
#define ICELAKEX	{ 0x10001, 0x3fbfc00001, 0x3f3ffc0002, 0x3f3fc00002,		\
			  0x104000001, 0x730000001, 0x104000002, 0x730000002 }
#define SAPPHIRERAPIDS	{ 0x10001, 0x3fbfc00001, 0x3f3ffc0002, 0x3f3fc00002,		\
			  0x104000001, 0x730000001 }
#define CLIENT		{ 0x10001, 0x3fbfc00001, 0x10002, 0x3fbfc00002 }
#define GRACEMONT	{ 0x10001, 0x3f84400001, 0x10002, 0x3f84400002 }

/* What perf of Linux 7.3 selects for each of these on each model; 0: it has no such event */
static const struct {
	u16 model;
	u8 core_type;
	u16 event;
	u64 value[ARRAY_SIZE(ocr)];
} ocr_cores[] = {
	{ 0x4e, 0, 0x01b7, SKYLAKE }, { 0x55, 0, 0x01b7, SKYLAKE }, { 0x5e, 0, 0x01b7, SKYLAKE },
	{ 0x7d, 0, 0x01b7, SKYLAKE }, { 0x7e, 0, 0x01b7, SKYLAKE }, { 0x8c, 0, 0x01b7, SKYLAKE },
	{ 0x8d, 0, 0x01b7, SKYLAKE }, { 0xa7, 0, 0x01b7, SKYLAKE },
	{ 0x6a, 0, 0x01b7, ICELAKEX }, { 0x6c, 0, 0x01b7, ICELAKEX },
	{ 0x8f, 0, 0x012a, SAPPHIRERAPIDS }, { 0xcf, 0, 0x012a, SAPPHIRERAPIDS },
	{ 0xad, 0, 0x012a, SAPPHIRERAPIDS }, { 0xae, 0, 0x012a, SAPPHIRERAPIDS },
	{ 0x97, P, 0x012a, CLIENT }, { 0x9a, P, 0x012a, CLIENT }, { 0xb7, P, 0x012a, CLIENT },
	{ 0xba, P, 0x012a, CLIENT }, { 0xbf, P, 0x012a, CLIENT }, { 0xaa, P, 0x012a, CLIENT },
	{ 0xac, P, 0x012a, CLIENT }, { 0xb5, P, 0x012a, CLIENT },
	{ 0x97, E, 0x01b7, GRACEMONT }, { 0x9a, E, 0x01b7, GRACEMONT },
	{ 0xb7, E, 0x01b7, GRACEMONT }, { 0xba, E, 0x01b7, GRACEMONT },
	{ 0xbf, E, 0x01b7, GRACEMONT }, { 0xbe, 0, 0x01b7, GRACEMONT },
	{ 0xaa, E, 0x01b7, CLIENT }, { 0xac, E, 0x01b7, CLIENT }, { 0xb5, E, 0x01b7, CLIENT },
	{ 0xaf, 0, 0x01b7, CLIENT }, { 0xb6, 0, 0x01b7, CLIENT },
};

static void check_ocr(unsigned int i, unsigned int k)
{
	struct hwpmu_caps caps = caps_of(ocr_cores[i].model, ocr_cores[i].core_type);
	u64 value = ocr_cores[i].value[k];
	struct pmuctl_explanation why;
	struct hwpmu_config hw;
	int err = encode(&caps, PERF_TYPE_HW_CACHE, ocr[k], 0, &hw, &why);

	cr_expect_eq(err, value ? 0 : -ENOENT, "model %x, config %llx: %d",
		     ocr_cores[i].model, ocr[k], err);
	if (err) {
		cr_expect_eq(why.code, PMUCTL_WHY_EVENT_NOT_HERE);
		return;
	}
	cr_expect_eq(hw.evtsel & EVENT, ocr_cores[i].event, "model %x", ocr_cores[i].model);
	cr_expect_eq(hw.extra_value, value, "model %x, config %llx: %llx, not %llx",
		     ocr_cores[i].model, ocr[k], hw.extra_value, value);
}

Test(extra, each_core_has_its_own_responses_for_caches)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(ocr_cores); i++)
		for (unsigned int k = 0; k < ARRAY_SIZE(ocr); k++)
			check_ocr(i, k);
}

Test(extra, some_have_no_such_event)
{
	struct hwpmu_caps skylake = caps_of(0x5e, 0), gracemont = caps_of(0xbe, 0);
	struct hwpmu_caps client = caps_of(0x2a, 0), unknown = caps_of(0xfe, 0);
	struct pmuctl_explanation why;
	struct hwpmu_config hw;

	cr_expect_eq(encode(&skylake, PERF_TYPE_HW_CACHE, CACHE(LL, PREFETCH, ACCESS), 0, &hw, &why),
		     -ENOENT);
	cr_expect_eq(encode(&gracemont, PERF_TYPE_HW_CACHE, CACHE(NODE, READ, ACCESS), 0, &hw, &why),
		     -ENOENT);
	cr_expect_eq(encode(&unknown, PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS), 0, &hw, &why),
		     -ENOENT);
	/* Its register does not have what perf asks it for. */
	cr_expect_eq(encode(&client, PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS), 0, &hw, &why), 0);
	cr_expect_eq(encode(&client, PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS), 0, &hw, &why),
		     -EINVAL);
}

Test(extra, threads_share_on_old_cores)
{
	static const struct {
		u16 model;
		bool shared;
	} cores[] = { { 0x1a, true }, { 0x2c, true }, { 0x2a, false }, { 0x5e, false }, { 0x8f, false } };

	for (unsigned int i = 0; i < ARRAY_SIZE(cores); i++) {
		struct hwpmu_caps caps = caps_of(cores[i].model, 0);

		cr_expect_eq(hwpmu_extra_is_shared(&caps), cores[i].shared, "%x", cores[i].model);
	}
}

/* ---- Who has a register ---- */

static struct hwpmu_config wants(u64 event, u64 value)
{
	struct hwpmu_caps skylake = caps_of(0x5e, 0);
	struct pmuctl_explanation why;
	struct hwpmu_config hw;

	cr_assert_eq(encode(&skylake, PERF_TYPE_RAW, event, value, &hw, &why), 0, "%s", why.sentence);
	return hw;
}

/* Only by one register */
static struct hwpmu_config only(u64 event, u64 value)
{
	struct hwpmu_config hw = wants(event, value);

	hw.other_extra = HWPMU_EXTRA_NONE;
	return hw;
}

Test(extra, a_register_that_has_the_value_comes_first)
{
	struct hwpmu_config a = wants(0x01b7, 0x10001);
	struct hwpmu_extra_regs regs = { .users = { 0 } };

	cr_assert_eq(hwpmu_extra_choose(&regs, &a), HWPMU_EXTRA_RSP_0);
	regs.users[HWPMU_EXTRA_RSP_1] = 1;
	regs.value[HWPMU_EXTRA_RSP_1] = 0x10001;
	cr_assert_eq(hwpmu_extra_choose(&regs, &a), HWPMU_EXTRA_RSP_1);
	regs.value[HWPMU_EXTRA_RSP_1] = 0x10002;
	cr_assert_eq(hwpmu_extra_choose(&regs, &a), HWPMU_EXTRA_RSP_0);
	regs.users[HWPMU_EXTRA_RSP_0] = 1;
	regs.value[HWPMU_EXTRA_RSP_0] = 0x10004;
	cr_assert_eq(hwpmu_extra_choose(&regs, &a), HWPMU_EXTRA_NONE);
	regs.users[HWPMU_EXTRA_RSP_1] = 0; /* what is in it is nobody's */
	cr_assert_eq(hwpmu_extra_choose(&regs, &a), HWPMU_EXTRA_RSP_1);
}

static bool fit(const struct hwpmu_config *hw, unsigned int n)
{
	struct hwpmu_extra_demand demand = { .taken = 0 };

	while (n--)
		hwpmu_extra_demand_add(&demand, hw++);
	return hwpmu_extra_demand_fits(&demand);
}

#define FIT(...) fit((struct hwpmu_config[]){ __VA_ARGS__ },		\
	sizeof((struct hwpmu_config[]){ __VA_ARGS__ }) / sizeof(struct hwpmu_config))

Test(extra, as_many_values_as_registers_fit)
{
	struct hwpmu_config a = wants(0x01b7, 0x10001), b = wants(0x01b7, 0x10002);
	struct hwpmu_config c = wants(0x01bb, 0x10004), none = wants(0x00c0, 0);
	struct hwpmu_config a0 = only(0x01b7, 0x10001), b0 = only(0x01b7, 0x10002);
	struct hwpmu_config b1 = only(0x01bb, 0x10002);
	struct hwpmu_config f = wants(0x01c6, 0x11), g = wants(0x01c6, 0x12);

	cr_expect(FIT(a, b, a, b, f, f, none));
	cr_expect(!FIT(a, b, c));
	cr_expect(!FIT(f, g));
	cr_expect(!FIT(a0, b0));
	cr_expect(FIT(a0, b1, a, b));
	cr_expect(!FIT(a0, b1, c));
	cr_expect(!FIT(c, b1, a0));
	cr_expect(FIT(b, c, b1));
	cr_expect(!FIT(a, c, b1));
}
