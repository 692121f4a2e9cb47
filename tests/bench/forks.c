// SPDX-License-Identifier: GPL-2.0-only
/*
 * What events that are inherited cost when a process begins and ends: the child does nothing.
 */
#include <sys/syscall.h>

#include "bench.h"

#define BATCH	4

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
	bench_measure(fork_and_wait, BATCH); /* warm */
	cost = bench_measure(fork_and_wait, BATCH);
	bench_close_all(fds, n);
	return cost;
}

void bench_forks(void)
{
	int64_t without = with_events(0);

	bench_row("fork", without);
	if (bench_kind != BENCH_NONE) {
		bench_row("fork_one", with_events(1) - without);
		bench_row("fork_four", with_events(4) - without);
	}
}
