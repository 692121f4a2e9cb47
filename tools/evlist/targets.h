/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding out the targets of a set of events, as event_set_init() does.
 */
#ifndef PMUCTL_TOOL_TARGETS_H
#define PMUCTL_TOOL_TARGETS_H

#include <stdbool.h>
#include <sys/types.h>

struct event_set;
struct measure;

/* All that a process has and will have is one target; what it has now is many. */
bool targets_are_threads(const struct measure *measure);

/* Fills @set->targets and @set->cpus; 0 or a negative errno, of which the user has been told. */
int targets_make(struct event_set *set, pid_t child, bool each_cpu);

#endif /* PMUCTL_TOOL_TARGETS_H */
