/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A line on the terminal that tells what goes on where it takes long.
 */
#ifndef PMUCTL_TOOL_PROGRESS_H
#define PMUCTL_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

/**
 * struct progress - a line that tells what goes on, on a terminal
 * @out: where to, NULL if it is none.
 * @whole_lines: others write there too.
 * @shown: there is a line to wipe.
 */
struct progress {
	FILE *out;
	bool whole_lines;
	bool shown;
};

void progress_init(struct progress *progress, FILE *out, bool shared);
void progress_show(struct progress *progress, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void progress_clear(struct progress *progress);

#endif /* PMUCTL_TOOL_PROGRESS_H */
