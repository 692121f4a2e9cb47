// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refusals of attrs that ask for samples: each limit from both sides.
 */
#include "refusal.h"

#include <time.h>

#define MAX_RATE	"/sys/module/pmuctl/parameters/max_sample_rate"
#define USUAL_RATE	100000

#define REGS_KNOWN	0xff0ffful	/* AX to SS, R8 to R15 */

static union raw_attr sampled(uint64_t type)
{
	union raw_attr a = raw_instructions();

	a.attr.sample_period = 1000000;
	a.attr.sample_type = type;
	return a;
}

/* ---- How often ---- */

/* Whatever the parameter says */
#define RATE_MAX	10000000u

static void usual_rate(void)
{
	raw_write_number(MAX_RATE, USUAL_RATE);
}

static void check_frequency(uint64_t freq, unsigned int limit)
{
	union raw_attr a = sampled(PERF_SAMPLE_IP);

	a.attr.freq = 1;
	a.attr.sample_freq = freq;
	if (freq <= limit)
		close(event_open(a));
	else
		check_refused(OPEN(a), EINVAL, PMUCTL_WHY_FREQ_TOO_HIGH, "attr.sample_freq",
			      "%lu samples a second are above the limit %u: ask for less, or raise /sys/module/pmuctl/parameters/max_sample_rate",
			      (unsigned long)freq, limit);
}

Test(refuse_sampling, frequencies_above_the_limit, .fini = usual_rate)
{
	static const unsigned int limits[] = { USUAL_RATE, 1, 1000, RATE_MAX };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(limits); i++) {
		cr_assert_eq(raw_write_number(MAX_RATE, limits[i]), 0);
		check_frequency(1, limits[i]);
		check_frequency(limits[i] - 1ul, limits[i]); /* 0 is no frequency: it counts */
		check_frequency(limits[i], limits[i]);
		check_frequency(limits[i] + 1ul, limits[i]);
		check_frequency(1ul << 63, limits[i]);
		check_frequency(~0ul, limits[i]);
	}
}

Test(refuse_sampling, a_limit_beyond_all_is_ten_million, .fini = usual_rate)
{
	static const unsigned int limits[] = { RATE_MAX + 1, 4294967046, 4294967295 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(limits); i++) {
		cr_assert_eq(raw_write_number(MAX_RATE, limits[i]), 0);
		check_frequency(RATE_MAX, RATE_MAX);
		check_frequency(RATE_MAX + 1ul, RATE_MAX);
	}
}

/* Without a limit above 0 nothing could be sampled. */
Test(refuse_sampling, a_limit_of_0_is_one_of_1, .fini = usual_rate)
{
	cr_assert_eq(raw_write_number(MAX_RATE, 0), 0);
	check_frequency(1, 1);
	check_frequency(2, 1);
}

/* The limit is one of frequencies: a period may be as short as it likes. */
Test(refuse_sampling, periods_that_are_none)
{
	static const uint64_t good[] = { 0, 1, 1ul << 31, 1ul << 32, (1ul << 63) - 1 };
	static const uint64_t bad[] = { 1ul << 63, (1ul << 63) + 1, ~0ul };
	union raw_attr a = sampled(0);

	for (size_t i = 0; i < RAW_ARRAY_SIZE(good); i++) {
		a.attr.sample_period = good[i];
		close(event_open(a));
	}
	for (size_t i = 0; i < RAW_ARRAY_SIZE(bad); i++) {
		a.attr.sample_period = bad[i];
		check_refused(OPEN(a), EINVAL, PMUCTL_WHY_PERIOD_RANGE, "attr.sample_period",
			      "%lu is not a period: it is from 1 to 2^63 - 1",
			      (unsigned long)bad[i]);
	}
}

/* ---- What is in a sample ---- */

static const char *const unsupported[25] = {
	[14] = "PERF_SAMPLE_WEIGHT",
	[15] = "PERF_SAMPLE_DATA_SRC", [17] = "PERF_SAMPLE_TRANSACTION",
	[19] = "PERF_SAMPLE_PHYS_ADDR", [20] = "PERF_SAMPLE_AUX",
	[22] = "PERF_SAMPLE_DATA_PAGE_SIZE", [23] = "PERF_SAMPLE_CODE_PAGE_SIZE",
	[24] = "PERF_SAMPLE_WEIGHT_STRUCT",
};

Test(refuse_sampling, each_field_of_a_sample)
{
	for (unsigned int bit = 0; bit < 25; bit++) {
		union raw_attr a = sampled(1ul << bit);

		a.attr.sample_regs_user = 1;
		a.attr.sample_regs_intr = 1;
		if (1ul << bit == PERF_SAMPLE_BRANCH_STACK)
			continue; /* refuse_branch */
		if (!unsupported[bit])
			close(event_open(a));
		else
			check_refused(OPEN(a), EINVAL, PMUCTL_WHY_SAMPLE_UNSUPPORTED,
				      "attr.sample_type",
				      "attr.sample_type has %s, which this version of pmuctl cannot tell: clear it",
				      unsupported[bit]);
	}
}

/* As perf does: what a sample would have is checked even if none is taken. */
Test(refuse_sampling, an_event_that_counts_is_told_too)
{
	union raw_attr a = sampled(PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR);

	a.attr.sample_period = 0;
	check_refused(OPEN(a), EINVAL, PMUCTL_WHY_SAMPLE_UNSUPPORTED, "attr.sample_type",
		      "attr.sample_type has PERF_SAMPLE_PHYS_ADDR, which this version of pmuctl cannot tell: clear it");
}

Test(refuse_sampling, call_chains_that_are_too_deep)
{
	static const unsigned int good[] = { 0, 1, 126, 127 };
	static const unsigned int bad[] = { 128, 129, 1000, 65535 };
	union raw_attr a = sampled(PERF_SAMPLE_CALLCHAIN);

	for (size_t i = 0; i < RAW_ARRAY_SIZE(good); i++) {
		a.attr.sample_max_stack = good[i];
		close(event_open(a));
	}
	for (size_t i = 0; i < RAW_ARRAY_SIZE(bad); i++) {
		a.attr.sample_max_stack = bad[i];
		check_refused(OPEN(a), EOVERFLOW, PMUCTL_WHY_STACK_DEPTH,
			      "attr.sample_max_stack",
			      "sample_max_stack %u is above the limit 127: ask for less, or for 0, the limit",
			      bad[i]);
	}
}

/* As perf does: a depth without call chains is not looked at. */
Test(refuse_sampling, a_depth_that_nobody_uses)
{
	union raw_attr a = sampled(PERF_SAMPLE_IP);

	a.attr.sample_max_stack = 65535;
	close(event_open(a));
}

Test(refuse_sampling, stacks_of_odd_sizes_or_too_large)
{
	static const unsigned int good[] = { 0, 8, 16, 8192, 65520, 65528 };
	static const unsigned int bad[] = { 1, 4, 7, 9, 65521, 65527, 65529, 65536, 131072,
		0x80000000, 0xfffffff8, 0xffffffff };
	union raw_attr a = sampled(PERF_SAMPLE_STACK_USER);

	for (size_t i = 0; i < RAW_ARRAY_SIZE(good); i++) {
		a.attr.sample_stack_user = good[i];
		close(event_open(a));
	}
	for (size_t i = 0; i < RAW_ARRAY_SIZE(bad); i++) {
		a.attr.sample_stack_user = bad[i];
		check_refused(OPEN(a), EINVAL, PMUCTL_WHY_STACK_USER, "attr.sample_stack_user",
			      "sample_stack_user %u must be a multiple of 8 up to 65528: round it",
			      bad[i]);
	}
}

static void check_regs(uint64_t mask, bool good)
{
	union raw_attr user = sampled(PERF_SAMPLE_REGS_USER);
	union raw_attr intr = sampled(PERF_SAMPLE_REGS_INTR);

	user.attr.sample_regs_user = mask;
	intr.attr.sample_regs_intr = mask;
	if (good) {
		close(event_open(user));
		close(event_open(intr));
		return;
	}
	check_refused(OPEN(user), EINVAL, PMUCTL_WHY_REGS, "attr.sample_regs_user",
		      "register mask 0x%lx must name at least one register of 0x%lx, and no other: set these bits only",
		      (unsigned long)mask, REGS_KNOWN);
	check_refused(OPEN(intr), EINVAL, PMUCTL_WHY_REGS, "attr.sample_regs_intr",
		      "register mask 0x%lx must name at least one register of 0x%lx, and no other: set these bits only",
		      (unsigned long)mask, REGS_KNOWN);
}

Test(refuse_sampling, registers_that_nobody_saves)
{
	for (unsigned int bit = 0; bit < 64; bit++)
		check_regs(1ul << bit, REGS_KNOWN >> bit & 1);
	check_regs(REGS_KNOWN, true);
	check_regs(REGS_KNOWN | 1ul << 12, false);
	check_regs(0, false);
	check_regs(~0ul, false);
}

/* Masks and sizes that no field of the sample asks for mean nothing. */
Test(refuse_sampling, what_is_not_asked_for_does_not_matter)
{
	union raw_attr a = sampled(PERF_SAMPLE_IP);

	a.attr.sample_regs_user = ~0ul;
	a.attr.sample_regs_intr = ~0ul;
	a.attr.sample_stack_user = ~0u;
	close(event_open(a));
}

/* ---- How many ---- */

Test(refuse_sampling, a_number_of_overflows_in_many_tasks)
{
	union raw_attr a = sampled(PERF_SAMPLE_IP);

	cr_assert_eq(ioctl(event_open(a), PERF_EVENT_IOC_REFRESH, 1), 0, "%m");
	a.attr.inherit = 1;
	check_refused(IOCTL(event_open(a), PERF_EVENT_IOC_REFRESH, 1), EINVAL,
		      PMUCTL_WHY_REFRESH_MANY, "",
		      "an event of all CPUs, or one that is inherited, overflows in many places: open one for each CPU or task to have it end after a number of overflows");
}

/* ---- Its time ---- */

Test(refuse_sampling, clocks_that_an_nmi_cannot_read)
{
	static const int good[] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
		CLOCK_BOOTTIME, CLOCK_TAI };
	static const int bad[] = { CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
		CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_REALTIME_ALARM,
		CLOCK_BOOTTIME_ALARM, 10, 12, 1000, -1, INT32_MIN, INT32_MAX };
	union raw_attr a = sampled(PERF_SAMPLE_TIME);

	a.attr.use_clockid = 1;
	for (size_t i = 0; i < RAW_ARRAY_SIZE(good); i++) {
		a.attr.clockid = good[i];
		close(event_open(a));
	}
	for (size_t i = 0; i < RAW_ARRAY_SIZE(bad); i++) {
		a.attr.clockid = bad[i];
		check_refused(OPEN(a), EINVAL, PMUCTL_WHY_CLOCK, "attr.clockid",
			      "clock %d cannot be read in an NMI: use CLOCK_MONOTONIC (1), _MONOTONIC_RAW (4), _BOOTTIME (7), _REALTIME (0) or _TAI (11)",
			      bad[i]);
	}
}

Test(refuse_sampling, a_clock_that_is_not_used)
{
	static const int clocks[] = { CLOCK_MONOTONIC, CLOCK_TAI, 10, -1, INT32_MIN };
	union raw_attr a = sampled(PERF_SAMPLE_TIME);

	for (size_t i = 0; i < RAW_ARRAY_SIZE(clocks); i++) {
		a.attr.clockid = clocks[i];
		check_refused(OPEN(a), EINVAL, PMUCTL_WHY_CLOCK_UNUSED, "attr.clockid",
			      "attr.clockid %d has no effect without attr.use_clockid: set that, or leave it 0",
			      clocks[i]);
	}
}
