/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters that user space reads: which processes may. How that goes with switches is in
 * pmu/rdpmc.c.
 */
#ifndef PMUCTL_RDPMC_MM_H
#define PMUCTL_RDPMC_MM_H

#include <linux/types.h>

struct mm_struct;
struct pmuctl_explanation;
struct seq_file;
struct task_struct;

/**
 * pmuctl_rdpmc_mm_get() - let a process read counters
 * pmuctl_rdpmc_mm_put() - not any more, if this was the last one
 * @mm: its memory.
 *
 * Forks are looked at already: there is an event of a task.
 *
 * Context: Process, may sleep; its mmap_lock held, for writing if it may not yet.
 * Return: 0; -ENOMEM, or -EAGAIN: for this user CPUs were called so often that this process
 * cannot be let now. Never an error if it may already.
 */
int pmuctl_rdpmc_mm_get(struct mm_struct *mm);
void pmuctl_rdpmc_mm_put(struct mm_struct *mm);

/**
 * pmuctl_forks_get() - keep the right from the children of forks
 * pmuctl_forks_put() - not for this user any more
 * @why: filled on refusal.
 *
 * The users are the scheduler's hook and, for longer, each process that may read, or might once.
 *
 * Context: Process, may sleep.
 * Return: 0; -EOPNOTSUPP if this kernel does not tell of forks; -ENOMEM.
 */
int pmuctl_forks_get(struct pmuctl_explanation *why);
void pmuctl_forks_put(void);

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
