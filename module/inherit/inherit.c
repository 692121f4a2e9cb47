// SPDX-License-Identifier: GPL-2.0-only
/*
 * Families of events that are inherited, and walks over their children; inherit.h says how
 * it works. Children begin and end in inherit/task.c, and are counted in inherit/count.c.
 */
#include <linux/percpu.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/slab.h>

#include "core/clone_switch.h"
#include "core/context.h"
#include "core/event.h"
#include "inherit/inherit.h"
#include "sample/sampling.h"

struct pmuctl_event *pmuctl_inherit_event(struct pmuctl_inherit *h)
{
	return container_of(h, struct pmuctl_event, inherit);
}

bool pmuctl_is_child(const struct pmuctl_event *event)
{
	return event->inherit.root && event->inherit.root != event;
}

/* ---- Walks ---- */

/* So many are gone through at a time: with interrupts off, or freed by RCU. */
#define BATCH	64

/*
 * They are not listed any more. Who found one before may still look at it, so the memory goes
 * later; that of some at once, which costs less than if RCU were told of each.
 */
void pmuctl_inherit_release(struct list_head *list)
{
	struct pmuctl_inherit *h, *next, *chain = NULL;
	unsigned int n = 0;

	list_for_each_entry_safe(h, next, list, child_entry) {
		pmuctl_context_put(pmuctl_inherit_event(h)->context);
		h->next_ended = chain;
		chain = h;
		if (&next->child_entry == list || ++n % BATCH == 0) {
			pmuctl_event_free_later(pmuctl_inherit_event(h));
			chain = NULL;
		}
	}
}

void pmuctl_walk_begin_locked(struct pmuctl_shard *shard)
{
	lockdep_assert_held(&shard->lock);
	shard->walked = true;
	shard->at = NULL;
	list_add_tail(&shard->end, &shard->children);
}

/*
 * Whoever was making a child here has listed it when we have the lock; whoever does so later sees
 * what was changed before.
 */
static void walk_begin(struct pmuctl_shard *shard)
{
	raw_spin_lock_irq(&shard->lock);
	pmuctl_walk_begin_locked(shard);
	raw_spin_unlock_irq(&shard->lock);
}

/* Without a root it is a walk that counts. */
static bool is_passed_by(const struct pmuctl_inherit *h, const struct pmuctl_event *root)
{
	return root ? h->root != root : h->seen == h->group->walk;
}

/* Some that are of other roots, or counted, are passed by at once, with interrupts off. */
static struct list_head *pass_by(struct pmuctl_shard *shard, struct list_head *at,
				 const struct pmuctl_event *root)
{
	unsigned int n = BATCH;

	do {
		at = at->next;
	} while (at != &shard->end && --n &&
		 is_passed_by(list_entry(at, struct pmuctl_inherit, child_entry), root));
	return at;
}

struct pmuctl_inherit *pmuctl_walk_next(struct pmuctl_shard *shard,
					const struct pmuctl_event *root)
{
	struct pmuctl_inherit *last = shard->at;
	struct list_head *next;
	LIST_HEAD(done);

	raw_spin_lock_irq(&shard->lock);
	next = pass_by(shard, last ? &last->child_entry : &shard->children, root);
	if (last && pmuctl_inherit_event(last)->ended)
		list_move_tail(&last->child_entry, &done);
	shard->at = NULL;
	if (next != &shard->end) {
		shard->at = list_entry(next, struct pmuctl_inherit, child_entry);
	} else {
		list_del(&shard->end);
		shard->walked = false;
	}
	raw_spin_unlock_irq(&shard->lock);
	pmuctl_inherit_release(&done);
	cond_resched();
	return shard->at;
}

void pmuctl_inherit_walk(struct pmuctl_event *event,
			 void (*func)(struct pmuctl_event *child, void *arg),
			 void *arg)
{
	struct pmuctl_inherit_group *ig = event->inherit.group;
	struct pmuctl_inherit *h;
	int cpu;

	lockdep_assert_held(&ig->mutex);
	for_each_possible_cpu(cpu) {
		struct pmuctl_shard *shard = per_cpu_ptr(ig->shards, cpu);

		walk_begin(shard);
		while ((h = pmuctl_walk_next(shard, event)))
			if (h->root == event)
				func(pmuctl_inherit_event(h), arg);
	}
}

/* ---- Families ---- */

static struct pmuctl_inherit_group *make_group(void)
{
	struct pmuctl_inherit_group *ig;
	int cpu;

	ig = kzalloc(sizeof(*ig), GFP_KERNEL_ACCOUNT);
	if (!ig)
		return NULL;
	ig->shards = alloc_percpu_gfp(struct pmuctl_shard, GFP_KERNEL_ACCOUNT);
	if (!ig->shards) {
		kfree(ig);
		return NULL;
	}
	for_each_possible_cpu(cpu) {
		struct pmuctl_shard *shard = per_cpu_ptr(ig->shards, cpu);

		raw_spin_lock_init(&shard->lock);
		INIT_LIST_HEAD(&shard->children);
	}
	mutex_init(&ig->mutex);
	mutex_init(&ig->attach);
	raw_spin_lock_init(&ig->born_lock);
	INIT_LIST_HEAD(&ig->born);
	seqcount_init(&ig->switches);
	INIT_LIST_HEAD(&ig->roots);
	refcount_set(&ig->refs, 1);
	return ig;
}

static void put_group(struct pmuctl_inherit_group *ig)
{
	if (!refcount_dec_and_test(&ig->refs))
		return;
	free_percpu(ig->shards);
	kfree(ig);
}

/* ---- The end of a root ---- */

static bool end_here(struct pmuctl_cpuctx *pc, void *arg)
{
	struct pmuctl_event *child = arg;
	LIST_HEAD(none); /* a walk is at it */
	bool changed;

	if (child->ended)
		return false;
	changed = pmuctl_context_take_out(pc, child);
	pmuctl_inherit_end_child(child, &none);
	return changed;
}

static void del_child(struct pmuctl_event *child, void *unused)
{
	pmuctl_context_change(child->context, end_here, child);
}

/* These events, whose descriptors are closed, get no more children and lose those they have. */
static void end_children(struct pmuctl_inherit_group *ig, struct llist_node *left)
{
	struct pmuctl_inherit *h;

	llist_for_each_entry(h, left, left) {
		h->closing = true;
		pmuctl_inherit_walk(pmuctl_inherit_event(h), del_child, NULL);
		list_del_init(&h->sibling);
	}
}

/* @ig is kept by the caller. */
static void close_left(struct pmuctl_inherit_group *ig)
{
	struct pmuctl_inherit *h, *next;
	struct llist_node *left;

	for (;;) {
		/* Either it is seen here, or who left it sees that it is unlocked. */
		smp_mb();
		if (llist_empty(&ig->left) || !mutex_trylock(&ig->mutex))
			return;
		left = llist_del_all(&ig->left);
		end_children(ig, left);
		mutex_unlock(&ig->mutex);
		llist_for_each_entry_safe(h, next, left, left)
			h->free(pmuctl_inherit_event(h));
	}
}

/* Whoever unlocks it does what was left to him meanwhile. */
static void unlock_group(struct pmuctl_inherit_group *ig)
{
	mutex_unlock(&ig->mutex);
	close_left(ig);
}

void pmuctl_inherit_close(struct pmuctl_event *event, void (*free)(struct pmuctl_event *event))
{
	struct pmuctl_inherit_group *ig = event->inherit.group;

	refcount_inc(&ig->refs); /* the event may be freed by somebody else at once */
	event->inherit.free = free;
	llist_add(&event->inherit.left, &ig->left);
	close_left(ig);
	put_group(ig);
}

/* ---- Roots ---- */

static void free_group(struct pmuctl_inherit *h)
{
	put_group(h->group);
	h->group = NULL;
	free_percpu(h->child_total);
	h->child_total = NULL;
}

int pmuctl_inherit_alloc(struct pmuctl_event *event, struct pmuctl_event *leader,
			 const struct perf_event_attr *attr,
			 struct pmuctl_explanation *why)
{
	struct pmuctl_inherit *h = &event->inherit;

	if (leader && !leader->inherit.group != !attr->inherit)
		return pmuctl_refuse(why, SIBLING_INHERIT, "attr.inherit");
	if (!attr->inherit)
		return 0;
	INIT_LIST_HEAD(&h->sibling);
	h->child_total = alloc_percpu_gfp(struct pmuctl_child_total, GFP_KERNEL_ACCOUNT);
	if (!h->child_total)
		return pmuctl_refuse(why, NO_MEMORY, "");
	if (leader) {
		h->group = leader->inherit.group;
		refcount_inc(&h->group->refs);
	} else {
		h->group = make_group();
	}
	if (!h->group) {
		free_percpu(h->child_total);
		h->child_total = NULL;
		return pmuctl_refuse(why, NO_MEMORY, "");
	}
	if (mutex_lock_killable(&h->group->mutex)) {
		free_group(h);
		return pmuctl_refuse(why, INTERRUPTED, "");
	}
	h->thread_only = pmuctl_attr_flags(attr) & PMUCTL_ATTR_INHERIT_THREAD;
	h->root = event;
	list_add_tail(&h->sibling, &h->group->roots);
	unlock_group(h->group);
	return 0;
}

void pmuctl_inherit_free(struct pmuctl_event *event)
{
	if (event->inherit.group)
		free_group(&event->inherit);
}

int pmuctl_inherit_lock(struct pmuctl_event *event)
{
	atomic_inc(&pmuctl_inherit_locked);
	if (!mutex_lock_killable(&event->inherit.group->mutex))
		return 0;
	atomic_dec(&pmuctl_inherit_locked);
	return -EINTR;
}

void pmuctl_inherit_unlock(struct pmuctl_event *event)
{
	atomic_dec(&pmuctl_inherit_locked);
	unlock_group(event->inherit.group);
}

/* ---- Changes for all ---- */

static void enable_child(struct pmuctl_event *child, void *arg)
{
	pmuctl_event_switch(child, false, true);
}

static void disable_child(struct pmuctl_event *child, void *arg)
{
	pmuctl_event_switch(child, false, false);
}

/* A leader that is closed meanwhile leaves its group, under its context's lock alone. */
struct pmuctl_inherit *pmuctl_find_meant(struct pmuctl_event *event, bool group)
{
	const struct pmuctl_event *leader = READ_ONCE(event->leader);
	struct pmuctl_inherit *meant = &event->inherit, *h;

	meant->next_meant = NULL;
	if (!group)
		return meant;
	list_for_each_entry(h, &event->inherit.group->roots, sibling) {
		if (h != &event->inherit &&
		    READ_ONCE(pmuctl_inherit_event(h)->leader) == leader) {
			h->next_meant = meant;
			meant = h;
		}
		cond_resched();
	}
	return meant;
}

u64 pmuctl_walk_number(struct pmuctl_inherit_group *ig, struct pmuctl_inherit *meant)
{
	WRITE_ONCE(ig->walk, ig->walk + 1);
	for (; meant; meant = meant->next_meant)
		meant->walk = ig->walk;
	return ig->walk;
}

/*
 * The members of a group that a child has are switched together. An exec may have taken its leader
 * out, or others, so that there are several, or single events.
 */
static void switch_children(struct pmuctl_inherit_group *ig, struct pmuctl_inherit *meant,
			    bool enabled)
{
	const u64 walk = pmuctl_walk_number(ig, meant);
	struct pmuctl_inherit *h;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct pmuctl_shard *shard = per_cpu_ptr(ig->shards, cpu);

		walk_begin(shard);
		while ((h = pmuctl_walk_next(shard, NULL)))
			if (h->seen != walk && h->root->inherit.walk == walk)
				pmuctl_event_switch_child(pmuctl_inherit_event(h), walk, enabled);
	}
}

void pmuctl_inherit_set_enabled(struct pmuctl_event *event, bool group,
				bool enabled)
{
	struct pmuctl_inherit *meant = pmuctl_find_meant(event, group), *h;
	struct pmuctl_inherit_group *ig = event->inherit.group;
	unsigned long flags;

	local_irq_save(flags); /* who makes children waits for it */
	write_seqcount_begin(&ig->switches);
	for (h = meant; h; h = h->next_meant) {
		h->switched = true;
		h->enabled = enabled;
		WRITE_ONCE(h->changes, h->changes + 1);
	}
	write_seqcount_end(&ig->switches);
	local_irq_restore(flags);
	if (meant->next_meant)
		switch_children(ig, meant, enabled);
	else
		pmuctl_inherit_walk(event, enabled ? enable_child : disable_child, NULL);
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
	struct pmuctl_inherit *h = &event->inherit;

	h->period = period;
	WRITE_ONCE(h->changes, h->changes + 1);
	pmuctl_inherit_walk(event, follow_period, &period);
}
