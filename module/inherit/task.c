// SPDX-License-Identifier: GPL-2.0-only
/*
 * The children of events that are inherited: made with a task, and ended with it. Both
 * happens in hooks, where nothing may sleep, so what they need is allocated atomically, before
 * interrupts are off; without memory a child is not counted, and that is told.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/list.h>
#include <linux/sched.h>

#include "aux/aux.h"
#include "core/admission.h"
#include "core/context.h"
#include "core/context_table.h"
#include "core/rotation.h"
#include "inherit/inherit.h"
#include "sample/sample.h"
#include "sample/sampling.h"

static atomic_long_t missing;

unsigned long pmuctl_inherit_missing(void)
{
	return atomic_long_read(&missing);
}

/* ---- The beginning of a child ---- */

/* What has become of its root since it last followed that */
static void follow_root(struct pmuctl_event *child)
{
	struct pmuctl_inherit *h = &child->inherit;
	const struct pmuctl_inherit *root = &h->root->inherit;
	u64 changes = READ_ONCE(root->changes);

	if (h->changes == changes)
		return;
	h->changes = changes;
	if (root->switched)
		child->enabled = root->enabled;
	if (root->period)
		pmuctl_sampling_set_period(child, root->period);
}

bool pmuctl_inherit_list(struct pmuctl_event *child,
			 const struct pmuctl_event *from, int cpu)
{
	struct pmuctl_inherit *h = &child->inherit;
	struct pmuctl_inherit *root = &from->inherit.root->inherit;
	struct pmuctl_shard *shard;
	bool goes_on;

	h->group = root->group;
	h->root = from->inherit.root;
	h->shard = cpu;
	INIT_LIST_HEAD(&h->sibling);
	shard = per_cpu_ptr(h->group->shards, h->shard);

	raw_spin_lock(&shard->lock);
	child->enabled = from->enabled;
	h->changes = from->inherit.changes;
	follow_root(child);
	/* Whoever closes the root walks this list later, or had said so before: one answer. */
	goes_on = !root->closing;
	if (goes_on)
		list_add_tail(&h->child_entry, &shard->children);
	raw_spin_unlock(&shard->lock);
	return goes_on;
}

static void count_missing(void)
{
	atomic_long_inc(&missing);
}

static bool is_inherited(const struct pmuctl_event *event, u64 clone_flags)
{
	const struct pmuctl_event *root = event->inherit.root;

	return root && (!root->inherit.thread_only || clone_flags & CLONE_THREAD);
}

/* So many take of what is kept for those who cannot wait; the others of what is free. */
#define URGENT	64

/**
 * struct brood - the children of a fork
 * @clone_flags: of the fork.
 * @memory: for those that do not sample, and those that do, by clone_next. It is there before
 *	the contexts are locked, as there may be many.
 * @lacking: there was too little of it.
 * @search: the new task may have some already.
 */
struct brood {
	u64 clone_flags;
	struct pmuctl_event *memory[2];
	bool lacking;
	bool search;
};

/* For all that it may have, which are told apart when they are copied */
static void get_memory(struct brood *brood, struct pmuctl_context *parent)
{
	unsigned int sampling = READ_ONCE(parent->nr_inherit_sampling);
	unsigned int n[2] = { READ_ONCE(parent->nr_inherit) - sampling, sampling };
	unsigned int got = 0, kind;
	struct pmuctl_event *child;

	for (kind = 0; kind < 2; kind++) {
		for (; n[kind]; n[kind]--) {
			child = pmuctl_event_blank(kind, got++ < URGENT ? GFP_ATOMIC : GFP_NOWAIT);
			if (!child) {
				brood->lacking = true;
				continue;
			}
			child->clone_next = brood->memory[kind];
			brood->memory[kind] = child;
		}
	}
}

static struct pmuctl_event *pop(struct pmuctl_event **list)
{
	struct pmuctl_event *child = *list;

	if (child) {
		*list = child->clone_next;
		child->clone_next = NULL;
	}
	return child;
}

/* For one child. There are few that have come since they were counted. */
static struct pmuctl_event *take_memory(struct brood *brood, bool sampling)
{
	struct pmuctl_event *child = pop(&brood->memory[sampling]);

	if (!child && !brood->lacking)
		child = pmuctl_event_blank(sampling, GFP_ATOMIC);
	return child;
}

static void put_memory(struct brood *brood)
{
	struct pmuctl_event *child;
	unsigned int kind;

	for (kind = 0; kind < 2; kind++)
		while ((child = pop(&brood->memory[kind])))
			pmuctl_event_free_child(child);
}

/*
 * NULL: the root gets no more; or ERR_PTR: -ENOMEM; -EBUSY: somebody else traces the new task;
 * -ENOSPC: others have opened so many there
 */
static struct pmuctl_event *make_child(struct brood *brood, struct pmuctl_context *ctx,
				       const struct pmuctl_event *from,
				       const struct pmuctl_event *leader)
{
	int cpu = leader ? leader->inherit.shard : smp_processor_id();
	struct pmuctl_event *child;

	if (unlikely(pmuctl_context_traces(ctx, from))) {
		count_missing();
		return ERR_PTR(-EBUSY);
	}
	if (unlikely(!pmuctl_may_inherit(ctx, from->context, from->inherit.root))) {
		count_missing();
		return ERR_PTR(-ENOSPC);
	}
	child = take_memory(brood, from->sampling);
	if (!child) {
		count_missing();
		return ERR_PTR(-ENOMEM);
	}
	pmuctl_event_copy(child, from);
	if (unlikely(from->aux) && READ_ONCE(from->aux->follows) &&
	    !pmuctl_aux_copy_places(child, from)) {
		count_missing();
		pmuctl_event_free_later(child);
		return ERR_PTR(-ENOMEM);
	}
	child->context = ctx; /* a walk that finds it there waits for the lock of that */
	if (!pmuctl_inherit_list(child, from, cpu)) {
		pmuctl_event_free_later(child); /* not under the locks of contexts */
		return NULL;
	}
	return child;
}

struct pmuctl_event *pmuctl_inherit_find(const struct pmuctl_context *ctx,
					 const struct pmuctl_event *root)
{
	struct pmuctl_event *leader, *event;
	enum pmuctl_class class;

	if (!ctx->nr_inherit)
		return NULL;
	for_each_group(leader, class, ctx)
		for_each_group_member(event, leader)
			if (event->inherit.root == root)
				return event;
	return NULL;
}

/*
 * Who counts a process may have been here before: the new thread was on the list of that already.
 * Else nobody has, and nothing is searched for each of many.
 */
static struct pmuctl_event *find_earlier(const struct brood *brood,
					 const struct pmuctl_context *ctx,
					 const struct pmuctl_event *root)
{
	if (!brood->search || !READ_ONCE(root->inherit.process))
		return NULL;
	return pmuctl_inherit_find(ctx, root);
}

/*
 * Its group may have been enabled or disabled while it was copied, one member before and one
 * after that: all follow, before the new task runs. Who switched it waits for the context's lock.
 */
static void follow_roots(struct pmuctl_event *first)
{
	const struct pmuctl_inherit_group *ig = first->inherit.group;
	struct pmuctl_event *child;
	unsigned int seq;

	do {
		seq = read_seqcount_begin(&ig->switches);
		for_each_group_member(child, first)
			follow_root(child);
	} while (read_seqcount_retry(&ig->switches, seq));
}

static bool has_child_of(struct pmuctl_event *first, const struct pmuctl_event *root)
{
	struct pmuctl_event *child;

	for_each_group_member(child, first)
		if (child->inherit.root == root)
			return true;
	return false;
}

/*
 * Who gives a root children goes through those that were there. It is told of one that comes later,
 * and whose parent had none yet: that may end before it is come to. It was listed before this, so
 * either it is seen there, or whoever goes through them has said so before.
 */
static void tell_of_birth(struct pmuctl_event *first)
{
	struct pmuctl_inherit_group *ig = first->inherit.group;
	const struct pmuctl_event *root = READ_ONCE(ig->attaching);

	if (likely(!root) || has_child_of(first, root))
		return;
	raw_spin_lock(&ig->born_lock);
	/* Who has come for another one since finds it where it was listed. */
	if (ig->attaching == root && list_empty(&first->inherit.sibling))
		list_add_tail(&first->inherit.sibling, &ig->born);
	raw_spin_unlock(&ig->born_lock);
}

/* It will start nobody any more. Its context is locked. */
static void forget_birth(struct pmuctl_inherit *h)
{
	/* It was told of before it ran, and is taken off that list under the lock. */
	if (likely(list_empty_careful(&h->sibling)))
		return;
	raw_spin_lock(&h->group->born_lock);
	list_del_init(&h->sibling);
	raw_spin_unlock(&h->group->born_lock);
}

static void copy_group(struct brood *brood, struct pmuctl_context *ctx,
		       struct pmuctl_event *leader)
{
	struct pmuctl_event *from, *child, *first = NULL;

	for_each_group_member(from, leader) {
		if (!is_inherited(from, brood->clone_flags))
			continue;
		child = find_earlier(brood, ctx, from->inherit.root);
		if (!child) {
			child = make_child(brood, ctx, from, first);
			if (IS_ERR(child) && from == leader)
				return; /* its siblings must not count without it */
			if (IS_ERR_OR_NULL(child))
				continue;
			pmuctl_context_adopt(ctx, child, first);
		}
		if (!first)
			first = child;
	}
	if (!first)
		return;
	if (!list_empty(&first->siblings))
		follow_roots(first);
	tell_of_birth(first);
}

/* Both contexts are its own: the parent's is loaded here, the child has not run. */
static void copy_groups(struct brood *brood, struct pmuctl_context *parent,
			struct pmuctl_context *ctx)
{
	struct pmuctl_event *leader;
	enum pmuctl_class class;
	unsigned long flags;

	raw_spin_lock_irqsave(&parent->lock, flags);
	raw_spin_lock_nested(&ctx->lock, SINGLE_DEPTH_NESTING);
	brood->search = ctx->nr_inherit;
	pmuctl_rotation_fork(parent, ctx);
	for_each_group(leader, class, parent)
		copy_group(brood, ctx, leader);
	raw_spin_unlock(&ctx->lock);
	raw_spin_unlock_irqrestore(&parent->lock, flags);
}

void pmuctl_inherit_fork(struct task_struct *child, u64 clone_flags)
{
	struct pmuctl_context *parent = pmuctl_context_find(current), *ctx;
	struct brood brood = { .clone_flags = clone_flags };

	if (!parent || !READ_ONCE(parent->nr_inherit))
		return;
	ctx = pmuctl_context_get_child(child);
	if (!ctx) {
		count_missing();
		return;
	}
	get_memory(&brood, parent);
	copy_groups(&brood, parent, ctx);
	put_memory(&brood);
	pmuctl_context_put(ctx);
}

/* ---- The end of a child ---- */

static void add_counts(struct pmuctl_child_counts *counts, const struct pmuctl_count_state *state)
{
	counts->value += state->counter.count - state->base;
	counts->time_enabled += state->time_enabled;
	counts->time_running += state->time_running;
}

void pmuctl_inherit_end_child(struct pmuctl_event *child, struct list_head *done)
{
	struct pmuctl_inherit *h = &child->inherit;
	struct pmuctl_shard *shard = per_cpu_ptr(h->group->shards, h->shard);
	struct pmuctl_child_total *total = per_cpu_ptr(h->root->inherit.child_total, h->shard);

	forget_birth(h);
	raw_spin_lock(&shard->lock);
	add_counts(&total->all, child->state);
	/* A walk that reads has this number, others do not ask. */
	if (shard->walked && h->seen != READ_ONCE(h->group->walk))
		add_counts(&total->unseen, child->state);
	child->ended = true;
	if (shard->at != h)
		list_move_tail(&h->child_entry, done);
	raw_spin_unlock(&shard->lock);
}

static void forget_child(struct pmuctl_context *ctx, const struct pmuctl_event *child)
{
	pmuctl_count_inherited(ctx, child, -1);
	WRITE_ONCE(ctx->nr_events, ctx->nr_events - pmuctl_event_weight(child));
}

static void end_group(struct pmuctl_context *ctx, struct pmuctl_event *leader,
		      struct list_head *done)
{
	struct pmuctl_event *event, *next;

	for_each_group_member(event, leader)
		pmuctl_inherit_emit_read(event);
	list_del(&leader->node);
	list_for_each_entry_safe(event, next, &leader->siblings, node) {
		list_del(&event->node);
		forget_child(ctx, event);
		pmuctl_inherit_end_child(event, done);
	}
	forget_child(ctx, leader);
	pmuctl_inherit_end_child(leader, done);
}

void pmuctl_inherit_end(struct pmuctl_context *ctx)
{
	struct pmuctl_event *leader, *next;
	enum pmuctl_class class;
	unsigned long flags;
	LIST_HEAD(done);

	if (!READ_ONCE(ctx->nr_inherit))
		return;
	raw_spin_lock_irqsave(&ctx->lock, flags);
	this_cpu_write(pmuctl_members_left, PMUCTL_MEMBERS_AT_END);
	for (class = 0; class < PMUCTL_CLASSES; class++)
		list_for_each_entry_safe(leader, next, &ctx->groups[class], node)
			if (pmuctl_is_child(leader))
				end_group(ctx, leader, &done);
	raw_spin_unlock_irqrestore(&ctx->lock, flags);
	pmuctl_inherit_release(&done);
}
