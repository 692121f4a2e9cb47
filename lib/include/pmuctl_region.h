/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libpmuctl: what parts of a program cost. A program marks regions, as with LIKWID's marker API; what
 * is counted in them is chosen when it is started, in the environment. Conventions are as
 * in pmuctl.h.
 */
#ifndef PMUCTL_REGION_H
#define PMUCTL_REGION_H

#include <pmuctl.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pmuctl_regions;

/**
 * pmuctl_regions_open() - get ready to count in regions
 * @events: what to count, as for pmuctl_events_parse(); all of them at the same time, whether there
 *	are braces or not. NULL: what the environment's PMUCTL_REGIONS says, which is not looked at in
 *	programs that have more rights than who starts them.
 * @why: if not NULL, says why not when the call fails. Untouched otherwise.
 * @regions: the new handle; NULL if nothing is to be counted.
 *
 * Without @events and PMUCTL_REGIONS the handle is NULL, which all functions take: they do
 * nothing then. The driver is asked for all events once, so that a refusal is told here.
 *
 * Return: 0; -EINVAL if the list is wrong, or without @regions; the driver's refusal, or that of
 * pmuctl_device_open(); -ENOMEM; -EAGAIN if the process has too many pthread keys.
 */
int pmuctl_regions_open(const char *events, struct pmuctl_explanation *why,
			struct pmuctl_regions **regions);

/**
 * pmuctl_regions_close() - forget all of it
 * @regions: the handle or NULL. No thread may be in a region, or begin one; threads that were in one
 *	may live on, or be about to end.
 *
 * A child of fork() closes its copy of the handle, too: until then it keeps the events open.
 */
void pmuctl_regions_close(struct pmuctl_regions *regions);

/**
 * pmuctl_region_begin() - the calling thread enters a region
 * @regions: the handle or NULL.
 * @name: of the region. Equal texts are the same region, in all threads.
 *
 * Any number of threads may be in it, and each in any number of regions, nested or not. A thread
 * opens its own events when it is here for the first time. Not for signal handlers.
 *
 * Return: 0; -EBUSY if the thread is in it already; -EINVAL without @name; -ECHILD in a process that
 * was forked by the one that opened the handle; a refusal of the driver; -ENOMEM.
 */
int pmuctl_region_begin(struct pmuctl_regions *regions, const char *name);

/**
 * pmuctl_region_end() - the calling thread leaves a region
 * @regions: the handle or NULL.
 * @name: of the region.
 *
 * Return: 0; -EINVAL if the thread is not in it; -ECHILD; -ENODATA if the events are in error
 * state (pinned ones that found no counter); a refusal of the driver.
 */
int pmuctl_region_end(struct pmuctl_regions *regions, const char *name);

/**
 * struct pmuctl_region - what is known of a region
 * @name: its name, as long as the handle is open.
 * @calls: how often it was left.
 * @threads: by how many threads.
 * @time_enabled: nanoseconds that threads ran in it: what they slept is not counted.
 * @time_running: nanoseconds of them in which the events were on counters. What was counted in
 *	the others, while they waited for their turn, is missing.
 * @reserved: zero.
 */
struct pmuctl_region {
	const char *name;
	uint64_t calls;
	uint64_t threads;
	uint64_t time_enabled;
	uint64_t time_running;
	uint64_t reserved[3];
};

/**
 * pmuctl_regions_get() - what was counted in a region, by all threads
 * @regions: the handle or NULL.
 * @index: which one, from 0 on, as they were entered first.
 * @region: filled.
 * @counts: filled, in the order of the events; may be NULL if @max is 0.
 * @max: room there.
 *
 * Regions that threads are in count as far as they were left. Any thread may ask.
 *
 * Return: how many events there are; -ENOENT behind the last region, and without a handle; -ENOSPC
 * if there are more events than @max, which is not 0; -ECHILD; -ENOMEM.
 */
int pmuctl_regions_get(struct pmuctl_regions *regions, size_t index,
		       struct pmuctl_region *region, uint64_t *counts, size_t max);

/**
 * pmuctl_regions_text() - all regions as a table for people
 * @regions: the handle or NULL.
 * @text: lines, to be given to free(); NULL without a handle.
 *
 * Counts of events that had to wait are estimates, as pmuctl_reading_estimate() makes them; which
 * share of the time was counted stands beside them.
 *
 * Return: 0, -ECHILD or -ENOMEM.
 */
int pmuctl_regions_text(struct pmuctl_regions *regions, char **text);

#ifdef __cplusplus
}
#endif

#endif /* PMUCTL_REGION_H */
