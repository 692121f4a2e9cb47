// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl stat --metric-only": a table of the numbers that are otherwise shown beside counts, with
 * a line for each CPU, core, cgroup and so on. Rates are left out, as their unit changes with them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

#define WIDTH_MIN	10
#define HEADING_SIZE	300

/**
 * struct column - of the table
 * @event: beside which event it is.
 * @unit: of its numbers.
 * @heading: what stands above it.
 */
struct column {
	const struct stat_row *event;
	const char *unit;
	char heading[HEADING_SIZE];
};

/**
 * struct table - all columns
 * @columns: an array.
 * @count: of them.
 * @failed: there was no memory for more.
 */
struct table {
	struct column *columns;
	size_t count;
	bool failed;
};

static bool is_rate(const struct row_note *note)
{
	size_t length = strlen(note->unit);

	return length >= 4 && !strcmp(note->unit + length - 4, "/sec");
}

static bool has_column(const struct table *table, const struct stat_row *row, const char *unit)
{
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->columns[i].event->name, row->name) &&
		    !strcmp(table->columns[i].unit, unit))
			return true;
	return false;
}

static void add_columns(struct table *table, const struct stat_result *result,
			const struct stat_row *row)
{
	struct row_note note;

	for (size_t i = 0; row_note(result, row, i, &note); i++) {
		struct column *grown;

		if (is_rate(&note) || has_column(table, row, note.unit))
			continue;
		grown = reallocarray(table->columns, table->count + 1, sizeof(*grown));
		if (!grown) {
			table->failed = true;
			return;
		}
		table->columns = grown;
		grown[table->count++] = (struct column){ .event = row, .unit = note.unit };
	}
}

/*
 * All that there may ever be, whatever was counted in this interval: columns must not change from one
 * to the next. So they are those of other numbers, of which no formula has a zero below its line.
 */
static int find_columns(struct table *table, const struct stat_result *result)
{
	struct stat_row *rows = calloc(result->count + 1, sizeof(*rows));
	struct stat_result full = *result;

	if (!rows)
		return -ENOMEM;
	full.rows = rows;
	full.elapsed = 1;
	for (size_t i = 0; i < result->count; i++) {
		rows[i] = result->rows[i];
		rows[i].value = (i + 2) * (i + 2) * (i + 2);
		if (rows[i].state == ROW_NOT_COUNTED)
			rows[i].state = ROW_COUNTED;
	}
	for (size_t i = 0; i < full.count; i++)
		add_columns(table, &full, &rows[i]);
	for (size_t i = 0; i < table->count; i++)
		table->columns[i].event = &result->rows[table->columns[i].event - rows];
	free(rows);
	return table->failed ? -ENOMEM : 0;
}

/* Of one event's rows, that of the place that is meant, if it has such a number */
static bool find_note(const struct stat_result *result, const struct column *column,
		      const struct stat_row *like, struct row_note *note)
{
	for (size_t i = 0; i < result->count; i++) {
		const struct stat_row *row = &result->rows[i];

		if (row_same_place(row, like) && !strcmp(row->name, column->event->name))
			for (size_t n = 0; row_note(result, row, n, note); n++)
				if (!strcmp(note->unit, column->unit))
					return true;
	}
	return false;
}

static void print_column_behind(FILE *out, size_t number, const char *text, const char *separator)
{
	if (number)
		fputs(separator, out);
	print_column(out, text, separator);
}

/* With its event, if the unit alone does not tell it from others */
static void name_column(const struct table *table, struct column *column)
{
	bool is_alone = true;

	for (size_t i = 0; i < table->count; i++)
		if (&table->columns[i] != column && !strcmp(table->columns[i].unit, column->unit))
			is_alone = false;
	snprintf(column->heading, sizeof(column->heading), "%s%s%s", column->unit,
		 is_alone ? "" : " of ", is_alone ? "" : column->event->name);
}

static int width_of(const struct column *column)
{
	size_t length = strlen(column->heading) + 2;

	return length < WIDTH_MIN ? WIDTH_MIN : (int)length;
}

static void print_line(FILE *out, const struct stat_result *result, const struct table *table,
		       const struct stat_row *place, const char *separator)
{
	struct row_note note;
	char number[32];

	print_where(out, result, place, separator);
	for (size_t i = 0; i < table->count; i++) {
		bool found = find_note(result, &table->columns[i], place, &note);

		snprintf(number, sizeof(number), "%.2f%s", found ? note.value : 0,
			 found && note.is_percentage && !separator ? "%" : "");
		if (separator)
			fprintf(out, "%s%s", i ? separator : "", found ? number : "");
		else
			fprintf(out, "%*s", width_of(&table->columns[i]), found ? number : "");
	}
	if (result->has_cgroups && separator)
		print_column_behind(out, 1, place->cgroup ? place->cgroup : "", separator);
	else if (result->has_cgroups)
		fprintf(out, "  %s", place->cgroup ? place->cgroup : "");
	fputc('\n', out);
}

static bool is_first_of_place(const struct stat_result *result, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (row_same_place(&result->rows[i], &result->rows[index]))
			return false;
	return true;
}

static void print_lines(FILE *out, const struct stat_result *result, const struct table *table,
			const char *separator)
{
	for (size_t i = 0; i < result->count; i++)
		if (result->rows[i].state != ROW_ABSENT && is_first_of_place(result, i))
			print_line(out, result, table, &result->rows[i], separator);
}

static void print_columns(FILE *out, const struct stat_result *result, const struct table *table,
			  const char *separator)
{
	print_where_heading(out, result, separator);
	for (size_t i = 0; i < table->count; i++) {
		const struct column *column = &table->columns[i];

		if (separator)
			print_column_behind(out, i, column->heading, separator);
		else
			fprintf(out, "%*s", width_of(column), column->heading);
	}
	if (result->has_cgroups)
		fprintf(out, "%scgroup", separator ? separator : "  ");
	fputc('\n', out);
}

/**
 * print_metric_only() - nothing but numbers that were computed
 * @out: where to.
 * @result: what.
 * @separator: between the columns of CSV, whose first line is a heading; NULL: for people.
 *
 * Return: 0 or -ENOMEM.
 */
int print_metric_only(FILE *out, const struct stat_result *result, const char *separator)
{
	struct table table = { .count = 0 };
	int ret = find_columns(&table, result);

	for (size_t i = 0; i < table.count; i++)
		name_column(&table, &table.columns[i]);
	if (!separator && !result->is_interval)
		print_headline(out, result);
	if (!separator && !table.count) {
		fputs("  nothing is computed of these events\n", out);
	} else {
		if (!result->is_interval || result->has_heading)
			print_columns(out, result, &table, separator);
		print_lines(out, result, &table, separator);
	}
	if (!separator && !result->is_interval)
		print_times(out, result);
	free(table.columns);
	return ret;
}
