/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is on the PMU of a CPU, and since when. Unless said otherwise: on that CPU, IRQs off.
 */
#ifndef PMUCTL_SCHED_H
#define PMUCTL_SCHED_H

#include "core/cpu_state.h"

/**
 * pmuctl_sched() - choose what is on the PMU, from the state of the events
 * @pc: this CPU, locked by pmuctl_cpu_lock().
 * @task: that runs, or is about to.
 */
void pmuctl_sched(struct pmuctl_cpuctx *pc, const struct task_struct *task);

/* The same when @task's context may just have been loaded */
void pmuctl_sched_in(struct pmuctl_cpuctx *pc, const struct task_struct *task);

/**
 * pmuctl_sched_group() - choose for one group whose state has changed, if that is enough
 * @pc: this CPU, locked by pmuctl_cpu_lock().
 * @leader: of the group.
 *
 * It is enough if nobody waits for counters and it needs none of others'.
 *
 * Return: true; false if pmuctl_sched() must choose among all.
 */
bool pmuctl_sched_group(struct pmuctl_cpuctx *pc, struct pmuctl_event *leader);

/* Take an event off the PMU, if it is on; with its group if it leads one. Both locks are
 * held.
 */
void pmuctl_sched_stop(struct pmuctl_cpuctx *pc, struct pmuctl_event *event);

/* Take all of a context, which is loaded here, off the PMU. Its lock is held. */
void pmuctl_sched_out(struct pmuctl_cpuctx *pc, struct pmuctl_context *ctx);

/* Have pmuctl_tick() called from now on: tick.c. */
void pmuctl_sched_start_ticking(struct pmuctl_cpuctx *pc);

/* Have it called again when this CPU, which is idle, has something to do. @pc is locked. */
void pmuctl_sched_tick_when_busy(struct pmuctl_cpuctx *pc);

/* That is now, at a switch. */
void pmuctl_sched_busy(struct pmuctl_cpuctx *pc);

/* Is it, on this CPU? NMI-safe */
static inline bool pmuctl_sched_is_ticking(void)
{
	return READ_ONCE(pmuctl_cpu_of(smp_processor_id())->ticking);
}

void pmuctl_sched_init(struct pmuctl_cpuctx *pc);
void pmuctl_tick_init(struct pmuctl_cpuctx *pc);

/* Bring the times of a group up to date (sched.c). Its context's lock is held, and that
 * is loaded on this CPU, or on none. IRQs off.
 */
void pmuctl_sched_account(struct pmuctl_event *leader);

/*
 * The PMU of this CPU was given up, or is about to be given back: all that was on it counts no
 * more; or it has become ours. Hard IRQ.
 */
void pmuctl_sched_stopped(void);

#endif /* PMUCTL_SCHED_H */
