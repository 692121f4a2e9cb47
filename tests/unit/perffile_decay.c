// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call chains that decay, as "pmuctl top -g" has them.
 */
/* sources: $(READER) $(SYMBOLS) $(REPORT) */
/* libs: -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap */
#include "unit/perffile_live.h"

#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
	      PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_IDENTIFIER)

#define KERNEL	((uint64_t)PERF_CONTEXT_KERNEL)

static void enter(void)
{
	live_enter(TYPE, (struct report_options){ .children = -1 });
}

TestSuite(perffile_decay, .init = enter, .fini = live_leave);

/* A sample in leaf that @caller has called, and main that, at once */
static void add(uint64_t caller, uint64_t period)
{
	static uint64_t time;
	struct build_sample sample = {
		.id = build_id(0, 0), .ip = LEAF, .time = ++time, .period = period, .pid = 7,
		.tid = 7, .chain = 4, .chain_at = { KERNEL, LEAF, caller, MAIN },
	};
	struct perffile_record record;
	uint64_t seed = 1;

	build_sample(&build, 0, PERF_RECORD_MISC_KERNEL, &sample, &seed);
	cr_assert_eq(perffile_feed(report.samples->file, build.data + build.records,
				   build.size - build.records, NULL), 0);
	build.size = build.records;
	/* What came last is handed out the next time. */
	cr_assert_eq(perffile_feed(report.samples->file, NULL, 0, NULL), 0);
	while (samples_next(report.samples, &record) > 0)
		cr_assert_eq(report_add(&report, &record), 0);
}

/* The call graph of a row, without blanks */
static const char *graph_of(const char *name)
{
	static char text[1024];
	size_t used = 0;
	FILE *out = tmpfile();
	int c;

	cr_assert(out);
	report_print_graph(out, &report, &report.events[0], row_of(name));
	rewind(out);
	while ((c = fgetc(out)) != EOF && used < sizeof(text) - 1)
		if (c != ' ')
			text[used++] = (char)c;
	text[used] = '\0';
	fclose(out);
	return text;
}

Test(perffile_decay, chains_decay_as_their_rows_do)
{
	struct report_event *event = &report.events[0];

	add(WORK, 800);
	add(MAIN, 80);
	cr_assert_eq(row_of("main")->total, 880);
	cr_assert_eq(row_of("work")->total, 800);
	hist_decay(event, 7);
	cr_assert_eq(event->period, 770);
	cr_assert_eq(row_of("main")->total, 770);
	cr_assert_eq(row_of("main")->period, 0);
	cr_assert_eq(row_of("work")->total, 700);
	cr_assert_eq(row_of("leaf")->total, 770);
	hist_finish(&report, event);
	cr_assert_str_eq(graph_of("work"), "90.91%work\nleaf\n\n", "%s", graph_of("work"));
	/* The same chain goes on, and a function has its sample once, before and after. */
	add(WORK, 230);
	cr_assert_eq(row_of("main")->total, 1000);
	cr_assert_eq(row_of("work")->total, 930);
	cr_assert_str_eq(graph_of("work"), "93.00%work\nleaf\n\n", "%s", graph_of("work"));
}

Test(perffile_decay, what_has_gone_is_forgotten_with_its_chains)
{
	struct report_event *event = &report.events[0];
	unsigned int rounds = 0;

	add(WORK, 8);
	for (; row_of("work"); rounds++) {
		add(MAIN, 8000);
		hist_decay(event, 7);
	}
	cr_assert(rounds && rounds <= 8, "%u", rounds);
	cr_assert_null(strstr(graph_of("leaf"), "work"));
	add(WORK, 1000);
	cr_assert(strstr(graph_of("leaf"), "work"));
	hist_decay(event, 0);
	cr_assert_eq(event->row_count, 0);
	cr_assert_null(event->chains);
	add(WORK, 1000);
	cr_assert_str_eq(graph_of("work"), "100.00%work\nleaf\n\n", "%s", graph_of("work"));
}

/* Rows of callers alone, which are hit no more, go with the last chain that leads through them. */
Test(perffile_decay, no_row_goes_before_its_chains)
{
	struct report_event *event = &report.events[0];

	options.children = 0;
	columns_set(&options);
	for (uint64_t period = 1; period < 100; period += 7) {
		add(WORK, period);
		add(LEAF, 3 * period);
		hist_decay(event, 7);
		hist_finish(&report, event);
		graph_of("leaf");
	}
	while (event->row_count) {
		hist_decay(event, 7);
		for (size_t i = 0; i < event->row_count; i++)
			graph_of(event->rows[i]->text[KEY_SYMBOL]);
	}
	cr_assert(!event->chain_root || !event->chain_root->samples);
}
