// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples that tell the counts of a group: whose samples they are, and of how many events.
 */
/* sources: tools/perffile/perffile.c tools/perffile/features.c tools/perffile/records.c tools/perffile/order.c */
/* sources: tools/perffile/sample.c tools/perffile/groups.c */
/* sources: tools/perffile/stream.c tools/perffile/expand.c tools/perffile/spool.c */
#include <errno.h>
#include <stdio.h>

#include <criterion/criterion.h>

#include "../../tools/perffile/perffile.h"
#include "fuzz/perffile_build.h"

#define TYPE	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
		 PERF_SAMPLE_READ | PERF_SAMPLE_IDENTIFIER)
#define GROUP	(PERF_FORMAT_GROUP | PERF_FORMAT_ID)
#define ALL	(GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | 1 << 4)
#define UNKNOWN	4711

static struct build build;
static unsigned int now;

/* Two events, of which the first samples for both */
static void begin(uint64_t format, bool inherit)
{
	struct perf_event_attr attrs[2] = {
		{ .size = sizeof(attrs[0]), .sample_type = TYPE, .read_format = format,
		  .sample_period = 4000, .sample_id_all = 1, .inherit = inherit },
	};

	attrs[1] = attrs[0];
	attrs[1].sample_period = 0;
	/* Of the other one's samples none is laid out so. */
	attrs[1].sample_type |= PERF_SAMPLE_REGS_USER;
	attrs[1].sample_regs_user = UINT64_MAX;
	now = 0;
	build_begin(&build, attrs, 2);
}

/* A sample of thread @tid, which tells @count values of these numbers */
static void add(uint32_t tid, size_t count, const uint64_t (*told)[2])
{
	struct build_sample sample = {
		.id = build_id(0, 0), .time = ++now, .period = 17, .pid = 70, .tid = tid,
		.told = count,
	};
	uint64_t seed = 1;

	for (size_t i = 0; i < count; i++) {
		sample.ids[i] = told[i][0];
		sample.values[i] = told[i][1];
	}
	build_sample(&build, 0, PERF_RECORD_MISC_USER, &sample, &seed);
}

#define ADD(tid, ...) do { \
	static const uint64_t told[][2] = { __VA_ARGS__ }; \
	add(tid, sizeof(told) / sizeof(told[0]), told); \
} while (0)

static struct perffile *finish(void)
{
	struct perffile_error error = { "" };
	struct perffile *file = NULL;

	build_features(&build, NULL, 0);
	build.data = realloc(build.data, build.size);
	build.room = build.size;
	cr_assert_eq(perffile_open_memory(&file, build.data, build.size, &error), 0, "%s",
		     error.text);
	return file;
}

/* "TIME EVENT PERIOD" of each sample, a '+' behind those that were there before; "-": no event */
static const char *all(void)
{
	static char text[1024];
	struct perffile *file = finish();
	struct perffile_error error = { "" };
	struct perffile_record record;
	size_t used = 0;
	int ret;

	text[0] = '\0';
	while ((ret = perffile_next(file, &record, &error)) > 0) {
		char event[8] = "-";

		cr_assert_eq(record.attr, &file->events[0].attr);
		cr_assert_eq(record.pid, 70);
		if (record.event)
			sprintf(event, "%zu", (size_t)(record.event - file->events));
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%u %s %llu%s\n",
					 (unsigned int)record.time, event,
					 (unsigned long long)record.sample.period,
					 record.again ? " +" : "");
	}
	cr_assert_eq(ret, 0, "%s", error.text);
	perffile_close(file);
	build_free(&build);
	return text;
}

Test(perffile_groups, each_event_has_its_growth)
{
	static const uint64_t formats[] = { GROUP, ALL };

	for (size_t i = 0; i < 2; i++) {
		begin(formats[i], false);
		ADD(71, { 1000, 4000 }, { 1010, 300 });
		ADD(71, { 1000, 8001 }, { 1010, 300 });
		ADD(71, { 1000, 8001 }, { 1010, 310 });
		ADD(71, { 1000, 8001 }, { 1010, 310 });
		ADD(71, { 1000, 8002 }, { 1010, 311 });
		cr_expect_str_eq(all(), "1 0 4000\n1 1 300 +\n2 0 4001\n3 1 10\n5 0 1\n5 1 1 +\n");
	}
}

/* Those of each CPU have numbers of their own; threads do not matter. */
Test(perffile_groups, numbers_are_told_apart)
{
	begin(GROUP, false);
	ADD(71, { 1000, 4000 }, { 1010, 30 });
	ADD(72, { 1001, 5000 }, { 1011, 40 });
	ADD(72, { 1000, 4001 }, { 1010, 32 });
	ADD(71, { 1001, 5003 }, { 1011, 44 });
	cr_expect_str_eq(all(), "1 0 4000\n1 1 30 +\n2 0 5000\n2 1 40 +\n"
			 "3 0 1\n3 1 2 +\n4 0 3\n4 1 4 +\n");
}

/* What is inherited has one number in all threads, and counts for each. */
Test(perffile_groups, threads_are_told_apart)
{
	begin(GROUP, true);
	ADD(71, { 1000, 4000 }, { 1010, 30 });
	ADD(72, { 1000, 5000 }, { 1010, 40 });
	ADD(71, { 1000, 4001 }, { 1010, 32 });
	ADD(72, { 1000, 5003 }, { 1010, 44 });
	cr_expect_str_eq(all(), "1 0 4000\n1 1 30 +\n2 0 5000\n2 1 40 +\n"
			 "3 0 1\n3 1 2 +\n4 0 3\n4 1 4 +\n");
}

/* A count that was reset, or is of a thread that has the number of another one */
Test(perffile_groups, counts_begin_anew)
{
	begin(GROUP, false);
	ADD(71, { 1000, 4000 }, { 1010, UINT64_MAX });
	ADD(71, { 1000, 10 }, { 1010, 2 });
	ADD(71, { 1000, 30 }, { 1010, 0 });
	cr_expect_str_eq(all(), "1 0 4000\n1 1 18446744073709551615 +\n2 0 10\n2 1 2 +\n3 0 20\n");
}

Test(perffile_groups, one_event_by_itself)
{
	begin(PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_RUNNING, false);
	ADD(71, { 1000, 4000 });
	ADD(71, { 1000, 4000 });
	ADD(71, { 1000, 4321 });
	cr_expect_str_eq(all(), "1 0 4000\n3 0 321\n");
	/* Without a number the sample itself is all there is. */
	begin(PERF_FORMAT_TOTAL_TIME_RUNNING, false);
	ADD(71, { 1000, 4000 });
	cr_expect_str_eq(all(), "1 0 17\n");
	begin(PERF_FORMAT_GROUP, false);
	ADD(71, { 1000, 4000 }, { 1010, 300 });
	cr_expect_str_eq(all(), "1 0 17\n");
}

/* What a file says of itself is not believed. */
Test(perffile_groups, numbers_that_nobody_knows)
{
	begin(GROUP, false);
	ADD(71, { UNKNOWN, 4000 }, { 0, 300 }, { 1010, 5 });
	ADD(71, { 1000, 0 }, { 1000, 7 }, { 1000, 7 }, { 1000, 9 }, { UINT64_MAX, 1 });
	cr_expect_str_eq(all(), "1 - 17\n1 - 17 +\n1 1 5 +\n2 0 7\n2 0 2 +\n2 - 17 +\n");
}

Test(perffile_groups, values_that_are_not_there)
{
	static const uint64_t counts[] = { 3, UINT16_MAX, UINT16_MAX + 1, UINT64_MAX, 1ULL << 61 };
	const size_t at = 8 * 6;	/* header, number, address, ids, time, period */

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct perffile_record record;
		struct perffile_error error;
		struct perffile *file;

		begin(GROUP, false);
		ADD(71, { 1000, 4000 }, { 1010, 300 });
		build_set(&build, build.records + at, counts[i]);
		file = finish();
		cr_expect_eq(perffile_next(file, &record, &error), -EBADMSG);
		cr_expect_eq(perffile_next(file, &record, &error), 0);
		perffile_close(file);
		build_free(&build);
	}
	/* None at all */
	begin(GROUP, false);
	ADD(71, { 1000, 4000 });
	build_set(&build, build.records + at, 0);
	ADD(71, { 1000, 4000 });
	cr_expect_str_eq(all(), "2 0 4000\n");
}

/* As many numbers and threads as make the table grow */
Test(perffile_groups, many_threads)
{
	struct perffile_record record;
	struct perffile_error error;
	struct perffile *file;
	unsigned int count = 0;

	begin(GROUP, true);
	for (uint64_t round = 1; round < 4; round++)
		for (uint32_t tid = 0; tid < 1000; tid++) {
			const uint64_t told[2][2] = {
				{ 1000, round * round * tid }, { 1011, round },
			};

			add(tid, 2, told);
		}
	file = finish();
	while (perffile_next(file, &record, &error) > 0) {
		uint64_t round = count++ / 1999 + 1;
		bool first = record.event == &file->events[0];

		cr_assert_eq(record.again, !first && record.tid);
		cr_assert_eq(record.sample.period,
			     first ? (uint64_t)record.tid * (round * 2 - 1) : 1);
	}
	cr_assert_eq(count, 3 * 1999);
	perffile_close(file);
	build_free(&build);
}

/* At the end of a thread all of its group is told; the event's own is the one that is wanted. */
Test(perffile_groups, counts_of_threads)
{
	struct build_trailer trailer = { .pid = 70, .tid = 71, .id = build_id(1, 0), .time = 1 };
	struct perffile_record record;
	struct perffile_error error;
	struct perffile *file;
	size_t at;

	begin(GROUP, true);
	at = build_record(&build, PERF_RECORD_READ, 0);
	build_half(&build, 70);
	build_half(&build, 71);
	build_word(&build, 2);
	build_value(&build, GROUP, 4000, build_id(0, 0));
	build_value(&build, GROUP, 300, build_id(1, 0));
	build_trailer(&build, TYPE, &trailer);
	build_record_end(&build, at);
	file = finish();
	cr_assert_eq(perffile_next(file, &record, &error), 1);
	cr_expect_eq(record.event, &file->events[1]);
	cr_expect_eq(record.count.value, 300);
	perffile_close(file);
	build_free(&build);
}
