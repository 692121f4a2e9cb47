// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which counters count an event: for every event of the published tables of this guest's model,
 * ours are those that the kernel's own perf uses. The set that either uses shows in the event
 * selects when one more copy of the event is open than there are counters. The emulated counters
 * are alike; on the processor of that model some would count nothing.
 */
#include "hybrid.h"
#include "msrs.h"
#include "refusal.h"
#include "unit/intel_events.h"

#define DATA	"/add/intel-events.txt"
#define ENABLE	(1ull << 22)	/* SDM Vol. 3B, IA32_PERFEVTSELx.EN */
#define COPIES	(PMU_MAX / 2)

static struct msrs msrs;
static const struct intel_cpu *guest;

static unsigned int model(void)
{
	struct raw_cpuid one = raw_cpuid(1);

	return (one.eax >> 4 & 0xf) | (one.eax >> 12 & 0xf0);
}

static void find_guest(void)
{
	unsigned int c, i;

	pin_here(0);
	msrs = msrs_find();
	intel_events_read(DATA);
	for (c = 0; c < nr_intel_cpus; c++)
		for (i = 0; i < intel_cpus[c].nr_ids; i++)
			if (intel_cpus[c].id[i].model == model() &&
			    intel_cpus[c].id[i].family == raw_cpu_family() && !guest)
				guest = &intel_cpus[c];
	cr_assert_not_null(guest, "no tables of model %#x", model());
}

TestSuite(pmu_constraints, .init = find_guest);

/* Of those that this model has; the emulated one may have more. */
static uint64_t used_now(void)
{
	uint64_t value[MSRS_MAX], used = 0;
	unsigned int i;

	msrs_read(&msrs, 0, value);
	for (i = 0; i < msrs.n_evtsel; i++)
		if (value[i] & ENABLE)
			used |= 1ull << i;
	return used & guest->counters;
}

/* The general counters on which an event is when there is one copy too many; 0: refused */
static uint64_t set_of(uint64_t config, int (*try)(const struct perf_event_attr *, int, int))
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_RAW, config);
	unsigned int n = 0, most = msrs.n_evtsel + 1;
	uint64_t used = 0;
	int fd[COPIES];

	cr_assert_leq(most, COPIES);
	/* What was selected before stays in the registers of a PMU that we have kept. */
	cr_assert_eq(raw_give_back(), 0);
	attr.exclude_kernel = 1;
	while (n < most) {
		fd[n] = try(&attr, -1, 0);
		if (fd[n] < 0)
			break;
		n++;
	}
	if (n)
		used = used_now();
	while (n)
		close(fd[--n]);
	return used;
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
	{ 0x4f, 0xa3 }, { 0x4f, 0xb1 }, { 0x4f, 0xbc }, { 0x4f, 0xc0 }, { 0x4f, 0xc2 },
	{ 0x4f, 0xc4 }, { 0x4f, 0xc5 }, { 0x4f, 0xc7 }, { 0x4f, 0xc9 }, { 0x4f, 0xca },
	{ 0x4f, 0xd3 },
	{ 0x55, 0xa3 }, { 0x55, 0xc4 }, { 0x55, 0xc5 }, { 0x55, 0xd3 }, { 0x55, 0xd4 },
	{ 0x8f, 0xa3 }, { 0xad, 0xa3 },
};

static bool is_listed(uint64_t config, uint64_t ours, uint64_t perfs)
{
	for (size_t i = 0; i < RAW_ARRAY_SIZE(more_of_perfs); i++)
		if (more_of_perfs[i].model == model() &&
		    more_of_perfs[i].event == (config & 0xff))
			return !(ours & ~perfs);
	return false;
}

/* Events D0H to D3H spoil a counter of the other thread, if there is one. */
static bool is_spoiler(uint64_t config)
{
	static const uint8_t models[] = { 0x2a, 0x2d, 0x3a, 0x3e, 0x3c, 0x45, 0x46, 0x3f };

	for (size_t i = 0; i < sizeof(models); i++)
		if (models[i] == model() && msrs.n_evtsel <= 4)
			return (config & 0xfc) == 0xd0;
	return false;
}

static int try_event(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return event_try(attr, pid, cpu);
}

Test(pmu_constraints, every_event_of_the_tables_is_where_perf_has_it)
{
	static uint64_t perfs[INTEL_EVENTS];
	unsigned int e, same = 0;
	uint64_t ours;

	for (e = 0; e < guest->nr_events; e++)
		if (!guest->event[e].msr)
			perfs[e] = set_of(guest->event[e].config, perf_try);
	for (e = 0; e < guest->nr_events; e++) {
		if (guest->event[e].msr || is_spoiler(guest->event[e].config))
			continue;
		ours = set_of(guest->event[e].config, try_event);
		same += ours == perfs[e];
		cr_expect(ours == perfs[e] || is_listed(guest->event[e].config, ours, perfs[e]),
			  "event %#llx: %#lx, perf %#lx, the tables %#llx",
			  guest->event[e].config, ours, perfs[e], guest->event[e].counters);
	}
	cr_log_info("%s: %u of %u events on the same counters", guest->name, same,
		    guest->nr_events);
	cr_expect_gt(same, guest->nr_events / 2);
}

Test(pmu_constraints, what_would_count_wrong_is_refused)
{
	unsigned int e;

	for (e = 0; e < guest->nr_events; e++) {
		unsigned long config = guest->event[e].config;
		union raw_attr a = raw_attr(PERF_TYPE_RAW, config);

		if (guest->event[e].msr)
			check_refused(OPEN(a), ENOENT, PMUCTL_WHY_EVENT_REGISTER, "attr.config",
				      "raw event 0x%lx of this CPU counts only what MSR 0x%x selects besides, which this version of pmuctl does not set: perf can count it",
				      config, guest->event[e].msr);
		else if (is_spoiler(config))
			check_refused(OPEN(a), ENOENT, PMUCTL_WHY_EVENT_SPOILS, "attr.config",
				      "raw event 0x%lx of this CPU spoils what the core's other hyperthread counts (errata BJ122, BV98, HSD29): turn hyperthreading off in the firmware, or use perf",
				      config);
	}
}
