// SPDX-License-Identifier: GPL-2.0-only
/*
 * The results of "pmuctl stat" as OpenMetrics 1.0 has them, which Prometheus and what else
 * collects metrics reads, as from a file of its node exporter.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"
#include "symbols/names.h"

#define NS_PER_SECOND 1000000000ULL

/* Prints the value of a row in a family. */
typedef void (*print_value)(FILE *out, const struct stat_row *row);

static void print_line(FILE *out, char *line)
{
	names_clean(line, strlen(line));
	for (; *line; line++) {
		if (*line == '"' || *line == '\\')
			fputc('\\', out);
		fputc(*line, out);
	}
}

/* A name that need not be text */
static void print_label(FILE *out, const char *text)
{
	char *copy = strdup(text), *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		print_line(out, line);
		if (rest)
			fputs("\\n", out);
	}
	free(copy);
}

static void print_count(FILE *out, const struct stat_row *row)
{
	fprintf(out, "%" PRIu64, row->value);
}

static void print_seconds(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%09" PRIu64, (uint64_t)(ns / NS_PER_SECOND),
		(uint64_t)(ns % NS_PER_SECOND));
}

static void print_enabled(FILE *out, const struct stat_row *row)
{
	print_seconds(out, row->enabled);
}

static void print_running(FILE *out, const struct stat_row *row)
{
	print_seconds(out, row->running);
}

static bool is_same_place(const struct stat_row *a, const struct stat_row *b)
{
	if (!a->where || !b->where)
		return a->cpu == b->cpu && a->where == b->where;
	return !strcmp(a->where, b->where);
}

/* Of which cgroup, CPU, core or thread a row is, if not of all targets */
static void print_place(FILE *out, const struct stat_result *result, const struct stat_row *row)
{
	static const char *const names[] = {
		[AGGREGATE_CORE] = "core", [AGGREGATE_DIE] = "die", [AGGREGATE_SOCKET] = "socket",
		[AGGREGATE_NODE] = "node", [AGGREGATE_THREAD] = "thread",
	};

	if (row->cgroup) {
		fputs(",cgroup=\"", out);
		print_label(out, row->cgroup);
		fputc('"', out);
	}
	if (row->cpu != ROW_ALL_TARGETS)
		fprintf(out, ",cpu=\"%d\"", row->cpu);
	if (!row->where)
		return;
	fprintf(out, ",%s=\"", names[result->aggregate]);
	print_label(out, row->where);
	fputc('"', out);
}

/* A series must be there once: an event that was given twice is counted twice. */
static bool is_told(const struct stat_result *result, size_t number)
{
	const struct stat_row *row = &result->rows[number];

	for (size_t i = 0; i < number; i++)
		if (result->rows[i].state == ROW_COUNTED && is_same_place(&result->rows[i], row) &&
		    row_same_cgroup(&result->rows[i], row) &&
		    !strcmp(result->rows[i].name, row->name))
			return true;
	return false;
}

/* What was not counted has no value, and no series: 0 would be a lie. */
static void print_family(FILE *out, const struct stat_result *result, const char *name,
			 bool is_count, print_value print)
{
	for (size_t i = 0; i < result->count; i++) {
		const struct stat_row *row = &result->rows[i];

		if (row->state != ROW_COUNTED || is_told(result, i))
			continue;
		fprintf(out, "%s_total{event=\"", name);
		print_label(out, row->name);
		fputc('"', out);
		print_place(out, result, row);
		if (is_count)
			fprintf(out, ",unit=\"%s\"",
				row_is_clock(row) || row_is_time(row) ? "ns" : "");
		fputs("} ", out);
		print(out, row);
		fputc('\n', out);
	}
}

/* Is it the first row of its place? */
static bool is_new_place(const struct stat_result *result, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (is_same_place(&result->rows[i], &result->rows[number]) &&
		    row_same_cgroup(&result->rows[i], &result->rows[number]))
			return false;
	return true;
}

static void print_metrics(FILE *out, const struct stat_result *result)
{
	fputs("# TYPE pmuctl_metric gauge\n"
	      "# HELP pmuctl_metric What was computed of several events.\n", out);
	for (size_t i = 0; i < result->count; i++) {
		const struct stat_row *row = &result->rows[i];
		double value;

		if (row->state == ROW_ABSENT || !is_new_place(result, i))
			continue;
		for (size_t metric = 0; metric < result->metrics->count; metric++) {
			if (!result_metric(result, row, metric, &value))
				continue;
			fprintf(out, "pmuctl_metric{metric=\"%s\",unit=\"%s\"",
				result->metrics->list[metric]->name,
				result->metrics->list[metric]->unit);
			print_place(out, result, row);
			fprintf(out, "} %.6f\n", value);
		}
	}
}

/**
 * print_openmetrics() - for monitoring
 * @out: where to.
 * @result: what, without intervals and repeats.
 */
void print_openmetrics(FILE *out, const struct stat_result *result)
{
	fputs("# TYPE pmuctl_events counter\n"
	      "# HELP pmuctl_events Events that were counted; estimates where they were running "
	      "for less time than enabled.\n", out);
	print_family(out, result, "pmuctl_events", true, print_count);
	fputs("# TYPE pmuctl_event_enabled_seconds counter\n"
	      "# UNIT pmuctl_event_enabled_seconds seconds\n"
	      "# HELP pmuctl_event_enabled_seconds How long events were to be counted.\n", out);
	print_family(out, result, "pmuctl_event_enabled_seconds", false, print_enabled);
	fputs("# TYPE pmuctl_event_running_seconds counter\n"
	      "# UNIT pmuctl_event_running_seconds seconds\n"
	      "# HELP pmuctl_event_running_seconds How long events were on a counter.\n", out);
	print_family(out, result, "pmuctl_event_running_seconds", false, print_running);
	if (result->metrics)
		print_metrics(out, result);
	fprintf(out, "# TYPE pmuctl_elapsed_seconds gauge\n"
		"# UNIT pmuctl_elapsed_seconds seconds\n"
		"# HELP pmuctl_elapsed_seconds Wall clock time of the measurement.\n"
		"pmuctl_elapsed_seconds %.9f\n# EOF\n", result->elapsed);
}
