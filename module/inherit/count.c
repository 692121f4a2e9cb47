// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the children of an event have counted: those that have ended, and those that live,
 * each of these at one instant. Process context.
 */
#include <linux/percpu.h>
#include <linux/string.h>

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
		return; /* it was not seen */
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

static void add_counts(struct pmuctl_counts *counts, const struct pmuctl_child_counts *more)
{
	counts->value += more->value;
	counts->time_enabled += more->time_enabled;
	counts->time_running += more->time_running;
}

/* What has ended before it is read; what does so later, and is not seen, comes at its end. */
static void begin_shard(struct sum *sum, struct pmuctl_shard *shard, int cpu)
{
	struct pmuctl_child_total *total;
	unsigned int i;

	raw_spin_lock_irq(&shard->lock);
	pmuctl_walk_begin_locked(shard);
	for (i = 0; i < sum->n; i++) {
		if (!sum->counts[i].root)
			continue;
		total = per_cpu_ptr(sum->counts[i].root->child_total, cpu);
		add_counts(&sum->counts[i], &total->all);
		memset(&total->unseen, 0, sizeof(total->unseen));
	}
	raw_spin_unlock_irq(&shard->lock);
}

static void add_shard(struct sum *sum, struct pmuctl_shard *shard, int cpu)
{
	struct pmuctl_inherit *h;
	unsigned int i;

	begin_shard(sum, shard, cpu);
	while ((h = pmuctl_walk_next(shard, NULL))) {
		sum->child = pmuctl_inherit_event(h);
		if (h->seen != sum->ig->walk && counts_of(sum, sum->child))
			pmuctl_context_call(sum->child->context, add_live, sum);
	}
	for (i = 0; i < sum->n; i++)
		if (sum->counts[i].root)
			add_counts(&sum->counts[i],
				   &per_cpu_ptr(sum->counts[i].root->child_total, cpu)->unseen);
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
	WRITE_ONCE(ig->walk, ig->walk + 1);
	give_slots(&sum);
	for_each_possible_cpu(cpu)
		add_shard(&sum, per_cpu_ptr(ig->shards, cpu), cpu);
}

static void reset_live(struct pmuctl_context *ctx, void *arg)
{
	struct pmuctl_event *child = arg;

	if (child->ended)
		return;
	child->state->base = pmuctl_count(child);
	child->inherit.seen = child->inherit.group->walk;
}

/* What those counted that end before the walk comes to them is in the past, too. */
static void reset_shard(struct pmuctl_inherit *meant, struct pmuctl_shard *shard, int cpu)
{
	const struct pmuctl_event *only = meant->next_meant ? NULL : pmuctl_inherit_event(meant);
	const u64 walk = meant->group->walk;
	struct pmuctl_child_total *total;
	struct pmuctl_inherit *h;

	raw_spin_lock_irq(&shard->lock);
	pmuctl_walk_begin_locked(shard);
	for (h = meant; h; h = h->next_meant) {
		total = per_cpu_ptr(h->child_total, cpu);
		total->all.value = 0;
		total->unseen.value = 0;
	}
	raw_spin_unlock_irq(&shard->lock);
	while ((h = pmuctl_walk_next(shard, only)))
		if (h->root->inherit.walk == walk)
			pmuctl_context_call(pmuctl_inherit_event(h)->context, reset_live,
					    pmuctl_inherit_event(h));
	raw_spin_lock_irq(&shard->lock);
	for (h = meant; h; h = h->next_meant) {
		total = per_cpu_ptr(h->child_total, cpu);
		total->all.value -= total->unseen.value;
	}
	raw_spin_unlock_irq(&shard->lock);
}

void pmuctl_inherit_reset(struct pmuctl_event *event, bool group)
{
	struct pmuctl_inherit *meant = pmuctl_find_meant(event, group);
	struct pmuctl_inherit_group *ig = event->inherit.group;
	int cpu;

	lockdep_assert_held(&ig->mutex);
	pmuctl_walk_number(ig, meant);
	for_each_possible_cpu(cpu)
		reset_shard(meant, per_cpu_ptr(ig->shards, cpu), cpu);
}
