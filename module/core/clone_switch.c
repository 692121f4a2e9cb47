// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch between two tasks that have the same events from the same roots, as parent and
 * child have or two children: what is on the PMU stays there, and only goes on counting for the
 * other task. No register of the PMU is written. On the CPU of the switch, IRQs off.
 *
 * Two contexts are equivalent if event by event they have the same roots in the same order,
 * enabled alike. That is found by comparing them, once: then both get the same clone_id, and
 * whoever changes something of a context sets its own to 0. All must count that may, and nothing
 * may look at the counters meanwhile: no period, no user pages, no software events.
 *
 * As long as nobody looks, all that matters is the sum: then the two swap their count states,
 * event by event. The counters on the PMU are in these, so nothing changes for them, nor for an
 * NMI that comes meanwhile. A count state is part of the memory of the event that it was made
 * with, which stays until both have been given up (core/event.c).
 *
 * While an inherit group is locked, and always if a record is to tell what each task has
 * counted, the switch is split: a hardware counter is read once, for both, and where the one's
 * count ends the other's begins; each keeps its state. That is a different instant for each
 * counter, some instructions apart, but in the kernel: a group that counts there, whose values
 * must always be of one instant, is switched in the usual way then.
 *
 * Only the next task's context is locked: whoever holds that lock may change it, as it is not
 * loaded; then the switch is done in the usual way. The other one is loaded here, so
 * nobody changes anything of its events but this CPU, with IRQs off; until we say that it is not
 * loaded any more, which is the last that we do to it.
 *
 * Whoever locks an inherit group says so first (pmuctl_inherit_locked) and looks at contexts
 * later: on the CPU where one is loaded, or with its lock. If he has looked at one of the two
 * before us, we see that he has locked the group: by his interrupt here; or because we got that
 * lock after him, now or when we loaded it. Else he finds both as they are after the swap.
 */
#include <linux/atomic.h>
#include <linux/sched/clock.h>

#include "core/clone_switch.h"

/* What are_groups_alike() finds out about a switch: */
#define CLONE_SPLIT	1	/* it is always to be split, */
#define CLONE_SWAP	2	/* or must not be: a bit of the clone_id too. */
#define CLONE_STEP	4

static atomic64_t last_clone_id;

atomic_t pmuctl_inherit_locked;

/* ---- Are two contexts equivalent? ---- */

static bool is_simple(const struct pmuctl_event *event)
{
	return event->inherit.root && pmuctl_event_is_hw(event) && !event->sampling &&
		event->cpu < 0 && !event->error && !event->state->counter.user &&
		event->state->counter.running == event->state->eligible;
}

static bool is_alike(const struct pmuctl_event *a, const struct pmuctl_event *b)
{
	return a->inherit.root == b->inherit.root && a->enabled == b->enabled &&
		!b->error && !b->state->counter.user;
}

/* @a is of the context that is loaded. */
static bool are_groups_alike(struct pmuctl_event *a, struct pmuctl_event *b,
			     unsigned int *how)
{
	bool single = list_empty(&a->siblings);

	while (a && b) {
		if (!is_simple(a) || !is_alike(a, b))
			return false;
		if (a->inherit_stat)
			*how |= CLONE_SPLIT;
		if (!single && hwpmu_counts_kernel(&a->state->counter))
			*how |= CLONE_SWAP;
		a = pmuctl_group_next(a);
		b = pmuctl_group_next(b);
	}
	return a == b;
}

static bool are_lists_alike(struct list_head *from, struct list_head *to,
			    unsigned int *how)
{
	struct list_head *a, *b = to->next;

	for (a = from->next; a != from; a = a->next, b = b->next)
		if (b == to ||
		    !are_groups_alike(list_entry(a, struct pmuctl_event, node),
				      list_entry(b, struct pmuctl_event, node),
				      how))
			return false;
	return b == to;
}

/* All events of a context, one after the other */
static void chain(struct pmuctl_context *ctx)
{
	struct pmuctl_event *leader, *event, **last = &ctx->clone_first;
	enum pmuctl_class class;

	for_each_group(leader, class, ctx) {
		for_each_group_member(event, leader) {
			*last = event;
			last = &event->clone_next;
		}
	}
	*last = NULL;
}

static bool context_equiv(struct pmuctl_context *from, struct pmuctl_context *to)
{
	enum pmuctl_class class;
	unsigned int how = 0;

	if (from->gone || to->gone)
		return false;
	for (class = 0; class < PMUCTL_CLASSES; class++)
		if (!are_lists_alike(&from->groups[class], &to->groups[class],
				     &how))
			return false;
	if ((how & CLONE_SPLIT) && (how & CLONE_SWAP))
		return false;
	if (!from->clone_id) {
		chain(from);
		from->clone_id = atomic64_add_return(CLONE_STEP, &last_clone_id);
		if (how & CLONE_SPLIT)
			from->clone_id = -from->clone_id;
		else
			from->clone_id |= how;
	}
	chain(to);
	to->clone_id = from->clone_id;
	return true;
}

/* ---- The switch ---- */

/* Where the one's count ends the other's begins. */
static void split(struct pmuctl_cpuctx *pc, struct pmuctl_context *from,
		  struct pmuctl_context *to)
{
	struct pmuctl_event *each, *other;
	u64 now = sched_clock();
	unsigned int n = 0;

	for_each_clone_pair(each, other, from, to) {
		struct pmuctl_count_state *a = each->state, *b = other->state;

		b->on_pmu = a->on_pmu;
		a->on_pmu = false;
		b->eligible = a->eligible;
		if (!a->eligible)
			continue;
		a->eligible = false;
		a->time_enabled += now - a->stamp;
		b->stamp = now;
		if (!a->counter.running)
			continue; /* there are CPUs of several types */
		a->time_running += now - a->stamp;
		pc->batch[n] = &a->counter;
		pc->batch_to[n++] = &b->counter;
	}
	hwpmu_hand_over(pc->batch, pc->batch_to, n);
}

static bool switch_locked(struct pmuctl_cpuctx *pc, struct pmuctl_context *from,
			  struct pmuctl_context *to)
{
	bool whole;

	if (!(from->clone_id && from->clone_id == to->clone_id) && !context_equiv(from, to))
		return false;
	whole = from->clone_id > 0 && !atomic_read(&pmuctl_inherit_locked);
	if (!whole && from->clone_id > 0 && (from->clone_id & CLONE_SWAP))
		return false;
	if (whole)
		pmuctl_clone_swap(from, to);
	else
		split(pc, from, to);
	pmuctl_clone_load(pc, from, to);
	return true;
}

bool pmuctl_clone_switch_slow(struct pmuctl_cpuctx *pc, struct pmuctl_context *from,
			      struct pmuctl_context *to)
{
	bool done;

	if (pc->rotate_necessary || pc->context.loaded_cpu < 0 || pc->context.nr_at_switch ||
	    !raw_spin_trylock(&to->lock))
		return false;
	done = switch_locked(pc, from, to);
	raw_spin_unlock(&to->lock);
	return done;
}
