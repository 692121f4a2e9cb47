// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: their making and end, and what a user does with one. Where and when an event
 * counts is context.c's.
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include "aux/aux.h"
#include "core/admission.h"
#include "core/claim.h"
#include "core/cpu_state.h"
#include "core/hook.h"
#include "core/sched.h"
#include "sample/output.h"
#include "sample/sampling.h"
#include "sample/sideband.h"
#include "soft/soft.h"
#include "soft/tracepoint.h"

/* See the lock order in context.h. */
DEFINE_MUTEX(pmuctl_mutex);

static struct kmem_cache *event_cache;
static atomic64_t last_id;
static atomic_t nr_events;

/* Only a CPU's events can meet the idle task; those of tasks never do. */
static bool needs_hooks(const struct pmuctl_event *event,
			const struct task_struct *task)
{
	return task || event->exclude_idle || event->side ||
	       pmuctl_soft_needs_hooks(event);
}

static int get_pmu(const struct pmuctl_event *event,
		   struct pmuctl_explanation *why)
{
	return event->soft && !event->aux ? 0 : pmuctl_claim_get(event, why);
}

static void put_pmu(const struct pmuctl_event *event)
{
	if (!event->soft || event->aux)
		pmuctl_claim_put(event);
}

/* With pmuctl_mutex, hooks, and cpus_read_lock */
static int attach(struct pmuctl_event *event, struct task_struct *task,
		  struct pmuctl_event *leader, struct pmuctl_explanation *why)
{
	struct pmuctl_context *ctx;
	int err;

	err = get_pmu(event, why);
	if (err)
		return err;
again:
	ctx = task ? pmuctl_context_get_task(task, why) :
		     pmuctl_context_of_cpu(event->cpu);
	if (IS_ERR(ctx)) {
		err = PTR_ERR(ctx);
		goto err_put_pmu;
	}
	if (leader) {
		err = pmuctl_admit_to_group(ctx, event, leader, why);
		if (err)
			goto err_put_context;
		event->leader = leader;
	} else if (event->aux_action && !event->aux) {
		err = pmuctl_refuse(why, AUX_LEADER, "group_fd");
		goto err_put_context;
	}
	err = pmuctl_admit_number(ctx, event, why);
	if (err)
		goto err_put_context;
	err = event->aux ? pmuctl_aux_admit(ctx, event, why) :
		pmuctl_admit(ctx, event, why);
	if (err)
		goto err_put_context;
	event->context = ctx;
	if (!pmuctl_context_add(ctx, event)) {
		/* An exec may have ended that context, but not the task. */
		if (!leader && !(READ_ONCE(task->flags) & PF_EXITING)) {
			pmuctl_context_put(ctx);
			goto again;
		}
		err = pmuctl_refuse_ended(task, leader, why);
		goto err_put_context;
	}
	pmuctl_aux_attached(event);
	return 0;

err_put_context:
	if (event->aux)
		pmuctl_aux_settle();
	pmuctl_context_put(ctx);
err_put_pmu:
	put_pmu(event);
	return err;
}

/* The reverse; it is off the PMU then. */
static void detach(struct pmuctl_event *event)
{
	pmuctl_context_del(event);
	pmuctl_aux_detached(event);
	pmuctl_sampling_sync(event);
	pmuctl_context_put(event->context);
	put_pmu(event);
}

static void detach_first_parts(struct pmuctl_event *event, int end)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (cpu == end)
			break;
		detach(event->on_cpu[cpu]);
	}
}

static int attach_parts(struct pmuctl_event *event, struct pmuctl_event *leader,
			struct pmuctl_explanation *why)
{
	int cpu, err;

	for_each_possible_cpu(cpu) {
		err = attach(event->on_cpu[cpu], NULL,
			     leader ? leader->on_cpu[cpu] : NULL, why);
		if (err) {
			detach_first_parts(event, cpu);
			return err;
		}
	}
	return 0;
}

static int attach_all(struct pmuctl_event *event, struct task_struct *task,
		      struct pmuctl_event *leader,
		      struct pmuctl_explanation *why)
{
	if (leader && !leader->on_cpu != !event->on_cpu)
		return pmuctl_refuse(why, GROUP_OTHER_TARGET, "group_fd");
	if (event->on_cpu)
		return attach_parts(event, leader, why);
	if (event->cpu >= 0 && !cpu_online(event->cpu))
		return pmuctl_refuse(why, CPU_OFFLINE, "cpu", event->cpu,
				     event->cpu);
	return attach(event, task, leader, why);
}

/* What they miss from now on, it is told. */
static void note_missed(struct pmuctl_event *event)
{
	int cpu;

	event->missed = pmuctl_hooks_missed(event);
	if (event->on_cpu)
		for_each_possible_cpu(cpu)
			event->on_cpu[cpu]->missed = event->missed;
}

static int attach_with_hooks(struct pmuctl_event *event,
			     struct task_struct *task,
			     struct pmuctl_event *leader,
			     struct pmuctl_explanation *why)
{
	int err;

	if (mutex_lock_killable(&pmuctl_mutex))
		return pmuctl_refuse(why, INTERRUPTED, "");
	err = pmuctl_hooks_get(event, needs_hooks(event, task), why);
	if (err)
		goto out_unlock;
	note_missed(event);

	/* Not outside of the hooks: registering them takes it too. */
	cpus_read_lock();
	err = attach_all(event, task, leader, why);
	cpus_read_unlock();
	if (err)
		pmuctl_hooks_put(event, needs_hooks(event, task));
out_unlock:
	mutex_unlock(&pmuctl_mutex);
	return err;
}

static int init_counter(struct pmuctl_event *event,
			const struct perf_event_attr *attr,
			struct pmuctl_tp *tp,
			struct pmuctl_explanation *why)
{
	if (attr->type >= PMUCTL_TYPE_DRIVERS)
		return pmuctl_aux_init(event, attr, why);
	if (pmuctl_soft_is(attr))
		return pmuctl_soft_init(event, attr, why);
	if (!tp)
		return hwpmu_counter_init(&event->own.counter, attr, why);
	pmuctl_soft_init_tp(event, tp);
	return 0;
}

static struct pmuctl_event *alloc_event(const struct perf_event_attr *attr,
					struct pmuctl_tp *tp,
					u64 id, int cpu,
					struct pmuctl_explanation *why)
{
	struct pmuctl_event *event;
	int err;

	event = kmem_cache_zalloc(event_cache, GFP_KERNEL_ACCOUNT);
	if (!event)
		return ERR_PTR(pmuctl_refuse(why, NO_MEMORY, ""));

	event->tally = &event->own;
	event->id = id;
	event->stream_id = id;
	event->cpu = cpu;
	event->read_format = attr->read_format;
	event->side = pmuctl_side_of(attr);
	event->exclude_idle = attr->exclude_idle;
	event->remove_on_exec = attr->remove_on_exec;
	event->inherit_stat = attr->inherit_stat;
	event->exclusive = attr->exclusive;
	event->class = attr->pinned ? PMUCTL_PINNED : PMUCTL_FLEXIBLE;
	event->leader = event;
	INIT_LIST_HEAD(&event->siblings);
	event->enable_on_exec = attr->enable_on_exec;
	event->aux_action = pmuctl_aux_action(attr);
	err = init_counter(event, attr, tp, why);
	if (!err && !event->aux)
		err = pmuctl_sampling_alloc(event, attr, why);
	if (err) {
		kmem_cache_free(event_cache, event);
		return ERR_PTR(err);
	}
	return event;
}

/* An event, or its own tally, is not used any more. The memory goes with the second of both. */
static void give_up_half(struct pmuctl_event *event)
{
	if (atomic_xchg(&event->parts_freed, 1))
		kmem_cache_free(event_cache, event);
}

static void dealloc_one(struct pmuctl_event *event)
{
	pmuctl_sampling_free(event);
	if (event->tally == &event->own) {
		kmem_cache_free(event_cache, event);
		return;
	}
	/* It ends with another one's tally, and somebody else still has its own. */
	give_up_half(container_of(event->tally, struct pmuctl_event, own));
	give_up_half(event);
}

static void free_event_rcu(struct rcu_head *rcu)
{
	struct pmuctl_event *event = container_of(rcu, struct pmuctl_event, rcu);
	struct pmuctl_inherit *next;

	for (; event; event = next ? pmuctl_inherit_event(next) : NULL) {
		next = event->inherit.next_ended;
		dealloc_one(event);
	}
}

void pmuctl_event_free_later(struct pmuctl_event *event)
{
	call_rcu(&event->rcu, free_event_rcu);
}

static void dealloc_root(struct pmuctl_event *event)
{
	pmuctl_aux_free(event->aux); /* it may wait */
	event->aux = NULL;
	pmuctl_event_free_later(event);
}

/* The memory of an event that is not attached */
static void dealloc_event(struct pmuctl_event *event)
{
	int cpu;

	if (event->on_cpu) {
		for_each_possible_cpu(cpu)
			if (event->on_cpu[cpu])
				dealloc_root(event->on_cpu[cpu]);
		kfree(event->on_cpu);
	}
	pmuctl_inherit_free(event);
	pmuctl_userpage_free(event);
	pmuctl_output_free(event->output);
	pmuctl_tp_free(event->sw.tp);
	dealloc_root(event);
}

/* Does it need an output from the start? */
static bool writes_records(const struct perf_event_attr *attr)
{
	return attr->type >= PMUCTL_TYPE_DRIVERS ||
	       attr->sample_period || attr->sample_type ||
	       attr->wakeup_events || attr->use_clockid ||
	       attr->write_backward || attr->inherit_stat ||
	       pmuctl_side_of(attr);
}

static int make_output(struct pmuctl_event *event,
		       const struct perf_event_attr *attr,
		       struct pmuctl_explanation *why)
{
	struct pmuctl_output *output;

	output = pmuctl_output_alloc(attr, event->id, why);
	if (IS_ERR(output))
		return PTR_ERR(output);
	/* Somebody else may have made one; who sees it sees what is in it. */
	if (cmpxchg_release(&event->output, NULL, output))
		pmuctl_output_free(output);
	return 0;
}

struct pmuctl_output *pmuctl_event_get_output(struct pmuctl_event *event)
{
	static const struct perf_event_attr nothing;

	if (!READ_ONCE(event->output))
		make_output(event, &nothing, NULL);
	return READ_ONCE(event->output);
}

u64 pmuctl_event_lost(const struct pmuctl_event *event)
{
	const struct pmuctl_output *output = READ_ONCE(event->output);
	u64 lost = output ? atomic64_read(&output->lost) : 0;

	return lost + pmuctl_hooks_missed(event) - event->missed;
}

static int alloc_parts(struct pmuctl_event *event,
		       const struct perf_event_attr *attr,
		       struct pmuctl_explanation *why)
{
	struct pmuctl_event *part;
	int cpu;

	event->on_cpu = kcalloc(nr_cpu_ids, sizeof(*event->on_cpu),
				GFP_KERNEL_ACCOUNT);
	if (!event->on_cpu)
		return pmuctl_refuse(why, NO_MEMORY, "");
	for_each_possible_cpu(cpu) {
		part = alloc_event(attr, event->sw.tp, event->id, cpu, why);
		if (IS_ERR(part))
			return PTR_ERR(part);
		part->enabled = event->enabled;
		part->claims = event->claims;
		part->unlimited = event->unlimited;
		part->stream_id = atomic64_inc_return(&last_id);
		part->output = event->output;
		event->on_cpu[cpu] = part;
	}
	return 0;
}

struct pmuctl_event *pmuctl_event_create(struct task_struct *task, int cpu,
					 const struct perf_event_attr *attr,
					 struct pmuctl_tp *tp, unsigned int flags,
					 struct pmuctl_event *leader,
					 struct pmuctl_explanation *why)
{
	struct pmuctl_event *event;
	int err = 0;

	event = alloc_event(attr, tp, atomic64_inc_return(&last_id), cpu, why);
	if (IS_ERR(event)) {
		pmuctl_tp_free(tp);
		return event;
	}
	event->enabled = flags & PMUCTL_EVENT_ENABLED;
	event->claims = flags & PMUCTL_EVENT_CLAIMS;
	event->unlimited = flags & PMUCTL_EVENT_UNLIMITED;
	if (event->aux && !task && cpu < 0)
		err = pmuctl_refuse(why, AUX_ALL_CPUS, "cpu");
	if (!err && writes_records(attr))
		err = make_output(event, attr, why);
	if (!err && task)
		err = pmuctl_inherit_alloc(event, leader, attr, why);
	if (!err && !task && cpu < 0)
		err = alloc_parts(event, attr, why);
	if (!err)
		err = attach_with_hooks(event, task, leader, why);
	if (err) {
		dealloc_event(event);
		return ERR_PTR(err);
	}
	if (!event->soft)
		atomic_inc(&nr_events);
	return event;
}

void pmuctl_event_free(struct pmuctl_event *event)
{
	bool hooked = needs_hooks(event, pmuctl_event_is_of_cpus(event) ?
					 NULL : event->context->task);

	if (!event->soft)
		atomic_dec(&nr_events);
	/* There may be many children: nobody else waits for those. */
	if (event->inherit.root)
		pmuctl_inherit_close(event);
	mutex_lock(&pmuctl_mutex);
	cpus_read_lock();
	if (event->on_cpu)
		detach_first_parts(event, -1);
	else
		detach(event);
	cpus_read_unlock();
	pmuctl_hooks_put(event, hooked);
	mutex_unlock(&pmuctl_mutex);

	dealloc_event(event);
}

/* ---- Children; mostly in hooks, where nothing may sleep ---- */

struct pmuctl_event *pmuctl_event_blank(bool sampling, gfp_t gfp)
{
	struct pmuctl_event *child;

	gfp |= __GFP_ACCOUNT | __GFP_NOWARN;
	child = kmem_cache_zalloc(event_cache, gfp);
	if (!child)
		return NULL;
	child->tally = &child->own;
	if (sampling && !pmuctl_sampling_blank(child, gfp)) {
		kmem_cache_free(event_cache, child);
		return NULL;
	}
	return child;
}

void pmuctl_event_copy(struct pmuctl_event *child, const struct pmuctl_event *from)
{
	child->output = from->output;
	child->id = from->id;
	child->stream_id = atomic64_inc_return(&last_id);
	child->cpu = from->cpu;
	child->read_format = from->read_format;
	child->side = from->side;
	child->missed = from->missed;
	child->exclude_idle = from->exclude_idle;
	child->remove_on_exec = from->remove_on_exec;
	child->inherit_stat = from->inherit_stat;
	child->exclusive = from->exclusive;
	child->class = from->class;
	child->leader = child;
	INIT_LIST_HEAD(&child->siblings);
	child->enable_on_exec = from->enable_on_exec;
	hwpmu_counter_copy(&child->own.counter, &from->own.counter);
	if (from->soft)
		pmuctl_soft_copy(child, from);
	if (from->sampling)
		pmuctl_sampling_copy(child, from);
}

void pmuctl_event_free_child(struct pmuctl_event *child)
{
	dealloc_one(child);
}

/**
 * struct event_switch - what set_enabled() wants
 * @event: which event.
 * @group: all of its group are meant.
 * @enabled: on or off.
 */
struct event_switch {
	struct pmuctl_event *event;
	bool group;
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

static void set_enabled(struct pmuctl_event *event, bool group, bool enabled)
{
	struct event_switch want = {
		.event = event, .group = group, .enabled = enabled,
	};

	pmuctl_context_change(event->context, switch_events, &want);
}

void pmuctl_event_switch_child(struct pmuctl_event *child, bool group,
			       bool enabled)
{
	set_enabled(child, group, enabled);
}

static void set_enabled_all(struct pmuctl_event *event, bool group, bool enabled)
{
	int cpu;

	if (event->inherit.root) {
		pmuctl_inherit_lock(event);
		set_enabled(event, group, enabled);
		pmuctl_inherit_set_enabled(event, group, enabled);
		pmuctl_inherit_unlock(event);
		return;
	}
	if (!event->on_cpu) {
		set_enabled(event, group, enabled);
		return;
	}
	for_each_possible_cpu(cpu)
		set_enabled(event->on_cpu[cpu], group, enabled);
}

void pmuctl_event_enable(struct pmuctl_event *event, bool group)
{
	set_enabled_all(event, group, true);
}

void pmuctl_event_disable(struct pmuctl_event *event, bool group)
{
	set_enabled_all(event, group, false);
}

unsigned int pmuctl_event_number(void)
{
	return atomic_read(&nr_events);
}

int __init pmuctl_event_init(void)
{
	event_cache = KMEM_CACHE(pmuctl_event, 0);
	return event_cache ? 0 : -ENOMEM;
}

void pmuctl_event_exit(void)
{
	rcu_barrier(); /* free_event_rcu() is code of this module */
	kmem_cache_destroy(event_cache);
}
