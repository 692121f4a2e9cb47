/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What decides whether an event may join a group, and whether there are counters for it, and
 * room: admission.c.
 */
#ifndef PMUCTL_ADMISSION_H
#define PMUCTL_ADMISSION_H

#include "core/event.h"

/**
 * pmuctl_admit() - may one more hardware event be opened?
 * @ctx: whose it is to be.
 * @event: not attached yet; its leader is known.
 * @why: filled on refusal.
 *
 * Context: Process; pmuctl_mutex held.
 * Return: 0; -EINVAL if its group can never be on the PMU; -ENOENT if its CPU is of a type that
 * cannot count it; -EBUSY if counters would not
 * be enough for all and the parameter overcommit forbids that.
 */
int pmuctl_admit(struct pmuctl_context *ctx, const struct pmuctl_event *event,
		 struct pmuctl_explanation *why);

/* The same for events of any kind: of what some need there cannot be too little. */
static inline int pmuctl_event_admit(struct pmuctl_context *ctx, const struct pmuctl_event *event,
				     struct pmuctl_explanation *why)
{
	return event->ops->admit ? event->ops->admit(ctx, event, why) : 0;
}

/**
 * pmuctl_admit_to_group() - may an event join a group?
 * @ctx: where it would be.
 * @event: not attached yet.
 * @leader: the group's, kept open by the caller.
 * @why: filled on refusal.
 *
 * Its leader may still end before the event is listed: who does that asks pmuctl_may_join().
 *
 * Context: Process; pmuctl_mutex held.
 * Return: 0; -EINVAL if it does not fit the group; -ESRCH as pmuctl_refuse_ended().
 */
int pmuctl_admit_to_group(const struct pmuctl_context *ctx, const struct pmuctl_event *event,
			  struct pmuctl_event *leader, struct pmuctl_explanation *why);

/* -ESRCH: @leader has ended, or there is none and the task is exiting. Any context. */
int pmuctl_refuse_ended(struct task_struct *task, const struct pmuctl_event *leader,
			struct pmuctl_explanation *why);

/* May a context have @event, one more? It is asked again when that is listed, with the context's
 * lock held: a new task gets its parent's at any time.
 */
bool pmuctl_has_room(const struct pmuctl_context *ctx, const struct pmuctl_event *event);

/* -ENOSPC: it has as many as the parameter max_events_per_context allows. Any context. */
int pmuctl_refuse_number(const struct pmuctl_context *ctx, struct pmuctl_explanation *why);

/**
 * pmuctl_may_inherit() - may a new task have a child of an event?
 * @ctx: its context, to which others may have opened events already.
 * @parent: that of the task which has made it.
 * @root: of which it is a child.
 *
 * It gets no more than the parameter max_events_per_context allows, or than its parent has, where
 * that has been lowered since: else each generation could have more than the one before.
 *
 * Context: Any; both contexts locked.
 */
bool pmuctl_may_inherit(const struct pmuctl_context *ctx, const struct pmuctl_context *parent,
			const struct pmuctl_event *root);

/* May anything join this leader (NULL: no group), in this context? @ctx->lock is held: an exec
 * and the end of the task end both at any time, so it is asked when something is listed.
 */
static inline bool pmuctl_may_join(const struct pmuctl_context *ctx,
				   const struct pmuctl_event *leader)
{
	lockdep_assert_held(&ctx->lock);
	return !ctx->gone &&
	       (!leader || (!leader->ended && leader->leader == leader));
}

/* The context gets an event, or loses it: @n is 1 or -1. Its lock is held. */
static inline void pmuctl_count_inherited(struct pmuctl_context *ctx,
					  const struct pmuctl_event *event, int n)
{
	if (!event->inherit.root)
		return;
	ctx->nr_inherit += n;
	ctx->nr_inherit_sampling += event->sampling ? n : 0;
}

/* If CPUs differ: does this one have all events of a group? Its CPU, IRQs off. */
bool pmuctl_group_can_be_here(struct pmuctl_event *leader);

extern unsigned int pmuctl_reserve_percpu; /* the parameter */
u64 pmuctl_usable_beside_reserved(const struct pmuctl_context *ctx, int cpu);

/* The counters of a CPU that the events of a context may use now. Any context. */
static inline u64 pmuctl_usable_counters(const struct pmuctl_context *ctx, int cpu)
{
	return likely(!READ_ONCE(pmuctl_reserve_percpu)) ? ~0ULL :
		pmuctl_usable_beside_reserved(ctx, cpu);
}

/* How many members the group of @leader may have if @event is one; their context is locked. */
unsigned int pmuctl_group_limit(struct pmuctl_event *leader, const struct pmuctl_event *event);

/* It has as many. Returns the error. */
int pmuctl_refuse_long_group(unsigned int limit, struct pmuctl_explanation *why);

#endif /* PMUCTL_ADMISSION_H */
