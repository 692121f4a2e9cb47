// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records that come by and by instead of from a file: their order, and rows that decay.
 */
/* sources: $(READER) $(SYMBOLS) $(REPORT) */
/* libs: -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap */
#include <errno.h>

#include "unit/perffile_live.h"

#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
	      PERF_SAMPLE_IDENTIFIER)

static void enter(void)
{
	live_enter(TYPE, (struct report_options){ .graph.order = GRAPH_NONE });
}

TestSuite(perffile_feed, .init = enter, .fini = live_leave);

static void add(uint64_t time, uint64_t ip, uint64_t period)
{
	struct build_sample sample = {
		.id = build_id(0, 0), .ip = ip, .time = time, .period = period, .pid = 7, .tid = 7,
	};
	uint64_t seed = 1;

	build_sample(&build, 0, ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
		     &sample, &seed);
}

/* What was built since is a round; "TIME TIME " of what is handed out first then. */
static const char *feed(void)
{
	static char times[256];
	struct perffile_record record;
	struct perffile_error error;
	int ret = perffile_feed(report.samples->file, build.data + build.records,
				build.size - build.records, &error);
	size_t used = 0;

	build.size = build.records;
	cr_assert_eq(ret, 0, "%s", error.text);
	times[0] = '\0';
	while ((ret = samples_next(report.samples, &record)) > 0) {
		if (used < sizeof(times) - 16)
			used += (size_t)sprintf(times + used, "%u ", (unsigned int)record.time);
		if (record.type == PERF_RECORD_SAMPLE)
			cr_assert_eq(report_add(&report, &record), 0);
	}
	cr_assert_eq(ret, 0);
	return times;
}

Test(perffile_feed, records_of_several_rings_come_in_the_order_of_time)
{
	const struct build_trailer none = { 0 };

	build_comm(&build, 8, 8, "there", 0, &none);
	add(10, LEAF, 1);
	add(30, LEAF, 1);
	add(20, LEAF, 1);
	cr_assert_str_eq(feed(), "0 ", "others may be older than these");
	add(40, LEAF, 1);
	add(25, LEAF, 1);
	cr_assert_str_eq(feed(), "10 20 25 30 ");
	cr_assert_str_eq(feed(), "40 ");
	cr_assert_str_eq(feed(), "");
	/* Too late; it must not hold up those after it. */
	add(35, LEAF, 1);
	cr_assert_str_eq(feed(), "35 ");
	add(50, LEAF, 1);
	cr_assert_str_eq(feed(), "");
	cr_assert_str_eq(feed(), "50 ");
}

Test(perffile_feed, what_is_no_record_is_refused_and_others_go_on)
{
	struct perffile_error error = { "" };
	struct perffile_record record;
	uint64_t nothing = 0;

	add(10, LEAF, 1);
	cr_assert_str_eq(feed(), "");
	cr_assert_eq(perffile_feed(report.samples->file, &nothing, sizeof(nothing), &error),
		     -EBADMSG);
	cr_assert_eq(perffile_next(report.samples->file, &record, &error), 0);
	add(20, LEAF, 1);
	cr_assert_str_eq(feed(), "");
	cr_assert_str_eq(feed(), "20 ");
}

Test(perffile_feed, rows_decay_by_an_eighth_until_they_are_gone)
{
	struct report_event *event = &report.events[0];
	unsigned int rounds = 0;

	add(1, LEAF, 8000);
	add(2, LEAF, 8);
	add(3, WORK, 1);
	feed();
	feed();
	cr_assert_eq(event->period, 8009);
	hist_decay(event, 7);
	cr_assert_eq(row_of("leaf")->period, 8008 * 7 / 8);
	cr_assert_eq(row_of("leaf")->kernel, 8008 * 7 / 8);
	cr_assert_eq(row_of("leaf")->samples, 1);
	cr_assert_null(row_of("work"), "nothing is left of it");
	cr_assert_eq(event->period, 8008 * 7 / 8);
	/* It goes on in the same row, and what had gone in a new one. */
	add(4, LEAF, 100);
	add(5, WORK, 50);
	feed();
	feed();
	cr_assert_eq(event->row_count, 2);
	cr_assert_eq(row_of("leaf")->period, 8008 * 7 / 8 + 100);
	cr_assert_eq(row_of("work")->period, 50);
	cr_assert_eq(event->period, 8008 * 7 / 8 + 150);
	for (; event->row_count; rounds++)
		hist_decay(event, 7);
	cr_assert_eq(event->period, 0);
	cr_assert_eq(event->samples, 0);
	/* 7,107 by 8/7 again and again; what is cut off makes it fewer. */
	cr_assert(rounds > 20 && rounds <= 67, "%u", rounds);
}

Test(perffile_feed, what_is_in_no_row_decays_too)
{
	struct report_event *event = &report.events[0];

	options.filter.symbols = "work";
	add(1, LEAF, 800);
	add(2, WORK, 80);
	feed();
	feed();
	cr_assert_eq(event->row_count, 1);
	hist_decay(event, 7);
	cr_assert_eq(event->period, 770);
	hist_decay(event, 0);
	cr_assert_eq(event->row_count, 0);
	cr_assert_eq(event->period, 0);
}

/* More than fit into the buckets that there are at first */
Test(perffile_feed, many_rows_are_found_again_after_a_decay)
{
	struct report_event *event = &report.events[0];

	options.sort_text = "pid";
	columns_set(&options);
	for (unsigned int round = 1; round <= 2; round++) {
		for (uint32_t pid = 1; pid <= 3000; pid++) {
			struct build_sample sample = {
				.id = build_id(0, 0), .ip = LEAF, .time = round, .period = 80,
				.pid = pid, .tid = pid,
			};
			uint64_t seed = 1;

			build_sample(&build, 0, PERF_RECORD_MISC_KERNEL, &sample, &seed);
		}
		cr_assert_eq(perffile_feed(report.samples->file, build.data + build.records,
					   build.size - build.records, NULL), 0);
		build.size = build.records;
		feed();
		cr_assert_eq(event->row_count, 3000);
		hist_decay(event, 7);
	}
	for (size_t i = 0; i < event->row_count; i++)
		cr_assert_eq(event->rows[i]->period, (70 + 80) * 7 / 8);
}

Test(perffile_feed, kernel_and_user_space_can_be_hidden)
{
	options.filter.hide_kernel = true;
	add(1, LEAF, 10);
	add(2, 0x1000, 20);
	feed();
	feed();
	cr_assert_eq(report.events[0].period, 20, "percentages are of what is shown");
	options.filter.hide_kernel = false;
	options.filter.hide_user = true;
	add(3, LEAF, 40);
	add(4, 0x1000, 80);
	feed();
	feed();
	cr_assert_eq(report.events[0].period, 60);
}
