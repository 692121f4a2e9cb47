// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows within rows: for each key a level, with the sum of what is below it.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define INDENT 4

/**
 * struct group - rows that have the keys in common, down to a level
 * @rows: them, next to each other.
 * @count: how many.
 * @part: their sum.
 */
struct group {
	struct report_row **rows;
	size_t count;
	struct report_part part;
};

static bool is_same(const struct report_row *a, const struct report_row *b,
		    enum report_key key)
{
	return a->key[key] == b->key[key] && (key != KEY_SYMBOL || a->level == b->level);
}

static int by_key(const void *left, const void *right, void *arg)
{
	const struct report_row *a = *(struct report_row *const *)left;
	const struct report_row *b = *(struct report_row *const *)right;
	enum report_key key = *(enum report_key *)arg;

	if (a->key[key] != b->key[key])
		return a->key[key] < b->key[key] ? -1 : 1;
	return key == KEY_SYMBOL ? a->level - b->level : 0;
}

static int by_part(const void *left, const void *right, void *arg)
{
	const struct group *a = left, *b = right;
	enum report_key key = *(enum report_key *)arg;
	int order;

	if (a->part.period != b->part.period)
		return a->part.period > b->part.period ? -1 : 1;
	order = strcmp(a->rows[0]->text[key], b->rows[0]->text[key]);
	return order ? order : a->rows[0]->level - b->rows[0]->level;
}

/* Groups of rows of one key, the largest first; NULL: no memory. */
static struct group *make_groups(struct report_row **rows, size_t count,
				 enum report_key key, size_t *group_count)
{
	struct group *groups = calloc(count, sizeof(*groups));
	size_t n = 0;

	if (!groups)
		return NULL;
	qsort_r(rows, count, sizeof(struct report_row *), by_key, &key);
	for (size_t i = 0; i < count; i++) {
		if (!i || !is_same(rows[i - 1], rows[i], key))
			groups[n++].rows = &rows[i];
		groups[n - 1].count++;
		groups[n - 1].part.period += rows[i]->period;
		groups[n - 1].part.samples += rows[i]->samples;
	}
	qsort_r(groups, n, sizeof(*groups), by_part, &key);
	*group_count = n;
	return groups;
}

static void print_level(const struct report *report, const struct report_event *event,
			const struct group *parent, const enum report_key *keys, size_t left,
			size_t depth)
{
	const struct report_options *options = report->options;
	size_t count;
	struct group *groups = make_groups(parent->rows, parent->count, *keys, &count);

	for (size_t i = 0; groups && i < count; i++) {
		const struct report_part *part = &groups[i].part;
		double percent = report_percent(part->period, event->period);

		if (percent < options->limit)
			break;
		printf("%9.2f%%", percent);
		if (options->counts)
			printf("%10" PRIu64, part->samples);
		printf("%*s", (int)(2 + depth * INDENT), "");
		if (*keys == KEY_SYMBOL)
			printf("[%c] ", groups[i].rows[0]->level);
		puts(groups[i].rows[0]->text[*keys]);
		if (left > 1)
			print_level(report, event, &groups[i], keys + 1, left - 1, depth + 1);
	}
	free(groups);
}

/**
 * hierarchy_print() - print the rows of an event within each other
 * @report: the report.
 * @event: with all samples.
 */
void hierarchy_print(const struct report *report, const struct report_event *event)
{
	const struct report_columns *columns = &report->options->columns;
	struct group all = { event->rows, event->row_count, { 0 } };
	enum report_key keys[KEY_COUNT];
	size_t count = 0;

	for (size_t i = 0; i < columns->count; i++)
		if (columns->list[i] < KEY_COUNT)
			keys[count++] = columns->list[i];
	if (report->options->about != ABOUT_NOTHING) {
		printf("#\n# Overhead%s  ", report->options->counts ? "   Samples" : "");
		for (size_t i = 0; i < count; i++)
			printf("%s%s", i ? " / " : "", report_headings[keys[i]]);
		printf("\n#\n");
	}
	if (all.count && count)
		print_level(report, event, &all, keys, count, 0);
}
