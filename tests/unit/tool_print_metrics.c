// SPDX-License-Identifier: GPL-2.0-only
/*
 * How "pmuctl stat" prints metrics: beside the events that they are computed of.
 */
/* sources: tools/stat/print.c tools/stat/metrics.c tools/evlist/times.c tools/stat/openmetrics.c lib/src/explain.c */
/* sources: tools/stat/metric_only.c */
/* sources: tools/metric/choose.c tools/metric/expression.c tools/metric/tables.c */
/* sources: tools/symbols/names.c tools/symbols/clean.c */
/* libs: -ljansson -lm */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "stat_print.h"

/* Two metrics, both of which begin with the first of the events */
static const struct metric asked[] = {
	{ "insn_per_cycle", "Summary", "insn per cycle", "instructions / cycles", "" },
	{ "share", "Summary", "%", "100 * instructions / (instructions + cycles)", "" },
	{ "of_what_is_not_there", "Summary", "%", "branches / cycles", "" },
};

static struct stat_result with_metrics(struct stat_row *rows, size_t count)
{
	static const struct metric *list[] = { &asked[0], &asked[1], &asked[2] };
	static struct metric_choice choice = { .count = 3, .list = list };

	return (struct stat_result){
		.what = "'x'", .rows = rows, .count = count, .elapsed = 1, .metrics = &choice,
	};
}

Test(tool_print_metrics, metrics_are_beside_their_first_event)
{
	struct stat_row rows[] = {
		hw("instructions:u", PERF_COUNT_HW_INSTRUCTIONS, 300),
		hw("cycles:u", PERF_COUNT_HW_CPU_CYCLES, 100),
	};
	struct stat_result result = with_metrics(rows, 2);
	char *text = printed(&result, 't', NULL);

	cr_assert_not_null(strstr(text,
		"               300      instructions:u            #    3.00  insn_per_cycle\n"
		"                                                  #   75.00% share\n"
		"               100      cycles:u                 \n"), "%s", text);
	free(text);
	text = printed(&result, 'c', ",");
	cr_assert_str_eq(text, "300,,instructions:u,1000,100.00,3.00,insn_per_cycle\n"
			       ",,,,,75.00,%  share\n"
			       "100,,cycles:u,1000,100.00,,\n");
	free(text);
	text = printed(&result, 'j', NULL);
	cr_assert_not_null(strstr(text, "\"metric-value\": 3.0, \"metric-unit\": \"insn_per_cycle\"}\n"
		"{\"metric-value\": 75.0, \"metric-unit\": \"%  share\"}\n{\"counter-value\": \"100."),
		"%s", text);
	free(text);
}

/* What else was asked for may have the same names, and count other levels. */
Test(tool_print_metrics, metrics_are_of_their_own_events)
{
	struct stat_row rows[] = {
		hw("cycles:u", PERF_COUNT_HW_CPU_CYCLES, 7),
		hw("instructions", PERF_COUNT_HW_INSTRUCTIONS, 11),
		hw("instructions", PERF_COUNT_HW_INSTRUCTIONS, 300),
		hw("cycles", PERF_COUNT_HW_CPU_CYCLES, 100),
	};
	struct stat_result result = with_metrics(rows, 4);
	char *text = NULL, *first;
	struct row_note note;
	size_t size;
	FILE *out;

	cr_assert(!row_note(&result, &rows[1], 0, &note) || !note.is_metric);
	cr_assert(row_note(&result, &rows[2], 0, &note));
	cr_assert(note.is_metric);
	cr_assert_float_eq(note.value, 3, 1e-9);
	out = open_memstream(&text, &size);
	print_openmetrics(out, &result);
	fclose(out);
	first = strstr(text, "pmuctl_metric{metric=\"insn_per_cycle\",unit=\"insn per cycle\"} 3.000000\n");
	cr_assert_not_null(first, "%s", text);
	cr_assert_null(strstr(first + 1, "pmuctl_metric{metric=\"insn_per_cycle\""), "%s", text);
	free(text);
}

Test(tool_print_metrics, metrics_of_each_cpu)
{
	struct stat_row rows[] = {
		hw("instructions", PERF_COUNT_HW_INSTRUCTIONS, 300),
		hw("instructions", PERF_COUNT_HW_INSTRUCTIONS, 500),
		hw("cycles", PERF_COUNT_HW_CPU_CYCLES, 100),
		hw("cycles", PERF_COUNT_HW_CPU_CYCLES, 0),
	};
	struct stat_result result = with_metrics(rows, 4);
	char *text = NULL;
	struct row_note note;
	size_t size;
	FILE *out;

	for (int i = 0; i < 4; i++)
		rows[i].cpu = i % 2;
	result.aggregate = AGGREGATE_CPU;
	cr_assert(row_note(&result, &rows[0], 0, &note));
	cr_assert_float_eq(note.value, 3, 1e-9);
	/* Nothing can be said of CPU 1 but the share. */
	cr_assert(row_note(&result, &rows[1], 0, &note));
	cr_assert_str_eq(note.unit, "share");
	cr_assert_not(row_note(&result, &rows[1], 1, &note));
	cr_assert_not(row_note(&result, &rows[2], 0, &note));
	out = open_memstream(&text, &size);
	print_openmetrics(out, &result);
	fclose(out);
	cr_assert_not_null(strstr(text, "# TYPE pmuctl_metric gauge\n"), "%s", text);
	cr_assert_not_null(strstr(text,
		"pmuctl_metric{metric=\"insn_per_cycle\",unit=\"insn per cycle\",cpu=\"0\"} 3.000000\n"
		"pmuctl_metric{metric=\"share\",unit=\"%\",cpu=\"0\"} 75.000000\n"
		"pmuctl_metric{metric=\"share\",unit=\"%\",cpu=\"1\"} 100.000000\n"), "%s", text);
	free(text);
}

Test(tool_print_metrics, nothing_but_metrics)
{
	struct stat_row rows[] = {
		hw("instructions:u", PERF_COUNT_HW_INSTRUCTIONS, 300),
		hw("cycles:u", PERF_COUNT_HW_CPU_CYCLES, 100),
	};
	struct stat_result result = with_metrics(rows, 2);
	char *text = printed(&result, 'm', NULL);

	cr_assert_not_null(strstr(text, "\n Performance counter stats for 'x':\n\n"
		"  insn_per_cycle     share\n"
		"            3.00    75.00%\n"
		"\n       1.000000000 seconds time elapsed\n"), "%s", text);
	free(text);
	text = printed(&result, 'm', ";");
	cr_assert_str_eq(text, "insn_per_cycle;share\n3.00;75.00\n");
	free(text);
}

/* Of some places there is less to be said; a rate is in no column. */
Test(tool_print_metrics, nothing_but_metrics_of_each_cpu)
{
	struct stat_row rows[] = {
		hw("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 50),
		hw("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0),
		hw("branch-misses", PERF_COUNT_HW_BRANCH_MISSES, 5),
		hw("branch-misses", PERF_COUNT_HW_BRANCH_MISSES, 5),
		hw("task-clock", PERF_COUNT_SW_TASK_CLOCK, 1000000000),
		hw("task-clock", PERF_COUNT_SW_TASK_CLOCK, 500000000),
	};
	struct stat_result result = { .what = "'x'", .rows = rows, .count = 6, .elapsed = 1 };
	char *text;

	for (int i = 0; i < 6; i++)
		rows[i].cpu = i % 2;
	rows[4].attr.type = rows[5].attr.type = PERF_TYPE_SOFTWARE;
	result.aggregate = AGGREGATE_CPU;
	text = printed(&result, 'm', ",");
	cr_assert_str_eq(text, "cpu,of all branches,CPUs utilized\nCPU0,10.00,1.00\nCPU1,,0.50\n");
	free(text);
	text = printed(&result, 'm', NULL);
	cr_assert_not_null(strstr(text, "CPU          of all branches  CPUs utilized\n"
					"CPU0                  10.00%           1.00\n"
					"CPU1                                   0.50\n"), "%s", text);
	free(text);
	/* Of an interval, the heading is on each page. */
	result.is_interval = true;
	text = printed(&result, 'm', ",");
	cr_assert_str_eq(text, "     1.000000000,CPU0,10.00,1.00\n     1.000000000,CPU1,,0.50\n");
	free(text);
}

static char *metrics_of(const struct stat_result *result, struct stat_row *rows, uint64_t instructions,
			enum row_state state)
{
	rows[0].value = instructions;
	rows[0].state = state;
	rows[1].value = instructions / 2;
	return printed(result, 'm', ",");
}

/* An interval in which nothing ran, or could be computed, has the columns of the others. */
Test(tool_print_metrics, columns_stay)
{
	struct stat_row rows[] = {
		hw("instructions", PERF_COUNT_HW_INSTRUCTIONS, 0),
		hw("cycles", PERF_COUNT_HW_CPU_CYCLES, 0),
		hw("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 50),
		hw("branch-misses", PERF_COUNT_HW_BRANCH_MISSES, 5),
	};
	struct stat_result result = {
		.what = "'x'", .rows = rows, .count = 4, .elapsed = 1, .is_interval = true,
		.has_heading = true,
	};
	char *text = metrics_of(&result, rows, 0, ROW_COUNTED);

	cr_assert_str_eq(text, "time,insn per cycle,of all branches\n     1.000000000,,10.00\n");
	free(text);
	result.has_heading = false;
	text = metrics_of(&result, rows, 10, ROW_COUNTED);
	cr_assert_str_eq(text, "     1.000000000,2.00,10.00\n");
	free(text);
	text = metrics_of(&result, rows, 10, ROW_NOT_COUNTED);
	cr_assert_str_eq(text, "     1.000000000,,10.00\n");
	free(text);
}

Test(tool_print_metrics, columns_are_told_apart)
{
	struct stat_row rows[] = {
		hw("instructions:u", PERF_COUNT_HW_INSTRUCTIONS, 300),
		hw("cycles:u", PERF_COUNT_HW_CPU_CYCLES, 100),
		hw("instructions:k", PERF_COUNT_HW_INSTRUCTIONS, 100),
		hw("cycles:k", PERF_COUNT_HW_CPU_CYCLES, 100),
	};
	struct stat_result result = {
		.what = "'x'", .rows = rows, .count = 4, .elapsed = 1, .has_cgroups = true,
	};
	char *text;

	for (int i = 0; i < 4; i++) {
		rows[i].cgroup = "a/b";
		rows[i].attr.exclude_kernel = i < 2;
		rows[i].attr.exclude_user = i >= 2;
	}
	text = printed(&result, 'm', "/");
	cr_assert_str_eq(text, "insn per cycle of instructions:u/insn per cycle of instructions:k/cgroup\n"
			       "3.00/1.00/\"a/b\"\n");
	free(text);
	result.count = 1;
	text = printed(&result, 'm', NULL);
	cr_assert_not_null(strstr(text, ":\n\n  nothing is computed of these events\n"), "%s", text);
	free(text);
}
