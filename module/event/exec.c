// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an exec does to the events of its task: attr.enable_on_exec enables them,
 * attr.remove_on_exec takes them out of the task for ever; what they have counted can still
 * be read. The files of a trace's filter are not mapped any more. In the hook that tells of
 * it early, when the new image has not mapped anything yet.
 *
 * From there to the hook at its end the new credentials come into force, and the image is
 * mapped. If they are more than the old ones the task's context ends in that last hook, and
 * until then nothing is told.
 */
#include "core/context.h"
#include "core/context_table.h"
#include "core/cpu_state.h"
#include "core/rdpmc.h"
#include "event/exec.h"
#include "inherit/inherit.h"

/**
 * struct exec - what is under way
 * @ctx: of the task.
 * @done: children that have ended by it.
 * @removed: some events were.
 */
struct exec {
	struct pmuctl_context *ctx;
	struct list_head done;
	bool removed;
};

static bool enable_all(struct pmuctl_context *ctx)
{
	struct pmuctl_event *leader, *event;
	enum pmuctl_class class;
	bool any = false;

	for_each_group(leader, class, ctx) {
		for_each_group_member(event, leader) {
			any |= event->enable_on_exec;
			event->enabled |= event->enable_on_exec;
			event->enable_on_exec = false;
			if (event->ops->exec)
				event->ops->exec(event);
		}
	}
	WRITE_ONCE(ctx->in_exec, true);
	ctx->clone_id = 0;
	return any;
}

/* @pc: as in pmuctl_context_change() */
static bool remove(struct exec *exec, struct pmuctl_cpuctx *pc, struct pmuctl_event *event)
{
	bool changed = pmuctl_context_take_out(pc, event);

	if (pmuctl_is_child(event)) {
		pmuctl_inherit_emit_read(event);
		pmuctl_inherit_end_child(event, &exec->done);
	} else {
		WRITE_ONCE(event->ended, true);
		/* No switch writes it any more. */
		if (event->state->counter.user)
			pmuctl_userpage_reset(event);
	}
	exec->removed = true;
	return changed;
}

static bool remove_siblings(struct exec *exec, struct pmuctl_cpuctx *pc,
			    struct pmuctl_event *leader)
{
	struct pmuctl_event *event, *next;
	bool any = false;

	list_for_each_entry_safe(event, next, &leader->siblings, node)
		if (event->remove_on_exec)
			any |= remove(exec, pc, event);
	return any;
}

/*
 * Each is looked at once, as many as there may be: interrupts are off. The siblings of a leader
 * that goes become leaders at the end of the list of their class, which is still to come: they
 * are flexible, and that is the last.
 */
static bool remove_all(struct exec *exec, struct pmuctl_cpuctx *pc, struct list_head *leaders)
{
	struct list_head *node = leaders->next, *last;
	struct pmuctl_event *leader;
	bool any = false;

	while (node != leaders) {
		leader = list_entry(node, struct pmuctl_event, node);
		if (leader->remove_on_exec) {
			last = node->prev;
			any |= remove(exec, pc, leader);
			node = last->next;
		} else {
			any |= remove_siblings(exec, pc, leader);
			node = node->next;
		}
	}
	return any;
}

static bool begin(struct pmuctl_cpuctx *pc, void *arg)
{
	struct exec *exec = arg;
	bool any = enable_all(exec->ctx);
	enum pmuctl_class class;

	for (class = 0; class < PMUCTL_CLASSES; class++)
		any |= remove_all(exec, pc, &exec->ctx->groups[class]);
	return any;
}

void pmuctl_context_exec_begin(void)
{
	struct exec exec = { .done = LIST_HEAD_INIT(exec.done) };

	rcu_read_lock();
	exec.ctx = pmuctl_context_find(current);
	if (exec.ctx)
		pmuctl_context_change(exec.ctx, begin, &exec);
	if (exec.removed)
		wake_up_all(&exec.ctx->gone_wait);
	pmuctl_inherit_release(&exec.done);
	rcu_read_unlock();
}

void pmuctl_context_exec_end(void)
{
	struct pmuctl_context *ctx;

	rcu_read_lock();
	ctx = pmuctl_context_find(current);
	if (ctx)
		WRITE_ONCE(ctx->in_exec, false);
	rcu_read_unlock();
}
