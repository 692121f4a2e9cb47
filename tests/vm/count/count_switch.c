// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts through context switches and migrations: nothing is lost, and nothing leaks
 * from one task to another.
 */
#include "busy.h"
#include "pmu.h"

#define N	100000ull

Test(count_switch, a_thousand_migrations_lose_nothing)
{
	unsigned int moves = 0;
	struct busy b;

	do {
		busy_start(&b, 1000 * N, -1);
		b.go = true;
		while (!b.done) {
			pin_task(b.tid, moves & 1);
			moves++;
			usleep(100);
		}
		busy_check(&b);
	} while (moves < 1000);
}

/* It moves itself: every move is inside of what is counted. */
Test(count_switch, a_thousand_own_migrations_count_the_same_each)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t before, first = 0, count;
	unsigned int i;
	int fd = event_open(attr);

	for (i = 0; i < 1000; i++) {
		pin_here(0);
		before = event_value(fd);
		pin_here(1);
		user_loop(N / 100);
		count = event_value(fd) - before;
		if (i < 2)	/* the dynamic linker's turn */
			first = count;
		cr_assert_eq(count, first, "round %u: %lu, not %lu", i, count, first);
	}
	cr_expect_gt(first, N / 100 * LOOP_INSTRUCTIONS);
}

/* Tasks of different lengths share a CPU, and are switched all the time. */
Test(count_switch, four_tasks_on_one_cpu_keep_their_counts_apart)
{
	struct busy b[4];
	unsigned int i;

	for (i = 0; i < 4; i++)
		busy_start(&b[i], (200 + 77 * i) * N, 1);
	for (i = 0; i < 4; i++)
		b[i].go = true;
	for (i = 0; i < 4; i++)
		busy_check(&b[i]);
}

/* One has an event, others have none: what they do never shows. */
Test(count_switch, tasks_without_events_do_not_show)
{
	struct worker others[3];
	uint64_t endless = 1ull << 40;
	struct busy b;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		worker_start(&others[i], false);
		pin_task(others[i].tid, 1);
		cr_assert_eq(write(others[i].orders, &endless, sizeof(endless)),
			     (ssize_t)sizeof(endless));
	}
	busy_start(&b, 200 * N, 1);
	b.go = true;
	busy_check(&b);
	for (i = 0; i < 3; i++) {
		kill(others[i].tid, SIGKILL);
		waitpid(others[i].tid, NULL, 0);
	}
}

/* Ping-pong over pipes: a switch for every few instructions */
Test(count_switch, ten_thousand_switches_are_exact)
{
	struct perf_event_attr attr = instructions_u();
	int to[2], from[2], fd[2], status;
	uint64_t first[2], second[2];
	unsigned int round, i;
	pid_t child;
	char byte = 0;

	pin_here(1);
	cr_assert_eq(pipe(to), 0);
	cr_assert_eq(pipe(from), 0);
	child = fork_child();
	if (!child) {
		while (read(to[0], &byte, 1) == 1 && byte == 'x')
			if (write(from[1], &byte, 1) != 1)
				break;
		_exit(0);
	}
	byte = 'x';
	for (i = 0; i < 2; i++)	/* the dynamic linker's turn */
		cr_assert(write(to[1], &byte, 1) == 1 && read(from[0], &byte, 1) == 1);
	wait_asleep(child);
	fd[0] = event_open(attr);
	fd[1] = event_open(attr, child);
	for (round = 0; round < 3; round++) {
		wait_asleep(child);
		first[0] = event_value(fd[0]);
		first[1] = event_value(fd[1]);
		for (i = 0; i < 2500; i++)
			cr_assert(write(to[1], &byte, 1) == 1 &&
				  read(from[0], &byte, 1) == 1);
		wait_asleep(child);
		/* Each turn of it takes the same number of instructions. */
		second[1] = event_value(fd[1]) - first[1];
		cr_expect_eq(second[1] % 2500, 0, "child: %lu", second[1]);
		second[0] = event_value(fd[0]) - first[0];
		cr_expect_gt(second[0], second[1] / 2);
	}
	byte = 'e';
	cr_assert_eq(write(to[1], &byte, 1), 1);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(status, 0);
}

/* Read from the other CPU all the time while it runs */
Test(count_switch, reading_from_another_cpu_is_monotone_and_changes_nothing)
{
	unsigned long reads = 0;
	struct busy b;

	pin_here(0);
	do {
		struct counts last = { 0 }, c;

		busy_start(&b, 600 * N, 1);
		b.go = true;
		while (!b.done) {
			c = event_read(b.fd);
			cr_assert_geq(c.value, last.value);
			cr_assert_geq(c.enabled, last.enabled);
			cr_assert_eq(c.enabled, c.running);
			cr_assert_leq(c.value, bracket_instructions(b.rounds));
			last = c;
			reads++;
		}
		busy_check(&b);
	} while (reads <= 50);
}

/* Another event of the same task is switched on and off meanwhile. */
Test(count_switch, enabling_a_second_event_does_not_disturb_the_first)
{
	struct perf_event_attr attr = instructions_u();
	unsigned long times = 0;
	struct busy b;
	int fd;

	pin_here(0);
	attr.disabled = 1;
	do {
		busy_start(&b, 500 * N, 1);
		fd = event_open(attr, b.tid);
		b.go = true;
		while (!b.done) {
			event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
			event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
			event_ioctl(fd, PERF_EVENT_IOC_RESET);
			times++;
		}
		busy_check(&b);
		close(fd);
	} while (times <= 20);
}

/*
 * Open three or four on CPU 1, as many as leave a counter to one of instructions, and close
 * them, beginning with one after the other.
 */
static void open_and_close_others(unsigned long first)
{
	static const uint64_t configs[] = {
		PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_INSTRUCTIONS,
	};
	unsigned int i, n = pmu_general() + !!pmu_fixed() > 4 ? 4 : 3;
	struct perf_event_attr attr;
	int fd[4];

	for (i = 0; i < n; i++) {
		attr = user_attr(configs[i]);
		fd[i] = event_open(attr, -1, 1);
	}
	for (i = 0; i < n; i++)
		close(fd[(i + first) % n]);
}

/* Opening and closing others makes the PMU be placed anew under it. */
Test(count_switch, opening_more_events_moves_the_first_without_loss)
{
	unsigned long times = 0;
	struct busy b;

	pin_here(0);
	do {
		busy_start(&b, 500 * N, 1);
		b.go = true;
		while (!b.done)
			open_and_close_others(times++);
		busy_check(&b);
	} while (times <= 3);
}
