// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as text: a table of rows, below each of them who called it, or at the end
 * the tree of all calls. Lines that begin with '#' are headings.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

/* Branches of a tree with less than this share of all samples are not shown. */
#define TREE_PERCENT_MIN 0.5

/* A tree is not printed deeper than this: nobody reads it. */
#define TREE_DEPTH_MAX 128

#define INDENT 2

/* Trees of callers begin below the name of the row. */
#define ROW_INDENT 12

struct column {
	const char *heading;
	size_t width;
};

static const char *const headings[KEY_COUNT] = {
	[KEY_COMM] = "Command",
	[KEY_PID] = "Pid",
	[KEY_TID] = "Tid",
	[KEY_CPU] = "CPU",
	[KEY_DSO] = "Shared object",
	[KEY_SYMBOL] = "Symbol",
	[KEY_LINE] = "Source line",
};

static double percent(uint64_t part, uint64_t of)
{
	return of ? 100.0 * (double)part / (double)of : 0;
}

static uint64_t weight(const struct report *report, const struct report_row *row)
{
	return report->options->children ? row->total : row->period;
}

static bool is_shown(const struct report *report, const struct report_event *event,
		     const struct report_row *row)
{
	return percent(weight(report, row), event->period) >= report->options->limit;
}

/* Characters, not bytes: a name may be in any language. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void measure(const struct report *report, const struct report_event *event,
		    struct column *columns)
{
	const struct report_options *options = report->options;

	for (size_t i = 0; i < options->key_count; i++) {
		columns[i].heading = headings[options->keys[i]];
		columns[i].width = width_of(columns[i].heading);
	}
	for (size_t n = 0; n < event->row_count; n++) {
		if (!is_shown(report, event, event->rows[n]))
			break;
		for (size_t i = 0; i < options->key_count; i++) {
			size_t width = width_of(event->rows[n]->text[i]);

			if (options->keys[i] == KEY_SYMBOL)
				width += 4;
			if (width > columns[i].width)
				columns[i].width = width;
		}
	}
}

static void print_cell(const char *text, size_t width, bool last)
{
	size_t used = width_of(text);

	fputs(text, stdout);
	if (!last)
		printf("%*s", (int)(width > used ? width - used : 0), "");
}

static void print_headings(const struct report *report, const struct column *columns)
{
	const struct report_options *options = report->options;

	printf("#%s", options->children ? " Children      Self" : " Overhead");
	if (options->counts)
		printf("   Samples");
	for (size_t i = 0; i < options->key_count; i++) {
		printf("  ");
		print_cell(columns[i].heading, columns[i].width, i + 1 == options->key_count);
	}
	printf("\n#\n");
}

static void print_row(const struct report *report, const struct report_event *event,
		      const struct report_row *row, const struct column *columns)
{
	const struct report_options *options = report->options;

	if (options->children)
		printf("%9.2f%%", percent(row->total, event->period));
	printf("%9.2f%%", percent(row->period, event->period));
	if (options->counts)
		printf("%10" PRIu64, row->samples);
	for (size_t i = 0; i < options->key_count; i++) {
		bool last = i + 1 == options->key_count;
		size_t width = columns[i].width;

		printf("  ");
		if (options->keys[i] == KEY_SYMBOL) {
			printf("[%c] ", row->level);
			width -= 4;
		}
		print_cell(row->text[i], width, last);
	}
	putchar('\n');
}

/* All samples of @parent are also @node's: then it needs no number of its own. */
static bool is_plain(const struct tree_node *parent, const struct tree_node *node)
{
	return parent->child == node && !node->sibling && node->period == parent->period;
}

/*
 * Children below their parent, further to the right. An only child that has all of its
 * parent's samples is right under it, so that a plain stack stays a plain column.
 */
static void print_tree(const struct tree_node *parent, uint64_t total, size_t indent,
		       unsigned int depth)
{
	uint64_t hidden = 0;

	for (const struct tree_node *node = parent->child; node; node = node->sibling) {
		bool plain = depth && is_plain(parent, node);
		bool column = node->child && is_plain(node, node->child);

		if (percent(node->period, total) < TREE_PERCENT_MIN) {
			hidden += node->period;
			continue;
		}
		if (plain)
			printf("%*s          %s\n", (int)indent, "", node->label);
		else
			printf("%*s%7.2f%%  %s\n", (int)indent, "",
			       percent(node->period, total), node->label);
		if (depth + 1 == TREE_DEPTH_MAX)
			continue;
		print_tree(node, total, indent + (column ? 0 : INDENT), depth + 1);
	}
	if (percent(hidden, total) >= TREE_PERCENT_MIN)
		printf("%*s%7.2f%%  [others, each less than %.1f%%]\n", (int)indent, "",
		       percent(hidden, total), TREE_PERCENT_MIN);
}

static void print_event(const struct report *report, const struct report_event *event)
{
	struct column columns[KEY_COUNT];

	printf("# %s: %" PRIu64 " samples, %" PRIu64 " events\n", event->name,
	       event->samples, event->period);
	if (!event->samples)
		return;
	printf("#\n");
	measure(report, event, columns);
	print_headings(report, columns);
	for (size_t i = 0; i < event->row_count; i++) {
		const struct report_row *row = event->rows[i];

		if (!is_shown(report, event, row))
			break;
		print_row(report, event, row, columns);
		if (!row->callers || !row->callers->child)
			continue;
		print_tree(row->callers, event->period, ROW_INDENT, 0);
		putchar('\n');
	}
	if (!event->root || !event->root->child)
		return;
	printf("\n# Calls, from the outermost caller on\n#\n");
	print_tree(event->root, event->period, 0, 0);
}

static void print_about(const struct report *report)
{
	const struct samples *samples = report->samples;
	const struct perffile_info *info = &samples->file->info;
	struct names *names = samples->symbols->names;

	printf("# recording: %s\n", names_intern(names, samples->path));
	if (info->cmdline)
		printf("# command: %s\n", names_intern(names, info->cmdline));
	if (info->hostname && info->osrelease)
		printf("# machine: %s, kernel %s\n", names_intern(names, info->hostname),
		       names_intern(names, info->osrelease));
	printf("# lost records: %" PRIu64 "\n", samples->lost + samples->lost_samples);
}

/**
 * report_print() - print a report as text
 * @report: sorted.
 */
void report_print(const struct report *report)
{
	bool any = false;

	print_about(report);
	for (size_t i = 0; i < report->event_count; i++) {
		const struct report_event *event = &report->events[i];

		if (!event->name)
			continue;
		printf("%s#\n", any ? "\n" : "");
		print_event(report, event);
		any = true;
	}
}
