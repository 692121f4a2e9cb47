// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters that the processor freezes with each of their interrupts, as firmware or a tool may
 * have left it in IA32_DEBUGCTL (SDM Vol. 3B, "Freezing LBR and Performance Counters on
 * PMI"), or that are frozen when we come: they count all the same, and the register is left
 * as it was. For --cpu intel, where freezing clears IA32_PERF_GLOBAL_CTRL, and intel-v4 and amd-v2,
 * where it sets a bit of the status that stays until it is acknowledged (APM Vol. 2, "Debug-Control
 * MSR (DebugCtl)").
 */
#include "nmis.h"
#include "msrs.h"

#define CPUS		2
#define N		100000ull
#define HEADROOM	1000

#define DEBUGCTL	0x1d9
#define FREEZE		(1ull << 12)
#define GLOBAL_STATUS	0x38e
#define STATUS_SET	0x391
#define AMD_STATUS	0xc0000300
#define CTR_FRZ		(1ull << 59)

static void set_headroom(unsigned int headroom)
{
	cr_assert_eq(raw_write_number("/sys/module/pmuctl/parameters/counter_headroom",
				      headroom), 0);
}

static void freeze_on_interrupts(bool freeze)
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		msr_write(cpu, DEBUGCTL, freeze ? FREEZE : 0);
}

static uint64_t msr(int cpu, uint32_t addr)
{
	struct msrs m = { .n = 1, .addr = { addr } };
	uint64_t value[MSRS_MAX];

	msrs_read(&m, cpu, value);
	return value[0];
}

static void begin(void)
{
	cr_assert_eq(raw_give_back(), 0);
	msrs_find();
	sampling_init();
	set_headroom(HEADROOM);
}

static void end(void)
{
	set_headroom(0);
	sampling_fini();
	cr_assert_eq(raw_give_back(), 0);
	freeze_on_interrupts(false);
}

TestSuite(own_frozen, .init = begin, .fini = end);

/* Over many overflows */
static void check_counts(int fd)
{
	uint64_t before = event_value(fd);

	bracket(fd, N);
	cr_expect_eq(event_value(fd) - before, bracket_instructions(N), "%lu",
		     event_value(fd) - before);
}

static int open_here(int cpu)
{
	struct perf_event_attr attr = instructions_u();

	pin_here(cpu);
	attr.disabled = 1;
	return event_open(attr);
}

static void check_samples(void)
{
	struct sampled s[CPUS];

	for (int cpu = 0; cpu < CPUS; cpu++)
		sampled_start(&s[cpu], cpu, 997 + cpu, NULL);
	for (int cpu = 0; cpu < CPUS; cpu++)
		while (__atomic_load_n(&s[cpu].blocks, __ATOMIC_ACQUIRE) < 20)
			usleep(1000);
	for (int cpu = 0; cpu < CPUS; cpu++)
		sampled_end(&s[cpu]);
}

Test(own_frozen, freezing_that_was_on_before)
{
	int fd;

	freeze_on_interrupts(true);
	fd = open_here(1);
	check_counts(fd);
	check_samples();
	check_counts(fd);
	close(fd);
	cr_assert_eq(raw_give_back(), 0);
	for (int cpu = 0; cpu < CPUS; cpu++)
		cr_expect_eq(msr(cpu, DEBUGCTL), FREEZE, "%#lx", msr(cpu, DEBUGCTL));
}

Test(own_frozen, freezing_that_comes_while_we_count)
{
	int fd = open_here(1);

	check_counts(fd);
	freeze_on_interrupts(true);
	check_counts(fd);
	check_samples();
	check_counts(fd);
	close(fd);
}

Test(own_frozen, what_was_frozen_before)
{
	bool has = raw_cpuid(0xa).eax % 256 >= 4;
	int fd;

	if (has)
		msr_write(1, STATUS_SET, CTR_FRZ);
	fd = open_here(1);
	check_counts(fd);
	close(fd);
	cr_expect_eq(msr(1, pmu_is_amd() ? AMD_STATUS : GLOBAL_STATUS) & CTR_FRZ, 0);
}
