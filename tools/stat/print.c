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
#include "symbols/names.h"

/* Digits of a 64-bit number with its separators */
#define THOUSANDS_MAX 32

/* Seconds since the start */
#define TIME_FORMAT "%16.9f"

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
	return row_is_clock(row) ? "msec" : row_is_time(row) ? "ns" : "";
}

/* The value as programs read it, to the last nanosecond */
static void format_value(const struct stat_row *row, char *buffer, size_t size)
{
	if (row->state != ROW_COUNTED)
		snprintf(buffer, size, "%s", row_no_value(row));
	else if (row_is_clock(row))
		snprintf(buffer, size, "%" PRIu64 ".%06" PRIu64, row->value / 1000000,
			 row->value % 1000000);
	else
		snprintf(buffer, size, "%" PRIu64, row->value);
}

/* The same for people */
static void format_number(const struct stat_result *result, const struct stat_row *row,
			  char *buffer, size_t size)
{
	uint64_t hundredths = (row->value + 5000) / 10000;
	size_t length;

	if (row->state != ROW_COUNTED || (result->plain_numbers && !row_is_clock(row))) {
		format_value(row, buffer, size);
		return;
	}
	if (result->plain_numbers)
		snprintf(buffer, size, "%" PRIu64, hundredths / 100);
	else
		format_thousands(row_is_clock(row) ? hundredths / 100 : row->value, buffer, size);
	length = strlen(buffer);
	if (row_is_clock(row))
		snprintf(buffer + length, size - length, ".%02" PRIu64, hundredths % 100);
}

static void print_text_where(FILE *out, const struct stat_row *row)
{
	if (row->where && row->cpus)
		fprintf(out, "%-11s %5u ", row->where, row->cpus);
	else if (row->where)
		fprintf(out, "%-22s ", row->where);
	else if (row->cpu != ROW_ALL_TARGETS)
		fprintf(out, "CPU%-7d ", row->cpu);
}

static void print_text_head(FILE *out, const struct stat_result *result,
			    const struct stat_row *row, const char *number,
			    const char *unit, const char *name)
{
	if (result->is_interval)
		fprintf(out, TIME_FORMAT " ", result->elapsed);
	print_text_where(out, row);
	fprintf(out, "%18s %-4s %-25s", number, unit, name);
}

static void print_text_note(FILE *out, const struct row_note *note)
{
	fprintf(out, " # %7.2f%s %s", note->value, note->is_percentage ? "%" : " ", note->unit);
}

static void print_text_row(FILE *out, const struct stat_result *result,
			   const struct stat_row *row)
{
	char number[THOUSANDS_MAX];
	struct row_note note;

	format_number(result, row, number, sizeof(number));
	print_text_head(out, result, row, number,
			row->state == ROW_COUNTED ? row_unit(row) : "", row->name);
	if (result->has_cgroups)
		fprintf(out, " %s", row->cgroup ? row->cgroup : "");
	if (row_note(result, row, 0, &note))
		print_text_note(out, &note);
	if (result->runs && row->state == ROW_COUNTED)
		fprintf(out, "  ( +-%6.2f%% )", row->deviation);
	if (row->state == ROW_COUNTED && row->running < row->enabled)
		fprintf(out, "  (%.2f%%)", row_percent(row));
	fputc('\n', out);
	for (size_t i = 1; row_note(result, row, i, &note); i++) {
		print_text_head(out, result, row, "", "", "");
		print_text_note(out, &note);
		fputc('\n', out);
	}
}

/* What stands above print_text_where() */
static const char *where_heading(const struct stat_result *result)
{
	static const char *const headings[] = {
		[AGGREGATE_ALL]		= "",
		[AGGREGATE_CPU]		= "CPU        ",
		[AGGREGATE_CORE]	= "core         cpus ",
		[AGGREGATE_DIE]		= "die          cpus ",
		[AGGREGATE_SOCKET]	= "socket       cpus ",
		[AGGREGATE_NODE]	= "node         cpus ",
		[AGGREGATE_THREAD]	= "comm-tid               ",
	};

	return headings[result->aggregate];
}

static void print_interval_heading(FILE *out, const struct stat_result *result)
{
	fprintf(out, "#           time %s            counts      events\n", where_heading(result));
}

/* Digits behind the point so that two of the deviation are seen */
static int elapsed_precision(double deviation)
{
	int digits = 9;

	if (deviation > 0)
		digits = 1 - (int)floor(log10(deviation));
	return digits < 0 ? 0 : digits > 9 ? 9 : digits;
}

/* How much of a run's time a '#' is that it took longer or shorter than the mean */
#define TABLE_PART	0.05

/* As "perf stat --table" has it */
static void print_table(FILE *out, const struct stat_result *result, int digits)
{
	fprintf(out, "\n%8s# Table of individual measurements:\n", "");
	for (unsigned int i = 0; i < result->runs; i++) {
		double time = result->times[i], difference = time - result->elapsed;
		int marks = time > 0 ? (int)(fabs(difference) / time / TABLE_PART) : 0;

		fprintf(out, " %17.*f (%+.*f) ", digits, time, digits, difference);
		do
			fputc('#', out);
		while (marks-- > 0);
		fputc('\n', out);
	}
	fprintf(out, "\n%8s# Final result:", "");
}

static void print_elapsed(FILE *out, const struct stat_result *result)
{
	int digits = elapsed_precision(result->elapsed_deviation);

	if (result->runs && result->times)
		print_table(out, result, digits);
	if (!result->runs) {
		fprintf(out, "\n%18.9f seconds time elapsed\n\n", result->elapsed);
		return;
	}
	fprintf(out, "\n%18.*f +- %.*f seconds time elapsed  ( +-%6.2f%% )\n\n",
		digits, result->elapsed, digits, result->elapsed_deviation,
		result->elapsed > 0 ?
		100 * result->elapsed_deviation / result->elapsed : 0);
}

/* print_headline() - whose counts these are, for people */
void print_headline(FILE *out, const struct stat_result *result)
{
	fprintf(out, "\n Performance counter stats for %s", result->what);
	if (result->runs)
		fprintf(out, " (%u runs)", result->runs);
	fputs(":\n\n", out);
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
		print_headline(out, result);
	for (size_t i = 0; i < result->count; i++)
		if (result->rows[i].state != ROW_ABSENT)
			print_text_row(out, result, &result->rows[i]);
	if (!result->is_interval)
		print_times(out, result);
}

/* print_times() - how long it took, for people */
void print_times(FILE *out, const struct stat_result *result)
{
	print_elapsed(out, result);
	if (result->has_usage)
		fprintf(out, "%18.9f seconds user\n%18.9f seconds sys\n\n",
			result->user, result->system);
}

/* A column; in quotes if it would be taken for several. */
void print_column(FILE *out, const char *text, const char *separator)
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

static void print_csv_where(FILE *out, const struct stat_row *row, const char *separator)
{
	if (row->cpu != ROW_ALL_TARGETS)
		fprintf(out, "CPU%d%s", row->cpu, separator);
	if (!row->where)
		return;
	print_column(out, row->where, separator);
	fputs(separator, out);
	if (row->cpus)
		fprintf(out, "%u%s", row->cpus, separator);
}

/* print_where() - the first columns of a line: when, and where it was counted */
void print_where(FILE *out, const struct stat_result *result, const struct stat_row *row,
		 const char *separator)
{
	if (result->is_interval)
		fprintf(out, TIME_FORMAT "%s", result->elapsed, separator ? separator : " ");
	else if (result->is_summary && separator)
		fprintf(out, "%16s%s", "summary", separator);
	if (separator)
		print_csv_where(out, row, separator);
	else
		print_text_where(out, row);
}

/* print_where_heading() - what stands above these columns */
void print_where_heading(FILE *out, const struct stat_result *result, const char *separator)
{
	enum stat_aggregate aggregate = result->aggregate;

	if (!separator) {
		fprintf(out, "%s%s", result->is_interval ? "#           time " : "",
			where_heading(result));
		return;
	}
	if (result->is_interval)
		fprintf(out, "time%s", separator);
	if (aggregate != AGGREGATE_ALL)
		fprintf(out, "%s%s", aggregate == AGGREGATE_CPU ? "cpu" : "where", separator);
	if (aggregate != AGGREGATE_ALL && aggregate != AGGREGATE_CPU && aggregate != AGGREGATE_THREAD)
		fprintf(out, "cpus%s", separator);
}

/* perf's way to tell a metric that is a percentage */
#define PERCENTAGE_PREFIX "%  "

static void print_csv_note(FILE *out, const struct row_note *note, const char *separator)
{
	char unit[METRIC_NAME_SIZE + sizeof(PERCENTAGE_PREFIX)];

	snprintf(unit, sizeof(unit), "%s%s",
		 note->is_metric && note->is_percentage ? PERCENTAGE_PREFIX : "", note->unit);
	fprintf(out, "%.2f%s", note->value, separator);
	print_column(out, unit, separator);
}

/* The other metrics of a row: a line each, in which the columns of the event are empty */
static void print_csv_notes(FILE *out, const struct stat_result *result,
			    const struct stat_row *row, const char *separator)
{
	struct row_note note;

	for (size_t i = 1; row_note(result, row, i, &note); i++) {
		print_where(out, result, row, separator);
		for (int column = 0; column < 5 + !!result->runs + result->has_cgroups; column++)
			fputs(separator, out);
		print_csv_note(out, &note, separator);
		fputc('\n', out);
	}
}

static void print_csv_row(FILE *out, const struct stat_result *result,
			  const struct stat_row *row, const char *separator)
{
	char value[THOUSANDS_MAX];
	struct row_note note;

	print_where(out, result, row, separator);
	format_value(row, value, sizeof(value));
	fprintf(out, "%s%s%s%s", value, separator, row_unit(row), separator);
	print_column(out, row->name, separator);
	if (result->has_cgroups) {
		fputs(separator, out);
		print_column(out, row->cgroup ? row->cgroup : "", separator);
	}
	if (result->runs)
		fprintf(out, "%s%.2f%%", separator, row->deviation);
	fprintf(out, "%s%" PRIu64 "%s%.2f%s", separator, row->running, separator,
		row_percent(row), separator);
	if (row_note(result, row, 0, &note))
		print_csv_note(out, &note, separator);
	else
		fputs(separator, out);
	fputc('\n', out);
	print_csv_notes(out, result, row, separator);
}

/**
 * print_csv() - for spreadsheets and scripts
 * @out: where to.
 * @result: what.
 * @separator: between the columns.
 *
 * With intervals the time since the start in seconds; for single CPUs or threads which, for
 * cores, sockets and so on how many CPUs, too; value, unit, event; with cgroups which;
 * with repeats the deviation of the mean in percent; nanoseconds counted,
 * percentage of the time that it was counted, metric, unit of the metric. Each metric of an
 * event but the first has a line of its own.
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

/* A name that need not be text */
static json_t *json_name(const char *name)
{
	char *clean = strdup(name);
	json_t *string;

	if (!clean)
		return NULL;
	names_clean(clean, strlen(clean));
	string = json_string(clean);
	free(clean);
	return string;
}

/* The keys that only some results have come before those that all have. */
static json_t *row_json_head(const struct stat_result *result,
			     const struct stat_row *row)
{
	static const char *const keys[] = {
		[AGGREGATE_CORE] = "core", [AGGREGATE_DIE] = "die",
		[AGGREGATE_SOCKET] = "socket", [AGGREGATE_NODE] = "node",
		[AGGREGATE_THREAD] = "thread",
	};
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
	if (object && row->where)
		failed |= json_object_set_new(object, keys[result->aggregate],
					      json_string(row->where));
	if (object && row->where && row->cpus)
		failed |= json_object_set_new(object, "aggregate-number",
					      json_integer(row->cpus));
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

static int note_json(json_t *object, const struct row_note *note)
{
	bool prefix = note->is_metric && note->is_percentage;

	return json_object_set_new(object, "metric-value",
				   json_real(rounded(note->value, 6))) |
	       json_object_set_new(object, "metric-unit",
				   json_sprintf("%s%s", prefix ? PERCENTAGE_PREFIX : "",
						note->unit ? note->unit : ""));
}

static json_t *row_json(const struct stat_result *result,
			const struct stat_row *row)
{
	json_t *object = row_json_head(result, row);
	char value[THOUSANDS_MAX];
	struct row_note note;
	int failed = 0;

	format_value(row, value, sizeof(value));
	if (row->state == ROW_COUNTED && !row_is_clock(row))
		strcat(value, ".000000");
	row_note(result, row, 0, &note);
	failed |= json_object_set_new(object, "counter-value", json_string(value));
	failed |= json_object_set_new(object, "unit", json_string(row_unit(row)));
	failed |= json_object_set_new(object, "event", json_name(row->name));
	if (result->has_cgroups)
		failed |= json_object_set_new(object, "cgroup",
					      json_name(row->cgroup ? row->cgroup : ""));
	if (result->runs)
		failed |= json_object_set_new(object, "variance",
			json_real(rounded(row->deviation, 2)));
	failed |= json_object_set_new(object, "event-runtime",
				      json_integer((json_int_t)row->running));
	failed |= json_object_set_new(object, "pcnt-running",
				      json_real(rounded(row_percent(row), 2)));
	failed |= note_json(object, &note);
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

/* Takes the object. */
static int put_json(FILE *out, json_t *object)
{
	int failed;

	if (!object)
		return -EINVAL;
	failed = json_dumpf(object, out, JSON_REAL_PRECISION(15));
	json_decref(object);
	return failed || fputc('\n', out) == EOF ? -EIO : 0;
}

/* The other metrics of a row */
static int print_json_notes(FILE *out, const struct stat_result *result,
			    const struct stat_row *row)
{
	struct row_note note;
	int ret = 0;

	for (size_t i = 1; !ret && row_note(result, row, i, &note); i++) {
		json_t *object = row_json_head(result, row);

		if (object && note_json(object, &note) != 0) {
			json_decref(object);
			object = NULL;
		}
		ret = put_json(out, object);
	}
	return ret;
}

/**
 * print_json() - for programs
 * @out: where to.
 * @result: what.
 *
 * One object a line for each event, and for each metric of an event but the first one. Counts
 * are strings, as a number in JSON may
 * lose its last digits.
 *
 * Return: 0, -ENOMEM, -EINVAL if a name is not UTF-8, -EIO.
 */
int print_json(FILE *out, const struct stat_result *result)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < result->count; i++) {
		const struct stat_row *row = &result->rows[i];

		if (row->state == ROW_ABSENT)
			continue;
		ret = put_json(out, row_json(result, row));
		if (!ret)
			ret = print_json_notes(out, result, row);
	}
	return ret;
}
