// SPDX-License-Identifier: GPL-2.0-only
/*
 * What mapping an event and unmapping it costs: its control page, rings of some sizes, and a
 * ring whose pages are looked at, which perf maps only then.
 *
 * What is left for later, such as freeing after a grace period, is in it as far as it happens
 * meanwhile.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "bench.h"

#define PAGE	4096UL

#define ROUNDS	21
#define EVENTS	4

static int fds[EVENTS];
static char *maps[EVENTS];
static unsigned long size;

static void map_all(void)
{
	for (unsigned int i = 0; i < EVENTS; i++) {
		maps[i] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fds[i], 0);
		if (maps[i] == MAP_FAILED)
			bench_fail("mapping an event", errno);
	}
}

static void look_at_all(void)
{
	for (unsigned int i = 0; i < EVENTS; i++)
		for (unsigned long at = 0; at < size; at += PAGE)
			(void)*(volatile char *)(maps[i] + at);
}

static void unmap_all(void)
{
	for (unsigned int i = 0; i < EVENTS; i++)
		if (munmap(maps[i], size))
			bench_fail("unmapping an event", errno);
}

/*
 * Each round has new events: whoever maps one of perf's again, soon after its ring is gone, waits
 * for a grace period of RCU.
 */
static void measure(const char *row, unsigned int pages, bool look)
{
	uint64_t taken[ROUNDS];

	size = (1 + pages) * PAGE;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct perf_event_attr attr = bench_attr(0);
		uint64_t start;

		attr.disabled = 1;
		attr.sample_period = 1000000;
		for (unsigned int i = 0; i < EVENTS; i++)
			fds[i] = bench_open(&attr, 0, -1, -1);
		start = bench_now();
		map_all();
		if (look)
			look_at_all();
		unmap_all();
		taken[round] = bench_now() - start;
		bench_close_all(fds, EVENTS);
	}
	bench_row(row, bench_median(taken, ROUNDS) / EVENTS);
}

void bench_maps(void)
{
	measure("map_none", 0, false);
	measure("map_64", 64, false);
	measure("map_64_look", 64, true);
	measure("map_1024", 1024, false);
	measure("map_1024_look", 1024, true);
}
