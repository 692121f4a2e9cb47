// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl report -b": rows of the branches that samples tell.
 */
/* sources: $(READER) $(SYMBOLS) $(REPORT) */
/* libs: -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap */
#include <stdint.h>

#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
	      PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_IDENTIFIER)

#define LEAF	0xffffffff81001010
#define WORK	0xffffffff81002020
#define OUTER	0xffffffff81003030
#define NOWHERE	0x4000

#define MISPREDICTED	1
#define PREDICTED	2
#define CALL		(UINT64_C(4) << 20)
#define CYCLES(n)	((uint64_t)(n) << 4)

#define RUN(line) cr_assert_eq(run(&command_report, "--kallsyms kallsyms " line), 0, "%s: %s", line, text_of("err"))

static const char kallsyms[] =
	"ffffffff81000000 T _text\nffffffff81001000 T leaf\nffffffff81002000 T work\n"
	"ffffffff81003000 T outer\nffffffff81004000 T end\n";

struct branch {
	uint64_t from, to, flags;
};

static void add(struct build *build, uint32_t pid, uint64_t time, uint64_t ip,
		const struct branch *branches, size_t count)
{
	size_t at = build_record(build, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);

	build_word(build, build_id(0, 0));
	build_word(build, ip);
	build_half(build, pid);
	build_half(build, pid);
	build_word(build, time);
	build_word(build, 1000);	/* the period */
	build_word(build, count);
	build_bytes(build, branches, count * sizeof(*branches));
	build_record_end(build, at);
}

/* Of ten branches five are from outer() to work(), three from there to leaf(); two come from nowhere. */
static void enter(void)
{
	static const struct branch first[] = {
		{ WORK, LEAF, PREDICTED | CYCLES(7) }, { OUTER, WORK, PREDICTED | CYCLES(7) },
		{ OUTER, WORK, MISPREDICTED | CYCLES(7) | CALL }, { NOWHERE, WORK, 0 },
	};
	static const struct branch second[] = {
		{ WORK, LEAF, MISPREDICTED | CYCLES(20) }, { WORK + 4, LEAF, PREDICTED | CYCLES(7) },
		{ OUTER, WORK, PREDICTED | CYCLES(7) }, { OUTER, WORK + 8, PREDICTED | CYCLES(7) },
		{ OUTER, WORK, PREDICTED | CYCLES(7) }, { NOWHERE, WORK, 0 },
	};
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY,
	};
	struct build_trailer early = { .pid = 70, .tid = 70 };
	struct build build;

	enter_directory();
	build_begin(&build, &attr, 1);
	build_comm(&build, 70, 70, "one", 0, &early);
	build_comm(&build, 80, 80, "two", 0, &early);
	add(&build, 70, 1000000000, LEAF, first, 4);
	add(&build, 80, 2000000000, WORK, second, 6);
	add(&build, 80, 3000000000, WORK, NULL, 0);
	build_features(&build, NULL, 0);
	write_file("perf.data", build.data, build.size);
	write_file("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	build_free(&build);
}

TestSuite(perffile_branches, .init = enter, .fini = leave_directory);

Test(perffile_branches, from_where_and_to_where)
{
	RUN("-b -s symbol_from,symbol_to -n");
	has("out", "# cycles: 10 branches\n#\n"
		   "# Overhead   Samples  Source symbol  Target symbol\n#\n"
		   "    50.00%         5  [k] outer      [k] work\n"
		   "    30.00%         3  [k] work       [k] leaf\n"
		   "    20.00%         2  [.] [unknown]  [k] work\n");
	RUN("--branch-stack --stdio");
	has("out", "# Overhead  Command  Source shared object  Source symbol  Target symbol  Basic block cycles\n#\n"
		   "    30.00%  two      [kernel.kallsyms]     [k] outer      [k] work       7\n");
	has("out", "    10.00%  one      [unknown]             [.] [unknown]  [k] work       -\n");
	has("out", "    10.00%  two      [kernel.kallsyms]     [k] work       [k] leaf       20\n");
}

Test(perffile_branches, whether_they_were_predicted)
{
	RUN("-b -s mispredict,dso_from,dso_to");
	has("out", "# Overhead  Branch mispredicted  Source shared object  Target shared object\n#\n"
		   "    60.00%  N                    [kernel.kallsyms]     [kernel.kallsyms]\n"
		   "    20.00%  N/A                  [unknown]             [kernel.kallsyms]\n"
		   "    20.00%  Y                    [kernel.kallsyms]     [kernel.kallsyms]\n");
	RUN("-b -F cycles,overhead");
	has("out", "  -                     20.00%\n  7                     70.00%\n  20                    10.00%\n");
}

/* Keys of places are where a branch went; a key of branches asks for them by itself. */
Test(perffile_branches, with_other_keys)
{
	RUN("-b -s sym");
	has("out", "    70.00%  [k] work\n    30.00%  [k] leaf\n");
	RUN("-s comm,symbol_to --percentage relative --comm two");
	has("out", "# cycles: 6 branches\n");
	has("out", "    66.67%  two      [k] work\n    33.33%  two      [k] leaf\n");
	RUN("-s comm,symbol_to --comm two");
	has("out", "# cycles: 10 branches\n");
	has("out", "    40.00%  two      [k] work\n    20.00%  two      [k] leaf\n");
	RUN("-b -U -s symbol_from");
	has("out", "    62.50%  [k] outer\n    37.50%  [k] work\n");
	lacks("out", "unknown");
	RUN("-b -j");
	has("out", "\"symbol_from\"");
}

/* As perf prints them: M, P, what has no meaning yet, and the kind if it is known. */
Test(perffile_branches, as_records)
{
	RUN("-D");
	has("out", "... branch stack: nr:4\n"
		   ".....  0: ffffffff81002020 -> ffffffff81001010 7 cycles  P   0 \n"
		   ".....  1: ffffffff81003030 -> ffffffff81002020 7 cycles  P   0 \n"
		   ".....  2: ffffffff81003030 -> ffffffff81002020 7 cycles M    0 CALL\n"
		   ".....  3: 0000000000004000 -> ffffffff81002020 0 cycles      0 \n");
}

/* Without any of that it is as ever. */
Test(perffile_branches, samples_by_default)
{
	RUN("-s sym");
	has("out", "# cycles: 3 samples, 3000 events\n");
	has("out", "    66.67%  [k] work\n    33.33%  [k] leaf\n");
	RUN("-b --no-branch-stack -s sym");
	has("out", "3 samples");
}

Test(perffile_branches, what_is_not_there)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = TYPE & ~(uint64_t)PERF_SAMPLE_BRANCH_STACK,
	};
	struct build_trailer early = { .pid = 70, .tid = 70 };
	static const char *const lines[] = { "-i bare -b", "-i bare -s symbol_from", "-i bare -F overhead,cycles" };
	struct build build;

	build_begin(&build, &attr, 1);
	build_comm(&build, 70, 70, "one", 0, &early);
	build_features(&build, NULL, 0);
	write_file("bare", build.data, build.size);
	build_free(&build);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		cr_expect_eq(run(&command_report, lines[i]), 1, "%s", lines[i]);
		has("err", "'bare' has no branches: record with -b");
	}
	cr_expect_eq(run(&command_report, "-b --folded"), 2);
	has("err", "branches are rows of a table, or with --json");
	cr_expect_eq(run(&command_report, "-s dso_to --hierarchy"), 2);
	has("err", "branches are rows of a table, or with --json");
}
