// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does every counter count? The known loop, by each event that has a name, on every counter
 * that can count it, by pmuctl and by perf in turn.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "selftest.h"

#define ROUNDS		100000

/* No core retires more in a cycle, nor has more cycles in a nanosecond. */
#define INSTRUCTIONS_PER_CYCLE	16
#define CYCLES_PER_NS		10

/* What is not exact: pmuctl's and perf's run of the loop are two, in one of which it may be slower. */
#define FACTOR		4
#define FEW_PERCENT	1

enum kind {
	EXACT_INSTRUCTIONS,
	EXACT_BRANCHES,
	CYCLES,
	OTHER,
};

/**
 * struct subject - an event, and what came of it
 * @name: the event.
 * @kind: what is known of its count.
 * @value: what each rival counted.
 * @valid: it was counted.
 */
struct subject {
	struct pmuctl_name name;
	enum kind kind;
	uint64_t value[RIVALS];
	bool valid[RIVALS];
};

/**
 * struct coverage - which counters have counted something, or did not
 * @used: bit n: counter n has.
 * @silent: bit n: it counted nothing where others did.
 * @refused: names of events that this CPU is said not to have.
 */
struct coverage {
	uint64_t used, silent;
	json_t *refused;
};

/* ------------------------------------------------------------ announced */

/**
 * check_counters() - are the counters there that CPUID announces?
 * @result: the check.
 * @test: with what the driver found.
 */
void check_counters(struct result *result, struct selftest *test)
{
	struct announced cpuid = machine_counters();
	const struct pmuctl_info *info = &test->info;
	bool taken = machine_has_flag("tsx_force_abort") && info->nr_counters + 1 == cpuid.general;

	result_find(result, "%u general counters of %u bits, %u fixed ones of %u bits%s",
		    info->nr_counters, info->counter_width, info->nr_fixed, info->fixed_width,
		    taken ? "; one more is the microcode's, for transactions" : "");
	result_figure(result, json_pack("{s:i, s:i, s:i, s:i}",
					"general", info->nr_counters, "fixed", info->nr_fixed,
					"announced_general", cpuid.general,
					"announced_fixed", cpuid.fixed));
	if (info->pmu_kind == PMUCTL_PMU_NONE)
		result_fault(result, "there is no PMU that can be used: %s", info->pmu_reason);
	else if (info->nr_counters < cpuid.general && !taken)
		result_fault(result, "CPUID announces %u general counters, %u can be used: accesses to the others fail, or their event selects ignore what is written to them",
			     cpuid.general, info->nr_counters);
	if (info->pmu_kind != PMUCTL_PMU_NONE && info->nr_fixed < cpuid.fixed)
		result_fault(result, "CPUID announces %u fixed counters, %u can be used",
			     cpuid.fixed, info->nr_fixed);
}

/* --------------------------------------------------------------- judging */

static enum kind kind_of(const struct pmuctl_name *name)
{
	if (name->type != PERF_TYPE_HARDWARE)
		return OTHER;
	switch (name->config) {
	case PERF_COUNT_HW_INSTRUCTIONS:
		return EXACT_INSTRUCTIONS;
	case PERF_COUNT_HW_BRANCH_INSTRUCTIONS:
		return EXACT_BRANCHES;
	case PERF_COUNT_HW_CPU_CYCLES:
	case PERF_COUNT_HW_REF_CPU_CYCLES:
	case PERF_COUNT_HW_BUS_CYCLES:
		return CYCLES;
	default:
		return OTHER;
	}
}

/**
 * struct bounds - between what a count is right
 * @low: at least.
 * @high: at most.
 */
struct bounds {
	uint64_t low, high;
};

static struct bounds bounds_of(const struct subject *subject, const struct copies *copies)
{
	struct known known = loop_known(ROUNDS);
	uint64_t slack = PER_INTERRUPT * copies->interrupts;

	switch (subject->kind) {
	case EXACT_INSTRUCTIONS:
		return (struct bounds) { known.instructions, known.instructions + slack };
	case EXACT_BRANCHES:
		return (struct bounds) { known.branches - 1, known.branches + slack };
	case CYCLES:
		return (struct bounds) {
			subject->name.config == PERF_COUNT_HW_CPU_CYCLES ?
				known.instructions / INSTRUCTIONS_PER_CYCLE : 1,
			copies->elapsed * CYCLES_PER_NS,
		};
	default:
		return (struct bounds) { 0, INSTRUCTIONS_PER_CYCLE * known.instructions };
	}
}

static uint64_t largest(const struct copies *copies)
{
	uint64_t max = 0;

	for (unsigned int i = 0; i < copies->n; i++)
		max = copies->count[i].value > max ? copies->count[i].value : max;
	return max;
}

/* A processor whose CPUs differ may have the event elsewhere; perf opens some that nothing counts. */
static bool never_ran(const struct copies *copies)
{
	for (unsigned int i = 0; i < copies->n; i++)
		if (copies->count[i].running)
			return false;
	return true;
}

static uint64_t bit_of(int counter)
{
	return counter < 0 ? 0 : 1ull << counter;
}

/* A counter that stays at 0 is told once for all events. */
static void judge_silent(struct result *result, const struct subject *subject, enum rival rival,
			 int counter, struct coverage *cover)
{
	char name[24];

	counter_name(counter, name, sizeof(name));
	if (counter < 0 || !(cover->silent & bit_of(counter)))
		result_fault(result, "%s counts nothing (%s, by %s), where others do: a hypervisor or the firmware keeps it",
			     name, subject->name.name, rival_names[rival]);
	cover->silent |= bit_of(counter);
}

/* Every CPU has cycles, instructions and branches. */
static bool is_basic(const struct subject *subject)
{
	return subject->kind == EXACT_INSTRUCTIONS || subject->kind == EXACT_BRANCHES ||
		(subject->kind == CYCLES && subject->name.config == PERF_COUNT_HW_CPU_CYCLES);
}

static void judge_copies(struct result *result, const struct subject *subject,
			 enum rival rival, const struct copies *copies, struct coverage *cover)
{
	struct bounds bounds = bounds_of(subject, copies);
	uint64_t max = largest(copies);
	char name[24];

	/* Perf opens reference cycles where no counter has them. */
	if (!max && rival == BY_PERF && !subject->valid[BY_PMUCTL] && !is_basic(subject))
		return;
	if (!max && subject->kind != OTHER) {
		result_fault(result, "%s, by %s: nothing is counted, on no counter: a hypervisor filters it, or the PMU is off",
			     subject->name.name, rival_names[rival]);
		return;
	}
	for (unsigned int i = 0; i < copies->n; i++) {
		uint64_t value = copies->count[i].value;

		counter_name(copies->counter[i], name, sizeof(name));
		if (copies->count[i].running < copies->count[i].enabled)
			result_fault(result, "%s, by %s on %s: did not have its counter all the time",
				     subject->name.name, rival_names[rival], name);
		else if (!value && max > FACTOR * copies->n)
			judge_silent(result, subject, rival, copies->counter[i], cover);
		else if (value < bounds.low || value > bounds.high)
			result_fault(result, "%s, by %s on %s: %" PRIu64 ", which should be %" PRIu64 " to %" PRIu64,
				     subject->name.name, rival_names[rival], name, value,
				     bounds.low, bounds.high);
		else if (value)
			cover->used |= bit_of(copies->counter[i]);
	}
}

/*
 * Both have counted the same loop; exact events have been judged already. Of some events perf
 * has a number that counts nothing; and its bus cycles are others on newer cores.
 */
static void judge_rivals(struct result *result, const struct subject *subject)
{
	uint64_t ours = subject->value[BY_PMUCTL], perfs = subject->value[BY_PERF];
	uint64_t few = loop_known(ROUNDS).instructions * FEW_PERCENT / 100;

	if (!subject->valid[BY_PMUCTL] || !subject->valid[BY_PERF] ||
	    subject->kind == EXACT_INSTRUCTIONS || subject->kind == EXACT_BRANCHES || !perfs ||
	    subject->name.config == PERF_COUNT_HW_BUS_CYCLES)
		return;
	if (ours > FACTOR * perfs + few || perfs > FACTOR * ours + few)
		result_fault(result, "%s: pmuctl counts %" PRIu64 ", perf %" PRIu64,
			     subject->name.name, ours, perfs);
}

/* ------------------------------------------------------------- measuring */

static json_t *figure_of(const struct selftest *test, const struct subject *subject,
			 enum rival rival, const struct copies *copies)
{
	struct bounds bounds = bounds_of(subject, copies);
	json_t *counts = json_object();
	char name[24];

	for (unsigned int i = 0; i < copies->n; i++) {
		counter_name(copies->counter[i], name, sizeof(name));
		if (copies->counter[i] < 0)
			snprintf(name, sizeof(name), "counter %u", i);
		json_object_set_new(counts, name, json_integer((json_int_t)copies->count[i].value));
	}
	return json_pack("{s:s, s:s, s:o, s:I, s:I, s:i}", "event", subject->name.name,
			 "by", rival_names[rival], "counts", counts,
			 "at_least", (json_int_t)bounds.low, "at_most", (json_int_t)bounds.high,
			 "cpu", test->cpu);
}

/* Those that the CPU lacks are only named. */
static void judge_refusal(struct result *result, const struct subject *subject,
			  enum rival rival, const struct refusal *why, struct coverage *cover)
{
	if (is_basic(subject) || why->code == PMUCTL_WHY_EVENT_SILENT)
		result_fault(result, "%s is refused by %s: %s", subject->name.name,
			     rival_names[rival], why->text);
	json_array_append_new(cover->refused, json_string(subject->name.name));
}

static void measure(struct result *result, struct selftest *test, struct subject *subject,
		    enum rival rival, struct coverage *cover)
{
	struct perf_event_attr attr = event_attr_of(subject->name.type, subject->name.config);
	struct copies copies;
	struct refusal why;
	int ret = copies_open(test, rival, attr, &copies, &why);

	if (ret < 0) {
		judge_refusal(result, subject, rival, &why, cover);
		return;
	}
	ret = copies_run(test, &copies, ROUNDS);
	if (ret < 0) {
		result_fault(result, "%s, by %s: cannot be counted: %s", subject->name.name,
			     rival_names[rival], pmuctl_strerror(ret));
	} else if (never_ran(&copies) && (rival == BY_PERF || !is_basic(subject))) {
		json_array_append_new(cover->refused, json_string(subject->name.name));
	} else {
		result_figure(result, figure_of(test, subject, rival, &copies));
		judge_copies(result, subject, rival, &copies, cover);
		subject->value[rival] = largest(&copies);
		subject->valid[rival] = true;
	}
	copies_close(&copies);
}

static json_t *names_of(uint64_t counters)
{
	json_t *names = json_array();
	char name[24];

	for (int i = 0; i < 64; i++) {
		if (!(counters >> i & 1))
			continue;
		counter_name(i, name, sizeof(name));
		json_array_append_new(names, json_string(name));
	}
	return names;
}

/* All events, by all who can */
static size_t measure_all(struct result *result, struct selftest *test, struct coverage *cover)
{
	struct subject subject;
	size_t counted = 0;

	for (size_t i = 0; ; i++) {
		subject = (struct subject) { .kind = OTHER };
		if (pmuctl_name_get(i, &subject.name) < 0)
			return counted;
		if (subject.name.type != PERF_TYPE_HARDWARE &&
		    subject.name.type != PERF_TYPE_HW_CACHE)
			continue;
		subject.kind = kind_of(&subject.name);
		for (enum rival rival = BY_PMUCTL; rival < RIVALS; rival++)
			if (rival != BY_PERF || test->perf)
				measure(result, test, &subject, rival, &cover[rival]);
		judge_rivals(result, &subject);
		counted += subject.valid[BY_PMUCTL];
	}
}

/* Whoever has the PMU keeps it: it is no use to try on. */
static bool can_have_pmu(struct result *result, struct selftest *test)
{
	struct perf_event_attr attr = event_attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	struct opened opened;
	struct refusal why;

	if (event_open(test, BY_PMUCTL, &attr, NULL, &opened, &why) == 0) {
		event_close(&opened);
		return true;
	}
	if (why.code != PMUCTL_WHY_PMU_BUSY && why.code != PMUCTL_WHY_NO_PMU)
		return true;
	snprintf(test->broken, sizeof(test->broken), "there is no PMU to be had");
	result_find(result, "%s", test->broken);
	result_fault(result, "%s", why.text);
	return false;
}

/* On the CPU on which the thread is; returns how many events were counted. */
static size_t check_cpu(struct result *result, struct selftest *test)
{
	struct coverage cover[RIVALS];
	size_t counted;

	for (enum rival rival = BY_PMUCTL; rival < RIVALS; rival++)
		cover[rival] = (struct coverage) { .refused = json_array() };
	counted = measure_all(result, test, cover);
	for (enum rival rival = BY_PMUCTL; rival < RIVALS; rival++)
		result_figure(result, json_pack("{s:i, s:s, s:o, s:o}", "cpu", test->cpu,
						"by", rival_names[rival],
						"counters", names_of(cover[rival].used),
						"refused", cover[rival].refused));
	return counted;
}

/* Where the CPUs are of two types, the first one of the other type, too */
static int check_other_type(struct result *result, struct selftest *test)
{
	unsigned int core = test->core;
	int cpus[1024], cpu = test->cpu, other = -1;
	size_t n = core ? cpus_online(cpus, ARRAY_LEN(cpus)) : 0;

	for (size_t i = 0; i < n && other < 0; i++) {
		if (!go_to_cpu(test, cpus[i]) || test->core == core)
			continue;
		other = test->cpu;
		check_cpu(result, test);
	}
	if (n)
		go_to_cpu(test, cpu);
	return other;
}

/**
 * check_events() - does every counter count every event that it should?
 * @result: the check.
 * @test: with the device.
 */
void check_events(struct result *result, struct selftest *test)
{
	char where[64] = "";
	size_t counted;
	int other;

	if (!can_have_pmu(result, test))
		return;
	counted = check_cpu(result, test);
	other = check_other_type(result, test);
	if (other >= 0)
		snprintf(where, sizeof(where), " on CPU %d, and all on CPU %d, of another type", test->cpu, other);
	result_find(result, "%zu events%s, each on all counters that can count it%s%s", counted, where,
		    test->perf ? ", by pmuctl and by perf" : ", not by perf: ", test->why_not_perf);
}
