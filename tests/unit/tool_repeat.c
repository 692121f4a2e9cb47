// SPDX-License-Identifier: GPL-2.0-only
/*
 * Means of repeated runs and how far they can be trusted, and the line that tells what
 * goes on.
 */
/* sources: tools/stat/repeat.c tools/progress.c */
/* libs: -lm -lutil */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "../../tools/stat/stat.h"

Test(tool_repeat, mean_and_its_error)
{
	struct mean mean = { .count = 0 };

	cr_assert_float_eq(mean_error(&mean), 0, 0);
	mean_add(&mean, 10);
	cr_assert_float_eq(mean.mean, 10, 1e-12);
	cr_assert_float_eq(mean_error(&mean), 0, 0);
	mean_add(&mean, 14);
	cr_assert_float_eq(mean.mean, 12, 1e-12);
	/* variance 8, of the mean 8 / 2 */
	cr_assert_float_eq(mean_error(&mean), 2, 1e-12);
	mean_add(&mean, 12);
	mean_add(&mean, 12);
	/* sum of squares 8, variance 8 / 3, of the mean 8 / 12 */
	cr_assert_float_eq(mean_error(&mean), 0.81649658092772603, 1e-12);
}

Test(tool_repeat, equal_numbers_have_no_error_however_large)
{
	struct mean mean = { .count = 0 };

	for (int i = 0; i < 100; i++)
		mean_add(&mean, 123456789012.0);
	cr_assert_float_eq(mean.mean, 123456789012.0, 0);
	cr_assert_float_eq(mean_error(&mean), 0, 0);
}

static struct stat_row row(char *name, uint64_t value, enum row_state state)
{
	return (struct stat_row){
		.name = name, .value = value, .state = state, .cpu = 5,
		.enabled = 2 * value, .running = value,
	};
}

Test(tool_repeat, rows_are_the_means_of_the_runs)
{
	struct stat_result result = { .what = NULL };
	struct repeats *repeats;
	char name[] = "cycles";

	cr_assert_eq(repeats_new(&repeats), 0);
	for (uint64_t i = 0; i < 3; i++) {
		struct stat_row rows[] = {
			row(name, 90 + 10 * i, ROW_COUNTED),
			row("never", 0, ROW_NOT_COUNTED),
			row("none", 0, ROW_NOT_SUPPORTED),
			row("now and then", i == 1 ? 7 : 0,
			    i == 1 ? ROW_COUNTED : ROW_NOT_COUNTED),
		};

		cr_assert_eq(repeats_add(repeats, rows, 4, 1.0 + (double)i), 0);
	}
	memset(name, 'x', sizeof(name) - 1);
	repeats_result(repeats, &result);
	cr_assert_eq(result.runs, 3);
	cr_assert_eq(result.count, 4);
	cr_assert_float_eq(result.elapsed, 2, 1e-12);
	cr_assert_float_eq(result.elapsed_deviation, 0.57735026918962573, 1e-12);
	cr_assert_str_eq(result.rows[0].name, "cycles");
	cr_assert_eq(result.rows[0].cpu, 5);
	cr_assert_eq(result.rows[0].value, 100);
	cr_assert_eq(result.rows[0].enabled, 200);
	cr_assert_eq(result.rows[0].running, 100);
	cr_assert_float_eq(result.rows[0].deviation, 5.7735026918962573, 1e-9);
	cr_assert_eq(result.rows[1].state, ROW_NOT_COUNTED);
	cr_assert_eq(result.rows[2].state, ROW_NOT_SUPPORTED);
	/* A run without a counter says nothing of how much there was. */
	cr_assert_eq(result.rows[3].state, ROW_COUNTED);
	cr_assert_eq(result.rows[3].value, 7);
	cr_assert_float_eq(result.rows[3].deviation, 0, 0);
	repeats_free(repeats);
	repeats_free(NULL);
}

/* A terminal whose other end can be read */
static FILE *terminal(int *other)
{
	int inner;

	cr_assert_eq(openpty(other, &inner, NULL, NULL, NULL), 0);
	return fdopen(inner, "w");
}

static void check_text(int fd, const char *expected)
{
	char text[200];
	size_t got = 0, wanted = strlen(expected);
	ssize_t more;

	/* A terminal hands on what was written to it when it likes, piece by piece. */
	do {
		more = read(fd, text + got, sizeof(text) - 1 - got);
		cr_assert_gt(more, 0);
		got += more;
	} while (got < wanted);
	text[got] = '\0';
	cr_assert_str_eq(text, expected);
}

Test(tool_progress, a_line_takes_the_place_of_the_last_and_goes)
{
	struct progress progress;
	int other;
	FILE *out = terminal(&other);

	progress_init(&progress, out, false);
	progress_clear(&progress);
	progress_show(&progress, "run %d of %d", 1, 2);
	check_text(other, "pmuctl: run 1 of 2");
	progress_show(&progress, "run %d of %d", 2, 2);
	check_text(other, "\r\033[Kpmuctl: run 2 of 2");
	progress_clear(&progress);
	check_text(other, "\r\033[K");
	progress_clear(&progress);
	cr_assert_eq(fcntl(other, F_SETFL, O_NONBLOCK), 0);
	cr_assert_lt(read(other, &(char){ 0 }, 1), 0);
	fclose(out);
	close(other);
}

Test(tool_progress, lines_stay_where_a_command_writes_too)
{
	struct progress progress;
	int other;
	FILE *out = terminal(&other);

	progress_init(&progress, out, true);
	progress_show(&progress, "one");
	progress_show(&progress, "two");
	progress_clear(&progress);
	check_text(other, "pmuctl: one\r\npmuctl: two\r\n");
	fclose(out);
	close(other);
}

Test(tool_progress, nothing_goes_to_a_file)
{
	struct progress progress;
	FILE *out = tmpfile();

	progress_init(&progress, out, false);
	progress_show(&progress, "one");
	progress_clear(&progress);
	cr_assert_eq(ftell(out), 0);
	fclose(out);
}
