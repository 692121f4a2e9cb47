// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which counters of AMD's count an event: for the event numbers of all rules that there are, and
 * the unit masks that they ask for, ours are those that the kernel's own perf uses. What differs is
 * refused here, or left out, by a stated reason. For guests of one CPU, whose perf knows no north
 * bridge that several share.
 */
#include "counter_set.h"
#include "refusal.h"

#define EVENTS		0x200		/* all numbers by which a rule tells events apart */
#define N		100000ull

static struct msrs msrs;

static void find_guest(void)
{
	pin_here(0);
	cr_assert(pmu_is_amd());
	msrs = msrs_find();
}

TestSuite(pmu_constraints_amd, .init = find_guest);

static uint64_t config_of(unsigned int event, unsigned int umask)
{
	return (event & 0xff) | umask << 8 | (uint64_t)(event & 0xf00) << 24;
}

static uint64_t set_of(uint64_t config, counter_set_opener try)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_RAW, config);

	attr.exclude_kernel = 1;
	return counter_set(&msrs, 0, &attr, try);
}

/*
 * Perf gives the north bridge's events to whoever asks, which all cores share: BKDG for families
 * 0Fh and 10h, "Performance Counter Events". From family 15h on it has a driver of their own.
 */
static bool is_north_bridges(unsigned int event)
{
	return raw_cpu_family() < 0x17 && (event & 0xe0) == 0xe0;
}

/*
 * Perf merges two counters for PMCx003 (PPR for family 17h, "Large Increment per Cycle Events"),
 * and takes PMCxFFF, which makes a counter the half of another, for an event like others.
 */
static bool is_merged(unsigned int event)
{
	return raw_cpu_family() >= 0x17 && (event == 0x003 || event == 0xfff);
}

/*
 * Not in the laboratory: what counts nothing although it must, as with some hypervisors, is
 * refused.
 * PPR for family 19h, models 10h to 1Fh, "PMCx120 [Total Cycles at P0 Frequency]".
 */
static bool is_silent_here(unsigned int event, unsigned int umask)
{
	return event == 0x120 && umask == 0x01 && raw_cpu_family() >= 0x19;
}

/*
 * Kernels that are built without CONFIG_PERF_EVENTS_AMD_BRS, as Debian's, put the rules of family
 * 19h in the place of all others: they give family 15h's events to all counters, and those of
 * PMCx0A0, which no counter has, too. Then they tell nothing of where these count.
 */
static bool perf_has_lost_rules(void)
{
	static int lost = -1;

	if (lost < 0)
		lost = raw_cpu_family() == 0x15 && set_of(0xa0, perf_try);
	return lost;
}

static void check_event(unsigned int event, unsigned int umask)
{
	uint64_t config = config_of(event, umask);
	uint64_t perfs = set_of(config, perf_try), ours = set_of(config, counter_set_ours);

	if (is_north_bridges(event) || is_merged(event) || is_silent_here(event, umask))
		cr_expect_eq(ours, 0, "event %#x: %#lx", event, ours);
	else if (perf_has_lost_rules())
		cr_expect_eq(ours & ~perfs, 0, "event %#x: %#lx, perf %#lx", event, ours, perfs);
	else
		cr_expect_eq(ours, perfs, "event %#x, unit mask %#x: %#lx, perf %#lx", event,
			     umask, ours, perfs);
}

Test(pmu_constraints_amd, every_event_is_where_perf_has_it, .timeout = 600)
{
	for (unsigned int event = 0; event < EVENTS; event++)
		check_event(event, 0x01);
}

/* Beyond, only the low bits of a number matter. */
Test(pmu_constraints_amd, numbers_of_all_twelve_bits, .timeout = 600)
{
	for (unsigned int high = 0x200; high < 0x1000; high += 0x100)
		for (unsigned int kind = 0; kind < 0x100; kind += 0x10)
			check_event(high + kind + 0x05, 0x01);
	check_event(0xfff, 0x01);
}

/* BKDG for family 15h: the pipes and several unit masks at once are for some counters only. */
Test(pmu_constraints_amd, unit_masks_that_matter)
{
	static const unsigned int events[] = { 0x000, 0x003, 0x004, 0x00b, 0x02e, 0x031, 0x0c0 };
	static const unsigned int umasks[] = { 0x00, 0x03, 0x0f, 0x10, 0x11, 0x30, 0xf0, 0xff };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(events); i++)
		for (size_t k = 0; k < RAW_ARRAY_SIZE(umasks); k++)
			check_event(events[i], umasks[k]);
}

/* Where not all counters count cycles, none is put on the others: there it would count nothing. */
Test(pmu_constraints_amd, each_copy_of_an_event_counts)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_RAW, pmu_raw_cycles());
	unsigned int n = __builtin_popcountll(set_of(pmu_raw_cycles(), counter_set_ours));
	int fd[PMU_MAX];

	cr_assert_eq(n, raw_cpu_family() == 0x15 ? 3 : msrs.n_evtsel, "%u", n);
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	for (unsigned int i = 0; i < n; i++)
		fd[i] = event_open(attr);
	for (unsigned int i = 0; i < n; i++) {
		cr_assert_eq(ioctl(fd[i], PERF_EVENT_IOC_ENABLE, 0), 0);
		user_loop(N);
		cr_assert_eq(ioctl(fd[i], PERF_EVENT_IOC_DISABLE, 0), 0);
		cr_expect_geq(event_value(fd[i]), LOOP_INSTRUCTIONS * N, "copy %u", i);
	}
	for (unsigned int i = 0; i < n; i++)
		close(fd[i]);
}
