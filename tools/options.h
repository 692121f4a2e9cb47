/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options of a command as a table: what getopt_long() is told, the usage and help of
 * the command, its completion, and what its manual page is compared with.
 */
#ifndef PMUCTL_TOOL_OPTIONS_H
#define PMUCTL_TOOL_OPTIONS_H

#include "command.h"

/* The first value of options without a letter */
#define OPTION_NO_LETTER	256

/**
 * struct cli_option - an option; a table of them ends with zeroes
 * @value: what it is told apart by: its letter, or OPTION_NO_LETTER and up.
 * @name: its long name, or NULL.
 * @alias: another one, or NULL.
 * @argument: as the help shows it: NULL for none, "FILE", or "[=FILE]" if it may be left
 *	out and is joined otherwise, "[WORD]" if it may be left out before another option
 *	and at the end. What is completed by its name: tools/completion/pmuctl.
 * @words: what the argument is or is made of, up to a NULL; NULL if it is anything.
 * @help: what it does, a part of a sentence.
 */
struct cli_option {
	int value;
	const char *name;
	const char *alias;
	const char *argument;
	const char *const *words;
	const char *help;
};

/**
 * struct other_option - an option of perf's that a command does not have; a table ends with zeroes
 * @letter: its letter, or 0.
 * @name: its long name.
 * @instead: what does, a sentence without its end; NULL: perf itself, which reads recordings.
 */
struct other_option {
	int letter;
	const char *name;
	const char *instead;
};

/* Told of an option, its argument in optarg; returns 0 or an exit status. */
typedef int (*option_apply)(void *arg, int value);

int options_parse(const struct command *command, int argc, char **argv,
		  option_apply apply, void *arg);
int options_percent(const struct command *command, const char *text, double *percent);
void options_help(const struct command *command);
void options_list(const struct command *command);
const char *recording_default(int fd);

#endif /* PMUCTL_TOOL_OPTIONS_H */
