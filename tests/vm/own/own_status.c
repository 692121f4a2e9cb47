// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the status has that is no overflow of ours, and overflows that it has twice. For guests
 * whose emulated PMU does that when it is told to: --cpu intel-stuck or amd-stuck.
 */
#include "module.h"
#include "msrs.h"
#include "nmis.h"

#define CPUS		2
#define N		100000ull

/* The emulator's own registers, see tests/lab/qemu/target/i386/tcg/system/pmu_msr.c */
#define SET_STATUS	0x400000f4
#define TOO_NEAR	0x400000f5

/*
 * SDM Vol. 4, IA32_PERF_GLOBAL_STATUS: LBR_Frz, ASCI, Ovf_Uncore, OvfBuf, CondChgd; APM Vol. 2,
 * PerfCntrGlobalStatus: the first, and that counters are frozen
 */
#define LBR_FROZEN	(1ull << 58)
#define FROZEN		(1ull << 59)
#define OTHERS		(LBR_FROZEN | 1ull << 60 | 1ull << 61 | 1ull << 62 | 1ull << 63)

static uint64_t others(void)
{
	return pmu_is_amd() ? LBR_FROZEN : OTHERS;
}

static uint64_t status(void)
{
	return msr_read(1, pmu_is_amd() ? 0xc0000300 : 0x38e);
}

static void begin(void)
{
	cr_assert_eq(raw_give_back(), 0);
	msrs_load_driver();
	sampling_init();
	msr_write(1, SET_STATUS, LBR_FROZEN);
	cr_assert_eq(status(), LBR_FROZEN, "this guest needs --cpu intel-stuck or amd-stuck");
}

static void end(void)
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		msr_write(cpu, TOO_NEAR, 0);
	sampling_fini();
}

TestSuite(own_status, .init = begin, .fini = end);

static void check_samples(uint64_t period)
{
	struct sampled s[CPUS];

	for (int cpu = 0; cpu < CPUS; cpu++)
		sampled_start(&s[cpu], cpu, period + cpu, NULL);
	for (int cpu = 0; cpu < CPUS; cpu++)
		while (__atomic_load_n(&s[cpu].blocks, __ATOMIC_ACQUIRE) < 5)
			usleep(1000);
	for (int cpu = 0; cpu < CPUS; cpu++)
		sampled_end(&s[cpu]);
}

/* Else a unit that waits for that stands still for ever. */
Test(own_status, bits_of_other_units_are_acknowledged)
{
	struct perf_event_attr attr = instructions_u();
	int fd = event_open(attr, -1, 1);

	cr_expect_eq(status(), 0, "taken: %#lx", status());
	msr_write(1, SET_STATUS, others());
	check_samples(1000);
	cr_expect_eq(status(), 0, "after overflows: %#lx", status());
	msr_write(1, SET_STATUS, others());
	close(fd);
	cr_assert_eq(raw_give_back(), 0);
	cr_expect_eq(status(), 0, "given back: %#lx", status());
}

/* They are no overflows: nothing is stopped because of them, and no sample is made of them. */
Test(own_status, bits_that_stay_are_no_overflow_without_end)
{
	struct nmi_stats before = nmi_stats(1);

	msr_write(1, SET_STATUS, others());
	check_samples(1000);
	cr_expect_eq(nmi_stats(1).stuck, before.stuck);
}

/* Whoever has frozen the counters before us has not done it for us. */
Test(own_status, counters_that_were_frozen_count)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t before;
	int fd;

	if (pmu_is_amd())
		msr_write(1, SET_STATUS, FROZEN);
	pin_here(1);
	attr.disabled = 1;
	fd = event_open(attr);
	before = event_value(fd);
	bracket(fd, N);
	cr_expect_eq(event_value(fd) - before, bracket_instructions(N));
	close(fd);
	cr_expect_eq(status(), 0, "%#lx", status());
}

/* The status is set at once when a counter is written, and again when it does overflow. */
Test(own_status, counters_too_near_to_their_overflow)
{
	struct nmi_stats before[CPUS];

	for (int cpu = 0; cpu < CPUS; cpu++) {
		before[cpu] = nmi_stats(cpu);
		msr_write(cpu, TOO_NEAR, 2000);
	}
	check_samples(1000);
	for (int cpu = 0; cpu < CPUS; cpu++) {
		cr_expect_eq(nmi_stats(cpu).stuck, before[cpu].stuck);
		cr_expect_gt(nmi_stats(cpu).overflows, before[cpu].overflows);
	}
}
