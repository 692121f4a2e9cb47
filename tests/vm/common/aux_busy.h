/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of AUX area tracing, whatever makes the trace: a task that is traced
 * until it is killed, readers that are killed meanwhile, and tracepoints that pause and
 * resume.
 */
#ifndef VM_AUX_BUSY_H
#define VM_AUX_BUSY_H

#include "aux.h"

#include <time.h>

/* A task that calls @code until it is killed */
pid_t traced_task_start(void (*code)(void));

void traced_task_end(pid_t pid);
void nap(void);
uint64_t head_of(const struct trace *t);

/* A reader of @pid's trace, that is killed at some moment of its work */
void trace_kill_reader(const union raw_attr *attr, pid_t pid, size_t pages,
		       unsigned int *seed);

/* The calling task's hits of a tracepoint, each @period-th of which is to do @action to @leader */
int trace_open_trigger(const char *name, uint32_t action, uint64_t period,
		       int leader, const char *filter);

#endif /* VM_AUX_BUSY_H */
