// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading events, and letting their values start from 0.
 */
#include <linux/sched/clock.h>

#include "core/context.h"
#include "core/rdpmc.h"
#include "core/sched.h"
#include "event/read.h"
#include "inherit/inherit.h"
#include "sample/output.h"

/**
 * struct event_call - what reset and read are called with
 * @event: which event.
 * @group: all of its group are meant.
 * @counts: where to put what is read.
 * @max: how many of them there are.
 * @n: how many were read.
 * @sum: add to what is there: of all CPUs, this is not the first.
 * @format: PERF_FORMAT_*: whether times must be right.
 */
struct event_call {
	struct pmuctl_event *event;
	bool group;
	struct pmuctl_counts *counts;
	unsigned int max;
	unsigned int n;
	bool sum;
	u64 format;
};

static void reset_events(struct pmuctl_context *ctx, void *arg)
{
	struct event_call *call = arg;
	struct pmuctl_event *each;

	for_each_meant(each, call->event, call->group) {
		each->state->base = pmuctl_count(each);
		if (each->state->counter.user)
			pmuctl_userpage_reset(each);
	}
}

void pmuctl_event_reset(struct pmuctl_event *event, bool group)
{
	struct event_call call = { .event = event, .group = group };
	int cpu;

	if (event->inherit.root) {
		if (pmuctl_inherit_lock(event))
			return; /* to a task that is being killed */
		pmuctl_context_call(event->context, reset_events, &call);
		pmuctl_inherit_reset(event, group);
		pmuctl_inherit_unlock(event);
		return;
	}
	if (!event->on_cpu) {
		pmuctl_context_call(event->context, reset_events, &call);
		return;
	}
	for_each_possible_cpu(cpu) {
		call.event = event->on_cpu[cpu];
		pmuctl_context_call(call.event->context, reset_events, &call);
	}
}

#define FORMAT_TIMES \
	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static void read_one(struct pmuctl_event *event, struct pmuctl_counts *counts)
{
	counts->id = event->id;
	counts->lost = pmuctl_event_lost(event);
	counts->parts++;
	counts->value += pmuctl_count(event) - event->state->base;
	counts->time_enabled += event->state->time_enabled;
	counts->time_running += event->state->time_running;
	/* One that is being closed has no more children, and what told of them may go at once. */
	counts->root = event->inherit.root && !event->inherit.closing ? &event->inherit : NULL;
}

/*
 * Add the members of a group on another CPU to the same ones of the first. Who joins a group or
 * leaves it does so CPU by CPU: some are missing on either, but all have one order. Interrupts are
 * off: after some steps more than there are members, the others are taken for missing.
 */
static void add_parts(struct event_call *call)
{
	unsigned int i, at = 0, steps = 2 * call->n;
	struct pmuctl_event *each;

	for_each_meant(each, call->event, call->group) {
		for (i = at; i < call->n && call->counts[i].id != each->id; i++)
			if (!steps--)
				return;
		if (i < call->n) {
			read_one(each, &call->counts[i]);
			at = i + 1;
		}
	}
}

static void read_first(struct event_call *call)
{
	struct pmuctl_event *each;

	call->n = 0;
	for_each_meant(each, call->event, call->group) {
		if (call->n < call->max) {
			memset(&call->counts[call->n], 0, sizeof(*call->counts));
			read_one(each, &call->counts[call->n]);
		}
		call->n++;
	}
}

/* @n becomes 0 if the group is in error. */
static void read_events(struct pmuctl_context *ctx, void *arg)
{
	struct event_call *call = arg;
	bool freeze = call->group && call->event->leader->state->counter.running;

	if (call->event->leader->error) {
		call->n = 0;
		return;
	}
	if (call->format & FORMAT_TIMES)
		pmuctl_sched_account(call->event->leader);
	if (freeze)
		hwpmu_freeze();
	if (call->sum)
		add_parts(call);
	else
		read_first(call);
	if (freeze)
		hwpmu_thaw();
}

/* Those that are on all CPUs stay. */
static unsigned int drop_others(struct pmuctl_counts *counts, unsigned int n)
{
	unsigned int i, kept = 0;

	for (i = 0; i < n; i++)
		if (counts[i].parts == num_possible_cpus())
			counts[kept++] = counts[i];
	return kept;
}

/* What read() gives of one event beside the times; perf_event_open(2) */
static __always_inline unsigned int put_value(const struct pmuctl_event *event,
					      u64 format, u64 *out)
{
	unsigned int n = 0;

	out[n++] = pmuctl_count_own(event) - event->own.base;
	if (format & PERF_FORMAT_ID)
		out[n++] = event->id;
	if (format & PERF_FORMAT_LOST)
		out[n++] = pmuctl_event_lost(event);
	return n;
}

static __always_inline unsigned int put_times(const struct pmuctl_event *event,
					      u64 format, u64 *out)
{
	unsigned int n = 0;
	u64 time;

	if (!(format & FORMAT_TIMES))
		return 0;
	time = sched_clock() - event->own.stamp;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		out[n++] = event->own.time_enabled + time;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		out[n++] = event->own.time_running + time;
	return n;
}

/* Returns 0 if there is too little room. */
static unsigned int read_group_here(struct pmuctl_event *leader, u64 format,
				    u64 *out, unsigned int max)
{
	struct pmuctl_event *event;
	unsigned int nr = 0, n = 1;

	hwpmu_freeze();
	n += put_times(leader, format, out + n);
	for_each_group_member(event, leader) {
		if (n + PMUCTL_WORDS_EACH > max) {
			n = 0;
			break;
		}
		n += put_value(event, format, out + n);
		nr++;
	}
	hwpmu_thaw();
	out[0] = nr;
	return n;
}

static unsigned int read_one_here(const struct pmuctl_event *event, u64 format,
				  u64 *out)
{
	u64 value[PMUCTL_WORDS_EACH];
	unsigned int n, i, m;

	if (!(format & ~FORMAT_TIMES)) {
		put_value(event, 0, out);
		return 1 + put_times(event, format, out + 1);
	}
	/* The times come between the value and what else there is of it. */
	m = put_value(event, format, value);
	out[0] = value[0];
	n = 1 + put_times(event, format, out + 1);
	for (i = 1; i < m; i++)
		out[n++] = value[i];
	return n;
}

unsigned int pmuctl_event_read_here(struct pmuctl_event *event, u64 *out,
				    unsigned int max)
{
	u64 format = event->read_format;
	struct pmuctl_event *first;
	unsigned long flags;
	unsigned int n = 0;

	if (event->on_cpu || event->inherit.root)
		return 0;
	local_irq_save(flags);
	/* Not before: until here its leader may be closed by another CPU, and be freed. */
	first = format & PERF_FORMAT_GROUP ? event->leader : event;
	if (READ_ONCE(event->context->loaded_cpu) == smp_processor_id() &&
	    first->own.counter.running)
		n = format & PERF_FORMAT_GROUP ?
			read_group_here(first, format, out, max) :
			read_one_here(first, format, out);
	local_irq_restore(flags);
	return n;
}

unsigned int pmuctl_event_read(struct pmuctl_event *event, u64 format,
			       struct pmuctl_counts *counts, unsigned int max)
{
	struct event_call call = {
		.event = event, .group = format & PERF_FORMAT_GROUP,
		.counts = counts, .max = max, .format = format,
	};
	int cpu;

	if (event->inherit.root) {
		if (pmuctl_inherit_lock(event))
			return 0; /* to a task that is being killed */
		pmuctl_context_call(event->context, read_events, &call);
		if (call.n <= max)
			pmuctl_inherit_add(event, call.group, counts, call.n);
		pmuctl_inherit_unlock(event);
		return call.n;
	}
	if (!event->on_cpu) {
		pmuctl_context_call(event->context, read_events, &call);
		return call.n;
	}
	for_each_possible_cpu(cpu) {
		call.event = event->on_cpu[cpu];
		pmuctl_context_call(call.event->context, read_events, &call);
		if (!call.n || call.n > max)
			return call.n;
		call.sum = true;
	}
	return drop_others(counts, call.n);
}

bool pmuctl_event_read_cpu(struct pmuctl_event *event, int cpu,
			   struct pmuctl_counts *counts)
{
	if (event->on_cpu)
		event = event->on_cpu[cpu];
	else if (event->context->task || event->cpu != cpu)
		return false;
	return pmuctl_event_read(event, FORMAT_TIMES, counts, 1);
}
