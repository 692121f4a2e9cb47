// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inheritance; inherit.h says how it works. Tasks begin and end in hooks, where nothing may
 * sleep, so what children need is allocated atomically; without memory a child is not
 * counted, and that is told.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "core.h"
#include "inherit.h"
#include "output.h"

/**
 * struct shard - children that were made on one CPU
 * @lock: raw, IRQs off; inside of the locks of contexts.
 * @children: by heritage->kin, the events of a group together, its leader first.
 * @walked: somebody is walking @children: who ends stays there.
 */
struct shard {
	raw_spinlock_t lock;
	struct list_head children;
	bool walked;
};

/**
 * struct pmuctl_family - what the events of an inherited group share
 * @mutex: one walk at a time; inside of pmuctl_mutex.
 * @roots: the events with descriptors; @mutex.
 * @walk: number of the last walk; @mutex.
 * @shards: one for each CPU.
 * @refs: one for each root.
 */
struct pmuctl_family {
	struct mutex mutex;
	struct list_head roots;
	u64 walk;
	struct shard __percpu *shards;
	refcount_t refs;
};

static atomic_long_t missing;

unsigned long pmuctl_inherit_missing(void)
{
	return atomic_long_read(&missing);
}

static struct pmuctl_event *event_of(struct pmuctl_heritage *h)
{
	return container_of(h, struct pmuctl_event, heritage);
}

/* ---- Families ---- */

static struct pmuctl_family *make_family(void)
{
	struct pmuctl_family *family;
	int cpu;

	family = kzalloc(sizeof(*family), GFP_KERNEL_ACCOUNT);
	if (!family)
		return NULL;
	family->shards = alloc_percpu_gfp(struct shard, GFP_KERNEL_ACCOUNT);
	if (!family->shards) {
		kfree(family);
		return NULL;
	}
	for_each_possible_cpu(cpu) {
		struct shard *shard = per_cpu_ptr(family->shards, cpu);

		raw_spin_lock_init(&shard->lock);
		INIT_LIST_HEAD(&shard->children);
	}
	mutex_init(&family->mutex);
	INIT_LIST_HEAD(&family->roots);
	refcount_set(&family->refs, 1);
	return family;
}

static void put_family(struct pmuctl_family *family)
{
	if (!refcount_dec_and_test(&family->refs))
		return;
	free_percpu(family->shards);
	kfree(family);
}

int pmuctl_inherit_alloc(struct pmuctl_event *event, struct pmuctl_event *leader,
			 const struct perf_event_attr *attr,
			 struct pmuctl_explanation *why)
{
	struct pmuctl_heritage *h = &event->heritage;

	if (leader && !leader->heritage.family != !attr->inherit)
		return pmuctl_refuse(why, SIBLING_INHERIT, "attr.inherit");
	if (!attr->inherit)
		return 0;
	h->past = alloc_percpu_gfp(struct pmuctl_past, GFP_KERNEL_ACCOUNT);
	if (!h->past)
		return pmuctl_refuse(why, NO_MEMORY, "");
	if (leader) {
		h->family = leader->heritage.family;
		refcount_inc(&h->family->refs);
	} else {
		h->family = make_family();
	}
	if (!h->family) {
		free_percpu(h->past);
		h->past = NULL;
		return pmuctl_refuse(why, NO_MEMORY, "");
	}
	h->root = event;
	h->thread_only = attr->inherit_thread;
	mutex_lock(&h->family->mutex);
	list_add_tail(&h->sibling, &h->family->roots);
	mutex_unlock(&h->family->mutex);
	return 0;
}

void pmuctl_inherit_free(struct pmuctl_event *event)
{
	struct pmuctl_heritage *h = &event->heritage;

	if (!h->family)
		return;
	mutex_lock(&h->family->mutex);
	list_del(&h->sibling);
	mutex_unlock(&h->family->mutex);
	put_family(h->family);
	free_percpu(h->past);
}

void pmuctl_inherit_lock(struct pmuctl_event *event)
{
	mutex_lock(&event->heritage.family->mutex);
}

void pmuctl_inherit_unlock(struct pmuctl_event *event)
{
	mutex_unlock(&event->heritage.family->mutex);
}

/* ---- The end of a child ---- */

static void free_child_rcu(struct rcu_head *rcu)
{
	struct pmuctl_event *child =
		container_of(rcu, struct pmuctl_event, rcu);

	pmuctl_event_free_child(child);
}

/* It is not listed any more. Who found it before may still look at it. */
static void release_child(struct pmuctl_event *child)
{
	pmuctl_context_put(child->context);
	call_rcu(&child->rcu, free_child_rcu);
}

static void release_children(struct list_head *list)
{
	struct pmuctl_heritage *h, *next;

	list_for_each_entry_safe(h, next, list, kin)
		release_child(event_of(h));
}

/* Its context is locked; it is in none of the lists of that any more. */
static void end_child(struct pmuctl_event *child, struct list_head *done)
{
	struct pmuctl_heritage *h = &child->heritage;
	struct shard *shard = per_cpu_ptr(h->family->shards, h->shard);
	struct pmuctl_past *past = per_cpu_ptr(h->root->heritage.past, h->shard);

	raw_spin_lock(&shard->lock);
	past->value += child->counter.count - child->base;
	past->time_enabled += child->time_enabled;
	past->time_running += child->time_running;
	child->ended = true;
	if (!shard->walked)
		list_move_tail(&h->kin, done);
	raw_spin_unlock(&shard->lock);
}

static void end_group(struct pmuctl_context *ctx, struct pmuctl_event *leader,
		      struct list_head *done)
{
	struct pmuctl_event *event, *next;

	list_del(&leader->node);
	list_for_each_entry_safe(event, next, &leader->siblings, node) {
		list_del(&event->node);
		end_child(event, done);
		ctx->nr_inherit--;
	}
	end_child(leader, done);
	ctx->nr_inherit--;
}

static bool is_child(const struct pmuctl_event *event)
{
	return event->heritage.root && event->heritage.root != event;
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
			if (is_child(leader))
				end_group(ctx, leader, &done);
	raw_spin_unlock_irqrestore(&ctx->lock, flags);
	release_children(&done);
}

/* ---- Walks ---- */

static void walk_begin(struct shard *shard)
{
	raw_spin_lock_irq(&shard->lock);
	shard->walked = true;
	raw_spin_unlock_irq(&shard->lock);
}

static void walk_end(struct shard *shard)
{
	struct pmuctl_heritage *h, *next;
	LIST_HEAD(done);

	raw_spin_lock_irq(&shard->lock);
	shard->walked = false;
	list_for_each_entry_safe(h, next, &shard->children, kin)
		if (event_of(h)->ended)
			list_move_tail(&h->kin, &done);
	raw_spin_unlock_irq(&shard->lock);
	release_children(&done);
}

/* Nobody leaves while it is walked, and who comes does so at its end. */
#define for_each_child(h, shard)						\
	list_for_each_entry_rcu(h, &(shard)->children, kin, (shard)->walked)

void pmuctl_inherit_walk(struct pmuctl_event *event,
			 void (*func)(struct pmuctl_event *child, void *arg),
			 void *arg)
{
	struct pmuctl_family *family = event->heritage.family;
	struct pmuctl_heritage *h;
	int cpu;

	lockdep_assert_held(&family->mutex);
	for_each_possible_cpu(cpu) {
		struct shard *shard = per_cpu_ptr(family->shards, cpu);

		if (list_empty_careful(&shard->children))
			continue;
		walk_begin(shard);
		for_each_child(h, shard)
			if (h->root == event)
				func(event_of(h), arg);
		walk_end(shard);
	}
}

static void del_child(struct pmuctl_event *child, void *unused)
{
	pmuctl_context_del(child);
}

void pmuctl_inherit_close(struct pmuctl_event *event)
{
	struct pmuctl_family *family = event->heritage.family;
	int cpu;

	mutex_lock(&family->mutex);
	event->heritage.closing = true;
	/* Who is making a child has listed it when we have had the lock. */
	for_each_possible_cpu(cpu) {
		struct shard *shard = per_cpu_ptr(family->shards, cpu);

		raw_spin_lock_irq(&shard->lock);
		raw_spin_unlock_irq(&shard->lock);
	}
	pmuctl_inherit_walk(event, del_child, NULL);
	mutex_unlock(&family->mutex);
}

/* ---- What was counted ---- */

/**
 * struct sum - what a walk adds to
 * @family: whose walk it is.
 * @counts: and @n: of pmuctl_inherit_add().
 * @group: all of a group are wanted.
 * @child: of which an instant is read.
 */
struct sum {
	struct pmuctl_family *family;
	struct pmuctl_counts *counts;
	unsigned int n;
	bool group;
	struct pmuctl_event *child;
};

static struct pmuctl_counts *counts_of(const struct sum *sum, u64 id)
{
	unsigned int i;

	for (i = 0; i < sum->n; i++)
		if (sum->counts[i].id == id)
			return &sum->counts[i];
	return NULL;
}

static void add_child(const struct sum *sum, struct pmuctl_event *child)
{
	struct pmuctl_counts *counts = counts_of(sum, child->id);

	child->heritage.seen = sum->family->walk;
	if (!counts)
		return;
	counts->value += hwpmu_read(&child->counter) - child->base;
	counts->time_enabled += child->time_enabled;
	counts->time_running += child->time_running;
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
	freeze = sum->child->leader->counter.running;
	if (freeze)
		hwpmu_freeze();
	for_each_group_member(event, sum->child->leader)
		add_child(sum, event);
	if (freeze)
		hwpmu_thaw();
}

static void add_shard(struct sum *sum, struct shard *shard, int cpu)
{
	struct pmuctl_heritage *h;
	struct pmuctl_past *past;

	raw_spin_lock_irq(&shard->lock);
	shard->walked = true;
	list_for_each_entry(h, &sum->family->roots, sibling) {
		struct pmuctl_counts *counts = counts_of(sum, event_of(h)->id);

		if (!counts)
			continue;
		past = per_cpu_ptr(h->past, cpu);
		counts->value += past->value;
		counts->time_enabled += past->time_enabled;
		counts->time_running += past->time_running;
	}
	raw_spin_unlock_irq(&shard->lock);

	for_each_child(h, shard) {
		sum->child = event_of(h);
		if (h->seen == sum->family->walk ||
		    !counts_of(sum, sum->child->id))
			continue;
		pmuctl_context_call(sum->child->context, add_live, sum);
		/* It had ended, or has meanwhile, but after we came here. */
		if (h->seen != sum->family->walk)
			add_child(sum, sum->child);
	}
	walk_end(shard);
}

void pmuctl_inherit_add(struct pmuctl_event *event, bool group,
			struct pmuctl_counts *counts, unsigned int n)
{
	struct pmuctl_family *family = event->heritage.family;
	struct sum sum = {
		.family = family, .counts = counts, .n = n, .group = group,
	};
	int cpu;

	lockdep_assert_held(&family->mutex);
	family->walk++;
	for_each_possible_cpu(cpu)
		add_shard(&sum, per_cpu_ptr(family->shards, cpu), cpu);
}

static void reset_live(struct pmuctl_context *ctx, void *child)
{
	struct pmuctl_event *event = child;

	if (!event->ended)
		event->base = hwpmu_read(&event->counter);
}

static void reset_child(struct pmuctl_event *child)
{
	struct pmuctl_heritage *h = &child->heritage;
	struct shard *shard = per_cpu_ptr(h->family->shards, h->shard);
	u64 before = child->base;

	pmuctl_context_call(child->context, reset_live, child);
	raw_spin_lock_irq(&shard->lock);
	/* Has it ended without being reset? Then what it counted is in the past. */
	if (child->ended && child->base == before)
		per_cpu_ptr(h->root->heritage.past, h->shard)->value -=
			child->counter.count - before;
	raw_spin_unlock_irq(&shard->lock);
}

/* The events of its group, or it alone; the family is locked. */
#define for_each_root(h, event, group)						\
	list_for_each_entry(h, &(event)->heritage.family->roots, sibling)	\
		if ((group) ? event_of(h)->leader == (event)->leader :		\
			      event_of(h) == (event))

static void reset_root(struct pmuctl_family *family, struct pmuctl_event *event)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct shard *shard = per_cpu_ptr(family->shards, cpu);
		struct pmuctl_heritage *h;

		raw_spin_lock_irq(&shard->lock);
		shard->walked = true;
		per_cpu_ptr(event->heritage.past, cpu)->value = 0;
		raw_spin_unlock_irq(&shard->lock);
		for_each_child(h, shard)
			if (h->root == event)
				reset_child(event_of(h));
		walk_end(shard);
	}
}

void pmuctl_inherit_reset(struct pmuctl_event *event, bool group)
{
	struct pmuctl_family *family = event->heritage.family;
	struct pmuctl_heritage *h;

	lockdep_assert_held(&family->mutex);
	for_each_root(h, event, group)
		reset_root(family, event_of(h));
}

/* ---- Changes for all ---- */

void pmuctl_inherit_follows(struct pmuctl_event *event)
{
	const struct pmuctl_event *root = event->heritage.root;

	if (root)
		event->heritage.changes = READ_ONCE(root->heritage.changes);
}

struct change {
	bool group;
	u64 value;
};

static void follow_switch(struct pmuctl_event *child, void *arg)
{
	const struct change *change = arg;

	pmuctl_event_switch_child(child, change->group, change->value);
}

void pmuctl_inherit_set_enabled(struct pmuctl_event *event, bool group,
				bool enabled)
{
	struct change change = { .group = group, .value = enabled };
	struct pmuctl_heritage *h;

	for_each_root(h, event, group) {
		h->switched = true;
		h->enabled = enabled;
		WRITE_ONCE(h->changes, h->changes + 1);
	}
	pmuctl_inherit_walk(event, follow_switch, &change);
}

struct child_period {
	struct pmuctl_event *child;
	u64 period;
};

static void set_period_here(struct pmuctl_context *ctx, void *arg)
{
	const struct child_period *p = arg;

	if (p->child->ended)
		return;
	pmuctl_sampling_set_period(p->child, p->period);
	pmuctl_inherit_follows(p->child);
}

static void follow_period(struct pmuctl_event *child, void *arg)
{
	struct child_period p = { .child = child, .period = *(u64 *)arg };

	pmuctl_context_call(child->context, set_period_here, &p);
}

void pmuctl_inherit_set_period(struct pmuctl_event *event, u64 period)
{
	struct pmuctl_heritage *h = &event->heritage;

	h->period = period;
	WRITE_ONCE(h->changes, h->changes + 1);
	pmuctl_inherit_walk(event, follow_period, &period);
}

/* ---- The beginning of a child ---- */

/*
 * It has all of @from, the same event of the parent, and follows the last change for all
 * that @from may not have seen yet. Returns false if the root gets no more children.
 */
static bool list_child(struct pmuctl_event *child,
		       const struct pmuctl_event *from)
{
	struct pmuctl_heritage *h = &child->heritage;
	struct pmuctl_heritage *root = &from->heritage.root->heritage;
	struct shard *shard;

	h->family = root->family;
	h->root = from->heritage.root;
	h->shard = smp_processor_id();
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

static struct pmuctl_event *make_child(const struct pmuctl_event *from)
{
	struct pmuctl_event *child = pmuctl_event_copy(from);

	if (!child) {
		count_missing();
		return NULL;
	}
	if (!list_child(child, from)) {
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

static void copy_group(struct pmuctl_context *ctx, struct pmuctl_event *leader,
		       u64 clone_flags)
{
	struct pmuctl_event *from, *child, *first = NULL;

	for_each_group_member(from, leader) {
		if (!is_inherited(from, clone_flags))
			continue;
		child = make_child(from);
		if (!child)
			continue;
		pmuctl_context_adopt(ctx, child, first);
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

void pmuctl_inherit_exit(void)
{
	rcu_barrier(); /* free_child_rcu() is code of this module */
}
