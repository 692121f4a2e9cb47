// SPDX-License-Identifier: GPL-2.0-only
/*
 * The means of repeated runs, and how far they can be trusted: the standard error of
 * the mean, as "perf stat -r" tells it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

/**
 * struct repeated - one row over all runs
 * @value: of the runs in which it was counted.
 * @enabled: nanoseconds, of all runs.
 * @running: nanoseconds, of all runs.
 */
struct repeated {
	struct mean value;
	struct mean enabled;
	struct mean running;
};

/**
 * struct repeats - all runs
 * @runs: how many there were.
 * @elapsed: seconds.
 * @times: the same of each run.
 * @count: number of rows.
 * @rows: their means, names of its own.
 * @sums: what these are made of.
 */
struct repeats {
	unsigned int runs;
	struct mean elapsed;
	double *times;
	size_t count;
	struct stat_row *rows;
	struct repeated *sums;
};

/**
 * mean_add() - take one more number into account
 * @mean: starts as all zero.
 * @value: the number.
 */
void mean_add(struct mean *mean, double value)
{
	double before = value - mean->mean;

	mean->count++;
	mean->mean += before / mean->count;
	mean->squares += before * (value - mean->mean);
}

/**
 * mean_error() - how far the mean may be off
 * @mean: the mean.
 *
 * Return: the standard deviation of the mean; 0 if one number says nothing of it.
 */
double mean_error(const struct mean *mean)
{
	if (mean->count < 2)
		return 0;
	return sqrt(mean->squares / (mean->count - 1) / mean->count);
}

int repeats_new(struct repeats **repeats)
{
	*repeats = calloc(1, sizeof(**repeats));
	return *repeats ? 0 : -ENOMEM;
}

void repeats_free(struct repeats *repeats)
{
	if (!repeats)
		return;
	for (size_t i = 0; repeats->rows && i < repeats->count; i++) {
		free(repeats->rows[i].name);
		free(repeats->rows[i].where);
	}
	free(repeats->times);
	free(repeats->rows);
	free(repeats->sums);
	free(repeats);
}

static int rows_copy(struct repeats *repeats, const struct stat_row *rows,
		     size_t count)
{
	repeats->rows = calloc(count, sizeof(*repeats->rows));
	repeats->sums = calloc(count, sizeof(*repeats->sums));
	if (!repeats->rows || !repeats->sums)
		return -ENOMEM;
	repeats->count = count;
	for (size_t i = 0; i < count; i++) {
		repeats->rows[i] = rows[i];
		repeats->rows[i].name = strdup(rows[i].name);
		if (rows[i].where)
			repeats->rows[i].where = strdup(rows[i].where);
		if (!repeats->rows[i].name || (rows[i].where && !repeats->rows[i].where))
			return -ENOMEM;
	}
	return 0;
}

/**
 * repeats_add() - one more run
 * @repeats: the runs so far.
 * @rows: its results, the same rows in each run.
 * @count: how many.
 * @elapsed: seconds.
 *
 * Return: 0 or -ENOMEM.
 */
int repeats_add(struct repeats *repeats, const struct stat_row *rows, size_t count,
		double elapsed)
{
	double *times = reallocarray(repeats->times, repeats->runs + 1, sizeof(*times));

	if (!times)
		return -ENOMEM;
	repeats->times = times;
	if (!repeats->rows && rows_copy(repeats, rows, count) < 0)
		return -ENOMEM;
	times[repeats->runs++] = elapsed;
	mean_add(&repeats->elapsed, elapsed);
	for (size_t i = 0; i < repeats->count && i < count; i++) {
		struct repeated *sums = &repeats->sums[i];

		mean_add(&sums->enabled, (double)rows[i].enabled);
		mean_add(&sums->running, (double)rows[i].running);
		if (rows[i].state != ROW_COUNTED)
			continue;
		mean_add(&sums->value, (double)rows[i].value);
		repeats->rows[i].state = ROW_COUNTED;
		repeats->rows[i].cpus = rows[i].cpus;
	}
	return 0;
}

static uint64_t whole(const struct mean *mean)
{
	return mean->mean < 0x1p64 ? (uint64_t)(mean->mean + 0.5) : UINT64_MAX;
}

/**
 * repeats_result() - the means
 * @repeats: the runs; they own the rows, and the time of each run.
 * @result: rows, times and number of runs are set.
 */
void repeats_result(struct repeats *repeats, struct stat_result *result)
{
	for (size_t i = 0; i < repeats->count; i++) {
		const struct repeated *sums = &repeats->sums[i];
		struct stat_row *row = &repeats->rows[i];

		row->value = whole(&sums->value);
		row->enabled = whole(&sums->enabled);
		row->running = whole(&sums->running);
		row->deviation = sums->value.mean > 0 ?
			100 * mean_error(&sums->value) / sums->value.mean : 0;
	}
	result->rows = repeats->rows;
	result->count = repeats->count;
	result->runs = repeats->runs;
	result->times = repeats->times;
	result->elapsed = repeats->elapsed.mean;
	result->elapsed_deviation = mean_error(&repeats->elapsed);
}
