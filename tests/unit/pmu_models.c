// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/events.c module/pmu/events_intel.c module/pmu/events_intel_cores.c module/pmu/events_extra.c module/pmu/intel_rules.c module/pmu/events_amd.c module/explain/explain.c */
/*
 * Every event of the vendor's published tables, on every model that these are of, goes on those
 * counters that can count it, with hyperthreading and without; what needs another register has
 * it, or is refused. data/intel-events.txt has the events.
 */
#include <errno.h>

#include "intel_events.h"

#include "explain/explain.h"
#include "pmu/event_tables.h"
#include "pmu/events_extra.h"

#define DATA	"tests/unit/data/intel-events.txt"	/* run this in the project's directory */
#define GENERAL	0xffffffffULL

static void read_data(void)
{
	intel_events_read(DATA);
}

TestSuite(models, .init = read_data);

static struct hwpmu_caps caps_of(const struct intel_cpu *cpu, unsigned int i, u64 general)
{
	static const u64 fixed = 0xfULL << HWPMU_FIXED_BASE;

	return (struct hwpmu_caps) {
		.vendor = HWPMU_VENDOR_INTEL, .version = 5, .family = cpu->id[i].family,
		.model = cpu->id[i].model, .nr_general = hweight64(general), .nr_fixed = 4,
		.counters = general | fixed, .arch_events = 0xff, .raw_mask = 0xff84ffff,
		.core_type = cpu->id[i].type == 'P' ? HWPMU_CORE_PERFORMANCE :
			     cpu->id[i].type == 'E' ? HWPMU_CORE_EFFICIENCY : 0,
		.name = "a model",
	};
}

static int encode(const struct hwpmu_caps *caps, u32 type, u64 config, struct hwpmu_config *hw,
		  struct pmuctl_explanation *why)
{
	const struct perf_event_attr attr = { .type = type, .config = config };

	memset(why, 0, sizeof(*why));
	return hwpmu_event_encode(caps, &attr, hw, why);
}

/*
 * Where other counters are used than the tables have. They tell of some events more than once, with
 * other modifiers and other counters: such an event goes on those that all of them can use. (These are
 * less only with hyperthreading off.)
 */
static const struct {
	const char *cpus;	/* those whose names begin so */
	u16 event;
	u8 ours, theirs;
} differences[] = {
	/* UOPS_ISSUED, UOPS_RETIRED: inverted on four; CPU_CLK_THREAD_UNHALTED.ONE_THREAD_ACTIVE */
	{ "sandybridge", 0x010e, 0x0f, 0xff }, { "sandybridge", 0x01c2, 0x0f, 0xff },
	{ "sandybridge", 0x023c, 0x0f, 0xff },
	{ "Jaketown", 0x010e, 0x0f, 0xff }, { "Jaketown", 0x01c2, 0x0f, 0xff },
	{ "Jaketown", 0x023c, 0x0f, 0xff },
	{ "ivy", 0x010e, 0x0f, 0xff }, { "ivy", 0x01c2, 0x0f, 0xff }, { "ivy", 0x023c, 0x0f, 0xff },
	{ "haswell", 0x010e, 0x0f, 0xff }, { "haswell", 0x01c2, 0x0f, 0xff },
	{ "haswell", 0x023c, 0x0f, 0xff },
	{ "broadwell", 0x010e, 0x0f, 0xff }, { "broadwell", 0x01c2, 0x0f, 0xff },
	{ "broadwell", 0x023c, 0x0f, 0xff },
	/* UOPS_EXECUTED: likewise */
	{ "ivy", 0x01b1, 0x0f, 0xff }, { "broadwell", 0x01b1, 0x0f, 0xff },
	/* CYCLE_ACTIVITY: by its threshold */
	{ "broadwell", 0x02a3, 0x0f, 0xff }, { "broadwell", 0x04a3, 0x0f, 0xff },
	{ "broadwell", 0x05a3, 0x0f, 0xff }, { "broadwell", 0x06a3, 0x0f, 0xff },
	/* INST_RETIRED.TOTAL_CYCLES_PS, for precise sampling only, which is not done: PREC_DIST's */
	{ "skylake", 0x01c0, 0x02, 0x0d }, { "cascadelakex", 0x01c0, 0x02, 0x0d },
};

static bool is_listed(const struct intel_cpu *cpu, u64 config, u64 ours, u64 theirs)
{
	for (size_t i = 0; i < ARRAY_SIZE(differences); i++)
		if (!strncmp(differences[i].cpus, cpu->name, strlen(differences[i].cpus)) &&
		    differences[i].event == (config & 0xffff) &&
		    differences[i].ours == ours && differences[i].theirs == theirs)
			return true;
	return false;
}

/* Events D0H to D3H of these are refused with hyperthreading. */
static bool is_spoiler(const struct hwpmu_caps *caps, u64 config)
{
	static const u8 models[] = { 0x2a, 0x2d, 0x3a, 0x3e, 0x3c, 0x45, 0x46, 0x3f };

	for (size_t i = 0; i < ARRAY_SIZE(models); i++)
		if (caps->model == models[i])
			return caps->nr_general <= 4 && (config & 0xfc) == 0xd0;
	return false;
}

/* Events that have another register */
static unsigned int nr_extra;

static void check_event(const struct intel_cpu *cpu, const struct hwpmu_caps *caps,
			const struct intel_event *event)
{
	struct pmuctl_explanation why;
	struct hwpmu_config hw;
	u64 general = caps->counters & GENERAL;
	int err = encode(caps, PERF_TYPE_RAW, event->config, &hw, &why);

	if (event->msr && !err) {
		cr_expect(hw.extra, "%s: %llx", cpu->name, event->config);
		cr_expect(hw.allowed, "%s: %llx", cpu->name, event->config);
		/* Of offcore responses the tables name either register, or both. */
		cr_expect_eq(hwpmu_extra_msr(hw.extra) | 1, event->msr | 1,
			  "%s: %llx has %x", cpu->name, event->config, hwpmu_extra_msr(hw.extra));
		nr_extra++;
		return;
	}
	if (event->msr || is_spoiler(caps, event->config)) {
		cr_expect_eq(err, -ENOENT, "%s: %llx", cpu->name, event->config);
		cr_expect_eq(why.code, event->msr ? PMUCTL_WHY_EVENT_REGISTER :
			     PMUCTL_WHY_EVENT_SPOILS, "%s: %llx", cpu->name, event->config);
		return;
	}
	cr_assert_eq(err, 0, "%s: %llx: %s", cpu->name, event->config, why.sentence);
	cr_expect_eq(hw.extra, HWPMU_EXTRA_NONE, "%s: %llx", cpu->name, event->config);
	if ((hw.allowed & GENERAL) != (event->counters & general))
		cr_expect(is_listed(cpu, event->config, hw.allowed & GENERAL, event->counters & general),
			  "%s: %llx: %llx, in the tables %llx", cpu->name, event->config,
			  hw.allowed & GENERAL, event->counters & general);
}

Test(models, each_event_goes_on_the_counters_that_can_count_it)
{
	unsigned int c, i, e, n = 0;

	for (c = 0; c < nr_intel_cpus; c++)
		for (i = 0; i < intel_cpus[c].nr_ids; i++)
			for (e = 0; e < intel_cpus[c].nr_events; e++) {
				struct hwpmu_caps all = caps_of(&intel_cpus[c], i, intel_cpus[c].counters);
				struct hwpmu_caps four = caps_of(&intel_cpus[c], i,
								 intel_cpus[c].counters & 0xf);

				check_event(&intel_cpus[c], &all, &intel_cpus[c].event[e]);
				check_event(&intel_cpus[c], &four, &intel_cpus[c].event[e]);
				n++;
			}
	cr_expect_eq(nr_intel_cpus, 46);
	cr_expect_gt(n, 10000, "%u", n);
	cr_expect_gt(nr_extra, 300, "%u", nr_extra);
}

/* They are searched by halves. */
Test(models, no_rule_begins_or_ends_before_the_one_before_it)
{
	unsigned int m, i;

	for (m = 0; m < hwpmu_nr_intel_models; m++)
		for (i = 1; i < hwpmu_intel_models[m].nr_rules; i++) {
			const struct hwpmu_intel_rule *rule = &hwpmu_intel_models[m].rules[i];

			cr_expect(rule[-1].first <= rule->first && rule[-1].last <= rule->last,
				  "%x: %x to %x", hwpmu_intel_models[m].model, rule->first,
				  rule->last);
		}
}

/* ---- Generic events ---- */

/* The counters of an event without modifiers, 0 if the tables do not have it */
static u64 counters_in_tables(const struct intel_cpu *cpu, u64 config)
{
	u64 counters = 0;
	unsigned int e;

	for (e = 0; e < cpu->nr_events; e++)
		if (cpu->event[e].config == config)
			counters |= cpu->event[e].counters;
	return counters;
}

/*
 * The tables of some models leave out architectural events. ITLB.MISS of Goldmont Plus is used on
 * later efficiency cores, as Linux does, whose tables leave it out: on four counters.
 */
static const struct {
	const char *cpus;
	u16 event;
} left_out[] = {
	{ "Nehalem", 0x00c0 }, { "Nehalem", 0x00c4 }, { "Nehalem", 0x00c5 },
	{ "Westmere", 0x00c0 }, { "Westmere", 0x00c4 }, { "Westmere", 0x00c5 },
	{ "icelake", 0x4f2e }, { "rocketlake", 0x4f2e }, { "tigerlake", 0x4f2e },
	{ "novalake_coyotecove", 0x4f2e },
	{ "alderlake_gracemont", 0x0481 }, { "meteorlake_crestmont", 0x0481 },
	{ "sierraforest", 0x0481 }, { "grandridge", 0x0481 },
};

static bool is_left_out(const struct intel_cpu *cpu, u64 config)
{
	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
		if (!strncmp(left_out[i].cpus, cpu->name, strlen(left_out[i].cpus)) &&
		    left_out[i].event == config)
			return true;
	return false;
}

/* Returns whether the CPU has it; then the tables have it too, on these counters. */
static bool check_generic(const struct intel_cpu *cpu, const struct hwpmu_caps *caps, u32 type, u64 id)
{
	struct pmuctl_explanation why;
	struct hwpmu_config hw;
	u64 config, counters;

	if (encode(caps, type, id, &hw, &why)) {
		/* Of Sandy Bridge's clients perf asks for more than they have: unit pmu_extra. */
		cr_assert(why.code == PMUCTL_WHY_EVENT_NOT_HERE || why.code == PMUCTL_WHY_EXTRA_BITS);
		return false;
	}
	if (hw.extra)
		return true;
	config = hw.evtsel & (HWPMU_EVTSEL_EVENT | HWPMU_EVTSEL_UMASK);
	counters = counters_in_tables(cpu, config);
	if (config == 0x0300 || (!counters && is_left_out(cpu, config)))
		return true;
	cr_expect(counters, "%s: %llx is not in its tables", cpu->name, config);
	cr_expect_eq(hw.allowed & GENERAL, counters & caps->counters, "%s: %llx: %llx, in the tables %llx",
		     cpu->name, config, hw.allowed & GENERAL, counters);
	return true;
}

Test(models, generic_events_are_in_the_tables)
{
	unsigned int c, i, n;
	u64 id;

	for (c = 0; c < nr_intel_cpus; c++)
		for (i = 0; i < intel_cpus[c].nr_ids; i++) {
			struct hwpmu_caps caps = caps_of(&intel_cpus[c], i, intel_cpus[c].counters);

			for (id = 0, n = 0; id < PERF_COUNT_HW_MAX; id++)
				n += check_generic(&intel_cpus[c], &caps, PERF_TYPE_HARDWARE, id);
			cr_expect_eq(n, 8);
			for (id = 0; id < 0x20000; id++)
				if ((id & 0xff) < PERF_COUNT_HW_CACHE_MAX &&
				    (id >> 8 & 0xff) < PERF_COUNT_HW_CACHE_OP_MAX)
					check_generic(&intel_cpus[c], &caps, PERF_TYPE_HW_CACHE, id);
		}
}

/* As Linux has it: the first is no measure of the accesses from Icelake on. */
Test(models, icelake_does_not_count_itlb_accesses)
{
	const struct intel_cpu cpu = { .id = { { 6, 0x6a, '-' }, { 6, 0x5e, '-' } } };
	struct hwpmu_caps icelake = caps_of(&cpu, 0, 0xff), skylake = caps_of(&cpu, 1, 0xff);
	struct pmuctl_explanation why;
	struct hwpmu_config hw;

	cr_assert_eq(encode(&icelake, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_ITLB, &hw, &why), -ENOENT);
	cr_assert_eq(encode(&skylake, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_ITLB, &hw, &why), 0);
	cr_assert_eq(encode(&icelake, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_ITLB | 1 << 16, &hw, &why), 0);
}

/* ---- What no table tells ---- */

Test(models, a_model_without_tables_has_the_architectural_events_on_four_counters)
{
	const struct intel_cpu unknown = { .name = "unknown", .id = { { 6, 0xfe, '-' } } };
	static const u16 architectural[] = { 0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4, 0x00c5,
					     0x01a4 };
	struct hwpmu_caps caps = caps_of(&unknown, 0, 0xff);
	struct pmuctl_explanation why;
	struct hwpmu_config hw;

	for (u64 config = 1; config < 0x10000; config++) {
		bool known = config == 0x0300 || config == 0x0400;
		int err = encode(&caps, PERF_TYPE_RAW, config, &hw, &why);

		for (size_t i = 0; i < ARRAY_SIZE(architectural); i++)
			known |= config == architectural[i];
		cr_assert_eq(err, known ? 0 : -ENOENT, "%llx: %d", config, err);
		if (known)
			cr_assert_eq(hw.allowed & GENERAL & ~0xfULL, 0);
		else
			cr_assert_eq(why.code, config & 0xff ? PMUCTL_WHY_EVENT_NO_TABLE :
				     PMUCTL_WHY_EVENT_ZERO);
	}
	caps.arch_events = 0;
	cr_assert_eq(encode(&caps, PERF_TYPE_RAW, 0xc4, &hw, &why), -ENOENT);
	cr_assert_str_eq(why.sentence,
			 "raw event 0xc4: which counters of this CPU (family 0x6, model 0xfe) can count it is not known, and others would count nothing: use a generic event, or perf");
}

Test(models, what_a_table_does_not_have_goes_on_four_counters)
{
	const struct intel_cpu icelake = { .name = "icelake", .id = { { 6, 0x6a, '-' } } };
	struct hwpmu_caps caps = caps_of(&icelake, 0, 0xff);
	struct pmuctl_explanation why;
	struct hwpmu_config hw;

	cr_assert_eq(encode(&caps, PERF_TYPE_RAW, 0x013d, &hw, &why), 0);
	cr_assert_eq(hw.allowed, 0xf);
	cr_assert_eq(encode(&caps, PERF_TYPE_RAW, 0x00a3, &hw, &why), 0);
	cr_assert_eq(hw.allowed, 0xf);
}

Test(models, what_means_nothing_alone_is_refused)
{
	const struct intel_cpu skylake = { .name = "skylake", .id = { { 6, 0x5e, '-' } } };
	static const u64 zeros[] = { 0, 0x0100, 0x0200, 0x0500, 0x8000, 0x8700, 0x1000300, 0x40400 };
	struct hwpmu_caps caps = caps_of(&skylake, 0, 0xff);
	struct pmuctl_explanation why;
	struct hwpmu_config hw;

	for (size_t i = 0; i < ARRAY_SIZE(zeros); i++) {
		cr_assert_eq(encode(&caps, PERF_TYPE_RAW, zeros[i], &hw, &why), -ENOENT);
		cr_assert_eq(why.code, PMUCTL_WHY_EVENT_ZERO, "%llx: %s", zeros[i], why.sentence);
	}
	/* The numbers of fixed counters, where there are these */
	cr_assert_eq(encode(&caps, PERF_TYPE_RAW, 0x0400, &hw, &why), 0);
	cr_assert_eq(hw.allowed, BIT_ULL(HWPMU_FIXED_BASE + 3));
	caps.counters = 0xff;
	cr_assert_eq(encode(&caps, PERF_TYPE_RAW, 0x0400, &hw, &why), -ENOENT);
	cr_assert_eq(why.code, PMUCTL_WHY_EVENT_NOT_HERE);
	cr_assert_eq(encode(&caps, PERF_TYPE_RAW, 0x01cd, &hw, &why), -ENOENT);
	cr_assert_str_eq(why.sentence,
			 "raw event 0x1cd of this CPU counts only what MSR 0x3f6 selects besides, which this version of pmuctl does not set: perf can count it");
}

static void assert_periods(unsigned int model, u64 config, unsigned int shortest,
			   unsigned int multiple)
{
	const struct intel_cpu cpu = { .id = { { 6, model, '-' } } };
	struct hwpmu_caps caps = caps_of(&cpu, 0, 0xf);
	struct pmuctl_explanation why;
	struct hwpmu_config hw;

	cr_assert_eq(encode(&caps, PERF_TYPE_RAW, config, &hw, &why), 0);
	cr_assert_eq(hw.shortest, shortest, "%x: %u", model, hw.shortest);
	cr_assert_eq(hw.multiple, multiple);
}

/* As Linux has it for these models: errata HSW11, BDM11, BDM55, and Nehalem's */
Test(models, periods_are_not_too_short)
{
	assert_periods(0x1a, 0xc0, 32, 1);
	assert_periods(0x2c, 0xc0, 1, 1);
	assert_periods(0x3f, 0xc0, 32, 1);
	assert_periods(0x3f, 0x1c0, 128, 1);
	assert_periods(0x4f, 0xc0, 1, 1);
	assert_periods(0x4f, 0x1c0, 128, 64);
	assert_periods(0x5e, 0x1c0, 1, 1);
}
