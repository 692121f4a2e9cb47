/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options that commands which read a recording have in common: where it and what belongs to it
 * are, and which samples are looked at. Each command's table has those that it takes.
 */
#ifndef PMUCTL_TOOL_READING_H
#define PMUCTL_TOOL_READING_H

#include "report/filter.h"

/* Those without a letter; the commands' own have smaller numbers. */
enum {
	READING_PID = 1000,
	READING_TID,
	READING_TIME,
	READING_KALLSYMS,
	READING_SYMFS,
	READING_INLINE,
	READING_NO_INLINE,
	READING_DEBUGINFOD,
	READING_MAX_STACK,
};

int reading_filter(const struct command *command, struct filter *filter, int option);
int reading_input(const struct command *command, struct samples_options *input, int option);

#endif /* PMUCTL_TOOL_READING_H */
