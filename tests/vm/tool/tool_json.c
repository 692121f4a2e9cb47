// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tool prints for programs, read as programs read it: JSON of stat, list and
 * doctor, in a guest with the driver.
 */
/* libs: -ljansson */
#include "json.h"
#include "pmu.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

Test(tool_json, stat_has_one_object_for_each_event)
{
	json_t *row = json_from("pmuctl stat -j -e instructions:u true 2>&1", 0);
	const char *value = json_string_value(json_object_get(row, "counter-value"));

	cr_assert_gt(atof(value), 1000);
	cr_assert_str_eq(json_string_value(json_object_get(row, "event")),
			 "instructions:u");
	cr_assert_gt(json_number_of(row, "event-runtime"), 0);
	cr_assert_float_eq(json_number_of(row, "pcnt-running"), 100, 1e-9);
	json_decref(row);
	row = json_from("pmuctl stat -j -e cycles:u,instructions:u true 2>&1 | tail -n 1", 0);
	cr_assert_str_eq(json_string_value(json_object_get(row, "metric-unit")),
			 "insn per cycle");
	cr_assert_gt(json_number_of(row, "metric-value"), 0);
	json_decref(row);
}

Test(tool_json, stat_of_intervals_has_the_time_and_the_cpu)
{
	json_t *row = json_from("pmuctl stat -j -I 50 -a -A -e cycles usleep 500000 2>&1", 0);
	const char *cpu = json_string_value(json_object_get(row, "cpu"));
	double first = json_number_of(row, "interval");

	cr_assert_gt(first, 0);
	cr_assert_str_eq(cpu, "0");
	json_decref(row);
	row = json_from("pmuctl stat -j -I 50 -a -A -e cycles usleep 500000 2>&1 | tail -n 1",
		  0);
	cpu = json_string_value(json_object_get(row, "cpu"));
	cr_assert_str_eq(cpu, "1");
	cr_assert_geq(json_number_of(row, "interval"), 0.5);
	json_decref(row);
}

Test(tool_json, stat_of_repeats_has_the_variance)
{
	json_t *row = json_from("pmuctl stat -j -r 3 -e instructions:u true 2>&1", 0);

	cr_assert_geq(json_number_of(row, "variance"), 0);
	cr_assert_lt(json_number_of(row, "variance"), 5);
	cr_assert_null(json_object_get(row, "interval"));
	cr_assert_null(json_object_get(row, "cpu"));
	json_decref(row);
	row = json_from("pmuctl stat -j -e instructions:u true 2>&1", 0);
	cr_assert_null(json_object_get(row, "variance"));
	json_decref(row);
}

Test(tool_json, doctor_finds_this_guest_well)
{
	json_t *all = json_from("pmuctl doctor -j", 0);
	json_t *checks = json_object_get(all, "checks");
	json_t *check;
	size_t i;

	cr_assert(json_is_true(json_object_get(all, "can_count")));
	cr_assert_gt(json_array_size(checks), 5);
	json_array_foreach(checks, i, check) {
		const char *state = json_string_value(json_object_get(check, "state"));

		/* No model of the laboratory's has been proven on a real machine. */
		if (!strcmp(json_string_value(json_object_get(check, "name")), "proven")) {
			cr_assert_str_eq(state, "note");
			continue;
		}
		cr_assert(!strcmp(state, "ok"), "%s: %s: %s",
			  json_string_value(json_object_get(check, "name")), state,
			  json_string_value(json_object_get(check, "finding")));
	}
	json_decref(all);
}

static json_t *find(json_t *list, const char *name)
{
	json_t *event;
	size_t i;

	json_array_foreach(list, i, event)
		if (!strcmp(json_string_value(json_object_get(event, "name")), name))
			return event;
	return NULL;
}

/* An event of this CPU alone, and what libpfm4 calls its PMU; NULL: it has no table of it */
static const char *own_event(const char **pmu)
{
	*pmu = raw_cpu_is_intel() ? "skl" : raw_cpu_family() == 0x19 ? "amd64_fam19h_zen3" :
								       "amd64_k8_revc";
	if (raw_cpu_is_intel())
		return raw_cpu_model() == 94 ? "INST_RETIRED:ANY_P" : NULL;
	return "RETIRED_INSTRUCTIONS";
}

Test(tool_json, list_tells_what_this_cpu_counts)
{
	json_t *list = json_from("pmuctl list -j", 0);
	const char *missing, *pmu, *event = own_event(&pmu);

	cr_assert(json_is_true(json_object_get(find(list, "instructions"), "counted")));
	pmu_missing_event(&missing);
	cr_assert(json_is_false(json_object_get(find(list, missing), "counted")), "%s", missing);
	cr_assert_str_eq(json_string_value(json_object_get(find(list, "cycles"), "alias")),
			 "cpu-cycles");
	cr_assert_str_eq(json_string_value(json_object_get(find(list, "LLC-loads"), "kind")),
			 "cache");
	if (event)
		cr_assert_str_eq(json_string_value(json_object_get(find(list, event), "pmu")), pmu);
	json_decref(list);
	list = json_from("pmuctl list -j no-such-event", 1);
	cr_assert_eq(json_array_size(list), 0);
	json_decref(list);
}
