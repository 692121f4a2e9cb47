// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware events: those that a counter of the PMU counts. How counters start, stop and are read
 * is pmu/'s; sched.c and who reads call that directly.
 */
#include "core/admission.h"
#include "core/rivals.h"
#include "pmu/lbr.h"
#include "pmu/pt.h"

/*
 * While Processor Trace is on, registers of the last branch records must not be touched (SDM,
 * Vol. 3C, "Intel Processor Trace", on LBR): neither beside ours nor beside perf's, which is kept
 * away meanwhile.
 */
static int admit_branches(struct pmuctl_explanation *why)
{
	int err = -EBUSY;

	if (!lbr_is_used(LBR_TRACED))
		err = pmuctl_rivals_keep_away(&pt_unit);
	if (err == -ENOMEM)
		return pmuctl_refuse(why, NO_MEMORY, "");
	if (err == -EBUSY)
		return pmuctl_refuse(why, BRANCH_TRACED, "attr.sample_type");
	if (err)
		return pmuctl_refuse(why, AUX_RIVAL, "attr.sample_type", "intel_pt", -err);
	return 0;
}

static int admit(struct pmuctl_context *ctx, const struct pmuctl_event *event,
		 struct pmuctl_explanation *why)
{
	int err = event->own.counter.lbr ? admit_branches(why) : 0;

	return err ? : pmuctl_admit(ctx, event, why);
}

static void attached(const struct pmuctl_event *event)
{
	if (!event->own.counter.lbr)
		return;
	lbr_use_get(LBR_NOTED);
	pmuctl_rivals_get(&pt_unit);
}

static void detached(const struct pmuctl_event *event)
{
	if (!event->own.counter.lbr)
		return;
	lbr_use_put(LBR_NOTED);
	pmuctl_rivals_put(&pt_unit);
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
	.unadmit = pmuctl_rivals_unused,
	.attached = attached,
	.detached = detached,
	.set_period = set_period,
	.resume = resume,
	.left = left,
};
