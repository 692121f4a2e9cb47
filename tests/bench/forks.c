// SPDX-License-Identifier: GPL-2.0-only
/*
 * What events that are inherited cost when a process begins and ends: the child does nothing.
 * And many at a time, for those who look at what they wait for: tests/bench/contention.
 */
#include <unistd.h>

#include <sys/syscall.h>

#include "bench.h"

#define BATCH	4
#define ROUNDS	5

#define MANY		64
#define MANY_EACH	50

static void fork_and_wait(void)
{
	long pid = bench_syscall(SYS_fork, 0, 0, 0, 0, 0);

	if (!pid)
		bench_syscall(SYS_exit_group, 0, 0, 0, 0, 0);
	if (pid < 0 || bench_syscall(SYS_wait4, pid, 0, 0, 0, 0) != pid)
		bench_fail("a child", pid);
}

static int64_t with_events(unsigned int n)
{
	int fds[BENCH_EVENTS];
	int64_t cost;

	for (unsigned int i = 0; i < n; i++) {
		struct perf_event_attr attr = bench_attr(i);

		attr.inherit = 1;
		fds[i] = bench_open(&attr, 0, -1, -1);
	}
	sleep(2); /* what opening and closing leaves to be done is done */
	bench_measure(fork_and_wait, BATCH); /* warm */
	cost = bench_measure(fork_and_wait, BATCH);
	bench_close_all(fds, n);
	return cost;
}

/*
 * A fork and an end cost some hundred instructions more or less, as the kernel finds memory
 * at hand or not, and that stays so for a while: as much as an event costs. So a measurement
 * without events comes before each one with events, and after it.
 */
static int64_t in_addition(unsigned int n)
{
	int64_t before = with_events(0), after;
	uint64_t costs[ROUNDS];

	for (unsigned int i = 0; i < ROUNDS; i++) {
		costs[i] = with_events(n);
		after = with_events(0);
		costs[i] -= (before + after) / 2;
		before = after;
	}
	return bench_median(costs, ROUNDS);
}

void bench_forks(void)
{
	bench_row("fork", with_events(0));
	if (bench_kind != BENCH_NONE) {
		bench_row("fork_one", in_addition(1));
		bench_row("fork_four", in_addition(4));
	}
}

/* One event, inherited by many that begin at once and make others, one after the other. */
void bench_fork_many(void)
{
	struct perf_event_attr attr = bench_attr(0);
	int fd = -1;

	if (bench_kind != BENCH_NONE) {
		attr.inherit = 1;
		fd = bench_open(&attr, 0, -1, -1);
	}
	for (unsigned int i = 0; i < MANY; i++) {
		long pid = bench_syscall(SYS_fork, 0, 0, 0, 0, 0);

		if (pid < 0)
			bench_fail("a child", pid);
		if (pid)
			continue;
		for (unsigned int k = 0; k < MANY_EACH; k++)
			fork_and_wait();
		bench_syscall(SYS_exit_group, 0, 0, 0, 0, 0);
	}
	for (unsigned int i = 0; i < MANY; i++)
		if (bench_syscall(SYS_wait4, -1, 0, 0, 0, 0) < 0)
			bench_fail("waiting for a child", 0);
	bench_row("forks", MANY * (MANY_EACH + 1));
	if (fd >= 0)
		bench_close_all(&fd, 1);
}
