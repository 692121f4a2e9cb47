/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler's tracepoints.
 */
#ifndef PMUCTL_TASK_HOOKS_H
#define PMUCTL_TASK_HOOKS_H

void pmuctl_hooks_init(void);

#endif /* PMUCTL_TASK_HOOKS_H */
