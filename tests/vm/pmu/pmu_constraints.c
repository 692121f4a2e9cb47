// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which counters count an event: for every event of the published tables of this guest's model,
 * ours are those that the kernel's own perf uses, or the tables' if it does not know the model.
 * The set that either uses shows in the event selects when one more copy of the event is open than
 * there are counters. The emulated counters are alike; on the processor of that model some would
 * count nothing.
 */
#include "counter_set.h"
#include "hybrid.h"
#include "refusal.h"
#include "unit/intel_events.h"

#define DATA	"/add/intel-events.txt"

/* On a hybrid processor, each type of CPU in turn */
static int cpu;
static struct msrs msrs;
static const struct intel_cpu *guest;

static char type_here(void)
{
	if (!is_hybrid())
		return '-';
	return core_type(cpu) == CORE_PERFORMANCE ? 'P' : 'E';
}

static void find_guest(int of_cpu)
{
	unsigned int c, i;
	char type;

	cpu = of_cpu;
	pin_here(cpu);
	type = type_here();
	msrs = msrs_find();
	guest = NULL;
	for (c = 0; c < nr_intel_cpus; c++)
		for (i = 0; i < intel_cpus[c].nr_ids; i++)
			if (intel_cpus[c].id[i].model == raw_cpu_model() &&
			    intel_cpus[c].id[i].family == raw_cpu_family() &&
			    (type == '-' || intel_cpus[c].id[i].type == type) && !guest)
				guest = &intel_cpus[c];
	cr_assert_not_null(guest, "no tables of model %#x", raw_cpu_model());
}

static void read_tables(void)
{
	intel_events_read(DATA);
	find_guest(0);
}

TestSuite(pmu_constraints, .init = read_tables);

/* Of those that this model has; the emulated one may have more. */
static uint64_t set_of(uint64_t config, counter_set_opener try)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_RAW, config);

	attr.exclude_kernel = 1;
	if (is_hybrid() && try == perf_try)
		attr = perf_attr(attr, core_type(cpu));
	return counter_set(&msrs, cpu, &attr, try) & guest->counters;
}

/*
 * Where perf has no rule, and takes all counters. The tables have less, or they have less for the
 * event with other modifiers, and ours are those. On Broadwell and Skylake, most of which have four
 * counters, the others are there with hyperthreading off only.
 */
static const struct {
	unsigned int model;
	uint8_t event;		/* any unit mask */
} more_of_perfs[] = {
	{ 0x1a, 0x4c }, { 0x1a, 0x52 }, { 0x1a, 0x53 },
	{ 0x4f, 0x0e }, { 0x4f, 0x3c }, { 0x4f, 0x79 }, { 0x4f, 0x9c }, { 0x4f, 0xa0 },
	{ 0x4f, 0xa3 }, { 0x4f, 0xb1 }, { 0x4f, 0xb7 }, { 0x4f, 0xbb }, { 0x4f, 0xbc }, { 0x4f, 0xc0 }, { 0x4f, 0xc2 },
	{ 0x4f, 0xc4 }, { 0x4f, 0xc5 }, { 0x4f, 0xc7 }, { 0x4f, 0xc9 }, { 0x4f, 0xca },
	{ 0x4f, 0xd3 },
	{ 0x55, 0xa3 }, { 0x55, 0xb7 }, { 0x55, 0xbb }, { 0x55, 0xc4 }, { 0x55, 0xc5 }, { 0x55, 0xd3 }, { 0x55, 0xd4 },
	{ 0x8f, 0xa3 }, { 0x97, 0xa3 }, { 0xad, 0xa3 },
};

/* Where perf does not know the processor it takes all, and the tables do not tell of all events. */
static bool may_differ(const struct intel_event *event, uint64_t ours, uint64_t perfs)
{
	if (!perf_knows_cpu())
		return !event->counters && ours && !(ours & ~perfs);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(more_of_perfs); i++)
		if (more_of_perfs[i].model == raw_cpu_model() &&
		    more_of_perfs[i].event == (event->config & 0xff))
			return !(ours & ~perfs);
	return false;
}

/* Events D0H to D3H spoil a counter of the other thread, if there is one. */
static bool is_spoiler(uint64_t config)
{
	static const uint8_t models[] = { 0x2a, 0x2d, 0x3a, 0x3e, 0x3c, 0x45, 0x46, 0x3f };

	for (size_t i = 0; i < sizeof(models); i++)
		if (models[i] == raw_cpu_model() && msrs.n_evtsel <= 4)
			return (config & 0xfc) == 0xd0;
	return false;
}

/* It needs the register of precise load latencies, or one of a model that we know none of. */
static bool is_registers(const struct intel_event *event)
{
	static const uint16_t known[] = { 0x01b7, 0x01bb, 0x02b7, 0x012a, 0x012b, 0x01c6, 0x02c6,
					  0x03c6, 0x40ad, 0x04c2 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(known); i++)
		if (event->msr && known[i] == (event->config & 0xffff))
			return false;
	return event->msr;
}

/* Where perf has it; or the tables, if it does not know this processor and they tell */
static uint64_t expected_of(const struct intel_event *event)
{
	if (!perf_knows_cpu() && event->counters)
		return event->counters & guest->counters;
	return set_of(event->config, perf_try);
}

static void check_tables(void)
{
	static uint64_t perfs[INTEL_EVENTS];
	unsigned int e, same = 0;
	uint64_t ours;

	for (e = 0; e < guest->nr_events; e++)
		if (!is_registers(&guest->event[e]))
			perfs[e] = expected_of(&guest->event[e]);
	for (e = 0; e < guest->nr_events; e++) {
		if (is_registers(&guest->event[e]) || is_spoiler(guest->event[e].config))
			continue;
		ours = set_of(guest->event[e].config, counter_set_ours);
		same += ours == perfs[e];
		cr_expect(ours == perfs[e] || may_differ(&guest->event[e], ours, perfs[e]),
			  "event %#llx: %#lx, perf %#lx, the tables %#llx",
			  guest->event[e].config, ours, perfs[e], guest->event[e].counters);
	}
	cr_log_info("%s: %u of %u events on the same counters", guest->name, same,
		    guest->nr_events);
	cr_expect_gt(same, guest->nr_events / 2);
}

Test(pmu_constraints, every_event_of_the_tables_is_where_perf_has_it)
{
	check_tables();
	if (is_hybrid()) {
		find_guest(1);
		check_tables();
	}
}

/* On hybrid processors another type of CPU may count it right. */
Test(pmu_constraints, what_would_count_wrong_is_refused)
{
	unsigned int e;

	if (is_hybrid())
		return;
	for (e = 0; e < guest->nr_events; e++) {
		unsigned long config = guest->event[e].config;
		union raw_attr a = raw_attr(PERF_TYPE_RAW, config);

		if (is_registers(&guest->event[e]))
			check_refused(OPEN(a), ENOENT, PMUCTL_WHY_EVENT_REGISTER, "attr.config",
				      "raw event 0x%lx of this CPU counts only what MSR 0x%x selects besides, which this version of pmuctl does not set: perf can count it",
				      config, guest->event[e].msr);
		else if (is_spoiler(config))
			check_refused(OPEN(a), ENOENT, PMUCTL_WHY_EVENT_SPOILS, "attr.config",
				      "raw event 0x%lx of this CPU spoils what the core's other hyperthread counts (errata BJ122, BV98, HSD29): turn hyperthreading off in the firmware, or use perf",
				      config);
	}
}
