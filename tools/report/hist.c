// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of a report: samples with equal keys are one row, which counts their
 * periods.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define BUCKETS_MIN 1024

#define NS_PER_SECOND UINT64_C(1000000000)

/* Samples without a caller that matches */
#define NO_PARENT "[other]"

static const char *number_text(struct report *report, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)number);
	return names_intern(report->samples->symbols->names, text);
}

/* When its piece of time begins, as perf tells it */
static const char *time_text(struct report *report, uint64_t time)
{
	const struct report_options *options = report->options;
	char text[40];

	if (options->time_quantum)
		time -= time % options->time_quantum;
	snprintf(text, sizeof(text), options->nanoseconds ? "%" PRIu64 ".%09" PRIu64 : "%" PRIu64 ".%06" PRIu64,
		 time / NS_PER_SECOND, time % NS_PER_SECOND / (options->nanoseconds ? 1 : 1000));
	return names_intern(report->samples->symbols->names, text);
}

static const char *parent_text(struct report *report)
{
	const struct report_options *options = report->options;
	bool outermost = options->graph.order == GRAPH_CALLER ||
			 (options->children > 0 && options->graph.order != GRAPH_CALLEE);
	const char *name = filter_parent_of(&options->filter, report->samples, outermost);

	return names_intern(report->samples->symbols->names, name ? name : NO_PARENT);
}

static const char *line_text(struct samples *samples, const struct place *place)
{
	const char *text = symbols_source_line(samples->symbols, place);

	return text ? text : samples_place_name(samples, place);
}

/* What makes the row of a sample, or of a caller, different from others. */
static void fill_key(struct report *report, struct report_row *row, enum report_key key,
		     const struct perffile_record *record, const struct thread *thread,
		     const struct place *place)
{
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
	case KEY_TIME:
		text = time_text(report, record->time);
		break;
	case KEY_CGROUP:
		text = cgroups_path(report, record->sample.cgroup);
		break;
	case KEY_DSO:
		text = place->binary->name;
		break;
	case KEY_SYMBOL:
		text = samples_place_name(samples, place);
		row->level = place->level;
		break;
	case KEY_LINE:
		text = line_text(samples, place);
		break;
	case KEY_PARENT:
		text = parent_text(report);
		break;
	default:
		branches_fill_key(report, row, key);
		return;
	}
	row->text[key] = text;
	row->key[key] = (uint64_t)(uintptr_t)text;
	/* Functions of one name in one file are not one function. */
	if (key == KEY_SYMBOL && place->symbol)
		row->key[key] = (uint64_t)(uintptr_t)place->symbol;
}

static size_t hash_of(const struct report_row *row)
{
	uint64_t hash = (uint64_t)row->level;

	for (size_t i = 0; i < KEY_COUNT; i++)
		hash = (hash ^ row->key[i]) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

/* Into buckets that are empty */
static void fill_buckets(const struct report_event *event, struct report_row **buckets,
			 size_t count)
{
	for (size_t i = 0; i < event->row_count; i++) {
		struct report_row *row = event->rows[i];
		struct report_row **bucket = &buckets[hash_of(row) % count];

		row->next = *bucket;
		*bucket = row;
	}
}

static int grow(struct report_event *event)
{
	size_t count = event->bucket_count ? event->bucket_count * 4 : BUCKETS_MIN;
	struct report_row **buckets;

	if (event->row_count < event->bucket_count)
		return 0;
	buckets = calloc(count, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	fill_buckets(event, buckets, count);
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

/* The row with these keys, which is a copy of @like if there was none; NULL without memory */
static struct report_row *row_like(struct report_event *event, const struct report_row *like)
{
	struct report_row *row, **bucket;

	if (grow(event) < 0)
		return NULL;
	bucket = &event->buckets[hash_of(like) % event->bucket_count];
	for (row = *bucket; row; row = row->next)
		if (row->level == like->level && !memcmp(row->key, like->key, sizeof(like->key)))
			return row;
	row = append(event, like);
	if (row) {
		row->next = *bucket;
		*bucket = row;
	}
	return row;
}

static struct report_row *find_row(struct report *report, struct report_event *event,
				   const struct perffile_record *record,
				   const struct thread *thread, const struct place *place)
{
	struct report_row like = { 0 };

	for (int i = 0; i < KEY_COUNT; i++)
		if (report->options->is_key[i])
			fill_key(report, &like, (enum report_key)i, record, thread, place);
	return row_like(event, &like);
}

/*
 * A function that calls itself has its sample once. What was inlined where the sample is counts
 * as a caller does; the innermost one's part of the call chain belongs to the sample's own row.
 */
static int add_children(struct report *report, struct report_event *event,
			const struct perffile_record *record, const struct thread *thread,
			struct report_row **rows)
{
	const bool only_known = report->options->filter.hide_unresolved;
	struct samples *samples = report->samples;

	for (size_t i = 0; i < samples->frame_count; i++) {
		struct report_row *row = rows[0];

		if (only_known && !samples->frames[i].symbol)
			continue;
		if (i != samples->self)
			row = find_row(report, event, record, thread, &samples->frames[i]);
		if (!row)
			return -ENOMEM;
		if (i && i != samples->self)
			rows[i] = row;
		if (row->last == event->samples)
			continue;
		row->last = event->samples;
		row->total += record->sample.period;
	}
	return 0;
}

static void add_period(struct report_row *row, const struct perffile_record *record, uint64_t period)
{
	row->period += period;
	row->samples++;
	switch (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		row->kernel += period;
		break;
	case PERF_RECORD_MISC_USER:
		row->user += period;
		break;
	}
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
	const struct report_options *options = report->options;
	struct report_row *rows[SAMPLES_FRAMES_MAX];
	struct samples *samples = report->samples;
	struct place self = samples->frames[samples->self];
	bool is_json = options->format == FORMAT_JSON;

	/* It is hit where its code comes from, not where that was inlined. */
	self.line = NULL;
	rows[0] = find_row(report, event, record, thread, &self);
	if (!rows[0])
		return -ENOMEM;
	event->samples++;
	event->period += record->sample.period;
	add_period(rows[0], record, record->sample.period);
	if (samples->frame_count > 1)
		event->has_chains = true;
	memset(rows + 1, 0, (samples->frame_count - 1) * sizeof(struct report_row *));
	if (options->children > 0 && add_children(report, event, record, thread, rows) < 0)
		return -ENOMEM;
	if (options->graph.order == GRAPH_NONE || options->hierarchy ||
	    (is_json && options->graph.order == GRAPH_CALLER))
		return 0;
	return chains_add(report, event, rows, record->sample.period);
}

/**
 * hist_add_branch() - add a branch, which is one of what is counted
 * @report: with the branch in @report->branch.
 * @event: of its sample.
 * @record: the sample.
 * @thread: its thread.
 *
 * Return: 0, -ENOMEM.
 */
int hist_add_branch(struct report *report, struct report_event *event,
		    const struct perffile_record *record, const struct thread *thread)
{
	struct report_row *row = find_row(report, event, record, thread, &report->branch->to);

	if (!row)
		return -ENOMEM;
	event->samples++;
	event->period++;
	add_period(row, record, 1);
	return 0;
}

static uint64_t number_of(const struct report_row *row, enum report_key number)
{
	switch (number) {
	case NUMBER_CHILDREN:
		return row->total;
	case NUMBER_OVERHEAD:
	case NUMBER_PERIOD:
		return row->period;
	case NUMBER_KERNEL:
		return row->kernel;
	case NUMBER_USER:
		return row->user;
	case NUMBER_SAMPLES:
		return row->samples;
	default:
		return 0;
	}
}

static int compare_numbers(uint64_t left, uint64_t right)
{
	return left > right ? -1 : left < right;
}

/* Those of the leader of a group, or else of the first member that has another one */
static int compare_members(enum report_key number, const struct report_row *a,
			   const struct report_row *b)
{
	int result = compare_numbers(number_of(a, number), number_of(b, number));

	while (!result && (a->pair || b->pair)) {
		size_t left = a->pair ? a->pair->member : SIZE_MAX;
		size_t right = b->pair ? b->pair->member : SIZE_MAX;

		/* Who has no row has none of it. */
		if (left <= right)
			a = a->pair;
		if (right <= left)
			b = b->pair;
		result = compare_numbers(left <= right ? number_of(a, number) : 0,
					 right <= left ? number_of(b, number) : 0);
	}
	return result;
}

/* Numbers of processes, threads and CPUs, and times, go by their value. */
static int compare_text(enum report_key key, const char *a, const char *b)
{
	if (key == KEY_PID || key == KEY_TID || key == KEY_CPU || key == KEY_TIME ||
	    key == KEY_CYCLES) {
		char *after_a, *after_b;
		long left = strtol(a, &after_a, 10), right = strtol(b, &after_b, 10);

		/* Of a time all parts of a second have as many digits. */
		return left < right ? -1 : left > right ? 1 : strcmp(after_a, after_b);
	}
	return strcmp(a, b);
}

/**
 * report_row_compare() - which row comes first?
 * @order: what counts, the most important first: numbers from large to small, texts as in
 *	a dictionary.
 * @a: a row.
 * @b: another one.
 *
 * Return: below 0 if @a comes first, above if @b does.
 */
int report_row_compare(const struct report_columns *order, const struct report_row *a,
		       const struct report_row *b)
{
	for (size_t i = 0; i < order->count; i++) {
		enum report_key key = order->list[i];
		int result = 0;

		if (key >= KEY_COUNT)
			result = compare_members(key, a, b);
		else if (a->text[key] && b->text[key])
			result = compare_text(key, a->text[key], b->text[key]);
		if (result)
			return result;
	}
	return a->level - b->level;
}

static int compare(const void *left, const void *right, void *order)
{
	return report_row_compare(order, *(struct report_row *const *)left,
				  *(struct report_row *const *)right);
}

static bool is_kept(const struct report_row *row, const struct filter *filter)
{
	const char *name = row->text[KEY_SYMBOL], *dso = row->text[KEY_DSO];

	return (!filter->symbol_part || (name && strstr(name, filter->symbol_part))) &&
	       (!filter->dso_row || (dso && !strcmp(dso, filter->dso_row)));
}

/* Rows of other functions and files go; if asked, so does what they have of the whole. */
static void keep_rows(struct report_event *event, const struct filter *filter)
{
	uint64_t period = 0, samples = 0;
	size_t kept = 0;

	for (size_t i = 0; i < event->row_count; i++) {
		struct report_row *row = event->rows[i];

		if (!is_kept(row, filter)) {
			free(row);
			continue;
		}
		event->rows[kept++] = row;
		period += row->period;
		samples += row->samples;
	}
	event->row_count = kept;
	if (!filter->relative)
		return;
	event->period = period;
	event->samples = samples;
}

static void sort(const struct report *report, struct report_event *event)
{
	if (event->row_count)
		qsort_r(event->rows, event->row_count, sizeof(*event->rows), compare,
			(void *)&report->options->order);
}

/**
 * hist_finish() - put the rows in order
 * @report: the report.
 * @event: with all samples.
 */
void hist_finish(const struct report *report, struct report_event *event)
{
	const struct report_options *options = report->options;

	if (options->filter.symbol_part || options->filter.dso_row)
		keep_rows(event, &options->filter);
	sort(report, event);
}

/**
 * hist_join() - let the rows of an event have those of others with the same keys as pairs
 * @report: the report.
 * @event: the first of a group, finished. Keys that only others have become rows of it, without
 *	samples, and all are put in order again.
 * @members: how many are in the group; the others are behind it.
 *
 * Return: 0, -ENOMEM.
 */
int hist_join(const struct report *report, struct report_event *event, size_t members)
{
	/* Rows that were left out are still there. */
	if (event->buckets)
		memset(event->buckets, 0, event->bucket_count * sizeof(*event->buckets));
	fill_buckets(event, event->buckets, event->bucket_count);
	/* From the last one on, so that the first is the first pair. */
	for (size_t member = members - 1; member; member--)
		for (size_t i = 0; i < event[member].row_count; i++) {
			struct report_row *row = event[member].rows[i], *own;
			struct report_row like = { .level = row->level };

			memcpy(like.key, row->key, sizeof(like.key));
			memcpy(like.text, row->text, sizeof(like.text));
			own = row_like(event, &like);
			if (!own)
				return -ENOMEM;
			row->member = member;
			row->pair = own->pair;
			own->pair = row;
		}
	sort(report, event);
	return 0;
}

/**
 * hist_decay() - let what was counted until now weigh less
 * @event: its rows keep so much; those that have nothing left are forgotten.
 * @eighths: how much, of 8; 0: all is forgotten.
 *
 * The event keeps as much of what is in no row.
 */
void hist_decay(struct report_event *event, unsigned int eighths)
{
	struct report_part others = { event->period, event->samples };
	size_t kept = 0;

	event->period = 0;
	event->samples = 0;
	for (size_t i = 0; i < event->row_count; i++)
		event->rows[i]->nodes = NULL;
	chains_decay(event, eighths);
	for (size_t i = 0; i < event->row_count; i++) {
		struct report_row *row = event->rows[i];

		others.period -= row->period;
		others.samples -= row->samples;
		row->period = eighths_of(row->period, eighths);
		row->kernel = eighths_of(row->kernel, eighths);
		row->user = eighths_of(row->user, eighths);
		row->samples = eighths_of(row->samples, eighths);
		row->total = eighths_of(row->total, eighths);
		row->last = 0;
		if (!row->period && !row->total && !row->nodes) {
			free(row);
			continue;
		}
		event->rows[kept++] = row;
		event->period += row->period;
		event->samples += row->samples;
	}
	event->row_count = kept;
	event->period += eighths_of(others.period, eighths);
	event->samples += eighths_of(others.samples, eighths);
	if (!event->buckets)
		return;
	memset(event->buckets, 0, event->bucket_count * sizeof(*event->buckets));
	fill_buckets(event, event->buckets, event->bucket_count);
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
	tree_free(event->chains);
	tree_free(event->calls);
}
