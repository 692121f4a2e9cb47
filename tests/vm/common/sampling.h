/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of sampling: events that sample, their rings, records taken apart, and
 * code of which each instruction's address is known. What the tests demand is what the
 * kernel's own perf does: they run on it instead of on us, as the witness, if the
 * environment says SAMPLING_OF=perf. All that fails here fails the test that called.
 */
#ifndef VM_SAMPLING_H
#define VM_SAMPLING_H

#include "groups.h"
#include "raw.h"

#include <poll.h>
#include <sys/mman.h>

#define PAGE		4096ull
#define RECORD_MAX	65536

/* Newer than the header of the oldest system that builds this */
#define READ_LOST	(1ull << 4)	/* PERF_FORMAT_LOST */
#define RECORD_LOST_SAMPLES 13

/* Is this the long version of a test? */
bool is_stress(void);

/*
 * A period for instructions of the kernel: no shorter than what a sample itself takes, or
 * nothing else would get on.
 */
uint64_t kernel_period(uint64_t period);

/* ---- Limits ---- */

/* Samples a second, above which events are throttled; of the module or of perf */
void set_max_rate(long rate);

#define TIME_SHARE	"/sys/module/pmuctl/parameters/cpu_time_max_percent"

#define RATE_USUAL	100000
#define RATE_ENDLESS	1000000000

/* Tests count what they sample: nothing may be left out because the host is slow. */
void sampling_init(void);

void sampling_fini(void);

/* ---- Events ---- */

#define SAMPLE_USUAL	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |	\
			 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ)

/* User instructions, every @period-th sampled, disabled; a read gives the value only. */
struct perf_event_attr sampling_attr(uint64_t period);

/* Of an event with read_format 0 */
uint64_t sampling_value(int fd);

/* ---- Rings ---- */

/**
 * struct ring - a mapped ring
 * @page: its metadata page.
 * @data: the records.
 * @size: of the data, in bytes.
 * @tail: how far it has been read.
 * @length: of the whole mapping, in bytes.
 */
struct ring {
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t size;
	uint64_t tail;
	size_t length;
};

/* Map a ring of @pages pages of data: 0, or -errno. */
int ring_try_map(struct ring *r, int fd, size_t pages, int prot);

void ring_map(struct ring *r, int fd, size_t pages);
void ring_unmap(struct ring *r);

/* Pairs with the kernel's barrier between the data and the head. */
uint64_t ring_head(const struct ring *r);

/* Bytes from a place that may lie before the end of the data and go on at its begin */
void ring_copy(const struct ring *r, void *to, uint64_t from, size_t n);

/* The next record, a copy that is good until the next call; NULL if there is none. The
 * room of the one before is the writers' again.
 */
struct perf_event_header *ring_next(struct ring *r);

/* The same, but only of what was there before @end: who reads while others write would
 * else perhaps never come to an end.
 */
struct perf_event_header *ring_next_before(struct ring *r, uint64_t end);

/* Read what is there and forget it; returns how many records of @type there were. */
uint64_t ring_drain(struct ring *r, uint32_t type);

/* ---- Code whose instructions are known ---- */

/*
 * sampled_block(fd, rounds): ENABLE, @rounds times ten instructions, DISABLE. In user
 * mode the event sees what is between the two system calls: the rounds, two moves
 * and the second call. An instruction is taken by its number, from 0 on.
 */
#define BLOCK_ROUND		10
#define BLOCK_END		3
#define BLOCK_LENGTH(rounds)	(BLOCK_ROUND * (uint64_t)(rounds) + BLOCK_END)

extern long sampled_block(long fd, uint64_t rounds);
extern const uint8_t sampled_first[];

static inline void block_run(int fd, uint64_t rounds)
{
	cr_assert_eq(sampled_block(fd, rounds), 0);
}

/* Where a task is that has executed @n > 0 instructions of blocks */
uint64_t block_ip(uint64_t n, uint64_t rounds);

/* Of all CPUs: struct pmuctl_output_stats, and rotations */
struct totals {
	uint64_t samples, throttles, lost, rotations;
};

/* What debugfs shows of them */
struct totals totals(void);

#endif /* VM_SAMPLING_H */
