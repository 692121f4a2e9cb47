// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hypervisor that filters: events or counters that count nothing although no access to them
 * fails, and event selects that ignore what is written to them. For a guest whose emulated PMU
 * does so when it is told to (--cpu intel-stuck or amd-stuck). What counts elsewhere is counted
 * there and is exact, what nothing counts is refused, and no count is ever silently 0.
 */
#include "groups.h"
#include "module.h"
#include "msrs.h"
#include "refusal.h"

#define N		100000ull
#define CPUS		2

/* The emulator's own registers; docs/laboratory.md */
#define SILENT_EVENT	0x400000f1
#define SILENT_COUNTERS	0x400000f2
#define DEAF_EVTSELS	0x400000f3

/* SDM Vol. 3B, "Pre-defined Architectural Performance Events"; PPR, PMCx0C0 */
#define INSTRUCTIONS	0xc0
#define FIXED(n)	(1ull << (32 + (n)))

#define SENTENCE	"no counter of this machine counts it: tried when the PMU was taken, the count stayed 0, as when a hypervisor filters events: have it allow this one"

static void set(uint32_t msr, uint64_t value)
{
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		msr_write(cpu, msr, value);
}

/* It is looked at when the PMU is taken. */
static void filter(uint64_t event, uint64_t counters)
{
	set(SILENT_EVENT, event);
	set(SILENT_COUNTERS, counters);
	cr_assert_eq(raw_give_back(), 0);
}

static void begin(void)
{
	module_ensure();
	msrs_load_driver();
	filter(0, 0);
}

static void end(void)
{
	filter(0, 0);
	set(DEAF_EVTSELS, 0);
}

TestSuite(pmu_filtered, .init = begin, .fini = end);

static struct perf_event_attr disabled_u(uint64_t config)
{
	return disabled(user_attr(config));
}

/* An event of this task counts exactly. */
static void check_exact(struct perf_event_attr attr, uint64_t expected)
{
	int fd = event_open(attr);
	struct counts c;

	bracket(fd, N);
	c = event_read(fd);
	cr_expect_eq(c.value, expected, "%lu", c.value);
	cr_expect_eq(c.enabled, c.running);
	close(fd);
}

static void check_instructions(void)
{
	check_exact(disabled_u(PERF_COUNT_HW_INSTRUCTIONS), bracket_instructions(N));
}

static void check_branches(void)
{
	check_exact(disabled_u(PERF_COUNT_HW_BRANCH_INSTRUCTIONS), N + 1);
}

static void check_silent(struct perf_event_attr attr)
{
	check_refused(OPEN(attr), ENOENT, PMUCTL_WHY_EVENT_SILENT, "attr.config", "%s", SENTENCE);
}

Test(pmu_filtered, without_a_filter_all_is_as_ever)
{
	check_instructions();
	check_branches();
	cr_expect_eq(module_settled_info().pmu_owner, PMUCTL_OWNER_NOBODY);
}

Test(pmu_filtered, an_event_that_general_counters_do_not_count)
{
	filter(INSTRUCTIONS, 0);
	if (pmu_is_amd())
		check_silent(instructions_u());
	else
		check_instructions();
	check_branches();
}

/* The event is refused as a raw one, too, and with a counter mask. */
Test(pmu_filtered, an_event_that_nothing_counts)
{
	filter(pmu_raw_branches(), 0);
	check_silent(branches_u());
	check_silent(raw_u(pmu_raw_branches()));
	check_silent(raw_u(pmu_raw_branches() | 1 << 24));
	check_instructions();
}

Test(pmu_filtered, a_refusal_keeps_nothing)
{
	filter(pmu_raw_branches(), 0);
	check_silent(branches_u());
	cr_expect_eq(module_settled_info().hw_events, 0);
	cr_expect_eq(module_settled_info().pmu_owner, PMUCTL_OWNER_NOBODY);
}

/* As many as there are general counters fit, exactly, and the fixed one has none of them. */
Test(pmu_filtered, a_fixed_counter_that_does_not_count)
{
	unsigned int i, n = pmu_general();
	int leader = -1, fd[PMU_MAX];
	struct counts c;

	if (pmu_is_amd())
		cr_skip_test("there are no fixed counters");
	filter(0, FIXED(0));
	for (i = 0; i < n; i++) {
		fd[i] = event_open(i ? instructions_u() : disabled(instructions_u()), .group = leader);
		leader = fd[0];
	}
	cr_expect_eq(event_try(instructions_u(), .group = leader), -EINVAL);
	cr_expect_eq(event_why.code, PMUCTL_WHY_GROUP_TOO_BIG);
	bracket(leader, N);
	for (i = 0; i < n; i++) {
		c = event_read(fd[i]);
		cr_expect_eq(c.value, bracket_instructions(N), "event %u: %lu", i, c.value);
		cr_expect_eq(c.enabled, c.running);
	}
}

Test(pmu_filtered, children_of_such_events_count_where_they_do)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t own;
	pid_t child;
	int fd;

	filter(0, pmu_is_amd() ? 0 : FIXED(0));
	attr.inherit = 1;
	fd = event_open(attr);
	own = event_value(fd);
	child = fork_child();
	if (!child) {
		user_loop(N);
		_exit(0);
	}
	cr_assert_eq(waitpid(child, NULL, 0), child);
	cr_expect_geq(event_value(fd) - own, LOOP_INSTRUCTIONS * N);
}

/* When no counter counts anything, there is nothing that may be opened. */
Test(pmu_filtered, counters_that_count_nothing_at_all)
{
	filter(0, ~0ull);
	check_silent(instructions_u());
	check_silent(branches_u());
	check_silent(user_attr(PERF_COUNT_HW_CPU_CYCLES));
}

Test(pmu_filtered, it_is_looked_for_again_when_the_pmu_is_taken_again)
{
	filter(pmu_raw_branches(), 0);
	check_silent(branches_u());
	filter(0, 0);
	check_branches();
}

/* Counters end before the first whose event select is deaf; found when the module is loaded. */
Test(pmu_filtered, event_selects_that_ignore_what_is_written)
{
	unsigned int all = pmu_general(), i;
	int leader, second;

	cr_assert_eq(module_unload(), 0);
	set(DEAF_EVTSELS, ~3ull);
	cr_assert_eq(module_load(), 0);
	cr_expect_gt(all, 2);
	cr_expect_eq(pmu_general(), 2, "%u", pmu_general());
	check_instructions();
	check_branches();
	leader = event_open(branches_u());
	second = event_open(branches_u(), .group = leader);
	cr_expect_eq(event_try(branches_u(), .group = leader), -EINVAL);
	close(second);
	close(leader);

	/* A file that has been closed may be in use for a moment. */
	for (i = 0; module_unload() && i < 1000; i++)
		sleep_ms(10);
	set(DEAF_EVTSELS, 0);
	cr_assert_eq(module_load(), 0);
	cr_expect_eq(pmu_general(), all);
}
