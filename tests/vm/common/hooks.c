// SPDX-License-Identifier: GPL-2.0-only
#include "hooks.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
