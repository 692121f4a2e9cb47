// SPDX-License-Identifier: GPL-2.0-only
/*
 * Software events that happen one by one: somebody tells of each, in the context in which it
 * happens, which may be any. Those events that run on this CPU count it, if they do not exclude the
 * place where it happened, and when their period is over that is a sample, as an overflow
 * of a counter is one.
 */
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/sched.h>

#include "aux/aux.h"
#include "sample/callchain.h"
#include "sample/sample.h"
#include "sample/sampling.h"
#include "soft/soft.h"

static DEFINE_PER_CPU(bool [PMUCTL_SOFT_LEVELS], telling);

unsigned int pmuctl_soft_level(void)
{
	return in_nmi() ? 3 : in_hardirq() ? 2 : in_serving_softirq() ? 1 : 0;
}

bool pmuctl_soft_is_telling(unsigned int level)
{
	return __this_cpu_read(telling[level]);
}

bool pmuctl_soft_enter(unsigned int *level)
{
	bool *busy;

	*level = pmuctl_soft_level();
	busy = this_cpu_ptr(&telling[*level]);
	if (unlikely(*busy))
		return false;
	WRITE_ONCE(*busy, true);
	return true;
}

void pmuctl_soft_exit_level(unsigned int level)
{
	__this_cpu_write(telling[level], false);
}

bool pmuctl_soft_excludes(const struct pmuctl_event *event, struct pt_regs *regs)
{
	return user_mode(regs) ? event->sw.exclude_user :
				 event->sw.exclude_kernel;
}

/* ---- Counting ---- */

/* As the NMI does when the period of a counter is over */
void pmuctl_soft_end_period(struct pmuctl_event *event, struct pt_regs *regs,
			    const struct pmuctl_sample_data *data)
{
	const struct pmuctl_sample_data **told = &event->sampling->data;
	struct hwpmu_counter *c = &event->own.counter;
	const struct pmuctl_sample_data *outer = *told;

	WRITE_ONCE(*told, data);
	if (!pmuctl_overflow(c, regs))
		c->stopped = true;
	WRITE_ONCE(*told, outer); /* of one that an NMI interrupted */
	c->left += c->period;
	if (unlikely(c->left <= 0))
		c->left = c->period - (u64)-c->left % c->period;
}

void pmuctl_swevent_add(struct pmuctl_event *event, u64 n, struct pt_regs *regs,
			const struct pmuctl_sample_data *data)
{
	struct hwpmu_counter *c = &event->own.counter;

	if (pmuctl_soft_excludes(event, regs))
		return;
	if (unlikely(c->stopped)) {
		if (event->aux_action)
			pmuctl_aux_missed(event);
		return;
	}
	c->count += n;
	if (!c->period)
		return;
	c->left -= n;
	if (c->left <= 0)
		pmuctl_soft_end_period(event, regs, data);
}

/* In the midst of another hit */
static noinline void miss_all(struct hlist_head *running, struct pt_regs *regs)
{
	struct pmuctl_event *event;

	hlist_for_each_entry_rcu(event, running, sw.node, true)
		if (event->aux_action && !pmuctl_soft_excludes(event, regs))
			pmuctl_aux_missed(event);
}

void pmuctl_swevent(struct pmuctl_sw_source *source, struct pt_regs *regs,
		    const struct pmuctl_sample_data *data)
{
	struct pmuctl_event *event;
	unsigned long flags;
	unsigned int level;

	/* First of all: disabling IRQs may be what is told of. */
	if (!pmuctl_soft_enter(&level)) {
		miss_all(this_cpu_ptr(source->running), regs);
		return;
	}
	local_irq_save(flags);
	pmuctl_sample_begin_hit();
	hlist_for_each_entry_rcu(event, this_cpu_ptr(source->running), sw.node, true)
		pmuctl_swevent_add(event, 1, regs, data);
	local_irq_restore(flags);
	pmuctl_soft_exit_level(level);
}

static void start_hits(struct pmuctl_event *event)
{
	hlist_add_head_rcu(&event->sw.node,
			   this_cpu_ptr(event->sw.source->running));
}

static void stop_hits(struct pmuctl_event *event)
{
	hlist_del_rcu(&event->sw.node);
}

static u64 read_hits(const struct pmuctl_event *event)
{
	return READ_ONCE(event->own.counter.count);
}

const struct pmuctl_event_ops pmuctl_swevent_ops = {
	PMUCTL_SOFT_OPS,
	.start = start_hits,
	.stop = stop_hits,
	.read = read_hits,
};

/* ---- Migrations ---- */

/* An NMI reads the sum while what is kept is being counted. */
static void begin_to_count(struct pmuctl_event *event)
{
	struct hwpmu_counter *c = &event->own.counter;

	WRITE_ONCE(c->prev, c->count + event->sw.kept);
	barrier();
}

static void end_counting(struct pmuctl_event *event)
{
	WRITE_ONCE(event->sw.kept, 0);
	barrier();
	WRITE_ONCE(event->own.counter.prev, 0);
}

/*
 * They are found out in the middle of a switch, when the current task is still the other
 * one. A sample has to wait until that is over.
 */
static void tell_migrations(struct irq_work *work)
{
	static const struct pmuctl_sample_data data;
	struct hlist_head *running;
	struct pmuctl_event *event;
	unsigned long flags;
	struct pt_regs regs;
	unsigned int level;

	if (!pmuctl_soft_enter(&level))
		return;
	pmuctl_regs_here(&regs);
	local_irq_save(flags);
	pmuctl_sample_begin_hit();
	running = this_cpu_ptr(pmuctl_sw_migrations.running);
	hlist_for_each_entry(event, running, sw.node) {
		if (!event->sw.kept)
			continue;
		begin_to_count(event);
		pmuctl_swevent_add(event, event->sw.kept, &regs, &data);
		end_counting(event);
	}
	local_irq_restore(flags);
	pmuctl_soft_exit_level(level);
}

static DEFINE_PER_CPU(struct irq_work, migration_work);

void pmuctl_soft_migrated(struct pmuctl_event *event, u64 n)
{
	if (!event->own.counter.period) {
		event->own.counter.count += n;
		return;
	}
	if (unlikely(event->own.counter.stopped)) {
		if (event->aux_action)
			pmuctl_aux_missed(event);
		return;
	}
	event->sw.kept += n;
	irq_work_queue(this_cpu_ptr(&migration_work));
}

void pmuctl_soft_count_arrivals(void)
{
	struct pmuctl_event *event;
	unsigned int n = pmuctl_soft_arrivals();

	if (likely(!n))
		return;
	hlist_for_each_entry(event, this_cpu_ptr(pmuctl_sw_migrations.running),
			     sw.node)
		if (!event->context->task)
			pmuctl_soft_migrated(event, n);
}

/* Who came before does not count for it. */
static void start_migrations(struct pmuctl_event *event)
{
	if (!event->context->task)
		pmuctl_soft_count_arrivals();
	start_hits(event);
}

/* What was not told yet is counted. */
static void stop_migrations(struct pmuctl_event *event)
{
	if (!event->context->task)
		pmuctl_soft_count_arrivals();
	stop_hits(event);
	begin_to_count(event);
	event->own.counter.count += event->sw.kept;
	end_counting(event);
}

static u64 read_migrations(const struct pmuctl_event *event)
{
	u64 sum = READ_ONCE(event->own.counter.prev);

	return sum ? : READ_ONCE(event->own.counter.count) + READ_ONCE(event->sw.kept);
}

const struct pmuctl_event_ops pmuctl_soft_migration_ops = {
	PMUCTL_SOFT_OPS,
	.start = start_migrations,
	.stop = stop_migrations,
	.read = read_migrations,
	.at_switch = PMUCTL_AT_SWITCH_CPU | PMUCTL_AT_SWITCH_TASK,
};

/* ---- Sources ---- */

static struct pmuctl_sw_source *const all_hits[] = {
	&pmuctl_sw_faults, &pmuctl_sw_minor, &pmuctl_sw_major,
	&pmuctl_sw_switches, &pmuctl_sw_cgroup_switches, &pmuctl_sw_migrations,
};

int __init pmuctl_soft_module_init(void)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu)
		init_irq_work(per_cpu_ptr(&migration_work, cpu), tell_migrations);
	for (i = 0; i < ARRAY_SIZE(all_hits); i++) {
		all_hits[i]->running = alloc_percpu(struct hlist_head);
		if (!all_hits[i]->running) {
			pmuctl_soft_module_exit();
			return -ENOMEM;
		}
	}
	pmuctl_soft_sources_init();
	return 0;
}

void pmuctl_soft_module_exit(void)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(per_cpu_ptr(&migration_work, cpu));
	for (i = 0; i < ARRAY_SIZE(all_hits); i++)
		free_percpu(all_hits[i]->running);
}
