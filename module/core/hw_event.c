// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware events: those that a counter of the PMU counts. How counters start, stop and are read
 * is pmu/'s; sched.c and who reads call that directly.
 */
#include "core/admission.h"
#include "pmu/hwtrace.h"
#include "pmu/lbr.h"
#include "pmu/pt.h"

/*
 * While Processor Trace is on, registers of the last branch records must not be touched (SDM,
 * Vol. 3C, "Intel Processor Trace", on LBR): neither beside ours nor beside perf's.
 */
static bool is_traced(void)
{
	return lbr_is_used(LBR_TRACED) ||
	       (!pt_unit.reason() && hwtrace_is_taken_by_others(&pt_unit));
}

static int admit(struct pmuctl_context *ctx, const struct pmuctl_event *event,
		 struct pmuctl_explanation *why)
{
	if (event->own.counter.lbr && is_traced())
		return pmuctl_refuse(why, BRANCH_TRACED, "attr.sample_type");
	return pmuctl_admit(ctx, event, why);
}

static void attached(const struct pmuctl_event *event)
{
	if (event->own.counter.lbr)
		lbr_use_get(LBR_NOTED);
}

static void detached(const struct pmuctl_event *event)
{
	if (event->own.counter.lbr)
		lbr_use_put(LBR_NOTED);
}

static void set_period(struct pmuctl_event *event, u64 period)
{
	hwpmu_set_period(&event->own.counter, period);
}

static void resume(struct pmuctl_event *event)
{
	hwpmu_resume(&event->own.counter);
}

static s64 left(const struct pmuctl_event *event)
{
	return hwpmu_left(&event->own.counter);
}

const struct pmuctl_event_ops pmuctl_hw_event_ops = {
	.needs_pmu = true,
	.weight = 1,
	.admit = admit,
	.attached = attached,
	.detached = detached,
	.set_period = set_period,
	.resume = resume,
	.left = left,
};
