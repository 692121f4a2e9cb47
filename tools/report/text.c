// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as text: a table of rows, below each of them its call graph, or at the end the
 * tree of all calls. Lines that begin with '#' are headings.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "terminal.h"

/* Call graphs begin below the name of the row. */
#define GRAPH_INDENT 12

/* Numbers have so many characters, or more if they need them. */
#define NUMBER_WIDTH 10

/* Blanks before a column; numbers have them in their width. */
#define BETWEEN 2

/* The mark before a symbol, "[k] " */
#define MARK_WIDTH 4

/* What is cut for the sake of another column keeps so many characters. */
#define CUT_LEAST 6

const char *const report_headings[COLUMN_COUNT] = {
	[KEY_COMM] = "Command",
	[KEY_PID] = "Pid",
	[KEY_TID] = "Tid",
	[KEY_CPU] = "CPU",
	[KEY_TIME] = "Time",
	[KEY_CGROUP] = "Cgroup",
	[KEY_DSO] = "Shared object",
	[KEY_SYMBOL] = "Symbol",
	[KEY_LINE] = "Source line",
	[KEY_PARENT] = "Parent symbol",
	[KEY_DSO_FROM] = "Source shared object",
	[KEY_SYMBOL_FROM] = "Source symbol",
	[KEY_DSO_TO] = "Target shared object",
	[KEY_SYMBOL_TO] = "Target symbol",
	[KEY_MISPREDICT] = "Branch mispredicted",
	[KEY_CYCLES] = "Basic block cycles",
	[NUMBER_CHILDREN] = "Children",
	[NUMBER_OVERHEAD] = "Overhead",
	[NUMBER_KERNEL] = "sys",
	[NUMBER_USER] = "usr",
	[NUMBER_SAMPLES] = "Samples",
	[NUMBER_PERIOD] = "Period",
};

/**
 * report_row_is_shown() - has a row as much as the options ask for?
 * @report: the report.
 * @event: of it.
 * @row: of that.
 */
bool report_row_is_shown(const struct report *report, const struct report_event *event,
			 const struct report_row *row)
{
	uint64_t weight = report_weight(report, row);

	return report_percent(weight, event->period) >= report->options->limit &&
	       (!report->options->more_than || weight > report->options->more_than);
}

/* A name may be in any language. */
static size_t text_width(const char *text)
{
	return terminal_columns(text, strlen(text));
}

/* The mark before a name, 0: none */
static char mark_of(const struct report_row *row, enum report_key key)
{
	return key == KEY_SYMBOL ? row->level : row->marks[key];
}

static const char *heading_of(const struct report *report, enum report_key key)
{
	if (key == NUMBER_OVERHEAD && report->options->children > 0)
		return "Self";
	return report_headings[key];
}

static void number_text(const struct report_event *event, const struct report_row *row,
			enum report_key key, char *text, size_t size)
{
	uint64_t share = row->period;

	switch (key) {
	case NUMBER_SAMPLES:
		snprintf(text, size, "%" PRIu64, row->samples);
		return;
	case NUMBER_PERIOD:
		snprintf(text, size, "%" PRIu64, row->period);
		return;
	case NUMBER_CHILDREN:
		share = row->total;
		break;
	case NUMBER_KERNEL:
		share = row->kernel;
		break;
	case NUMBER_USER:
		share = row->user;
		break;
	default:
		break;
	}
	snprintf(text, size, "%.2f%%", report_percent(share, event->period));
}

/* The next member's text; @pair is its row, or that of a later one. */
static void member_text(const struct report_event *event, size_t member,
			const struct report_row **pair, enum report_key key, char *text, size_t size)
{
	static const struct report_row nothing;
	bool has = *pair && (*pair)->member == member;

	number_text(&event[member], has ? *pair : &nothing, key, text, size);
	if (has)
		*pair = (*pair)->pair;
}

/* Of all events of the table the same */
static size_t number_width(const struct report_event *event, const struct report_row *row,
			   enum report_key key)
{
	const struct report_row *pair = row->pair;
	size_t width;
	char text[24];

	number_text(event, row, key, text, sizeof(text));
	width = strlen(text) + 2;
	for (size_t member = 1; member < event->members; member++) {
		member_text(event, member, &pair, key, text, sizeof(text));
		if (strlen(text) + 2 > width)
			width = strlen(text) + 2;
	}
	return width;
}

/*
 * So that a line fits: what is before the last column is cut, the widest of it first, where the last one would not even
 * have half of what the numbers leave. That is mostly the function.
 */
static void make_room(const struct report_columns *columns, size_t members, size_t width, size_t *widths)
{
	size_t last = columns->count - 1, texts = 0, room = width, wanted;

	if (!columns->count || columns->list[last] >= KEY_COUNT)
		return;
	for (size_t i = 0; i < last; i++) {
		size_t number = widths[i] * (members ? members : 1);

		if (columns->list[i] < KEY_COUNT)
			texts += widths[i] + BETWEEN;
		else
			room -= room < number ? room : number;
	}
	wanted = widths[last] + BETWEEN < room / 2 ? widths[last] + BETWEEN : room / 2;
	while (texts > room - wanted) {
		size_t widest = last;

		for (size_t i = 0; i < last; i++)
			if (columns->list[i] < KEY_COUNT && (widest == last || widths[i] > widths[widest]))
				widest = i;
		if (widths[widest] <= CUT_LEAST)
			return;
		widths[widest]--;
		texts--;
	}
}

static void measure(const struct report *report, const struct report_event *event,
		    size_t most, size_t *widths)
{
	const struct report_columns *columns = &report->options->columns;

	for (size_t i = 0; i < columns->count; i++)
		widths[i] = columns->list[i] >= KEY_COUNT ? NUMBER_WIDTH :
			    text_width(report_headings[columns->list[i]]);
	for (size_t n = 0; n < event->row_count && most; n++) {
		const struct report_row *row = event->rows[n];

		if (!report_row_is_shown(report, event, row))
			continue;
		most--;
		for (size_t i = 0; i < columns->count; i++) {
			enum report_key key = columns->list[i];
			size_t width = key >= KEY_COUNT ? number_width(event, row, key) :
				       text_width(row->text[key]);

			if (key < KEY_COUNT && mark_of(row, key))
				width += MARK_WIDTH;
			if (width > widths[i])
				widths[i] = width;
		}
	}
	for (size_t i = 0; i < columns->count; i++)
		if (report->options->widths[i])
			widths[i] = report->options->widths[i] + (columns->list[i] >= KEY_COUNT ? BETWEEN : 0);
	if (report->options->line_width)
		make_room(columns, event->members, report->options->line_width, widths);
}

/* In a column of this width, to which it is cut; the last one has no blanks behind it. */
static void print_cell(FILE *out, const char *text, size_t width, bool last)
{
	size_t bytes = terminal_fit(text, strlen(text), width);

	fwrite(text, 1, bytes, out);
	if (!last)
		fprintf(out, "%*s", (int)(width - terminal_columns(text, bytes)), "");
}

/* A separator in a name would be taken for one. */
static void print_separated(FILE *out, const char *text, char separator)
{
	for (; *text; text++)
		fputc(*text == separator ? '.' : *text, out);
}

/* Above numbers of several events, one heading */
static void print_headings(FILE *out, const struct report *report,
			   const struct report_event *event, const size_t *widths)
{
	size_t members = event->members ? event->members : 1;
	const struct report_columns *columns = &report->options->columns;
	const char *separator = report->options->separator;

	fputc('#', out);
	for (size_t i = 0; i < columns->count; i++) {
		const char *heading = heading_of(report, columns->list[i]);
		bool is_number = columns->list[i] >= KEY_COUNT;

		if (separator) {
			fprintf(out, "%s%s", i ? separator : " ", heading);
		} else if (is_number) {
			fprintf(out, "%*s", (int)(widths[i] * members - !i), heading);
		} else {
			fprintf(out, "%s", i ? "  " : " ");
			print_cell(out, heading, widths[i], i + 1 == columns->count);
		}
	}
	fprintf(out, "\n#\n");
}

static void print_key(FILE *out, const struct report_row *row, enum report_key key,
		      size_t width, bool last, const char *separator)
{
	if (mark_of(row, key)) {
		char mark[MARK_WIDTH + 1] = { '[', mark_of(row, key), ']', ' ' };
		size_t most = separator || width > MARK_WIDTH ? MARK_WIDTH : width;

		fwrite(mark, 1, most, out);
		width -= most;
	}
	if (separator)
		print_separated(out, row->text[key], *separator);
	else
		print_cell(out, row->text[key], width, last);
}

static void print_numbers(FILE *out, const struct report_event *event,
			  const struct report_row *row, enum report_key key, size_t width,
			  bool separated)
{
	const struct report_row *pair = row->pair;
	char text[24];

	number_text(event, row, key, text, sizeof(text));
	fprintf(out, "%*s", separated ? 0 : (int)width, text);
	for (size_t member = 1; member < event->members; member++) {
		member_text(event, member, &pair, key, text, sizeof(text));
		fprintf(out, "%s%*s", separated ? " " : "", separated ? 0 : (int)width, text);
	}
}

static void print_row(FILE *out, const struct report *report,
		      const struct report_event *event, const struct report_row *row,
		      const size_t *widths)
{
	const struct report_columns *columns = &report->options->columns;
	const char *separator = report->options->separator;

	for (size_t i = 0; i < columns->count; i++) {
		enum report_key key = columns->list[i];

		if (separator && i)
			fputs(separator, out);
		else if (!separator && key < KEY_COUNT)
			fprintf(out, "  ");
		if (key >= KEY_COUNT) {
			print_numbers(out, event, row, key, widths[i], separator);
			continue;
		}
		print_key(out, row, key, widths[i], i + 1 == columns->count, separator);
	}
	fputc('\n', out);
}

/**
 * report_print_rows() - print the table of an event: its headings and its first rows
 * @out: where to.
 * @report: the report.
 * @event: of it, sorted.
 * @most: rows that are printed.
 * @graphs: print call graphs, too, if there are any.
 */
void report_print_rows(FILE *out, const struct report *report,
		       const struct report_event *event, size_t most, bool graphs)
{
	size_t widths[COLUMN_COUNT];

	measure(report, event, most, widths);
	print_headings(out, report, event, widths);
	for (size_t i = 0; i < event->row_count && most; i++) {
		if (!report_row_is_shown(report, event, event->rows[i]))
			continue;
		print_row(out, report, event, event->rows[i], widths);
		if (graphs && event->has_chains)
			report_print_graph(out, report, event, event->rows[i]);
		most--;
	}
}

/**
 * report_print_graph() - print who called what a row is of, as the options say
 * @out: where to.
 * @report: the report.
 * @event: of it, with chains.
 * @row: of that.
 */
void report_print_graph(FILE *out, const struct report *report,
			const struct report_event *event, const struct report_row *row)
{
	const struct report_callgraph *graph = &report->options->graph;
	struct tree_node *root;
	struct tree *tree;

	/* No branch has more than its row. */
	if (graph->style != STYLE_FRACTAL &&
	    report_percent(report_weight(report, row), event->period) < graph->limit)
		return;
	tree = chains_of_row(report, row, &root);
	if (tree && root->child) {
		graph_print(out, graph, root, event->period, GRAPH_INDENT);
		if (graph->style == STYLE_GRAPH || graph->style == STYLE_FRACTAL)
			fputc('\n', out);
	}
	tree_free(tree);
}

static void print_event(const struct report *report, const struct report_event *event)
{
	static const struct report_callgraph whole = { .limit = 0.5 };
	size_t widths[COLUMN_COUNT];

	if (report->options->about != ABOUT_NOTHING && event->members)
		group_print_head(event);
	else if (report->options->about != ABOUT_NOTHING && report->options->branches)
		printf("# %s: %" PRIu64 " branches\n", event->name, event->samples);
	else if (report->options->about != ABOUT_NOTHING)
		printf("# %s: %" PRIu64 " samples, %" PRIu64 " events\n", event->name,
		       event->samples, event->period);
	if (!group_samples(event))
		return;
	if (report->options->hierarchy) {
		hierarchy_print(report, event);
		return;
	}
	if (report->options->about != ABOUT_NOTHING)
		printf("#\n");
	measure(report, event, SIZE_MAX, widths);
	if (report->options->about != ABOUT_NOTHING)
		print_headings(stdout, report, event, widths);
	for (size_t i = 0; i < event->row_count; i++) {
		const struct report_row *row = event->rows[i];

		if (!report_row_is_shown(report, event, row))
			continue;
		print_row(stdout, report, event, row, widths);
		if (event->has_chains)
			report_print_graph(stdout, report, event, row);
	}
	if (!event->root || !event->root->child)
		return;
	printf("\n# Calls, from the outermost caller on\n#\n");
	graph_print(stdout, &whole, event->root, event->period, 0);
}

/**
 * report_print() - print a report as text
 * @report: sorted.
 */
void report_print(const struct report *report)
{
	bool any = false;

	about_print(report);
	for (size_t i = 0; i < report->event_count; i++) {
		const struct report_event *event = &report->events[i];

		if (!event->name || event->is_member)
			continue;
		if (report->options->about != ABOUT_NOTHING)
			printf("%s#\n", any ? "\n" : "");
		print_event(report, event);
		any = true;
	}
}
