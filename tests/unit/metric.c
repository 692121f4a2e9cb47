// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metrics: the language of their formulas, the tables of all cores, the events that they ask
 * for, and what comes of counts.
 */
/* sources: tools/metric/choose.c tools/metric/expression.c tools/metric/tables.c */
/* libs: -lm */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "../../tools/metric/metric.h"
#include "intel_events.h"

#define EVENTS "tests/unit/data/intel-events.txt"

/* ------------------------------------------------------------- expressions */

struct given {
	const char *name;
	double count;
};

static bool give(void *arg, const char *name, double *count)
{
	for (const struct given *given = arg; given->name; given++) {
		if (strcmp(given->name, name) != 0)
			continue;
		*count = given->count;
		return true;
	}
	return false;
}

static bool compute(const char *formula, bool smt_on, double *value)
{
	static struct given all[] = {
		{ "two", 2 }, { "three", 3 }, { "zero", 0 }, { "A-B.c_d", 7 }, { NULL, 0 },
	};
	const struct metric_facts facts = { .smt_on = smt_on, .count = give, .arg = all };

	return metric_compute(formula, &facts, value);
}

Test(metric, values_of_formulas)
{
	static const struct {
		const char *formula;
		double value;
	} all[] = {
		{ "1", 1 }, { "0.25 * 8", 2 }, { "1 - two - 3", -4 }, { "-two + 3", 1 },
		{ "2 + 3 * two", 8 }, { "(2 + three) * 2", 10 }, { "12 / three / 2", 2 },
		{ "A-B.c_d - two", 5 }, { "two-three if 0 else 4", 4 },
		{ "min(two, three)", 2 }, { "max( two , three )", 3 },
		{ "d_ratio(three, two)", 1.5 }, { "d_ratio(three, zero)", 0 },
		{ "two if three > 2 else missing", 2 }, { "missing if three < 2 else two", 2 },
		{ "1 if 0 else 2 if 1 else 3", 2 }, { "(two if #SMT_on else three) * 2", 6 },
		{ "max(two if 1 else missing, 1)", 2 },
	};
	double value;

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		cr_assert(compute(all[i].formula, false, &value), "%s", all[i].formula);
		cr_assert_float_eq(value, all[i].value, 1e-9, "%s: %f", all[i].formula, value);
	}
	cr_assert(compute("(two if #SMT_on else three) * 2", true, &value) && value == 4);
}

Test(metric, formulas_without_a_value)
{
	static const char *const all[] = {
		"", "1 +", "(1", "1)", "1 2", "min(1)", "min 1, 2", "two three", "1 if 2",
		"missing", "two + missing", "two / zero", "zero / zero", "max(0, zero / zero)", "#SMT", "*",
		"a name that is longer than any name of an event can be, which must not matter at all x",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	};
	double value;

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		cr_assert_not(compute(all[i], false, &value), "%s", all[i]);
}

/* ------------------------------------------------------------------ tables */

struct checked {
	const struct metric_core *core;
	const struct metric *metric;
	bool used[64];
	size_t count;
};

static void check_event(void *arg, const char *name)
{
	struct checked *checked = arg;
	const struct metric_event *events = checked->core->events;
	size_t i = 0;

	while (events[i].name && strcmp(events[i].name, name) != 0)
		i++;
	cr_assert_not_null(events[i].name, "%s: no event %s", checked->metric->name, name);
	checked->used[i] = true;
	checked->count++;
}

/* Every formula is one, with events that its core has; every event is in a formula. */
Test(metric, tables_are_whole)
{
	for (const struct metric_core *core = metric_cores; core->metrics; core++) {
		struct checked checked = { .core = core };

		for (const struct metric *metric = core->metrics; metric->name; metric++) {
			checked.metric = metric;
			checked.count = 0;
			for (int smt = 0; smt < 2; smt++)
				cr_assert_eq(metric_names(metric->formula, smt, check_event,
							  &checked), 0, "%s", metric->formula);
			cr_assert_gt(checked.count, 2, "%s", metric->name);
		}
		for (size_t i = 0; core->events[i].name; i++)
			cr_assert(checked.used[i], "%s: %s is in no formula",
				  core->name ? core->name : "all", core->events[i].name);
	}
}

/* One CPU is of one core at most. */
Test(metric, models_are_of_one_core)
{
	for (unsigned int family = 6; family < 0x20; family++) {
		for (unsigned int model = 0; model < 0x100; model++) {
			int found = 0;

			for (const struct metric_core *core = metric_cores; core->metrics; core++)
				for (const struct metric_model *m = core->models;
				     m && m->family; m++)
					found += m->family == family && model >= m->first &&
						 model <= m->last;
			cr_assert_leq(found, 1, "%x-%x", family, model);
		}
	}
}

static unsigned int term_of(const char *terms, const char *name)
{
	const char *at = strstr(terms, name);

	return at ? (unsigned int)strtoul(at + strlen(name), NULL, 0) : 0;
}

static bool is_model(const struct intel_cpu *cpu, unsigned int family, unsigned int model)
{
	for (unsigned int i = 0; i < cpu->nr_ids; i++)
		if (cpu->id[i].family == family && cpu->id[i].model == model)
			return true;
	return false;
}

static bool is_published(const struct intel_cpu *cpu, const char *terms)
{
	unsigned long long config = term_of(terms, "event=") | term_of(terms, "umask=") << 8 |
				    (unsigned long long)term_of(terms, "cmask=") << 24;

	for (unsigned int i = 0; i < cpu->nr_events; i++)
		if (cpu->event[i].config == config && cpu->event[i].counters)
			return true;
	return false;
}

/* In how many tables of the model all events of the core are */
static unsigned int tables_with(const struct metric_core *core, unsigned int family,
				unsigned int model)
{
	unsigned int tables = 0;

	for (unsigned int i = 0; i < nr_intel_cpus; i++) {
		if (!is_model(&intel_cpus[i], family, model))
			continue;
		tables++;
		for (const struct metric_event *e = core->events; e->name; e++)
			cr_assert(!e->terms || is_published(&intel_cpus[i], e->terms),
				  "%s: %s", intel_cpus[i].name, e->name);
	}
	return tables;
}

/* The events of Intel's cores are in the vendor's tables of all models that have the core. */
Test(metric, events_are_published)
{
	size_t models = 0;

	intel_events_read(EVENTS);
	for (const struct metric_core *core = metric_cores; core->metrics; core++) {
		if (!core->vendor || strcmp(core->vendor, "GenuineIntel") != 0)
			continue;
		for (const struct metric_model *m = core->models; m->family; m++) {
			for (unsigned int model = m->first; model <= m->last; model++) {
				cr_assert_gt(tables_with(core, m->family, model), 0, "%x", model);
				models++;
			}
		}
	}
	cr_assert_gt(models, 30);
}

/* ------------------------------------------------------------------ choice */

static struct metric_machine machine_of(const char *vendor, unsigned int family,
					unsigned int model)
{
	struct metric_machine machine = { .model = { .family = family, .model = model } };

	snprintf(machine.model.vendor, sizeof(machine.model.vendor), "%s", vendor);
	return machine;
}

/* The list of events of metrics, to be freed */
static char *events_of(const struct metric_machine *machine, const char *names,
		       unsigned int general, bool has_fixed)
{
	const struct metric_room room = { .general = general, .has_fixed = has_fixed };
	struct metric_choice choice;
	const char *unknown;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert_eq(metric_choose(machine, names, &choice, &unknown), 0, "%s", unknown);
	cr_assert_eq(metric_events_print(&choice, &room, out), 0);
	fclose(out);
	metric_choice_free(&choice);
	return text;
}

static void check_events(const struct metric_machine *machine, const char *names,
			 unsigned int general, bool has_fixed, const char *expected)
{
	char *text = events_of(machine, names, general, has_fixed);

	cr_assert_str_eq(text, expected);
	free(text);
}

Test(metric, lists_of_events)
{
	struct metric_machine skylake = machine_of("GenuineIntel", 6, 0x5e);
	struct metric_machine other = machine_of("Vendor", 6, 0x5e);

	check_events(&other, "insn_per_cycle", 4, true, "{instructions,cycles}");
	check_events(&other, "insn_per_cycle,cycles_per_insn,insn_per_cycle", 4, true,
		     "{instructions,cycles}");
	check_events(&other, "insn_per_cycle", 1, false, "instructions,cycles");
	check_events(&other, "IPC", 4, true, "{instructions,cycles}");
	check_events(&other, "CPI", 4, true, "{cycles,instructions}");
	check_events(&other, "Summary,branch_misses_per_1000", 4, true,
		     "{instructions,cycles},branch-misses");
	check_events(&skylake, "tma_retiring", 4, true,
		     "{cpu/event=0xc2,umask=0x2,name=UOPS_RETIRED.RETIRE_SLOTS/,cycles}");
	check_events(&skylake, "TopdownL1", 4, true,
		     "{cpu/event=0x9c,umask=0x1,name=IDQ_UOPS_NOT_DELIVERED.CORE/,cycles,"
		     "cpu/event=0xe,umask=0x1,name=UOPS_ISSUED.ANY/,"
		     "cpu/event=0xc2,umask=0x2,name=UOPS_RETIRED.RETIRE_SLOTS/,"
		     "cpu/event=0xd,umask=0x1,name=INT_MISC.RECOVERY_CYCLES/}");
	/* With two threads there are six of them: too many for one group. */
	skylake.smt_on = true;
	check_events(&skylake, "tma_frontend_bound", 2, true,
		     "cpu/event=0x9c,umask=0x1,name=IDQ_UOPS_NOT_DELIVERED.CORE/,cycles,"
		     "cpu/event=0x3c,umask=0x2,name=CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE/,"
		     "cpu/event=0x3c,umask=0x1,name=CPU_CLK_UNHALTED.REF_XCLK/");
}

Test(metric, names_that_are_not_there)
{
	struct metric_machine skylake = machine_of("GenuineIntel", 6, 0x5e);
	struct metric_machine hybrid = machine_of("GenuineIntel", 6, 0x97);
	struct metric_machine zen4 = machine_of("AuthenticAMD", 0x19, 0x11);
	struct metric_machine zen3 = machine_of("AuthenticAMD", 0x19, 0x01);
	static const char *const names[] = { "", "insn_per_cycle,", "Summary,no,LLC", "tma_" };
	struct metric_choice choice;
	const char *unknown;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cr_assert_eq(metric_choose(&skylake, names[i], &choice, &unknown), -ENOENT);
		metric_choice_free(&choice);
	}
	cr_assert_eq(metric_choose(&skylake, names[2], &choice, &unknown), -ENOENT);
	cr_assert_str_eq(unknown, "no,LLC");
	metric_choice_free(&choice);
	hybrid.is_hybrid = true;
	cr_assert_null(metric_core_of(&hybrid));
	cr_assert_null(metric_core_of(&zen3));
	cr_assert_str_eq(metric_core_of(&zen4)->name, "Zen 4");
	cr_assert_eq(metric_choose(&zen4, "TopdownL1", &choice, &unknown), 0);
	cr_assert_eq(choice.count, 5);
	metric_choice_free(&choice);
}

/* ------------------------------------------------------------------ values */

static double value_of(const struct metric_core *core, const char *name, bool smt_on,
		       struct given *counts)
{
	const struct metric_facts facts = { .smt_on = smt_on, .count = give, .arg = counts };
	double value = NAN;

	for (const struct metric *metric = core->metrics; metric->name; metric++)
		if (!strcmp(metric->name, name))
			cr_assert(metric_compute(metric->formula, &facts, &value), "%s", name);
	cr_assert_not(isnan(value), "%s", name);
	return value;
}

static void check_sum(const struct metric_core *core, bool smt_on, const char *const *names,
		      struct given *counts, const double *expected)
{
	double sum = 0;

	for (size_t i = 0; i < 4; i++) {
		double value = value_of(core, names[i], smt_on, counts);

		cr_assert_float_eq(value, expected[i], 1e-9, "%s: %f", names[i], value);
		sum += value;
	}
	cr_assert_float_eq(sum, 100, 1e-9);
}

static const char *const tma[] = {
	"tma_frontend_bound", "tma_bad_speculation", "tma_retiring", "tma_backend_bound",
};

/* 1,000 cycles have 4,000 slots; with a second thread half the time, these are 3,000. */
Test(metric, slots_of_skylake)
{
	struct metric_machine machine = machine_of("GenuineIntel", 6, 0x9e);
	struct given counts[] = {
		{ "cycles", 1000 }, { "IDQ_UOPS_NOT_DELIVERED.CORE", 600 },
		{ "UOPS_ISSUED.ANY", 1900 }, { "UOPS_RETIRED.RETIRE_SLOTS", 1800 },
		{ "INT_MISC.RECOVERY_CYCLES", 50 }, { "INT_MISC.RECOVERY_CYCLES_ANY", 100 },
		{ "CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE", 20 },
		{ "CPU_CLK_UNHALTED.REF_XCLK", 40 }, { NULL, 0 },
	};

	check_sum(metric_core_of(&machine), false, tma, counts,
		  (const double[]){ 15, 7.5, 45, 32.5 });
	check_sum(metric_core_of(&machine), true, tma, counts,
		  (const double[]){ 20, 10, 60, 10 });
}

Test(metric, slots_of_later_cores)
{
	struct metric_machine icelake = machine_of("GenuineIntel", 6, 0x6a);
	struct metric_machine sapphire = machine_of("GenuineIntel", 6, 0x8f);
	struct metric_machine crestmont = machine_of("GenuineIntel", 6, 0xaf);
	struct given slots[] = {
		{ "TOPDOWN.SLOTS_P", 6000 }, { "IDQ_UOPS_NOT_DELIVERED.CORE", 1200 },
		{ "UOPS_RETIRED.SLOTS", 3000 }, { "TOPDOWN.BACKEND_BOUND_SLOTS", 1500 },
		{ "TOPDOWN.MEMORY_BOUND_SLOTS", 900 }, { "TOPDOWN.BR_MISPREDICT_SLOTS", 240 },
		{ NULL, 0 },
	};
	struct given atom[] = {
		{ "cycles", 1000 }, { "TOPDOWN_FE_BOUND.ALL", 600 },
		{ "TOPDOWN_BAD_SPECULATION.ALL", 300 }, { "TOPDOWN_RETIRING.ALL", 4500 },
		{ "TOPDOWN_BE_BOUND.ALL", 600 }, { NULL, 0 },
	};

	check_sum(metric_core_of(&icelake), false, tma, slots,
		  (const double[]){ 20, 5, 50, 25 });
	check_sum(metric_core_of(&sapphire), true, tma, slots,
		  (const double[]){ 20, 5, 50, 25 });
	cr_assert_float_eq(value_of(metric_core_of(&sapphire), "tma_memory_bound", false, slots),
			   15, 1e-9);
	cr_assert_float_eq(value_of(metric_core_of(&sapphire), "tma_core_bound", false, slots),
			   10, 1e-9);
	check_sum(metric_core_of(&crestmont), false, tma, atom,
		  (const double[]){ 10, 5, 75, 10 });
}

Test(metric, slots_of_zen)
{
	static const char *const names[] = {
		"frontend_bound", "bad_speculation", "retiring", "backend_bound",
	};
	struct metric_machine zen4 = machine_of("AuthenticAMD", 0x19, 0x61);
	struct metric_machine zen5 = machine_of("AuthenticAMD", 0x1a, 0x44);
	struct given counts[] = {
		{ "ls_not_halted_cyc", 1000 },
		{ "de_no_dispatch_per_slot.no_ops_from_frontend", 1200 },
		{ "de_no_dispatch_per_slot.backend_stalls", 1800 },
		{ "de_no_dispatch_per_slot.smt_contention", 0 },
		{ "de_src_op_disp.all", 3000 }, { "ex_ret_ops", 2400 }, { NULL, 0 },
	};

	check_sum(metric_core_of(&zen4), false, names, counts,
		  (const double[]){ 20, 10, 40, 30 });
	cr_assert_float_eq(value_of(metric_core_of(&zen5), "retiring", false, counts), 30, 1e-9);
}
