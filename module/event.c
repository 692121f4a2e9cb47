// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: their making and end, and what a user does with one. Where and when an event
 * counts is context.c's.
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "core.h"

/* See the lock order in core.h. */
DEFINE_MUTEX(pmuctl_mutex);

static struct kmem_cache *event_cache;
static atomic64_t last_id;
static atomic_t nr_events;

/* Only a CPU's events can meet the idle task; those of tasks never do. */
static bool needs_hooks(const struct pmuctl_event *event,
			const struct task_struct *task)
{
	return task || event->exclude_idle;
}

/* With pmuctl_mutex, hooks, and cpus_read_lock */
static int attach(struct pmuctl_event *event, struct task_struct *task,
		  struct pmuctl_explanation *why)
{
	struct pmuctl_context *ctx;
	int err;

	if (event->cpu >= 0 && !cpu_online(event->cpu))
		return pmuctl_refuse(why, CPU_OFFLINE, "cpu", event->cpu,
				     event->cpu);
	err = hwpmu_get(why);
	if (err)
		return err;

	ctx = task ? pmuctl_context_get_task(task, why) :
		     pmuctl_context_of_cpu(event->cpu);
	if (IS_ERR(ctx)) {
		err = PTR_ERR(ctx);
		goto err_put_pmu;
	}
	err = pmuctl_admit(ctx, event, why);
	if (err)
		goto err_put_context;
	event->context = ctx;
	if (!pmuctl_context_add(ctx, event)) {
		err = pmuctl_refuse(why, TASK_EXITING, "pid",
				    task_pid_vnr(task));
		goto err_put_context;
	}
	return 0;

err_put_context:
	pmuctl_context_put(ctx);
err_put_pmu:
	hwpmu_put();
	return err;
}

static int attach_with_hooks(struct pmuctl_event *event,
			     struct task_struct *task,
			     struct pmuctl_explanation *why)
{
	int err = 0;

	if (mutex_lock_killable(&pmuctl_mutex))
		return pmuctl_refuse(why, INTERRUPTED, "");
	if (needs_hooks(event, task))
		err = pmuctl_hooks_get(why);
	if (err)
		goto out_unlock;

	/* Not outside of the hooks: registering them takes it too. */
	cpus_read_lock();
	err = attach(event, task, why);
	cpus_read_unlock();
	if (err && needs_hooks(event, task))
		pmuctl_hooks_put();
out_unlock:
	mutex_unlock(&pmuctl_mutex);
	return err;
}

struct pmuctl_event *pmuctl_event_create(struct task_struct *task, int cpu,
					 const struct perf_event_attr *attr,
					 struct pmuctl_explanation *why)
{
	struct pmuctl_event *event;
	int err;

	event = kmem_cache_zalloc(event_cache, GFP_KERNEL_ACCOUNT);
	if (!event)
		return ERR_PTR(pmuctl_refuse(why, NO_MEMORY, ""));

	event->id = atomic64_inc_return(&last_id);
	event->cpu = cpu;
	event->read_format = attr->read_format;
	event->exclude_idle = attr->exclude_idle;
	event->enable_on_exec = attr->enable_on_exec;
	err = hwpmu_counter_init(&event->counter, attr, why);
	if (err)
		goto err_free;
	err = attach_with_hooks(event, task, why);
	if (err)
		goto err_free;
	atomic_inc(&nr_events);
	return event;

err_free:
	kmem_cache_free(event_cache, event);
	return ERR_PTR(err);
}

void pmuctl_event_free(struct pmuctl_event *event)
{
	struct pmuctl_context *ctx = event->context;
	bool hooked = needs_hooks(event, ctx->task);

	atomic_dec(&nr_events);
	mutex_lock(&pmuctl_mutex);
	cpus_read_lock();
	pmuctl_context_del(event);
	pmuctl_context_put(ctx);
	hwpmu_put();
	cpus_read_unlock();
	if (hooked)
		pmuctl_hooks_put();
	mutex_unlock(&pmuctl_mutex);

	kmem_cache_free(event_cache, event);
}

static void set_enabled(struct pmuctl_event *event, bool enabled)
{
	struct pmuctl_context *ctx = event->context;
	unsigned long flags;
	bool changed;

	raw_spin_lock_irqsave(&ctx->lock, flags);
	changed = event->enabled != enabled;
	event->enabled = enabled;
	raw_spin_unlock_irqrestore(&ctx->lock, flags);
	if (changed)
		pmuctl_context_sync(ctx);
}

void pmuctl_event_enable(struct pmuctl_event *event)
{
	set_enabled(event, true);
}

void pmuctl_event_disable(struct pmuctl_event *event)
{
	set_enabled(event, false);
}

static void reset_event(struct pmuctl_context *ctx, void *arg)
{
	struct pmuctl_event *event = arg;

	event->base = hwpmu_read(&event->counter);
}

void pmuctl_event_reset(struct pmuctl_event *event)
{
	pmuctl_context_call(event->context, reset_event, event);
}

struct event_read {
	struct pmuctl_event *event;
	struct pmuctl_counts *counts;
};

static void read_event(struct pmuctl_context *ctx, void *arg)
{
	struct event_read *request = arg;
	struct pmuctl_event *event = request->event;

	request->counts->value = hwpmu_read(&event->counter) - event->base;
	request->counts->time_enabled = event->time_enabled;
	request->counts->time_running = event->time_running;
}

void pmuctl_event_read(struct pmuctl_event *event, struct pmuctl_counts *counts)
{
	struct event_read request = { .event = event, .counts = counts };

	pmuctl_context_call(event->context, read_event, &request);
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
	kmem_cache_destroy(event_cache);
}
