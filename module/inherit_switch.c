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
 * A hardware counter is read once, for both: where the one's count ends the other's begins,
 * so nothing is lost or counted twice. That is a different instant for each counter, some
 * instructions apart, but in the kernel: so the events of a group must not count there, for
 * theirs must always be of one instant.
 *
 * Only this CPU has locked one context when it tries to get the other, whose task may be
 * looked at by anybody: if that one is locked the switch is done in the usual way.
 */
#include <linux/atomic.h>
#include <linux/sched/clock.h>

#include "cpu_state.h"
#include "inherit.h"

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
static bool are_groups_alike(struct pmuctl_event *a, struct pmuctl_event *b)
{
	bool single = list_empty(&a->siblings);

	while (a && b) {
		if (!is_simple(a) || !is_alike(a, b))
			return false;
		if (!single && hwpmu_counts_kernel(&a->counter))
			return false;
		a = pmuctl_group_next(a);
		b = pmuctl_group_next(b);
	}
	return a == b;
}

static bool are_lists_alike(struct list_head *from, struct list_head *to)
{
	struct list_head *a, *b = to->next;

	for (a = from->next; a != from; a = a->next, b = b->next)
		if (b == to ||
		    !are_groups_alike(list_entry(a, struct pmuctl_event, node),
				      list_entry(b, struct pmuctl_event, node)))
			return false;
	return b == to;
}

static noinline bool find_kin(struct pmuctl_context *from, struct pmuctl_context *to)
{
	enum pmuctl_class class;

	for (class = 0; class < PMUCTL_CLASSES; class++)
		if (!are_lists_alike(&from->groups[class], &to->groups[class]))
			return false;
	if (!from->kin)
		from->kin = atomic64_inc_return(&last_kin);
	to->kin = from->kin;
	return true;
}

/* ---- The switch ---- */

/* Returns how many counters are to go on for others. */
static __always_inline unsigned int hand_over(struct pmuctl_cpu *pc, unsigned int n,
					      struct pmuctl_event *a,
					      struct pmuctl_event *b, u64 now)
{
	u64 time = now - a->stamp;

	b->stamp = now;
	b->eligible = a->eligible;
	if (!a->eligible)
		return n;
	a->eligible = false;
	a->stamp = now;
	a->time_enabled += time;
	if (unlikely(!a->counter.running))
		return n; /* not that there are any among kin */
	a->time_running += time;
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

bool pmuctl_inherit_switch(struct pmuctl_cpu *pc, struct pmuctl_context *to)
{
	struct pmuctl_context *from = pc->task_context;
	enum pmuctl_class class;
	unsigned int n = 0;
	bool done = false;
	u64 now;

	if (pc->waiting || pc->context.loaded_cpu < 0 || pc->context.nr_at_switch)
		return false;
	raw_spin_lock(&from->lock);
	if (!raw_spin_trylock(&to->lock))
		goto out_unlock;
	if (to->gone || !((from->kin && from->kin == to->kin) || find_kin(from, to)))
		goto out_unlock_both;

	now = sched_clock();
	for (class = 0; class < PMUCTL_CLASSES; class++)
		n = hand_over_list(pc, n, &from->groups[class],
				   &to->groups[class], now);
	hwpmu_hand_over(pc->batch, pc->heirs, n);
	WRITE_ONCE(from->loaded_cpu, -1);
	WRITE_ONCE(to->loaded_cpu, pc->context.cpu);
	pc->task_context = to;
	done = true;
out_unlock_both:
	raw_spin_unlock(&to->lock);
out_unlock:
	raw_spin_unlock(&from->lock);
	return done;
}
