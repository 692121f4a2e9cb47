// SPDX-License-Identifier: GPL-2.0-only
/*
 * A virtual machine without the registers that select what some events count: these are refused as
 * perf refuses them, and the others count. The guest has a model number that has them, and
 * no such registers.
 */
#include "loops.h"
#include "refusal.h"

#define N	100000ull

static void check_absent(uint64_t config, unsigned int msr)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_RAW, config);

	attr.config1 = 1;
	attr.exclude_kernel = 1;
	cr_expect_eq(perf_try(&attr, 0, -1), -ENXIO);
	check_refused(OPEN(attr), ENXIO, PMUCTL_WHY_EXTRA_ABSENT, "attr.config",
		      "this event needs MSR 0x%x, which this machine does not have, as a virtual machine may lack it: have the hypervisor provide it, or count another event",
		      msr);
}

Test(refuse_extra, registers_that_are_not_there)
{
	check_absent(0x01b7, 0x1a6);
	check_absent(0x01bb, 0x1a7);
	check_absent(0x01c6, 0x3f7);
}

Test(refuse_extra, the_last_level_has_no_event_then)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL);

	attr.exclude_kernel = 1;
	cr_expect_eq(perf_try(&attr, 0, -1), -ENXIO);
	cr_expect_eq(event_try(attr), -ENXIO);
}

Test(refuse_extra, other_events_count)
{
	struct perf_event_attr attr = instructions_u();
	int fd;

	attr.disabled = 1;
	fd = event_open(attr);
	bracket(fd, N);
	cr_assert_eq(event_value(fd), bracket_instructions(N));
}
