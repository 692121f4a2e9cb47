/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Switches between kin: clone_switch.c says what these are. What each of them does is here, to be
 * part of the switch itself.
 */
#ifndef PMUCTL_INHERIT_SWITCH_H
#define PMUCTL_INHERIT_SWITCH_H

#include <linux/atomic.h>

#include "core/cpu_state.h"
#include "inherit/inherit.h"

/* Walk the events of two contexts that are kin. */
#define for_each_kin(a, b, from, to)					\
	for ((a) = (from)->first_of_kin, (b) = (to)->first_of_kin; (a);	\
	     (a) = (a)->next_of_kin, (b) = (b)->next_of_kin)

static __always_inline void pmuctl_kin_exchange(struct pmuctl_context *from,
						struct pmuctl_context *to)
{
	struct pmuctl_event *a, *b;

	for_each_kin(a, b, from, to)
		swap(a->tally, b->tally);
}

/* From here on @to, which is locked, is loaded, and @from is not. */
static __always_inline void pmuctl_kin_load(struct pmuctl_cpu *pc,
					    struct pmuctl_context *from,
					    struct pmuctl_context *to)
{
	pc->task_context = to;
	WRITE_ONCE(to->loaded_cpu, pc->context.cpu);
	/* Pairs with that of call_elsewhere() in context_call.c: we have not locked it. */
	smp_store_release(&from->loaded_cpu, -1);
}

/**
 * pmuctl_kin_switch() - let the counters of one task go on for another that is kin
 * @pc: this CPU, where the context of the task that goes is loaded, which may have a kin.
 * @to: the next task's.
 *
 * Context: sched_switch: IRQs off.
 * Return: true if @to is loaded now; false: nothing was done.
 */
static __always_inline bool pmuctl_kin_switch(struct pmuctl_cpu *pc,
					      struct pmuctl_context *to)
{
	struct pmuctl_context *from = pc->task_context;
	bool done;

	if (pc->waiting || !raw_spin_trylock(&to->lock))
		return false;
	done = from->kin == to->kin && !atomic_read(&pmuctl_inherit_locked);
	if (likely(done)) {
		pmuctl_kin_exchange(from, to);
		pmuctl_kin_load(pc, from, to);
	}
	raw_spin_unlock(&to->lock);
	return done;
}

/* The same for those of which it is not known yet if they are kin, and for switches that are to be
 * split.
 */
bool pmuctl_kin_switch_rarely(struct pmuctl_cpu *pc, struct pmuctl_context *from,
			      struct pmuctl_context *to);

#endif /* PMUCTL_INHERIT_SWITCH_H */
