// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl report" on a recording with groups: the events of one are in one table.
 */
/* sources: $(READER) $(SYMBOLS) $(REPORT) */
/* libs: -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap */
#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

#define EVENTS	4
#define TYPE	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
		 PERF_SAMPLE_IDENTIFIER)

static const char kallsyms[] =
	"ffffffff81000000 T _text\nffffffff81001000 T leaf\nffffffff81002000 T work\n"
	"ffffffff81003000 T outer\nffffffff81004000 T end\n";

static void add(struct build *build, size_t event, uint64_t function, uint64_t period)
{
	static uint64_t time;
	struct build_sample sample = {
		.id = build_id(event, 0), .ip = 0xffffffff81000010 + function * 0x1000,
		.time = ++time, .period = period, .pid = 70, .tid = 70,
	};
	uint64_t seed = 1;

	build_sample(build, event, PERF_RECORD_MISC_KERNEL, &sample, &seed);
}

/* Groups of so many, one behind the other */
static void put_groups(struct build *build, const uint32_t *groups, size_t count)
{
	build_feature(build, 1);
	build_half(build, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		build_text(build, "{anon_group}");
		build_half(build, groups[i * 2]);
		build_half(build, groups[i * 2 + 1]);
	}
	build_feature_end(build, 1);
}

/* "one" and "two" sample leaf, one alone work, two alone outer, "three" all; "none" nothing. */
static void record(const uint32_t *groups, size_t count)
{
	static const char *const names[] = { "one", "two", "three", "none" };
	static const unsigned int features[] = { 12, 17 };
	struct perf_event_attr attrs[EVENTS];
	struct build_trailer early = { .pid = 70, .tid = 70 };
	struct build build;

	for (size_t i = 0; i < EVENTS; i++)
		attrs[i] = (struct perf_event_attr) {
			.size = sizeof(attrs[i]), .sample_type = TYPE, .sample_id_all = 1,
		};
	build_begin(&build, attrs, EVENTS);
	build_comm(&build, 70, 70, "prog", 0, &early);
	add(&build, 0, 1, 70);
	add(&build, 0, 2, 30);
	add(&build, 1, 1, 1);
	add(&build, 1, 1, 1);
	add(&build, 1, 3, 6);
	for (uint64_t function = 1; function <= 3; function++)
		add(&build, 2, function, function * 10);
	build_features(&build, features, count ? 2 : 1);
	build_feature_names(&build, 0, names);
	if (count)
		put_groups(&build, groups, count);
	write_file("perf.data", build.data, build.size);
	write_file("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	build_free(&build);
}

static void enter(void)
{
	static const uint32_t groups[] = { 0, 2 };

	enter_directory();
	record(groups, 1);
}

TestSuite(perffile_grouped, .init = enter, .fini = leave_directory);

static void prints(const char *options, const char *text)
{
	char line[256];

	snprintf(line, sizeof(line), "--kallsyms kallsyms -s sym %s", options);
	cr_assert_eq(run(&command_report, line), STATUS_OK, "%s", text_of("err"));
	cr_assert_str_eq(text_of("out"), text, "%s:\n%s", line, text_of("out"));
}

#define THREE \
	"    50.00%  [k] outer\n    33.33%  [k] work\n    16.67%  [k] leaf\n"

Test(perffile_grouped, events_of_a_group_are_in_one_table)
{
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms -s sym -n"), STATUS_OK);
	has("out", "#\n# Samples: 5 of events 'anon group { one, two }'\n"
	    "# Event count (approx.): 108\n#\n"
	    "#           Overhead             Samples  Symbol\n#\n"
	    "    70.00%    25.00%         1         2  [k] leaf\n"
	    "    30.00%     0.00%         1         0  [k] work\n"
	    "     0.00%    75.00%         0         1  [k] outer\n"
	    "\n#\n# three: 3 samples, 60 events\n#\n");
	prints("-q", "    70.00%    25.00%  [k] leaf\n    30.00%     0.00%  [k] work\n"
	       "     0.00%    75.00%  [k] outer\n" THREE);
	prints("-q --group", "    70.00%    25.00%  [k] leaf\n    30.00%     0.00%  [k] work\n"
	       "     0.00%    75.00%  [k] outer\n" THREE);
}

Test(perffile_grouped, each_event_by_itself)
{
	prints("-q --no-group", "    70.00%  [k] leaf\n    30.00%  [k] work\n"
	       "    75.00%  [k] outer\n    25.00%  [k] leaf\n" THREE);
	prints("-q -e two", "    75.00%  [k] outer\n    25.00%  [k] leaf\n");
	prints("-q --hierarchy -e one", "    70.00%  [k] leaf\n    30.00%  [k] work\n");
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms -j"), STATUS_OK);
	has("out", "\"event\": \"two\"");
}

Test(perffile_grouped, columns_and_separators)
{
	prints("-q -F sym,overhead,period", "  [k] leaf     70.00%    25.00%        70         2\n"
	       "  [k] outer     0.00%    75.00%         0         6\n"
	       "  [k] work     30.00%     0.00%        30         0\n"
	       "  [k] leaf     16.67%        10\n  [k] outer    50.00%        30\n"
	       "  [k] work     33.33%        20\n");
	prints("-q -t | -e one", "70.00%|[k] leaf\n30.00%|[k] work\n");
	prints("-q -t |", "70.00% 25.00%|[k] leaf\n30.00% 0.00%|[k] work\n0.00% 75.00%|[k] outer\n"
	       "50.00%|[k] outer\n33.33%|[k] work\n16.67%|[k] leaf\n");
	/* The leader decides what is shown. */
	prints("-q --percent-limit 20", "    70.00%    25.00%  [k] leaf\n"
	       "    30.00%     0.00%  [k] work\n    50.00%  [k] outer\n    33.33%  [k] work\n");
	prints("-q --symbol-filter e", "    70.00%    25.00%  [k] leaf\n"
	       "     0.00%    75.00%  [k] outer\n    50.00%  [k] outer\n    16.67%  [k] leaf\n");
}

Test(perffile_grouped, members_decide_where_the_leader_does_not)
{
	static const uint32_t groups[] = { 1, 3 };

	/* outer: 75, 50; leaf: 25, 17; work: 0, 33. The last event has no sample at all. */
	record(groups, 1);
	prints("-q", "    70.00%  [k] leaf\n    30.00%  [k] work\n"
	       "    75.00%    50.00%     0.00%  [k] outer\n"
	       "    25.00%    16.67%     0.00%  [k] leaf\n"
	       "     0.00%    33.33%     0.00%  [k] work\n");
	/* Of these the leader has none. */
	prints("-q --symbol-filter work --percentage relative",
	       "   100.00%  [k] work\n     0.00%   100.00%     0.00%  [k] work\n");
}

Test(perffile_grouped, without_groups_all_can_be_one)
{
	record(NULL, 0);
	prints("-q -e one", "    70.00%  [k] leaf\n    30.00%  [k] work\n");
	prints("-q", "    70.00%  [k] leaf\n    30.00%  [k] work\n"
	       "    75.00%  [k] outer\n    25.00%  [k] leaf\n" THREE);
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms -s sym --group"), STATUS_OK);
	has("out", "# Samples: 8 of events 'one, two, three, none'\n# Event count (approx.): 168\n");
	prints("-q --group", "    70.00%    25.00%    16.67%     0.00%  [k] leaf\n"
	       "    30.00%     0.00%    33.33%     0.00%  [k] work\n"
	       "     0.00%    75.00%    50.00%     0.00%  [k] outer\n");
}

/* What the file says of them is not believed. */
Test(perffile_grouped, groups_that_cannot_be)
{
	static const uint32_t groups[] = {
		0, 2, 1, 3, 1, 0, 2, UINT32_MAX, 0, 5,
	};

	record(groups, 5);
	prints("-q", "    70.00%    25.00%  [k] leaf\n    30.00%     0.00%  [k] work\n"
	       "     0.00%    75.00%  [k] outer\n" THREE);
}
