// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch between two tasks that have the same events from the same roots, as parent and
 * child have or two children: what is on the PMU stays there, and only goes on counting for the
 * other task. No register of the PMU is written. On the CPU of the switch, IRQs off.
 *
 * Two contexts are kin if event by event they have the same roots in the same order, enabled
 * alike. That is found by looking at both, once: then both get the same number, their
 * kin, which whoever changes something of a context takes away from it. All must count that
 * may, and nothing may look at the counters meanwhile: no period, no user
 * pages, no software events.
 *
 * As long as nobody looks, all that matters is the sum: then one goes on from where the other's
 * counter was last read, and what has been counted since then is the other's, time
 * included. While a family is locked, and always if a record is to tell what each task has
 * counted, the switch is split: a hardware counter is read once, for both, and where the one's
 * count ends the other's begins. That is a different instant for each counter, some
 * instructions apart, but in the kernel: a group that counts there, whose values must always be
 * of one instant, is switched in the usual way then.
 *
 * Whoever locks a family says so first (pmuctl_inherit_locked) and takes the locks of contexts
 * later. A switch that has not seen it has had both locks before; so what it moved from one to
 * the other was moved before either was looked at.
 *
 * Only this CPU has locked one context when it tries to get the other, whose task may be
 * looked at by anybody: if that one is locked the switch is done in the usual way.
 */
#include <linux/atomic.h>
#include <linux/sched/clock.h>

#include "cpu_state.h"
#include "inherit.h"

/* Two bits of a kin's number are about the switch. */
#define KIN_SPLIT	1	/* it is always to be split, */
#define KIN_WHOLE	2	/* or must not be. */
#define KIN_STEP	4

static atomic64_t last_kin;

/* ---- Are they kin? ---- */

static bool is_simple(const struct pmuctl_event *event)
{
	return event->heritage.root && !event->soft && !event->sampling &&
		event->cpu < 0 && !event->error && !event->counter.user &&
		event->counter.running == event->eligible;
}

static bool is_alike(const struct pmuctl_event *a, const struct pmuctl_event *b)
{
	return a->heritage.root == b->heritage.root && a->enabled == b->enabled &&
		!b->error && !b->counter.user;
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
			*how |= KIN_SPLIT;
		if (!single && hwpmu_counts_kernel(&a->counter))
			*how |= KIN_WHOLE;
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

static noinline bool find_kin(struct pmuctl_context *from, struct pmuctl_context *to)
{
	enum pmuctl_class class;
	unsigned int how = 0;

	for (class = 0; class < PMUCTL_CLASSES; class++)
		if (!are_lists_alike(&from->groups[class], &to->groups[class],
				     &how))
			return false;
	if ((how & KIN_SPLIT) && (how & KIN_WHOLE))
		return false;
	if (!from->kin)
		from->kin = atomic64_add_return(KIN_STEP, &last_kin) | how;
	to->kin = from->kin;
	return true;
}

/* ---- The switch ---- */

/* @now is 0 if the switch is not split. Returns how many counters are to go on for others. */
static __always_inline unsigned int hand_over(struct pmuctl_cpu *pc, unsigned int n,
					      struct pmuctl_event *a,
					      struct pmuctl_event *b, u64 now)
{
	b->eligible = a->eligible;
	if (!a->eligible)
		return n;
	a->eligible = false;
	b->stamp = a->stamp;
	if (now) {
		a->time_enabled += now - a->stamp;
		a->time_running += now - a->stamp; /* kin that may count do */
		b->stamp = now;
	}
	pc->batch[n] = &a->counter;
	pc->heirs[n] = &b->counter;
	return n + 1;
}

static unsigned int hand_over_list(struct pmuctl_cpu *pc, unsigned int n,
				   struct list_head *from, struct list_head *to,
				   u64 now)
{
	struct list_head *i, *k = to->next;

	for (i = from->next; i != from; i = i->next, k = k->next) {
		struct pmuctl_event *a = list_entry(i, struct pmuctl_event, node);
		struct pmuctl_event *b = list_entry(k, struct pmuctl_event, node);

		b->on_pmu = a->on_pmu;
		a->on_pmu = false;
		n = hand_over(pc, n, a, b, now);
		if (list_empty(&a->siblings))
			continue;
		while ((a = pmuctl_group_next(a))) {
			b = pmuctl_group_next(b);
			n = hand_over(pc, n, a, b, now);
		}
	}
	return n;
}

/* How is a switch between these two to be done? Returns false: in the usual way. */
static bool choose_way(struct pmuctl_context *from, struct pmuctl_context *to,
		       bool *split)
{
	if (to->gone || !((from->kin && from->kin == to->kin) || find_kin(from, to)))
		return false;
	*split = (from->kin & KIN_SPLIT) || atomic_read(&pmuctl_inherit_locked);
	return !(*split && (from->kin & KIN_WHOLE));
}

/* Both are locked. */
static bool switch_locked(struct pmuctl_cpu *pc, struct pmuctl_context *from,
			  struct pmuctl_context *to)
{
	enum pmuctl_class class;
	unsigned int n = 0;
	bool split;
	u64 now;

	if (!choose_way(from, to, &split))
		return false;
	now = split ? sched_clock() : 0;
	for (class = 0; class < PMUCTL_CLASSES; class++)
		n = hand_over_list(pc, n, &from->groups[class],
				   &to->groups[class], now);
	hwpmu_hand_over(pc->batch, pc->heirs, n, split);
	WRITE_ONCE(from->loaded_cpu, -1);
	WRITE_ONCE(to->loaded_cpu, pc->context.cpu);
	pc->task_context = to;
	return true;
}

static bool try_switch(struct pmuctl_cpu *pc, struct pmuctl_context *from,
		       struct pmuctl_context *to)
{
	bool done;

	if (!raw_spin_trylock(&to->lock))
		return false;
	done = switch_locked(pc, from, to);
	raw_spin_unlock(&to->lock);
	return done;
}

bool pmuctl_inherit_switch(struct pmuctl_cpu *pc, struct pmuctl_context *to)
{
	struct pmuctl_context *from = pc->task_context;
	bool done;

	if (pc->waiting || pc->context.loaded_cpu < 0 || pc->context.nr_at_switch)
		return false;
	raw_spin_lock(&from->lock);
	done = try_switch(pc, from, to);
	raw_spin_unlock(&from->lock);
	return done;
}
