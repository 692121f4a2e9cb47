// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many system calls there were of each kind, and how long they took, task by task, in the form
 * of "perf trace -s".
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "syscalls.h"

static int add_error(struct call_stats *stats, int number)
{
	struct call_error *list;
	size_t i = 0;

	while (i < stats->listed && stats->list[i].number < number)
		i++;
	if (i == stats->listed || stats->list[i].number != number) {
		list = reallocarray(stats->list, stats->listed + 1, sizeof(*list));
		if (!list)
			return -ENOMEM;
		stats->list = list;
		memmove(list + i + 1, list + i, (stats->listed++ - i) * sizeof(*list));
		list[i] = (struct call_error){ .number = number };
	}
	stats->list[i].count++;
	return 0;
}

/**
 * call_stats_add() - one more
 * @stats: of the calls before.
 * @duration: ns.
 * @result: what it returned; below 0 an error.
 *
 * Return: 0 or -ENOMEM.
 */
int call_stats_add(struct call_stats *stats, uint64_t duration, int64_t result)
{
	double from_old = (double)duration - stats->mean;

	if (!stats->count || duration < stats->min)
		stats->min = duration;
	if (duration > stats->max)
		stats->max = duration;
	stats->count++;
	stats->errors += result < 0;
	stats->total += duration;
	/* Welford's way of the variance, which needs no list of them */
	stats->mean += from_old / (double)stats->count;
	stats->squares += from_old * ((double)duration - stats->mean);
	return result < 0 && result >= -ERRNO_MAX ? add_error(stats, (int)-result) : 0;
}

/**
 * call_stats_free() - forget them
 * @stats: them, or NULL.
 */
void call_stats_free(struct call_stats *stats)
{
	if (stats)
		free(stats->list);
	free(stats);
}

/* The standard deviation of the mean, as a part of it, in percent */
static double deviation(const struct call_stats *stats)
{
	double n = (double)stats->count;

	if (stats->count < 2 || stats->mean <= 0)
		return 0;
	return 100 * sqrt(stats->squares / (n - 1) / n) / stats->mean;
}

struct row {
	const char *name;
	const struct call_stats *stats;
};

/* The longest first */
static int compare(const void *a, const void *b)
{
	const struct call_stats *left = ((const struct row *)a)->stats;
	const struct call_stats *right = ((const struct row *)b)->stats;

	if (left->total != right->total)
		return left->total < right->total ? 1 : -1;
	return (left->count < right->count) - (left->count > right->count);
}

static double milliseconds(double ns)
{
	return ns / 1e6;
}

static void print_row(FILE *out, const struct row *row)
{
	const struct call_stats *stats = row->stats;

	fprintf(out, "   %-15s %8" PRIu64 " %6" PRIu64 " %9.3f %9.3f %9.3f %9.3f %9.2f%%\n",
		row->name, stats->count, stats->errors, milliseconds((double)stats->total),
		milliseconds((double)stats->min), milliseconds(stats->mean),
		milliseconds((double)stats->max), deviation(stats));
}

/* As with perf, below the call */
static void print_errors(FILE *out, const struct call_stats *stats)
{
	for (size_t i = 0; i < stats->listed; i++) {
		const struct call_error *error = &stats->list[i];
		const char *name = error_name(error->number);

		if (name)
			fprintf(out, "\t\t\t\t%s: %" PRIu64 "\n", name, error->count);
		else
			fprintf(out, "\t\t\t\terror %d: %" PRIu64 "\n", error->number, error->count);
	}
}

static void print_caller(struct calls *calls, const struct caller *caller)
{
	static struct row rows[SYSCALLS_MAX];
	size_t count = 0;

	for (unsigned int i = 0; caller->stats && i < SYSCALLS_MAX; i++)
		if (caller->stats[i])
			rows[count++] = (struct row){
				.name = syscall_table_get(&calls->table, i)->name,
				.stats = caller->stats[i],
			};
	qsort(rows, count, sizeof(rows[0]), compare);
	fprintf(calls->out, " %s (%d), %" PRIu64 " events, %.1f%%", caller->comm, caller->tid,
		caller->events, 100 * (double)caller->events / (double)calls->events);
	if (caller->major)
		fprintf(calls->out, ", %" PRIu64 " majfaults", caller->major);
	if (caller->minor)
		fprintf(calls->out, ", %" PRIu64 " minfaults", caller->minor);
	fprintf(calls->out, "\n\n");
	fprintf(calls->out, "   %-15s %8s %6s %9s %9s %9s %9s %10s\n", "syscall", "calls", "errors",
		"total", "min", "avg", "max", "stddev");
	fprintf(calls->out, "   %-15s %8s %6s %9s %9s %9s %9s %10s\n", "", "", "", "(msec)", "(msec)",
		"(msec)", "(msec)", "(%)");
	fprintf(calls->out,
		"   --------------- -------- ------ --------- --------- --------- ---------     ------\n");
	for (size_t i = 0; i < count; i++) {
		print_row(calls->out, &rows[i]);
		if (calls->errors)
			print_errors(calls->out, rows[i].stats);
	}
	fprintf(calls->out, "\n\n");
}

/* Who made most of them first; of equals, who came first */
static int compare_callers(const void *a, const void *b)
{
	const struct caller *left = *(struct caller *const *)a;
	const struct caller *right = *(struct caller *const *)b;

	return (left->events < right->events) - (left->events > right->events);
}

/**
 * summary_print() - print all
 * @calls: all calls.
 */
void summary_print(struct calls *calls)
{
	struct caller **callers;
	size_t count = 0;

	for (struct caller *caller = calls->first; caller; caller = caller->later)
		count++;
	callers = calloc(count + 1, sizeof(*callers));
	if (!callers)
		return;
	count = 0;
	for (struct caller *caller = calls->first; caller; caller = caller->later)
		callers[count++] = caller;
	qsort(callers, count, sizeof(*callers), compare_callers);
	fprintf(calls->out, "\n Summary of events:\n\n");
	for (size_t i = 0; i < count; i++)
		print_caller(calls, callers[i]);
	free(callers);
}
