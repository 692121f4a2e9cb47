// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of "pmuctl stat" for single threads: a thread's name may be any bytes, as it is its own to
 * choose, and goes to the terminal of who counts it.
 */
/* sources: tools/stat/cells.c tools/symbols/names.c tools/symbols/clean.c */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "../../tools/stat/counters.h"

static void check_name(const char *name, const char *shown)
{
	struct stat_options options = { .aggregate = AGGREGATE_THREAD };
	pid_t self = gettid();
	struct counters c = {
		.options = &options,
		.nr_slots = 1,
		.set.targets = { .list = &self, .count = 1 },
	};
	char all[64];

	cr_assert_eq(prctl(PR_SET_NAME, name), 0);
	cr_assert_eq(cells_make(&c), 0);
	snprintf(all, sizeof(all), "%s-%d", shown, self);
	cr_assert_str_eq(c.cells[0].name, all);
	cells_free(&c);
}

Test(tool_cells, names_of_threads)
{
	check_name("worker 7", "worker 7");
	check_name("\xc3\xa4-thread", "\xc3\xa4-thread");
	check_name("\033[2J\033]0;x\a", "?[2J?]0;x?");
	check_name("a\xff\xc2\x9bz", "a???z");
	/* 15 bytes are left of it: a character may be cut. */
	check_name("fourteen bytes\xc3\xa4", "fourteen bytes?");
	check_name("", "");
}
