/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What context.c, context_call.c and sched.c share: the state of one CPU.
 */
#ifndef PMUCTL_CPU_STATE_H
#define PMUCTL_CPU_STATE_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/smp.h>

#include "core/event.h"

/**
 * struct pmuctl_cpuctx - what is loaded on a CPU
 * @context: the CPU's own.
 * @task_context: that of the task that runs, or NULL.
 * @no_task_lock: taken in place of that one's lock if there is none.
 * @nr_groups: groups that are on the PMU.
 * @exclusive: the only one of them is exclusive.
 * @rotate_necessary: there are flexible groups that wait for counters.
 * @full: general and fixed counters of which it is known, in this round of choosing, that
 *	no event that can only use these finds one.
 * @cgroup: by which cgroup's task was chosen what is on the PMU, if there are events of cgroups;
 *	only to be compared.
 * @rotations: how often groups were rotated.
 * @reload: loads what was unloaded for the time of a switch.
 * @timer: rotates while somebody waits.
 * @tick: runs while sampling needs it: see pmuctl_tick().
 * @ticking: it is to run,
 * @tick_when_busy: from the next switch on: then one more is in @context.nr_at_switch.
 * @asleep: for how long that was so, in ns; with PMUCTL_ASLEEP it is, and this is what
 *	pmuctl_awake_at() tells meanwhile. NMIs read it.
 * @batch: scratch, too large for the stack; with
 * @batch_to: those that the counters of a batch are handed over to.
 *
 * Written by its own CPU with IRQs off; all but @task_context with the locks of both
 * contexts held.
 */
struct pmuctl_cpuctx {
	struct pmuctl_context context;
	struct pmuctl_context *task_context;
	raw_spinlock_t no_task_lock;
	unsigned int nr_groups;
	bool exclusive;
	bool rotate_necessary;
	u64 full;
	const struct cgroup_subsys_state *cgroup;
	u64 rotations;
	struct irq_work reload;
	struct hrtimer timer;
	struct hrtimer tick;
	bool ticking;
	bool tick_when_busy;
	u64 asleep;
	struct hwpmu_counter *batch[HWPMU_MAX_COUNTERS];
	struct hwpmu_counter *batch_to[HWPMU_MAX_COUNTERS];
};

#define PMUCTL_ASLEEP	BIT_ULL(63)

extern struct pmuctl_cpuctx __percpu *pmuctl_cpus;

/* The time, but that it stood still while the CPU was idle and had no tick; NMI-safe there. */
static inline u64 pmuctl_awake_at(const struct pmuctl_cpuctx *pc, u64 now)
{
	u64 asleep = READ_ONCE(pc->asleep);

	return asleep & PMUCTL_ASLEEP ? asleep & ~PMUCTL_ASLEEP : now - asleep;
}

/* The state of a CPU; to be looked at under its locks. */
struct pmuctl_cpuctx *pmuctl_cpu_of(int cpu);

/* Call it there with IRQs off, unless that CPU is offline; context_call.c. Process, IRQs on. */
void pmuctl_cpu_call(int cpu, smp_call_func_t func, void *info);

/* All of these: on their own CPU, IRQs off. */

/* Lock both contexts that are loaded here, and the reverse. */
void pmuctl_cpu_lock(struct pmuctl_cpuctx *pc);
void pmuctl_cpu_unlock(struct pmuctl_cpuctx *pc);

#endif /* PMUCTL_CPU_STATE_H */
