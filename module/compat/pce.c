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

void compat_pce_apply(struct mm_struct *mm, smp_call_func_t here)
{
	struct leaving leaving = { .mm = mm };
	int cpu;

	might_sleep();
	/* The process has ended. */
	if (!atomic_read(&mm->mm_users))
		return;
	INIT_WORK_ONSTACK(&leaving.work, leave);
	for_each_cpu(cpu, mm_cpumask(mm)) {
		/* From one that goes offline the programs have been switched away. */
		if (!cpu_online(cpu))
			continue;
		queue_work_on(cpu, system_highpri_wq, &leaving.work);
		flush_work(&leaving.work);
	}
	destroy_work_on_stack(&leaving.work);
}
#endif
