// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl evlist" on a recording of which all is known.
 */
/* sources: $(READER) $(SYMBOLS) */
/* sources: tools/options.c tools/evlist/evlist.c */
/* libs: -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap */
#include <stdint.h>

#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

#define EVENTS 4

/* A group of @members from @leader on: feature 17 */
static void put_group(struct build *build, uint32_t leader, uint32_t members)
{
	build_feature(build, 1);
	build_half(build, 1);
	build_text(build, "{anon_group}");
	build_half(build, leader);
	build_half(build, members);
	build_feature_end(build, 1);
}

static void record(uint32_t leader, uint32_t members)
{
	static const char *const names[] = { "alone", "first", "second", "third" };
	static const unsigned int features[] = { 12, 17 };
	struct perf_event_attr attrs[EVENTS];
	struct build_trailer nobody = { 0 };
	struct build build;

	for (unsigned int i = 0; i < EVENTS; i++)
		attrs[i] = (struct perf_event_attr) {
			.size = sizeof(attrs[i]), .type = i, .config = 0x1c0,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_IDENTIFIER,
			.read_format = PERF_FORMAT_ID, .freq = i == 0, .sample_period = 4000 + i,
			.sample_id_all = 1, .precise_ip = i == 3 ? 2 : 0,
		};
	build_begin(&build, attrs, EVENTS);
	build_comm(&build, 70, 70, "prog", 0, &nobody);
	build_features(&build, features, 2);
	build_feature_names(&build, 0, names);
	put_group(&build, leader, members);
	write_file("perf.data", build.data, build.size);
	build_free(&build);
}

static void enter(void)
{
	enter_directory();
	record(1, 2);
}

TestSuite(perffile_evlist, .init = enter, .fini = leave_directory);

static void prints(const char *line, const char *text)
{
	cr_assert_eq(run(&command_evlist, line), STATUS_OK, "%s", text_of("err"));
	cr_assert_str_eq(text_of("out"), text);
	cr_assert_str_empty(text_of("err"));
}

Test(perffile_evlist, names)
{
	prints("", "alone\nfirst\nsecond\nthird\n");
	prints("-i perf.data -f", "alone\nfirst\nsecond\nthird\n");
}

Test(perffile_evlist, periods_and_frequencies)
{
	prints("-F", "alone: sample_freq=4000\nfirst: sample_period=4001\n"
	       "second: sample_period=4002\nthird: sample_period=4003\n");
}

Test(perffile_evlist, groups)
{
	prints("-g", "alone\n{first,second}\nthird\n");
	prints("-gF", "alone: sample_freq=4000\n{first,second}: sample_period=4001\n"
	       "third: sample_period=4003\n");
	record(0, EVENTS);
	prints("-g", "{alone,first,second,third}\n");
}

/* What the file says of them is not believed. */
Test(perffile_evlist, groups_that_cannot_be)
{
	static const uint32_t wrong[][2] = {
		{ 1, 4 }, { EVENTS, 1 }, { UINT32_MAX, 2 }, { 2, UINT32_MAX }, { 3, 1 }, { 3, 0 },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		record(wrong[i][0], wrong[i][1]);
		prints("-g", "alone\nfirst\nsecond\nthird\n");
	}
}

Test(perffile_evlist, attributes)
{
	cr_assert_eq(run(&command_evlist, "-v"), STATUS_OK);
	has("out", "alone: type: 0, size: ");
	has("out", ", config: 0x1c0, { sample_period, sample_freq }: 4000, "
	    "sample_type: IP|IDENTIFIER, read_format: ID, freq: 1, sample_id_all: 1\n");
	has("out", "third: type: 3, size: ");
	has("out", "}: 4003, sample_type: IP|IDENTIFIER, read_format: ID, precise_ip: 2, "
	    "sample_id_all: 1\n");
}

Test(perffile_evlist, says_what_is_wrong)
{
	cr_assert_eq(run(&command_evlist, "other.data"), STATUS_USAGE);
	has("err", "'other.data' is too much: a recording is named by -i");
	cr_assert_eq(run(&command_evlist, "-v -g"), STATUS_USAGE);
	has("err", "--group tells the names only, and excludes --verbose");
	cr_assert_eq(run(&command_evlist, "-i none"), STATUS_FAILED);
	has("err", "cannot read 'none': ");
}
