/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of commands that read recordings: a directory, a command line in it, and what
 * it printed.
 */
#ifndef PMUCTL_TESTS_PERFFILE_COMMAND_H
#define PMUCTL_TESTS_PERFFILE_COMMAND_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "../../tools/command.h"

static char test_directory[] = "/tmp/perffile-XXXXXX";

static inline void enter_directory(void)
{
	cr_assert_not_null(mkdtemp(test_directory));
	cr_assert_eq(chdir(test_directory), 0);
	/* A test's own is a pipe, which these commands would read. */
	cr_assert_not_null(freopen("/dev/null", "r", stdin));
}

static inline void leave_directory(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf -- %s", test_directory);
	cr_assert_eq(system(command), 0);
}

static inline void write_file(const char *name, const void *data, size_t size)
{
	FILE *file = fopen(name, "w");

	cr_assert_not_null(file);
	cr_assert_eq(fwrite(data, 1, size, file), size);
	cr_assert_eq(fclose(file), 0);
}

/* A command line, blanks between its words; what it prints goes to "out" and "err". */
static inline int run(const struct command *command, const char *line)
{
	char words[512], *argv[40], *rest = words;
	int argc = 0, status, out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);

	snprintf(words, sizeof(words), "%s %s", command->name, line);
	while ((argv[argc] = strtok_r(rest, " ", &rest)))
		argc++;
	/* getopt() still knows a place in the words of the last command line, which are gone. */
	optind = 0;
	cr_assert_eq(getopt(1, argv, ""), -1);
	fflush(stdout);
	cr_assert_not_null(freopen("out", "w", stdout));
	cr_assert_not_null(freopen("err", "w", stderr));
	status = command->run(argc, argv);
	fflush(stdout);
	fflush(stderr);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	return status;
}

static inline const char *text_of(const char *name)
{
	static char text[1 << 18];
	FILE *file = fopen(name, "r");
	size_t size;

	cr_assert_not_null(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	text[size] = '\0';
	fclose(file);
	return text;
}

static inline void has(const char *name, const char *words)
{
	const char *text = text_of(name);

	cr_assert_not_null(strstr(text, words), "%s lacks '%s':\n%s", name, words, text);
}

static inline void lacks(const char *name, const char *words)
{
	const char *text = text_of(name);

	cr_assert_null(strstr(text, words), "%s has '%s':\n%s", name, words, text);
}

#endif /* PMUCTL_TESTS_PERFFILE_COMMAND_H */
