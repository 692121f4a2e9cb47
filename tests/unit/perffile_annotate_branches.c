// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl annotate" of branch stacks, on a recording that is built here, of a program that is
 * assembled here: a loop that goes round four times each time that it is entered. What is
 * executed between the branches of a stack is counted by hand.
 */
/* sources: $(READER) $(SYMBOLS) */
/* sources: tools/options.c tools/report/filter.c tools/report/reading.c tools/report/times.c */
/* sources: tools/annotate/annotate.c */
/* sources: tools/annotate/sites.c tools/annotate/branches.c tools/annotate/code.c tools/annotate/source.c */
/* sources: tools/annotate/print.c tools/annotate/counts.c tools/trace/code.c tools/trace/streams.c */
/* sources: tools/trace/spans.c tools/trace/pieces.c tools/trace/decode.c tools/trace/filter.c */
/* sources: tools/trace/branches.c tools/trace/result.c tools/perffile/trace.c */
/* libs: -ldw -lelf -lstdc++ -liberty -ljansson -lcap -lcapstone */
#include <stdint.h>

#include <jansson.h>

#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
	      PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_IDENTIFIER)

#define ENTRY	0x401000
#define LOOP	(ENTRY + 5)
#define BRANCH	(LOOP + 2)
#define AGAIN	(BRANCH + 2)
#define RUNS_ON	(AGAIN + 5)
#define NEXT	(RUNS_ON + 1)
#define BACK	(NEXT + 1)
#define KERNEL	0xffffffff81000000ULL

#define MISPREDICTED	1
#define PREDICTED	2

/* Bytes: mov 5, dec 2, jnz 2, jmp 5; nop 1; nop 1, ret 1 */
static const char source[] =
	".globl loops\n.type loops, @function\nloops:\n"
	"\tmov $4, %ecx\n1:\tdec %ecx\n\tjnz 1b\n\t.byte 0xe9\n\t.long loops - . - 4\n"
	".size loops, .-loops\n"
	".type runs_on, @function\nruns_on:\n\tnop\n.size runs_on, .-runs_on\n"
	".type next, @function\nnext:\n\tnop\n\tret\n.size next, .-next\n";

struct branch {
	uint64_t from;
	uint64_t to;
	uint64_t flags;
};

static struct build build;

static void begin(uint64_t kind)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | kind,
	};
	struct build_trailer early = { .pid = 70, .tid = 70 };
	char path[128];

	snprintf(path, sizeof(path), "%s/prog", test_directory);
	build_begin(&build, &attr, 1);
	build_comm(&build, 70, 70, "prog", 0, &early);
	build_mmap(&build, 70, ENTRY, 0x1000, 0x1000, path, NULL, &early);
}

/* A sample at the loop's branch; of its branches the newest comes first. */
static void add(const struct branch *branches, size_t count)
{
	size_t at = build_record(&build, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	build_word(&build, build_id(0, 0));
	build_word(&build, BRANCH);
	build_half(&build, 70);
	build_half(&build, 70);
	build_word(&build, 2);
	build_word(&build, 10);
	build_word(&build, count);
	for (size_t i = 0; i < count; i++) {
		build_word(&build, branches[i].from);
		build_word(&build, branches[i].to);
		build_word(&build, branches[i].flags);
	}
	build_record_end(&build, at);
}

static void end(void)
{
	static const unsigned int features[] = { 12 };
	static const char *const names[] = { "events" };

	build_features(&build, features, 1);
	build_feature_names(&build, 0, names);
	write_file("perf.data", build.data, build.size);
	build_free(&build);
}

static void enter(void)
{
	char command[128];

	enter_directory();
	write_file("prog.s", source, sizeof(source) - 1);
	snprintf(command, sizeof(command), "as -o prog.o prog.s && ld -Ttext=%#x -e loops -o prog prog.o",
		 ENTRY);
	cr_assert_eq(system(command), 0);
}

TestSuite(perffile_annotate_branches, .init = enter, .fini = leave_directory);

/* Two whole rounds, but for the first one's beginning: 3 turns back, the jump, 3, and the jump */
static const struct branch rounds[] = {
	{ AGAIN, ENTRY, PREDICTED },
	{ BRANCH, LOOP, PREDICTED }, { BRANCH, LOOP, PREDICTED }, { BRANCH, LOOP, MISPREDICTED },
	{ AGAIN, ENTRY, PREDICTED },
	{ BRANCH, LOOP, PREDICTED }, { BRANCH, LOOP, PREDICTED }, { BRANCH, LOOP, PREDICTED },
	{ AGAIN, ENTRY, 0 },
};

Test(perffile_annotate_branches, what_is_between_branches_was_executed)
{
	begin(PERF_SAMPLE_BRANCH_ANY);
	add(rounds, 9);
	end();
	cr_assert_eq(run(&command_annotate, "loops"), 0, "%s", text_of("err"));
	has("out", " Percent |Coverage |\tSource code & Disassembly of prog for events (1 samples, 100.00% of all");
	/* Each round: once in, four times round, of which three go back, once on */
	has("out", "         :         :\tloops():\n"
		   "    0.00 :       2 :\t  401000:\tmovl   $4, %ecx\t# +25.00%\n"
		   "    0.00 :       8 :\t  401005:\tdecl   %ecx\t# +75.00%\n"
		   "  100.00 :       8 :\t  401007:\tjne    0x401005 <loops+0x5>\t# -75.00% (p:83.33%)\n"
		   "    0.00 :       2 :\t  401009:\tjmp    0x401000 <loops>\t# -100.00% (p:100.00%)\n");
	cr_assert_eq(run(&command_annotate, "-n loops"), 0);
	has("out", " Percent | Samples |Coverage |\tSource");
	has("out", "  100.00 :       1 :       8 :\t  401007:");
}

static json_int_t value(size_t instruction, const char *key)
{
	json_error_t error;
	json_t *all = json_loads(text_of("out"), 0, &error), *list;
	json_int_t n;

	cr_assert_not_null(all, "%s", error.text);
	list = json_object_get(json_array_get(json_object_get(all, "functions"), 0), "instructions");
	list = json_object_get(json_array_get(list, instruction), key);
	n = list ? json_integer_value(list) : -1;
	json_decref(all);
	return n;
}

/* How the branches were predicted is told of none of another stack. */
Test(perffile_annotate_branches, json)
{
	struct branch silent[9];

	for (size_t i = 0; i < 9; i++)
		silent[i] = (struct branch){ rounds[i].from, rounds[i].to, 0 };
	begin(PERF_SAMPLE_BRANCH_ANY);
	add(rounds, 9);
	add(silent, 9);
	end();
	cr_assert_eq(run(&command_annotate, "-j loops"), 0);
	cr_expect_eq(value(0, "coverage"), 4);
	cr_expect_eq(value(0, "entry"), 4);
	cr_expect_eq(value(0, "taken"), 0);
	cr_expect_eq(value(0, "predicted"), -1);
	cr_expect_eq(value(1, "entry"), 12);
	cr_expect_eq(value(2, "coverage"), 16);
	cr_expect_eq(value(2, "taken"), 12);
	cr_expect_eq(value(2, "predicted"), 5);
	cr_expect_eq(value(2, "mispredicted"), 1);
	begin(PERF_SAMPLE_BRANCH_ANY);
	add(silent, 9);
	end();
	cr_assert_eq(run(&command_annotate, "loops"), 0);
	has("out", "<loops+0x5>\t# -75.00%\n");
}

/* What has left by a branch before does not count for a target behind it. */
Test(perffile_annotate_branches, shares_are_of_the_next_branch)
{
	static const struct branch skips[] = {
		{ AGAIN, ENTRY, MISPREDICTED }, { BRANCH, AGAIN, 0 }, { BRANCH, LOOP, 0 }, { BACK, LOOP, 0 },
	};

	begin(PERF_SAMPLE_BRANCH_ANY);
	add(skips, 4);
	end();
	cr_assert_eq(run(&command_annotate, "loops"), 0, "%s", text_of("err"));
	has("out", "  100.00 :       2 :\t  401007:\tjne    0x401005 <loops+0x5>\t# -100.00%\n"
		   "    0.00 :       1 :\t  401009:\tjmp    0x401000 <loops>\t# +100.00% -100.00% (p:0.00%)\n");
}

/* From a jump to the next branch two functions are gone through, which run into each other. */
Test(perffile_annotate_branches, code_that_runs_into_the_next_function)
{
	static const struct branch through[] = { { BACK, LOOP, PREDICTED }, { BRANCH, RUNS_ON, PREDICTED } };

	begin(PERF_SAMPLE_BRANCH_ANY);
	add(through, 2);
	end();
	cr_assert_eq(run(&command_annotate, "runs_on"), 0, "%s", text_of("err"));
	has("out", "    0.00 :       1 :\t  40100e:\tnop\n");
	cr_assert_eq(run(&command_annotate, "next"), 0, "%s", text_of("err"));
	has("out", "    0.00 :       1 :\t  40100f:\tnop\n"
		   "    0.00 :       1 :\t  401010:\tretq\t# -100.00% (p:100.00%)\n");
}

/* Backwards nothing runs; nor from the kernel, or from nowhere. */
Test(perffile_annotate_branches, records_between_which_nothing_was_executed)
{
	static const struct branch odd[] = {
		{ LOOP, ENTRY, 0 }, { KERNEL, BRANCH, 0 }, { 0, 0, 0 }, { 0, LOOP, 0 },
		{ KERNEL + 4, KERNEL, 0 }, { UINT64_MAX, LOOP, 0 }, { BRANCH, ENTRY + 0x10000000, 0 },
	};

	begin(PERF_SAMPLE_BRANCH_ANY);
	add(odd, 7);
	add(odd, 1);
	add(odd, 0);
	end();
	cr_assert_eq(run(&command_annotate, "loops"), 0, "%s", text_of("err"));
	has("out", "    0.00 :       0 :\t  401000:\tmovl   $4, %ecx\n"
		   "    0.00 :       0 :\t  401005:\tdecl   %ecx\n"
		   "  100.00 :       0 :\t  401007:\tjne    0x401005 <loops+0x5>\n");
}

/* Between calls, or those that have not returned, there may be other branches. */
Test(perffile_annotate_branches, stacks_that_have_not_all_branches)
{
	begin(PERF_SAMPLE_BRANCH_ANY_CALL);
	add(rounds, 9);
	end();
	cr_assert_eq(run(&command_annotate, "loops"), 0);
	has("out", " Percent |\tSource");
	lacks("out", "#");
	begin(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_CALL_STACK);
	add(rounds, 9);
	end();
	cr_assert_eq(run(&command_annotate, "-j loops"), 0);
	lacks("out", "coverage");
}
