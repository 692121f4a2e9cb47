// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a terminal is told while a long recording is read, and that nothing of it stays there.
 */
/* sources: $(READER) $(SYMBOLS) $(REPORT) */
/* libs: -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap -lutil */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pty.h>
#include <time.h>

#include "../../tools/symbols/samples.h"
#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

/* The clock is looked at some hundred times. */
#define RECORDS 10000

#define WIPE "\r\033[K"

static int terminal;

/* What we write to stderr comes out of @terminal. */
static void enter(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = PERF_SAMPLE_TIME, .sample_id_all = 1,
	};
	struct build_sample sample = { 0 };
	struct build build;
	uint64_t seed = 1;
	int inner;

	enter_directory();
	build_begin(&build, &attr, 1);
	for (sample.time = 1; sample.time <= RECORDS; sample.time++)
		build_sample(&build, 0, 0, &sample, &seed);
	build_features(&build, NULL, 0);
	write_file("perf.data", build.data, build.size);
	build_free(&build);
	cr_assert_eq(openpty(&terminal, &inner, NULL, NULL, NULL), 0);
	cr_assert_geq(dup2(inner, STDERR_FILENO), 0);
	close(inner);
}

static void leave(void)
{
	close(terminal);
	leave_directory();
}

TestSuite(perffile_progress, .init = enter, .fini = leave);

static struct samples *opened(bool is_quiet)
{
	const struct samples_options options = {
		.path = "perf.data", .root = "", .kallsyms = "/dev/null", .is_quiet = is_quiet,
	};
	struct samples *samples;

	cr_assert_eq(samples_open(&samples, &options), 0);
	return samples;
}

static void read_some(struct samples *samples, size_t count)
{
	struct perffile_record record;

	while (count-- > 0)
		cr_assert_eq(samples_next(samples, &record), 1);
}

static void read_rest(struct samples *samples)
{
	struct perffile_record record;
	int ret;

	while ((ret = samples_next(samples, &record)) > 0)
		;
	cr_assert_eq(ret, 0);
}

/* All that was written; what follows tells where that ends. */
static void assert_told(const char *want)
{
	char text[256] = "";
	size_t used = 0;
	ssize_t got;

	cr_assert_eq(write(STDERR_FILENO, ".", 1), 1);
	while (!used || text[used - 1] != '.') {
		got = read(terminal, text + used, sizeof(text) - 1 - used);
		cr_assert_gt(got, 0);
		used += (size_t)got;
	}
	text[used - 1] = '\0';
	cr_assert_str_eq(text, want);
}

/* As if it were time to tell something, once */
static void wait_for(struct samples *samples, bool is_time)
{
	samples->tell_next = is_time ? 0 : UINT64_MAX;
}

Test(perffile_progress, is_told_by_how_much_was_read_and_goes)
{
	struct samples *samples = opened(false);

	wait_for(samples, true);
	read_some(samples, 64);
	wait_for(samples, false);
	read_some(samples, RECORDS / 2 - 64);
	assert_told("pmuctl: reading 'perf.data': 0 %");
	wait_for(samples, true);
	read_some(samples, 64);
	wait_for(samples, false);
	assert_told(WIPE "pmuctl: reading 'perf.data': 50 %");
	read_rest(samples);
	assert_told(WIPE);
	samples_close(samples);
	assert_told("");
}

Test(perffile_progress, comes_after_a_second_and_not_before)
{
	struct samples *samples;
	struct timespec before, after;

	clock_gettime(CLOCK_MONOTONIC, &before);
	samples = opened(false);
	clock_gettime(CLOCK_MONOTONIC, &after);
	cr_assert_geq(samples->tell_next, (uint64_t)(before.tv_sec + 1) * 1000000000 + (uint64_t)before.tv_nsec);
	cr_assert_leq(samples->tell_next, (uint64_t)(after.tv_sec + 1) * 1000000000 + (uint64_t)after.tv_nsec);
	samples_close(samples);
}

Test(perffile_progress, goes_when_something_else_is_written)
{
	struct samples *samples = opened(false);

	wait_for(samples, true);
	read_some(samples, 64);
	samples_tell_no_more(samples);
	assert_told("pmuctl: reading 'perf.data': 0 %" WIPE);
	wait_for(samples, true);
	read_rest(samples);
	assert_told("");
	samples_close(samples);
}

Test(perffile_progress, goes_with_the_recording)
{
	struct samples *samples = opened(false);

	wait_for(samples, true);
	read_some(samples, 64);
	samples_close(samples);
	assert_told("pmuctl: reading 'perf.data': 0 %" WIPE);
}

Test(perffile_progress, is_not_told_where_a_screen_is)
{
	struct samples *samples = opened(true);

	wait_for(samples, true);
	read_rest(samples);
	assert_told("");
	samples_close(samples);
}

Test(perffile_progress, is_not_told_to_a_file)
{
	int file = open("err", O_CREAT | O_RDWR | O_CLOEXEC, 0600), tty = dup(STDERR_FILENO);
	struct samples *samples;

	cr_assert_geq(dup2(file, STDERR_FILENO), 0);
	samples = opened(false);
	wait_for(samples, true);
	read_rest(samples);
	samples_close(samples);
	cr_assert_eq(lseek(file, 0, SEEK_CUR), 0);
	cr_assert_geq(dup2(tty, STDERR_FILENO), 0);
	assert_told("");
	close(file);
	close(tty);
}
