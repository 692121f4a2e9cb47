// SPDX-License-Identifier: GPL-2.0-only
/*
 * The states of an event: disabled, enabled, reset, waiting for an exec; and the two
 * times that go with its value.
 */
#include "loops.h"

#define N	100000ull

Test(count_state, disabled_counts_nothing)
{
	struct perf_event_attr attr = instructions_u();
	struct counts c;
	int fd;

	attr.disabled = 1;
	fd = event_open(attr);
	user_loop(N);
	c = event_read(fd);
	cr_expect_eq(c.value, 0);
	cr_expect_eq(c.enabled, 0);
	cr_expect_eq(c.running, 0);

	bracket(fd, N);
	user_loop(N);
	c = event_read(fd);
	cr_expect_eq(c.value, bracket_instructions(N));
	user_loop(N);
	cr_expect_eq(event_read(fd).value, c.value);
	cr_expect_eq(event_read(fd).enabled, c.enabled);
}

Test(count_state, enabled_and_disabled_many_times_loses_nothing)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t expected = 0, n;
	int fd;

	attr.disabled = 1;
	fd = event_open(attr);
	for (n = 1; n <= 500; n++) {
		bracket(fd, n);
		expected += bracket_instructions(n);
	}
	cr_expect_eq(event_value(fd), expected);
}

Test(count_state, enabling_twice_is_enabling_once)
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	uint64_t value;
	int fd;

	worker_start(&w, true);
	fd = event_open(attr, w.tid);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	cr_expect_eq(worker_count_loop(&w, fd, N), 2 * N);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	value = event_value(fd);
	worker_run(&w, N);
	cr_expect_eq(event_value(fd), value);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	cr_expect_eq(worker_count_loop(&w, fd, N), 2 * N);
	worker_end(&w);
}

Test(count_state, reset_takes_the_value_but_not_the_times)
{
	struct perf_event_attr attr = instructions_u();
	struct counts before, after;
	int fd;

	attr.disabled = 1;
	fd = event_open(attr);
	bracket(fd, N);
	before = event_read(fd);
	event_ioctl(fd, PERF_EVENT_IOC_RESET);
	after = event_read(fd);
	cr_expect_eq(after.value, 0);
	cr_expect_eq(after.enabled, before.enabled);
	cr_expect_eq(after.running, before.running);
	bracket(fd, 2 * N);
	cr_expect_eq(event_value(fd), bracket_instructions(2 * N));
}

Test(count_state, reset_of_a_running_task_starts_from_zero)
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	uint64_t one;
	int fd;

	worker_start(&w, false);
	fd = event_open(attr, w.tid);
	worker_run(&w, N);
	event_ioctl(fd, PERF_EVENT_IOC_RESET);
	cr_expect_eq(event_value(fd), 0);
	worker_run(&w, N);
	one = event_value(fd);
	event_ioctl(fd, PERF_EVENT_IOC_RESET);
	worker_run(&w, N);
	cr_expect_eq(event_value(fd), one, "the same work counts the same");
	worker_end(&w);
}

/* ---- enable_on_exec ---- */

#define EXEC_PROGRAM	"/pmuctl/tests/prog/count-exec"

/* A child that executes the program when a byte comes, with an event on it */
static uint64_t count_exec(bool enable_on_exec, unsigned int args, bool *enabled)
{
	char *argv[] = { "x", "x", "x", "x", NULL };
	struct perf_event_attr attr = instructions_u();
	int ends[2], status, fd;
	uint64_t value;
	char byte = 0;
	pid_t child;

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	child = fork_child();
	if (!child) {
		if (read(ends[0], &byte, 1) == 1)
			execv(EXEC_PROGRAM, argv + 4 - args);
		_exit(1);
	}
	attr.disabled = 1;
	attr.enable_on_exec = enable_on_exec;
	fd = event_open(attr, child);
	cr_expect_eq(event_value(fd), 0);
	cr_assert_eq(write(ends[1], &byte, 1), 1);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0, "%s ended with status %#x", EXEC_PROGRAM, status);
	*enabled = event_read(fd).enabled > 0;
	value = event_value(fd);
	close(fd);
	close(ends[0]);
	close(ends[1]);
	return value;
}

/* What the program executes is said at its loop: from its first instruction to exit. */
Test(count_state, enable_on_exec_counts_the_new_image_and_nothing_else)
{
	bool enabled;

	cr_expect_eq(count_exec(true, 1, &enabled), 1 * 2000 + 4);
	cr_expect(enabled);
	cr_expect_eq(count_exec(true, 2, &enabled), 2 * 2000 + 4);
	cr_expect_eq(count_exec(true, 4, &enabled), 4 * 2000 + 4);
}

Test(count_state, disabled_without_enable_on_exec_stays_disabled_through_exec)
{
	bool enabled;

	cr_expect_eq(count_exec(false, 1, &enabled), 0);
	cr_expect(!enabled);
}

/* Only the first exec enables: an event that is disabled after it stays so. */
Test(count_state, enable_on_exec_works_once)
{
	struct perf_event_attr attr = instructions_u();
	int to[2], status, fd;
	uint64_t value;
	pid_t child;

	cr_assert_eq(pipe(to), 0);
	child = fork_child();
	if (!child) {
		dup2(to[0], 0);
		execl("/bin/sh", "sh", "-c",
		      "read x; exec sh -c 'read y; exec " EXEC_PROGRAM "'", NULL);
		_exit(1);
	}
	wait_asleep(child);
	attr.disabled = 1;
	attr.enable_on_exec = 1;
	fd = event_open(attr, child);
	cr_assert_eq(write(to[1], "\n", 1), 1);
	while (!event_value(fd))
		usleep(1000);
	wait_asleep(child);
	cr_expect_gt(event_value(fd), 1000);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	value = event_value(fd);
	cr_assert_eq(write(to[1], "\n", 1), 1);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(status, 0);
	cr_expect_eq(event_value(fd), value);
}

/* ---- The two times ---- */

/* What the event and the kernel's own clock say of the same work with a sleep in it */
struct work_time {
	uint64_t enabled;	/* ns, by the event */
	uint64_t inner;		/* ns of CPU time from after its first reading to before its last */
	uint64_t outer;		/* the same with both readings */
};

static struct work_time time_some_work(int fd)
{
	struct work_time t;
	struct counts a, b;
	uint64_t before;

	before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	a = event_read(fd);
	t.inner = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	user_loop(200 * N);
	sleep_ms(300);
	user_loop(200 * N);
	t.inner = clock_ns(CLOCK_THREAD_CPUTIME_ID) - t.inner;
	b = event_read(fd);
	t.outer = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
	t.enabled = b.enabled - a.enabled;
	cr_assert_eq(b.enabled, b.running);
	return t;
}

/*
 * What the event sees less, or more, than the scheduler's clock is the scheduler's own
 * path on each side of our hook: under 20 ms, or 10 %. The host may stop the CPU right
 * there, but not every time.
 */
Test(count_state, times_of_a_task_are_its_time_on_the_cpu)
{
	struct perf_event_attr attr = instructions_u();
	int fd = event_open(attr);
	struct work_time t = { 0 };
	bool good = false;
	unsigned int i;

	for (i = 0; i < 10 && !good; i++) {
		t = time_some_work(fd);
		good = t.enabled + 20000000 > t.inner * 9 / 10 &&
			t.enabled < t.outer * 11 / 10 + 20000000 &&
			t.enabled < t.outer + 250000000; /* without the sleep */
	}
	cr_expect(good, "%lu ns, CPU time %lu to %lu ns", t.enabled, t.inner, t.outer);
}

Test(count_state, times_of_a_cpu_are_the_wall_clocks)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t inner, outer, start_outer, start_inner;
	struct counts a, b;
	int fd = event_open(attr, -1, 1);

	start_outer = clock_ns(CLOCK_MONOTONIC);
	a = event_read(fd);
	start_inner = clock_ns(CLOCK_MONOTONIC);
	sleep_ms(200);
	inner = clock_ns(CLOCK_MONOTONIC) - start_inner;
	b = event_read(fd);
	outer = clock_ns(CLOCK_MONOTONIC) - start_outer;
	cr_expect_eq(b.enabled, b.running);
	/* The monotonic clock may be slewed; sched_clock is not. 1 % and 1 ms. */
	cr_expect_gt(b.enabled - a.enabled, inner * 99 / 100 - 1000000);
	cr_expect_lt(b.enabled - a.enabled, outer * 101 / 100 + 1000000);
}

Test(count_state, times_never_go_back)
{
	struct perf_event_attr attr = instructions_u();
	struct counts last = { 0 }, c;
	unsigned int i;
	int fd = event_open(attr);

	for (i = 0; i < 2000; i++) {
		if (i % 100 == 0)
			pin_here(i / 100 % 2);
		c = event_read(fd);
		cr_assert_eq(c.enabled, c.running);
		cr_assert_gt(c.enabled, last.enabled);
		cr_assert_gt(c.value, last.value);
		last = c;
	}
}

/* As perf's: the time that a task is elsewhere is time in which it is enabled and does not run. */
Test(count_state, event_for_one_cpu_is_enabled_elsewhere_and_does_not_run)
{
	struct perf_event_attr attr = instructions_u(), clock = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK,
		.size = sizeof(clock),
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	struct counts before, after, theirs;
	int fd, perf;

	pin_here(0);
	fd = event_open(attr, 0, 1);
	perf = syscall(SYS_perf_event_open, &clock, 0, 1, -1, 0);
	user_loop(N);
	before = event_read(fd);
	cr_assert_eq(read(perf, &theirs, sizeof(theirs)), sizeof(theirs));
	cr_expect_eq(before.value, 0);
	cr_expect_eq(before.running, 0);
	cr_expect_gt(before.enabled, 0);
	cr_expect_eq(theirs.running, 0);
	cr_expect_gt(theirs.enabled, 0);
	pin_here(1);
	user_loop(N);
	pin_here(0);
	before = event_read(fd);
	cr_expect_gt(before.value, 2 * N);
	cr_expect_lt(before.value, 2 * N + 5000);
	cr_expect_gt(before.running, 0);
	cr_expect_gt(before.enabled, before.running);
	user_loop(N);
	after = event_read(fd);
	cr_expect_eq(after.value, before.value);
	cr_expect_eq(after.running, before.running);
	cr_expect_gt(after.enabled, before.enabled);
}
