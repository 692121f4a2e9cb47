// SPDX-License-Identifier: GPL-2.0-only
#include "hooks.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOOKS	"/sys/kernel/debug/pmuctl/hooks"

/* What is told of a hook */
static void read_line(const char *name, char *line, size_t size)
{
	size_t length = strlen(name);
	bool found = false;
	FILE *f = fopen(HOOKS, "re");

	cr_assert_not_null(f, "%s: %m", HOOKS);
	while (!found && fgets(line, size, f))
		found = !strncmp(line, name, length) && line[length] == ':';
	fclose(f);
	cr_assert(found, "%s", name);
}

unsigned long hooks_number_of(const char *name, const char *word)
{
	char line[256];
	const char *at;

	read_line(name, line, sizeof(line));
	at = strstr(line, word);
	cr_assert_not_null(at, "%s: %s", line, word);
	return strtoul(at + strlen(word), NULL, 10);
}

bool hooks_has(const char *name, const char *what)
{
	char line[256];

	read_line(name, line, sizeof(line));
	return strstr(line, what);
}

/* Is any hook set? What is told of it is in @line; what is told of all has no events. */
static bool any_hook_is_set(char *line, size_t size)
{
	FILE *f = fopen(HOOKS, "re");
	bool set = false;

	cr_assert_not_null(f, "%s: %m", HOOKS);
	while (!set && fgets(line, size, f))
		set = strstr(line, ", events ") && !strstr(line, ", not set");
	fclose(f);
	return set;
}

void hooks_wait_for_none(void)
{
	char line[256];

	while (any_hook_is_set(line, sizeof(line))) {
		cr_assert(strstr(line, "events 0"), "left behind: %s", line);
		usleep(50000);
	}
}
