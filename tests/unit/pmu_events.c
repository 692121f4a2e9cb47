// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/events.c module/pmu/events_intel.c module/pmu/events_intel_cores.c module/pmu/events_extra.c module/pmu/intel_rules.c module/pmu/events_amd.c module/explain/explain.c */
/*
 * Encoding of events: every generic event, every cache event, every raw bit, the
 * counters that each may use, and the refusals.
 */
#include <criterion/criterion.h>

#include "explain/explain.h"
#include "pmu/events.h"

#define ON	(HWPMU_EVTSEL_EN | HWPMU_EVTSEL_INT)
#define BOTH	(HWPMU_EVTSEL_USR | HWPMU_EVTSEL_OS)
#define GENERAL	0xfULL
#define FIXED(n) BIT_ULL(HWPMU_FIXED_BASE + (n))

static struct hwpmu_caps skylake(void)
{
	return (struct hwpmu_caps) {
		.vendor = HWPMU_VENDOR_INTEL, .version = 4, .family = 6, .model = 0x5e,
		.nr_general = 4, .nr_fixed = 3,
		.general_width = 48, .fixed_width = 48,
		.counters = GENERAL | FIXED(0) | FIXED(1) | FIXED(2),
		.arch_events = 0x7f, .raw_mask = 0xffa4ffff,
		.full_width = true, .name = "a PMU",
	};
}

static int encode(const struct hwpmu_caps *caps, u32 type, u64 config,
		  struct hwpmu_config *hw, struct pmuctl_explanation *why)
{
	const struct perf_event_attr attr = { .type = type, .config = config };

	memset(why, 0, sizeof(*why));
	return hwpmu_event_encode(caps, &attr, hw, why);
}

static void assert_encodes(u32 type, u64 config, u64 evtsel, u64 allowed)
{
	const struct hwpmu_caps caps = skylake();
	struct pmuctl_explanation why;
	struct hwpmu_config hw;

	cr_assert_eq(encode(&caps, type, config, &hw, &why), 0, "%s", why.sentence);
	cr_assert_eq(hw.evtsel, evtsel | ON | BOTH, "config %llx: evtsel %llx",
		     (unsigned long long)config, hw.evtsel);
	cr_assert_eq(hw.allowed, allowed, "config %llx: allowed %llx",
		     (unsigned long long)config, hw.allowed);
	cr_assert_eq(hw.fixed_ctrl & 0xb, 0xb);
}

/* SDM Vol. 3B, "Pre-defined Architectural Performance Events" */
Test(events, encodes_the_generic_events)
{
	assert_encodes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0x3c,
		       GENERAL | FIXED(1));
	assert_encodes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0xc0,
		       GENERAL | FIXED(0));
	assert_encodes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 0x4f2e,
		       GENERAL);
	assert_encodes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 0x412e,
		       GENERAL);
	assert_encodes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0xc4,
		       GENERAL);
	assert_encodes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 0xc5,
		       GENERAL);
	assert_encodes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, 0x13c, GENERAL);
	assert_encodes(PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, 0x300,
		       FIXED(2));
}

Test(events, lists_the_generic_events_that_it_encodes)
{
	struct hwpmu_caps caps = skylake();
	struct pmuctl_explanation why;
	struct hwpmu_config hw;
	unsigned int missing, i;
	u64 listed;

	for (missing = 0; missing < 8; missing++) {
		caps.arch_events = missing < 7 ? 0x7f & ~(1u << missing) : 0;
		if (missing == 7)
			caps.counters = GENERAL;
		listed = hwpmu_generic_events(&caps);
		for (i = 0; i < PERF_COUNT_HW_MAX; i++)
			cr_assert_eq(!(listed & BIT_ULL(i)),
				     encode(&caps, PERF_TYPE_HARDWARE, i, &hw,
					    &why) == -ENOENT);
	}
	cr_assert_eq(listed, 0);
	caps = (struct hwpmu_caps) { .version = 0 };
	cr_assert_eq(hwpmu_generic_events(&caps), 0);
}

static void assert_refused(const struct hwpmu_caps *caps, u32 type, u64 config,
			   int error, u32 code, const char *sentence)
{
	struct pmuctl_explanation why;
	struct hwpmu_config hw;

	cr_assert_eq(encode(caps, type, config, &hw, &why), -error);
	cr_assert_eq(why.error, (u32)error);
	cr_assert_eq(why.code, code);
	cr_assert_str_eq(why.field, "attr.config");
	cr_assert_str_eq(why.sentence, sentence);
}

Test(events, refuses_what_the_cpu_has_not)
{
	const struct hwpmu_caps caps = skylake();

	assert_refused(&caps, PERF_TYPE_HARDWARE,
		       PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, ENOENT,
		       PMUCTL_WHY_EVENT_NOT_HERE,
		       "this CPU (a PMU) has no event for stalled-cycles-frontend: use a raw event of this CPU, 'pmuctl list' shows them");
	assert_refused(&caps, PERF_TYPE_HARDWARE, PERF_COUNT_HW_MAX, EINVAL,
		       PMUCTL_WHY_EVENT_UNKNOWN,
		       "config 0xa is not an event of type 0: see PERF_COUNT_* in <linux/perf_event.h>");
	assert_refused(&caps, PERF_TYPE_HARDWARE, 1ULL << 32, EINVAL,
		       PMUCTL_WHY_EVENT_UNKNOWN,
		       "config 0x100000000 is not an event of type 0: see PERF_COUNT_* in <linux/perf_event.h>");
}

Test(events, answers_every_cache_event)
{
	const struct hwpmu_caps caps = skylake();
	struct pmuctl_explanation why;
	struct hwpmu_config hw;
	unsigned int id, op, result, good = 0;
	int err;

	for (id = 0; id < PERF_COUNT_HW_CACHE_MAX; id++)
		for (op = 0; op < PERF_COUNT_HW_CACHE_OP_MAX; op++)
			for (result = 0; result < PERF_COUNT_HW_CACHE_RESULT_MAX;
			     result++) {
				err = encode(&caps, PERF_TYPE_HW_CACHE,
					     id | op << 8 | result << 16, &hw,
					     &why);
				cr_assert(err == 0 || err == -ENOENT);
				good += !err;
			}
	/* Eight of them by offcore responses */
	cr_assert_eq(good, 20);
	assert_encodes(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D, 0x81d0, GENERAL);
	assert_encodes(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D | 1 << 16, 0x151,
		       GENERAL);
	assert_encodes(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_DTLB | 1 << 16, 0xe08,
		       GENERAL);
}

Test(events, refuses_cache_events_out_of_range_and_on_unknown_models)
{
	struct hwpmu_caps caps = skylake();
	struct pmuctl_explanation why;
	struct hwpmu_config hw;

	cr_assert_eq(encode(&caps, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_MAX,
			    &hw, &why), -EINVAL);
	cr_assert_eq(encode(&caps, PERF_TYPE_HW_CACHE, 3 << 8, &hw, &why), -EINVAL);
	cr_assert_eq(encode(&caps, PERF_TYPE_HW_CACHE, 2 << 16, &hw, &why), -EINVAL);
	cr_assert_eq(encode(&caps, PERF_TYPE_HW_CACHE, 1 << 24, &hw, &why), -EINVAL);
	caps.model = 0x01;
	cr_assert_eq(encode(&caps, PERF_TYPE_HW_CACHE, 0, &hw, &why), -ENOENT);
	caps = skylake();
	caps.family = 15;
	cr_assert_eq(encode(&caps, PERF_TYPE_HW_CACHE, 0, &hw, &why), -ENOENT);
}

Test(events, lets_raw_events_set_the_defined_bits_only)
{
	const struct hwpmu_caps caps = skylake();
	struct pmuctl_explanation why;
	struct hwpmu_config hw;
	unsigned int bit;
	int err;

	for (bit = 0; bit < 64; bit++) {
		err = encode(&caps, PERF_TYPE_RAW, 0x40 | BIT_ULL(bit), &hw, &why);
		if (caps.raw_mask & BIT_ULL(bit)) {
			cr_assert_eq(err, 0);
			cr_assert_eq(hw.evtsel, 0x40 | BIT_ULL(bit) | ON | BOTH);
		} else {
			cr_assert_eq(err, -EINVAL);
			cr_assert_eq(why.code, PMUCTL_WHY_RAW_BITS);
		}
	}
	assert_refused(&caps, PERF_TYPE_RAW, 0x4300c0, EINVAL, PMUCTL_WHY_RAW_BITS,
		       "raw config 0x4300c0 has bits outside of 0xffa4ffff, the event-select bits that may be set on this CPU: clear 0x430000");
}

Test(events, puts_modified_events_on_general_counters_only)
{
	assert_encodes(PERF_TYPE_RAW, 0xc0, 0xc0, GENERAL | FIXED(0));
	assert_encodes(PERF_TYPE_RAW, 0x3c, 0x3c, GENERAL | FIXED(1));
	assert_encodes(PERF_TYPE_RAW, 0x010000c0, 0x010000c0, GENERAL);
	assert_encodes(PERF_TYPE_RAW, 0x008000c0, 0x008000c0, GENERAL);
	assert_encodes(PERF_TYPE_RAW, 0x000400c0, 0x000400c0, GENERAL);
	assert_encodes(PERF_TYPE_RAW, 0x02c0, 0x02c0, GENERAL);
	/* INST_RETIRED.PREC_DIST */
	assert_encodes(PERF_TYPE_RAW, 0x01c0, 0x01c0, 0x2);
}

Test(events, encodes_levels_for_both_kinds_of_counters)
{
	const struct hwpmu_caps caps = skylake();
	struct pmuctl_explanation why;
	struct perf_event_attr attr = { .type = PERF_TYPE_RAW, .config = 0x2000c0 };
	struct hwpmu_config hw;

	attr.exclude_kernel = 1;
	cr_assert_eq(hwpmu_event_encode(&caps, &attr, &hw, &why), 0);
	cr_assert_eq(hw.evtsel, 0x2000c0 | ON | HWPMU_EVTSEL_USR);
	cr_assert_eq(hw.fixed_ctrl, 0xe, "PMI, any thread, user");
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	attr.config = 0xc0;
	cr_assert_eq(hwpmu_event_encode(&caps, &attr, &hw, &why), 0);
	cr_assert_eq(hw.evtsel, 0xc0 | ON | HWPMU_EVTSEL_OS);
	cr_assert_eq(hw.fixed_ctrl, 0x9, "PMI, kernel");
	attr.exclude_guest = 1;
	cr_assert_eq(hwpmu_event_encode(&caps, &attr, &hw, &why), 0);
	cr_assert_eq(hw.fixed_ctrl, 0x9, "PMI, kernel");
	attr.exclude_user = 0;
	attr.exclude_host = 1;
	cr_assert_eq(hwpmu_event_encode(&caps, &attr, &hw, &why), 0);
	cr_assert_eq(hw.evtsel, 0xc0 | ON);
	cr_assert_eq(hw.fixed_ctrl, 0x8, "PMI, at no level");
}

/* ---- Types of CPU ---- */

Test(pmu_events, types_of_cpu_are_taken_out)
{
	static const struct {
		u32 type;
		u64 config;
		u8 core;
		u32 type_left;
		u64 config_left;
	} events[] = {
		{ PMUCTL_TYPE_CPU_CORE, 0x1c4, HWPMU_CORE_PERFORMANCE, PERF_TYPE_RAW, 0x1c4 },
		{ PMUCTL_TYPE_CPU_ATOM, 0x1c4, HWPMU_CORE_EFFICIENCY, PERF_TYPE_RAW, 0x1c4 },
		{ PERF_TYPE_HARDWARE, (u64)PMUCTL_TYPE_CPU_CORE << 32 | 1, HWPMU_CORE_PERFORMANCE,
		  PERF_TYPE_HARDWARE, 1 },
		{ PERF_TYPE_HW_CACHE, (u64)PMUCTL_TYPE_CPU_ATOM << 32 | 0x10002,
		  HWPMU_CORE_EFFICIENCY, PERF_TYPE_HW_CACHE, 0x10002 },
		/* What is in the upper half of others is theirs. */
		{ PERF_TYPE_RAW, (u64)PMUCTL_TYPE_CPU_ATOM << 32, 0, PERF_TYPE_RAW,
		  (u64)PMUCTL_TYPE_CPU_ATOM << 32 },
		{ PERF_TYPE_HARDWARE, 4ULL << 32 | 1, 0, PERF_TYPE_HARDWARE, 4ULL << 32 | 1 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		struct perf_event_attr attr = { .type = events[i].type, .config = events[i].config };

		cr_expect_eq(hwpmu_event_core(&attr), events[i].core, "%zu", i);
		if (events[i].core)
			hwpmu_event_for_all(&attr);
		cr_expect_eq(attr.type, events[i].type_left, "%zu", i);
		cr_expect_eq(attr.config, events[i].config_left, "%zu", i);
	}
}
