// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: their making and end. What a user does with one is in change.c and read.c; where and
 * when it counts is core/context.c's.
 */
#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "aux/aux.h"
#include "core/admission.h"
#include "core/context.h"
#include "core/context_table.h"
#include "core/cpu_state.h"
#include "core/hook.h"
#include "core/quota.h"
#include "core/rdpmc.h"
#include "core/sched.h"
#include "event/claim.h"
#include "event/create.h"
#include "event/task_hooks.h"
#include "inherit/inherit.h"
#include "pmu/lbr.h"
#include "sample/output.h"
#include "sample/sampling.h"
#include "sample/sideband.h"
#include "soft/soft.h"
#include "soft/tracepoint.h"

static atomic_t nr_events;

/*
 * Only a CPU's events can meet the idle task; those of tasks never do. The tick of a frequency
 * comes back with a switch.
 */
static bool needs_hooks(const struct pmuctl_event *event,
			const struct task_struct *task)
{
	return task || event->exclude_idle || event->cgroup || event->side ||
	       event->own.counter.lbr || event->ops->at_switch ||
	       (event->sampling && event->sampling->freq);
}

static void put_pmu(const struct pmuctl_event *event)
{
	if (event->ops->needs_pmu)
		pmuctl_claim_put(event);
}

static int get_pmu(struct pmuctl_event *event, struct pmuctl_explanation *why)
{
	int err = event->ops->needs_pmu ? pmuctl_claim_get(event, why) : 0;

	if (err || !pmuctl_event_is_hw(event))
		return err;
	err = hwpmu_counter_check(&event->own.counter, why);
	if (err)
		put_pmu(event);
	return err;
}

/* Is there room for it, in its group, in its context and on the PMU? */
static int admit(struct pmuctl_context *ctx, struct pmuctl_event *event,
		 struct pmuctl_event *leader, struct pmuctl_explanation *why)
{
	int err;

	if (leader) {
		err = pmuctl_admit_to_group(ctx, event, leader, why);
		if (err)
			return err;
		event->leader = leader;
	} else if (event->aux_action && !event->aux) {
		return pmuctl_refuse(why, AUX_LEADER, "group_fd");
	}
	if (!pmuctl_has_room(ctx, event))
		return pmuctl_refuse_number(ctx, why);
	return pmuctl_event_admit(ctx, event, why);
}

/*
 * With pmuctl_mutex, hooks, and cpus_read_lock. -EAGAIN, without explanation, if the task's context
 * has gone and there is no spare one, or that has gone, too: nobody is to wait for memory here.
 */
static int attach(struct pmuctl_event *event, struct task_struct *task,
		  struct pmuctl_event *leader, struct pmuctl_context **spare,
		  struct pmuctl_explanation *why)
{
	struct pmuctl_context *ctx;
	int err;

	err = get_pmu(event, why);
	if (err)
		return err;
again:
	ctx = task ? pmuctl_context_get_with(task, spare) : pmuctl_context_of_cpu(event->cpu);
	if (!ctx) {
		err = -EAGAIN;
		goto err_unadmit;
	}
	err = admit(ctx, event, leader, why);
	if (err)
		goto err_unadmit;
	event->context = ctx;
	if (!pmuctl_context_add(ctx, event)) {
		/* An exec may have ended that context, but not the task, or the leader. Or a
		 * fork has traced or filled it; or the limit has been lowered, for a CPU, too.
		 * It is admitted anew, or refused then.
		 */
		if (!task || !(READ_ONCE(task->flags) & PF_EXITING)) {
			pmuctl_context_put(ctx);
			goto again;
		}
		err = pmuctl_refuse_ended(task, leader, why);
		goto err_unadmit;
	}
	if (event->ops->attached)
		event->ops->attached(event);
	return 0;

err_unadmit:
	if (event->ops->unadmit)
		event->ops->unadmit();
	if (ctx)
		pmuctl_context_put(ctx);
	put_pmu(event);
	return err;
}

/* The reverse; it is off the PMU before anything else goes. */
static void detach(struct pmuctl_event *event)
{
	pmuctl_context_del(event);
	if (event->ops->detached)
		event->ops->detached(event);
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
			     leader ? leader->on_cpu[cpu] : NULL, NULL, why);
		if (err) {
			detach_first_parts(event, cpu);
			return err;
		}
	}
	return 0;
}

static int attach_all(struct pmuctl_event *event, struct task_struct *task,
		      struct pmuctl_event *leader, struct pmuctl_context **spare,
		      struct pmuctl_explanation *why)
{
	if (leader && !leader->on_cpu != !event->on_cpu)
		return pmuctl_refuse(why, GROUP_OTHER_TARGET, "group_fd");
	if (event->on_cpu)
		return attach_parts(event, leader, why);
	if (event->cpu >= 0 && !cpu_online(event->cpu))
		return pmuctl_refuse(why, CPU_OFFLINE, "cpu", event->cpu,
				     event->cpu);
	return attach(event, task, leader, spare, why);
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

static int lock_and_attach(struct pmuctl_event *event, struct task_struct *task,
			   struct pmuctl_event *leader, struct pmuctl_context **spare,
			   struct pmuctl_explanation *why)
{
	int err;

	if (mutex_lock_killable(&pmuctl_mutex))
		return pmuctl_refuse(why, INTERRUPTED, "");
	cpus_read_lock();
	err = attach_all(event, task, leader, spare, why);
	cpus_read_unlock();
	mutex_unlock(&pmuctl_mutex);
	return err;
}

/*
 * The context is there before: a cgroup may let who allocates wait for seconds. The task's end, or
 * an exec, may come between; from then on there is a spare one for the next.
 */
static int attach_to_task(struct pmuctl_event *event, struct task_struct *task,
			  struct pmuctl_event *leader, struct pmuctl_explanation *why)
{
	struct pmuctl_context *ctx, *spare = NULL;
	int err;

	ctx = pmuctl_context_get_task(task, why);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	err = lock_and_attach(event, task, leader, &spare, why);
	pmuctl_context_put(ctx);
	while (err == -EAGAIN) {
		if (fatal_signal_pending(current))
			return pmuctl_refuse(why, INTERRUPTED, "");
		spare = pmuctl_context_alloc();
		if (!spare)
			return pmuctl_refuse(why, NO_MEMORY, "");
		err = lock_and_attach(event, task, leader, &spare, why);
		kfree(spare);
	}
	return err;
}

static int attach_with_hooks(struct pmuctl_event *event,
			     struct task_struct *task,
			     struct pmuctl_event *leader,
			     struct pmuctl_explanation *why)
{
	const bool hooked = needs_hooks(event, task);
	int err;

	/* Before the locks: it may wait until the kernel has set or dropped one. */
	err = pmuctl_hooks_get(event, hooked, why);
	if (err)
		return err;
	note_missed(event);
	err = task ? attach_to_task(event, task, leader, why) :
		     lock_and_attach(event, NULL, leader, NULL, why);
	if (err)
		pmuctl_hooks_put(event, hooked);
	return err;
}

/* The reverse */
static void detach_with_hooks(struct pmuctl_event *event)
{
	const bool hooked = needs_hooks(event, pmuctl_event_is_of_cpus(event) ?
					NULL : event->context->task);

	mutex_lock(&pmuctl_mutex);
	cpus_read_lock();
	if (event->on_cpu)
		detach_first_parts(event, -1);
	else
		detach(event);
	cpus_read_unlock();
	mutex_unlock(&pmuctl_mutex);
	pmuctl_hooks_put(event, hooked);
}

/* @whole: as in alloc_event(): what was found out about its attr is not looked for again. */
static int init_hw_counter(struct pmuctl_event *event, const struct perf_event_attr *attr,
			   const struct pmuctl_event *whole, struct pmuctl_explanation *why)
{
	int err;

	if (whole) {
		hwpmu_counter_copy(&event->own.counter, &whole->own.counter);
		return 0;
	}
	err = hwpmu_counter_init(&event->own.counter, attr, why);
	if (err || !(attr->sample_type & PERF_SAMPLE_BRANCH_STACK))
		return err;
	return lbr_encode(&event->own.counter, attr, pmuctl_attr_branches(attr), why);
}

static int init_counter(struct pmuctl_event *event,
			const struct perf_event_attr *attr,
			struct pmuctl_tp *tp,
			const struct pmuctl_event *whole,
			struct pmuctl_explanation *why)
{
	if (attr->type >= PMUCTL_TYPE_DRIVERS)
		return pmuctl_aux_init(event, attr, why);
	if (!tp && !pmuctl_soft_is(attr))
		return init_hw_counter(event, attr, whole, why);
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return pmuctl_refuse(why, BRANCH_TYPE, "attr.sample_type");
	if (!tp)
		return pmuctl_soft_init(event, attr, why);
	pmuctl_soft_init_tp(event, tp);
	return 0;
}

/* @whole: NULL, or the event that it is to be a part of, of the same attr and @tp. */
static struct pmuctl_event *alloc_event(const struct perf_event_attr *attr,
					struct pmuctl_tp *tp,
					const struct pmuctl_event *whole, int cpu,
					struct pmuctl_explanation *why)
{
	struct pmuctl_event *event;
	int err;

	event = pmuctl_event_zalloc(GFP_KERNEL);
	if (!event)
		return ERR_PTR(pmuctl_refuse(why, NO_MEMORY, ""));

	event->ops = &pmuctl_hw_event_ops; /* unless init_counter() finds another */
	event->stream_id = pmuctl_event_next_id();
	event->id = whole ? whole->id : event->stream_id;
	event->cpu = cpu;
	event->read_format = attr->read_format;
	event->side = pmuctl_side_of(attr);
	event->exclude_idle = attr->exclude_idle;
	event->remove_on_exec = pmuctl_attr_flags(attr) & PMUCTL_ATTR_REMOVE_ON_EXEC;
	event->inherit_stat = attr->inherit_stat;
	event->tells_switches = attr->context_switch;
	event->exclusive = attr->exclusive;
	event->class = attr->pinned ? PMUCTL_PINNED : PMUCTL_FLEXIBLE;
	event->leader = event;
	INIT_LIST_HEAD(&event->siblings);
	event->enable_on_exec = attr->enable_on_exec;
	event->aux_action = pmuctl_aux_action(attr);
	event->aux_paused = event->aux_action & PMUCTL_AUX_START_PAUSED;
	err = init_counter(event, attr, tp, whole, why);
	if (err)
		goto err_free;
	if (!event->aux) {
		err = pmuctl_sampling_alloc(event, attr, why);
		if (err)
			goto err_free;
	}
	return event;

err_free:
	pmuctl_event_free_child(event);
	return ERR_PTR(err);
}

/* As many of its parts as there are */
static void dealloc_parts(struct pmuctl_event *event)
{
	int cpu;

	if (!event->on_cpu)
		return;
	for_each_possible_cpu(cpu)
		if (event->on_cpu[cpu])
			pmuctl_event_free_later(event->on_cpu[cpu]);
	kfree(event->on_cpu);
}

/*
 * The memory of an event that is not attached and has no children, with as much of equip() as
 * there is
 */
static void dealloc_event(struct pmuctl_event *event)
{
	dealloc_parts(event);
	pmuctl_inherit_free(event);
	pmuctl_userpage_free(event);
	pmuctl_output_free(event->output);
	if (event->ops->free)
		event->ops->free(event);
	pmuctl_quota_put(event->quota);
	pmuctl_event_free_later(event);
}

/* Does it need an output from the start? */
static bool writes_records(const struct pmuctl_event *event, const struct perf_event_attr *attr)
{
	return attr->type >= PMUCTL_TYPE_DRIVERS ||
	       attr->sample_period || attr->sample_type ||
	       attr->wakeup_events || attr->use_clockid ||
	       attr->write_backward || attr->inherit_stat ||
	       event->side;
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
		part = alloc_event(attr, event->sw.tp, event, cpu, why);
		if (IS_ERR(part))
			return PTR_ERR(part);
		part->enabled = event->enabled;
		part->claims = event->claims;
		part->unlimited = event->unlimited;
		part->cgroup = event->cgroup;
		part->output = event->output;
		event->on_cpu[cpu] = part;
	}
	return 0;
}

/* What an event has beside itself; what there is on an error goes with dealloc_event(). */
static int equip(struct pmuctl_event *event, struct task_struct *task,
		 struct pmuctl_event *leader, const struct perf_event_attr *attr,
		 struct pmuctl_explanation *why)
{
	int err;

	if (writes_records(event, attr)) {
		err = make_output(event, attr, why);
		if (err)
			return err;
	}
	if (task)
		return pmuctl_inherit_alloc(event, leader, attr, why);
	return event->cpu < 0 ? alloc_parts(event, attr, why) : 0;
}

/* Can this kind of event be for such a target? */
static int check_target(const struct pmuctl_event *event, const struct pmuctl_target *target,
			const struct perf_event_attr *attr, struct pmuctl_explanation *why)
{
	if (target->cgroup && event->aux)
		return pmuctl_refuse(why, CGROUP_EVENT, "attr.type",
				     pmuctl_aux_driver_of(attr->type)->name);
	/* Who comes to a CPU is counted before it is known when he will run. */
	if (target->cgroup && event->ops == &pmuctl_soft_migration_ops)
		return pmuctl_refuse(why, CGROUP_EVENT, "attr.config", "cpu-migrations");
	if (event->aux && !target->task && target->cpu < 0)
		return pmuctl_refuse(why, AUX_ALL_CPUS, "cpu");
	if (event->aux && target->task && target->cpu < 0 && attr->inherit)
		return pmuctl_refuse(why, AUX_INHERIT, "cpu");
	return 0;
}

/* Its group may have many children, which somebody goes through: nobody waits for that. */
static void end(struct pmuctl_event *event, void (*free)(struct pmuctl_event *event))
{
	if (event->inherit.root)
		pmuctl_inherit_close(event, free);
	else
		free(event);
}

struct pmuctl_event *pmuctl_event_create(const struct pmuctl_target *target,
					 const struct perf_event_attr *attr,
					 struct pmuctl_tp *tp, unsigned int flags,
					 struct pmuctl_event *leader,
					 struct pmuctl_explanation *why)
{
	struct task_struct *task = target->task;
	struct pmuctl_event *event;
	int err;

	event = alloc_event(attr, tp, NULL, target->cpu, why);
	if (IS_ERR(event)) {
		pmuctl_quota_put(target->quota);
		return event;
	}
	event->cgroup = target->cgroup;
	event->quota = target->quota;
	event->enabled = flags & PMUCTL_EVENT_ENABLED;
	event->claims = flags & PMUCTL_EVENT_CLAIMS;
	event->unlimited = flags & PMUCTL_EVENT_UNLIMITED;
	err = check_target(event, target, attr, why);
	if (err)
		goto err_end;
	err = equip(event, task, leader, attr, why);
	if (err)
		goto err_end;
	err = attach_with_hooks(event, task, leader, why);
	if (err)
		goto err_end;
	if (pmuctl_event_is_hw(event))
		atomic_inc(&nr_events);
	return event;

err_end:
	end(event, dealloc_event);
	return ERR_PTR(err);
}

/* It has no children, or no more. */
static void free_childless(struct pmuctl_event *event)
{
	struct cgroup_subsys_state *cgroup = event->cgroup;
	struct pmuctl_tp *tp = event->sw.tp;

	detach_with_hooks(event);
	if (tp)
		pmuctl_quota_change_work(event->quota, tp->work, 0, NULL);
	dealloc_event(event);
	pmuctl_tp_free(tp);
	if (cgroup)
		css_put(cgroup);
}

void pmuctl_event_free(struct pmuctl_event *event)
{
	if (pmuctl_event_is_hw(event))
		atomic_dec(&nr_events);
	end(event, free_childless);
}

unsigned int pmuctl_event_number(void)
{
	return atomic_read(&nr_events);
}
