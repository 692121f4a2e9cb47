// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ratios of "pmuctl stat" that are worth a note beside a count: a part of another event, or so
 * many in a second of the time that a clock among the events has counted.
 */
#include <string.h>

#include "stat.h"

#define CACHE(level, op, result) \
	(PERF_COUNT_HW_CACHE_##level | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

/* @config as a part of @of, both of a type */
static const struct metric {
	uint32_t type;
	uint64_t config;
	uint64_t of;
	double factor;
	const char *unit;
} metrics[] = {
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

static bool same_place(const struct stat_row *a, const struct stat_row *b)
{
	return a->cpu == b->cpu &&
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
		    !same_place(row, like) || !same_levels(&row->attr, &like->attr))
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

static const struct stat_row *clock_find(const struct stat_result *result,
					 const struct stat_row *like)
{
	for (size_t i = 0; i < result->count; i++) {
		const struct stat_row *row = &result->rows[i];

		if (row_is_clock(row) && row->state == ROW_COUNTED && row->value &&
		    same_place(row, like))
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

/**
 * row_metric() - the ratio that belongs to an event, if there is one
 * @result: where its partner may be.
 * @row: the event.
 * @value: the ratio, or percentage.
 * @unit: what it is, see metric_is_percentage().
 */
bool row_metric(const struct stat_result *result, const struct stat_row *row,
		double *value, const char **unit)
{
	double duration = result->duration ? result->duration : result->elapsed;

	if (row->state != ROW_COUNTED)
		return false;
	if (row_is_clock(row)) {
		*value = duration > 0 ? (double)row->value / 1e9 / duration : 0;
		*unit = "CPUs utilized";
		return duration > 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(metrics); i++) {
		const struct stat_row *of;

		if (metrics[i].type != row->attr.type || metrics[i].config != row->attr.config)
			continue;
		of = row_find(result, row, metrics[i].of);
		if (!of || !of->value)
			break;
		*value = metrics[i].factor * (double)row->value /
			 (double)of->value;
		*unit = metrics[i].unit;
		return true;
	}
	return row_rate(result, row, value, unit);
}

/**
 * metric_is_percentage() - is a ratio of this unit one in percent?
 * @unit: from row_metric().
 */
bool metric_is_percentage(const char *unit)
{
	for (size_t i = 0; i < ARRAY_LEN(metrics); i++)
		if (!strcmp(unit, metrics[i].unit))
			return metrics[i].factor > 1;
	return false;
}
