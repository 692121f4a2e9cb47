// SPDX-License-Identifier: GPL-2.0-only
/*
 * The results of "pmuctl stat" as text, CSV and JSON. CSV has the columns, JSON the
 * keys of "perf stat", so that what reads those reads these.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "stat.h"

/* Digits of a 64-bit number with its separators */
#define THOUSANDS_MAX 32

/* Seconds since the start */
#define TIME_FORMAT "%16.9f"

/* A ratio that is worth a note: @config as a part of @of. */
static const struct metric {
	uint64_t config;
	uint64_t of;
	double factor;
	const char *unit;
} metrics[] = {
	{ PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES, 1,
	  "insn per cycle" },
	{ PERF_COUNT_HW_BRANCH_MISSES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100,
	  "of all branches" },
	{ PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_CACHE_REFERENCES, 100,
	  "of all cache refs" },
	{ PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, PERF_COUNT_HW_CPU_CYCLES, 100,
	  "frontend cycles idle" },
	{ PERF_COUNT_HW_STALLED_CYCLES_BACKEND, PERF_COUNT_HW_CPU_CYCLES, 100,
	  "backend cycles idle" },
};

/**
 * format_thousands() - a number with commas: 1,234,567
 * @value: the number.
 * @buffer: where to write.
 * @size: bytes there, 27 are always enough.
 */
void format_thousands(uint64_t value, char *buffer, size_t size)
{
	char digits[THOUSANDS_MAX];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	size_t at = 0;

	for (int i = 0; i < len && at + 1 < size; i++) {
		if (i && (len - i) % 3 == 0)
			buffer[at++] = ',';
		if (at + 1 < size)
			buffer[at++] = digits[i];
	}
	if (size)
		buffer[at] = '\0';
}

static bool same_levels(const struct perf_event_attr *a,
			const struct perf_event_attr *b)
{
	return a->exclude_user == b->exclude_user &&
	       a->exclude_kernel == b->exclude_kernel;
}

/* On the same CPU; one of the same group, which was counted at the same time, first. */
static const struct stat_row *row_find(const struct stat_result *result,
				       const struct stat_row *like, uint64_t config)
{
	const struct stat_row *found = NULL;

	for (size_t i = 0; i < result->count; i++) {
		const struct stat_row *row = &result->rows[i];

		if (row->attr.type != PERF_TYPE_HARDWARE ||
		    row->attr.config != config || row->state != ROW_COUNTED ||
		    row->cpu != like->cpu || !same_levels(&row->attr, &like->attr))
			continue;
		if (row->leader == like->leader)
			return row;
		if (!found)
			found = row;
	}
	return found;
}

/**
 * row_metric() - the ratio that belongs to an event, if there is one
 * @result: where its partner may be.
 * @row: the event.
 * @value: the ratio, or percentage.
 * @unit: what it is; those that start with "of" or end with "idle" are
 *	percentages.
 */
bool row_metric(const struct stat_result *result, const struct stat_row *row,
		double *value, const char **unit)
{
	if (row->attr.type != PERF_TYPE_HARDWARE || row->state != ROW_COUNTED)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(metrics); i++) {
		const struct stat_row *of;

		if (metrics[i].config != row->attr.config)
			continue;
		of = row_find(result, row, metrics[i].of);
		if (!of || !of->value)
			return false;
		*value = metrics[i].factor * (double)row->value /
			 (double)of->value;
		*unit = metrics[i].unit;
		return true;
	}
	return false;
}

static bool is_percentage(const char *unit)
{
	return strcmp(unit, "insn per cycle") != 0;
}

static double row_percent(const struct stat_row *row)
{
	if (row->state != ROW_COUNTED)
		return row->state == ROW_NOT_COUNTED ? 0 : 100;
	return row->enabled && row->running < row->enabled ?
		100.0 * (double)row->running / (double)row->enabled : 100;
}

static const char *row_no_value(const struct stat_row *row)
{
	return row->state == ROW_NOT_COUNTED ? "<not counted>" :
					       "<not supported>";
}

/* Clocks count time; of all else the name says what there are so many of. */
static const char *row_unit(const struct stat_row *row)
{
	return row->attr.type == PERF_TYPE_SOFTWARE &&
	       (row->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
		row->attr.config == PERF_COUNT_SW_TASK_CLOCK) ? "ns" : "";
}

static void print_text_row(FILE *out, const struct stat_result *result,
			   const struct stat_row *row)
{
	char number[THOUSANDS_MAX];
	const char *unit, *value = row_no_value(row);
	double metric;

	if (row->state == ROW_COUNTED) {
		format_thousands(row->value, number, sizeof(number));
		value = number;
	}
	if (result->is_interval)
		fprintf(out, TIME_FORMAT " ", result->elapsed);
	if (row->cpu != ROW_ALL_TARGETS)
		fprintf(out, "CPU%-7d ", row->cpu);
	fprintf(out, "%18s %-4s %-25s", value, row->state == ROW_COUNTED ? row_unit(row) : "",
		row->name);
	if (row_metric(result, row, &metric, &unit))
		fprintf(out, " # %7.2f%s %s", metric,
			is_percentage(unit) ? "%" : " ", unit);
	if (result->runs && row->state == ROW_COUNTED)
		fprintf(out, "  ( +-%6.2f%% )", row->deviation);
	if (row->state == ROW_COUNTED && row->running < row->enabled)
		fprintf(out, "  (%.2f%%)", row_percent(row));
	fputc('\n', out);
}

static void print_interval_heading(FILE *out, const struct stat_result *result)
{
	bool per_cpu = result->count && result->rows[0].cpu != ROW_ALL_TARGETS;

	fprintf(out, "#           time %s            counts      events\n",
		per_cpu ? "CPU        " : "");
}

/* Digits behind the point so that two of the deviation are seen */
static int elapsed_precision(double deviation)
{
	int digits = 9;

	if (deviation > 0)
		digits = 1 - (int)floor(log10(deviation));
	return digits < 0 ? 0 : digits > 9 ? 9 : digits;
}

static void print_elapsed(FILE *out, const struct stat_result *result)
{
	int digits = elapsed_precision(result->elapsed_deviation);

	if (!result->runs) {
		fprintf(out, "\n%18.9f seconds time elapsed\n\n", result->elapsed);
		return;
	}
	fprintf(out, "\n%18.*f +- %.*f seconds time elapsed  ( +-%6.2f%% )\n\n",
		digits, result->elapsed, digits, result->elapsed_deviation,
		result->elapsed > 0 ?
		100 * result->elapsed_deviation / result->elapsed : 0);
}

/**
 * print_text() - for people
 * @out: where to.
 * @result: what.
 */
void print_text(FILE *out, const struct stat_result *result)
{
	if (result->is_interval && result->has_heading)
		print_interval_heading(out, result);
	if (!result->is_interval)
		fprintf(out, "\n Performance counter stats for %s", result->what);
	if (result->runs)
		fprintf(out, " (%u runs)", result->runs);
	if (!result->is_interval)
		fputs(":\n\n", out);
	for (size_t i = 0; i < result->count; i++)
		if (result->rows[i].state != ROW_ABSENT)
			print_text_row(out, result, &result->rows[i]);
	if (result->is_interval)
		return;
	print_elapsed(out, result);
	if (result->has_usage)
		fprintf(out, "%18.9f seconds user\n%18.9f seconds sys\n\n",
			result->user, result->system);
}

/* A column; in quotes if it would be taken for several. */
static void print_column(FILE *out, const char *text, const char *separator)
{
	if (!strstr(text, separator) && !strpbrk(text, "\"\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void print_csv_row(FILE *out, const struct stat_result *result,
			  const struct stat_row *row, const char *separator)
{
	const char *unit;
	double metric;

	if (result->is_interval)
		fprintf(out, TIME_FORMAT "%s", result->elapsed, separator);
	if (row->cpu != ROW_ALL_TARGETS)
		fprintf(out, "CPU%d%s", row->cpu, separator);
	if (row->state == ROW_COUNTED)
		fprintf(out, "%" PRIu64, row->value);
	else
		fputs(row_no_value(row), out);
	fprintf(out, "%s%s%s", separator, row_unit(row), separator);
	print_column(out, row->name, separator);
	if (result->runs)
		fprintf(out, "%s%.2f%%", separator, row->deviation);
	fprintf(out, "%s%" PRIu64 "%s%.2f%s", separator, row->running, separator,
		row_percent(row), separator);
	if (row_metric(result, row, &metric, &unit)) {
		fprintf(out, "%.2f%s", metric, separator);
		print_column(out, unit, separator);
	} else {
		fputs(separator, out);
	}
	fputc('\n', out);
}

/**
 * print_csv() - for spreadsheets and scripts
 * @out: where to.
 * @result: what.
 * @separator: between the columns.
 *
 * With intervals the time since the start in seconds; for single CPUs which; value,
 * unit, event; with repeats the deviation of the mean in percent; nanoseconds counted,
 * percentage of the time that it was counted, metric, unit of the metric.
 */
void print_csv(FILE *out, const struct stat_result *result, const char *separator)
{
	for (size_t i = 0; i < result->count; i++)
		if (result->rows[i].state != ROW_ABSENT)
			print_csv_row(out, result, &result->rows[i], separator);
}

/* So many digits behind the point, without the noise of binary fractions */
static double rounded(double value, double digits)
{
	double scale = pow(10, digits);

	return round(value * scale) / scale;
}

/* The keys that only some results have come before those that all have. */
static json_t *row_json_head(const struct stat_result *result,
			     const struct stat_row *row)
{
	json_t *object = json_object();
	char cpu[THOUSANDS_MAX];
	int failed = 0;

	if (object && result->is_interval)
		failed |= json_object_set_new(object, "interval",
			json_real(rounded(result->elapsed, 9)));
	if (object && row->cpu != ROW_ALL_TARGETS) {
		snprintf(cpu, sizeof(cpu), "%d", row->cpu);
		failed |= json_object_set_new(object, "cpu", json_string(cpu));
	}
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *row_json(const struct stat_result *result,
			const struct stat_row *row)
{
	json_t *object = row_json_head(result, row);
	char value[THOUSANDS_MAX];
	const char *unit = "";
	double metric = 0;
	int failed = 0;

	if (row->state == ROW_COUNTED)
		snprintf(value, sizeof(value), "%" PRIu64 ".000000", row->value);
	else
		snprintf(value, sizeof(value), "%s", row_no_value(row));
	row_metric(result, row, &metric, &unit);
	failed |= json_object_set_new(object, "counter-value", json_string(value));
	failed |= json_object_set_new(object, "unit", json_string(row_unit(row)));
	failed |= json_object_set_new(object, "event", json_string(row->name));
	if (result->runs)
		failed |= json_object_set_new(object, "variance",
			json_real(rounded(row->deviation, 2)));
	failed |= json_object_set_new(object, "event-runtime",
				      json_integer((json_int_t)row->running));
	failed |= json_object_set_new(object, "pcnt-running",
				      json_real(rounded(row_percent(row), 2)));
	failed |= json_object_set_new(object, "metric-value",
				      json_real(rounded(metric, 6)));
	failed |= json_object_set_new(object, "metric-unit", json_string(unit));
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

/**
 * print_json() - for programs
 * @out: where to.
 * @result: what.
 *
 * One object a line for each event. Counts are strings, as a number in JSON may
 * lose its last digits.
 *
 * Return: 0, -ENOMEM, -EINVAL if a name is not UTF-8, -EIO.
 */
int print_json(FILE *out, const struct stat_result *result)
{
	for (size_t i = 0; i < result->count; i++) {
		json_t *object;
		int failed;

		if (result->rows[i].state == ROW_ABSENT)
			continue;
		object = row_json(result, &result->rows[i]);
		if (!object)
			return -EINVAL;
		failed = json_dumpf(object, out, JSON_REAL_PRECISION(15));
		json_decref(object);
		if (failed || fputc('\n', out) == EOF)
			return -EIO;
	}
	return 0;
}
