// SPDX-License-Identifier: GPL-2.0-only
#include "groups.h"

struct perf_event_attr disabled(struct perf_event_attr attr)
{
	attr.disabled = 1;
	return attr;
}

struct perf_event_attr pinned(struct perf_event_attr attr)
{
	attr.pinned = 1;
	return attr;
}

struct perf_event_attr raw_u(uint64_t config)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_RAW, config);

	attr.exclude_kernel = 1;
	return attr;
}
