// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls to the CPU where a context is loaded: only there its events may be changed. Process
 * context, or a hook of the task whose context it is.
 */
#include <linux/smp.h>

#include "core/context.h"
#include "core/cpu_state.h"
#include "core/sampling_state.h"
#include "core/sched.h"

/* Without a task's context there is one lock less, but as many to take. */
static raw_spinlock_t *second_lock(struct pmuctl_cpuctx *pc)
{
	return pc->task_context ? &pc->task_context->lock : &pc->no_task_lock;
}

void pmuctl_cpu_lock(struct pmuctl_cpuctx *pc)
	__acquires(&pc->context.lock) __acquires(second_lock(pc))
{
	raw_spin_lock(&pc->context.lock);
	raw_spin_lock_nested(second_lock(pc), SINGLE_DEPTH_NESTING);
}

void pmuctl_cpu_unlock(struct pmuctl_cpuctx *pc)
	__releases(&pc->context.lock) __releases(second_lock(pc))
{
	raw_spin_unlock(second_lock(pc));
	raw_spin_unlock(&pc->context.lock);
}

void pmuctl_cpu_call(int cpu, smp_call_func_t func, void *info)
{
	unsigned long flags;

	if (cpu == get_cpu()) {
		local_irq_save(flags);
		func(info);
		local_irq_restore(flags);
	} else {
		/* Fails if it is offline: then nothing is loaded there any more. */
		smp_call_function_single(cpu, func, info, 1);
	}
	put_cpu();
}

struct context_call {
	struct pmuctl_context *ctx;
	pmuctl_context_func func;		/* one of these two */
	pmuctl_context_change_func change;
	void *arg;
	bool done;
};

/* Call it if the context is loaded on this CPU. IRQs off; returns true if it was. */
static bool call_here(struct pmuctl_context *ctx, pmuctl_context_func func,
		      void *arg)
{
	if (READ_ONCE(ctx->loaded_cpu) != smp_processor_id())
		return false;
	raw_spin_lock(&ctx->lock);
	func(ctx, arg);
	raw_spin_unlock(&ctx->lock);
	return true;
}

static bool change_here(struct pmuctl_context *ctx,
			pmuctl_context_change_func change, void *arg)
{
	struct pmuctl_cpuctx *pc = this_cpu_ptr(pmuctl_cpus);

	if (READ_ONCE(ctx->loaded_cpu) != smp_processor_id())
		return false;
	pmuctl_cpu_lock(pc);
	if (change(pc, arg))
		pmuctl_sched(pc, current);
	pmuctl_cpu_unlock(pc);
	return true;
}

static void context_call_here(void *info)
{
	struct context_call *call = info;

	call->done |= call_here(call->ctx, call->func, call->arg);
}

static void context_change_here(void *info)
{
	struct context_call *call = info;

	call->done |= change_here(call->ctx, call->change, call->arg);
}

/* It may be switched out and in again elsewhere while we call: try again. */
static noinline void call_elsewhere(struct pmuctl_context *ctx,
				    pmuctl_context_func func,
				    pmuctl_context_change_func change, void *arg)
{
	struct context_call call = {
		.ctx = ctx, .func = func, .change = change, .arg = arg,
	};
	unsigned long flags;
	int cpu;

	while (!call.done) {
		cpu = READ_ONCE(ctx->loaded_cpu);
		if (cpu >= 0) {
			pmuctl_cpu_call(cpu, func ? context_call_here :
					     context_change_here, &call);
			continue;
		}
		raw_spin_lock_irqsave(&ctx->lock, flags);
		/* Pairs with that of pmuctl_clone_load(), which has not locked it. */
		if (smp_load_acquire(&ctx->loaded_cpu) < 0) {
			if (func)
				func(ctx, arg);
			else
				change(NULL, arg);
			call.done = true;
		}
		raw_spin_unlock_irqrestore(&ctx->lock, flags);
	}
}

void pmuctl_context_call(struct pmuctl_context *ctx, pmuctl_context_func func,
			 void *arg)
{
	unsigned long flags;
	bool done;

	local_irq_save(flags);
	done = call_here(ctx, func, arg);
	local_irq_restore(flags);
	if (!done)
		call_elsewhere(ctx, func, NULL, arg);
}

void pmuctl_context_change(struct pmuctl_context *ctx,
			   pmuctl_context_change_func change, void *arg)
{
	unsigned long flags;
	bool done;

	local_irq_save(flags);
	done = change_here(ctx, change, arg);
	local_irq_restore(flags);
	if (!done)
		call_elsewhere(ctx, NULL, change, arg);
}

/**
 * struct event_switch - what pmuctl_event_switch() wants
 * @event: which event.
 * @group: all of its group are meant.
 * @walk: of a child: only those whose roots the walk with this number is about.
 * @enabled: on or off.
 */
struct event_switch {
	struct pmuctl_event *event;
	bool group;
	u64 walk;
	bool enabled;
};

static bool switch_events(struct pmuctl_cpuctx *pc, void *arg)
{
	const struct event_switch *want = arg;
	struct pmuctl_event *each;
	bool changed = false;

	if (want->event->ended)
		return false;
	for_each_meant(each, want->event, want->group) {
		if (want->walk && each->inherit.root->inherit.walk != want->walk)
			continue;
		if (want->walk)
			each->inherit.seen = want->walk;
		changed |= each->enabled != want->enabled || each->error;
		if (each->sampling)
			changed |= pmuctl_sampling_refresh(each);
		each->enabled = want->enabled;
		each->error = false;
		pmuctl_inherit_follows(each);
	}
	want->event->context->clone_id = 0;
	return changed && !(pc && pmuctl_sched_group(pc, want->event->leader));
}

void pmuctl_event_switch(struct pmuctl_event *event, bool group, bool enabled)
{
	struct event_switch want = {
		.event = event, .group = group, .enabled = enabled,
	};

	pmuctl_context_change(event->context, switch_events, &want);
}

void pmuctl_event_switch_child(struct pmuctl_event *child, u64 walk, bool enabled)
{
	struct event_switch want = {
		.event = child, .group = true, .walk = walk, .enabled = enabled,
	};

	pmuctl_context_change(child->context, switch_events, &want);
}
