// SPDX-License-Identifier: GPL-2.0-only
/*
 * The forms in which "pmuctl stat" prints, to the byte where programs read
 * them.
 */
/* sources: tools/stat/print.c tools/stat/metric_only.c tools/stat/metrics.c */
/* sources: tools/stat/openmetrics.c tools/evlist/times.c lib/src/explain.c */
/* sources: tools/metric/choose.c tools/metric/expression.c tools/metric/tables.c */
/* sources: tools/symbols/names.c tools/symbols/clean.c */
/* libs: -ljansson -lm */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "stat_print.h"

static void check_start(const char *text, const char *start)
{
	cr_assert_eq(strncmp(text, start, strlen(start)), 0, "%s", text);
}

Test(tool_print, thousands)
{
	static const struct {
		uint64_t value;
		const char *text;
	} all[] = {
		{ 0, "0" }, { 7, "7" }, { 999, "999" }, { 1000, "1,000" },
		{ 12345, "12,345" }, { 123456, "123,456" },
		{ 1234567, "1,234,567" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};
	char buffer[27], small[5];

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		format_thousands(all[i].value, buffer, sizeof(buffer));
		cr_assert_str_eq(buffer, all[i].text);
	}
	format_thousands(1234567, small, sizeof(small));
	cr_assert_str_eq(small, "1,23");
	format_thousands(1, small, 1);
	cr_assert_str_eq(small, "");
}

Test(tool_print, csv_columns)
{
	struct stat_row rows[] = {
		hw("cycles", PERF_COUNT_HW_CPU_CYCLES, 1000),
		hw("instructions", PERF_COUNT_HW_INSTRUCTIONS, 1230),
		hw("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 400),
		hw("branch-misses", PERF_COUNT_HW_BRANCH_MISSES, 10),
		hw("ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES, 5),
		hw("bus-cycles", PERF_COUNT_HW_BUS_CYCLES, 9),
	};
	struct stat_result result = { .what = "'x'", .rows = rows, .count = 6 };
	char *text;

	rows[3].running = 750;
	rows[4].state = ROW_NOT_SUPPORTED;
	rows[4].enabled = rows[4].running = 0;
	rows[5].state = ROW_NOT_COUNTED;
	rows[5].running = 0;
	text = printed(&result, 'c', ",");
	cr_assert_str_eq(text,
		"1000,,cycles,1000,100.00,,\n"
		"1230,,instructions,1000,100.00,1.23,insn per cycle\n"
		"400,,branches,1000,100.00,,\n"
		"10,,branch-misses,750,75.00,2.50,of all branches\n"
		"<not supported>,,ref-cycles,0,100.00,,\n"
		"<not counted>,,bus-cycles,0,0.00,,\n");
	free(text);
}

Test(tool_print, csv_name_with_a_separator_stays_one_column)
{
	struct stat_row row = hw("cpu/event=1,umask=2/", 0, 5);
	struct stat_result result = { .what = "", .rows = &row, .count = 1 };
	char *text = printed(&result, 'c', ",");

	cr_assert_str_eq(text, "5,,\"cpu/event=1,umask=2/\",1000,100.00,,\n");
	free(text);
	text = printed(&result, 'c', ";");
	cr_assert_str_eq(text, "5;;cpu/event=1,umask=2/;1000;100.00;;\n");
	free(text);
	row.name = "a\"b";
	text = printed(&result, 'c', ";");
	cr_assert_str_eq(text, "5;;\"a\"\"b\";1000;100.00;;\n");
	free(text);
}

Test(tool_print, metrics_need_a_partner_of_the_same_levels)
{
	struct stat_row rows[] = {
		hw("cycles:u", PERF_COUNT_HW_CPU_CYCLES, 1000),
		hw("instructions:k", PERF_COUNT_HW_INSTRUCTIONS, 2000),
		hw("cycles:k", PERF_COUNT_HW_CPU_CYCLES, 4000),
	};
	struct stat_result result = { .what = "", .rows = rows, .count = 2 };
	struct row_note note;

	rows[0].attr.exclude_kernel = 1;
	rows[1].attr.exclude_user = 1;
	rows[2].attr.exclude_user = 1;
	cr_assert_not(row_note(&result, &rows[1], 0, &note));
	result.count = 3;
	cr_assert(row_note(&result, &rows[1], 0, &note));
	cr_assert_float_eq(note.value, 0.5, 1e-9);
	cr_assert_str_eq(note.unit, "insn per cycle");
	rows[2].value = 0;
	cr_assert_not(row_note(&result, &rows[1], 0, &note));
	rows[2].value = 1;
	rows[2].state = ROW_NOT_COUNTED;
	cr_assert_not(row_note(&result, &rows[1], 0, &note));
}

Test(tool_print, json_has_the_keys_of_perf)
{
	static const char *const keys[] = { "counter-value", "unit", "event",
		"event-runtime", "pcnt-running", "metric-value", "metric-unit" };
	struct stat_row rows[] = {
		hw("cycles", PERF_COUNT_HW_CPU_CYCLES, UINT64_MAX),
		hw("instructions", PERF_COUNT_HW_INSTRUCTIONS, 5),
		hw("ref-\"cycles\"", PERF_COUNT_HW_REF_CPU_CYCLES, 5),
	};
	struct stat_result result = { .what = "", .rows = rows, .count = 3 };
	char *text, *save, *line;
	size_t lines = 0;

	rows[1].running = 333;
	rows[2].state = ROW_NOT_SUPPORTED;
	text = printed(&result, 'j', NULL);
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

		cr_assert(json_is_object(object), "%s", line);
		cr_assert_eq(json_object_size(object), ARRAY_LEN(keys));
		for (size_t i = 0; i < ARRAY_LEN(keys); i++)
			cr_assert_not_null(json_object_get(object, keys[i]));
		cr_assert_str_eq(json_string_value(json_object_get(object, "event")),
				 rows[lines].name);
		if (lines == 0)
			cr_assert_str_eq(json_string_value(json_object_get(object, "counter-value")),
					 "18446744073709551615.000000");
		if (lines == 1)
			cr_assert_float_eq(json_real_value(json_object_get(object, "pcnt-running")),
					   33.3, 1e-9);
		if (lines == 2)
			cr_assert_str_eq(json_string_value(json_object_get(object, "counter-value")),
					 "<not supported>");
		json_decref(object);
		lines++;
	}
	cr_assert_eq(lines, 3);
	free(text);
}

Test(tool_print, text_for_people)
{
	struct stat_row rows[] = {
		hw("cycles", PERF_COUNT_HW_CPU_CYCLES, 1000000),
		hw("instructions", PERF_COUNT_HW_INSTRUCTIONS, 1234567),
		hw("branch-misses", PERF_COUNT_HW_BRANCH_MISSES, 3),
	};
	struct stat_result result = {
		.what = "'gzip file'", .rows = rows, .count = 3,
		.elapsed = 1.5, .has_usage = true, .user = 1.25, .system = 0.125,
	};
	char *text;

	rows[2].running = 500;
	text = printed(&result, 't', NULL);
	cr_assert_str_eq(text,
		"\n Performance counter stats for 'gzip file':\n\n"
		"         1,000,000      cycles                   \n"
		"         1,234,567      instructions              #    1.23  insn per cycle\n"
		"                 3      branch-misses              (50.00%)\n"
		"\n       1.500000000 seconds time elapsed\n\n"
		"       1.250000000 seconds user\n"
		"       0.125000000 seconds sys\n\n");
	free(text);
	result.has_usage = false;
	text = printed(&result, 't', NULL);
	cr_assert_null(strstr(text, "user"));
	free(text);
}

/* Two events on two CPUs, one of which was never there */
static void fill_cpus(struct stat_row *rows)
{
	static const int cpus[] = { 0, 3, 7 };

	for (int i = 0; i < 3; i++) {
		rows[i] = hw("cycles", PERF_COUNT_HW_CPU_CYCLES,
			     1000 * (uint64_t)(i + 1));
		rows[3 + i] = hw("instructions", PERF_COUNT_HW_INSTRUCTIONS, 3000);
		rows[i].cpu = cpus[i];
		rows[3 + i].cpu = cpus[i];
		rows[3 + i].running = 500;
	}
	rows[2].state = ROW_ABSENT;
	rows[5].state = ROW_ABSENT;
}

Test(tool_print, a_row_for_each_cpu_with_the_ratio_of_that_cpu)
{
	struct stat_row rows[6];
	struct stat_result result = { .what = "'system wide'", .rows = rows,
				      .count = 6, .elapsed = 2 };
	char *text;

	fill_cpus(rows);
	text = printed(&result, 't', NULL);
	cr_assert_str_eq(text,
		"\n Performance counter stats for 'system wide':\n\n"
		"CPU0                    1,000      cycles                   \n"
		"CPU3                    2,000      cycles                   \n"
		"CPU0                    3,000      instructions              #    3.00  insn per cycle  (50.00%)\n"
		"CPU3                    3,000      instructions              #    1.50  insn per cycle  (50.00%)\n"
		"\n       2.000000000 seconds time elapsed\n\n");
	free(text);
	text = printed(&result, 'c', ",");
	cr_assert_str_eq(text,
		"CPU0,1000,,cycles,1000,100.00,,\n"
		"CPU3,2000,,cycles,1000,100.00,,\n"
		"CPU0,3000,,instructions,500,50.00,3.00,insn per cycle\n"
		"CPU3,3000,,instructions,500,50.00,1.50,insn per cycle\n");
	free(text);
	text = printed(&result, 'j', NULL);
	check_start(text, "{\"cpu\": \"0\", \"counter-value\": \"1000.000000\", ");
	cr_assert(strstr(text, "\n{\"cpu\": \"3\","));
	cr_assert_null(strstr(text, "\"7\""));
	free(text);
}

Test(tool_print, intervals_have_the_time_before_all_else)
{
	struct stat_row rows[6];
	struct stat_result result = { .what = "'x'", .rows = rows, .count = 1,
				      .elapsed = 1.25, .is_interval = true,
				      .has_heading = true };
	char *text;

	rows[0] = hw("cycles", PERF_COUNT_HW_CPU_CYCLES, 12345);
	text = printed(&result, 't', NULL);
	cr_assert_str_eq(text,
		"#           time             counts      events\n"
		"     1.250000000             12,345      cycles                   \n");
	free(text);
	result.has_heading = false;
	text = printed(&result, 't', NULL);
	cr_assert_str_eq(text,
		"     1.250000000             12,345      cycles                   \n");
	free(text);
	text = printed(&result, 'c', ";");
	cr_assert_str_eq(text, "     1.250000000;12345;;cycles;1000;100.00;;\n");
	free(text);
	text = printed(&result, 'j', NULL);
	check_start(text, "{\"interval\": 1.25, \"counter-value\": ");
	free(text);
	fill_cpus(rows);
	result.aggregate = AGGREGATE_CPU;
	result.has_heading = true;
	text = printed(&result, 't', NULL);
	cr_assert_str_eq(text,
		"#           time CPU                    counts      events\n"
		"     1.250000000 CPU0                    1,000      cycles                   \n");
	free(text);
	text = printed(&result, 'c', ",");
	cr_assert_str_eq(text, "     1.250000000,CPU0,1000,,cycles,1000,100.00,,\n");
	free(text);
}

Test(tool_print, repeats_have_a_deviation)
{
	struct stat_row rows[] = {
		hw("cycles", PERF_COUNT_HW_CPU_CYCLES, 1000),
		hw("ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES, 0),
	};
	struct stat_result result = { .what = "'x'", .rows = rows, .count = 2,
				      .elapsed = 1.5, .runs = 4,
				      .elapsed_deviation = 0.0125 };
	char *text;

	rows[0].deviation = 1.236;
	rows[0].running = 250;
	rows[1].state = ROW_NOT_SUPPORTED;
	text = printed(&result, 't', NULL);
	cr_assert_str_eq(text,
		"\n Performance counter stats for 'x' (4 runs):\n\n"
		"             1,000      cycles                     ( +-  1.24% )  (25.00%)\n"
		"   <not supported>      ref-cycles               \n"
		"\n             1.500 +- 0.013 seconds time elapsed  ( +-  0.83% )\n\n");
	free(text);
	text = printed(&result, 'c', ",");
	cr_assert_str_eq(text,
		"1000,,cycles,1.24%,250,25.00,,\n"
		"<not supported>,,ref-cycles,0.00%,1000,100.00,,\n");
	free(text);
	text = printed(&result, 'j', NULL);
	cr_assert(strstr(text, "\"event\": \"cycles\", \"variance\": 1.24, \"event-runtime\": 250"),
		  "%s", text);
	free(text);
	result.elapsed_deviation = 0;
	text = printed(&result, 't', NULL);
	cr_assert(strstr(text, "1.500000000 +- 0.000000000 seconds"), "%s", text);
	free(text);
	result.elapsed_deviation = 123;
	text = printed(&result, 't', NULL);
	cr_assert(strstr(text, " 2 +- 123 seconds"), "%s", text);
	free(text);
}

Test(tool_print, a_ratio_is_of_the_same_group_if_there_is_one)
{
	struct stat_row rows[] = {
		hw("cycles", PERF_COUNT_HW_CPU_CYCLES, 1000),
		hw("instructions", PERF_COUNT_HW_INSTRUCTIONS, 8000),
		hw("cycles", PERF_COUNT_HW_CPU_CYCLES, 2000),
	};
	struct stat_result result = { .what = "", .rows = rows, .count = 3 };
	struct row_note note;

	rows[1].leader = 1;
	rows[2].leader = 1;
	cr_assert(row_note(&result, &rows[1], 0, &note));
	cr_assert_float_eq(note.value, 4, 1e-9);
	rows[2].leader = 2;
	cr_assert(row_note(&result, &rows[1], 0, &note));
	cr_assert_float_eq(note.value, 8, 1e-9);
}

/* Clocks tell milliseconds, as perf's do, to the last nanosecond; nothing else does. */
Test(tool_print, clocks_have_a_unit)
{
	char name[] = "a-name";

	for (uint64_t config = 0; config < PERF_COUNT_SW_MAX; config++) {
		bool is_clock = config == PERF_COUNT_SW_CPU_CLOCK ||
				config == PERF_COUNT_SW_TASK_CLOCK;
		struct stat_row row = hw(name, config, 1234567);
		const struct stat_result result = { .what = "x", .rows = &row, .count = 1 };
		char *text;

		row.attr.type = PERF_TYPE_SOFTWARE;
		text = printed(&result, 'c', ",");
		check_start(text, is_clock ? "1.234567,msec,a-name," : "1234567,,a-name,");
		free(text);
		text = printed(&result, 't', NULL);
		cr_expect(strstr(text, is_clock ? "              1.23 msec a-name" :
						  "         1,234,567      a-name"), "%s", text);
		free(text);
		text = printed(&result, 'j', NULL);
		cr_expect(strstr(text, is_clock ? "\"unit\": \"msec\"" : "\"unit\": \"\""), "%s",
			  text);
		cr_expect(strstr(text, is_clock ? "\"1.234567\"" : "\"1234567.000000\""), "%s",
			  text);
		free(text);
	}
}

static struct stat_row sw(char *name, uint64_t config, uint64_t value)
{
	struct stat_row row = hw(name, config, value);

	row.attr.type = PERF_TYPE_SOFTWARE;
	return row;
}

/* They are no rates, whatever clock is beside them. */
Test(tool_print, times_have_a_unit)
{
	struct stat_row rows[] = {
		sw("task-clock", PERF_COUNT_SW_TASK_CLOCK, 2000000),
		sw("duration_time", PERF_COUNT_SW_DUMMY, 12345678),
		sw("user_time", PERF_COUNT_SW_DUMMY, 0),
	};
	struct stat_result result = { .what = "'x'", .rows = rows, .count = 3, .elapsed = 1 };
	char *text;

	rows[2].state = ROW_NOT_COUNTED;
	text = printed(&result, 't', NULL);
	cr_assert_not_null(strstr(text, "        12,345,678 ns   duration_time            \n"
				  "     <not counted>      user_time                \n"), "%s", text);
	free(text);
	text = printed(&result, 'c', ",");
	cr_assert_not_null(strstr(text, "\n12345678,ns,duration_time,1000,100.00,,\n"), "%s", text);
	free(text);
	text = printed(&result, 'j', NULL);
	cr_assert_not_null(strstr(text, "\"counter-value\": \"12345678.000000\", \"unit\": \"ns\", \"event\": \"duration_time\""),
			   "%s", text);
	free(text);
}

/* 2 s of CPU time in 4 s: what is counted beside it is told by that time. */
Test(tool_print, a_clock_gives_rates)
{
	struct stat_row rows[] = {
		sw("task-clock", PERF_COUNT_SW_TASK_CLOCK, 2000000000),
		hw("cycles", PERF_COUNT_HW_CPU_CYCLES, 6000000000),
		sw("page-faults", PERF_COUNT_SW_PAGE_FAULTS, 5000),
		sw("context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, 3),
		hw("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 8000000),
		hw("instructions", PERF_COUNT_HW_INSTRUCTIONS, 3000000000),
	};
	static const struct {
		double value;
		const char *unit;
	} expected[] = {
		{ 0.5, "CPUs utilized" }, { 3, "GHz" }, { 2.5, "K/sec" }, { 1.5, "/sec" },
		{ 4, "M/sec" }, { 0.5, "insn per cycle" },
	};
	struct stat_result result = { .what = "", .rows = rows, .count = 6, .elapsed = 4 };
	struct row_note note;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cr_assert(row_note(&result, &rows[i], 0, &note), "%s", rows[i].name);
		cr_assert_float_eq(note.value, expected[i].value, 1e-9, "%s", rows[i].name);
		cr_assert_str_eq(note.unit, expected[i].unit);
		cr_assert_not(note.is_percentage);
	}
	/* An interval of 1 s that ended after 4 s */
	result.duration = 1;
	cr_assert(row_note(&result, &rows[0], 0, &note));
	cr_assert_float_eq(note.value, 2, 1e-9);
	/* The clock of another CPU tells nothing. */
	rows[2].cpu = 1;
	cr_assert_not(row_note(&result, &rows[2], 0, &note));
	rows[0].state = ROW_NOT_COUNTED;
	cr_assert_not(row_note(&result, &rows[1], 0, &note));
}

Test(tool_print, misses_are_a_part_of_their_own_accesses)
{
	struct stat_row rows[] = {
		hw("L1-dcache-load-misses", PERF_COUNT_HW_CACHE_L1D |
		   PERF_COUNT_HW_CACHE_RESULT_MISS << 16, 25),
		hw("L1-dcache-loads", PERF_COUNT_HW_CACHE_L1D, 100),
		hw("LLC-loads", PERF_COUNT_HW_CACHE_LL, 1000),
	};
	struct stat_result result = { .what = "", .rows = rows, .count = 3 };
	struct row_note note;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		rows[i].attr.type = PERF_TYPE_HW_CACHE;
	cr_assert(row_note(&result, &rows[0], 0, &note));
	cr_assert_float_eq(note.value, 25, 1e-9);
	cr_assert_str_eq(note.unit, "of all L1-dcache accesses");
	cr_assert(note.is_percentage);
	cr_assert_not(row_note(&result, &rows[1], 0, &note));
}

Test(tool_print, a_row_for_each_core_or_thread)
{
	struct stat_row rows[] = {
		hw("cycles", PERF_COUNT_HW_CPU_CYCLES, 1000),
		hw("cycles", PERF_COUNT_HW_CPU_CYCLES, 2000),
		hw("instructions", PERF_COUNT_HW_INSTRUCTIONS, 500),
	};
	struct stat_result result = { .what = "", .rows = rows, .count = 3,
				      .aggregate = AGGREGATE_CORE, .plain_numbers = true };
	char *text;

	rows[0].where = "S0-D0-C0";
	rows[1].where = "S0-D0-C1";
	rows[2].where = "S0-D0-C1";
	rows[0].cpus = rows[1].cpus = rows[2].cpus = 2;
	text = printed(&result, 'c', ",");
	cr_assert_str_eq(text,
		"S0-D0-C0,2,1000,,cycles,1000,100.00,,\n"
		"S0-D0-C1,2,2000,,cycles,1000,100.00,,\n"
		"S0-D0-C1,2,500,,instructions,1000,100.00,0.25,insn per cycle\n");
	free(text);
	text = printed(&result, 't', NULL);
	cr_assert(strstr(text, "\nS0-D0-C1        2               2000      cycles"), "%s", text);
	free(text);
	text = printed(&result, 'j', NULL);
	check_start(text, "{\"core\": \"S0-D0-C0\", \"aggregate-number\": 2, \"counter-value\"");
	free(text);
	result.aggregate = AGGREGATE_THREAD;
	result.count = 1;
	rows[0].where = "a,b-12";
	rows[0].cpus = 0;
	text = printed(&result, 'c', ",");
	cr_assert_str_eq(text, "\"a,b-12\",1000,,cycles,1000,100.00,,\n");
	free(text);
	text = printed(&result, 'j', NULL);
	check_start(text, "{\"thread\": \"a,b-12\", \"counter-value\"");
	free(text);
}

/* JSON, and OpenMetrics, are UTF-8; a cgroup's name is whatever bytes the system has for it. */
Test(tool_print, names_that_are_no_text)
{
	struct stat_row rows[] = { hw("cycles\xfe", PERF_COUNT_HW_CPU_CYCLES, 1000) };
	struct stat_result result = { .what = "'x'", .rows = rows, .count = 1, .has_cgroups = true };
	char *text = NULL;
	size_t size;
	FILE *out;

	rows[0].cgroup = "a\xff\033[2Jb\xc3\xa4";
	text = printed(&result, 'j', NULL);
	cr_assert_not_null(strstr(text, "\"event\": \"cycles?\", \"cgroup\": \"a??[2Jb\xc3\xa4\""),
			   "%s", text);
	free(text);
	out = open_memstream(&text, &size);
	print_openmetrics(out, &result);
	fclose(out);
	cr_assert_not_null(strstr(text, "event=\"cycles?\",cgroup=\"a??[2Jb\xc3\xa4\""), "%s", text);
	free(text);
}

Test(tool_print, openmetrics)
{
	struct stat_row rows[] = {
		hw("cycles", PERF_COUNT_HW_CPU_CYCLES, UINT64_MAX),
		hw("a \"b\\\n", PERF_COUNT_HW_INSTRUCTIONS, 0),
		hw("ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES, 5),
		hw("task-clock", PERF_COUNT_SW_TASK_CLOCK, 7),
		hw("cycles", PERF_COUNT_HW_CPU_CYCLES, 3),
	};
	struct stat_result result = {
		.what = "'x'", .rows = rows, .count = 5, .elapsed = 1.5,
		.aggregate = AGGREGATE_THREAD,
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	rows[1].cpu = 2;
	rows[1].enabled = 12000000034;
	rows[1].running = 2000000000;
	rows[2].state = ROW_NOT_SUPPORTED;
	rows[3].attr.type = PERF_TYPE_SOFTWARE;
	rows[3].where = "a\"-12";
	print_openmetrics(out, &result);
	fclose(out);
	cr_assert_str_eq(text,
		"# TYPE pmuctl_events counter\n"
		"# HELP pmuctl_events Events that were counted; estimates where they were running for less time than enabled.\n"
		"pmuctl_events_total{event=\"cycles\",unit=\"\"} 18446744073709551615\n"
		"pmuctl_events_total{event=\"a \\\"b\\\\\\n\",cpu=\"2\",unit=\"\"} 0\n"
		"pmuctl_events_total{event=\"task-clock\",thread=\"a\\\"-12\",unit=\"ns\"} 7\n"
		"# TYPE pmuctl_event_enabled_seconds counter\n"
		"# UNIT pmuctl_event_enabled_seconds seconds\n"
		"# HELP pmuctl_event_enabled_seconds How long events were to be counted.\n"
		"pmuctl_event_enabled_seconds_total{event=\"cycles\"} 0.000001000\n"
		"pmuctl_event_enabled_seconds_total{event=\"a \\\"b\\\\\\n\",cpu=\"2\"} 12.000000034\n"
		"pmuctl_event_enabled_seconds_total{event=\"task-clock\",thread=\"a\\\"-12\"} 0.000001000\n"
		"# TYPE pmuctl_event_running_seconds counter\n"
		"# UNIT pmuctl_event_running_seconds seconds\n"
		"# HELP pmuctl_event_running_seconds How long events were on a counter.\n"
		"pmuctl_event_running_seconds_total{event=\"cycles\"} 0.000001000\n"
		"pmuctl_event_running_seconds_total{event=\"a \\\"b\\\\\\n\",cpu=\"2\"} 2.000000000\n"
		"pmuctl_event_running_seconds_total{event=\"task-clock\",thread=\"a\\\"-12\"} 0.000001000\n"
		"# TYPE pmuctl_elapsed_seconds gauge\n"
		"# UNIT pmuctl_elapsed_seconds seconds\n"
		"# HELP pmuctl_elapsed_seconds Wall clock time of the measurement.\n"
		"pmuctl_elapsed_seconds 1.500000000\n# EOF\n");
	free(text);
}
