// SPDX-License-Identifier: GPL-2.0-only
/*
 * A counter before it is on any PMU: what it is to count, on each type of CPU.
 */
#include "explain/explain.h"
#include "pmu/private.h"

static noinline int encode_for_core(struct hwpmu_counter *counter,
				    const struct perf_event_attr *attr, u8 core,
				    struct pmuctl_explanation *why)
{
	struct perf_event_attr of_all = *attr;

	if (!static_branch_unlikely(&hwpmu_is_hybrid))
		return pmuctl_refuse(why, EVENT_ALIKE, "attr.type", hwpmu_core_name(core));
	hwpmu_event_for_all(&of_all);
	return hwpmu_hybrid_encode(counter, &of_all, core, why);
}

int hwpmu_counter_init(struct hwpmu_counter *counter,
		       const struct perf_event_attr *attr,
		       struct pmuctl_explanation *why)
{
	int err;
	u8 core;

	memset(counter, 0, sizeof(*counter));
	counter->index = -1;
	if (hwpmu_reason())
		return pmuctl_refuse(why, NO_PMU, "attr.type", hwpmu_reason());
	core = hwpmu_event_core(attr);
	if (unlikely(core))
		err = encode_for_core(counter, attr, core, why);
	else if (static_branch_unlikely(&hwpmu_is_hybrid))
		err = hwpmu_hybrid_encode(counter, attr, 0, why);
	else
		err = hwpmu_event_encode(&hwpmu_the_caps, attr, &counter->config, why);
	counter->usable = counter->config.allowed;
	return err;
}

void hwpmu_counter_copy(struct hwpmu_counter *counter,
			const struct hwpmu_counter *from)
{
	memset(counter, 0, sizeof(*counter));
	counter->config = from->config;
	if (static_branch_unlikely(&hwpmu_is_hybrid))
		memcpy(counter->of_type, from->of_type, sizeof(counter->of_type));
	counter->usable = from->usable;
	counter->lbr = from->lbr;
	counter->lbr_select = from->lbr_select;
	counter->index = -1;
	counter->period = from->period;
	counter->left = from->period;
}
