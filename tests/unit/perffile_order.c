// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of records is that of their times, and of the file where these are the same, whatever
 * a file has; and long files need no more memory than short ones.
 */
/* sources: tools/perffile/perffile.c tools/perffile/features.c tools/perffile/records.c tools/perffile/order.c */
/* sources: tools/perffile/sample.c tools/perffile/groups.c */
/* sources: tools/perffile/stream.c tools/perffile/expand.c tools/perffile/spool.c */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "../../tools/perffile/perffile.h"
#include "fuzz/perffile_build.h"

#define RINGS 6

/* Some chunks of them: where one ends and the next begins must not be seen. */
#define RECORDS 30000

/* A long file: 48 MB, and lists of all of its records are 32 MB. */
#define LONG_RECORDS (2UL << 20)
#define LONG_ROUND 8192
#define LONG_MEMORY (16UL << 20)

struct seen {
	uint64_t time;
	uint64_t offset;
};

/**
 * struct story - a file, and what should come of it
 * @build: it.
 * @seed: of what is random in it.
 * @time: the last time in it.
 * @clock: of the machine.
 * @want: its records.
 * @count: how many.
 */
struct story {
	struct build build;
	uint64_t seed;
	uint64_t time;
	uint64_t clock;
	struct seen want[RECORDS];
	size_t count;
};

static struct story story;

static void begin(uint64_t seed, bool has_trailers)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
		.sample_id_all = has_trailers,
	};

	memset(&story, 0, sizeof(story));
	story.seed = seed;
	build_begin(&story.build, &attr, 1);
}

static bool is_full(void)
{
	return story.count == RECORDS;
}

static void sample_at(uint64_t time)
{
	struct build_sample sample = { .time = time, .addr = story.count };

	story.time = time;
	story.want[story.count++] = (struct seen){ time, story.build.size };
	build_sample(&story.build, 0, 0, &sample, &story.seed);
}

/* Without a trailer it has the time of the one before. */
static void comm(void)
{
	const struct build_trailer none = { 0 };

	if (is_full())
		return;
	story.want[story.count++] = (struct seen){ story.time, story.build.size };
	build_comm(&story.build, 1, 1, "x", 0, &none);
}

static void mark(void)
{
	build_record_end(&story.build,
			 build_record(&story.build, PERFFILE_FINISHED_ROUND, 0));
}

/* All rings are read once, each of which has what has come since, and that while others are read. */
static void round_of(size_t records)
{
	static uint64_t read_until[RINGS];

	if (!story.clock)
		memset(read_until, 0, sizeof(read_until));
	for (size_t ring = 0; ring < RINGS && !is_full(); ring++) {
		story.clock += records;
		for (uint64_t time = read_until[ring] + 1; time <= story.clock && !is_full(); time++)
			if (build_random(&story.seed) % RINGS == ring)
				sample_at(time);
		read_until[ring] = story.clock;
	}
}

static int by_time(const void *left, const void *right)
{
	const struct seen *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void all_come(struct perffile *file)
{
	struct perffile_error error = { "" };
	struct perffile_record record;

	for (size_t i = 0; i < story.count; i++) {
		cr_assert_eq(perffile_next(file, &record, &error), 1, "%s", error.text);
		cr_assert_eq(record.offset, story.want[i].offset, "%zu: %" PRIu64 ", not %" PRIu64, i,
			     record.offset, story.want[i].offset);
	}
	cr_assert_eq(perffile_next(file, &record, &error), 0);
}

/* Twice, as others go through a file twice */
static void is_in_order(void)
{
	struct perffile_error error = { "" };
	struct perffile *file;

	build_features(&story.build, NULL, 0);
	qsort(story.want, story.count, sizeof(*story.want), by_time);
	cr_assert_eq(perffile_open_memory(&file, story.build.data, story.build.size, &error), 0, "%s",
		     error.text);
	cr_assert_eq(file->record_count, story.count);
	all_come(file);
	perffile_rewind(file);
	all_come(file);
	perffile_close(file);
	build_free(&story.build);
}

Test(perffile_order, rounds_short_and_long)
{
	static const size_t rounds[] = { 3, 200, 3000, 2 * RECORDS };

	for (size_t i = 0; i < sizeof(rounds) / sizeof(*rounds); i++) {
		begin(i + 1, true);
		while (!is_full()) {
			round_of(rounds[i]);
			mark();
		}
		is_in_order();
	}
}

Test(perffile_order, without_marks)
{
	begin(11, true);
	while (!is_full())
		round_of(200);
	is_in_order();
}

/* Where marks promise what does not hold, every record still comes when its time does. */
Test(perffile_order, what_comes_too_late_has_its_place)
{
	begin(12, true);
	while (!is_full()) {
		round_of(50);
		mark();
		if (story.count > RECORDS / 2 && !is_full())
			sample_at(build_random(&story.seed) % 1000);
		if (!is_full())
			sample_at(build_random(&story.seed) % story.clock);
	}
	is_in_order();
}

/* Names that a recorder tells at its end, and what its rings have lost */
Test(perffile_order, time_0_comes_first_wherever_it_is)
{
	for (int marks = 0; marks < 2; marks++) {
		begin(13, true);
		while (!is_full()) {
			round_of(100);
			if (marks)
				mark();
			if (!is_full())
				sample_at(0);
		}
		is_in_order();
	}
}

Test(perffile_order, a_time_that_is_never_reached_holds_nobody_up)
{
	begin(14, true);
	sample_at(UINT64_MAX);
	while (!is_full()) {
		round_of(100);
		mark();
	}
	is_in_order();
}

Test(perffile_order, no_order_at_all)
{
	begin(15, true);
	while (!is_full()) {
		sample_at(build_random(&story.seed) % 10000);
		if (build_random(&story.seed) % 100 == 0)
			mark();
	}
	is_in_order();
}

Test(perffile_order, without_a_time_behind_the_one_before)
{
	begin(16, false);
	while (!is_full()) {
		round_of(20);
		comm();
		mark();
		comm();
	}
	is_in_order();
}

Test(perffile_order, the_first_and_the_last_sample_are_known)
{
	const struct build_trailer early = { .time = 3 }, late = { .time = 90 };
	struct perffile_error error;
	struct perffile *file;

	begin(17, true);
	build_comm(&story.build, 1, 1, "x", 0, &early);
	sample_at(50);
	sample_at(5);
	sample_at(70);
	sample_at(60);
	build_comm(&story.build, 1, 1, "x", 0, &late);
	build_features(&story.build, NULL, 0);
	cr_assert_eq(perffile_open_memory(&file, story.build.data, story.build.size, &error), 0);
	cr_assert_eq(file->order.first_sample, 5);
	cr_assert_eq(file->order.last_sample, 70);
	perffile_close(file);
	build_free(&story.build);
}

/* ------------------------------------------------------------- long files */

static uint64_t kilobytes(const char *what)
{
	FILE *in = fopen("/proc/self/status", "r");
	size_t length = strlen(what);
	uint64_t value = 0;
	char line[256];

	cr_assert_not_null(in);
	while (fgets(line, sizeof(line), in))
		if (!strncmp(line, what, length))
			value = strtoull(line + length, NULL, 10);
	fclose(in);
	return value;
}

/* Of the file, whatever it is on */
static uint64_t mapped_pages(void)
{
	return (kilobytes("RssFile:") + kilobytes("RssShmem:")) * 1024;
}

/* Two rings in turn, so that each half of a round is behind the other one's times */
static void put_round(int fd, uint64_t from, bool has_mark)
{
	begin(1, true);
	story.build.size = 0;
	for (uint64_t i = 0; i < LONG_ROUND; i++) {
		struct build_sample sample = {
			.time = from + i * 2 % LONG_ROUND + (i >= LONG_ROUND / 2), .addr = i,
		};

		build_sample(&story.build, 0, 0, &sample, &story.seed);
	}
	if (has_mark)
		mark();
	cr_assert_eq(write(fd, story.build.data, story.build.size), (ssize_t)story.build.size);
	build_free(&story.build);
}

/* With marks, one sample of the end is at the beginning. */
static int long_file(bool has_marks)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	uint64_t size, records;

	cr_assert_geq(fd, 0);
	begin(1, true);
	records = story.build.records;
	if (has_marks)
		sample_at(LONG_RECORDS + 1);
	cr_assert_eq(write(fd, story.build.data, story.build.size), (ssize_t)story.build.size);
	build_free(&story.build);
	for (uint64_t from = 1; from < LONG_RECORDS; from += LONG_ROUND)
		put_round(fd, from, has_marks);
	size = (uint64_t)lseek(fd, 0, SEEK_END) - records;
	cr_assert_eq(pwrite(fd, &size, sizeof(size), 48), sizeof(size));
	return fd;
}

static void limit_memory(void)
{
	uint64_t limit = kilobytes("VmData:") * 1024 + LONG_MEMORY;

	cr_assert_eq(setrlimit(RLIMIT_DATA, &(struct rlimit){ limit, limit }), 0);
}

ParameterizedTestParameters(perffile_order, long_files_need_no_more_memory)
{
	static int has_marks[] = { 0, 1 };

	return cr_make_param_array(int, has_marks, 2);
}

ParameterizedTest(int *has_marks, perffile_order, long_files_need_no_more_memory)
{
	uint64_t last = 0, before = mapped_pages(), most = 0;
	struct perffile_error error = { "" };
	struct perffile_record record;
	struct perffile *file;
	size_t count = 0;
	char path[32];
	int fd = long_file(*has_marks), ret;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	limit_memory();
	cr_assert_eq(perffile_open(&file, path, &error), 0, "%s", error.text);
	most = mapped_pages();
	for (; (ret = perffile_next(file, &record, &error)) > 0; count++) {
		cr_assert_gt(record.time, last);
		last = record.time;
		if (count % LONG_ROUND == 0 && mapped_pages() > most)
			most = mapped_pages();
	}
	cr_assert_eq(ret, 0, "%s", error.text);
	cr_assert_eq(count, LONG_RECORDS + !!*has_marks);
	/* What is handed out, what is looked at before that, and as much again until each is let go of */
	cr_assert_leq(most - before, 3 * PERFFILE_PAGES, "%" PRIu64 " MB", (most - before) >> 20);
	perffile_close(file);
	close(fd);
}
