// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups: who may join one, what an ioctl on a member does, what a read gives, and what
 * becomes of siblings when members are closed.
 */
#include "groups.h"
#include "hybrid.h"
#include "pmu.h"
#include "refusal.h"

#define N	100000ull

Test(group_rules, counts_all_members_exactly)
{
	int leader = event_open(disabled(instructions_u()));
	int branches = event_open(branches_u(), .group = leader);
	int raw = event_open(raw_u(0xc0), .group = leader);

	bracket(leader, N);
	cr_assert_eq(event_value(leader), bracket_instructions(N));
	/* Siblings run with their leader and stop with it. */
	cr_assert_eq(event_value(raw), bracket_instructions(N));
	cr_assert_eq(event_value(branches), N * LOOP_BRANCHES + 1,
		     "the loop's and the system call");
}

Test(group_rules, siblings_stand_still_while_the_leader_is_disabled)
{
	int leader = event_open(disabled(instructions_u()));
	int sibling = event_open(instructions_u(), .group = leader);

	user_loop(N);
	cr_assert_eq(event_value(sibling), 0);
	cr_assert_eq(event_read(sibling).enabled, 0);
	event_ioctl(leader, PERF_EVENT_IOC_ENABLE);
	user_loop(N);
	event_ioctl(leader, PERF_EVENT_IOC_DISABLE);
	cr_assert_geq(event_value(sibling), N * LOOP_INSTRUCTIONS);
}

Test(group_rules, disabled_siblings_stand_still)
{
	int leader = event_open(instructions_u());
	int sibling = event_open(disabled(instructions_u()), .group = leader);
	struct counts c;

	user_loop(N);
	cr_assert_eq(event_value(sibling), 0);
	bracket(sibling, N);
	c = event_read(sibling);
	cr_assert_eq(c.value, bracket_instructions(N));
	cr_assert_eq(c.enabled, c.running);
	cr_assert_gt(event_value(leader), c.value);
}

Test(group_rules, an_ioctl_with_the_flag_means_all)
{
	int leader = event_open(disabled(instructions_u()));
	int sibling = event_open(disabled(instructions_u()), .group = leader);
	uint64_t before;

	/* From any member. */
	cr_assert_eq(ioctl(sibling, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), 0);
	user_loop(N);
	cr_assert_eq(ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), 0);
	before = event_value(leader);
	cr_assert_geq(before, N * LOOP_INSTRUCTIONS);
	cr_assert_eq(event_value(sibling), before, "enabled and disabled at once");
	user_loop(N);
	cr_assert_eq(event_value(leader), before);
	cr_assert_eq(event_value(sibling), before);

	cr_assert_eq(ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP), 0);
	cr_assert_eq(event_value(leader), 0);
	cr_assert_eq(event_value(sibling), 0);
}

/* Kernel instructions too, so that every instruction between two reads would show. */
Test(group_rules, one_read_is_one_instant)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_RAW, 0xc0);
	struct group_read r;
	int leader, i;

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID |
			   PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	leader = event_open(disabled(attr));
	event_open(attr, .group = leader);
	event_open(attr, .group = leader);
	event_ioctl(leader, PERF_EVENT_IOC_ENABLE);
	for (i = 0; i < 2000; i++) {
		cr_assert_eq(read(leader, &r, sizeof(r)), (24 + 3 * 16));
		cr_assert_eq(r.nr, 3);
		cr_assert_eq(r.enabled, r.running);
		cr_assert_eq(r.each[1].value, r.each[0].value, "read %d", i);
		cr_assert_eq(r.each[2].value, r.each[0].value, "read %d", i);
	}
	cr_assert_eq(r.each[0].id, event_id(leader));
}

Test(group_rules, a_read_needs_room_for_all)
{
	struct perf_event_attr attr = instructions_u();
	char buffer[64];
	int leader;

	attr.read_format = PERF_FORMAT_GROUP;
	leader = event_open(attr);
	event_open(attr, .group = leader);
	check_refused(READ(leader, buffer, 23), ENOSPC, PMUCTL_WHY_BUFFER_TOO_SMALL, "",
		      "a read of this event gives 24 bytes, but the buffer has 23: enlarge it");
	cr_assert_eq(read(leader, buffer, 24), 24);
}

Test(group_rules, closing_the_leader_leaves_single_events)
{
	int leader = event_open(instructions_u());
	int a = event_open(branches_u(), .group = leader);
	int b = event_open(disabled(branches_u()), .group = leader);
	uint64_t before;

	close(leader);
	before = event_value(a);
	user_loop(N);
	cr_assert_geq(event_value(a) - before, N * LOOP_BRANCHES);
	cr_assert_eq(event_value(b), 0);
	bracket(b, N);
	cr_assert_eq(event_value(b), N * LOOP_BRANCHES + 1);
	/* And they can lead groups of their own. */
	event_open(instructions_u(), .group = a);
}

Test(group_rules, closing_a_disabled_leader_lets_its_siblings_run)
{
	int leader = event_open(disabled(instructions_u()));
	int sibling = event_open(branches_u(), .group = leader);

	user_loop(N);
	cr_assert_eq(event_value(sibling), 0);
	close(leader);
	user_loop(N);
	cr_assert_geq(event_value(sibling), N * LOOP_BRANCHES);
}

Test(group_rules, closing_a_sibling_leaves_the_others)
{
	int leader = event_open(instructions_u());
	int a = event_open(branches_u(), .group = leader);
	int b = event_open(branches_u(), .group = leader);
	uint64_t before = event_value(b);

	close(a);
	user_loop(N);
	cr_assert_geq(event_value(b) - before, N * LOOP_BRANCHES);
	cr_assert_geq(event_value(leader), N * LOOP_INSTRUCTIONS);
}

Test(group_rules, joins_are_refused_with_the_reason)
{
	struct perf_event_attr pinned = branches_u(), exclusive = branches_u();
	int leader = event_open(instructions_u());
	int sibling = event_open(branches_u(), .group = leader);
	int on_cpu = event_open(pinned, 0, 0);
	int pipe_fds[2];

	pinned.pinned = 1;
	exclusive.exclusive = 1;
	check_refusals(
		{ "a sibling's group", OPEN(branches_u(), .group = sibling), EINVAL,
		  PMUCTL_WHY_GROUP_NOT_LEADER, "group_fd",
		  "group_fd is itself a member of a group: pass the descriptor of that group's leader" },
		{ "another task", OPEN(branches_u(), getppid(), .group = leader), EINVAL,
		  PMUCTL_WHY_GROUP_OTHER_TARGET, "group_fd",
		  "group_fd counts another task, CPU or cgroup: a group's events count the same one" },
		{ "a CPU", OPEN(branches_u(), -1, 0, .group = leader), EINVAL,
		  PMUCTL_WHY_GROUP_OTHER_TARGET, "group_fd",
		  "group_fd counts another task, CPU or cgroup: a group's events count the same one" },
		{ "another CPU of the task", OPEN(branches_u(), .group = on_cpu), EINVAL,
		  PMUCTL_WHY_GROUP_OTHER_CPU, "cpu",
		  "cpu is -1 but the group's is 0: a group's events have the same cpu" },
		{ "pinned", OPEN(pinned, .group = leader), EINVAL, PMUCTL_WHY_SIBLING_FLAG,
		  "attr.pinned",
		  "only a group's leader can be pinned, for the whole group: set it there" },
		{ "exclusive", OPEN(exclusive, .group = leader), EINVAL, PMUCTL_WHY_SIBLING_FLAG,
		  "attr.exclusive",
		  "only a group's leader can be exclusive, for the whole group: set it there" },
		{ "no descriptor", OPEN(branches_u(), .group = 999), EBADF, PMUCTL_WHY_GROUP_FD,
		  "group_fd",
		  "group_fd 999 is not an event of pmuctl: pass the descriptor of the group's leader, or -1" }
	);
	cr_assert_eq(pipe(pipe_fds), 0);
	cr_assert_eq(event_try(branches_u(), .group = pipe_fds[0]), -EBADF);
}

Test(group_rules, no_group_ignores_the_descriptor)
{
	int fd = event_try(branches_u(), .group = 999, .flags = PERF_FLAG_FD_NO_GROUP);

	cr_assert_geq(fd, 0);
}

static void assert_too_big(struct perf_event_attr attr, int leader, unsigned int already)
{
	struct pmuctl_info info = raw_info();
	char sentence[256];

	snprintf(sentence, sizeof(sentence),
		 "this event and the %u already in its group can never be on the PMU at once (%u general and %u fixed counters, not every event can use each): open it in another group",
		 already, info.nr_counters, info.nr_fixed);
	check_refused(OPEN(attr, .group = leader), EINVAL, PMUCTL_WHY_GROUP_TOO_BIG, "group_fd",
		      "%s", sentence);
}

Test(group_rules, what_can_never_fit_is_refused)
{
	int leader = event_open(branches_u());
	unsigned int i, n = pmu_general();

	/* Branches need general counters. Instructions may have one more. */
	for (i = 1; i < n; i++)
		event_open(branches_u(), .group = leader);
	assert_too_big(branches_u(), leader, n);
	if (pmu_fixed())
		event_open(instructions_u(), .group = leader);
	assert_too_big(instructions_u(), leader, n + !!pmu_fixed());
}

/* ---- Beside each other ---- */

static void check_ran(int fd, uint64_t least)
{
	struct counts c = event_read(fd);

	cr_assert_eq(c.running, c.enabled);
	cr_assert_geq(c.value, least);
}

Test(group_rules, a_pinned_event_has_a_counter_at_once)
{
	unsigned int i, n = pmu_general();
	int fd;

	for (i = 0; i < n; i++)
		event_open(branches_u());
	fd = event_open(pinned(branches_u()));
	user_loop(N);
	check_ran(fd, N * LOOP_BRANCHES);
}

/*
 * There was a counter for the leader, there is none for both: they wait for their turn, which comes
 * after that of those that were there before.
 */
Test(group_rules, a_sibling_that_finds_no_counter)
{
	unsigned int i, n = pmu_general();
	struct counts a, b;
	int leader, sibling;

	if (is_hybrid())
		pin_here(cpu_of_type(CORE_EFFICIENCY)); /* which has the fewest */
	for (i = 1; i < n; i++)
		event_open(branches_u());
	leader = event_open(branches_u());
	sibling = event_open(disabled(branches_u()), .group = leader);
	user_loop(N);
	a = event_read(leader);
	cr_assert_eq(a.running, a.enabled);
	event_ioctl(sibling, PERF_EVENT_IOC_ENABLE);
	do {
		user_loop(N);
		a = event_read(leader);
		b = event_read(sibling);
	} while (!b.value);
	cr_assert_lt(b.running, b.enabled);
	cr_assert_lt(a.running, a.enabled);
}

/* An event on a general counter goes to a fixed one when another one needs its own, and counts on. */
Test(group_rules, one_that_can_be_elsewhere_makes_room)
{
	unsigned int i, n = pmu_general();
	int on_fixed, on_general, last;
	struct counts c[3];

	if (!pmu_fixed())
		return;
	on_fixed = event_open(instructions_u());
	on_general = event_open(instructions_u());
	for (i = 1; i < n; i++)
		event_open(branches_u());
	close(on_fixed);
	last = event_open(branches_u());
	event_read_loops(on_general, c, 3, N);
	cr_assert_eq(c[2].value - c[1].value, c[1].value - c[0].value + N * LOOP_INSTRUCTIONS);
	cr_assert_eq(c[2].running, c[2].enabled);
	check_ran(last, (1 + 2 + 3) * N * LOOP_BRANCHES);
}
