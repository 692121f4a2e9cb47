// SPDX-License-Identifier: GPL-2.0-only
/*
 * More events than counters: shares, scaled values, pinned and exclusive groups, and the
 * parameters that reserve counters or forbid that events take turns.
 *
 * Branches need a general counter, wherever there are fixed ones.
 */
#include "groups.h"
#include "pmu.h"
#include "refusal.h"

#define PARAMETERS	"/sys/module/pmuctl/parameters/"
#define LONG_TURN_US	50000	/* no rotation during a few rounds */
#define ROUND		2000000ull	/* of user_loop(): some ms */

/* Run until the clock of the event says so: @ms of its enabled time. */
static struct counts run_until(int fd, unsigned int ms, uint64_t *rounds)
{
	struct counts c;

	do {
		user_loop(ROUND);
		*rounds += ROUND;
		c = event_read(fd);
	} while (c.enabled < ms * 1000000ull);
	return c;
}

static double share(struct counts c)
{
	return (double)c.running / c.enabled;
}

/* With @k equal groups that need all general counters of @size each */
static void check_shares(unsigned int k, unsigned int size)
{
	double smallest = 1, largest = 0, s;
	int leaders[PMU_MAX] = { -1 }, fds[PMU_MAX];
	unsigned int i, j, n = 0;
	uint64_t rounds = 0;

	raw_write_number(PARAMETERS "rotation_us", 1000);
	for (i = 0; i < k; i++) {
		leaders[i] = fds[n++] = event_open(branches_u());
		for (j = 1; j < size; j++)
			fds[n++] = event_open(branches_u(), .group = leaders[i]);
	}
	/* At least 100 rotations. */
	run_until(leaders[0], 400, &rounds);
	for (i = 0; i < k; i++) {
		s = share(event_read(leaders[i]));
		smallest = s < smallest ? s : smallest;
		largest = s > largest ? s : largest;
	}
	cr_assert_gt(smallest, 0);
	cr_assert_lt(largest / smallest, 1.05, "%u groups of %u: %.3f to %.3f", k,
		     size, smallest, largest);
	cr_assert_lt(largest, 1.0);
	while (n--)
		close(fds[n]);
}

Test(group_turns, equal_groups_get_equal_shares)
{
	unsigned int n = pmu_general();

	check_shares(n + 1, 1);
	check_shares(3 * n, 1);
	check_shares(3, n - 1);
	check_shares(2, n);
	check_shares(5, n / 2);
}

/* On the CPU of who starts it, to be ended by raw_reap() */
static pid_t start_busy_task(void)
{
	pid_t pid = fork_child();

	if (!pid)
		for (;;)
			user_loop(ROUND);
	return pid;
}

/*
 * Another task takes every other slice of the scheduler, and the slices are about as long
 * as a turn: whether the timer comes in ours must not matter.
 */
Test(group_turns, tasks_that_share_a_cpu_take_turns_too)
{
	int leaders[3], i, j, n = pmu_general();
	struct counts c;
	uint64_t rounds = 0;
	pid_t other;

	raw_write_number(PARAMETERS "rotation_us", 4000);
	pin_here(0);
	other = start_busy_task();
	for (i = 0; i < 3; i++) {
		leaders[i] = event_open(branches_u());
		for (j = 1; j < n - 1; j++)
			event_open(branches_u(), .group = leaders[i]);
	}
	c = run_until(leaders[0], 1000, &rounds);
	for (i = 0; i < 3; i++) {
		c = event_read(leaders[i]);
		cr_expect(share(c) > 0.30 && share(c) < 0.37, "group %d: %.3f", i,
			  share(c));
	}
	raw_reap(other);
}

/*
 * The same against groups of the CPU that could take all counters for themselves: each has half of
 * our time, and the CPU's all of the other task's, which has as much.
 */
Test(group_turns, a_cpus_groups_do_not_starve_those_of_a_task)
{
	int of_cpu, of_task, i, n = pmu_general();
	struct counts c, d;
	uint64_t rounds = 0;
	pid_t other;

	raw_write_number(PARAMETERS "rotation_us", 4000);
	pin_here(0);
	other = start_busy_task();
	of_cpu = event_try(branches_u(), -1, 0);
	of_task = event_open(branches_u());
	for (i = 1; i < n; i++) {
		cr_assert_geq(event_try(branches_u(), -1, 0, .group = of_cpu), 0);
		event_open(branches_u(), .group = of_task);
	}
	run_until(of_task, 1000, &rounds);
	c = event_read(of_task);
	d = event_read(of_cpu);
	cr_expect(share(c) > 0.48 && share(c) < 0.52, "the task's: %.3f", share(c));
	cr_expect(share(d) > 0.7 && share(d) < 0.8, "the CPU's: %.3f", share(d));
	raw_reap(other);
}

/* Full groups: one at a time */
static void open_full_groups(int *leaders, unsigned int k, pid_t pid, int cpu)
{
	for (unsigned int i = 0; i < k; i++) {
		leaders[i] = event_try(branches_u(), pid, cpu);
		cr_assert_geq(leaders[i], 0, "%s", event_why.sentence);
		for (unsigned int j = 1; j < pmu_general(); j++)
			cr_assert_geq(event_try(branches_u(), pid, cpu, .group = leaders[i]), 0);
	}
}

/* Some tens of turns each, of which the first and the last are parts */
static void check_equal(const int *leaders, unsigned int k, double expected, const char *whose)
{
	for (unsigned int i = 0; i < k; i++) {
		double s = share(event_read(leaders[i]));

		cr_expect(s > 0.9 * expected && s < 1.1 * expected, "group %u of %s: %.3f", i,
			  whose, s);
	}
}

/*
 * Each task's slices are as long as a turn, about, and while they last there is time for one
 * rotation, always after the same part of the slice.
 */
Test(group_turns, groups_of_tasks_that_share_a_cpu_are_equal)
{
	enum { TASKS = 4, GROUPS = 3 };
	int of_cpu[2], leaders[TASKS][GROUPS];
	pid_t tasks[TASKS];

	raw_write_number(PARAMETERS "rotation_us", 4000);
	pin_here(0);
	for (int t = 0; t < TASKS; t++) {
		tasks[t] = start_busy_task();
		open_full_groups(leaders[t], GROUPS, tasks[t], -1);
	}
	open_full_groups(of_cpu, 2, -1, 0);
	do {
		usleep(10000);
	} while (event_read(leaders[TASKS - 1][0]).enabled < 600000000);
	for (int t = 0; t < TASKS; t++) {
		kill(tasks[t], SIGSTOP);
		check_equal(leaders[t], GROUPS, 0.5 / GROUPS, "a task");
	}
	check_equal(of_cpu, 2, 0.5 / 2, "the CPU");
	for (int t = 0; t < TASKS; t++)
		raw_reap(tasks[t]);
}

/* What is counted in short regions of a program has its share, too, though each ends before a turn. */
Test(group_turns, a_group_that_is_on_for_short_whiles_gets_its_share)
{
	int of_cpu, fd;
	struct counts c;

	raw_write_number(PARAMETERS "rotation_us", 4000);
	pin_here(0);
	open_full_groups(&of_cpu, 1, -1, 0);
	fd = event_open(disabled(branches_u()));
	for (unsigned int j = 1; j < pmu_general(); j++)
		event_open(branches_u(), .group = fd);
	for (int i = 0; i < 1500; i++) {
		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		user_loop(ROUND / 10);
		event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
		user_loop(ROUND / 100);
	}
	c = event_read(fd);
	cr_expect(share(c) > 0.45 && share(c) < 0.55, "%.3f of %lu ns", share(c), c.enabled);
}

/* Each child is gone before its first turn is over. */
Test(group_turns, children_that_live_shortly_get_their_share)
{
	struct perf_event_attr attr = disabled(branches_u());
	int of_cpu, fd;
	struct counts c;

	raw_write_number(PARAMETERS "rotation_us", 4000);
	pin_here(0);
	open_full_groups(&of_cpu, 1, -1, 0);
	attr.inherit = 1;
	fd = event_open(attr);
	for (unsigned int j = 1; j < pmu_general(); j++)
		event_open(attr, .group = fd);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	for (int i = 0; i < 100; i++) {
		pid_t pid = fork_child();

		if (!pid) {
			user_loop(ROUND / 2);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	c = event_read(fd);
	cr_expect(share(c) > 0.4 && share(c) < 0.6, "%.3f of %lu ns", share(c), c.enabled);
}

static void wait_for(uint64_t ns)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns;

	while (clock_ns(CLOCK_MONOTONIC) < end)
		user_loop(1000);
}

/* Tasks with events of their own, which find counters, come and go more often than turns end. */
Test(group_turns, groups_of_a_cpu_whose_tasks_come_and_go_are_equal)
{
	const unsigned int n = pmu_general();
	int leaders[PMU_MAX], pipes[2][2];
	char token = 0;
	pid_t pid;

	raw_write_number(PARAMETERS "rotation_us", 4000);
	pin_here(0);
	cr_assert_eq(pipe(pipes[0]) | pipe(pipes[1]), 0);
	pid = fork_child();
	event_open(pinned(branches_u()));
	if (!pid) {
		while (read(pipes[0][0], &token, 1) == 1) {
			wait_for(1000000);
			if (write(pipes[1][1], &token, 1) != 1)
				break;
		}
		_exit(0);
	}
	for (unsigned int i = 0; i < n; i++) {
		leaders[i] = event_try(branches_u(), -1, 0);
		cr_assert_geq(leaders[i], 0);
	}
	while (event_read(leaders[0]).enabled < 1000000000) {
		cr_assert_eq(write(pipes[0][1], &token, 1), 1);
		cr_assert_eq(read(pipes[1][0], &token, 1), 1);
		wait_for(1000000);
	}
	check_equal(leaders, n, (double)(n - 1) / n, "the CPU");
	raw_reap(pid);
}

Test(group_turns, nobody_waits_while_counters_are_enough)
{
	uint64_t configs[PMU_MAX];
	int fds[PMU_MAX], i, n = pmu_fill(configs);
	struct counts c;

	for (i = 0; i < n; i++)
		fds[i] = event_open(user_attr(configs[i]));
	user_loop(ROUND);
	for (i = 0; i < n; i++) {
		c = event_read(fds[i]);
		cr_assert_eq(c.enabled, c.running, "event %d", i);
		cr_assert_gt(c.value, 0);
	}
}

/* A steady load: three events for each counter, scaled estimates within 2 % */
Test(group_turns, scaled_values_are_right)
{
	uint64_t rounds = 0;
	struct counts c;
	double scaled;
	int fds[PMU_MAX] = { -1 }, i, n = 3 * pmu_general();

	raw_write_number(PARAMETERS "rotation_us", 1000);
	for (i = 0; i < n; i++)
		fds[i] = event_open(disabled(branches_u()));
	for (i = 0; i < n; i++)
		event_ioctl(fds[i], PERF_EVENT_IOC_ENABLE);
	run_until(fds[0], 1200, &rounds);
	for (i = 0; i < n; i++) {
		c = event_read(fds[i]);
		scaled = (double)c.value * c.enabled / c.running;
		cr_expect(scaled > rounds * 0.98 && scaled < rounds * 1.02,
			  "event %d: %.0f of %lu", i, scaled, rounds);
	}
}

Test(group_turns, a_pinned_count_is_exact_among_twenty_others)
{
	int fds[20], exact, i;
	struct counts c;

	raw_write_number(PARAMETERS "rotation_us", 500);
	exact = event_open(pinned(disabled(branches_u())));
	for (i = 0; i < 20; i++)
		fds[i] = event_open(i & 1 ? branches_u() : instructions_u());
	bracket(exact, 20 * ROUND);
	c = event_read(exact);
	cr_assert_eq(c.value, 20 * ROUND * LOOP_BRANCHES + 1);
	cr_assert_eq(c.enabled, c.running);
	for (i = 0; i < 20; i++)
		cr_assert_gt(event_read(fds[i]).running, 0, "event %d", i);
}

Test(group_turns, a_pinned_event_takes_a_counter_from_flexible_ones)
{
	int flexible[PMU_MAX], fd, i, waiting = 0, n = pmu_general();
	struct counts before[PMU_MAX], after;

	raw_write_number(PARAMETERS "rotation_us", LONG_TURN_US);
	for (i = 0; i < n; i++)
		flexible[i] = event_open(branches_u());
	fd = event_open(pinned(branches_u()));
	for (i = 0; i < n; i++)
		before[i] = event_read(flexible[i]);
	user_loop(ROUND);
	after = event_read(fd);
	cr_assert_eq(after.enabled, after.running);
	for (i = 0; i < n; i++)
		waiting += event_read(flexible[i]).running == before[i].running;
	cr_assert_eq(waiting, 1);
}

Test(group_turns, a_pinned_event_without_a_counter_is_in_error)
{
	struct counts c;
	int fds[PMU_MAX], i, n = pmu_general();

	for (i = 0; i <= n; i++)
		fds[i] = event_open(pinned(branches_u()));
	user_loop(ROUND);
	for (i = 0; i < n; i++)
		cr_assert_eq(read(fds[i], &c, sizeof(c)), (ssize_t)sizeof(c));
	cr_assert_eq(read(fds[n], &c, sizeof(c)), 0, "the end of the file tells it");

	/* Enabling it again clears the state, and finds no counter again... */
	event_ioctl(fds[n], PERF_EVENT_IOC_ENABLE);
	cr_assert_eq(read(fds[n], &c, sizeof(c)), 0);
	/* ...until there is one. */
	close(fds[0]);
	cr_assert_eq(read(fds[n], &c, sizeof(c)), 0);
	event_ioctl(fds[n], PERF_EVENT_IOC_ENABLE);
	user_loop(ROUND);
	c = event_read(fds[n]);
	cr_assert_geq(c.value, ROUND);
}

Test(group_turns, an_exclusive_group_is_alone)
{
	struct perf_event_attr attr = branches_u();
	uint64_t rounds = 0;
	struct counts alone, other;
	int fd, companion;

	raw_write_number(PARAMETERS "rotation_us", 1000);
	companion = event_open(instructions_u());
	attr.exclusive = 1;
	fd = event_open(attr);
	run_until(companion, 300, &rounds);
	alone = event_read(fd);
	other = event_read(companion);
	cr_assert_gt(alone.running, 0);
	cr_assert_gt(other.running, 0);
	/* Never both: what one ran the other waited, but for the reads in between. */
	cr_assert_leq(alone.running + other.running, other.enabled * 1.01);
}

Test(group_turns, overcommit_0_refuses_what_would_have_to_wait)
{
	struct pmuctl_info info = raw_info();
	int fds[PMU_MAX], i, on_cpu, n = info.nr_counters;
	char sentence[256];

	cr_assert_eq(raw_write_file(PARAMETERS "overcommit", "0"), 0);
	for (i = 0; i < n; i++)
		fds[i] = event_open(branches_u());
	snprintf(sentence, sizeof(sentence),
		 "no counter is left: %d events of a task and 0 of CPU 0 are open, on %d general and %u fixed counters that not every event can use: close some, or allow overcommit",
		 n, n, info.nr_fixed);
	check_refused(OPEN(branches_u()), EBUSY, PMUCTL_WHY_COUNTERS_TAKEN, "attr.config", "%s",
		      sentence);
	/* A CPU's events meet those of every task. */
	cr_assert_eq(event_try(branches_u(), -1, 0), -EBUSY);
	close(fds[0]);
	on_cpu = event_try(branches_u(), -1, 0);
	cr_assert_geq(on_cpu, 0);
	cr_assert_eq(event_try(branches_u()), -EBUSY);
	cr_assert_eq(raw_write_file(PARAMETERS "overcommit", "1"), 0);
	cr_assert_geq(event_try(branches_u()), 0);
}

Test(group_turns, reserved_counters_are_for_cpus)
{
	struct counts task[2], on_cpu[PMU_MAX];
	int task_fds[2], cpu_fds[PMU_MAX], i, n = pmu_general();
	uint64_t rounds = 0;
	char sentence[256];

	cr_assert_eq(raw_write_number(PARAMETERS "reserve_percpu", n + 1), -ERANGE);
	cr_assert_eq(raw_write_number(PARAMETERS "reserve_percpu", n - 1), 0);
	raw_write_number(PARAMETERS "rotation_us", 1000);
	pin_here(0);
	for (i = 0; i < 2; i++)
		task_fds[i] = event_open(branches_u());
	for (i = 0; i < n - 1; i++) {
		cpu_fds[i] = event_try(branches_u(), -1, 0);
		cr_assert_geq(cpu_fds[i], 0);
	}
	run_until(task_fds[0], 200, &rounds);
	for (i = 0; i < 2; i++)
		task[i] = event_read(task_fds[i]);
	for (i = 0; i < n - 1; i++)
		on_cpu[i] = event_read(cpu_fds[i]);
	/* The two of the task share the one counter that is left. */
	cr_expect(share(task[0]) + share(task[1]) < 1.02);
	cr_expect(share(task[0]) > 0.4 && share(task[1]) > 0.4, "%f %f",
		  share(task[0]), share(task[1]));
	/* The CPU's may use that one too, and are never without a counter. */
	for (i = 0; i < n - 1; i++)
		cr_expect_eq(on_cpu[i].enabled, on_cpu[i].running);

	cr_assert_eq(raw_write_number(PARAMETERS "reserve_percpu", n), 0);
	snprintf(sentence, sizeof(sentence),
		 "all counters that this event could use are kept for events of CPUs: lower the module's parameter reserve_percpu, now %d, or count a CPU",
		 n);
	check_refused(OPEN(branches_u()), EBUSY, PMUCTL_WHY_COUNTERS_RESERVED, "attr.config",
		      "%s", sentence);
	cr_assert_eq(raw_write_number(PARAMETERS "reserve_percpu", 0), 0);
}

static void restore_parameters(void)
{
	raw_write_number(PARAMETERS "rotation_us", 4000);
	raw_write_number(PARAMETERS "reserve_percpu", 0);
	raw_write_file(PARAMETERS "overcommit", "1");
	/* A turn that has begun goes on to its end. */
	usleep(LONG_TURN_US);
}

TestSuite(group_turns, .fini = restore_parameters);
