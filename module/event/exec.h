/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an exec does to the events of its task.
 */
#ifndef PMUCTL_EXEC_H
#define PMUCTL_EXEC_H

/* What the hooks tell: the old image is gone, and, if the context did not end with that, the new
 * one is there. Context: that of the tracepoint, see task_hooks.c
 */
void pmuctl_context_exec_begin(void);
void pmuctl_context_exec_end(void);

#endif /* PMUCTL_EXEC_H */
