// SPDX-License-Identifier: GPL-2.0-only
/*
 * What software events and tracepoints cost: page faults that are counted or sampled, each
 * with nothing else going on.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "bench.h"

#define PAGE	4096ul
/* Of memory, given back and touched again in each batch */
#define FAULTS	64
/* Of the ring: its reader always has read everything */
#define RING	64

static volatile uint8_t *memory;

static void fault_all(void)
{
	for (unsigned int i = 0; i < FAULTS; i++)
		memory[i * PAGE] = 1;
}

/* One page fault, the median of batches; giving the memory back is not measured. */
static int64_t measure_faults(struct perf_event_mmap_page *ring)
{
	uint64_t cost[101];
	const unsigned int n = sizeof(cost) / sizeof(*cost);

	for (unsigned int i = 0; i < n; i++) {
		if (madvise((void *)memory, FAULTS * PAGE, MADV_DONTNEED))
			bench_fail("giving memory back", 0);
		if (ring)
			__atomic_store_n(&ring->data_tail, ring->data_head,
					 __ATOMIC_RELEASE);
		cost[i] = bench_now();
		fault_all();
		cost[i] = bench_now() - cost[i];
	}
	return bench_median(cost, n) / FAULTS;
}

static struct perf_event_attr fault_attr(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
	};

	return attr;
}

static int64_t counted_faults(void)
{
	struct perf_event_attr attr = fault_attr();
	int fd = bench_open(&attr, 0, -1, -1);
	int64_t cost = measure_faults(NULL);

	bench_close(fd);
	return cost;
}

static int64_t sampled_faults(void)
{
	struct perf_event_attr attr = fault_attr();
	struct perf_event_mmap_page *ring;
	int64_t cost;
	int fd;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_ADDR;
	fd = bench_open(&attr, 0, -1, -1);
	ring = mmap(NULL, (1 + RING) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		bench_fail("mapping a ring", 0);
	cost = measure_faults(ring);
	if (!ring->data_head)
		bench_fail("nothing was sampled", 0);
	munmap(ring, (1 + RING) * PAGE);
	bench_close(fd);
	return cost;
}

void bench_soft(void)
{
	int64_t without;

	memory = mmap(NULL, FAULTS * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise((void *)memory, FAULTS * PAGE, MADV_NOHUGEPAGE))
		bench_fail("getting memory", 0);
	measure_faults(NULL); /* warm */
	without = measure_faults(NULL);
	bench_row("fault", without);
	bench_row("fault_counted", counted_faults() - without);
	bench_row("fault_sampled", sampled_faults() - without);
}
