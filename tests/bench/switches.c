// SPDX-License-Identifier: GPL-2.0-only
/*
 * What events cost at context switches: two processes on one CPU pass a byte to and
 * fro, which takes two switches a round trip.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* SCHED_BATCH */
#endif
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "bench.h"

#define BATCH	40

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

/* Woken up tasks are to wait until the other one sleeps. */
static void start_child(void)
{
	struct sched_param none = { .sched_priority = 0 };

	if (sched_setscheduler(0, SCHED_BATCH, &none) || pipe(to_child) ||
	    pipe(from_child))
		bench_fail("preparing two processes", 0);
	child = fork();
	if (child < 0)
		bench_fail("fork", 0);
	if (child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pass(to_child[0], from_child[1]);
}

static void end_child(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static uint64_t value_of(int fd)
{
	uint64_t value;

	if (bench_syscall(SYS_read, fd, (long)&value, sizeof(value), 0, 0) !=
	    sizeof(value))
		bench_fail("reading an event", 0);
	return value;
}

/*
 * Opening and closing events, and loading a module, have an aftermath: while RCU waits
 * for a grace period every context switch costs more.
 */
static int64_t measure_settled(void)
{
	sleep(2);
	return bench_measure(round_trip, BATCH);
}

/* With what is open now, of which @fd must count. */
static int64_t measure_counted(int fd)
{
	uint64_t before = value_of(fd);
	int64_t cost = measure_settled();

	if (value_of(fd) <= before)
		bench_fail("an event does not count", 0);
	return cost;
}

/* @sides tasks with one event each, or on CPU 0 with @pid -1 */
static int64_t with_events(unsigned int sides)
{
	struct perf_event_attr attr = bench_attr(0);
	int fds[2];
	int64_t cost;

	fds[0] = sides ? bench_open(&attr, 0, -1, -1) :
			 bench_open(&attr, -1, 0, -1);
	if (sides == 2)
		fds[1] = bench_open(&attr, child, -1, -1);
	cost = measure_counted(fds[0]);
	bench_close_all(fds, sides == 2 ? 2 : 1);
	return cost;
}

static int64_t with_group(void)
{
	int64_t cost;
	int fds[4];

	bench_open_group(fds, 4, 0, 0);
	bench_enable(fds[0]);
	cost = measure_counted(fds[0]);
	bench_close_all(fds, 4);
	return cost;
}

/* The tracepoint of the switch itself, of one task */
static int64_t with_tracepoint(void)
{
	int fd = bench_open_sched("sched_switch", 0, -1);
	int64_t cost = measure_counted(fd);

	bench_close(fd);
	return cost;
}

/* A software event of one task, for which nothing is to be done at a switch itself */
static int64_t with_clock(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
	};
	int fd = bench_open(&attr, 0, -1, -1);
	int64_t cost = measure_counted(fd);

	bench_close(fd);
	return cost;
}

/* A task that does not run has an event; those that run have none. */
static int64_t beside_event(void)
{
	struct perf_event_attr attr = bench_attr(0);
	int fd = bench_open(&attr, 1, -1, -1);
	int64_t cost = measure_settled();

	bench_close(fd);
	return cost;
}

/* Four events of this task, which the child inherits */
static int64_t between_clones(void)
{
	int64_t cost;
	int fds[4];

	end_child();
	for (unsigned int i = 0; i < 4; i++) {
		struct perf_event_attr attr = bench_attr(i);

		attr.inherit = 1;
		fds[i] = bench_open(&attr, 0, -1, -1);
	}
	start_child();
	cost = measure_counted(fds[0]);
	bench_close_all(fds, 4);
	return cost;
}

void bench_switches(void)
{
	int64_t without;

	start_child();
	measure_settled(); /* warm */
	without = measure_settled();
	bench_row("switch", without);
	if (bench_kind != BENCH_NONE) {
		bench_row("switch_one", with_events(1) - without);
		bench_row("switch_group", with_group() - without);
		bench_row("switch_both", with_events(2) - without);
		bench_row("switch_clock", with_clock() - without);
		bench_row("switch_traced", with_tracepoint() - without);
		bench_row("switch_other", beside_event() - without);
		/* What is switched off with the last event may be so with a delay. */
		bench_row("switch_after", measure_settled() - without);
		bench_row("switch_cpu", with_events(0) - without);
		bench_row("switch_clones", between_clones() - without);
	}
	end_child();
}
