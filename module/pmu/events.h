/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the events of struct perf_event_attr to what the PMU counts. Pure logic:
 * compiles in user space too.
 */
#ifndef PMUCTL_PMU_EVENTS_H
#define PMUCTL_PMU_EVENTS_H

#include "compat/pure.h"
#include "pmu/cpuid.h"
#include <linux/pmuctl.h>

/**
 * struct hwpmu_config - what to program for an event
 * @evtsel: value of the event-select register, EN bit included, if the event is on
 *	a general counter.
 * @allowed: the counters that can count it, one bit each.
 * @fixed_ctrl: the four bits of its field in IA32_FIXED_CTR_CTRL, if it is on a
 *	fixed counter.
 * @extra: the register that it needs besides, HWPMU_EXTRA_* of events_extra.h; 0: none.
 * @other_extra: another one that it can have instead; 0: none.
 * @other_event: its number and unit mask then.
 * @extra_value: what that register must be.
 * @shortest: so far at least a counter must be from its overflow when it is set.
 * @multiple: and a multiple of this, a power of two.
 */
struct hwpmu_config {
	u64 evtsel;
	u64 allowed;
	u64 extra_value;
	u8 fixed_ctrl;
	u8 shortest, multiple;
	u8 extra, other_extra;
	u16 other_event;
};

/**
 * hwpmu_event_encode() - encode a HARDWARE, HW_CACHE or RAW event
 * @caps: the PMU.
 * @attr: validated by pmuctl_attr_check().
 * @config: is filled.
 * @why: filled on refusal.
 *
 * Context: Any.
 * attr->config1 is what an event's other register is to be, and of no meaning for events that
 * have none.
 *
 * Return: 0; -EINVAL if there is no such event, or a raw one has bits that may
 * not be set; -ENOENT if this CPU cannot count it.
 */
int hwpmu_event_encode(const struct hwpmu_caps *caps,
		       const struct perf_event_attr *attr,
		       struct hwpmu_config *config,
		       struct pmuctl_explanation *why);

/**
 * hwpmu_event_core() - for which type of CPU an event is
 * @attr: validated.
 *
 * Context: Any.
 * Return: HWPMU_CORE_*, of a hybrid processor; 0 for all.
 */
u8 hwpmu_event_core(const struct perf_event_attr *attr);

/* Of an event for one type of CPU make that of all CPUs. Any context. */
void hwpmu_event_for_all(struct perf_event_attr *attr);

/* What such a type is called. Any context. */
const char *hwpmu_core_name(u8 core_type);

/**
 * hwpmu_generic_events() - which PERF_COUNT_HW_* this PMU can count
 * @caps: the PMU.
 *
 * Context: Any.
 * Return: one bit each.
 */
u64 hwpmu_generic_events(const struct hwpmu_caps *caps);

#endif /* PMUCTL_PMU_EVENTS_H */
