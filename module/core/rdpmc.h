/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters that user space reads: the pages of events (core/rdpmc.c), and which processes may
 * (pmu/rdpmc.c).
 */
#ifndef PMUCTL_RDPMC_H
#define PMUCTL_RDPMC_H

#include <linux/types.h>

struct mm_struct;
struct page;
struct pmuctl_context;
struct pmuctl_event;
struct task_struct;

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

/**
 * pmuctl_rdpmc_mm_get() - let a process read counters
 * pmuctl_rdpmc_mm_put() - not any more, if this was the last one
 * @mm: its memory.
 *
 * Context: Process, may sleep; its mmap_lock held, for writing if it may not yet.
 * Return: 0; -ENOMEM, or -EAGAIN: for this user CPUs were called so often that this process
 * cannot be let now. Never an error if it may already.
 */
int pmuctl_rdpmc_mm_get(struct mm_struct *mm);
void pmuctl_rdpmc_mm_put(struct mm_struct *mm);

void pmuctl_rdpmc_init(void);

/* At unload: there are no such processes any more. */
void pmuctl_rdpmc_exit(void);

/* Are there any, or were there a moment ago? Any context. */
extern bool pmuctl_rdpmc_mms;

/* What the hooks tell. The last two: IRQs off, before the switch. */
void pmuctl_rdpmc_fork(struct task_struct *child);
/* Should no counter run during this switch? See pmu/rdpmc.c. */
bool pmuctl_rdpmc_switch_disturbs(const struct task_struct *next);
/* It goes on as usual, all that is loaded is on the PMU. */
void pmuctl_rdpmc_switch(const struct task_struct *next);

#endif /* PMUCTL_RDPMC_H */
