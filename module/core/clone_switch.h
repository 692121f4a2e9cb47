/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Switches between tasks whose contexts are equivalent: clone_switch.c says what these are. What
 * each of them does is here, to be part of the switch itself.
 */
#ifndef PMUCTL_CLONE_SWITCH_H
#define PMUCTL_CLONE_SWITCH_H

#include <linux/atomic.h>

#include "core/cpu_state.h"

/* How many inherit groups are locked: pmuctl_inherit_lock() */
extern atomic_t pmuctl_inherit_locked;

/* Walk the events of two equivalent contexts, pair by pair. */
#define for_each_clone_pair(a, b, from, to)				\
	for ((a) = (from)->clone_first, (b) = (to)->clone_first; (a);	\
	     (a) = (a)->clone_next, (b) = (b)->clone_next)

static __always_inline void pmuctl_clone_swap(struct pmuctl_context *from,
					      struct pmuctl_context *to)
{
	struct pmuctl_event *a, *b;

	for_each_clone_pair(a, b, from, to)
		swap(a->state, b->state);
}

/* From here on @to, which is locked, is loaded, and @from is not. */
static __always_inline void pmuctl_clone_load(struct pmuctl_cpuctx *pc,
					      struct pmuctl_context *from,
					      struct pmuctl_context *to)
{
	pc->task_context = to;
	WRITE_ONCE(to->loaded_cpu, pc->context.cpu);
	/* Pairs with that of call_elsewhere() in context_call.c: we have not locked it. */
	smp_store_release(&from->loaded_cpu, -1);
}

/**
 * pmuctl_clone_switch() - let the counters of one task go on for another
 * @pc: this CPU, where the context of the task that goes is loaded, which may have a clone_id.
 * @to: the next task's.
 *
 * Context: sched_switch: IRQs off.
 * Return: true if @to is loaded now; false: nothing was done.
 */
static __always_inline bool pmuctl_clone_switch(struct pmuctl_cpuctx *pc,
						struct pmuctl_context *to)
{
	struct pmuctl_context *from = pc->task_context;
	bool done;

	if (pc->rotate_necessary || !raw_spin_trylock(&to->lock))
		return false;
	done = from->clone_id == to->clone_id && !atomic_read(&pmuctl_inherit_locked);
	if (likely(done)) {
		pmuctl_clone_swap(from, to);
		pmuctl_clone_load(pc, from, to);
	}
	raw_spin_unlock(&to->lock);
	return done;
}

/* The same for contexts that have not been compared yet, and for switches that are to be split. */
bool pmuctl_clone_switch_slow(struct pmuctl_cpuctx *pc, struct pmuctl_context *from,
			      struct pmuctl_context *to);

#endif /* PMUCTL_CLONE_SWITCH_H */
