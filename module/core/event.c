// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of events, their copies for children, and switching one of them on and off: what
 * inheritance needs of them too. How events are opened and closed is in event/create.c.
 */
#include <linux/atomic.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "core/cpu_state.h"
#include "core/hook.h"
#include "core/sampling_state.h"

static struct kmem_cache *event_cache;
static atomic64_t last_id;

u64 pmuctl_event_next_id(void)
{
	return atomic64_inc_return(&last_id);
}

struct pmuctl_event *pmuctl_event_zalloc(gfp_t gfp)
{
	struct pmuctl_event *event = kmem_cache_zalloc(event_cache, gfp | __GFP_ACCOUNT);

	if (event)
		event->state = &event->own;
	return event;
}

/* An event, or its own state, is not used any more. The memory goes with the second of both. */
static void give_up_half(struct pmuctl_event *event)
{
	if (atomic_xchg(&event->parts_freed, 1))
		kmem_cache_free(event_cache, event);
}

static void dealloc_one(struct pmuctl_event *event)
{
	pmuctl_sampling_free(event);
	if (unlikely(event->places))
		kfree(event->places);
	if (event->state == &event->own) {
		kmem_cache_free(event_cache, event);
		return;
	}
	/* It ends with another one's state, and somebody else still has its own. */
	give_up_half(container_of(event->state, struct pmuctl_event, own));
	give_up_half(event);
}

static void free_event_rcu(struct rcu_head *rcu)
{
	struct pmuctl_event *event = container_of(rcu, struct pmuctl_event, rcu);
	struct pmuctl_inherit *next;

	for (; event; event = next ? container_of(next, struct pmuctl_event, inherit) : NULL) {
		next = event->inherit.next_ended;
		dealloc_one(event);
	}
}

void pmuctl_event_free_later(struct pmuctl_event *event)
{
	call_rcu(&event->rcu, free_event_rcu);
}

/* ---- Children; mostly in hooks, where nothing may sleep ---- */

struct pmuctl_event *pmuctl_event_blank(bool sampling, gfp_t gfp)
{
	struct pmuctl_event *child;

	gfp |= __GFP_ACCOUNT | __GFP_NOWARN;
	child = pmuctl_event_zalloc(gfp);
	if (!child)
		return NULL;
	if (sampling && !pmuctl_sampling_blank(child, gfp)) {
		kmem_cache_free(event_cache, child);
		return NULL;
	}
	return child;
}

static void copy_soft_state(struct pmuctl_soft_state *child, const struct pmuctl_soft_state *from)
{
	child->source = from->source;
	child->tp = from->tp;
	child->value_of = from->value_of;
	child->exclude_user = from->exclude_user;
	child->exclude_kernel = from->exclude_kernel;
}

void pmuctl_event_copy(struct pmuctl_event *child, const struct pmuctl_event *from)
{
	child->output = from->output;
	child->id = from->id;
	child->stream_id = pmuctl_event_next_id();
	child->cpu = from->cpu;
	child->read_format = from->read_format;
	child->side = from->side;
	child->missed = from->missed;
	child->aux = from->aux;
	child->aux_action = from->aux_action;
	child->aux_paused = from->aux_action & PMUCTL_AUX_START_PAUSED;
	child->hook = from->hook;
	child->exclude_idle = from->exclude_idle;
	child->remove_on_exec = from->remove_on_exec;
	child->inherit_stat = from->inherit_stat;
	child->tells_switches = from->tells_switches;
	child->exclusive = from->exclusive;
	child->class = from->class;
	child->leader = child;
	INIT_LIST_HEAD(&child->siblings);
	child->enable_on_exec = from->enable_on_exec;
	hwpmu_counter_copy(&child->own.counter, &from->own.counter);
	child->ops = from->ops;
	if (!pmuctl_event_is_hw(from))
		copy_soft_state(&child->sw, &from->sw);
	if (from->sampling)
		pmuctl_sampling_copy(child, from);
}

void pmuctl_event_free_child(struct pmuctl_event *child)
{
	dealloc_one(child);
}

int __init pmuctl_event_init(void)
{
	int err;

	event_cache = KMEM_CACHE(pmuctl_event, 0);
	if (!event_cache)
		return -ENOMEM;
	err = pmuctl_hook_registry_init();
	if (err)
		kmem_cache_destroy(event_cache);
	return err;
}

void pmuctl_event_exit(void)
{
	pmuctl_hook_registry_exit();
	rcu_barrier(); /* free_event_rcu() is code of this module */
	kmem_cache_destroy(event_cache);
}
