/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of tracepoints: opening one by its name, and its filter.
 */
#ifndef VM_TRACEPOINT_H
#define VM_TRACEPOINT_H

#include "soft.h"

/* Disabled; a read gives the value only. */
struct perf_event_attr tracepoint_attr(void);

/* Returns a descriptor, or -errno with event_why filled. */
int tracepoint_try_in_group(const char *name, const struct perf_event_attr *attr,
				 pid_t pid, int cpu, int group_fd);

int tracepoint_try(const char *name, const struct perf_event_attr *attr,
			pid_t pid, int cpu);
int tracepoint_open_for(const char *name, const struct perf_event_attr *attr,
			     pid_t pid, int cpu);
int tracepoint_open(const char *name, const struct perf_event_attr *attr);
int tracepoint_filter(int fd, const char *text);

/* What an event counts of @n system calls of this task; the two around are none of them. */
uint64_t tracepoint_count_getppid(int fd, uint64_t n);

#endif /* VM_TRACEPOINT_H */
