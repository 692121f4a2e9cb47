/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of software events: events, and things that make them happen a known
 * number of times.
 */
#ifndef VM_SOFT_H
#define VM_SOFT_H

#include "records.h"

/* Disabled; a read gives the value only. */
struct perf_event_attr soft_attr(uint64_t config);

/* Memory that is not there before it is touched, page by page */
uint8_t *fresh_pages(size_t pages);

/* A page fault for each page */
void touch_pages(uint8_t *map, size_t pages);

/* The same by the kernel, when it copies something there */
void touch_by_kernel(uint8_t *map, size_t pages);

/* What an event counts between the two system calls around @pages page faults */
uint64_t count_touches(int fd, size_t pages, bool by_kernel);

/* ---- Samples ---- */

/* The next sample, taken apart; false if there is none. Nothing is lost. */
bool next_sample(const struct perf_event_attr *attr, struct ring *r,
	  struct sample *s);

/* ---- What the kernel itself has counted ---- */

/* How often a task has been moved to another CPU */
uint64_t task_migrations(pid_t tid);

#endif /* VM_SOFT_H */
