// SPDX-License-Identifier: GPL-2.0-only
/*
 * What "pmuctl stat" notes beside a count: the metrics that were asked for; else a ratio, a part
 * of another event, or so many in a second of the time that a clock among the events has counted.
 */
#include <string.h>

#include "stat.h"

#define CACHE(level, op, result) \
	(PERF_COUNT_HW_CACHE_##level | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

/* @config as a part of @of, both of a type */
static const struct ratio {
	uint32_t type;
	uint64_t config;
	uint64_t of;
	double factor;
	const char *unit;
} ratios[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES, 1,
	  "insn per cycle" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	  100, "of all branches" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_CACHE_REFERENCES, 100,
	  "of all cache refs" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, PERF_COUNT_HW_CPU_CYCLES,
	  100, "frontend cycles idle" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, PERF_COUNT_HW_CPU_CYCLES,
	  100, "backend cycles idle" },
	{ PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS), CACHE(L1D, READ, ACCESS), 100,
	  "of all L1-dcache accesses" },
	{ PERF_TYPE_HW_CACHE, CACHE(L1I, READ, MISS), CACHE(L1I, READ, ACCESS), 100,
	  "of all L1-icache accesses" },
	{ PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS), CACHE(LL, READ, ACCESS), 100,
	  "of all LL-cache accesses" },
	{ PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS), CACHE(DTLB, READ, ACCESS), 100,
	  "of all dTLB cache accesses" },
	{ PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS), CACHE(ITLB, READ, ACCESS), 100,
	  "of all iTLB cache accesses" },
};

static bool same_levels(const struct perf_event_attr *a,
			const struct perf_event_attr *b)
{
	return a->exclude_user == b->exclude_user &&
	       a->exclude_kernel == b->exclude_kernel;
}

/* Do both count the tasks of the same one, or all? */
bool row_same_cgroup(const struct stat_row *a, const struct stat_row *b)
{
	return a->cgroup == b->cgroup || (a->cgroup && b->cgroup && !strcmp(a->cgroup, b->cgroup));
}

/* Are both counts of the same CPU, core or thread, and cgroup? */
bool row_same_place(const struct stat_row *a, const struct stat_row *b)
{
	return a->cpu == b->cpu && row_same_cgroup(a, b) &&
	       (a->where == b->where || (a->where && b->where && !strcmp(a->where, b->where)));
}

/* On the same CPU; one of the same group, which was counted at the same time, first. */
static const struct stat_row *row_find(const struct stat_result *result,
				       const struct stat_row *like, uint64_t config)
{
	const struct stat_row *found = NULL;

	for (size_t i = 0; i < result->count; i++) {
		const struct stat_row *row = &result->rows[i];

		if (row->attr.type != like->attr.type ||
		    row->attr.config != config || row->state != ROW_COUNTED ||
		    !row_same_place(row, like) || !same_levels(&row->attr, &like->attr))
			continue;
		if (row->leader == like->leader)
			return row;
		if (!found)
			found = row;
	}
	return found;
}

/* Does it count nanoseconds? */
bool row_is_clock(const struct stat_row *row)
{
	return row->attr.type == PERF_TYPE_SOFTWARE &&
	       (row->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
		row->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Is it one of the times that nothing counts? */
bool row_is_time(const struct stat_row *row)
{
	return event_time_find(row->name) != EVENT_TIME_NONE;
}

static const struct stat_row *clock_find(const struct stat_result *result,
					 const struct stat_row *like)
{
	for (size_t i = 0; i < result->count; i++) {
		const struct stat_row *row = &result->rows[i];

		if (row_is_clock(row) && row->state == ROW_COUNTED && row->value &&
		    row_same_place(row, like))
			return row;
	}
	return NULL;
}

/* How many of it in a second of the clock's time */
static bool row_rate(const struct stat_result *result, const struct stat_row *row,
		     double *value, const char **unit)
{
	static const struct {
		double from;
		const char *unit;
	} scales[] = { { 1e9, "G/sec" }, { 1e6, "M/sec" }, { 1e3, "K/sec" }, { 1, "/sec" } };
	const struct stat_row *clock = clock_find(result, row);
	size_t i = 0;

	if (!clock)
		return false;
	*value = (double)row->value / (double)clock->value;
	if (row->attr.type == PERF_TYPE_HARDWARE &&
	    row->attr.config == PERF_COUNT_HW_CPU_CYCLES) {
		*unit = "GHz";
		return true;
	}
	*value *= 1e9;
	while (i + 1 < ARRAY_LEN(scales) && *value < scales[i].from)
		i++;
	*value /= scales[i].from;
	*unit = scales[i].unit;
	return true;
}

/* The ratio that belongs to an event, if there is one */
static bool row_ratio(const struct stat_result *result, const struct stat_row *row,
		      struct row_note *note)
{
	double duration = result->duration ? result->duration : result->elapsed;

	if (row_is_time(row))
		return false;
	if (row_is_clock(row)) {
		note->value = duration > 0 ? (double)row->value / 1e9 / duration : 0;
		note->unit = "CPUs utilized";
		return duration > 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(ratios); i++) {
		const struct stat_row *of;

		if (ratios[i].type != row->attr.type || ratios[i].config != row->attr.config)
			continue;
		of = row_find(result, row, ratios[i].of);
		if (!of || !of->value)
			break;
		note->value = ratios[i].factor * (double)row->value / (double)of->value;
		note->is_percentage = ratios[i].factor > 1;
		note->unit = ratios[i].unit;
		return true;
	}
	return row_rate(result, row, &note->value, &note->unit);
}

/* ----------------------------------------------------------------- metrics */

/* An event's name ends where its modifiers begin. */
static bool is_called(const struct stat_row *row, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(row->name, name, length) &&
	       (!row->name[length] || row->name[length] == ':');
}

/**
 * struct counted - what a formula asks
 * @result: the counts.
 * @like: a row of the place that is meant.
 */
struct counted {
	const struct stat_result *result;
	const struct stat_row *like;
};

/* Of that name and place. Those that metrics need come last: before may be "cycles:u" as well. */
static const struct stat_row *row_called(const struct counted *counted, const char *name)
{
	for (size_t i = counted->result->count; i-- > 0;) {
		const struct stat_row *row = &counted->result->rows[i];

		if (row_same_place(row, counted->like) && is_called(row, name))
			return row;
	}
	return NULL;
}

/* metric_facts.count */
static bool count_of(void *arg, const char *name, double *count)
{
	const struct stat_row *row = row_called(arg, name);

	if (!row || row->state != ROW_COUNTED)
		return false;
	*count = (double)row->value;
	return true;
}

/**
 * result_metric() - the value of a metric
 * @result: the counts, and the metrics.
 * @like: a row of the place that is meant.
 * @number: which metric.
 * @value: the result.
 *
 * Return: whether there is one.
 */
bool result_metric(const struct stat_result *result, const struct stat_row *like,
		   size_t number, double *value)
{
	struct counted counted = { .result = result, .like = like };
	const struct metric_facts facts = {
		.smt_on = result->metrics->smt_on, .count = count_of, .arg = &counted,
	};

	return metric_compute(result->metrics->list[number]->formula, &facts, value);
}

/* Is the metric shown beside this row? */
static bool is_beside(const struct stat_result *result, const struct stat_row *row,
		      size_t number)
{
	struct counted counted = { .result = result, .like = row };
	char name[METRIC_NAME_SIZE];

	metric_first_event(result->metrics, number, name, sizeof(name));
	return is_called(row, name) && row_called(&counted, name) == row;
}

/**
 * row_note() - a number that is shown beside a count
 * @result: all counts.
 * @row: the count.
 * @number: which one: 0 and up.
 * @note: filled.
 *
 * Return: false if there are no more.
 */
bool row_note(const struct stat_result *result, const struct stat_row *row, size_t number,
	      struct row_note *note)
{
	bool is_first = number == 0;

	*note = (struct row_note){ .value = 0 };
	if (row->state != ROW_COUNTED)
		return false;
	for (size_t i = 0; result->metrics && i < result->metrics->count; i++) {
		if (!is_beside(result, row, i) || !result_metric(result, row, i, &note->value))
			continue;
		is_first = false;
		if (number-- > 0)
			continue;
		note->is_metric = true;
		note->unit = result->metrics->list[i]->name;
		note->is_percentage = !strcmp(result->metrics->list[i]->unit, "%");
		return true;
	}
	return is_first && row_ratio(result, row, note);
}
