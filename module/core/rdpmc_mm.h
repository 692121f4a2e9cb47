/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters that user space reads: which processes may. How that goes with switches is in
 * pmu/rdpmc.c.
 */
#ifndef PMUCTL_RDPMC_MM_H
#define PMUCTL_RDPMC_MM_H

#include <linux/types.h>

struct mm_struct;
struct pmuctl_hook;
struct seq_file;
struct task_struct;

/**
 * pmuctl_rdpmc_mm_get() - let a process read counters
 * pmuctl_rdpmc_mm_put() - not any more, if this was the last one
 * @mm: its memory.
 *
 * Forks are looked at already: there is a hardware event.
 *
 * Context: Process, may sleep; its mmap_lock held, for writing if it may not yet.
 * Return: 0; -ENOMEM, or -EAGAIN: for this user CPUs were called so often that this process
 * cannot be let now. Never an error if it may already.
 */
int pmuctl_rdpmc_mm_get(struct mm_struct *mm);
void pmuctl_rdpmc_mm_put(struct mm_struct *mm);

/* Keeps the right from the children of forks. Events that need the PMU need it. */
extern struct pmuctl_hook pmuctl_forks_hook;

/**
 * pmuctl_strangers_come() - there may be processes that may read without a page of ours
 * pmuctl_strangers_go() - take the right from them
 *
 * The PMU is ours then, and forks are looked at: the caller has an event that needs both. After the
 * first time there is nothing to be done.
 *
 * Context: any; pmuctl_strangers_go(): Process, may sleep; pmuctl_mutex and cpus_read_lock held.
 */
void pmuctl_strangers_come(void);
void pmuctl_strangers_go(void);

/* Tell maintainers how many users there are. */
void pmuctl_forks_show(struct seq_file *m);

/* Are there any, or were there a moment ago? Any context. */
extern bool pmuctl_rdpmc_mms;

/* Should no counter run during this switch? See pmu/rdpmc.c. IRQs off, before the switch. */
bool pmuctl_rdpmc_switch_disturbs(const struct task_struct *next);
/* It goes on as usual, all that is loaded is on the PMU. Context: likewise */
void pmuctl_rdpmc_switch(const struct task_struct *next);

void pmuctl_rdpmc_mm_init(void);

/* At unload, before hooks are dropped: there are no mappings any more. */
void pmuctl_rdpmc_mm_exit(void);

#endif /* PMUCTL_RDPMC_MM_H */
