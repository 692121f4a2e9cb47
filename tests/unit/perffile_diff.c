// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl diff" on two recordings of which all is known.
 */
/* sources: $(READER) $(SYMBOLS) $(REPORT) */
/* sources: tools/diff/diff.c tools/diff/pairs.c tools/diff/print.c */
/* libs: -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap */
#include <stdint.h>

#include <jansson.h>

#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
	      PERF_SAMPLE_IDENTIFIER)

#define BASE	0xffffffff81000000
#define FUNCTIONS 5

static const char kallsyms[] =
	"ffffffff81000000 T grown\nffffffff81001000 T shrunk\nffffffff81002000 T new\n"
	"ffffffff81003000 T gone\nffffffff81004000 T same\nffffffff81005000 T end\n";

/* Each function has this period, in the order of their addresses. */
static void record(const char *path, const char *event, const uint64_t *periods)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1,
	};
	struct build_trailer early = { .pid = 70, .tid = 70 };
	static const unsigned int features[] = { 12 };
	struct build build;
	uint64_t seed = 1;

	build_begin(&build, &attr, 1);
	build_comm(&build, 70, 70, "prog", 0, &early);
	for (uint64_t i = 0; i < FUNCTIONS; i++) {
		struct build_sample sample = {
			.id = build_id(0, 0), .ip = BASE + 0x1000 * i, .time = i + 1,
			.period = periods[i], .pid = 70, .tid = 70,
		};

		if (periods[i])
			build_sample(&build, 0, PERF_RECORD_MISC_KERNEL, &sample, &seed);
	}
	build_features(&build, features, 1);
	build_feature_names(&build, 0, &event);
	write_file(path, build.data, build.size);
	build_free(&build);
}

static void enter(void)
{
	static const uint64_t old[] = { 100, 400, 0, 200, 300 };
	static const uint64_t new[] = { 800, 400, 200, 0, 600 };

	enter_directory();
	record("perf.data.old", "events", old);
	record("perf.data", "events", new);
	write_file("kallsyms", kallsyms, sizeof(kallsyms) - 1);
}

TestSuite(perffile_diff, .init = enter, .fini = leave_directory);

#define RUN(line) cr_assert_eq(run(&command_diff, "--kallsyms kallsyms " line), 0, \
			       "%s: %s", line, text_of("err"))

Test(perffile_diff, largest_change_first)
{
	static const char expected[] =
		"# Event 'events'\n#\n"
		"# Baseline  Delta Abs  Shared object      Symbol\n#\n"
		"    10.00%    +30.00%  [kernel.kallsyms]  [k] grown\n"
		"    40.00%    -20.00%  [kernel.kallsyms]  [k] shrunk\n"
		"              +10.00%  [kernel.kallsyms]  [k] new\n"
		"    30.00%     +0.00%  [kernel.kallsyms]  [k] same\n"
		"    20.00%             [kernel.kallsyms]  [k] gone\n";

	RUN("");
	cr_assert_str_eq(text_of("out"), expected);
	RUN("perf.data");
	cr_assert_str_eq(text_of("out"), expected);
	RUN("-f perf.data.old perf.data");
	cr_assert_str_eq(text_of("out"), expected);
}

Test(perffile_diff, growth_and_ratio)
{
	RUN("-c delta -s sym");
	has("out", "# Baseline      Delta  Symbol\n#\n"
		   "    10.00%    +30.00%  [k] grown\n"
		   "              +10.00%  [k] new\n"
		   "    30.00%     +0.00%  [k] same\n"
		   "    40.00%    -20.00%  [k] shrunk\n"
		   "    20.00%             [k] gone\n");
	RUN("-c ratio -q -s sym");
	cr_assert_str_eq(text_of("out"),
			 "    10.00%   8.000000  [k] grown\n"
			 "    30.00%   2.000000  [k] same\n"
			 "    40.00%   1.000000  [k] shrunk\n"
			 "                  N/A  [k] new\n"
			 "    20.00%             [k] gone\n");
	RUN("-b -q -s sym");
	lacks("out", "new");
	RUN("-q -s comm,dso");
	cr_assert_str_eq(text_of("out"), "   100.00%     +0.00%  prog     [kernel.kallsyms]\n");
	RUN("-q -s sym -S grown,same --percentage relative");
	cr_assert_str_eq(text_of("out"),
			 "    25.00%    +32.14%  [k] grown\n    75.00%    -32.14%  [k] same\n");
}

Test(perffile_diff, periods_and_their_weights)
{
	RUN("-p -s sym");
	has("out", "# Baseline          Period  Delta Abs          Period  Symbol\n#\n"
		   "    10.00%             100    +30.00%             800  [k] grown\n"
		   "    40.00%             400    -20.00%             400  [k] shrunk\n"
		   "                              +10.00%             200  [k] new\n"
		   "    30.00%             300     +0.00%             600  [k] same\n"
		   "    20.00%             200                             [k] gone\n");
	RUN("-c wdiff:3,2 -s sym");
	has("out", "# Baseline   Weighted diff  Symbol\n#\n"
		   "    10.00%            1300  [k] grown\n"
		   "                       400  [k] new\n"
		   "    30.00%             300  [k] same\n"
		   "    40.00%            -400  [k] shrunk\n"
		   "    20.00%                  [k] gone\n");
	RUN("-c wdiff:-1,1 -q -s dso");
	cr_assert_str_eq(text_of("out"), "   100.00%            3000  [kernel.kallsyms]\n");
	RUN("-c wdiff:1,1 -j -s sym");
	has("out", "\"weighted_diff\": 700.0");
}

/* What only one of them has comes last by its order, and has no change. */
Test(perffile_diff, order_of_the_baseline)
{
	RUN("-o 0 -v -q -s sym");
	cr_assert_str_eq(text_of("out"),
			 "    40.00%    -20.00%  [k] shrunk\n"
			 "    30.00%     +0.00%  [k] same\n"
			 "    20.00%             [k] gone\n"
			 "    10.00%    +30.00%  [k] grown\n"
			 "              +10.00%  [k] new\n");
	RUN("--order 0 -c ratio -q -s sym");
	has("out", "    40.00%   1.000000  [k] shrunk\n    30.00%   2.000000  [k] same\n");
	RUN("-o 1 -q -s sym");
	has("out", "    10.00%    +30.00%  [k] grown\n    40.00%    -20.00%  [k] shrunk\n");
}

/* A column of 70, as perf's */
Test(perffile_diff, formulas)
{
	RUN("-F -q -s sym -S grown,new,gone");
	cr_assert_str_eq(text_of("out"),
			 "    10.00%    +30.00%                                 "
			 "(800 * 100 / 2000) - (100 * 100 / 1000)  [k] grown\n"
			 "              +10.00%                                   "
			 "(200 * 100 / 2000) - (0 * 100 / 1000)  [k] new\n"
			 "    20.00%                                             "
			 "                                        [k] gone\n");
	RUN("--formula -t; -c ratio -q -s sym");
	cr_assert_str_eq(text_of("out"), "10.00;8.000000;800 / 100;[k] grown\n"
					 "30.00;2.000000;600 / 300;[k] same\n"
					 "40.00;1.000000;400 / 400;[k] shrunk\n"
					 ";N/A;200 / 0;[k] new\n"
					 "20.00;;;[k] gone\n");
	RUN("-F -t; -c wdiff:-3,2 -q -s sym -S grown");
	cr_assert_str_eq(text_of("out"), "10.00;1900;(800 * 2) - (100 * -3);[k] grown\n");
	RUN("-F -t; --percentage relative -q -s sym -S grown,same");
	has("out", "25.00;+32.14%;(800 * 100 / 1400) - (100 * 100 / 400);[k] grown\n");
}

Test(perffile_diff, separated_columns)
{
	RUN("-t , -p -s dso,sym");
	cr_assert_str_eq(text_of("out"),
			 "# Event 'events'\n#\n"
			 "# Baseline,Period,Delta Abs,Period,Shared object,Symbol\n#\n"
			 "10.00,100,+30.00%,800,[kernel.kallsyms],[k] grown\n"
			 "40.00,400,-20.00%,400,[kernel.kallsyms],[k] shrunk\n"
			 ",,+10.00%,200,[kernel.kallsyms],[k] new\n"
			 "30.00,300,+0.00%,600,[kernel.kallsyms],[k] same\n"
			 "20.00,200,,,[kernel.kallsyms],[k] gone\n");
	RUN("--field-separator \\t -q -s sym -S same");
	cr_assert_str_eq(text_of("out"), "30.00\t+0.00%\t[k] same\n");
	RUN("-tk -q -s sym,dso -S same");
	cr_assert_str_eq(text_of("out"), "30.00k+0.00%k[k] samek[.ernel..allsyms]\n");
}

Test(perffile_diff, json)
{
	json_error_t error;
	json_t *all, *event, *row;

	RUN("-j -s sym");
	all = json_loads(text_of("out"), 0, &error);
	cr_assert_not_null(all, "%s", error.text);
	event = json_array_get(json_object_get(all, "events"), 0);
	cr_assert_eq(json_integer_value(json_object_get(event, "baseline_period")), 1000);
	cr_assert_eq(json_integer_value(json_object_get(event, "period")), 2000);
	row = json_array_get(json_object_get(event, "rows"), 0);
	cr_assert_str_eq(json_string_value(json_object_get(row, "symbol")), "grown");
	cr_assert_float_eq(json_real_value(json_object_get(row, "delta")), 30, 1e-9);
	cr_assert_float_eq(json_real_value(json_object_get(row, "ratio")), 8, 1e-9);
	row = json_array_get(json_object_get(event, "rows"), 4);
	cr_assert_str_eq(json_string_value(json_object_get(row, "symbol")), "gone");
	cr_assert_null(json_object_get(row, "percent"));
	json_decref(all);
}

Test(perffile_diff, what_does_not_go)
{
	static const uint64_t periods[FUNCTIONS] = { 1 };

	cr_assert_eq(run(&command_diff, "-c cycles"), 2);
	has("err", "'cycles' is nothing to compute: there are delta-abs, delta, ratio and wdiff:1,2");
	cr_assert_eq(run(&command_diff, "-c wdiff:"), 2);
	has("err", "'' are no weights: wdiff:1,2 has that of the old recording and that of the new one");
	cr_assert_eq(run(&command_diff, "-c wdiff:1"), 2);
	cr_assert_eq(run(&command_diff, "-c wdiff:1,2,3"), 2);
	cr_assert_eq(run(&command_diff, "-c wdiff:1,x"), 2);
	has("err", "'1,x' are no weights");
	cr_assert_eq(run(&command_diff, "-s period"), 2);
	has("err", "'period' has numbers: recordings are compared by keys");
	cr_assert_eq(run(&command_diff, "-s parent"), 2);
	cr_assert_eq(run(&command_diff, "-s weight"), 2);
	has("err", "'weight' is nothing to sort by");
	has("err", "Try 'pmuctl diff --help'");
	cr_assert_eq(run(&command_diff, "-o 2"), 2);
	has("err", "'2' is no order: 0 is by the share of the old recording, 1 by the change");
	cr_assert_eq(run(&command_diff, "-t ."), 2);
	has("err", "'.' separates nothing: numbers and names have it");
	cr_assert_eq(run(&command_diff, "-t"), 2);
	has("err", "the option '-t' needs an argument");
	cr_assert_eq(run(&command_diff, "a b c"), 2);
	has("err", "'c' is one recording too many");
	cr_assert_eq(run(&command_diff, "nothing"), 1);
	has("err", "cannot read 'nothing': ");
	record("other", "others", periods);
	cr_assert_eq(run(&command_diff, "perf.data other"), 1);
	has("err", "others is not in 'perf.data'");
	has("err", "'perf.data' and 'other' have no event in common");
	cr_assert_eq(run(&command_diff, "-e nothing"), 1);
	has("err", "has no event 'nothing'");
}
