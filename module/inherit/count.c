// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the children of an event have counted: those that have ended, and those that live,
 * each of these at one instant. Process context.
 */
#include <linux/percpu.h>
#include <linux/rculist.h>

#include "core/context.h"
#include "core/event.h"
#include "core/sched.h"
#include "inherit/inherit.h"

/**
 * struct sum - what a walk adds to
 * @ig: whose walk it is.
 * @counts: of pmuctl_inherit_add(), as
 * @n: is.
 * @group: all of a group are wanted.
 * @child: of which an instant is read.
 */
struct sum {
	struct pmuctl_inherit_group *ig;
	struct pmuctl_counts *counts;
	unsigned int n;
	bool group;
	struct pmuctl_event *child;
};

/* What a child adds to, or NULL: there may be many of which the root was in the group before. */
static struct pmuctl_counts *counts_of(const struct sum *sum, const struct pmuctl_event *child)
{
	const struct pmuctl_inherit *root = &child->inherit.root->inherit;

	return root->walk == sum->ig->walk ? &sum->counts[root->slot] : NULL;
}

static void give_slots(struct sum *sum)
{
	unsigned int i;

	for (i = 0; i < sum->n; i++) {
		if (!sum->counts[i].root)
			continue;
		sum->counts[i].root->slot = i;
		sum->counts[i].root->walk = sum->ig->walk;
	}
}

static void add_child(const struct sum *sum, struct pmuctl_event *child)
{
	struct pmuctl_counts *counts = counts_of(sum, child);
	const struct pmuctl_count_state *state = child->state;

	child->inherit.seen = sum->ig->walk;
	if (!counts)
		return;
	counts->value += pmuctl_count(child) - state->base;
	counts->time_enabled += state->time_enabled;
	counts->time_running += state->time_running;
}

/* At one instant; the context is locked, and loaded here or nowhere. */
static void add_live(struct pmuctl_context *ctx, void *arg)
{
	const struct sum *sum = arg;
	struct pmuctl_event *event;
	bool freeze;

	if (sum->child->ended)
		return; /* it stays listed */
	pmuctl_sched_account(sum->child->leader);
	if (!sum->group) {
		add_child(sum, sum->child);
		return;
	}
	freeze = sum->child->leader->state->counter.running;
	if (freeze)
		hwpmu_freeze();
	for_each_group_member(event, sum->child->leader)
		add_child(sum, event);
	if (freeze)
		hwpmu_thaw();
}

static void add_shard(struct sum *sum, struct pmuctl_shard *shard, int cpu)
{
	struct pmuctl_inherit *h;
	const struct pmuctl_child_total *total;
	unsigned int i;

	raw_spin_lock_irq(&shard->lock);
	shard->walked = true;
	for (i = 0; i < sum->n; i++) {
		if (!sum->counts[i].root)
			continue;
		total = per_cpu_ptr(sum->counts[i].root->child_total, cpu);
		sum->counts[i].value += total->value;
		sum->counts[i].time_enabled += total->time_enabled;
		sum->counts[i].time_running += total->time_running;
	}
	raw_spin_unlock_irq(&shard->lock);

	for_each_child(h, shard) {
		cond_resched();
		sum->child = pmuctl_inherit_event(h);
		if (h->seen == sum->ig->walk ||
		    !counts_of(sum, sum->child))
			continue;
		pmuctl_context_call(sum->child->context, add_live, sum);
		/* It had ended, or has meanwhile, but after we came here. */
		if (h->seen != sum->ig->walk)
			add_child(sum, sum->child);
	}
	pmuctl_shard_leave(shard);
}

void pmuctl_inherit_add(struct pmuctl_event *event, bool group,
			struct pmuctl_counts *counts, unsigned int n)
{
	struct pmuctl_inherit_group *ig = event->inherit.group;
	struct sum sum = {
		.ig = ig, .counts = counts, .n = n, .group = group,
	};
	int cpu;

	lockdep_assert_held(&ig->mutex);
	ig->walk++;
	give_slots(&sum);
	for_each_possible_cpu(cpu)
		add_shard(&sum, per_cpu_ptr(ig->shards, cpu), cpu);
}

/**
 * struct reset - a child that is to be reset
 * @child: which.
 * @ended: it could not be: it has ended before.
 */
struct reset {
	struct pmuctl_event *child;
	bool ended;
};

static void reset_live(struct pmuctl_context *ctx, void *arg)
{
	struct reset *reset = arg;
	struct pmuctl_event *child = reset->child;

	reset->ended = child->ended;
	if (!reset->ended)
		child->state->base = pmuctl_count(child);
}

static void reset_child(struct pmuctl_event *child)
{
	struct pmuctl_inherit *h = &child->inherit;
	struct pmuctl_shard *shard = per_cpu_ptr(h->group->shards, h->shard);
	struct reset reset = { .child = child };

	pmuctl_context_call(child->context, reset_live, &reset);
	if (!reset.ended)
		return;
	/* What it counted is in the past. */
	raw_spin_lock_irq(&shard->lock);
	per_cpu_ptr(h->root->inherit.child_total, h->shard)->value -=
		child->state->counter.count - child->state->base;
	raw_spin_unlock_irq(&shard->lock);
}

static void reset_root(struct pmuctl_inherit_group *ig, struct pmuctl_event *event)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct pmuctl_shard *shard = per_cpu_ptr(ig->shards, cpu);
		struct pmuctl_inherit *h;

		raw_spin_lock_irq(&shard->lock);
		shard->walked = true;
		per_cpu_ptr(event->inherit.child_total, cpu)->value = 0;
		raw_spin_unlock_irq(&shard->lock);
		for_each_child(h, shard) {
			if (h->root == event)
				reset_child(pmuctl_inherit_event(h));
			cond_resched();
		}
		pmuctl_shard_leave(shard);
	}
}

void pmuctl_inherit_reset(struct pmuctl_event *event, bool group)
{
	struct pmuctl_inherit_group *ig = event->inherit.group;
	struct pmuctl_inherit *h;

	lockdep_assert_held(&ig->mutex);
	list_for_each_entry(h, &ig->roots, sibling)
		if (pmuctl_is_meant(h, event, group))
			reset_root(ig, pmuctl_inherit_event(h));
}
