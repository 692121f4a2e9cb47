// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two recordings side by side, as text, which is that of "perf diff", or as JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "diff.h"

#define PERIOD_WIDTH	16
#define FORMULA_WIDTH	72
/* For four numbers of 64 bits and what is between them */
#define CELL_SIZE	128

static const char *const headings[] = {
	[DIFF_DELTA_ABS] = "Delta Abs", [DIFF_DELTA] = "Delta", [DIFF_RATIO] = "Ratio",
	[DIFF_WEIGHTED] = "Weighted diff",
};

static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void measure(const struct diff *diff, const struct diff_rows *rows, int *widths)
{
	const struct report_columns *columns = &diff->options.columns;

	for (size_t i = 0; i < columns->count; i++) {
		enum report_key key = columns->list[i];

		if (key >= KEY_COUNT)
			continue;
		widths[i] = width_of(report_headings[key]);
		for (size_t n = 0; n < rows->count; n++) {
			int width = width_of(rows->list[n].like->text[key]);

			widths[i] = width > widths[i] ? width : widths[i];
		}
	}
}

/* A separator in a name would be taken for one. */
static void print_separated(const char *text, char separator)
{
	for (; *text; text++)
		putchar(*text == separator ? '.' : *text);
}

/* The last column has no blanks behind it. */
static void print_keys(const struct diff *diff, const struct report_row *row,
		       const int *widths)
{
	const struct report_columns *columns = &diff->options.columns;

	for (size_t i = 0; i < columns->count; i++) {
		enum report_key key = columns->list[i];
		const char *text;

		if (key >= KEY_COUNT)
			continue;
		text = row ? row->text[key] : report_headings[key];
		printf("%s", diff->separator ? diff->separator : "  ");
		if (row && key == KEY_SYMBOL)
			printf("[%c] ", row->level);
		if (diff->separator) {
			print_separated(text, *diff->separator);
			continue;
		}
		fputs(text, stdout);
		if (i + 1 < columns->count)
			printf("%*s", widths[i] - width_of(text) +
			       (!row && key == KEY_SYMBOL ? 4 : 0), "");
	}
	putchar('\n');
}

/* How wide the column with the change is */
static int change_width(const struct diff *diff)
{
	return diff->compute == DIFF_WEIGHTED ? 16 : 11;
}

/* A number or a heading, on the right of its column unless these are separated */
static void print_cell(const struct diff *diff, int width, const char *text)
{
	if (diff->separator)
		printf("%s%s", diff->separator, text);
	else
		printf("%*s", width, text);
}

static void print_change(const struct diff *diff, const struct diff_row *row)
{
	char text[CELL_SIZE] = "";

	if (row->has[1] && diff->compute == DIFF_WEIGHTED)
		snprintf(text, sizeof(text), "%.0f", row->change);
	else if (row->has[1] && diff->compute != DIFF_RATIO)
		snprintf(text, sizeof(text), "%+.2f%%", row->percent[1] - row->percent[0]);
	else if (row->has[1] && row->period[0])
		snprintf(text, sizeof(text), "%.6f", (double)row->period[1] / (double)row->period[0]);
	else if (row->has[1])
		strcpy(text, "N/A");
	print_cell(diff, change_width(diff), text);
}

/* The computation as perf writes it: the new recording comes first. */
static void print_formula(const struct diff *diff, const struct diff_rows *rows,
			  const struct diff_row *row)
{
	const uint64_t old = row->period[0], new = row->period[1];
	char text[CELL_SIZE] = "";

	if (!diff->formula)
		return;
	if (row->has[1] && diff->compute == DIFF_WEIGHTED)
		snprintf(text, sizeof(text), "(%" PRIu64 " * %d) - (%" PRIu64 " * %d)", new,
			 diff->weights[1], old, diff->weights[0]);
	else if (row->has[1] && diff->compute == DIFF_RATIO)
		snprintf(text, sizeof(text), "%" PRIu64 " / %" PRIu64, new, old);
	else if (row->has[1])
		snprintf(text, sizeof(text), "(%" PRIu64 " * 100 / %" PRIu64 ") - (%" PRIu64 " * 100 / %" PRIu64 ")",
			 new, rows->events[1]->period, old, rows->events[0]->period);
	print_cell(diff, FORMULA_WIDTH, text);
}

static void print_period(const struct diff *diff, const struct diff_row *row, int which)
{
	char text[CELL_SIZE] = "";

	if (!diff->periods)
		return;
	if (row->has[which])
		snprintf(text, sizeof(text), "%" PRIu64, row->period[which]);
	print_cell(diff, PERIOD_WIDTH, text);
}

static void print_headings(const struct diff *diff, const struct diff_rows *rows,
			   const int *widths)
{
	printf("# Event '%s'\n#\n# Baseline", rows->name);
	if (diff->periods)
		print_cell(diff, PERIOD_WIDTH, "Period");
	print_cell(diff, change_width(diff), headings[diff->compute]);
	if (diff->formula)
		print_cell(diff, FORMULA_WIDTH, "Formula");
	if (diff->periods)
		print_cell(diff, PERIOD_WIDTH, "Period");
	print_keys(diff, NULL, widths);
	printf("#\n");
}

/* As with perf, percent signs would be in the way of who reads the numbers. */
static void print_baseline(const struct diff *diff, const struct diff_row *row)
{
	if (row->has[0] && diff->separator)
		printf("%.2f", row->percent[0]);
	else if (row->has[0])
		printf("%9.2f%%", row->percent[0]);
	else if (!diff->separator)
		printf("%10s", "");
}

/**
 * diff_print() - print the rows of an event
 * @diff: the command.
 * @rows: in order.
 */
void diff_print(const struct diff *diff, const struct diff_rows *rows)
{
	int widths[COLUMN_COUNT] = { 0 };

	measure(diff, rows, widths);
	if (diff->options.about != ABOUT_NOTHING)
		print_headings(diff, rows, widths);
	for (size_t i = 0; i < rows->count; i++) {
		const struct diff_row *row = &rows->list[i];

		print_baseline(diff, row);
		print_period(diff, row, 0);
		print_change(diff, row);
		print_formula(diff, rows, row);
		print_period(diff, row, 1);
		print_keys(diff, row->like, widths);
	}
}

/* ------------------------------------------------------------------- JSON */

static json_int_t number(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (json_int_t)value;
}

static json_t *row_json(const struct diff *diff, const struct diff_row *row)
{
	const char level[] = { row->like->level, '\0' };
	json_t *object = json_object();

	if (row->has[0]) {
		json_object_set_new(object, "baseline_percent", json_real(row->percent[0]));
		json_object_set_new(object, "baseline_period", json_integer(number(row->period[0])));
	}
	if (row->has[1]) {
		json_object_set_new(object, "percent", json_real(row->percent[1]));
		json_object_set_new(object, "period", json_integer(number(row->period[1])));
	}
	json_object_set_new(object, "delta", json_real(row->percent[1] - row->percent[0]));
	if (row->has[0] && row->has[1] && row->period[0])
		json_object_set_new(object, "ratio",
				    json_real((double)row->period[1] / (double)row->period[0]));
	if (diff->compute == DIFF_WEIGHTED)
		json_object_set_new(object, "weighted_diff", json_real(row->change));
	for (int i = 0; i < KEY_COUNT; i++)
		if (diff->options.is_key[i])
			json_object_set_new(object, report_column_names[i],
					    json_string(row->like->text[i]));
	if (row->like->level)
		json_object_set_new(object, "level", json_string(!strcmp(level, "k") ? "kernel" :
								 !strcmp(level, ".") ? "user" :
								 !strcmp(level, "H") ? "hypervisor" :
								 "guest"));
	return object;
}

static json_t *event_json(const struct diff *diff, const struct diff_rows *rows)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rows->count; i++)
		json_array_append_new(list, row_json(diff, &rows->list[i]));
	return json_pack("{s:s, s:I, s:I, s:o}", "event", rows->name,
			 "baseline_period", number(rows->events[0]->period),
			 "period", number(rows->events[1]->period), "rows", list);
}

/**
 * diff_print_json() - print the rows of all events
 * @diff: the command.
 * @list: the events.
 * @count: how many.
 *
 * Return: 0, -ENOMEM.
 */
int diff_print_json(const struct diff *diff, const struct diff_rows *list, size_t count)
{
	struct names *names = diff->reports[1].samples->symbols->names;
	json_t *events = json_array(), *all;
	int ret;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(events, event_json(diff, &list[i]));
	all = json_pack("{s:s, s:s, s:o}", "baseline", names_intern(names, diff->paths[0]),
			"recording", names_intern(names, diff->paths[1]), "events", events);
	if (!all)
		return -ENOMEM;
	ret = json_dumpf(all, stdout, JSON_INDENT(1));
	json_decref(all);
	putchar('\n');
	return ret < 0 ? -ENOMEM : 0;
}
