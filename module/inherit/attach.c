// SPDX-License-Identifier: GPL-2.0-only
/*
 * Children that an event has from the start: one for each thread that its process already
 * has, or, if it joins a group, for each child that the group's leader has got meanwhile.
 * Process context.
 *
 * Tasks begin and end while we look for them. Whoever has a child passes it on to what he
 * starts. Of threads it is enough to go on until there was nobody without one: who begins later
 * was started by somebody with one. Who has a leader may have been started by somebody without a
 * child who ended before he was found, so we are told of those who begin. A thread is on the list
 * of its process before the hook that tells of it gives it its children, so either may be first,
 * and the second leaves it alone.
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
 * struct waiting - the context of a task that has the leader, but no child yet
 * @next: the one that was found before.
 * @ctx: referenced.
 */
struct waiting {
	struct waiting *next;
	struct pmuctl_context *ctx;
};

/**
 * struct spread - what is under way
 * @root: whose children they are to be.
 * @leader: of its group, or NULL: it leads itself.
 * @may: of the caller, with
 * @arg: its second argument.
 * @why: of the caller.
 * @blank: memory for the next child, or NULL. A cgroup may let who allocates wait for seconds, so
 *	that is done while others may open and close.
 * @waiting: of whom it is to be asked whether they may be counted, too.
 * @child: the one that is being attached to its context.
 * @joined: it was.
 * @full: it was not, as that group has so many; else 0.
 * @traced: it was not, as somebody else traces that task.
 * @crowded: it was not, as that task has so many events.
 * @added: how many were in this round.
 * @err: the first error.
 */
struct spread {
	struct pmuctl_event *root;
	struct pmuctl_event *leader;
	int (*may)(struct task_struct *task, void *arg);
	void *arg;
	struct pmuctl_explanation *why;
	struct pmuctl_event *blank;
	struct waiting *waiting;
	struct pmuctl_event *child;
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
	struct pmuctl_event *leader = NULL;

	if (s->leader) {
		leader = pmuctl_inherit_find(ctx, s->leader);
		if (!leader)
			return false; /* it has ended meanwhile */
	}
	if (!pmuctl_may_join(ctx, leader) || pmuctl_inherit_find(ctx, s->root))
		return false;
	/* Some may be there still that an exec has taken from the root's. */
	s->full = leader ? is_full(leader, s->root) : 0;
	s->traced = pmuctl_context_traces(ctx, s->root);
	s->crowded = !pmuctl_has_room(ctx, s->root);
	if (s->full || s->traced || s->crowded)
		return false;
	if (!pmuctl_inherit_list(child, s->root,
				 leader ? leader->inherit.shard : smp_processor_id()))
		return false;
	pmuctl_context_adopt(ctx, child, leader);
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
static int add_child(struct spread *s, struct pmuctl_context *ctx)
{
	if (has_child(ctx, s->root))
		return 0;
	if (!pmuctl_has_room(ctx, s->root))
		return pmuctl_refuse_number(ctx, s->why);
	s->child = s->blank;
	s->blank = NULL;
	pmuctl_event_copy(s->child, s->root);
	s->child->context = ctx;
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
		err = add_child(s, ctx);
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

	threads = pmuctl_threads_get(s->root->context->task, s->why);
	if (IS_ERR(threads))
		return PTR_ERR(threads);
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

static int add_all_threads(struct spread *s)
{
	int err;

	do {
		s->added = 0;
		err = add_threads(s);
		cond_resched();
	} while (s->added && !err);
	return err;
}

/* ---- The children of a leader; as at a fork, nobody asks if there are counters ---- */

static void note_sibling(struct pmuctl_event *leader, void *arg)
{
	struct task_struct *task = leader->context->task;
	struct spread *s = arg;
	struct waiting *w;

	if (s->err || READ_ONCE(leader->ended) || READ_ONCE(leader->context->gone) ||
	    READ_ONCE(task->flags) & PF_EXITING ||
	    !may_have(s->root, task) || has_child(leader->context, s->root))
		return;
	s->err = check_killed(s);
	if (s->err)
		return;
	w = kmalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);
	if (!w) {
		s->err = pmuctl_refuse(s->why, NO_MEMORY, "");
		return;
	}
	w->ctx = leader->context;
	refcount_inc(&w->ctx->refs);
	w->next = s->waiting;
	s->waiting = w;
}

static int note_siblings(struct spread *s)
{
	if (pmuctl_inherit_lock(s->root))
		return pmuctl_refuse(s->why, INTERRUPTED, "");
	pmuctl_inherit_walk(s->leader, note_sibling, s);
	pmuctl_inherit_unlock(s->root);
	return s->err;
}

/*
 * Who got the leader when it was forked may have become somebody to be kept secret. That is asked
 * with nothing locked: the answer waits for the task's exec, which may last as long as it likes.
 *
 * Nobody asks again when the child is there. An exec that makes the answer another one changes the
 * credentials after it, and finds the task's context, which has the leader: from there on nothing
 * is told, and at its end the context is gone. Either the child was in it, and ends with the
 * others, or it comes later, and may not join (pmuctl_may_join()). What a task changes of itself
 * without an exec is for the next open.
 */
static int add_sibling(struct spread *s, struct pmuctl_context *ctx)
{
	int err = check_killed(s) ?: s->may(ctx->task, s->arg);

	if (err == -EACCES || err == -ESRCH)
		return 0;
	err = err ?: get_blank(s);
	if (err)
		return err;
	if (pmuctl_inherit_lock(s->root))
		return pmuctl_refuse(s->why, INTERRUPTED, "");
	lock_for_one();
	err = add_child(s, ctx);
	unlock_for_one();
	pmuctl_inherit_unlock(s->root);
	return err;
}

/* Those that were there */
static int add_noted(struct spread *s)
{
	int err = note_siblings(s);
	struct waiting *w;

	while ((w = s->waiting)) {
		if (!err)
			err = add_sibling(s, w->ctx);
		s->waiting = w->next;
		pmuctl_context_put(w->ctx);
		kfree(w);
		cond_resched();
	}
	return err;
}

/* The context, referenced, of one that was born meanwhile, and is told of no more; or NULL */
static struct pmuctl_context *take_born(struct pmuctl_inherit_group *ig)
{
	struct pmuctl_context *ctx = NULL;
	struct pmuctl_inherit *h;

	raw_spin_lock_irq(&ig->born_lock);
	h = list_first_entry_or_null(&ig->born, struct pmuctl_inherit, sibling);
	if (h) {
		/* It has not ended: it would have taken itself off the list. Now it may. */
		ctx = pmuctl_inherit_event(h)->context;
		refcount_inc(&ctx->refs);
		list_del_init_careful(&h->sibling);
	}
	raw_spin_unlock_irq(&ig->born_lock);
	return ctx;
}

static int add_born(struct spread *s)
{
	struct pmuctl_inherit_group *ig = s->root->inherit.group;
	struct pmuctl_context *ctx;
	int err = 0;

	while (!err && (ctx = take_born(ig))) {
		err = may_have(s->root, ctx->task) ? add_sibling(s, ctx) : check_killed(s);
		pmuctl_context_put(ctx);
		cond_resched();
	}
	return err;
}

static void set_attaching(struct pmuctl_inherit_group *ig, struct pmuctl_event *root)
{
	raw_spin_lock_irq(&ig->born_lock);
	WRITE_ONCE(ig->attaching, root);
	raw_spin_unlock_irq(&ig->born_lock);
}

static int add_siblings(struct spread *s)
{
	struct pmuctl_inherit_group *ig = s->root->inherit.group;
	struct pmuctl_context *ctx;
	int err;

	if (mutex_lock_killable(&ig->attach))
		return pmuctl_refuse(s->why, INTERRUPTED, "");
	set_attaching(ig, s->root);
	err = add_noted(s) ?: add_born(s);
	set_attaching(ig, NULL);
	/* Who was told of since, or, after an error, before. */
	while ((ctx = take_born(ig))) {
		pmuctl_context_put(ctx);
		cond_resched();
	}
	mutex_unlock(&ig->attach);
	return err;
}

int pmuctl_inherit_attach(struct pmuctl_event *event, bool process,
			  int (*may)(struct task_struct *task, void *arg), void *arg,
			  struct pmuctl_explanation *why)
{
	struct pmuctl_event *leader = event->leader;
	struct spread s = {
		.root = event, .leader = leader != event ? leader : NULL,
		.may = may, .arg = arg, .why = why,
	};
	int err = 0;

	if (pmuctl_inherit_lock(event))
		return pmuctl_refuse(why, INTERRUPTED, "");
	WRITE_ONCE(event->inherit.process, process);
	if (s.leader && leader->inherit.process != process)
		err = pmuctl_refuse(why, SIBLING_PROCESS, "flags");
	else if (!s.leader && process)
		err = add_all_threads(&s);
	pmuctl_inherit_unlock(event);
	if (s.leader && !err)
		err = add_siblings(&s);
	if (s.blank)
		pmuctl_event_free_child(s.blank);
	return err;
}
