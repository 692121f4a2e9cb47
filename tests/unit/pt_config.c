// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/pt_config.c module/explain/explain.c */
/*
 * Processor Trace: what CPUID says of it, and what may be asked of which CPU.
 */
#include <criterion/criterion.h>

#include "pmu/pt_config.h"

/* As a Skylake says it: all but address filters */
static const struct pt_cpuid full = {
	.max_leaf = 0x16, .pt = true, .ebx = 0x3f, .ecx = 7,
	.eax1 = 0x02490002, .ebx1 = 0x003f3fff,
};

static struct perf_event_attr attr_of(u64 config)
{
	return (struct perf_event_attr){ .config = config };
}

Test(pt_config, tells_why_there_is_none)
{
	struct pt_cpuid id = full;
	struct pt_caps caps;

	cr_assert_null(pt_caps_decode(&full, &caps));
	id.pt = false;
	cr_assert_str_eq(pt_caps_decode(&id, &caps), PMUCTL_NO_PT_ABSENT);
	id = full;
	id.max_leaf = 0x13;
	cr_assert_str_eq(pt_caps_decode(&id, &caps), PMUCTL_NO_PT_ABSENT);
	id = full;
	id.ecx = 5; /* a table of one entry */
	cr_assert_str_eq(pt_caps_decode(&id, &caps), PMUCTL_NO_PT_TOPA);
	id.ecx = 4; /* no table */
	cr_assert_str_eq(pt_caps_decode(&id, &caps), PMUCTL_NO_PT_TOPA);
	cr_assert_eq(caps.allowed, 0);
}

Test(pt_config, allows_what_cpuid_tells)
{
	static const struct {
		u32 ebx;
		u64 allowed;
	} cases[] = {
		{ 0, 0x2c01 }, { 2, 0xf782c03 }, { 8, 0x3ee01 }, { 16, 0x3c21 },
		{ 32, 0x2c11 }, { 0x3f, 0xf7bfe33 },
	};
	struct pt_cpuid id = full;
	struct pt_caps caps;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		id.ebx = cases[i].ebx;
		cr_assert_null(pt_caps_decode(&id, &caps));
		cr_assert_eq(caps.allowed, cases[i].allowed, "%x: %llx", id.ebx, caps.allowed);
	}
	cr_assert_eq(caps.nr_ranges, 2);
	cr_assert_eq(caps.mtc_periods, 0x249);
	cr_assert_eq(caps.cyc_threshs, 0x3fff);
	cr_assert_eq(caps.psb_periods, 0x3f);
}

/* Broadwells, by an erratum; others trace power and PTWRITE without. */
Test(pt_config, some_trace_nothing_without_branches)
{
	static const struct {
		u8 family, model;
		bool refuses;
	} cases[] = {
		{ 6, 0x3d, true }, { 6, 0x47, true }, { 6, 0x4f, true }, { 6, 0x56, true },
		{ 6, 0x5e, false }, { 6, 0x4e, false }, { 15, 0x4f, false },
	};
	struct perf_event_attr without = attr_of(PT_CONFIG_PT | PT_CTL_TSC),
		with = attr_of(PT_CONFIG_PT | PT_CTL_TSC | PT_CTL_BRANCH),
		always = attr_of(PT_CTL_TSC);
	struct pmuctl_explanation why = { 0 };
	struct pt_cpuid id = full;
	struct pt_caps caps;
	u64 ctl;

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		id.family = cases[i].family;
		id.model = cases[i].model;
		cr_assert_null(pt_caps_decode(&id, &caps));
		cr_assert_eq(pt_config_encode(&caps, &without, &ctl, &why),
			     cases[i].refuses ? -EINVAL : 0);
		if (cases[i].refuses) {
			cr_assert_eq(why.code, PMUCTL_WHY_PT_BRANCHES);
			cr_assert_str_eq(why.field, "attr.config");
			cr_assert_not_null(strstr(why.sentence, "config 0x401 has them left out"));
		}
		cr_assert_eq(pt_config_encode(&caps, &with, &ctl, &why), 0);
		cr_assert_eq(pt_config_encode(&caps, &always, &ctl, &why), 0);
		cr_assert(ctl & PT_CTL_BRANCH);
	}
}

/* No bit gets to the register that was not checked. */
Test(pt_config, lets_no_other_bit_through)
{
	struct pmuctl_explanation why;
	struct pt_caps caps;
	unsigned int bit;
	u64 ctl;

	pt_caps_decode(&full, &caps);
	for (bit = 0; bit < 64; bit++) {
		struct perf_event_attr attr = attr_of(BIT_ULL(bit));
		int err = pt_config_encode(&caps, &attr, &ctl, &why);

		if (!(caps.allowed & BIT_ULL(bit))) {
			cr_assert_eq(err, -EINVAL, "bit %u", bit);
			cr_assert_eq(why.code, PMUCTL_WHY_PT_BITS);
		} else if (!err) {
			u64 branch = bit == 0 || bit == 13 ? 0 : PT_CTL_BRANCH;

			cr_assert_eq(ctl & ~(BIT_ULL(bit) & ~PT_CONFIG_PT),
				     PT_CTL_TOPA | PT_CTL_OS | PT_CTL_USER | branch,
				     "bit %u", bit);
		}
		cr_assert(err || !(ctl & PT_CTL_TRACE));
	}
}

Test(pt_config, knows_which_periods_there_are)
{
	struct pmuctl_explanation why;
	struct perf_event_attr attr;
	struct pt_caps caps;
	unsigned int value;
	u64 ctl;

	pt_caps_decode(&full, &caps);
	for (value = 0; value < 16; value++) {
		attr = attr_of(PT_CTL_MTC | (u64)value << 14);
		cr_assert_eq(pt_config_encode(&caps, &attr, &ctl, &why),
			     !value || 0x249 >> value & 1 ? 0 : -EINVAL, "mtc_period %u", value);
	}
	attr = attr_of(15ULL << 24);
	cr_assert_eq(pt_config_encode(&caps, &attr, &ctl, &why), -EINVAL);
	cr_assert_eq(why.code, PMUCTL_WHY_PT_CHOICE);
	cr_assert_str_eq(why.sentence,
			 "this CPU has no psb_period of 15: those that it has are the bits of 0x3f");
}

Test(pt_config, traces_the_levels_that_are_asked_for)
{
	struct perf_event_attr attr = attr_of(PT_CONFIG_PT);
	struct pt_caps caps;
	u64 ctl;

	pt_caps_decode(&full, &caps);
	cr_assert_eq(pt_config_encode(&caps, &attr, &ctl, NULL), 0);
	cr_assert_eq(ctl, PT_CTL_TOPA | PT_CTL_OS | PT_CTL_USER, "pt alone: no branches");
	attr.exclude_kernel = 1;
	attr.config = 0;
	cr_assert_eq(pt_config_encode(&caps, &attr, &ctl, NULL), 0);
	cr_assert_eq(ctl, PT_CTL_TOPA | PT_CTL_USER | PT_CTL_BRANCH);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	cr_assert_eq(pt_config_encode(&caps, &attr, &ctl, NULL), 0);
	cr_assert_eq(ctl, PT_CTL_TOPA | PT_CTL_OS | PT_CTL_BRANCH);
}
