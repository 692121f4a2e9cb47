// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl annotate" on recordings that are built here, of programs that are assembled here:
 * each sample is at the instruction that it is said to be at.
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
	      PERF_SAMPLE_IDENTIFIER)

#define TEXT	0x401000

/* Bytes: push 1, mov 3, call 5, pop 1, ret 1; and 1 of other() */
static const char source[] =
	".globl known\n.type known, @function\nknown:\n"
	"\tpush %rbp\n\tmov %rsp, %rbp\n\tcall other\n\tpop %rbp\n\tret\n"
	".size known, .-known\n.type other, @function\nother:\n\tret\n.size other, .-other\n";

static void add(struct build *build, size_t event, uint16_t misc, uint64_t ip, uint64_t period)
{
	struct build_sample sample = {
		.id = build_id(event, 0), .ip = ip, .time = ip, .period = period,
		.pid = 70, .tid = 70,
	};
	uint64_t seed = 1;

	build_sample(build, event, misc, &sample, &seed);
}

/* 900 events in known(): 450 at mov, of which 90 in its midst, 450 at pop; 100 in other(). */
static void record_program(const char *path)
{
	struct perf_event_attr attrs[2] = {
		{ .size = sizeof(attrs[0]), .sample_type = TYPE, .sample_id_all = 1 },
	};
	static const unsigned int features[] = { 12 };
	static const char *const names[] = { "events", "others" };
	struct build_trailer early = { .pid = 70, .tid = 70 };
	struct build build;

	attrs[1] = attrs[0];
	build_begin(&build, attrs, 2);
	build_comm(&build, 70, 70, "prog", 0, &early);
	build_mmap(&build, 70, TEXT, 0x1000, 0x1000, path, NULL, &early);
	add(&build, 0, PERF_RECORD_MISC_USER, TEXT + 9, 450);
	add(&build, 0, PERF_RECORD_MISC_USER, TEXT + 1, 360);
	add(&build, 0, PERF_RECORD_MISC_USER, TEXT + 2, 90);
	add(&build, 0, PERF_RECORD_MISC_USER, TEXT + 11, 100);
	add(&build, 1, PERF_RECORD_MISC_USER, TEXT, 5);
	build_features(&build, features, 1);
	build_feature_names(&build, 0, names);
	write_file("perf.data", build.data, build.size);
	build_free(&build);
}

static void make_program(const char *as, const char *ld)
{
	char command[256];

	write_file("prog.s", source, sizeof(source) - 1);
	snprintf(command, sizeof(command), "as %s -g -o prog.o prog.s && ld %s -Ttext=%#x -e known -o prog prog.o",
		 as, ld, TEXT);
	cr_assert_eq(system(command), 0);
}

static const char *program_path(void)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/prog", test_directory);
	return path;
}

static void enter(void)
{
	enter_directory();
	make_program("", "");
	record_program(program_path());
}

TestSuite(perffile_annotate, .init = enter, .fini = leave_directory);

Test(perffile_annotate, samples_at_their_instructions)
{
	cr_assert_eq(run(&command_annotate, "--no-source -e events known"), 0, "%s", text_of("err"));
	has("out", " Percent |\tSource code & Disassembly of prog for events (3 samples, 90.00% of all, percent: local period)\n");
	has("out", "         :\tknown():\n"
		   "    0.00 :\t  401000:\tpushq  %rbp\n"
		   "   50.00 :\t  401001:\tmovq   %rsp, %rbp\n"
		   "    0.00 :\t  401004:\tcallq  0x40100b <other>\n"
		   "   50.00 :\t  401009:\tpopq   %rbp\n"
		   "    0.00 :\t  40100a:\tretq\n");
	lacks("out", "other()");
}

Test(perffile_annotate, options)
{
	cr_assert_eq(run(&command_annotate, "--no-source -e events -n -M intel -s known"), 0);
	has("out", " Percent | Samples |\tSource");
	has("out", "   50.00 :       2 :\t  401001:\tmov    rbp, rsp\n");
	cr_assert_eq(run(&command_annotate, "--stdio -f -M att --percent-limit 11 -e events"), 0);
	has("out", "known():\n");
	lacks("out", "other():\n");
	cr_assert_eq(run(&command_annotate, "--percent-limit 10"), 0);
	has("out", "other():\n");
	has("out", "for others (1 samples, 100.00% of all");
	cr_assert_eq(run(&command_annotate, "-d libc.so.6"), 1);
	has("err", "'perf.data' has no samples in functions with a name");
	cr_assert_eq(run(&command_annotate, "nobody"), 1);
	has("err", "'perf.data' has no samples in 'nobody': 'pmuctl report' shows where they are");
	cr_assert_eq(run(&command_annotate, "-e none known"), 1);
	has("err", "'perf.data' has no event 'none': ");
	cr_assert_eq(run(&command_annotate, "-M arm"), 2);
	has("err", "'arm' is no syntax of instructions");
	cr_assert_eq(run(&command_annotate, "one two"), 2);
	has("err", "'two' is one function too many");
	cr_assert_eq(run(&command_annotate, "--percent-limit x"), 2);
}

Test(perffile_annotate, lines_of_source)
{
	char expected[256];

	cr_assert_eq(run(&command_annotate, "-e events known"), 0);
	snprintf(expected, sizeof(expected), "         :\t%s/prog.s:5   mov %%rsp, %%rbp\n   50.00 :", test_directory);
	has("out", expected);
	cr_assert_eq(unlink("prog.s"), 0);
	cr_assert_eq(run(&command_annotate, "-e events known"), 0);
	snprintf(expected, sizeof(expected), "         :\t%s/prog.s:5\n   50.00 :", test_directory);
	has("out", expected);
}

/* mov and pop have a half each, of lines 5 and 7; what is called is in no line of known(). */
Test(perffile_annotate, shares_of_lines)
{
	char expected[512];

	cr_assert_eq(run(&command_annotate, "-l -e events known"), 0, "%s", text_of("err"));
	snprintf(expected, sizeof(expected), "\nSorted summary for file %s\n"
		 "----------------------------------------------\n\n"
		 "   50.00 prog.s:5\n   50.00 prog.s:7\n Percent |\tSource code & Disassembly of prog for",
		 program_path());
	has("out", expected);
	has("out", "    0.00 :\t  401000:\tpushq  %rbp\n");
	has("out", "   50.00 :\t  401001:\tmovq   %rsp, %rbp // prog.s:5\n");
	cr_assert_eq(run(&command_annotate, "-q -P --print-line --no-source -e events known"), 0);
	snprintf(expected, sizeof(expected), "   50.00 %s/prog.s:5\n   50.00 %s/prog.s:7\n"
		 " Percent |\tSource code & Disassembly of %s for events",
		 test_directory, test_directory, program_path());
	has("out", expected);
	snprintf(expected, sizeof(expected), "         :\tknown():\n"
		 "    0.00 :\t  401000:\tpushq  %%rbp\n"
		 "   50.00 :\t  401001:\tmovq   %%rsp, %%rbp // %s/prog.s:5\n"
		 "    0.00 :\t  401004:\tcallq  0x40100b <other>\n"
		 "   50.00 :\t  401009:\tpopq   %%rbp // %s/prog.s:7\n", test_directory, test_directory);
	has("out", expected);
	cr_assert_eq(run(&command_annotate, "--full-paths --no-source -e events known"), 0);
	lacks("out", "prog.s");
	lacks("out", "Disassembly of prog ");
	cr_assert_eq(run(&command_annotate, "-l -j -e events known"), 0);
	lacks("out", "Sorted summary");
}

/* And nothing is said of those that are hidden. */
Test(perffile_annotate, lines_that_are_unknown)
{
	cr_assert_eq(system("as -o prog.o prog.s && ld -Ttext=0x401000 -e known -o prog prog.o"), 0);
	cr_assert_eq(run(&command_annotate, "-l known"), 0);
	has("out", "----\n\n Nothing higher than 0.5%\n Percent |");
	lacks("out", "//");
}

Test(perffile_annotate, quiet)
{
	cr_assert_eq(unlink("prog"), 0);
	cr_assert_eq(run(&command_annotate, ""), 1);
	has("err", "no symbols of ");
	cr_assert_eq(run(&command_annotate, "--quiet"), 1);
	lacks("err", "no symbols of ");
}

Test(perffile_annotate, json)
{
	json_t *all, *function, *instruction;
	json_error_t error;

	cr_assert_eq(run(&command_annotate, "-e events -j known"), 0);
	all = json_loads(text_of("out"), 0, &error);
	cr_assert_not_null(all, "%s", error.text);
	function = json_array_get(json_object_get(all, "functions"), 0);
	cr_assert_str_eq(json_string_value(json_object_get(function, "symbol")), "known");
	cr_assert_eq(json_integer_value(json_object_get(function, "period")), 900);
	cr_assert_float_eq(json_real_value(json_object_get(function, "percent")), 90, 1e-9);
	cr_assert_eq(json_array_size(json_object_get(function, "instructions")), 5);
	instruction = json_array_get(json_object_get(function, "instructions"), 2);
	cr_assert_str_eq(json_string_value(json_object_get(instruction, "address")), "0x401004");
	cr_assert_str_eq(json_string_value(json_object_get(instruction, "target")), "other");
	cr_assert_eq(json_integer_value(json_object_get(instruction, "line")), 6);
	json_decref(all);
}

Test(perffile_annotate, programs_of_32_bits)
{
	cr_assert_eq(system("printf '.type known, @function\\nknown: inc %%eax\\nret\\n.size known, .-known\\n' >prog.s && as --32 -o prog.o prog.s && ld -m elf_i386 -Ttext=0x401000 -e 0 -o prog prog.o"), 0);
	cr_assert_eq(run(&command_annotate, "known"), 0);
	has("out", "\t  401000:\tincl   %eax\n");
}

static void record_kernel(uint64_t text)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1,
	};
	struct build_trailer early = { .pid = 70, .tid = 70 };
	static const unsigned int features[] = { 4 };
	struct build build;

	build_begin(&build, &attr, 1);
	build_mmap(&build, -1, text, 0x10000, text, "[kernel.kallsyms]known", NULL, &early);
	add(&build, 0, PERF_RECORD_MISC_KERNEL, text + 4, 7);
	build_features(&build, features, 1);
	build_feature_text(&build, 0, "0.1-of-nobody");
	write_file("kernel", build.data, build.size);
	build_free(&build);
}

/* Its addresses are those of the kernel that was recorded. */
Test(perffile_annotate, code_of_vmlinux)
{
	record_kernel(0xffffffff81001000);
	cr_assert_eq(run(&command_annotate, "-i kernel -k prog --no-source"), 0, "%s", text_of("err"));
	has("out", "  100.00 :\tffffffff81001004:\tcallq  0xffffffff8100100b <other>\n");
}

Test(perffile_annotate, code_that_is_not_there)
{
	static const char kallsyms[] = "ffffffff81001000 T known\nffffffff81002000 T end\n";

	record_kernel(0xffffffff81001000);
	write_file("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	cr_assert_eq(run(&command_annotate, "-i kernel --kallsyms kallsyms"), 1);
	has("err", "no code of known in [kernel.kallsyms]: the kernel's code is not there: record with --kcore, give its vmlinux with -k");
}
