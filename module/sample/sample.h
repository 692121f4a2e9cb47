/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples: what an event tells of an overflow.
 */
#ifndef PMUCTL_SAMPLE_H
#define PMUCTL_SAMPLE_H

#include <linux/types.h>

struct pmuctl_event;
struct pt_regs;

/* Most words of PERF_SAMPLE_RAW: the arguments of a tracepoint */
#define PMUCTL_SAMPLE_ARGS_MAX	12

/**
 * struct pmuctl_sample_data - what a sample of a software event tells beside registers
 * @address: PERF_SAMPLE_ADDR.
 * @args: PERF_SAMPLE_RAW: words; or NULL.
 * @nr_args: how many.
 */
struct pmuctl_sample_data {
	u64 address;
	const u64 *args;
	unsigned int nr_args;
};

/* Get the memory that samples need; once is enough. Process. Returns 0 or -ENOMEM. */
int pmuctl_sample_get(void);
void pmuctl_sample_exit(void);

/* Bytes of every sample that has these fields; 0 if they differ. Any context. */
u32 pmuctl_sample_size(u64 sample_type);

/* Write a sample. NMI-safe; preemption off. */
void pmuctl_sample_put(struct pmuctl_event *event, struct pt_regs *regs,
		       u64 period);

#endif /* PMUCTL_SAMPLE_H */
