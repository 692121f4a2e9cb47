// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl report" as users of perf type it: rows of callers, columns, call graphs, filters,
 * on a recording of which all is known.
 */
/* sources: $(READER) $(SYMBOLS) $(REPORT) */
/* libs: -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap */
#include <stdint.h>

#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

#include "../../tools/symbols/symbols.h"

#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	      PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_IDENTIFIER)

#define LEAF	0xffffffff81001010
#define WORK	0xffffffff81002020
#define OUTER	0xffffffff81003030

#define RUN(line) cr_assert_eq(run(&command_report, "--kallsyms kallsyms " line), 0, \
			       "%s: %s", line, text_of("err"))

static const char kallsyms[] =
	"ffffffff81000000 T _text\nffffffff81001000 T leaf\nffffffff81002000 T work\n"
	"ffffffff81003000 T outer\nffffffff81004000 T end\n";

static void add(struct build *build, uint32_t pid, uint32_t cpu, uint64_t seconds,
		uint64_t period, size_t count, const uint64_t *chain)
{
	struct build_sample sample = {
		.id = build_id(0, 0), .ip = chain[0], .time = seconds * 1000000000, .cpu = cpu,
		.period = period, .pid = pid, .tid = pid + 1, .chain = count + 1,
	};
	uint64_t seed = 1;

	sample.chain_at[0] = (uint64_t)PERF_CONTEXT_KERNEL;
	memcpy(sample.chain_at + 1, chain, count * sizeof(*chain));
	build_sample(build, 0, PERF_RECORD_MISC_KERNEL, &sample, &seed);
}

/* Of 1000 events leaf() has 800 and work() 200; work() calls itself in the last sample. */
static void enter(void)
{
	static const uint64_t leaf[] = { LEAF, WORK, OUTER }, at_once[] = { LEAF, OUTER };
	static const uint64_t again[] = { LEAF, WORK, WORK, OUTER };
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1,
	};
	struct build_trailer early = { .pid = 70, .tid = 71 };
	struct build build;

	enter_directory();
	build_begin(&build, &attr, 1);
	build_comm(&build, 70, 71, "one", 0, &early);
	build_comm(&build, 80, 81, "two", 0, &early);
	add(&build, 70, 3, 1, 100, 3, leaf);
	add(&build, 70, 3, 2, 200, 2, leaf + 1);
	add(&build, 70, 1, 3, 300, 2, at_once);
	add(&build, 80, 1, 5, 400, 4, again);
	build_features(&build, NULL, 0);
	write_file("perf.data", build.data, build.size);
	write_file("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	build_free(&build);
}

TestSuite(perffile_rows, .init = enter, .fini = leave_directory);

/* What perf's users type works as they type it. */
Test(perffile_rows, common_command_lines)
{
	static const char *const lines[] = {
		"--stdio", "-g", "-g --stdio", "--stdio -g none", "-G", "--no-children",
		"--children --sort=sym", "-g caller --no-children", "-g graph,0.5,caller",
		"-g fractal,0.5", "-g flat", "-g folded,0,caller,count -n", "-g callee,function",
		"--call-graph=graph,0.5,2,callee,function,percent", "-s comm,dso,sym -n",
		"--percent-limit 5 --header", "-I", "--stats", "--hierarchy", "-F overhead,sym",
		"--comm one --dso [kernel.kallsyms] --symbol leaf", "-f -q -t ;", "--inverted",
		"--group", "--no-group --stdio",
	};
	char line[128];

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		snprintf(line, sizeof(line), "--kallsyms kallsyms %s", lines[i]);
		cr_expect_eq(run(&command_report, line), 0, "%s: %s", lines[i], text_of("err"));
	}
}

Test(perffile_rows, what_is_not_there_is_refused)
{
	static const char *const refused[][2] = {
		{ "-g branch", "call graphs are by function: there is no 'branch'" },
		{ "-g address,caller", "call graphs are by function: there is no 'address'" },
		{ "-g graph,7,8,9", "'9' is no kind of call graph" },
		{ "-g 101", "'101' is no kind of call graph" },
		{ "-g graph,", "'' is no kind of call graph" },
		{ "-s time --time-quantum 10", "'10' is no time for --time-quantum: it is like 10ms" },
		{ "--time-quantum 0s", "'0s' is no time" }, { "--time-quantum -1s", "'-1s' is no time" },
		{ "--time-quantum 18446744073709551s", "too long" },
		{ "-w 3,x", "'3,x' is no list of widths: it is like 8,12,0,30" },
		{ "-w 3,", "'3,' is no list of widths" }, { "-w 4097", "no list of widths" },
		{ "-w 3 -j", "-w is of the columns of a table" }, { "-w 3 --hierarchy", "-w is of" },
		{ "-w 3 -t ;", "-w is of" },
		{ "-s comm,weight", "'weight' is nothing to sort by" },
		{ "-s +comm,comm", "'comm' is there twice" },
		{ "-F ipc", "'ipc' is nothing to sort by" },
		{ "-C 1-", "'1-' is no list of CPUs: it is like 0,2-3" },
		{ "-C 3-1", "'3-1' is no list of CPUs" },
		{ "--pid x", "'x' is no list of processes" },
		{ "--tid 1,", "'1,' is no list of threads" },
		{ "--percentage half", "'half' is no kind of percentage" },
		{ "--percent-limit 101", "'101' is no percentage" },
		{ "--hierarchy -F sym", "leave --fields out" },
		{ "--hierarchy --show-total-period", "leave --show-total-period out" },
		{ "--hierarchy -j", "--hierarchy is for text only" },
		{ "--symbol-filter leaf -s dso", "--symbol-filter is for rows of functions" },
		{ "-p (", "'(' is no regular expression: " },
		{ "--stats --folded", "only one of" },
		{ "-g graph other.data", "'other.data' is no option: give the recording with -i" },
	};

	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		cr_expect_eq(run(&command_report, refused[i][0]), 2, "%s", refused[i][0]);
		has("err", refused[i][1]);
	}
	cr_expect_eq(run(&command_report, "--time 1,2x"), 1);
	has("err", "'1,2x' is no time: it is START,STOP in seconds");
}

/* Neither CPU nor time nor call chains: what asks for them is refused, rows are as ever. */
Test(perffile_rows, what_the_recording_lacks)
{
	static const char *const refused[][2] = {
		{ "-i bare -C 0", "'bare' does not tell on which CPU a sample was" },
		{ "-i bare --time 1,2", "'bare' does not tell when a sample was" },
		{ "-i bare -s time", "'bare' does not tell when a sample was: record with -T, or leave the key 'time' out" },
		{ "-i bare -s parent", "'bare' has no call chains, so nothing has a parent" },
	};
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_IDENTIFIER,
	};
	static const uint64_t leaf[] = { LEAF };
	struct build build;

	build_begin(&build, &attr, 1);
	add(&build, 70, 3, 1, 100, 1, leaf);
	build_features(&build, NULL, 0);
	write_file("bare", build.data, build.size);
	build_free(&build);
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		cr_expect_eq(run(&command_report, refused[i][0]), 1, "%s", refused[i][0]);
		has("err", refused[i][1]);
	}
	/* Callers are no rows, even if they are asked for: there are none. */
	RUN("-i bare --children -g -s sym");
	has("out", "# Overhead  Symbol\n#\n");
}

/* As perf: with call chains, callers are rows without being asked for. */
Test(perffile_rows, callers_are_rows_by_default)
{
	RUN("-g none -s sym");
	has("out", "# Children      Self  Symbol\n#\n"
		   "   100.00%     0.00%  [k] outer\n"
		   "    80.00%    80.00%  [k] leaf\n"
		   "    70.00%    20.00%  [k] work\n");
	RUN("-g none -s sym --no-children");
	has("out", "# Overhead  Symbol\n#\n"
		   "    80.00%  [k] leaf\n"
		   "    20.00%  [k] work\n");
	lacks("out", "outer");
}

/* Below a caller is what it called; below what was hit, who called it, the outermost first. */
Test(perffile_rows, graphs_of_callers)
{
	RUN("-s sym");
	has("out", "   100.00%     0.00%  [k] outer\n"
		   "             100.00%  outer\n"
		   "                70.00%  work\n"
		   "                  40.00%  work\n"
		   "                          leaf\n"
		   "                  10.00%  leaf\n"
		   "                30.00%  leaf\n");
	has("out", "    70.00%    20.00%  [k] work\n"
		   "              50.00%  work\n"
		   "                40.00%  work\n"
		   "                        leaf\n"
		   "                10.00%  leaf\n"
		   "              20.00%  outer\n"
		   "                      work\n");
}

Test(perffile_rows, graphs_of_callees)
{
	RUN("-s sym -g callee");
	has("out", "    70.00%    20.00%  [k] work\n"
		   "              40.00%  work\n"
		   "                      outer\n"
		   "              30.00%  outer\n");
	RUN("-s sym -g callee --no-children");
	has("out", "    80.00%  [k] leaf\n"
		   "              50.00%  work\n"
		   "                40.00%  work\n"
		   "                        outer\n"
		   "                10.00%  outer\n"
		   "              30.00%  outer\n");
	RUN("-s sym -g fractal,callee --no-children");
	has("out", "    80.00%  [k] leaf\n"
		   "              62.50%  work\n"
		   "                80.00%  work\n"
		   "                        outer\n"
		   "                20.00%  outer\n"
		   "              37.50%  outer\n");
	RUN("-s sym -g callee,35 --no-children");
	has("out", "              50.00%  work\n"
		   "                40.00%  work\n"
		   "                        outer\n"
		   "\n");
	RUN("-s sym -g callee,0,1,count --no-children");
	has("out", "                   2  work\n"
		   "                     1  work\n"
		   "                        outer\n"
		   "                     1  [others]\n"
		   "                   1  [others]\n");
}

Test(perffile_rows, chains_one_by_one)
{
	RUN("-s comm --no-children -n -g folded,0,caller,count");
	has("out", "    60.00%         3  one\n1 outer;leaf\n1 outer;work\n1 outer;work;leaf\n"
		   "    40.00%         1  two\n1 outer;work;work;leaf\n");
	RUN("-s sym --no-children -g folded,15,callee");
	has("out", "    80.00%  [k] leaf\n40.00% leaf;work;work;outer\n30.00% leaf;outer\n"
		   "    20.00%  [k] work\n20.00% work;outer\n");
	RUN("-s sym --no-children -g flat,0,1,period");
	has("out", "    80.00%  [k] leaf\n                 400\n"
		   "                      leaf\n                      work\n"
		   "                      work\n                      outer\n\n"
		   "    20.00%  [k] work\n");
}

Test(perffile_rows, columns_as_they_are_asked_for)
{
	RUN("-g none -F period,sym,sample --no-children");
	has("out", "#   Period  Symbol     Samples\n#\n"
		   "       800  [k] leaf         3\n"
		   "       200  [k] work         1\n");
	/* Rows go by the first column. */
	RUN("-g none -F comm,overhead --no-children");
	has("out", "# Command  Overhead\n#\n"
		   "  one        60.00%\n"
		   "  two        40.00%\n");
	RUN("-g none -F overhead -s cpu --no-children");
	has("out", "# Overhead  CPU\n#\n    70.00%  1\n    30.00%  3\n");
	RUN("-g none -F overhead,overhead_sys,overhead_us,comm --no-children");
	has("out", "    60.00%    60.00%     0.00%  one\n");
	RUN("-g none -s +cpu --no-children");
	has("out", "    40.00%  two      [kernel.kallsyms]  [k] leaf  1\n");
	RUN("-g none -s comm,sym -t ; -n");
	has("out", "60.00%;0.00%;0;one;[k] outer\n");
}

/* The samples are at 1, 2, 3 and 5 seconds: pieces are of the clock, not of the recording. */
Test(perffile_rows, pieces_of_the_time)
{
	RUN("-g none --no-children -s time -F time,overhead --time-quantum 2s");
	has("out", "# Time      Overhead\n#\n"
		   "  0.000000    10.00%\n"
		   "  2.000000    50.00%\n"
		   "  4.000000    40.00%\n");
	RUN("-g none --no-children -s time,cpu --time-quantum 1500ms --ns");
	has("out", "# Overhead  Time         CPU\n#\n"
		   "    40.00%  4.500000000  1\n"
		   "    30.00%  3.000000000  1\n"
		   "    20.00%  1.500000000  3\n"
		   "    10.00%  0.000000000  3\n");
	RUN("-g none -s time --no-children");
	has("out", "    40.00%  5.000000\n");
}

/* As perf: the mark is a part of the symbol, and shares are not cut. */
Test(perffile_rows, widths_of_columns)
{
	RUN("-g none --no-children -w 12,2,0,6");
	has("out", "#     Overhead  Co  Shared object      Symbol\n#\n"
		   "        40.00%  on  [kernel.kallsyms]  [k] le\n");
	RUN("-g none --no-children -s sym,comm -w 3,2,1");
	has("out", "#Overhead  Sy  C\n#\n"
		   "40.00%  [k  o\n");
	RUN("-g none --no-children -s comm,cpu -w 0,5,0,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9");
	has("out", "# Overhead  Comma  CPU\n#\n"
		   "    40.00%  two    1\n");
}

/* Characters are cut, and not bytes. */
Test(perffile_rows, widths_of_columns_in_other_scripts)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1 };
	static const uint64_t leaf[] = { LEAF };
	struct build_trailer early = { .pid = 70, .tid = 71 };
	struct build build;

	build_begin(&build, &attr, 1);
	build_comm(&build, 70, 71, "\303\244\303\266\303\274", 0, &early);
	add(&build, 70, 3, 1, 100, 1, leaf);
	build_features(&build, NULL, 0);
	write_file("perf.data", build.data, build.size);
	build_free(&build);
	RUN("-g none --no-children -s comm,cpu -w 0,2");
	has("out", "   100.00%  \303\244\303\266  3\n");
}

Test(perffile_rows, rows_within_rows)
{
	RUN("--hierarchy -s comm,sym -n");
	has("out", "# Overhead   Samples  Command / Symbol\n#\n"
		   "    60.00%         3  one\n"
		   "    40.00%         2      [k] leaf\n"
		   "    20.00%         1      [k] work\n"
		   "    40.00%         1  two\n"
		   "    40.00%         1      [k] leaf\n");
}

/* What is left out still counts for the whole, unless that is not wanted. */
Test(perffile_rows, filters)
{
	static const char *const same[] = {
		"--comm one -s sym", "--pid 70 -s sym", "--tid 71,99 -s sym",
	};
	char line[128];

	for (size_t i = 0; i < ARRAY_LEN(same); i++) {
		snprintf(line, sizeof(line), "--kallsyms kallsyms -g none --no-children %s", same[i]);
		cr_assert_eq(run(&command_report, line), 0);
		has("out", "4 samples, 1000 events\n");
		has("out", "    40.00%  [k] leaf\n    20.00%  [k] work\n");
	}
	RUN("-g none --no-children -s sym --comm one --percentage relative");
	has("out", "3 samples, 600 events\n");
	has("out", "    66.67%  [k] leaf\n    33.33%  [k] work\n");
	RUN("-g none --no-children -s sym -S work,nothing");
	has("out", "#\n    20.00%  [k] work\n");
	lacks("out", "leaf");
	RUN("-g none --no-children -s sym --symbol-filter or --percentage relative");
	has("out", "#\n   100.00%  [k] work\n");
	RUN("-g none --no-children -s sym --show-total-period -n --tui");
	has("out", "#\n    80.00%         3       800  [k] leaf\n");
	RUN("-g none --no-children -s dso --dsos vmlinux,[kernel.kallsyms]");
	has("out", "   100.00%  [kernel.kallsyms]\n");
	RUN("-g none --no-children -s dso --dso libc.so.6");
	lacks("out", "kallsyms]\n");
	RUN("-g none --no-children -s sym -C 2-3");
	has("out", "2 samples, 300 events\n");
	has("out", "    66.67%  [k] work\n    33.33%  [k] leaf\n");
}

/* As in perf, samples of which no function is known are not there at all, nor are such callers. */
Test(perffile_rows, only_what_is_known)
{
	static const char some[] = "ffffffff81002000 T work\nffffffff81002800 T end\n";

	write_file("some", some, sizeof(some) - 1);
	cr_assert_eq(run(&command_report, "--kallsyms some -g none --no-children -s sym"), 0);
	has("out", "    80.00%  [k] [unknown]\n    20.00%  [k] work\n");
	cr_assert_eq(run(&command_report, "--kallsyms some -g none --no-children -s sym -U"), 0);
	has("out", "1 samples, 200 events\n");
	has("out", "#\n   100.00%  [k] work\n");
	cr_assert_eq(run(&command_report, "--kallsyms some -g none --children -s sym -U"), 0);
	has("out", "#\n   100.00%   100.00%  [k] work\n");
	lacks("out", "unknown");
}

/* Of two of a name one was in the place of the other, and then nothing was there any more. */
Test(perffile_rows, programs_that_the_kernel_has_made)
{
	static const uint64_t places[] = { 0xffffffffc0001010, 0xffffffffc0002010 };
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1,
	};
	struct build build;

	build_begin(&build, &attr, 1);
	for (uint64_t i = 0; i < 4; i++) {
		struct build_trailer when = { .pid = 70, .tid = 71, .time = i * 1000000000 };

		build_ksymbol(&build, 0xffffffffc0001000, 0x100, i == 3, i < 2 ? "first" : "second",
			      &when);
		build_ksymbol(&build, 0xffffffffc0002000, 0x20, 0, "first", &when);
		build_ksymbol(&build, 0xffffffffc0003000, 0, 0, "empty", &when);
		add(&build, 70, 1, i + 1, 100, 1, places);
		add(&build, 70, 1, i + 1, 50, 1, places + 1);
	}
	build_features(&build, NULL, 0);
	write_file("perf.data", build.data, build.size);
	build_free(&build);
	RUN("-g none --no-children -s dso,sym -F overhead,sample,dso,sym");
	has("out", "    16.67%         1  [kernel.kallsyms]  [k] [unknown]\n"
		   "    33.33%         4  first              [k] first\n"
		   "    33.33%         2  first              [k] first\n"
		   "    16.67%         1  second             [k] second\n");
}

/* A BPF program is loaded again and again under one name: looking for one takes no longer then. */
Test(perffile_rows, many_programs_of_one_name)
{
	struct perffile_info info = { 0 };
	struct symbols *symbols = symbols_new(&info, "", NULL);
	struct perffile_ksymbol code = { .name = "bpf_prog_6deef7357e7b4530", .length = 64 };
	size_t longest = 0;

	for (unsigned int i = 0; i < 20000; i++) {
		code.start = 0xffffffffc0000000ull + i * 0x1000ull;
		cr_assert_neq(symbols_generated(symbols, &code), symbols->unknown);
		cr_assert_eq(symbols_generated(symbols, &code), symbols_generated(symbols, &code));
	}
	for (size_t i = 0; i < SYMBOLS_BUCKETS; i++) {
		size_t length = 0;

		for (const struct binary *binary = symbols->buckets[i]; binary; binary = binary->next)
			length++;
		longest = length > longest ? length : longest;
	}
	cr_expect_lt(longest, 20, "%zu", longest);
	symbols_free(symbols);
}

/* The samples are at 1, 2, 3 and 5 seconds. */
Test(perffile_rows, parts_of_the_time)
{
	static const char *const times[][2] = {
		{ "--time 2,3", "2 samples, 500 events" }, { "--time 2.5,", "2 samples, 700 events" },
		{ "--time ,2", "2 samples, 300 events" }, { "--time 0%-25%", "1 samples, 100 events" },
		{ "--time 25%/2", "1 samples, 200 events" }, { "--time 50%/2", "2 samples, 700 events" },
		{ "--time 10%,100%-100%", "2 samples, 500 events" },
		{ "--time 25%/1,25%/4", "2 samples, 500 events" },
	};
	static const char *const wrong[] = { "x", "3,2", "1,2,3", "110%", "60%/2", "10%/0", "5%-", "9999999999999" };
	char line[64];

	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		cr_assert_eq(run(&command_report, times[i][0]), 0);
		has("out", times[i][1]);
	}
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		snprintf(line, sizeof(line), "--time %s", wrong[i]);
		cr_expect_eq(run(&command_report, line), 1, "%s", wrong[i]);
		has("err", "is no time");
	}
}

Test(perffile_rows, by_a_caller)
{
	RUN("-g none --no-children -p ^work$");
	has("out", "    40.00%  two      [kernel.kallsyms]  [k] leaf  work\n"
		   "    30.00%  one      [kernel.kallsyms]  [k] leaf  [other]\n");
	RUN("-g none --no-children -s sym -p ^work$ -x");
	has("out", "    50.00%  [k] leaf\n    20.00%  [k] work\n");
	RUN("-g none -s parent --no-children -p work|outer");
	has("out", "    70.00%  work\n    30.00%  outer\n");
	/* With callers as rows, the outermost counts. */
	RUN("-g none -s parent -p work|outer");
	has("out", "   100.00%   100.00%  outer\n");
}

Test(perffile_rows, what_the_recording_says)
{
	RUN("--stats");
	has("out", "           TOTAL events:          6\n            COMM events:          2  (33.3%)\n"
		   "          SAMPLE events:          4  (66.7%)\n");
	RUN("--header-only");
	has("out", "# ========\n# captured on    : ");
	lacks("out", "leaf");
	RUN("-q -g none -s sym --no-children");
	cr_assert_str_eq(text_of("out"), "    80.00%  [k] leaf\n    20.00%  [k] work\n");
}

/* A kernel as a program that was linked elsewhere than it ran */
Test(perffile_rows, symbols_of_vmlinux)
{
	static const char source[] =
		".globl _text\n_text: .skip 0x1000\n.type in_elf, @function\nin_elf: .skip 0x1000\n"
		".size in_elf, .-in_elf\n.type more, @function\nmore: .skip 0x2000\n.size more, .-more\n";
	static const uint64_t chain[] = { LEAF, WORK };
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1,
	};
	struct build_trailer early = { .pid = 70, .tid = 71 };
	struct build build;

	build_begin(&build, &attr, 1);
	build_mmap(&build, -1, 0xffffffff81000000, 0x10000, 0xffffffff81000000,
		   "[kernel.kallsyms]_text", NULL, &early);
	add(&build, 70, 3, 1, 100, 2, chain);
	build_features(&build, NULL, 0);
	write_file("moved", build.data, build.size);
	build_free(&build);
	write_file("kernel.s", source, sizeof(source) - 1);
	cr_assert_eq(system("as -o kernel.o kernel.s && ld -Ttext=0xffffffff80800000 -e 0 -o vmlinux kernel.o"), 0);
	cr_assert_eq(run(&command_report, "-i moved -k vmlinux -g callee --no-children -s sym"), 0);
	has("out", "   100.00%  [k] in_elf\n             100.00%  more\n");
	cr_assert_eq(run(&command_report, "-i moved -k kallsyms -g none"), 0);
	has("err", "no symbols of [kernel.kallsyms]: the file given with -k cannot be read, or is no kernel");
}

static int line_of_code;

/* Where its code is, wherever it is inlined */
static inline __attribute__((always_inline)) uint64_t inner(void)
{
	uint64_t address;

	line_of_code = __LINE__ + 1;
	__asm__ volatile("lea 1f(%%rip), %0\n\tnop\n1:\tnop\n\tnop" : "=r"(address));
	return address;
}

static inline __attribute__((always_inline)) uint64_t between(void)
{
	return inner();
}

__attribute__((noinline)) static uint64_t outside(void)
{
	return between();
}

/* Where this program is mapped that has @address */
static void build_self(struct build *build, uint64_t address, const struct build_trailer *trailer)
{
	unsigned long start, end, offset;
	char line[4096], name[2048];
	FILE *maps = fopen("/proc/self/maps", "r");

	cr_assert_not_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %2047s", &start, &end, &offset, name) == 4 &&
		    address >= start && address < end)
			build_mmap(build, 70, start, end - start, offset, name, NULL, trailer);
	fclose(maps);
}

/* What was inlined counts as a caller does; the sample is at the line that its code comes from. */
Test(perffile_rows, inlined_functions)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1,
	};
	struct build_trailer early = { .pid = 70, .tid = 70 };
	struct build_sample sample = {
		.id = build_id(0, 0), .ip = outside(), .time = 1000000000, .period = 100,
		.pid = 70, .tid = 70, .chain = 2,
	};
	struct build build;
	uint64_t seed = 1;
	char text[256];

	sample.chain_at[0] = (uint64_t)PERF_CONTEXT_USER;
	sample.chain_at[1] = sample.ip;
	build_begin(&build, &attr, 1);
	build_self(&build, sample.ip, &early);
	build_sample(&build, 0, PERF_RECORD_MISC_USER, &sample, &seed);
	build_features(&build, NULL, 0);
	write_file("perf.data", build.data, build.size);
	build_free(&build);
	RUN("-g none -s sym");
	has("out", "   100.00%   100.00%  [.] outside\n");
	has("out", "   100.00%     0.00%  [.] between (inlined)\n");
	has("out", "   100.00%     0.00%  [.] inner (inlined)\n");
	RUN("-g caller -s sym --no-children");
	has("out", "   100.00%  [.] outside\n");
	lacks("out", "[.] inner");
	snprintf(text, sizeof(text), "perffile_rows.c:%d\n", line_of_code);
	RUN("-s srcline --no-children");
	has("out", text);
	RUN("-s srcline --no-children -g none");
	has("out", text);
}
