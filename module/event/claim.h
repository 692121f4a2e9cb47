/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who may take the PMU, and for how long it stays ours: claim.c, where each is described.
 */
#ifndef PMUCTL_CLAIM_H
#define PMUCTL_CLAIM_H

#include "core/event.h"

struct seq_file;

int pmuctl_claim_get(const struct pmuctl_event *event,
		     struct pmuctl_explanation *why);
void pmuctl_claim_put(const struct pmuctl_event *event);
void pmuctl_claim_show(struct seq_file *m);
void pmuctl_claim_init(void);
void pmuctl_claim_exit(void);

#endif /* PMUCTL_CLAIM_H */
