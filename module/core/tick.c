// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tick of a CPU: what sampling and traces have done at times, while they need it. Hard IRQ of
 * that CPU.
 */
#include <linux/sched/clock.h>

#include "core/core_ops.h"
#include "core/sched.h"

/* Its CPU is locked. */
static void end_sleep(struct pmuctl_cpuctx *pc)
{
	pc->tick_when_busy = false;
	WRITE_ONCE(pc->asleep, sched_clock() - (pc->asleep & ~PMUCTL_ASLEEP));
	WRITE_ONCE(pc->context.nr_at_switch, pc->context.nr_at_switch - 1);
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct pmuctl_cpuctx *pc = container_of(timer, struct pmuctl_cpuctx, tick);
	bool again;

	if (pc->context.cpu != smp_processor_id())
		return HRTIMER_NORESTART;

	pmuctl_cpu_lock(pc);
	/* A switch that no hook has seen */
	if (unlikely(pc->tick_when_busy) && !is_idle_task(current))
		end_sleep(pc);
	again = pmuctl_core_ops->tick(pc);
	again |= pmuctl_core_ops->tick_aux(pc);
	pc->ticking = again;
	pmuctl_cpu_unlock(pc);
	if (!again)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(PMUCTL_TICK_NS));
	return HRTIMER_RESTART;
}

void pmuctl_sched_start_ticking(struct pmuctl_cpuctx *pc)
{
	pc->ticking = true;
	if (!hrtimer_active(&pc->tick))
		hrtimer_start(&pc->tick, ns_to_ktime(PMUCTL_TICK_NS),
			      HRTIMER_MODE_REL_PINNED_HARD);
}

void pmuctl_sched_tick_when_busy(struct pmuctl_cpuctx *pc)
{
	if (pc->tick_when_busy)
		return;
	pc->tick_when_busy = true;
	WRITE_ONCE(pc->asleep, pmuctl_awake_at(pc, sched_clock()) | PMUCTL_ASLEEP);
	WRITE_ONCE(pc->context.nr_at_switch, pc->context.nr_at_switch + 1);
}

void pmuctl_sched_busy(struct pmuctl_cpuctx *pc)
{
	pmuctl_cpu_lock(pc);
	end_sleep(pc);
	if (pc->context.loaded_cpu >= 0)
		pmuctl_sched_start_ticking(pc);
	pmuctl_cpu_unlock(pc);
}

void pmuctl_tick_init(struct pmuctl_cpuctx *pc)
{
	hrtimer_setup(&pc->tick, tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
}
