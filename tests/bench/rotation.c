// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs when events take turns: a loop of known length runs with as many
 * events as there are counters, then with more; what it takes longer is the rotations'.
 */
#include <sys/syscall.h>

#include "bench.h"

#define COUNTERS	4	/* general-purpose ones of the laboratory's CPU */
#define ROTATION	4000000	/* instructions from one to the next: 4 ms */
#define WINDOW		5	/* rotations that are measured together */
#define WINDOWS		21

static int fds[BENCH_EVENTS];

struct reading {
	uint64_t value, enabled, running;
};

static struct reading reading(int fd)
{
	struct reading r;

	if (bench_syscall(SYS_read, fd, (long)&r, sizeof(r), 0, 0) != sizeof(r))
		bench_fail("reading an event", 0);
	return r;
}

static void spin(uint64_t n)
{
	asm volatile("1:\n\tdec %0\n\tjnz 1b" : "+r" (n) : : "cc");
}

/* All must have counted, and those of more than fit must have taken turns. */
static void check_turns(unsigned int events)
{
	for (unsigned int i = 0; i < events; i++) {
		struct reading r = reading(fds[i]);

		if (!r.value)
			bench_fail("an event does not count", 0);
		if ((r.running < r.enabled) != (events > COUNTERS))
			bench_fail("events do not take turns as they should", 0);
	}
}

/* Instructions in a window that were not the loop's: interrupts of all kinds */
static uint64_t lost_in_window(void)
{
	const uint64_t n = 5000;
	uint64_t start = bench_now(), now, loops = 0;

	do {
		spin(n);
		loops++;
		now = bench_now();
	} while (now - start < WINDOW * ROTATION);
	return now - start - loops * 2 * n;
}

static int64_t lost_with(unsigned int events)
{
	struct perf_event_attr attr = bench_general_attr();
	uint64_t lost[WINDOWS];

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	for (unsigned int i = 0; i < events; i++)
		fds[i] = bench_open(&attr, 0, -1, -1);
	for (unsigned int i = 0; i < WINDOWS; i++)
		lost[i] = lost_in_window();
	check_turns(events);
	bench_close_all(fds, events);
	return bench_median(lost, WINDOWS);
}

void bench_rotation(void)
{
	int64_t few = lost_with(COUNTERS);
	int64_t many = lost_with(BENCH_EVENTS);

	bench_row("rotation", (many - few + WINDOW / 2) / WINDOW);
}
