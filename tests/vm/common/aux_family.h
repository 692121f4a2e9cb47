/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of traces that are inherited: a task that waits until all that is to watch it is
 * open, and a trace of it for each CPU.
 */
#ifndef VM_AUX_FAMILY_H
#define VM_AUX_FAMILY_H

#include "aux.h"

#define FAMILY_CPUS		2
#define FAMILY_PAGES		512	/* of a trace */
#define FAMILY_RECORD_PAGES	256

/* A task that stands still before @code(). */
pid_t family_start(void (*code)(void));

/* Let it go on, and wait for its end, which is to be one without an error. */
void family_run(pid_t pid);

/* @a, inherited; it is not enabled by an exec. */
union raw_attr aux_inherited(union raw_attr a);

/* Trace it and all that it starts, at once: FAMILY_CPUS traces. */
void family_traces(struct trace *t, pid_t pid);

/* From now on the caller runs on this CPU, if that is there. */
void family_go_to(int cpu);

#endif /* VM_AUX_FAMILY_H */
