/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of the benchmark share: system calls without a C library's part in
 * their cost, the clock, medians, and events of either kind. Everything is measured in
 * ticks of the TSC, which in the laboratory's --icount mode are instructions.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/pmuctl.h>

/* Events of the largest row, which must not fit the PMU at once */
#define BENCH_EVENTS	8

static inline uint64_t bench_now(void)
{
	uint32_t low, high;

	asm volatile("rdtsc" : "=a" (low), "=d" (high) : : "memory");
	return low | (uint64_t)high << 32;
}

static inline long bench_syscall(long number, long a, long b, long c, long d,
				 long e)
{
	register long r10 asm("r10") = d;
	register long r8 asm("r8") = e;
	long ret;

	asm volatile("syscall"
		     : "=a" (ret)
		     : "a" (number), "D" (a), "S" (b), "d" (c), "r" (r10),
		       "r" (r8)
		     : "rcx", "r11", "memory");
	return ret;
}

/* Whose events are measured */
enum bench_kind {
	BENCH_NONE,	/* nobody's: only rows without events */
	BENCH_PERF,
	BENCH_PMUCTL,
};

extern enum bench_kind bench_kind;

/* End the program with a message of what could not be done. */
void bench_fail(const char *what, long error) __attribute__((noreturn));

/* Print one row of the result: its name in tests/bench/rows, instructions. */
void bench_row(const char *name, int64_t instructions);

/**
 * bench_measure() - what one execution of an operation costs
 * @operation: is executed many times.
 * @batch: how many times between two looks at the clock.
 *
 * Return: instructions, the median of the batches. What the timer interrupt does is
 * left out by that, if a batch is far shorter than the time between two of them.
 */
int64_t bench_measure(void (*operation)(void), unsigned int batch);

/* The middle one of @values, which are put in order. */
uint64_t bench_median(uint64_t *values, unsigned int n);

/* events.c */

/* Prepare for opening events of bench_kind. */
void bench_events_init(void);

/* The n-th of some common events, of user space and kernel. */
struct perf_event_attr bench_attr(unsigned int n);

/* An event that fits only general-purpose counters */
struct perf_event_attr bench_general_attr(void);

/* Each ends the program if it fails. @pid, @cpu, @group_fd as perf_event_open(2) */
int bench_open(const struct perf_event_attr *attr, int pid, int cpu, int group_fd);
/* The same of a tracepoint that is called "sched:@name" */
int bench_open_sched(const char *name, int pid, int cpu);
/* The same of any, ours only */
int bench_open_tracepoint(const char *name, const struct perf_event_attr *attr, int pid,
			  int cpu, int group_fd);
/* The descriptor of our device */
int bench_device(void);
void bench_close(int fd);
void bench_enable(int fd);
void bench_disable(int fd);

/* @n events in one group, of which only the leader is disabled */
void bench_open_group(int *fds, unsigned int n, int pid, uint64_t read_format);
void bench_close_all(const int *fds, unsigned int n);

/* The rows */
void bench_calls(void);		/* calls.c: open, close, enable, disable, read */
void bench_caught(void);	/* calls.c: open, close of a program that may be by "pmuctl run" */
void bench_maps(void);		/* maps.c: control page and rings */
void bench_user_read(void);	/* user_read.c: rdpmc */
void bench_switches(void);	/* switches.c: context switches */
void bench_forks(void);		/* forks.c: processes with events that are inherited */
void bench_fork_many(void);	/* forks.c: many at a time, with one event */
void bench_rotation(void);	/* rotation.c: more events than counters */
void bench_samples(void);	/* sample.c: what a sample costs */
void bench_soft(void);		/* soft.c: events without hardware */
void bench_trace(void);		/* trace.c: pauses of a trace, on a CPU that can */
void bench_scale(void);		/* scale.c: what grows with what */

#endif /* BENCH_H */
