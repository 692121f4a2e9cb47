// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of a report: samples with equal keys are one row, which counts their
 * periods.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define BUCKETS_MIN 1024

const char *const report_key_names[KEY_COUNT] = {
	[KEY_COMM] = "comm",
	[KEY_PID] = "pid",
	[KEY_TID] = "tid",
	[KEY_CPU] = "cpu",
	[KEY_DSO] = "dso",
	[KEY_SYMBOL] = "symbol",
	[KEY_LINE] = "srcline",
};

static const char *number_text(struct report *report, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)number);
	return names_intern(report->samples->symbols->names, text);
}

/* What makes the row of a sample, or of a caller, different from others. */
static void fill_key(struct report *report, struct report_row *row, size_t n,
		     const struct perffile_record *record, const struct thread *thread,
		     const struct place *place)
{
	enum report_key key = report->options->keys[n];
	struct samples *samples = report->samples;
	const char *text = NULL;

	switch (key) {
	case KEY_COMM:
		text = thread->comm;
		break;
	case KEY_PID:
		text = number_text(report, record->pid);
		break;
	case KEY_TID:
		text = number_text(report, record->tid);
		break;
	case KEY_CPU:
		text = number_text(report, record->fields & PERF_SAMPLE_CPU ?
				   (int64_t)record->cpu : -1);
		break;
	case KEY_DSO:
		text = place->binary->name;
		break;
	case KEY_SYMBOL:
		text = samples_place_name(samples, place);
		row->level = place->level;
		break;
	case KEY_LINE:
		text = symbols_source_line(samples->symbols, place);
		text = text ? text : samples_place_name(samples, place);
		break;
	case KEY_COUNT:
		break;
	}
	row->text[n] = text;
	row->key[n] = (uint64_t)(uintptr_t)text;
	/* Functions of one name in one file are not one function. */
	if (key == KEY_SYMBOL && place->symbol)
		row->key[n] = (uint64_t)(uintptr_t)place->symbol;
}

static size_t hash_of(const struct report_row *row, size_t key_count)
{
	uint64_t hash = (uint64_t)row->level;

	for (size_t i = 0; i < key_count; i++)
		hash = (hash ^ row->key[i]) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

static int grow(struct report_event *event, size_t key_count)
{
	size_t count = event->bucket_count ? event->bucket_count * 4 : BUCKETS_MIN;
	struct report_row **buckets;

	if (event->row_count < event->bucket_count)
		return 0;
	buckets = calloc(count, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	for (size_t i = 0; i < event->row_count; i++) {
		struct report_row *row = event->rows[i];
		struct report_row **bucket = &buckets[hash_of(row, key_count) % count];

		row->next = *bucket;
		*bucket = row;
	}
	free(event->buckets);
	event->buckets = buckets;
	event->bucket_count = count;
	return 0;
}

static struct report_row *append(struct report_event *event, const struct report_row *like)
{
	struct report_row *row = malloc(sizeof(*row));

	if (row && event->row_count == event->room) {
		size_t room = event->room ? event->room * 2 : 256;
		struct report_row **rows = reallocarray(event->rows, room, sizeof(*rows));

		if (!rows) {
			free(row);
			return NULL;
		}
		event->rows = rows;
		event->room = room;
	}
	if (!row)
		return NULL;
	*row = *like;
	event->rows[event->row_count++] = row;
	return row;
}

static struct report_row *find_row(struct report *report, struct report_event *event,
				   const struct perffile_record *record,
				   const struct thread *thread, const struct place *place)
{
	size_t key_count = report->options->key_count;
	struct report_row like = { 0 }, *row, **bucket;

	for (size_t i = 0; i < key_count; i++)
		fill_key(report, &like, i, record, thread, place);
	if (grow(event, key_count) < 0)
		return NULL;
	bucket = &event->buckets[hash_of(&like, key_count) % event->bucket_count];
	for (row = *bucket; row; row = row->next)
		if (row->level == like.level &&
		    !memcmp(row->key, like.key, key_count * sizeof(like.key[0])))
			return row;
	row = append(event, &like);
	if (row) {
		row->next = *bucket;
		*bucket = row;
	}
	return row;
}

static int add_callers(struct report *report, struct report_event *event,
		       struct report_row *row, uint64_t period)
{
	struct samples *samples = report->samples;
	struct tree_node *node;

	if (!event->trees)
		event->trees = tree_new();
	if (!row->callers && event->trees)
		row->callers = tree_root(event->trees);
	node = row->callers;
	for (size_t i = 0; node && i < samples->frame_count; i++) {
		const struct place *place = &samples->frames[i];

		if (i)
			node = tree_child(event->trees, node,
					  samples_frame_name(samples, place), place->level);
		if (!node)
			return -ENOMEM;
		node->period += period;
		node->samples++;
	}
	return node ? 0 : -ENOMEM;
}

/* A function that calls itself has its sample once. */
static int add_children(struct report *report, struct report_event *event,
			const struct perffile_record *record, const struct thread *thread)
{
	struct samples *samples = report->samples;

	for (size_t i = 0; i < samples->frame_count; i++) {
		struct report_row *row = find_row(report, event, record, thread,
						  &samples->frames[i]);

		if (!row)
			return -ENOMEM;
		if (row->last == event->samples)
			continue;
		row->last = event->samples;
		row->total += record->sample.period;
	}
	return 0;
}

/**
 * hist_add() - add a sample
 * @report: of which the frames were resolved.
 * @event: that it is of.
 * @record: the sample.
 * @thread: its thread.
 *
 * Return: 0, -ENOMEM.
 */
int hist_add(struct report *report, struct report_event *event,
	     const struct perffile_record *record, const struct thread *thread)
{
	struct samples *samples = report->samples;
	uint64_t period = record->sample.period;
	struct report_row *row = find_row(report, event, record, thread,
					  &samples->frames[0]);

	if (!row)
		return -ENOMEM;
	event->samples++;
	event->period += period;
	row->period += period;
	row->samples++;
	if (samples->frame_count > 1)
		event->has_chains = true;
	if (report->options->graph != GRAPH_NONE && report->options->graph != GRAPH_CALLER &&
	    add_callers(report, event, row, period) < 0)
		return -ENOMEM;
	if (report->options->children)
		return add_children(report, event, record, thread);
	return 0;
}

static int by_text(const struct report_row *a, const struct report_row *b)
{
	for (size_t i = 0; i < KEY_COUNT && a->text[i] && b->text[i]; i++) {
		int order = strcmp(a->text[i], b->text[i]);

		if (order)
			return order;
	}
	return a->level - b->level;
}

static int by_period(const void *left, const void *right)
{
	const struct report_row *a = *(struct report_row *const *)left;
	const struct report_row *b = *(struct report_row *const *)right;

	if (a->period != b->period)
		return a->period > b->period ? -1 : 1;
	return by_text(a, b);
}

static int by_total(const void *left, const void *right)
{
	const struct report_row *a = *(struct report_row *const *)left;
	const struct report_row *b = *(struct report_row *const *)right;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return by_period(left, right);
}

/**
 * hist_sort() - put the rows in order, the largest first, and their callers
 * @event: with all samples.
 * @children: by what is in a row or in what it called.
 */
void hist_sort(struct report_event *event, bool children)
{
	if (event->row_count)
		qsort(event->rows, event->row_count, sizeof(*event->rows),
		      children ? by_total : by_period);
	for (size_t i = 0; i < event->row_count; i++)
		if (event->rows[i]->callers)
			tree_sort(event->rows[i]->callers, false);
}

/**
 * hist_free() - forget the rows
 * @event: the event.
 */
void hist_free(struct report_event *event)
{
	for (size_t i = 0; i < event->row_count; i++)
		free(event->rows[i]);
	free(event->rows);
	free(event->buckets);
	tree_free(event->trees);
	tree_free(event->calls);
}
