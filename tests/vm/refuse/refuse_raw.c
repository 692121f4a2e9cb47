// SPDX-License-Identifier: GPL-2.0-only
/*
 * Raw and cache events: which bits and which uses the PMU takes. What reaches an MSR is
 * what CPUID and the manual allow (SDM Vol. 3B, "Architectural Performance Monitoring"; APM
 * Vol. 2, "Performance Event-Select Registers").
 */
#include "hybrid.h"
#include "refusal.h"

#define EVENT_UMASK_EDGE_INV_CMASK	0xff84ffffULL
#define ANY_THREAD			(1ULL << 21)
#define EVENT_HIGH			(0xfULL << 32)	/* AMD */

/* AnyThread came with version 3, and goes when CPUID.0xA:EDX[15] is set. */
static uint64_t raw_mask(void)
{
	struct raw_cpuid leaf = raw_cpuid(0xa);

	if (!raw_cpu_is_intel())
		return EVENT_UMASK_EDGE_INV_CMASK | EVENT_HIGH;
	if ((leaf.eax & 0xff) >= 3 && !(leaf.edx & 1 << 15))
		return EVENT_UMASK_EDGE_INV_CMASK | ANY_THREAD;
	return EVENT_UMASK_EDGE_INV_CMASK;
}

/* AMD's number of the event, 12 bits */
static unsigned int event_of(uint64_t config)
{
	return (config & 0xff) | (config >> 24 & 0xf00);
}

/* AMD before family 17h: these events are not a core's own; see module/pmu/events_amd.c */
static bool is_north_bridges(uint64_t config)
{
	return !raw_cpu_is_intel() && raw_cpu_family() < 0x17 && (event_of(config) & 0xe0) == 0xe0;
}

/* AMD since family 17h: counters that are merged in pairs */
static bool is_merged(uint64_t config)
{
	unsigned int event = event_of(config);

	return !raw_cpu_is_intel() && raw_cpu_family() >= 0x17 && (event == 0x003 || event == 0xfff);
}

/* Intel: the number that stands for a fixed counter, TOPDOWN.SLOTS' */
static bool has_slots(void)
{
	return is_hybrid() || raw_info().nr_fixed >= 4;
}

/* The laboratory's intel-v1 is a Yonah, of whose events nothing is known but the architectural. */
static unsigned int model(void)
{
	struct raw_cpuid one = raw_cpuid(1);

	return (one.eax >> 4 & 0xf) | (one.eax >> 12 & 0xf0);
}

static bool is_unknown(uint64_t config)
{
	static const uint16_t architectural[] = { 0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4,
						  0x00c5 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(architectural); i++)
		if ((config & 0xffff) == architectural[i])
			return false;
	return model() == 0x0e;
}

static void check_intel(const union raw_attr *a, uint64_t config)
{
	if (config == 0x0400 && !has_slots())
		check_refused(OPEN(a), ENOENT, PMUCTL_WHY_EVENT_NOT_HERE, "attr.config",
			      "this CPU (%s) has no event for that counter's event: use a raw event of this CPU, 'pmuctl list' shows them",
			      raw_info().pmu_name);
	else if (!(config & 0xff) && config != 0x0400)
		check_refused(OPEN(a), ENOENT, PMUCTL_WHY_EVENT_ZERO, "attr.config",
			      "raw event 0x%lx has the number 0, which no counter of this CPU counts by itself: use 0xc0 for instructions, 0x3c for cycles, 0x300 for reference cycles",
			      config);
	else if ((config & 0xff) && is_unknown(config))
		check_refused(OPEN(a), ENOENT, PMUCTL_WHY_EVENT_NO_TABLE, "attr.config",
			      "raw event 0x%lx: which counters of this CPU (family 0x6, model 0x%x) can count it is not known, and others would count nothing: use a generic event, or perf",
			      config, model());
	else if ((config & 0xff) == 0xc6 && !is_hybrid())
		check_refused(OPEN(a), ENOENT, PMUCTL_WHY_EVENT_REGISTER, "attr.config",
			      "raw event 0x%lx of this CPU counts only what MSR 0x3f7 selects besides, which this version of pmuctl does not set: perf can count it",
			      config);
	else
		close(event_open(a));
}

static void check_config(uint64_t config)
{
	union raw_attr a = raw_attr(PERF_TYPE_RAW, config);
	uint64_t mask = raw_mask();

	if (config & ~mask)
		check_refused(OPEN(a), EINVAL, PMUCTL_WHY_RAW_BITS, "attr.config",
			      "raw config 0x%lx has bits outside of 0x%lx, the event-select bits that may be set on this CPU: clear 0x%lx",
			      config, mask, config & ~mask);
	else if (is_north_bridges(config))
		check_refused(OPEN(a), ENOENT, PMUCTL_WHY_EVENT_NORTH_BRIDGE, "attr.config",
			      "event 0x%x of this CPU is the north bridge's, which all cores share, so a count would be nobody's: perf can count it",
			      event_of(config));
	else if (raw_cpu_is_intel())
		check_intel(&a, config);
	else if (is_merged(config))
		check_refused(OPEN(a), EOPNOTSUPP, PMUCTL_WHY_EVENT_MERGED, "attr.config",
			      "event 0x%x of this CPU is for counters that are merged in pairs, to count more than 15 in a cycle, which pmuctl does not do: perf can count it",
			      event_of(config));
	else
		close(event_open(a));
}

Test(refuse_raw, every_bit_of_config)
{
	for (int bit = 0; bit < 64; bit++) {
		check_config(1ULL << bit);
		check_config(0xc4 | 1ULL << bit);
		check_config(raw_mask() | 1ULL << bit);
	}
	check_config(0);
	check_config(0xff03);
	check_config(~0ULL);
}

/* The module alone sets the bits for user, kernel, interrupt and enable. */
Test(refuse_raw, bits_that_are_not_a_users_stay_unset)
{
	static const int bits[] = { 16, 17, 19, 20, 22 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(bits); i++)
		cr_assert_eq(raw_mask() >> bits[i] & 1, 0);
	cr_assert_eq(raw_mask() >> 32, raw_cpu_is_intel() ? 0 : 0xf);
}

static int perf_open(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = { .type = type, .size = sizeof(attr),
		.config = config, .disabled = 1, .exclude_kernel = 1 };
	struct perf_event_attr other;
	int fd;

	if (!is_hybrid())
		return perf_try(&attr, 0, -1);
	other = perf_attr(attr, CORE_PERFORMANCE);
	fd = perf_try(&other, 0, -1);
	if (fd >= 0)
		return fd;
	other = perf_attr(attr, CORE_EFFICIENCY);
	return perf_try(&other, 0, -1);
}

static uint64_t cache_config(unsigned int cache, unsigned int op,
			     unsigned int result)
{
	return cache | op << 8 | result << 16;
}

/*
 * What we can count, perf can, if it knows this processor; only one of us can have the PMU at a
 * time.
 */
static void check_cache(unsigned int cache, unsigned int op, unsigned int result,
			const char *name, unsigned int *opened)
{
	uint64_t config = cache_config(cache, op, result);
	union raw_attr a = raw_attr(PERF_TYPE_HW_CACHE, config);
	int fd = raw_open(&a, 0, -1, 0, NULL), perf;

	if (fd < 0) {
		check_refused(OPEN(a), ENOENT, PMUCTL_WHY_EVENT_NOT_HERE, "attr.config",
			      "this CPU (%s) has no event for this use of this cache: use a raw event of this CPU, 'pmuctl list' shows them",
			      name);
		return;
	}
	close(fd);
	++*opened;
	perf = perf_open(PERF_TYPE_HW_CACHE, config);
	if (!perf_knows_cpu()) {
		cr_assert_eq(perf, -ENOENT, "perf and event 0x%lx: %d", config, perf);
		return;
	}
	cr_assert_geq(perf, 0, "perf has no event 0x%lx: %d", config, perf);
	close(perf);
}

/* How many there are in the tables of this CPU's family, see module/pmu/events_*.c: the last level's
 * and the nodes' are by another register, of which the hybrid's cores have less.
 */
static unsigned int expected_uses(void)
{
	if (!raw_cpu_is_intel())
		return raw_cpu_family() < 0x17 ? 16 : 11;
	return model() == 0x5e ? 12 + 8 : model() == 0x97 ? 12 + 4 : 0;
}

Test(refuse_raw, every_use_of_every_cache)
{
	struct pmuctl_info info = raw_info();
	unsigned int opened = 0;

	for (unsigned int cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++)
		for (unsigned int op = 0; op < PERF_COUNT_HW_CACHE_OP_MAX; op++)
			for (unsigned int result = 0; result < 2; result++)
				check_cache(cache, op, result, info.pmu_name,
					    &opened);
	cr_assert_eq(opened, expected_uses(), "%u", opened);
}

Test(refuse_raw, caches_that_do_not_exist)
{
	const uint64_t configs[] = {
		cache_config(7, 0, 0), cache_config(255, 0, 0),
		cache_config(0, 3, 0), cache_config(0, 255, 0),
		cache_config(0, 0, 2), cache_config(0, 0, 255),
		1 << 24, 1ULL << 32, 1ULL << 63, ~0ULL,
	};

	for (size_t i = 0; i < RAW_ARRAY_SIZE(configs); i++) {
		union raw_attr a = raw_attr(PERF_TYPE_HW_CACHE, configs[i]);

		check_refused(OPEN(a), EINVAL, PMUCTL_WHY_EVENT_UNKNOWN, "attr.config",
			      "config 0x%lx is not an event of type 3: see PERF_COUNT_* in <linux/perf_event.h>",
			      configs[i]);
	}
}

/* Hybrid processors' events, on one that is none: in attr.type, or the upper half of attr.config */
Test(refuse_raw, of_one_type_of_cpu)
{
	static const struct {
		uint64_t type;
		const char *name;
	} types[] = { { PMUCTL_TYPE_CPU_CORE, "cpu_core" }, { PMUCTL_TYPE_CPU_ATOM, "cpu_atom" } };

	if (is_hybrid())
		return;
	for (size_t i = 0; i < RAW_ARRAY_SIZE(types); i++) {
		union raw_attr attrs[] = {
			raw_attr(types[i].type, 0xc0),
			raw_attr(PERF_TYPE_HARDWARE, types[i].type << 32 | PERF_COUNT_HW_INSTRUCTIONS),
			raw_attr(PERF_TYPE_HW_CACHE, types[i].type << 32 | PERF_COUNT_HW_CACHE_L1D),
		};

		for (size_t k = 0; k < RAW_ARRAY_SIZE(attrs); k++)
			check_refused(OPEN(attrs[k]), ENOENT, PMUCTL_WHY_EVENT_ALIKE, "attr.type",
				      "the event is for one type of a hybrid processor's CPUs (%s), and those of this one are alike, or none is of that type: leave the type out",
				      types[i].name);
	}
}
