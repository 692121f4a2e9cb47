/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose turn it is when there are more flexible groups than counters. On the CPU of @pc, which is
 * locked by pmuctl_cpu_lock() unless said otherwise; @now is sched_clock().
 *
 * A turn lasts as long as the parameter rotation_us says. A CPU's context and that of the task have
 * turns of their own, in time in which groups have to wait and, for a task's, it runs: the rest of
 * a turn comes when that is so again. So slices which are shorter than a turn, or as long, add up
 * to whole ones. In one of a task's turns its own groups choose first, in the next one the CPU's.
 */
#ifndef PMUCTL_ROTATION_H
#define PMUCTL_ROTATION_H

#include "core/cpu_state.h"

/* Children may end before their first turn does: every other one begins with its own. */
static inline void pmuctl_rotation_fork(struct pmuctl_context *parent, struct pmuctl_context *child)
{
	child->goes_first = parent->child_goes_first;
	parent->child_goes_first = !child->goes_first;
}

/* The time until groups are to rotate, at least what a timer is worth */
ktime_t pmuctl_rotation_left(const struct pmuctl_cpuctx *pc, u64 now);

/* Is the turn of one of them over? A timer that was set for others comes early. */
bool pmuctl_rotation_is_due(const struct pmuctl_cpuctx *pc, u64 now);

/* Where a turn is over those that are on go to the end of the list. Takes nothing off. */
void pmuctl_rotate(struct pmuctl_cpuctx *pc, u64 now);

/* A context in which groups have had to wait, and of which alone the lock is held, is unloaded. */
void pmuctl_rotation_pause(struct pmuctl_cpuctx *pc, struct pmuctl_context *ctx, u64 now);

/**
 * pmuctl_rotation_note() - groups have been chosen
 * @pc: this CPU. Where its rotate_necessary is set turns go on from now on.
 * @before: they did before.
 * @loaded: but not that of the task, whose context has just been loaded.
 * @now: time.
 */
void pmuctl_rotation_note(struct pmuctl_cpuctx *pc, bool before, bool loaded, u64 now);

#endif /* PMUCTL_ROTATION_H */
