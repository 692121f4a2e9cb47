/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of sampling: are the samples of an event that counts only blocks where
 * they must be?
 */
#ifndef VM_POSITIONS_H
#define VM_POSITIONS_H

#include "pmu.h"
#include "records.h"

/* Events of instructions and branches that are on the PMU at once, if it has the counters */
#define AT_ONCE		5

unsigned int events_at_once(void);

/**
 * struct positions - checks the samples of an event that counts blocks only
 * @attr: the event's.
 * @rounds: of each block.
 * @n: samples so far.
 * @cpu: of the last one.
 * @moves: how often a sample was on another CPU than the one before.
 */
struct positions {
	struct perf_event_attr attr;
	uint64_t rounds;
	uint64_t n;
	uint32_t cpu;
	uint64_t moves;
};

/* Perf has two ways of its own. If one event of a period is left when the counter is set up,
 * as after a context switch, the sample comes an event late. And what overflows with a system call is sampled in the kernel, though only user mode
 * is counted: that tells everybody the kernel's addresses.
 */
void check_place(struct positions *p, const struct sample *s, uint64_t at);

void check_samples(struct positions *p, struct ring *r);

/* After @blocks blocks: no sample is missing, and the event has counted all. */
void check_end(const struct positions *p, int fd, uint64_t blocks);

#endif /* VM_POSITIONS_H */
