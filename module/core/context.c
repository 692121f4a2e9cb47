// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: which there are, and on which CPU each is loaded. What of a loaded context
 * is on the PMU is sched.c's. The lock order is in context_types.h.
 *
 * A task's context is found by the task's address in a hash table: sched_switch costs a
 * task without events one load and a branch. It gets loaded when its task is switched
 * in; a context that is made while its task already runs is loaded by a call to the
 * task's CPU, after it has become visible in the table, so that one or the other always
 * happens.
 */
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "core/admission.h"
#include "core/cgroup.h"
#include "core/clone_switch.h"
#include "core/context.h"
#include "core/context_table.h"
#include "core/core_ops.h"
#include "core/cpu_state.h"
#include "core/rdpmc.h"
#include "core/rdpmc_mm.h"
#include "core/sched.h"
#include "pmu/lbr.h"

/* ---- Loading and unloading; on the CPU itself, IRQs off ---- */

/* Bring the PMU in line with the state of all that is loaded. */
static void resched(struct pmuctl_cpuctx *pc, const struct task_struct *task)
{
	pmuctl_cpu_lock(pc);
	pmuctl_sched(pc, task);
	pmuctl_cpu_unlock(pc);
}

static void sched_in(struct pmuctl_cpuctx *pc, const struct task_struct *task)
{
	pmuctl_cpu_lock(pc);
	pmuctl_sched_in(pc, task);
	pmuctl_cpu_unlock(pc);
}

/* Load the context of a task, unless it is gone, and bring the PMU in line. */
static void load_task(struct pmuctl_cpuctx *pc, struct pmuctl_context *ctx,
		      const struct task_struct *task)
{
	raw_spin_lock(&pc->context.lock);
	raw_spin_lock_nested(&ctx->lock, SINGLE_DEPTH_NESTING);
	if (!ctx->gone) {
		pc->task_context = ctx;
		WRITE_ONCE(ctx->loaded_cpu, pc->context.cpu);
	}
	pmuctl_sched_in(pc, task);
	raw_spin_unlock(&ctx->lock);
	raw_spin_unlock(&pc->context.lock);
}

/* Of a task that counts migrations: how many there were */
static void leave(struct pmuctl_context *ctx)
{
	ctx->migrations = READ_ONCE(ctx->task->se.nr_migrations);
}

static void unload(struct pmuctl_cpuctx *pc, struct pmuctl_context *ctx)
{
	raw_spin_lock(&ctx->lock);
	pmuctl_sched_out(pc, ctx);
	if (ctx->nr_at_switch && ctx->task)
		leave(ctx);
	WRITE_ONCE(ctx->loaded_cpu, -1);
	raw_spin_unlock(&ctx->lock);
	if (pc->task_context == ctx)
		pc->task_context = NULL;
}

/* ---- On the CPU where a context is loaded ---- */

void pmuctl_context_resched_here(struct pmuctl_context *ctx)
{
	if (READ_ONCE(ctx->loaded_cpu) == smp_processor_id())
		resched(this_cpu_ptr(pmuctl_cpus), current);
}

static void unload_here(void *info)
{
	struct pmuctl_cpuctx *pc = this_cpu_ptr(pmuctl_cpus);
	struct pmuctl_context *ctx = info;

	if (READ_ONCE(ctx->loaded_cpu) != smp_processor_id())
		return;
	unload(pc, ctx);
	if (pc->rotate_necessary)
		resched(pc, current);
}

/*
 * Another context that is loaded here can only be one that the same task had before: its last
 * reference, or the rights to look into the task, have gone on some CPU, which has not come to
 * unload it yet.
 */
static void load_if_current(void *info)
{
	struct pmuctl_cpuctx *pc = this_cpu_ptr(pmuctl_cpus);
	struct pmuctl_context *ctx = info, *loaded = pc->task_context;

	if (current != ctx->task || loaded == ctx || READ_ONCE(ctx->gone))
		return;
	if (loaded)
		unload(pc, loaded);
	load_task(pc, ctx, current);
}

/* ---- Contexts of tasks ---- */

static void context_setup(struct pmuctl_context *ctx, struct task_struct *task,
			  int cpu)
{
	ctx->task = task;
	ctx->cpu = cpu;
	raw_spin_lock_init(&ctx->lock);
	INIT_LIST_HEAD(&ctx->groups[PMUCTL_PINNED]);
	INIT_LIST_HEAD(&ctx->groups[PMUCTL_FLEXIBLE]);
	ctx->loaded_cpu = -1;
	init_waitqueue_head(&ctx->gone_wait);
	refcount_set(&ctx->refs, 1);
	INIT_HLIST_NODE(&ctx->hash);
}

static void list_event(struct pmuctl_context *ctx, struct pmuctl_event *event)
{
	bool at_switch = pmuctl_is_at_switch(ctx, event);

	if (at_switch && ctx->task && !ctx->nr_at_switch && ctx->loaded_cpu < 0)
		leave(ctx);
	ctx->nr_at_switch += at_switch;
	if (event->cgroup) {
		WRITE_ONCE(ctx->nr_cgroup, ctx->nr_cgroup + 1);
		smp_mb(); /* A: before its task is looked at; with cgroup_moves:A */
	}
	if (event->leader == event)
		list_add_tail(&event->node, &ctx->groups[event->class]);
	else
		list_add_tail(&event->node, &event->leader->siblings);
	pmuctl_count_inherited(ctx, event, 1);
	WRITE_ONCE(ctx->nr_events, ctx->nr_events + pmuctl_event_weight(event));
	ctx->clone_id = 0;
}

/* Make it the task's, unless that has got another meanwhile; with a reference */
static struct pmuctl_context *use_new(struct pmuctl_context *new,
				      struct task_struct *task)
{
	struct pmuctl_context *ctx;

	context_setup(new, get_task_struct(task), -1);
	ctx = pmuctl_context_hash(new);
	if (ctx != new) {
		put_task_struct(task);
		kfree(new);
	}
	return ctx;
}

struct pmuctl_context *pmuctl_context_alloc(void)
{
	return kzalloc(sizeof(struct pmuctl_context), GFP_KERNEL_ACCOUNT);
}

struct pmuctl_context *pmuctl_context_get_with(struct task_struct *task,
					       struct pmuctl_context **spare)
{
	struct pmuctl_context *ctx = pmuctl_context_get_existing(task), *new = *spare;

	if (ctx || !new)
		return ctx;
	*spare = NULL;
	return use_new(new, task);
}

struct pmuctl_context *pmuctl_context_get_task(struct task_struct *task,
					       struct pmuctl_explanation *why)
{
	struct pmuctl_context *ctx;

	might_sleep();
	ctx = pmuctl_context_get_existing(task);
	if (ctx)
		return ctx;
	ctx = pmuctl_context_alloc();
	if (!ctx)
		return ERR_PTR(pmuctl_refuse(why, NO_MEMORY, ""));
	return use_new(ctx, task);
}

struct pmuctl_context *pmuctl_context_get_child(struct task_struct *child)
{
	struct pmuctl_context *ctx;

	ctx = kzalloc(sizeof(*ctx), GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
	return ctx ? use_new(ctx, child) : NULL;
}

void pmuctl_context_adopt(struct pmuctl_context *ctx, struct pmuctl_event *child,
			  struct pmuctl_event *leader)
{
	lockdep_assert_held(&ctx->lock);
	refcount_inc(&ctx->refs);
	child->context = ctx;
	if (leader)
		child->leader = leader;
	list_event(ctx, child);
}

static void free_context_rcu(struct rcu_head *rcu)
{
	struct pmuctl_context *ctx =
		container_of(rcu, struct pmuctl_context, rcu);

	put_task_struct(ctx->task);
	kfree(ctx);
}

/* Never to be loaded again. A second time does nothing. */
static void retire(struct pmuctl_context *ctx)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ctx->lock, flags);
	ctx->gone = true;
	ctx->clone_id = 0;
	raw_spin_unlock_irqrestore(&ctx->lock, flags);
	pmuctl_context_unhash(ctx);
}

void pmuctl_context_put(struct pmuctl_context *ctx)
{
	int cpu;

	if (!ctx->task || !refcount_dec_and_test(&ctx->refs))
		return;

	/* Who has retired it before has done all of it before a grace period is over. */
	if (!READ_ONCE(ctx->gone))
		retire(ctx);
	cpu = READ_ONCE(ctx->loaded_cpu);
	if (cpu >= 0)
		pmuctl_cpu_call(cpu, unload_here, ctx);
	call_rcu(&ctx->rcu, free_context_rcu);
}

/* Returns true if the PMU must be brought in line; what has ended stays alone. */
bool pmuctl_context_traces(struct pmuctl_context *ctx, const struct pmuctl_event *event)
{
	struct pmuctl_event *leader, *each;
	enum pmuctl_class class;

	if (!event->aux)
		return false;
	for_each_group(leader, class, ctx)
		for_each_group_member(each, leader)
			if (each->aux && each->aux != event->aux &&
			    (each->cpu < 0 || event->cpu < 0 || each->cpu == event->cpu))
				return true;
	return false;
}

bool pmuctl_context_is_traced(struct pmuctl_context *ctx, const struct pmuctl_event *event)
{
	unsigned long flags;
	bool is;

	raw_spin_lock_irqsave(&ctx->lock, flags);
	is = pmuctl_context_traces(ctx, event);
	raw_spin_unlock_irqrestore(&ctx->lock, flags);
	return is;
}

static bool add_event(struct pmuctl_cpuctx *pc, void *arg)
{
	struct pmuctl_event *event = arg;
	struct pmuctl_context *ctx = event->context;

	if (!pmuctl_may_join(ctx, event->leader == event ? NULL : event->leader))
		return false;
	/* A task that was just being made may have got its parent's meanwhile. */
	if (pmuctl_context_traces(ctx, event) || !pmuctl_has_room(ctx, event))
		return false;
	list_event(ctx, event);
	return event->enabled && !(pc && pmuctl_sched_group(pc, event->leader));
}

bool pmuctl_context_join(struct pmuctl_context *ctx,
			 pmuctl_context_change_func join, void *arg)
{
	lockdep_assert_held(&pmuctl_mutex);

	/*
	 * The context is visible in the table. PF_EXITING is set before the task's
	 * last hook runs: either that hook finds the context, or we see the flag.
	 */
	smp_mb();
	if (ctx->task && (READ_ONCE(ctx->task->flags) & PF_EXITING))
		return false;
	/* The same goes for the hook in the midst of an exec. */
	if (ctx->task && data_race(!!ctx->task->in_execve))
		WRITE_ONCE(ctx->in_exec, true);

	pmuctl_context_change(ctx, join, arg);
	if (ctx->task && READ_ONCE(ctx->loaded_cpu) < 0)
		pmuctl_cpu_call(task_cpu(ctx->task), load_if_current, ctx);
	return true;
}

bool pmuctl_context_add(struct pmuctl_context *ctx, struct pmuctl_event *event)
{
	INIT_LIST_HEAD(&event->node);
	return pmuctl_context_join(ctx, add_event, event) &&
		!list_empty(&event->node);
}

/* The siblings of a leader that goes become single events. */
static bool group_detach(struct pmuctl_event *leader)
{
	struct pmuctl_event *event, *next;
	bool any = false;

	list_for_each_entry_safe(event, next, &leader->siblings, node) {
		WRITE_ONCE(event->leader, event);
		list_move_tail(&event->node,
			       &event->context->groups[event->class]);
		any = true;
	}
	return any;
}

bool pmuctl_context_take_out(struct pmuctl_cpuctx *pc, struct pmuctl_event *event)
{
	bool others;

	if (pc)
		pmuctl_sched_stop(pc, event);
	others = group_detach(event);
	list_del(&event->node);
	event->leader = event;
	event->state->eligible = false;
	event->context->nr_at_switch -= pmuctl_is_at_switch(event->context, event);
	if (event->cgroup)
		WRITE_ONCE(event->context->nr_cgroup, event->context->nr_cgroup - 1);
	event->context->nr_user_pages -= !!event->state->counter.user;
	pmuctl_count_inherited(event->context, event, -1);
	WRITE_ONCE(event->context->nr_events,
		   event->context->nr_events - pmuctl_event_weight(event));
	event->context->clone_id = 0;
	return pc && (others || pc->rotate_necessary);
}

static bool del_event(struct pmuctl_cpuctx *pc, void *arg)
{
	struct pmuctl_event *event = arg;

	if (event->ended)
		return false;
	event->ended = true;
	return pmuctl_context_take_out(pc, event);
}

void pmuctl_context_del(struct pmuctl_event *event)
{
	lockdep_assert_held(&pmuctl_mutex);
	pmuctl_context_change(event->context, del_event, event);
}

/* ---- What the hooks tell ---- */

/*
 * A switch during which nothing may count: pmu/rdpmc.c. What is next is loaded right after
 * it, as soon as the CPU takes interrupts and before any user code runs.
 */
static void unload_for_switch(struct pmuctl_cpuctx *pc)
{
	if (pc->task_context)
		unload(pc, pc->task_context);
	if (pc->context.loaded_cpu >= 0)
		unload(pc, &pc->context);
	irq_work_queue(&pc->reload);
}

static void reload(struct irq_work *work)
{
	struct pmuctl_cpuctx *pc = container_of(work, struct pmuctl_cpuctx, reload);
	struct pmuctl_context *ctx;
	unsigned long flags;

	local_irq_save(flags);
	hwpmu_rdpmc_settle();
	WRITE_ONCE(pc->context.loaded_cpu, pc->context.cpu);
	ctx = pmuctl_context_find(current);
	if (ctx && !pc->task_context)
		load_task(pc, ctx, current);
	else
		resched(pc, current);
	if (ctx && unlikely(ctx->nr_at_switch))
		pmuctl_core_ops->arrived(ctx);
	pmuctl_rdpmc_switch(current);
	local_irq_restore(flags);
}

/* Any switch, to @ctx if that is not NULL */
static noinline void switch_contexts(struct pmuctl_cpuctx *pc, struct pmuctl_context *ctx,
				     struct task_struct *next)
{
	bool at_switch = false;
	bool changed = false;

	if (pc->task_context) {
		if (ctx && READ_ONCE(ctx->nr_inherit) &&
		    pmuctl_clone_switch_slow(pc, pc->task_context, ctx))
			return;
		unload(pc, pc->task_context);
		changed = pc->rotate_necessary;
	}
	if (READ_ONCE(pc->context.nr_at_switch)) {
		if (unlikely(pc->tick_when_busy))
			pmuctl_sched_busy(pc);
		changed |= is_idle_task(current) || is_idle_task(next) ||
			   (pc->context.nr_cgroup && pmuctl_cgroup_of(next) != pc->cgroup);
		at_switch = true;
		lbr_switch();
	}
	if (ctx)
		load_task(pc, ctx, next);
	else if (changed)
		sched_in(pc, next);
	if (unlikely(at_switch)) {
		hwpmu_commit(); /* nothing may have changed but who runs */
		pmuctl_core_ops->switched(next);
	}
	if (ctx && unlikely(ctx->nr_at_switch))
		pmuctl_core_ops->arrived(ctx);
}

/* The same while some processes read counters by themselves */
static noinline void switch_users(struct pmuctl_cpuctx *pc, struct pmuctl_context *ctx,
				  struct task_struct *next)
{
	if (pmuctl_rdpmc_switch_disturbs(next)) {
		unload_for_switch(pc);
		return;
	}
	switch_contexts(pc, ctx, next);
	pmuctl_rdpmc_switch(next);
}

/* Perhaps between equivalent contexts */
static noinline void switch_kin(struct pmuctl_cpuctx *pc, struct pmuctl_context *ctx)
{
	if (READ_ONCE(pc->context.nr_at_switch) || !pmuctl_clone_switch(pc, ctx))
		switch_contexts(pc, ctx, ctx->task);
}

/* Those at which nothing is to be done, or that are between clones, are told apart at once. */
void pmuctl_context_switch(struct task_struct *next)
{
	struct pmuctl_context *ctx = pmuctl_context_find(next);
	struct pmuctl_cpuctx *pc = this_cpu_ptr(pmuctl_cpus);
	struct pmuctl_context *from = pc->task_context;

	if (unlikely(READ_ONCE(pmuctl_rdpmc_mms)))
		switch_users(pc, ctx, next);
	else if (from && ctx && from->clone_id > 0)
		switch_kin(pc, ctx);
	else if (from || ctx || READ_ONCE(pc->context.nr_at_switch))
		switch_contexts(pc, ctx, next);
}

void pmuctl_context_retire(struct pmuctl_context *ctx)
{
	unsigned long flags;

	retire(ctx);
	local_irq_save(flags);
	unload_here(ctx);
	local_irq_restore(flags);
}

bool pmuctl_context_has_cgroups(int cpu)
{
	return READ_ONCE(pmuctl_context_of_cpu(cpu)->nr_cgroup);
}

/* Who runs here may be in another one now. */
void pmuctl_context_cgroup_moved(void)
{
	struct pmuctl_cpuctx *pc = this_cpu_ptr(pmuctl_cpus);

	if (pc->context.loaded_cpu >= 0 && pc->context.nr_cgroup)
		resched(pc, current);
}

/* ---- CPUs come and go; on that CPU ---- */

void pmuctl_context_cpu_online(void)
{
	struct pmuctl_cpuctx *pc = this_cpu_ptr(pmuctl_cpus);
	unsigned long flags;

	local_irq_save(flags);
	hwpmu_cpu_online();
	WRITE_ONCE(pc->context.loaded_cpu, pc->context.cpu);
	resched(pc, current);
	local_irq_restore(flags);
}

void pmuctl_context_cpu_offline(void)
{
	struct pmuctl_cpuctx *pc = this_cpu_ptr(pmuctl_cpus);
	unsigned long flags;

	local_irq_save(flags);
	/* While the CPU's is not loaded nothing runs here. */
	if (pc->task_context)
		unload(pc, pc->task_context);
	unload(pc, &pc->context);
	pc->rotate_necessary = false;
	hwpmu_cpu_offline();
	local_irq_restore(flags);
	hrtimer_cancel(&pc->timer);
	hrtimer_cancel(&pc->tick);
}

void pmuctl_context_load_current(void)
{
	struct pmuctl_context *ctx;

	rcu_read_lock();
	ctx = pmuctl_context_find(current);
	if (ctx)
		load_if_current(ctx);
	rcu_read_unlock();
}

int __init pmuctl_context_init(void)
{
	int cpu;

	pmuctl_context_table_init();
	pmuctl_rdpmc_init();
	pmuctl_cpus = alloc_percpu(struct pmuctl_cpuctx);
	if (!pmuctl_cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		context_setup(pmuctl_context_of_cpu(cpu), NULL, cpu);
		init_irq_work(&pmuctl_cpu_of(cpu)->reload, reload);
		pmuctl_sched_init(pmuctl_cpu_of(cpu));
	}
	return 0;
}

void pmuctl_context_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&pmuctl_cpu_of(cpu)->reload);
	rcu_barrier(); /* free_context_rcu() is code of this module */
	free_percpu(pmuctl_cpus);
}
