// SPDX-License-Identifier: GPL-2.0-only
/*
 * The register of offcore responses that the threads of a core share: two events with different
 * values are never on at once, neither counts wrong, and each counts when the other one does not.
 * The guest is a Nehalem, which has one such register, with two cores of two threads. What the
 * emulated event counts is told in count_extra.c.
 */
#include "loops.h"
#include "module.h"

#define N	100000ull

#define OFFCORE_0	0x01b7
#define INSTRUCTIONS	0x0101		/* by bit 0, with a response */
#define BRANCHES	0x0102

static struct perf_event_attr extra_attr(uint64_t value)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_RAW, OFFCORE_0);

	attr.config1 = value;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	return attr;
}

/* One that wants the register on CPU 1 until it is told to end, by a byte */
static pid_t hold(uint64_t value, int *tell)
{
	int ready[2], end[2];
	pid_t child;
	char byte;

	cr_assert_eq(pipe(ready), 0);
	cr_assert_eq(pipe(end), 0);
	child = fork_child();
	if (!child) {
		int fd;

		pin_here(1);
		fd = event_open(extra_attr(value));
		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		cr_assert_eq(fcntl(end[0], F_SETFL, O_NONBLOCK), 0);
		cr_assert_eq(write(ready[1], "", 1), 1);
		/* It stays on the CPU, and so its event on the PMU. */
		while (read(end[0], &byte, 1) != 1)
			user_loop(1000);
		_exit(0);
	}
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	*tell = end[1];
	return child;
}

static void release(pid_t child, int end)
{
	int status;

	cr_assert_eq(write(end, "", 1), 1);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
}

Test(count_extra_core, the_threads_are_of_one_core)
{
	cr_assert_eq(raw_read_number("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"), 1);
	cr_assert_eq(raw_cpu_model(), 0x1a);
}

/* The other thread's value goes first; as soon as it is gone, ours counts. */
Test(count_extra_core, another_value_waits_for_the_other_thread, .timeout = 120)
{
	struct counts c;
	pid_t other;
	int fd, end;

	pin_here(0);
	fd = event_open(extra_attr(INSTRUCTIONS));
	cr_assert_eq(count_bracket(fd, N), bracket_instructions(N));

	other = hold(BRANCHES, &end);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	c = event_read(fd);
	user_loop(10 * N);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	/* The other one may be off for a moment: then this one has counted something, and right. */
	if (event_read(fd).running == c.running)
		cr_assert_eq(event_value(fd), c.value);
	else
		cr_assert_leq(event_value(fd) - c.value, LOOP_INSTRUCTIONS * 10 * N + 1000);
	release(other, end);

	cr_assert_eq(count_bracket(fd, N), bracket_instructions(N));
}

Test(count_extra_core, the_same_value_is_shared, .timeout = 120)
{
	pid_t other;
	int fd, end;

	pin_here(0);
	fd = event_open(extra_attr(INSTRUCTIONS));
	other = hold(INSTRUCTIONS, &end);
	cr_assert_eq(count_bracket(fd, N), bracket_instructions(N));
	release(other, end);
}

/* Both threads change between work and sleep: whatever of it is counted, it is right. */
static void count_pieces(int cpu, uint64_t value, uint64_t per_round)
{
	unsigned int right = 0;
	uint64_t whole = 0;
	int fd;

	pin_here(cpu);
	fd = event_open(extra_attr(value));
	while (right < 20) {
		struct counts before, after;
		uint64_t count;

		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		before = event_read(fd);
		user_loop(N / 10);
		after = event_read(fd);
		event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
		count = after.value - before.value;
		if (after.running == before.running)
			cr_assert_eq(count, 0, "%lu", count);
		if (after.running == before.running ||
		    after.running - before.running != after.enabled - before.enabled)
			continue;
		if (!whole)
			whole = count;
		cr_assert_eq(count, whole, "%lu in place of %lu", count, whole);
		cr_assert_geq(count, per_round * N / 10);
		cr_assert_lt(count, per_round * N / 10 + 2000);
		right++;
		usleep(1000);
	}
}

Test(count_extra_core, two_threads_take_turns, .timeout = 600)
{
	pid_t child = fork_child();
	int status;

	if (!child) {
		count_pieces(1, BRANCHES, LOOP_BRANCHES);
		_exit(0);
	}
	count_pieces(0, INSTRUCTIONS, LOOP_INSTRUCTIONS);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
}

static pid_t hold_on(int cpu, uint64_t value, uint64_t *running)
{
	pid_t child = fork_child();

	if (!child) {
		struct counts c;
		int fd;

		pin_here(cpu);
		fd = event_open(extra_attr(value));
		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		for (;;) {
			user_loop(1000);
			c = event_read(fd);
			__atomic_store_n(running, c.running, __ATOMIC_RELAXED);
		}
	}
	return child;
}

/* Two threads of a core that were never there together when the PMU was taken */
Test(count_extra_core, threads_that_came_apart_share, .timeout = 600)
{
	uint64_t *running = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t ran[2], began;
	pid_t pids[2];

	cr_assert_neq(running, MAP_FAILED);
	set_online(3, false);
	module_reload(); /* whose CPUs have never met */
	event_open(extra_attr(INSTRUCTIONS), -1, 0);
	set_online(2, false);
	set_online(3, true);
	set_online(2, true);
	pids[0] = hold_on(2, INSTRUCTIONS, &running[0]);
	pids[1] = hold_on(3, BRANCHES, &running[1]);
	sleep(1);
	began = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < 2; i++)
		ran[i] = __atomic_load_n(&running[i], __ATOMIC_RELAXED);
	sleep(2);
	for (int i = 0; i < 2; i++) {
		ran[i] = __atomic_load_n(&running[i], __ATOMIC_RELAXED) - ran[i];
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	began = clock_ns(CLOCK_MONOTONIC) - began;
	/* Each all the time, or one after the other */
	cr_expect_leq(ran[0] + ran[1], began + began / 2, "%lu and %lu of %lu ns", ran[0], ran[1], began);
}
