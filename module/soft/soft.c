// SPDX-License-Identifier: GPL-2.0-only
/*
 * Software events: which there are, and how those count that need nobody to tell them:
 * nothing, and what the kernel counts for each task. Clocks are soft/clock.c's, hits
 * soft/swevent.c's. Runs with IRQs off on the CPU of the event.
 */
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "core/hook.h"
#include "soft/soft.h"
#include "soft/tracepoint.h"

/* ---- Nothing ---- */

static void nothing(struct pmuctl_event *event)
{
}

static u64 read_nothing(const struct pmuctl_event *event)
{
	return event->own.counter.count;
}

static const struct pmuctl_event_ops nothing_ops = {
	PMUCTL_SOFT_OPS,
	.start = nothing,
	.stop = nothing,
	.read = read_nothing,
};

/* ---- What the kernel counts for each task ---- */

/* Those of the CPU itself that run: they count one task after the other. */
static DEFINE_PER_CPU(struct hlist_head, of_cpu);

static u64 faults_of(const struct task_struct *task)
{
	return READ_ONCE(task->min_flt) + READ_ONCE(task->maj_flt);
}

static u64 minor_faults_of(const struct task_struct *task)
{
	return READ_ONCE(task->min_flt);
}

static u64 major_faults_of(const struct task_struct *task)
{
	return READ_ONCE(task->maj_flt);
}

static u64 switches_of(const struct task_struct *task)
{
	return READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

static void follow(struct pmuctl_event *event, struct task_struct *task)
{
	event->own.counter.prev = event->sw.value_of(task);
	barrier(); /* read_task() in an NMI: what it uses is right when it sees @task */
	WRITE_ONCE(event->sw.task, task);
}

static void start_task(struct pmuctl_event *event)
{
	struct task_struct *task = event->context->task;

	if (!task)
		hlist_add_head_rcu(&event->sw.node, this_cpu_ptr(&of_cpu));
	follow(event, task ? : current);
}

static u64 read_task(const struct pmuctl_event *event)
{
	const struct task_struct *task = READ_ONCE(event->sw.task);

	if (!task)
		return event->sw.kept;
	return event->own.counter.count + event->sw.value_of(task) -
	       event->own.counter.prev;
}

/* From now on an NMI reads what is kept: it must not add what is folded already. */
static void fold_task(struct pmuctl_event *event)
{
	event->sw.kept = read_task(event);
	barrier();
	WRITE_ONCE(event->sw.task, NULL);
	barrier();
	event->own.counter.count = event->sw.kept;
}

static void stop_task(struct pmuctl_event *event)
{
	fold_task(event);
	if (!event->context->task)
		hlist_del_rcu(&event->sw.node);
}

static const struct pmuctl_event_ops task_ops = {
	PMUCTL_SOFT_OPS,
	.start = start_task,
	.stop = stop_task,
	.read = read_task,
	.at_switch = PMUCTL_AT_SWITCH_CPU,
};

static void switch_task(struct pmuctl_event *event, struct task_struct *next)
{
	fold_task(event);
	follow(event, next);
}

/* ---- The switch hook ---- */

void pmuctl_soft_switch(struct task_struct *next)
{
	struct pmuctl_event *event;

	hlist_for_each_entry(event, this_cpu_ptr(&of_cpu), sw.node)
		switch_task(event, next);
	pmuctl_soft_count_arrivals();
}

void pmuctl_soft_arrive(struct pmuctl_context *ctx)
{
	u64 n = READ_ONCE(ctx->task->se.nr_migrations) - ctx->migrations;
	struct pmuctl_event *event;

	if (likely(!n))
		return;
	hlist_for_each_entry(event, this_cpu_ptr(pmuctl_sw_migrations.running),
			     sw.node)
		if (event->context == ctx)
			pmuctl_soft_migrated(event, n);
}

/* ---- Which there are ---- */

/**
 * struct kind - an event of PERF_TYPE_SOFTWARE
 * @name: perf's, for people.
 * @ops: how it counts, if nothing below says otherwise; NULL: it is not ours.
 * @value_of: as struct pmuctl_soft_state.
 * @source: who tells of each, if they are sampled, or if it matters where they are.
 * @in_kernel: all of them happen in the kernel.
 */
struct kind {
	const char *name;
	const struct pmuctl_event_ops *ops;
	u64 (*value_of)(const struct task_struct *task);
	struct pmuctl_sw_source *source;
	bool in_kernel;
};

static const struct kind kinds[] = {
	[PERF_COUNT_SW_CPU_CLOCK] = {
		"cpu-clock", &pmuctl_soft_clock_ops },
	[PERF_COUNT_SW_TASK_CLOCK] = {
		"task-clock", &pmuctl_soft_clock_ops },
	[PERF_COUNT_SW_PAGE_FAULTS] = {
		"page-faults", &task_ops, faults_of, &pmuctl_sw_faults },
	[PERF_COUNT_SW_CONTEXT_SWITCHES] = {
		"context-switches", &task_ops, switches_of,
		&pmuctl_sw_switches, true },
	[PERF_COUNT_SW_CPU_MIGRATIONS] = {
		"cpu-migrations", &pmuctl_soft_migration_ops, NULL,
		&pmuctl_sw_migrations, true },
	[PERF_COUNT_SW_PAGE_FAULTS_MIN] = {
		"minor-faults", &task_ops, minor_faults_of,
		&pmuctl_sw_minor },
	[PERF_COUNT_SW_PAGE_FAULTS_MAJ] = {
		"major-faults", &task_ops, major_faults_of,
		&pmuctl_sw_major },
	[PERF_COUNT_SW_ALIGNMENT_FAULTS] = {
		"alignment-faults", &nothing_ops },
	[PERF_COUNT_SW_EMULATION_FAULTS] = {
		"emulation-faults", &nothing_ops },
	[PERF_COUNT_SW_DUMMY] = {
		"dummy", &nothing_ops },
	[PERF_COUNT_SW_BPF_OUTPUT] = {
		"bpf-output" },
	[PERF_COUNT_SW_CGROUP_SWITCHES] = {
		"cgroup-switches", &pmuctl_swevent_ops, NULL,
		&pmuctl_sw_cgroup_switches, true },
};

bool pmuctl_soft_is(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE;
}

static void count_source(struct pmuctl_event *event, struct pmuctl_sw_source *source)
{
	event->sw.source = source;
	event->hook = source->hook;
}

static void choose_ops(struct pmuctl_event *event, const struct kind *kind,
		       const struct perf_event_attr *attr)
{
	bool anywhere = !attr->exclude_user && !attr->exclude_kernel;

	event->ops = kind->ops;
	event->sw.value_of = kind->value_of;
	if (!kind->source)
		return;
	if (kind->in_kernel && attr->exclude_kernel) {
		event->ops = &nothing_ops;
	} else if (kind->ops != &task_ops) {
		count_source(event, kind->source);
	} else if (attr->sample_period || !(anywhere || kind->in_kernel)) {
		event->ops = &pmuctl_swevent_ops;
		count_source(event, kind->source);
	}
}

int pmuctl_soft_init(struct pmuctl_event *event,
		     const struct perf_event_attr *attr,
		     struct pmuctl_explanation *why)
{
	const struct kind *kind;

	if (attr->config >= ARRAY_SIZE(kinds))
		return pmuctl_refuse(why, SOFT_UNKNOWN, "attr.config", attr->config);
	kind = &kinds[array_index_nospec(attr->config, ARRAY_SIZE(kinds))];
	if (!kind->ops)
		return pmuctl_refuse(why, SOFT_UNSUPPORTED, "attr.config",
				     attr->config, kind->name);
	event->own.counter.index = -1;
	event->sw.exclude_user = attr->exclude_user;
	event->sw.exclude_kernel = attr->exclude_kernel;
	choose_ops(event, kind, attr);
	return 0;
}

void pmuctl_soft_init_tp(struct pmuctl_event *event, struct pmuctl_tp *tp)
{
	event->own.counter.index = -1;
	event->sw.tp = tp;
	count_source(event, pmuctl_tp_source(tp));
	event->ops = event->sw.source->record ? &pmuctl_recorded_ops : &pmuctl_swevent_ops;
}
