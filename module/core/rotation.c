// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose turn it is when there are more flexible groups than counters: see rotation.h.
 */
#include <linux/moduleparam.h>

#include "core/rotation.h"

#define ROTATION_US_MIN	100
#define ROTATION_US_MAX	1000000
/* What is left of the time until a rotation may be less than a timer is worth. */
#define ROTATION_NS_MIN	(20 * NSEC_PER_USEC)

static unsigned int rotation_us = 4000;
module_param(rotation_us, uint, 0644);
MODULE_PARM_DESC(rotation_us,
		 "Microseconds after which groups that wait for counters get their turn (100 to 1000000, default 4000)");

static u64 rotation_ns(void)
{
	return clamp_t(u64, READ_ONCE(rotation_us), ROTATION_US_MIN, ROTATION_US_MAX) *
	       NSEC_PER_USEC;
}

/* Without groups to rotate there are no turns; a single one of a task lets the CPU's go first. */
static bool takes_turns(const struct pmuctl_context *ctx)
{
	const struct list_head *groups = &ctx->groups[PMUCTL_FLEXIBLE];

	return !list_empty(groups) && (ctx->task || !list_is_singular(groups));
}

static u64 left_of(const struct pmuctl_context *ctx, u64 now)
{
	u64 turn = rotation_ns();

	if (!ctx || !takes_turns(ctx))
		return turn;
	return turn - min(now - ctx->rotation_start, turn - ROTATION_NS_MIN);
}

ktime_t pmuctl_rotation_left(const struct pmuctl_cpuctx *pc, u64 now)
{
	return ns_to_ktime(min(left_of(&pc->context, now), left_of(pc->task_context, now)));
}

static bool is_due(const struct pmuctl_context *ctx, u64 now)
{
	return left_of(ctx, now) <= ROTATION_NS_MIN;
}

bool pmuctl_rotation_is_due(const struct pmuctl_cpuctx *pc, u64 now)
{
	return is_due(&pc->context, now) || is_due(pc->task_context, now);
}

/* Those that are on go to the end, in their order; those that waited come first. */
static void move_running_to_end(struct pmuctl_context *ctx)
{
	struct list_head *list = &ctx->groups[PMUCTL_FLEXIBLE];
	struct pmuctl_event *leader, *next;
	LIST_HEAD(ran);

	list_for_each_entry_safe(leader, next, list, node)
		if (leader->state->counter.running)
			list_move_tail(&leader->node, &ran);
	list_splice_tail(&ran, list);
	ctx->clone_id = 0;
}

/* A turn in which the CPU's could go first is one on a CPU that has such. */
static void rotate_if_due(struct pmuctl_cpuctx *pc, struct pmuctl_context *ctx, u64 now)
{
	if (!is_due(ctx, now))
		return;
	move_running_to_end(ctx);
	if (!list_empty(&pc->context.groups[PMUCTL_FLEXIBLE]))
		ctx->goes_first = !ctx->goes_first;
	ctx->rotation_start = now;
	pc->rotations++;
}

void pmuctl_rotate(struct pmuctl_cpuctx *pc, u64 now)
{
	rotate_if_due(pc, &pc->context, now);
	if (pc->task_context)
		rotate_if_due(pc, pc->task_context, now);
}

void pmuctl_rotation_pause(struct pmuctl_cpuctx *pc, struct pmuctl_context *ctx, u64 now)
{
	rotate_if_due(pc, ctx, now);
	ctx->rotation_elapsed = now - ctx->rotation_start;
}

static void note(struct pmuctl_context *ctx, bool before, bool after, u64 now)
{
	if (after && !before)
		ctx->rotation_start = now - ctx->rotation_elapsed;
	else if (before && !after)
		ctx->rotation_elapsed = now - ctx->rotation_start;
	ctx->rotate_necessary = after;
}

void pmuctl_rotation_note(struct pmuctl_cpuctx *pc, bool before, bool loaded, u64 now)
{
	note(&pc->context, before, pc->rotate_necessary, now);
	if (pc->task_context)
		note(pc->task_context, before && !loaded, pc->rotate_necessary, now);
}
