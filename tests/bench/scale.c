// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the cost of operations grows with the number of events, of tasks that have one, of
 * children that inherit one, and of terms in a filter: "make scale". Prints a line
 * "CURVE N INSTRUCTIONS" for each point when all is measured.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* SCHED_BATCH */
#endif
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "bench.h"

#define MOST		2048
#define POINTS_MAX	256

static struct {
	const char *curve;
	unsigned int n;
	int64_t instructions;
} points[POINTS_MAX];
static unsigned int nr_points;

static int fds[MOST];
static pid_t pids[MOST];

static void point(const char *curve, unsigned int n, int64_t instructions)
{
	if (nr_points == POINTS_MAX)
		bench_fail("more points than there is room for", 0);
	points[nr_points].curve = curve;
	points[nr_points].n = n;
	points[nr_points++].instructions = instructions;
}

/* ---- What is measured ---- */

static int to_child[2], from_child[2];
static pid_t child;

static void pass(int from, int to)
{
	char byte = 0;

	if (from >= 0 && bench_syscall(SYS_read, from, (long)&byte, 1, 0, 0) != 1)
		_exit(0);
	if (to >= 0 && bench_syscall(SYS_write, to, (long)&byte, 1, 0, 0) != 1)
		_exit(0);
}

static void round_trip(void)
{
	pass(-1, to_child[1]);
	pass(from_child[0], -1);
}

static void start_partner(void)
{
	struct sched_param none = { .sched_priority = 0 };

	if (sched_setscheduler(0, SCHED_BATCH, &none) || pipe(to_child) || pipe(from_child))
		bench_fail("preparing two processes", errno);
	child = fork();
	if (child < 0)
		bench_fail("fork", errno);
	if (child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pass(to_child[0], from_child[1]);
}

static void fork_and_wait(void)
{
	long pid = bench_syscall(SYS_fork, 0, 0, 0, 0, 0);

	if (!pid)
		bench_syscall(SYS_exit_group, 0, 0, 0, 0, 0);
	if (pid < 0 || bench_syscall(SYS_wait4, pid, 0, 0, 0, 0) != pid)
		bench_fail("a child", pid);
}

static struct perf_event_attr attr;

static void open_close(void)
{
	bench_close(bench_open(&attr, 0, -1, -1));
}

static void read_first(void)
{
	uint64_t value;

	if (bench_syscall(SYS_read, fds[0], (long)&value, sizeof(value), 0, 0) != sizeof(value))
		bench_fail("reading an event", 0);
}

static void enable_disable(void)
{
	bench_enable(fds[0]);
	bench_disable(fds[0]);
}

/* When what opening and closing leaves to be done is done */
static int64_t settled(void (*operation)(void), unsigned int batch)
{
	sleep(2);
	bench_measure(operation, batch);
	return bench_measure(operation, batch);
}

/* ---- Events of one task ---- */

/* Software events: each is switched, none waits for a counter. */
static void events_of_a_task(unsigned int n, int64_t switches, int64_t forks)
{
	attr = (struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK };
	for (unsigned int i = 0; i < n; i++)
		fds[i] = bench_open(&attr, 0, -1, -1);
	point("task_switch", n, settled(round_trip, 10) - switches);
	point("task_read", n, bench_measure(read_first, 20));
	point("task_open", n, bench_measure(open_close, 4));
	bench_close_all(fds, n);

	attr.inherit = 1;
	for (unsigned int i = 0; i < n; i++)
		fds[i] = bench_open(&attr, 0, -1, -1);
	point("task_fork", n, settled(fork_and_wait, 1) - forks);
	bench_close_all(fds, n);
}

/* Hardware events that take turns on the counters */
static void events_that_take_turns(unsigned int n, int64_t switches)
{
	attr = bench_general_attr();
	for (unsigned int i = 0; i < n; i++)
		fds[i] = bench_open(&attr, 0, -1, -1);
	point("turns_switch", n, settled(round_trip, 10) - switches);
	bench_close_all(fds, n);
}

/* ---- Many tasks ---- */

static void start_sleepers(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			bench_fail("fork", errno);
		if (pids[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	sleep(1);
}

static void end_sleepers(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	for (unsigned int i = 0; i < n; i++)
		waitpid(pids[i], NULL, 0);
}

static void tasks_with_an_event(unsigned int n, int64_t switches)
{
	attr = bench_attr(0);
	start_sleepers(n);
	for (unsigned int i = 0; i < n; i++)
		fds[i] = bench_open(&attr, pids[i], -1, -1);
	point("tasks_switch", n, settled(round_trip, 10) - switches);
	point("tasks_open", n, bench_measure(open_close, 4));
	bench_close_all(fds, n);
	end_sleepers(n);
}

static void children_of_an_event(unsigned int n)
{
	attr = bench_attr(0);
	attr.inherit = 1;
	fds[0] = bench_open(&attr, 0, -1, -1);
	start_sleepers(n);
	point("children_read", n, settled(read_first, 1));
	point("children_enable", n, bench_measure(enable_disable, 1));
	end_sleepers(n);
	bench_close(fds[0]);
}

/* ---- Tracepoints ---- */

static void events_of_a_tracepoint(unsigned int n, int64_t switches)
{
	for (unsigned int i = 0; i < n; i++)
		fds[i] = bench_open_sched("sched_switch", 0, -1);
	point("tracepoint_switch", n, settled(round_trip, 10) - switches);
	bench_close_all(fds, n);
}

static void terms_of_a_filter(unsigned int n, int64_t switches)
{
	char text[256] = "";

	for (unsigned int i = 0; i < n; i++)
		strcat(text, i ? "||prev_pid==9" : "prev_pid==9"); /* not one of the two */
	fds[0] = bench_open_sched("sched_switch", 0, -1);
	if (ioctl(fds[0], PERF_EVENT_IOC_SET_FILTER, text))
		bench_fail(text, errno);
	point("filter_switch", n, settled(round_trip, 10) - switches);
	bench_close(fds[0]);
}

/* ---- All of them ---- */

void bench_scale(void)
{
	struct rlimit many = { 65536, 65536 };
	int64_t switches, forks;

	if (setrlimit(RLIMIT_NOFILE, &many))
		bench_fail("raising the limit of descriptors", errno);
	start_partner();
	switches = settled(round_trip, 10);
	forks = settled(fork_and_wait, 1);
	for (unsigned int n = 1; n <= 512; n *= 2)
		events_of_a_task(n, switches, forks);
	for (unsigned int n = 1; n <= 256; n *= 2)
		events_that_take_turns(n, switches);
	for (unsigned int n = 1; n <= 1024; n *= 4)
		tasks_with_an_event(n, switches);
	for (unsigned int n = 1; n <= 1024; n *= 4)
		children_of_an_event(n);
	for (unsigned int n = 1; n <= 256; n *= 2)
		events_of_a_tracepoint(n, switches);
	for (unsigned int n = 1; n <= 16; n *= 2)
		terms_of_a_filter(n, switches);
	kill(child, SIGKILL);
	for (unsigned int i = 0; i < nr_points; i++)
		printf("%s %u %lld\n", points[i].curve, points[i].n,
		       (long long)points[i].instructions);
}
