// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters for other modules, <linux/pmuctl.h>: an event without a descriptor, which nobody
 * inherits and which writes no records. Its overflows go to a handler.
 *
 * No handler needs to be waited for: who takes an event off the PMU does it on the CPU
 * that it is on, with interrupts off. What a handler runs in, an NMI of that CPU or, for a
 * software event, a piece of code with interrupts off, is over then or has not begun.
 */
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "aux/aux.h"
#include "core/context.h"
#include "core/event.h"
#include "core/times.h"
#include "event/change.h"
#include "event/create.h"
#include "event/read.h"
#include "sample/sampling.h"
#include "soft/soft.h"

/**
 * struct pmuctl_counter - a counter of another module
 *
 * Constant:
 * @overflow: how its event finds it.
 * @event: what counts.
 * @handler: called at overflows; or NULL.
 * @context: for that.
 *
 * Owner CPU, NMI may interrupt; read by others:
 * @interrupted: the task that the handler interrupted, while it runs; else NULL.
 */
struct pmuctl_counter {
	struct pmuctl_overflow_handler overflow;
	struct pmuctl_event *event;
	pmuctl_handler_t handler;
	void *context;
	struct task_struct *interrupted;
};

static bool call_handler(struct pmuctl_overflow_handler *overflow, struct pt_regs *regs,
			 u64 period)
{
	struct pmuctl_counter *counter =
		container_of(overflow, struct pmuctl_counter, overflow);
	struct pmuctl_event *event = counter->event;
	const struct pmuctl_times times = pmuctl_times_tell(&event->own);
	struct pmuctl_sample sample = {
		.value = pmuctl_count_own(event) - event->own.base,
		.period = period,
		.time = times.stamp,
		.time_enabled = times.enabled,
		.time_running = times.running,
	};
	struct task_struct *outer = counter->interrupted;
	bool go_on;

	WRITE_ONCE(counter->interrupted, current);
	go_on = counter->handler(counter, &sample, regs, counter->context);
	WRITE_ONCE(counter->interrupted, outer); /* of one that this one interrupts */
	return go_on;
}

/* A task that a handler interrupts calls nothing before that has ended. */
static int check_caller(const struct pmuctl_counter *counter,
			struct pmuctl_explanation *why)
{
	if (in_nmi() || READ_ONCE(counter->interrupted) == current)
		return pmuctl_refuse(why, KERNEL_IN_HANDLER, "");
	might_sleep();
	return 0;
}

/* ---- What may be created ---- */

/* The word of single-bit flags follows read_format. */
#define FLAGS_OFFSET \
	(offsetof(struct perf_event_attr, read_format) + sizeof(u64))
/* disabled, pinned, exclusive, exclude_user, _kernel, _hv, _idle, freq, enable_on_exec,
 * precise_ip
 */
#define FLAGS_MEANT \
	(BIT_ULL(0) | GENMASK_ULL(7, 2) | BIT_ULL(10) | BIT_ULL(12) | \
	 GENMASK_ULL(16, 15))

static u64 flags_of(const struct perf_event_attr *attr)
{
	u64 flags;

	memcpy(&flags, (const u8 *)attr + FLAGS_OFFSET, sizeof(flags));
	return flags;
}

/* Newer kernels have it behind what is known here. */
static u64 config4_of(const struct perf_event_attr *attr)
{
	u64 config4 = 0;

	if (sizeof(*attr) >= PMUCTL_ATTR_SIZE + sizeof(config4))
		memcpy(&config4, (const u8 *)attr + PMUCTL_ATTR_SIZE, sizeof(config4));
	return config4;
}

/* What is about records, groups, families and AUX data has no meaning here. */
static int check_attr(const struct perf_event_attr *attr,
		      struct pmuctl_explanation *why)
{
	const struct {
		u64 value;
		const char *field;
	} unmeant[] = {
		{ attr->inherit, "attr.inherit" },
		{ attr->read_format, "attr.read_format" },
		{ attr->sample_type, "attr.sample_type" },
		{ attr->wakeup_events, "attr.wakeup_events" },
		{ attr->branch_sample_type, "attr.branch_sample_type" },
		{ attr->sample_regs_user, "attr.sample_regs_user" },
		{ attr->sample_stack_user, "attr.sample_stack_user" },
		{ attr->clockid, "attr.clockid" },
		{ attr->sample_regs_intr, "attr.sample_regs_intr" },
		{ attr->sample_max_stack, "attr.sample_max_stack" },
		{ attr->type >= PMUCTL_TYPE_DRIVERS ? attr->type : 0, "attr.type" },
		{ attr->aux_watermark, "attr.aux_watermark" },
		{ pmuctl_aux_action(attr), "attr.aux_action" },
		{ attr->aux_sample_size, "attr.aux_sample_size" },
		{ flags_of(attr) & ~FLAGS_MEANT, "attr.flags" },
		{ config4_of(attr), "attr.config4" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unmeant); i++)
		if (unmeant[i].value)
			return pmuctl_refuse(why, KERNEL_ATTR, unmeant[i].field,
					     unmeant[i].field,
					     unmeant[i].value);
	return 0;
}

static int check_request(const struct perf_event_attr *attr, int cpu,
			 const struct task_struct *task, bool handler,
			 struct pmuctl_explanation *why)
{
	union pmuctl_attr whole = { .attr = *attr };
	int err;

	err = check_attr(attr, why);
	if (!err)
		err = pmuctl_attr_check(&whole, why);
	if (err)
		return err;
	if (attr->type == PERF_TYPE_TRACEPOINT)
		return pmuctl_refuse(why, KERNEL_TRACEPOINT, "attr.type");
	if (handler != !!attr->sample_period)
		return pmuctl_refuse(why, KERNEL_HANDLER, "attr.sample_period",
				     attr->sample_period);
	if (cpu == -1 && !task)
		return pmuctl_refuse(why, KERNEL_TARGET, "cpu");
	if (cpu < -1 || cpu >= (int)nr_cpu_ids ||
	    (cpu >= 0 && !cpu_possible(cpu)))
		return pmuctl_refuse(why, KERNEL_CPU, "cpu", cpu, nr_cpu_ids - 1);
	return 0;
}

static void let_exec_enable(struct pmuctl_context *ctx, void *arg)
{
	struct pmuctl_event *event = arg;

	event->enable_on_exec = true;
}

struct pmuctl_counter *pmuctl_counter_create(const struct perf_event_attr *attr,
					     int cpu, struct task_struct *task,
					     pmuctl_handler_t handler,
					     void *context,
					     struct pmuctl_explanation *why)
{
	const struct pmuctl_target target = { .task = task, .cpu = cpu };
	struct perf_event_attr quiet = *attr;
	struct pmuctl_counter *counter;
	int err;

	might_sleep();
	err = check_request(attr, cpu, task, handler, why);
	if (err)
		return ERR_PTR(err);
	counter = kzalloc(sizeof(*counter), GFP_KERNEL);
	if (!counter)
		return ERR_PTR(pmuctl_refuse(why, NO_MEMORY, ""));
	counter->handler = handler;
	counter->context = context;
	/* It must not overflow before it has its handler: nor may an exec enable it. */
	quiet.enable_on_exec = 0;
	counter->event = pmuctl_event_create(&target, &quiet, NULL,
					     PMUCTL_EVENT_CLAIMS |
					     PMUCTL_EVENT_UNLIMITED, NULL, why);
	if (IS_ERR(counter->event)) {
		err = PTR_ERR(counter->event);
		kfree(counter);
		return ERR_PTR(err);
	}
	if (handler) {
		counter->overflow.call = call_handler;
		counter->event->sampling->handler = &counter->overflow;
	}
	if (attr->enable_on_exec)
		pmuctl_context_call(counter->event->context, let_exec_enable,
				    counter->event);
	if (!attr->disabled)
		pmuctl_event_enable(counter->event, false);
	return counter;
}
EXPORT_SYMBOL_GPL(pmuctl_counter_create);

/* ---- What is done with it ---- */

int pmuctl_counter_enable(struct pmuctl_counter *counter)
{
	int err = check_caller(counter, NULL);

	if (!err)
		pmuctl_event_enable(counter->event, false);
	return err;
}
EXPORT_SYMBOL_GPL(pmuctl_counter_enable);

int pmuctl_counter_disable(struct pmuctl_counter *counter)
{
	int err = check_caller(counter, NULL);

	if (!err)
		pmuctl_event_disable(counter->event, false);
	return err;
}
EXPORT_SYMBOL_GPL(pmuctl_counter_disable);

int pmuctl_counter_read(struct pmuctl_counter *counter, u64 *value,
			u64 *time_enabled, u64 *time_running)
{
	struct pmuctl_counts counts;
	int err = check_caller(counter, NULL);

	if (err)
		return err;
	if (!pmuctl_event_read(counter->event, PERF_FORMAT_TOTAL_TIME_ENABLED,
			       &counts, 1))
		return -ENODATA;
	*value = counts.value;
	if (time_enabled)
		*time_enabled = counts.time_enabled;
	if (time_running)
		*time_running = counts.time_running;
	return 0;
}
EXPORT_SYMBOL_GPL(pmuctl_counter_read);

int pmuctl_counter_set_period(struct pmuctl_counter *counter, u64 period,
			      struct pmuctl_explanation *why)
{
	int err = check_caller(counter, why);

	return err ?: pmuctl_event_set_period(counter->event, period, why);
}
EXPORT_SYMBOL_GPL(pmuctl_counter_set_period);

int pmuctl_counter_release(struct pmuctl_counter *counter)
{
	int err = check_caller(counter, NULL);

	if (err)
		return err;
	pmuctl_event_free(counter->event);
	kfree(counter);
	return 0;
}
EXPORT_SYMBOL_GPL(pmuctl_counter_release);
