// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of two recordings that mean the same: both lists are sorted by their texts, as a
 * program that was built again has its functions elsewhere, and walked through together.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "diff.h"

static struct report_columns keys_of(const struct diff *diff)
{
	const struct report_columns *columns = &diff->options.columns;
	struct report_columns keys = { .count = 0 };

	for (size_t i = 0; i < columns->count; i++)
		if (columns->list[i] < KEY_COUNT)
			keys.list[keys.count++] = columns->list[i];
	return keys;
}

static int by_keys(const void *left, const void *right, void *keys)
{
	return report_row_compare(keys, *(struct report_row *const *)left,
				  *(struct report_row *const *)right);
}

/* Functions of one name in one file are one row, as nobody knows which is which. */
static void add(const struct diff *diff, struct diff_rows *rows,
		const struct report_columns *keys, const struct report_row *row, int which)
{
	struct diff_row *last = rows->count ? &rows->list[rows->count - 1] : NULL;

	if (!last || report_row_compare(keys, last->like, row)) {
		last = &rows->list[rows->count++];
		*last = (struct diff_row){ .like = row };
	}
	last->has[which] = true;
	last->period[which] += row->period;
	last->percent[which] = report_percent(last->period[which],
					      rows->events[which]->period);
	last->change = last->percent[1] - last->percent[0];
	if (diff->compute == DIFF_DELTA_ABS)
		last->change = fabs(last->change);
	else if (diff->compute == DIFF_RATIO && last->period[0])
		last->change = (double)last->period[1] / (double)last->period[0];
	else if (diff->compute == DIFF_RATIO)
		last->change = 0;
	else if (diff->compute == DIFF_WEIGHTED)
		last->change = (double)last->period[1] * diff->weights[1] -
			       (double)last->period[0] * diff->weights[0];
}

static void walk(const struct diff *diff, struct diff_rows *rows, struct report_columns *keys)
{
	const struct report_event *old = rows->events[0], *new = rows->events[1];
	size_t i = 0, j = 0;

	while (i < old->row_count || j < new->row_count) {
		int order;

		if (i == old->row_count)
			order = 1;
		else if (j == new->row_count)
			order = -1;
		else
			order = report_row_compare(keys, old->rows[i], new->rows[j]);
		if (order <= 0)
			add(diff, rows, keys, old->rows[i++], 0);
		else
			add(diff, rows, keys, new->rows[j++], 1);
	}
}

/* As perf: what only the old one has comes last, by its share. */
static int by_change(const void *left, const void *right, void *keys)
{
	const struct diff_row *a = left, *b = right;

	if (a->has[1] != b->has[1])
		return a->has[1] ? -1 : 1;
	if (a->has[1] && a->change != b->change)
		return a->change > b->change ? -1 : 1;
	if (!a->has[1] && a->period[0] != b->period[0])
		return a->period[0] > b->period[0] ? -1 : 1;
	return report_row_compare(keys, a->like, b->like);
}

/* And what only the new one has comes last, by its change. */
static int by_baseline(const void *left, const void *right, void *keys)
{
	const struct diff_row *a = left, *b = right;

	if (a->period[0] != b->period[0])
		return a->period[0] > b->period[0] ? -1 : 1;
	return by_change(left, right, keys);
}

/**
 * pairs_make() - put the rows of an event together
 * @diff: the command.
 * @rows: with its events; filled, @rows->list is to be freed.
 *
 * Return: 0, -ENOMEM.
 */
int pairs_make(const struct diff *diff, struct diff_rows *rows)
{
	struct report_columns keys = keys_of(diff);
	size_t kept = 0;

	rows->list = calloc(rows->events[0]->row_count + rows->events[1]->row_count + 1,
			    sizeof(*rows->list));
	if (!rows->list)
		return -ENOMEM;
	for (int i = 0; i < 2; i++)
		if (rows->events[i]->row_count)
			qsort_r(rows->events[i]->rows, rows->events[i]->row_count,
				sizeof(*rows->events[i]->rows), by_keys, &keys);
	walk(diff, rows, &keys);
	for (size_t i = 0; i < rows->count; i++)
		if (rows->list[i].has[0] || !diff->baseline_only)
			rows->list[kept++] = rows->list[i];
	rows->count = kept;
	qsort_r(rows->list, rows->count, sizeof(*rows->list),
		diff->by_baseline ? by_baseline : by_change, &keys);
	return 0;
}
