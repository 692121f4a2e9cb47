// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs to read a counter from user space, with RDPMC and the metadata page.
 */
#include <stdio.h>

#include <sys/mman.h>

#include "bench.h"

static volatile struct perf_event_mmap_page *page;
static uint64_t last;

static uint64_t rdpmc(uint32_t counter)
{
	uint32_t low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (counter));
	return low | (uint64_t)high << 32;
}

/* The protocol of <linux/perf_event.h>, struct perf_event_mmap_page */
static void read_in_user_space(void)
{
	uint32_t lock, index;
	uint64_t count;
	int64_t raw;

	do {
		lock = page->lock;
		asm volatile("" : : : "memory");
		index = page->index;
		count = page->offset;
		if (index) {
			unsigned int shift = 64 - page->pmc_width;

			raw = rdpmc(index - 1);
			raw = (int64_t)((uint64_t)raw << shift) >> shift;
			count += raw;
		}
		asm volatile("" : : : "memory");
	} while (page->lock != lock);
	last = count;
}

void bench_user_read(void)
{
	struct perf_event_attr attr = bench_attr(0);
	int fd = bench_open(&attr, 0, -1, -1);
	uint64_t before;
	void *map;

	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		if (bench_kind == BENCH_PERF)
			bench_fail("mapping an event's page", 0);
		bench_close(fd);
		return; /* the table says that there is no such thing */
	}
	page = map;
	if (!page->cap_user_rdpmc || !page->index)
		bench_fail("the page does not allow reading in user space", 0);
	read_in_user_space();
	before = last;
	bench_row("user_read", bench_measure(read_in_user_space, 100));
	if (last <= before)
		bench_fail("an event does not count", 0);
	munmap(map, 4096);
	bench_close(fd);
}
