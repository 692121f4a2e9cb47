/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of filters by file: a file with a function that does nothing, mapped wherever
 * it happens to be, and how often a trace begins there.
 */
#ifndef VM_AUX_STUB_H
#define VM_AUX_STUB_H

#include "aux.h"

#define STUB		"/tmp/stub"
#define STUB_SIZE	32	/* bytes of code, at the begin of the file */

/* Make the file: it jumps to its end and returns. */
void stub_make(void);

/* Map it, and nowhere else any more: it is called there then. */
void stub_map(void);

extern void (*volatile stub)(void);
void stub_call(unsigned int times);

/*
 * How often the trace begins at the first instruction, which is at @at in one process, and at the
 * same place of a page in others; it begins nowhere outside of such code. That an interrupt there
 * lets it begin once more does not count.
 */
unsigned int stub_begins(const struct trace *t, uint64_t at);

#endif /* VM_AUX_STUB_H */
