/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters that user space reads: the pages of events. Which processes may is in rdpmc_mm.h.
 */
#ifndef PMUCTL_RDPMC_H
#define PMUCTL_RDPMC_H

#include <linux/types.h>

struct page;
struct pmuctl_context;
struct pmuctl_event;

/* Is it the calling thread that it counts, so that this can read the counter? Process. */
bool pmuctl_userpage_is_own(const struct pmuctl_event *event);

/**
 * pmuctl_userpage_get() - a page that user space may map
 * @event: kept open by the caller.
 * @own: as pmuctl_userpage_is_own() says: the page tells where the counter is; else
 *	that there is none to read.
 * @of_records: the event's records have local_clock()'s time, so the page is to tell how that
 *	comes from the TSC.
 *
 * Context: Process, may sleep.
 * Return: the same page each time, which lives as long as the event and the mappings; or
 * NULL: no memory.
 */
struct page *pmuctl_userpage_get(struct pmuctl_event *event, bool own, bool of_records);

/* With the event, which is not attached any more. Process. */
void pmuctl_userpage_free(struct pmuctl_event *event);

/* Bring the pages of all events of a context up to date. Its lock held; on its CPU. */
void pmuctl_userpage_write_all(struct pmuctl_context *ctx);

/* The event, whose counter has a user, was reset. Context: as hwpmu_read() */
void pmuctl_userpage_reset(struct pmuctl_event *event);

/* Tell in a page how the TSC becomes local_clock(), if it does. Before user space has it. */
void pmuctl_userpage_tell_clock(struct perf_event_mmap_page *page);

void pmuctl_rdpmc_init(void);

#endif /* PMUCTL_RDPMC_H */
