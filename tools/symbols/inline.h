/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that the compiler has put into others: inline.c, by debug information.
 */
#ifndef PMUCTL_TOOL_INLINE_H
#define PMUCTL_TOOL_INLINE_H

#include "symbols.h"

size_t inlined_add(struct symbols *symbols, struct place *places, size_t max, bool is_return);
void inlined_free(struct inlined *inlined);

#endif /* PMUCTL_TOOL_INLINE_H */
