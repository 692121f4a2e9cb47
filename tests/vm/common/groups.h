/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of groups and multiplexing: attrs, and what a read of a group gives.
 */
#ifndef VM_GROUPS_H
#define VM_GROUPS_H

#include "loops.h"

/* What a read of a group gives with ids and times */
struct group_read {
	uint64_t nr, enabled, running;
	struct {
		uint64_t value, id;
	} each[64];
};

struct perf_event_attr disabled(struct perf_event_attr attr);
struct perf_event_attr pinned(struct perf_event_attr attr);
struct perf_event_attr raw_u(uint64_t config);

#endif /* VM_GROUPS_H */
