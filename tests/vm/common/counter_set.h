/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * On which counters an event can be, as it shows in the event selects: for tests that compare
 * with the kernel's own perf.
 */
#ifndef VM_COUNTER_SET_H
#define VM_COUNTER_SET_H

#include "msrs.h"

/* Opens an event: event_try() or perf_try() */
typedef int (*counter_set_opener)(const struct perf_event_attr *attr, pid_t pid, int cpu);

/* Ours */
int counter_set_ours(const struct perf_event_attr *attr, pid_t pid, int cpu);

/*
 * The general counters of a CPU, one bit each, on which an event is when there is one copy of it
 * more than counters; 0: it is refused. What was selected before does not count: the PMU is given
 * back first.
 */
uint64_t counter_set(const struct msrs *m, int cpu, const struct perf_event_attr *attr,
		     counter_set_opener open);

#endif /* VM_COUNTER_SET_H */
