/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks that move from one cgroup to another, while there are events of cgroups.
 */
#ifndef PMUCTL_CGROUP_MOVES_H
#define PMUCTL_CGROUP_MOVES_H

struct pmuctl_hook;

extern struct pmuctl_hook pmuctl_cgroup_moves_hook;

void pmuctl_cgroup_moves_init(void);

/* The hook is not set any more. Process, may sleep. */
void pmuctl_cgroup_moves_exit(void);

#endif /* PMUCTL_CGROUP_MOVES_H */
