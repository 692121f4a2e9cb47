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
	if (current->active_mm == leaving->mm)
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
static void apply_slowly(struct mm_struct *mm)
{
	struct leaving leaving = { .mm = mm };
	int cpu;

	INIT_WORK_ONSTACK(&leaving.work, leave);
	for_each_cpu_and(cpu, mm_cpumask(mm), cpu_online_mask) {
		queue_work_on(cpu, system_highpri_wq, &leaving.work);
		flush_work(&leaving.work);
	}
	destroy_work_on_stack(&leaving.work);
}

/* From a CPU that goes offline the programs have been switched away. */
void compat_pce_apply(struct mm_struct *mm, smp_call_func_t here)
{
	struct leaving *all;
	int cpu;

	might_sleep();
	/* The process has ended. */
	if (!atomic_read(&mm->mm_users))
		return;
	all = kvcalloc(nr_cpu_ids, sizeof(*all), GFP_KERNEL_ACCOUNT);
	if (!all) {
		apply_slowly(mm);
		return;
	}
	for_each_cpu_and(cpu, mm_cpumask(mm), cpu_online_mask)
		request(&all[cpu], mm, cpu);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		if (all[cpu].mm)
			flush_work(&all[cpu].work);
	kvfree(all);
}
#endif
