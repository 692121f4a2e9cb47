/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel's tracing says of itself in tracefs, wherever that is mounted.
 */
#ifndef PMUCTL_TOOL_TRACEFS_H
#define PMUCTL_TOOL_TRACEFS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

FILE *tracefs_open(const char *name);
char *tracefs_read(const char *name, size_t *size);
char *tracefs_name(uint64_t id, const char *guess);

/* globs.c */
int tracepoint_globs_expand(const char *text, char **expanded);

#endif /* PMUCTL_TOOL_TRACEFS_H */
