/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl trace": who made a call.
 */
#ifndef PMUCTL_TOOL_SYSCALLS_CHAINS_H
#define PMUCTL_TOOL_SYSCALLS_CHAINS_H

#include "symbols/samples.h"

int chain_print(FILE *out, struct samples *samples, const struct perffile_record *record, size_t most);

#endif /* PMUCTL_TOOL_SYSCALLS_CHAINS_H */
