/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of groups and multiplexing: opening events in groups.
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

/* Returns a descriptor, or -errno with event_why filled. */
int group_try(struct perf_event_attr attr, pid_t pid, int cpu,
	      int group_fd, unsigned int flags);

/* An event of this task, in the group of @group_fd or in one of its own (-1) */
int group_open(struct perf_event_attr attr, int group_fd);

void assert_refused(struct perf_event_attr attr, pid_t pid, int cpu,
		    int group_fd, int error, unsigned int code,
		    const char *field, const char *sentence);

/* What the descriptor says of its last refusal */
void assert_why(int fd, unsigned int code, const char *field,
		const char *sentence);

uint64_t event_id(int fd);

#endif /* VM_GROUPS_H */
