/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of other modules: what of them the rest of the core sees. What those modules see
 * is in include/linux/pmuctl.h.
 */
#ifndef PMUCTL_KAPI_H
#define PMUCTL_KAPI_H

#include <linux/types.h>

struct pmuctl_counter;
struct pt_regs;

/**
 * pmuctl_counter_overflow() - call the handler of a counter
 * @counter: one whose event has overflowed.
 * @regs: what was interrupted; may be NULL.
 * @period: events since its last overflow.
 *
 * Context: as pmuctl_overflow().
 * Return: false if it is not to go on.
 */
bool pmuctl_counter_overflow(struct pmuctl_counter *counter,
			     struct pt_regs *regs, u64 period);

#endif /* PMUCTL_KAPI_H */
