// SPDX-License-Identifier: GPL-2.0-only
/*
 * State for maintainers, in /sys/kernel/debug/pmuctl, readable by root:
 *
 *	cpus		who has the PMU; for each CPU: its registers, which event is on which
 *			counter, the CPU's context with its groups, what has happened
 *	contexts	the contexts of tasks, with their groups
 *	hooks		what is set in the kernel for all, how often, and what it missed
 *
 * Text for people: its form may change.
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "core/context.h"
#include "core/cpu_state.h"
#include "core/hook.h"
#include "core/rdpmc_mm.h"
#include "event/claim.h"
#include "front/front.h"
#include "inherit/inherit.h"
#include "sample/output.h"
#include "soft/soft.h"
#include "soft/tracepoint.h"

static struct dentry *directory;

static void show_event(struct seq_file *m, const struct pmuctl_event *event)
{
	seq_printf(m, " %llu", event->id);
	if (!pmuctl_event_is_hw(event))
		seq_puts(m, event->state->counter.running ? "@software" : "");
	else if (event->state->counter.running)
		seq_printf(m, "@%d", event->state->counter.index);
	else if (!event->enabled)
		seq_puts(m, "(off)");
	if (event->state->counter.period)
		seq_printf(m, "/%llu%s", event->state->counter.period,
			   event->state->counter.stopped ? "(stopped)" : "");
}

static void show_group(struct seq_file *m, struct pmuctl_event *leader)
{
	struct pmuctl_event *event;

	seq_printf(m, "    %s%s%s:",
		   leader->class == PMUCTL_PINNED ? "pinned" : "flexible",
		   leader->exclusive ? " exclusive" : "",
		   leader->error ? " error" :
		   leader->state->counter.running ? " running" :
		   leader->state->eligible ? " waiting" : " off");
	for_each_group_member(event, leader)
		show_event(m, event);
	seq_putc(m, '\n');
}

/* What is in it stays, thanks to pmuctl_mutex; its state may change meanwhile. */
static void show_groups(struct seq_file *m, struct pmuctl_context *ctx)
{
	struct pmuctl_event *leader;
	enum pmuctl_class class;
	unsigned long flags;

	raw_spin_lock_irqsave(&ctx->lock, flags);
	for_each_group(leader, class, ctx)
		show_group(m, leader);
	raw_spin_unlock_irqrestore(&ctx->lock, flags);
}

/* The event whose counter this is; it is on the PMU, so it is alive. */
static u64 id_of(const struct hwpmu_counter *counter)
{
	return container_of(counter, struct pmuctl_event, own.counter)->id;
}

static void show_counter(struct seq_file *m, const struct hwpmu_snapshot *s,
			 unsigned int i)
{
	if (i < HWPMU_FIXED_BASE)
		seq_printf(m, "  general %2u: 0x%012llx evtsel 0x%08llx", i,
			   s->counter[i], s->evtsel[i]);
	else
		seq_printf(m, "  fixed   %2u: 0x%012llx control 0x%llx      ",
			   i - HWPMU_FIXED_BASE, s->counter[i],
			   s->fixed_ctrl >> (4 * (i - HWPMU_FIXED_BASE)) & 0xf);
	if (s->active[i])
		seq_printf(m, " event %llu", id_of(s->active[i]));
	seq_putc(m, '\n');
}

static void snapshot_here(void *snapshot)
{
	hwpmu_snapshot(snapshot);
}

static void show_cpu(struct seq_file *m, int cpu, struct hwpmu_snapshot *s)
{
	const struct pmuctl_output_stats *stats =
		per_cpu_ptr(&pmuctl_output_stats, cpu);
	const struct pmuctl_cpuctx *pc = pmuctl_cpu_of(cpu);
	u64 left;

	memset(s, 0, sizeof(*s));
	if (smp_call_function_single(cpu, snapshot_here, s, 1)) {
		seq_printf(m, "cpu %d: offline\n", cpu);
	} else {
		seq_printf(m, "cpu %d: %s\n", cpu,
			   s->owned ? "the PMU is ours" :
			   "the PMU is not ours");
		if (hwpmu_nr_types() > 1)
			seq_printf(m, "  %s, %u general and %u fixed counters\n",
				   hwpmu_caps_of_cpu(cpu)->name,
				   hwpmu_caps_of_cpu(cpu)->nr_general,
				   hwpmu_caps_of_cpu(cpu)->nr_fixed);
	}
	seq_printf(m, "  overflows %llu, NMIs seen %llu, claimed %llu, stuck %llu, rotations %llu\n",
		   s->stats.overflows, s->stats.nmis_seen,
		   s->stats.nmis_claimed, s->stats.stuck, pc->rotations);
	seq_printf(m, "  samples %lu, throttles %lu, records lost %lu\n",
		   stats->samples, stats->throttles, stats->lost);
	if (s->owned) {
		seq_printf(m, "  global control 0x%llx, status 0x%llx\n",
			   s->global_ctrl, s->global_status);
		for (left = hwpmu_caps_of_cpu(cpu)->counters; left; left &= left - 1)
			show_counter(m, s, __ffs64(left));
	}
	seq_puts(m, "  groups: (event@counter/period)\n");
	show_groups(m, pmuctl_context_of_cpu(cpu));
}

static int cpus_show(struct seq_file *m, void *unused)
{
	struct hwpmu_snapshot *snapshot;
	int cpu, err;

	err = security_locked_down(LOCKDOWN_PERF);
	if (err)
		return err;
	snapshot = kmalloc(sizeof(*snapshot), GFP_KERNEL);
	if (!snapshot)
		return -ENOMEM;

	/* Nothing is closed meanwhile, so what is on a counter stays alive. */
	mutex_lock(&pmuctl_mutex);
	pmuctl_claim_show(m);
	rcu_read_lock(); /* events that are inherited end with their tasks */
	for_each_possible_cpu(cpu)
		show_cpu(m, cpu, snapshot);
	rcu_read_unlock();
	mutex_unlock(&pmuctl_mutex);
	kfree(snapshot);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cpus);

static bool show_task(struct pmuctl_context *ctx, void *m)
{
	int cpu = READ_ONCE(ctx->loaded_cpu);

	seq_printf(m, "task %d (%s): ", task_pid_nr(ctx->task), ctx->task->comm);
	if (cpu >= 0)
		seq_printf(m, "on cpu %d\n", cpu);
	else
		seq_puts(m, "off\n");
	show_groups(m, ctx);
	return true;
}

static int contexts_show(struct seq_file *m, void *unused)
{
	mutex_lock(&pmuctl_mutex);
	pmuctl_context_visit_tasks(show_task, m);
	seq_printf(m, "children not counted, for want of memory: %lu\n",
		   pmuctl_inherit_missing());
	mutex_unlock(&pmuctl_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(contexts);

static int hooks_show(struct seq_file *m, void *unused)
{
	pmuctl_hooks_show(m);
	pmuctl_tracepoint_show(m);
	pmuctl_forks_show(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hooks);

void __init pmuctl_debugfs_init(void)
{
	directory = debugfs_create_dir("pmuctl", NULL);
	debugfs_create_file("cpus", 0400, directory, NULL, &cpus_fops);
	debugfs_create_file("contexts", 0400, directory, NULL,
			    &contexts_fops);
	debugfs_create_file("hooks", 0400, directory, NULL, &hooks_fops);
}

void pmuctl_debugfs_exit(void)
{
	debugfs_remove(directory);
}
