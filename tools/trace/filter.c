// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a trace was restricted to. Where it leaves these addresses the processor tells nothing but
 * that it did, so whoever decodes has to know them.
 */
#include <stdlib.h>
#include <string.h>

#include "trace.h"

static const char *take_number(const char *at, uint64_t *value)
{
	char *end;

	*value = strtoull(at, &end, 0);
	return end;
}

/**
 * trace_filter_ranges() - where what was traced is in a process now
 * @filter: as PERF_EVENT_IOC_SET_FILTER takes it.
 * @thread: of the process, or NULL.
 * @ranges: filled, TRACE_RANGES at most; what is nowhere has addresses that no code has.
 *
 * Return: how many there are.
 */
unsigned int trace_filter_ranges(const char *filter, const struct thread *thread,
				 struct trace_range *ranges)
{
	static const char between[] = " ,\n";
	unsigned int n = 0;

	while (n < TRACE_RANGES && *(filter += strspn(filter, between))) {
		struct trace_range *range = &ranges[n];
		uint64_t size = 1;
		char *path;

		range->stops = !strncmp(filter, "stop", 4) || !strncmp(filter, "tracestop", 9);
		filter += strcspn(filter, between);
		filter = take_number(filter, &range->from);
		if (*filter == '/')
			filter = take_number(filter + 1, &size);
		if (*filter == '@') {
			path = strndup(filter + 1, strcspn(filter + 1, between));
			range->from = path && thread ? tasks_address_of(thread, path, range->from) : 0;
			free(path);
		}
		range->to = range->from + (size ? size - 1 : 0);
		filter += strcspn(filter, between);
		n++;
	}
	return n;
}
