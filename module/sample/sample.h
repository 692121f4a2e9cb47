/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples: what an event tells of an overflow.
 */
#ifndef PMUCTL_SAMPLE_H
#define PMUCTL_SAMPLE_H

#include <linux/types.h>

struct pmuctl_event;
struct pt_regs;

/* Get the memory that samples need; once is enough. Process. Returns 0 or -ENOMEM. */
int pmuctl_sample_get(void);
void pmuctl_sample_exit(void);

/* Bytes of every sample that has these fields; 0 if they differ. Any context. */
u32 pmuctl_sample_size(u64 sample_type);

/* Write a sample. NMI-safe; preemption off. */
void pmuctl_sample_put(struct pmuctl_event *event, struct pt_regs *regs,
		       u64 period);

#endif /* PMUCTL_SAMPLE_H */
