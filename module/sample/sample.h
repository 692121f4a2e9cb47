/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples: what an event tells of an overflow.
 */
#ifndef PMUCTL_SAMPLE_H
#define PMUCTL_SAMPLE_H

#include <linux/percpu.h>
#include <linux/types.h>

struct pmuctl_event;
struct pt_regs;

/**
 * struct pmuctl_sample_data - what a sample of a software event tells beside registers
 * @address: PERF_SAMPLE_ADDR.
 * @raw: PERF_SAMPLE_RAW: what is told; or NULL.
 * @raw_size: its bytes, 4 more than a multiple of 8, and less than 16 KiB.
 * @weight: of a hit that counts for more than one, as the kernel's own events have it: for what. A
 *	fixed period does not matter to who wants to know that (PERF_SAMPLE_PERIOD). 0: of others.
 * @raw_missing: there should be something: a sample that has that field is lost.
 */
struct pmuctl_sample_data {
	u64 address;
	const void *raw;
	u64 weight;
	u32 raw_size;
	bool raw_missing;
};

/* Get the memory that samples need; once is enough. Process. Returns 0 or -ENOMEM. */
int pmuctl_sample_get(void);
void pmuctl_sample_exit(void);

/* Bytes of every sample that has these fields; 0 if they differ. Any context. */
u32 pmuctl_sample_size(u64 sample_type);

/*
 * Any number of software events may tell of one hit, with interrupts off, each with a piece of the
 * user's stack and its frames: what they tell of these altogether is limited, in bytes; a frame
 * takes about as long as PMUCTL_FRAME_BYTES. Later ones tell of less, or of none.
 */
#define PMUCTL_STACKS_MAX	(256U << 10)
#define PMUCTL_FRAME_BYTES	64U

/*
 * Likewise, of how many members of groups they tell. As that cannot be less of one sample, later
 * ones are lost. The same goes for the records of the children that end with a task.
 */
#define PMUCTL_MEMBERS_MAX	1024
#define PMUCTL_MEMBERS_AT_END	2048

/* What is left of both */
DECLARE_PER_CPU(u32, pmuctl_stacks_left);
DECLARE_PER_CPU(s32, pmuctl_members_left);

/* What is told of from here on is another hit. Preemption off. */
static inline void pmuctl_sample_begin_hit(void)
{
	this_cpu_write(pmuctl_stacks_left, PMUCTL_STACKS_MAX);
	this_cpu_write(pmuctl_members_left, PMUCTL_MEMBERS_MAX);
}

/* Write a sample. NMI-safe; preemption off. */
void pmuctl_sample_put(struct pmuctl_event *event, struct pt_regs *regs,
		       u64 period);

#endif /* PMUCTL_SAMPLE_H */
