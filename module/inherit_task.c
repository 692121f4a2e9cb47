// SPDX-License-Identifier: GPL-2.0-only
/*
 * The children of events that are inherited: made with a task, and ended with it. Both
 * happens in hooks, where nothing may sleep, so what they need is allocated atomically;
 * without memory a child is not counted, and that is told.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/sched.h>

#include "context_table.h"
#include "inherit.h"
#include "output.h"

static atomic_long_t missing;

unsigned long pmuctl_inherit_missing(void)
{
	return atomic_long_read(&missing);
}

/* ---- The beginning of a child ---- */

bool pmuctl_inherit_list(struct pmuctl_event *child,
			 const struct pmuctl_event *from, int cpu)
{
	struct pmuctl_heritage *h = &child->heritage;
	struct pmuctl_heritage *root = &from->heritage.root->heritage;
	struct pmuctl_shard *shard;

	h->family = root->family;
	h->root = from->heritage.root;
	h->shard = cpu;
	shard = per_cpu_ptr(h->family->shards, h->shard);

	raw_spin_lock(&shard->lock);
	child->enabled = from->enabled;
	h->changes = READ_ONCE(root->changes);
	if (h->changes != from->heritage.changes) {
		if (root->switched)
			child->enabled = root->enabled;
		if (root->period)
			pmuctl_sampling_set_period(child, root->period);
	}
	if (!root->closing)
		list_add_tail_rcu(&h->kin, &shard->children);
	raw_spin_unlock(&shard->lock);
	return !root->closing;
}

static void count_missing(void)
{
	atomic_long_inc(&missing);
}

/* NULL: the root gets no more; or ERR_PTR(-ENOMEM) */
static struct pmuctl_event *make_child(struct pmuctl_context *ctx,
				       const struct pmuctl_event *from,
				       const struct pmuctl_event *leader)
{
	struct pmuctl_event *child = pmuctl_event_copy(from, GFP_ATOMIC);
	int cpu = leader ? leader->heritage.shard : smp_processor_id();

	if (!child) {
		count_missing();
		return ERR_PTR(-ENOMEM);
	}
	child->context = ctx; /* a walk that finds it there waits for the lock of that */
	if (!pmuctl_inherit_list(child, from, cpu)) {
		pmuctl_event_free_child(child);
		return NULL;
	}
	return child;
}

static bool is_inherited(const struct pmuctl_event *event, u64 clone_flags)
{
	const struct pmuctl_event *root = event->heritage.root;

	return root && (!root->heritage.thread_only || clone_flags & CLONE_THREAD);
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
			if (event->heritage.root == root)
				return event;
	return NULL;
}

static void copy_group(struct pmuctl_context *ctx, struct pmuctl_event *leader,
		       u64 clone_flags)
{
	struct pmuctl_event *from, *child, *first = NULL;

	for_each_group_member(from, leader) {
		if (!is_inherited(from, clone_flags))
			continue;
		/* Who counts the process may have been here before. */
		child = pmuctl_inherit_find(ctx, from->heritage.root);
		if (!child) {
			child = make_child(ctx, from, first);
			if (IS_ERR(child) && from == leader)
				return; /* its siblings must not count without it */
			if (IS_ERR_OR_NULL(child))
				continue;
			pmuctl_context_adopt(ctx, child, first);
		}
		if (!first)
			first = child;
	}
}

/* Both contexts are its own: the parent's is loaded here, the child has not run. */
static void copy_groups(struct pmuctl_context *parent, struct pmuctl_context *ctx,
			u64 clone_flags)
{
	struct pmuctl_event *leader;
	enum pmuctl_class class;
	unsigned long flags;

	raw_spin_lock_irqsave(&parent->lock, flags);
	raw_spin_lock_nested(&ctx->lock, SINGLE_DEPTH_NESTING);
	for_each_group(leader, class, parent)
		copy_group(ctx, leader, clone_flags);
	raw_spin_unlock(&ctx->lock);
	raw_spin_unlock_irqrestore(&parent->lock, flags);
}

void pmuctl_inherit_fork(struct task_struct *child, u64 clone_flags)
{
	struct pmuctl_context *parent = pmuctl_context_find(current), *ctx;

	if (!parent || !READ_ONCE(parent->nr_inherit))
		return;
	ctx = pmuctl_context_get_child(child);
	if (!ctx) {
		count_missing();
		return;
	}
	copy_groups(parent, ctx, clone_flags);
	pmuctl_context_put(ctx);
}

/* ---- The end of a child ---- */

void pmuctl_inherit_end_child(struct pmuctl_event *child, struct list_head *done)
{
	struct pmuctl_heritage *h = &child->heritage;
	struct pmuctl_shard *shard = per_cpu_ptr(h->family->shards, h->shard);
	struct pmuctl_past *past = per_cpu_ptr(h->root->heritage.past, h->shard);
	const struct pmuctl_tally *tally = child->tally;

	raw_spin_lock(&shard->lock);
	past->value += tally->counter.count - tally->base;
	past->time_enabled += tally->time_enabled;
	past->time_running += tally->time_running;
	child->ended = true;
	if (!shard->walked)
		list_move_tail(&h->kin, done);
	raw_spin_unlock(&shard->lock);
}

static void end_group(struct pmuctl_context *ctx, struct pmuctl_event *leader,
		      struct list_head *done)
{
	struct pmuctl_event *event, *next;

	for_each_group_member(event, leader)
		pmuctl_inherit_tell(event);
	ctx->kin = 0;
	list_del(&leader->node);
	list_for_each_entry_safe(event, next, &leader->siblings, node) {
		list_del(&event->node);
		pmuctl_inherit_end_child(event, done);
		ctx->nr_inherit--;
	}
	pmuctl_inherit_end_child(leader, done);
	ctx->nr_inherit--;
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
	for (class = 0; class < PMUCTL_CLASSES; class++)
		list_for_each_entry_safe(leader, next, &ctx->groups[class], node)
			if (pmuctl_is_child(leader))
				end_group(ctx, leader, &done);
	raw_spin_unlock_irqrestore(&ctx->lock, flags);
	pmuctl_inherit_release(&done);
}
