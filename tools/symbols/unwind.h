/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a copy of a stack to who called: unwind.c, with elfutils.
 */
#ifndef PMUCTL_TOOL_UNWIND_H
#define PMUCTL_TOOL_UNWIND_H

#include "symbols.h"

struct unwinder;

struct unwinder *unwinder_new(struct tasks *tasks);
void unwinder_free(struct unwinder *unwinder);
size_t unwinder_walk(struct unwinder *unwinder, const struct thread *thread,
		     const struct perffile_record *record, uint64_t *ips, size_t max);

#endif /* PMUCTL_TOOL_UNWIND_H */
