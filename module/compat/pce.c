// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch to a process on the CPUs where it is loaded already: a worker takes the place of
 * whatever runs there, and drops what it has borrowed of the process, its page table. So what comes
 * next is a switch to another one, at which the kernel writes CR4.PCE: pce.h.
 */
#include "compat/pce.h"

#ifndef COMPAT_EXPORTS_CR4_UPDATE_IRQSOFF
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

/* @mm: NULL: whatever process it is */
struct leaving {
	struct work_struct work;
	struct mm_struct *mm;
};

static void leave(struct work_struct *work)
{
	struct leaving *leaving = container_of(work, struct leaving, work);
	unsigned long flags;

	/* A request to flush the page table may make it leave as well. */
	local_irq_save(flags);
	if (!leaving->mm || current->active_mm == leaving->mm)
		leave_mm();
	local_irq_restore(flags);
}

static void request(struct leaving *leaving, struct mm_struct *mm, int cpu)
{
	leaving->mm = mm;
	INIT_WORK(&leaving->work, leave);
	queue_work_on(cpu, system_highpri_wq, &leaving->work);
}

/* Without memory for all at once: one CPU after the other */
static void apply_slowly(struct mm_struct *mm, const struct cpumask *cpus)
{
	struct leaving leaving = { .mm = mm };
	int cpu;

	INIT_WORK_ONSTACK(&leaving.work, leave);
	for_each_cpu_and(cpu, cpus, cpu_online_mask) {
		queue_work_on(cpu, system_highpri_wq, &leaving.work);
		flush_work(&leaving.work);
	}
	destroy_work_on_stack(&leaving.work);
}

/* From a CPU that goes offline the programs have been switched away. */
static void apply(struct mm_struct *mm, const struct cpumask *cpus)
{
	/* Of no cgroup, whose limit could let others wait: it is freed at once. */
	struct leaving *all = kvcalloc(nr_cpu_ids, sizeof(*all), GFP_KERNEL);
	int cpu;

	if (!all) {
		apply_slowly(mm, cpus);
		return;
	}
	for_each_cpu_and(cpu, cpus, cpu_online_mask)
		request(&all[cpu], mm, cpu);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		if (all[cpu].work.func)
			flush_work(&all[cpu].work);
	kvfree(all);
}

void compat_pce_apply(struct mm_struct *mm, smp_call_func_t here)
{
	might_sleep();
	/* Otherwise the process has ended. */
	if (atomic_read(&mm->mm_users))
		apply(mm, mm_cpumask(mm));
}

void compat_pce_apply_all(smp_call_func_t here)
{
	apply(NULL, cpu_online_mask);
}
#endif
