// SPDX-License-Identifier: GPL-2.0-only
/*
 * Children that an event has from the start: one for each thread that its process already
 * has, or, if it joins a group, for each child that the group's leader has got meanwhile.
 * Process context.
 *
 * Tasks begin and end while we look for them. Whoever has a child passes it on to what he
 * starts, so it is enough to go on until there was nobody without one: who begins later was
 * started by somebody with one. A thread is on the list of its process before the hook that
 * tells of it gives it its children, so either may be first, and the second leaves it alone.
 */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "core/admission.h"
#include "core/context.h"
#include "core/cpu_state.h"
#include "core/sched.h"
#include "core/threads.h"
#include "inherit/inherit.h"

/**
 * struct spread - what is under way
 * @root: whose children they are to be.
 * @why: of the caller.
 * @blank: memory for the next child, or NULL. A cgroup may let who allocates wait for seconds, so
 *	that is done while others may open and close.
 * @child: the one that is being attached to its context, whose group has
 * @leader: as its leader, NULL if it leads itself.
 * @joined: it was.
 * @full: it was not, as that group has so many; else 0.
 * @traced: it was not, as somebody else traces that task.
 * @crowded: it was not, as that task has so many events.
 * @added: how many were in this round.
 * @err: the first error.
 */
struct spread {
	struct pmuctl_event *root;
	struct pmuctl_explanation *why;
	struct pmuctl_event *blank;
	struct pmuctl_event *child;
	struct pmuctl_event *leader;
	bool joined;
	unsigned int full;
	bool traced;
	bool crowded;
	unsigned int added;
	int err;
};

/* If the group of a leader, in a context that is locked, has no room: for how many; else 0 */
static unsigned int is_full(struct pmuctl_event *leader, const struct pmuctl_event *joins)
{
	unsigned int n = 0, limit = pmuctl_group_limit(leader, joins);
	struct pmuctl_event *event;

	for_each_group_member(event, leader)
		n++;
	return n >= limit ? limit : 0;
}

static bool join(struct pmuctl_cpuctx *pc, void *arg)
{
	struct spread *s = arg;
	struct pmuctl_event *child = s->child;
	struct pmuctl_context *ctx = child->context;
	int cpu = s->leader ? s->leader->inherit.shard : smp_processor_id();

	if (!pmuctl_may_join(ctx, s->leader) || pmuctl_inherit_find(ctx, s->root))
		return false;
	/* Some may be there still that an exec has taken from the root's. */
	s->full = s->leader ? is_full(s->leader, s->root) : 0;
	s->traced = pmuctl_context_traces(ctx, s->root);
	s->crowded = !pmuctl_has_room(ctx, s->root);
	if (s->full || s->traced || s->crowded)
		return false;
	if (!pmuctl_inherit_list(child, s->root, cpu))
		return false;
	pmuctl_context_adopt(ctx, child, s->leader);
	s->joined = true;
	return child->enabled && !(pc && pmuctl_sched_group(pc, child->leader));
}

static bool has_child(struct pmuctl_context *ctx, const struct pmuctl_event *root)
{
	unsigned long flags;
	bool has;

	raw_spin_lock_irqsave(&ctx->lock, flags);
	has = pmuctl_inherit_find(ctx, root);
	raw_spin_unlock_irqrestore(&ctx->lock, flags);
	return has;
}

/* Others may open and close between any two of them, of which there may be many. */
static void lock_for_one(void)
{
	mutex_lock(&pmuctl_mutex);
	cpus_read_lock();
}

static void unlock_for_one(void)
{
	cpus_read_unlock();
	mutex_unlock(&pmuctl_mutex);
}

static int check_killed(const struct spread *s)
{
	return fatal_signal_pending(current) ? pmuctl_refuse(s->why, INTERRUPTED, "") : 0;
}

/* Before it is locked for one */
static int get_blank(struct spread *s)
{
	if (!s->blank)
		s->blank = pmuctl_event_blank(s->root->sampling, GFP_KERNEL);
	return s->blank ? 0 : pmuctl_refuse(s->why, NO_MEMORY, "");
}

/* Locked for one */
static int add_child(struct spread *s, struct pmuctl_context *ctx,
		     struct pmuctl_event *leader)
{
	if (has_child(ctx, s->root))
		return 0;
	if (!pmuctl_has_room(ctx, s->root))
		return pmuctl_refuse_number(ctx, s->why);
	s->child = s->blank;
	s->blank = NULL;
	pmuctl_event_copy(s->child, s->root);
	s->child->context = ctx;
	s->leader = leader;
	s->joined = false;
	s->full = 0;
	s->traced = false;
	s->crowded = false;
	pmuctl_context_join(ctx, join, s);
	if (s->joined)
		s->added++;
	else
		pmuctl_event_free_child(s->child);
	if (s->traced)
		return pmuctl_refuse(s->why, AUX_BUSY, "attr.type", "a task that is to inherit this");
	if (s->crowded)
		return pmuctl_refuse_number(ctx, s->why);
	return s->full ? pmuctl_refuse_long_group(s->full, s->why) : 0;
}

/* With attr.inherit_thread only those of the same process inherit. */
static bool may_have(const struct pmuctl_event *root, struct task_struct *task)
{
	return !root->inherit.thread_only || same_thread_group(task, root->context->task);
}

/* ---- The threads of a process ---- */

static int add_thread(struct spread *s, struct task_struct *task)
{
	struct pmuctl_context *ctx;
	int err = get_blank(s);

	if (err)
		return err;
	ctx = pmuctl_context_get_task(task, s->why);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	lock_for_one();
	err = pmuctl_event_admit(ctx, s->root, s->why);
	if (!err)
		err = add_child(s, ctx, NULL);
	unlock_for_one();
	pmuctl_context_put(ctx);
	return err;
}

/* The latest first: it is from those without a child that new ones without come. */
static int add_threads(struct spread *s)
{
	struct pmuctl_threads *threads;
	unsigned int i;
	int err = 0;

	threads = pmuctl_threads_get(s->root->context->task);
	if (!threads)
		return pmuctl_refuse(s->why, NO_MEMORY, "");
	for (i = threads->n; i-- && !err; ) {
		if (threads->task[i] == s->root->context->task)
			continue;
		err = check_killed(s);
		if (!err)
			err = add_thread(s, threads->task[i]);
	}
	pmuctl_threads_put(threads);
	return err;
}

/* ---- The children of a leader; as at a fork, nobody asks if there are counters ---- */

static void add_sibling(struct pmuctl_event *leader, void *arg)
{
	struct spread *s = arg;

	if (s->err || READ_ONCE(leader->ended) ||
	    !may_have(s->root, leader->context->task))
		return;
	s->err = check_killed(s);
	if (!s->err)
		s->err = get_blank(s);
	if (s->err)
		return;
	lock_for_one();
	s->err = add_child(s, leader->context, leader);
	unlock_for_one();
}

static int add_siblings(struct spread *s)
{
	pmuctl_inherit_walk(s->root->leader, add_sibling, s);
	return s->err;
}

/* ---- Both ---- */

static int add_rounds(struct spread *s, int (*add)(struct spread *s))
{
	int err;

	do {
		s->added = 0;
		err = add(s);
		cond_resched();
	} while (s->added && !err);
	return err;
}

int pmuctl_inherit_attach(struct pmuctl_event *event, bool process,
			  struct pmuctl_explanation *why)
{
	struct pmuctl_event *leader = event->leader;
	struct spread s = { .root = event, .why = why };
	int err = 0;

	if (pmuctl_inherit_lock(event))
		return pmuctl_refuse(why, INTERRUPTED, "");
	WRITE_ONCE(event->inherit.process, process);
	if (leader != event && leader->inherit.process != process)
		err = pmuctl_refuse(why, SIBLING_PROCESS, "flags");
	else if (leader != event)
		err = add_rounds(&s, add_siblings);
	else if (process)
		err = add_rounds(&s, add_threads);
	pmuctl_inherit_unlock(event);
	if (s.blank)
		pmuctl_event_free_child(s.blank);
	return err;
}
