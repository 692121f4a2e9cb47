/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of tracepoints: opening one by its name, and its filter.
 */
#ifndef VM_TRACEPOINT_H
#define VM_TRACEPOINT_H

#include "soft.h"

/* Disabled; a read gives the value only. */
struct perf_event_attr tracepoint_attr(void);

/* Have the kernel's tracing mounted. */
#define TRACEFS		"/sys/kernel/tracing"
void tracepoint_mount(void);

/* What perf has for attr.config of "system:name" */
uint64_t tracepoint_id(const char *event);

int tracepoint_filter(int fd, const char *text);

/* An event of perf's and one of ours, of the same, and what both are to do */
struct tracepoint_pair {
	int ours, perfs;
};

struct tracepoint_pair tracepoint_pair_open(struct perf_event_attr attr, const char *event,
					    pid_t pid);
void tracepoint_pair_ioctl(const struct tracepoint_pair *pair, unsigned long request);

/* What an event counts of @n system calls of this task; the two around are none of them. */
uint64_t tracepoint_count_getppid(int fd, uint64_t n);

/* Begin to wait for a timer, and leave that: hits hrtimer_cancel, of which no table knows. */
void tracepoint_set_timer(void);

/*
 * No other program takes the CPU from this task, from here on. Newer kernels may preempt between
 * making the record of a hit and telling of it: then that one is lost.
 */
void tracepoint_not_preempted(void);

#endif /* VM_TRACEPOINT_H */
