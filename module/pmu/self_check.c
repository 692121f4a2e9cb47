// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does the PMU count what it says? A hypervisor may filter its guests' events, or counters: no
 * access fails then, and the counts are 0 for ever (KVM: KVM_SET_PMU_EVENT_FILTER in
 * Documentation/virt/kvm/api.rst). So when the PMU is taken, each event that no code can run
 * without is counted over a short loop, on a general counter and on each fixed one that has it.
 * What stays 0 is not used, and events that nothing else counts are refused. Of other events
 * nobody knows whether 0 is wrong.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "explain/explain.h"
#include "pmu/extra.h"
#include "pmu/private.h"

/* Enough for a count of some in each of them, and a third of a microsecond */
#define ROUNDS		1000

#define GENERAL		GENMASK_ULL(HWPMU_FIXED_BASE - 1, 0)

/* An event's number and unit mask in the event select; AMD's has four more bits. */
#define EVTSEL_EVENT	0xf0000ffffULL

static const struct {
	u64 config;
	const char *name;
} certain[] = {
	{ PERF_COUNT_HW_CPU_CYCLES, "cpu-cycles" },
	{ PERF_COUNT_HW_INSTRUCTIONS, "instructions" },
	{ PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branch-instructions" },
	{ PERF_COUNT_HW_REF_CPU_CYCLES, "ref-cycles" },
};

/*
 * What stayed 0: events on general counters, and fixed counters. Found before there are events,
 * and constant while the PMU is ours.
 */
static const char *silent_names[ARRAY_SIZE(certain)];
static u64 silent_events[ARRAY_SIZE(certain)];
static unsigned int nr_silent_events;
static u64 silent_counters;

static void run(void)
{
	unsigned long left = ROUNDS;

	asm volatile("1: dec %0\n\tjnz 1b" : "+r" (left) : : "cc");
}

static void set(unsigned int index, u64 evtsel, u64 fixed_ctrl)
{
	if (index < HWPMU_FIXED_BASE)
		hwpmu_regs_write_evtsel(index, evtsel);
	else
		hwpmu_regs_write_fixed_ctrl(fixed_ctrl << 4 * (index - HWPMU_FIXED_BASE));
}

/* All counters are stopped, and are after. */
static bool counts(const struct hwpmu_caps *caps, const struct hwpmu_config *config,
		   unsigned int index)
{
	bool moved;

	hwpmu_regs_write_counter(caps, index, 0);
	set(index, config->evtsel, config->fixed_ctrl);
	if (caps->global)
		hwpmu_regs_enable_only(BIT_ULL(index));
	run();
	if (caps->global)
		hwpmu_regs_enable_only(0);
	set(index, 0, 0);
	moved = hwpmu_regs_read_counter(index);
	hwpmu_regs_write_counter(caps, index, 0);
	return moved;
}

static void check_event(const struct hwpmu_caps *caps, unsigned int event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = certain[event].config,
		.exclude_user = 1,
	};
	struct hwpmu_config config;
	u64 left;

	if (hwpmu_event_encode(caps, &attr, &config, NULL))
		return;
	if ((config.allowed & GENERAL) && !counts(caps, &config, __ffs64(config.allowed))) {
		silent_names[nr_silent_events] = certain[event].name;
		silent_events[nr_silent_events++] = config.evtsel & EVTSEL_EVENT;
	}
	for (left = config.allowed & ~GENERAL; left; left &= left - 1)
		if (!counts(caps, &config, __ffs64(left)))
			silent_counters |= left & -left;
}

void hwpmu_self_check(void)
{
	unsigned long flags;
	unsigned int i;

	nr_silent_events = 0;
	silent_counters = 0;
	/* Before anything can run here: events may have been open all the while. */
	local_irq_save(flags);
	hwpmu_cpu_online();
	if (this_cpu_read(hwpmu_cpu.owned)) {
		for (i = 0; i < ARRAY_SIZE(certain); i++)
			check_event(hwpmu_caps_here(), i);
		hwpmu_extra_check();
	}
	local_irq_restore(flags);
	for (i = 0; i < nr_silent_events; i++)
		pr_info_ratelimited("general counters do not count %s here: a hypervisor may filter it\n",
				    silent_names[i]);
	if (silent_counters)
		pr_info_ratelimited("fixed counters that do not count here: mask %#llx\n",
				    silent_counters >> HWPMU_FIXED_BASE);
}

/* Those of its counters that count */
static u64 that_count(const struct hwpmu_config *config)
{
	u64 event = config->evtsel & EVTSEL_EVENT, allowed = config->allowed & ~silent_counters;
	unsigned int i;

	if (hwpmu_extra_is_absent(config))
		return 0;
	for (i = 0; i < nr_silent_events; i++)
		if (event == silent_events[i])
			allowed &= ~GENERAL;
	return allowed;
}

int hwpmu_counter_check(struct hwpmu_counter *counter, struct pmuctl_explanation *why)
{
	bool any = false;
	unsigned int i;

	if (likely(!nr_silent_events && !silent_counters && !counter->config.extra))
		return 0;
	for (i = 0; i < ARRAY_SIZE(counter->of_type); i++) {
		counter->of_type[i].allowed = that_count(&counter->of_type[i]);
		any |= counter->of_type[i].allowed;
	}
	counter->config.allowed = that_count(&counter->config);
	counter->usable = counter->config.allowed;
	if (counter->usable || any)
		return 0;
	if (hwpmu_extra_is_absent(&counter->config))
		return pmuctl_refuse(why, EXTRA_ABSENT, "attr.config",
				     hwpmu_extra_msr(counter->config.extra));
	return pmuctl_refuse(why, EVENT_SILENT, "attr.config");
}
