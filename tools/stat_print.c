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

static const struct stat_row *row_find(const struct stat_result *result,
				       const struct stat_row *like, uint64_t config)
{
	for (size_t i = 0; i < result->count; i++) {
		const struct stat_row *row = &result->rows[i];

		if (row->attr.type == PERF_TYPE_HARDWARE &&
		    row->attr.config == config && row->state == ROW_COUNTED &&
		    same_levels(&row->attr, &like->attr))
			return row;
	}
	return NULL;
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
	fprintf(out, "%18s      %-25s", value, row->name);
	if (row_metric(result, row, &metric, &unit))
		fprintf(out, " # %7.2f%s %s", metric,
			is_percentage(unit) ? "%" : " ", unit);
	if (row->state == ROW_COUNTED && row->running < row->enabled)
		fprintf(out, "  (%.2f%%)", row_percent(row));
	fputc('\n', out);
}

/**
 * print_text() - for people
 * @out: where to.
 * @result: what.
 */
void print_text(FILE *out, const struct stat_result *result)
{
	fprintf(out, "\n Performance counter stats for %s:\n\n", result->what);
	for (size_t i = 0; i < result->count; i++)
		print_text_row(out, result, &result->rows[i]);
	fprintf(out, "\n%18.9f seconds time elapsed\n\n", result->elapsed);
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

/**
 * print_csv() - for spreadsheets and scripts
 * @out: where to.
 * @result: what.
 * @separator: between the columns.
 *
 * Value, unit, event, nanoseconds counted, percentage of the time that it was
 * counted, metric, unit of the metric.
 */
void print_csv(FILE *out, const struct stat_result *result, const char *separator)
{
	for (size_t i = 0; i < result->count; i++) {
		const struct stat_row *row = &result->rows[i];
		const char *unit;
		double metric;

		if (row->state == ROW_COUNTED)
			fprintf(out, "%" PRIu64, row->value);
		else
			fputs(row_no_value(row), out);
		fprintf(out, "%s%s", separator, separator);
		print_column(out, row->name, separator);
		fprintf(out, "%s%" PRIu64 "%s%.2f%s", separator, row->running,
			separator, row_percent(row), separator);
		if (row_metric(result, row, &metric, &unit)) {
			fprintf(out, "%.2f%s", metric, separator);
			print_column(out, unit, separator);
		} else {
			fputs(separator, out);
		}
		fputc('\n', out);
	}
}

/* So many digits behind the point, without the noise of binary fractions */
static double rounded(double value, double digits)
{
	double scale = pow(10, digits);

	return round(value * scale) / scale;
}

static json_t *row_json(const struct stat_result *result,
			const struct stat_row *row)
{
	char value[THOUSANDS_MAX];
	const char *unit = "";
	double metric = 0;

	if (row->state == ROW_COUNTED)
		snprintf(value, sizeof(value), "%" PRIu64 ".000000", row->value);
	else
		snprintf(value, sizeof(value), "%s", row_no_value(row));
	row_metric(result, row, &metric, &unit);
	return json_pack("{s:s, s:s, s:s, s:I, s:f, s:f, s:s}",
			 "counter-value", value, "unit", "", "event", row->name,
			 "event-runtime", (json_int_t)row->running,
			 "pcnt-running", rounded(row_percent(row), 2),
			 "metric-value", rounded(metric, 6),
			 "metric-unit", unit);
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
		json_t *object = row_json(result, &result->rows[i]);
		int failed;

		if (!object)
			return -EINVAL;
		failed = json_dumpf(object, out, JSON_REAL_PRECISION(15));
		json_decref(object);
		if (failed || fputc('\n', out) == EOF)
			return -EIO;
	}
	return 0;
}
