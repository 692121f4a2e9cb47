/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PERF_SAMPLE_BRANCH_STACK: the branches that led to a sample, from the processor's last branch
 * records (pmu/lbr.h).
 */
#ifndef PMUCTL_BRANCHES_H
#define PMUCTL_BRANCHES_H

#include <linux/types.h>

#include "pmu/lbr_config.h"

struct pmuctl_event;

/* Their number, where the newest one was, three words of each */
#define PMUCTL_BRANCHES_WORDS	(2 + 3 * LBR_DEPTH)

/**
 * pmuctl_branches_put() - write the field of a sample
 * @out: room for PMUCTL_BRANCHES_WORDS.
 * @event: whose sample it is, which has that field.
 *
 * Context: NMI of an overflow of @event, which a counter counts.
 * Return: behind the last word.
 */
u64 *pmuctl_branches_put(u64 *out, const struct pmuctl_event *event);

#endif /* PMUCTL_BRANCHES_H */
