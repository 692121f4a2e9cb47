/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many events a user may have, and how much work his filters may be.
 */
#ifndef PMUCTL_QUOTA_H
#define PMUCTL_QUOTA_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct pmuctl_explanation;
struct pmuctl_quota;

/* Has the caller CAP_PERFMON, which @perfmon says, or CAP_SYS_RESOURCE? Process. */
bool pmuctl_is_unlimited(bool perfmon);

/* Who answers for the caller: himself, or who has made his user namespace. Process. */
kuid_t pmuctl_payer(void);

/**
 * pmuctl_quota_get() - the caller, who is not unlimited, opens one more event
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: to be given to pmuctl_quota_put() when it has ended; or ERR_PTR: -EMFILE if the user has
 * as many as he may; -ENOMEM.
 */
struct pmuctl_quota *pmuctl_quota_get(struct pmuctl_explanation *why);

/* One less; NULL is fine. */
void pmuctl_quota_put(struct pmuctl_quota *quota);

/**
 * pmuctl_quota_change_work() - an event has another filter
 * @quota: in which the event is counted, or NULL.
 * @from: what a hit has cost because of its filter, in steps.
 * @to: what it is to cost. Never refused if that is not more.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: 0, or -ENOSPC.
 */
int pmuctl_quota_change_work(struct pmuctl_quota *quota, u32 from, u32 to,
			     struct pmuctl_explanation *why);

#endif /* PMUCTL_QUOTA_H */
