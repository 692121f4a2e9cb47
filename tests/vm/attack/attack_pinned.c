// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pinned events of a CPU come before those of a task, whichever was there first: an ordinary user
 * whose own pinned events have the counters puts none of root's in error, which would stay so
 * after he has gone.
 *
 * One task is both, so that the user's events are on the PMU whenever root does something.
 */
#include "cgroups.h"
#include "groups.h"
#include "perm.h"
#include "pmu.h"

#define N	100000ull
#define CPU	1

static void become(uid_t uid)
{
	cr_assert_eq(setresuid(-1, uid, -1), 0, "%m");
}

/* Of what runs on the CPU */
static int root_open(struct perf_event_attr attr, int leader)
{
	return event_open(attr, -1, CPU, .group = leader);
}

/* The user's, of his own task */
static int user_open(struct perf_event_attr attr)
{
	int fd;

	become(RAW_USER);
	fd = event_open(pinned(attr));
	become(0);
	return fd;
}

static bool is_in_error(int fd)
{
	struct counts c;

	return read(fd, &c, sizeof(c)) == 0;
}

/* Does it count all that this task executes? */
static void check_counts(int fd, uint64_t a_round)
{
	struct counts before, after;

	cr_assert_not(is_in_error(fd));
	before = event_read(fd);
	user_loop(N);
	after = event_read(fd);
	cr_assert_geq(after.value - before.value, N * a_round);
	cr_assert_eq(after.running - before.running, after.enabled - before.enabled);
}

static int user_opens_exclusive(void)
{
	struct perf_event_attr attr = instructions_u();
	int fd;

	attr.exclusive = 1;
	fd = user_open(attr);
	check_counts(fd, LOOP_INSTRUCTIONS);
	return fd;
}

/* An ordinary user's level; and he may have counters, as somebody who may take the PMU has it. */
static void claim_and_go(void)
{
	perm_default_level();
	event_open(instructions_u(), -1, 0);
	pin_here(CPU);
}

Test(attack_pinned, one_that_is_opened_later)
{
	int users, roots;

	claim_and_go();
	users = user_opens_exclusive();
	roots = root_open(pinned(instructions_u()), -1);
	check_counts(roots, LOOP_INSTRUCTIONS);
	cr_expect(is_in_error(users), "the user's");
	close(users);
	check_counts(roots, LOOP_INSTRUCTIONS);
}

/* As many of the user's are in error as there are counters too few. */
Test(attack_pinned, one_that_is_enabled_later)
{
	int roots, users[PMU_MAX], n = pmu_general();

	claim_and_go();
	roots = root_open(pinned(disabled(branches_u())), -1);
	for (int i = 0; i < n; i++)
		users[i] = user_open(branches_u());
	event_ioctl(roots, PERF_EVENT_IOC_ENABLE);
	check_counts(roots, LOOP_BRANCHES);
	for (int i = 0; i < n - 1; i++)
		check_counts(users[i], LOOP_BRANCHES);
	cr_expect(is_in_error(users[n - 1]), "the user's last");
}

Test(attack_pinned, one_of_a_cgroup_that_the_user_comes_to, .init = cgroups_begin, .fini = cgroups_end)
{
	int roots, users;

	cgroup_add("a");
	claim_and_go();
	roots = event_open(pinned(instructions_u()), cgroup_fd("a"), CPU, .flags = PERF_FLAG_PID_CGROUP);
	users = user_opens_exclusive();
	cgroup_put("a", getpid());
	check_counts(roots, LOOP_INSTRUCTIONS);
	cr_expect(is_in_error(users), "the user's");
	cgroup_put("", getpid());
}

/* One that finds no room even so is in error, and who made room for it counts on. */
Test(attack_pinned, one_for_which_there_is_no_room)
{
	int roots[PMU_MAX], users, leader, n = pmu_general();
	struct counts before, after;

	claim_and_go();
	for (int i = 0; i < n - 1; i++)
		roots[i] = root_open(pinned(branches_u()), -1);
	users = user_open(branches_u());
	leader = root_open(pinned(disabled(branches_u())), -1);
	root_open(branches_u(), leader);
	before = event_read(users);
	event_ioctl(leader, PERF_EVENT_IOC_ENABLE);
	cr_expect(is_in_error(leader));
	user_loop(N);
	after = event_read(users);
	cr_expect_geq(after.value - before.value, N * LOOP_BRANCHES);
	cr_expect_eq(after.running - before.running, after.enabled - before.enabled);
	for (int i = 0; i < n - 1; i++)
		check_counts(roots[i], LOOP_BRANCHES);
}
