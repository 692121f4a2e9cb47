// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/bts_config.c module/explain/explain.c */
/*
 * Branch Trace Store: why there is none, and what may be asked of which CPU.
 */
#include <criterion/criterion.h>

#include "pmu/bts_config.h"

static const struct bts_cpuid full = { .ds = true, .dtes64 = true, .ds_cpl = true };

Test(bts_config, tells_why_there_is_none)
{
	struct bts_cpuid id = full;

	cr_assert_null(bts_caps_decode(&full));
	id.ds = false;
	cr_assert_str_eq(bts_caps_decode(&id), PMUCTL_NO_BTS_ABSENT);
	id = full;
	id.dtes64 = false;
	cr_assert_str_eq(bts_caps_decode(&id), PMUCTL_NO_BTS_ABSENT);
	id = full;
	id.unavailable = true;
	cr_assert_str_eq(bts_caps_decode(&id), PMUCTL_NO_BTS_OFF);
	id = full;
	id.isolated = true;
	cr_assert_str_eq(bts_caps_decode(&id), PMUCTL_NO_BTS_ISOLATED);
	id = full;
	id.ds_cpl = false;
	cr_assert_str_eq(bts_caps_decode(&id), PMUCTL_NO_BTS_LEVELS);
}

Test(bts_config, encodes_the_levels)
{
	struct perf_event_attr attr = { .config = 0 };
	struct pmuctl_explanation why;
	u64 ctl;

	cr_assert_eq(bts_config_encode(&attr, &ctl, &why), 0);
	cr_assert_eq(ctl, 0xc0);
	attr.exclude_kernel = 1;
	cr_assert_eq(bts_config_encode(&attr, &ctl, &why), 0);
	cr_assert_eq(ctl, 0x2c0);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	cr_assert_eq(bts_config_encode(&attr, &ctl, &why), 0);
	cr_assert_eq(ctl, 0x4c0);
}

Test(bts_config, refuses_bits_that_are_none)
{
	struct perf_event_attr attr = { .config = 0x80 };
	struct pmuctl_explanation why;
	u64 ctl;

	cr_assert_eq(bts_config_encode(&attr, &ctl, &why), -EINVAL);
	cr_assert_eq(why.code, PMUCTL_WHY_BTS_CONFIG);
	cr_assert_str_eq(why.sentence, "config 0x80 is not 0, and Branch Trace Store has nothing to choose: leave it 0");
}
