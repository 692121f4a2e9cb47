// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl report -D" and "pmuctl script -D": each record of a recording as perf prints it.
 */
/* sources: $(READER) $(SYMBOLS) $(REPORT) */
/* sources: tools/script/trace.c tools/trace/streams.c tools/trace/spans.c tools/trace/pieces.c tools/trace/result.c */
/* sources: tools/trace/code.c tools/trace/timeline.c tools/trace/decode.c tools/trace/filter.c tools/trace/branches.c tools/perffile/trace.c */
/* sources: tools/script/script.c tools/script/json.c tools/script/names.c tools/script/text.c */
/* sources: tools/script/tracepoint.c tools/tracepoint/formats.c tools/tracepoint/print.c */
/* sources: tools/tracepoint/printer.c */
/* libs: -ltraceevent -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap */
#include <stdint.h>

#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	      PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_IDENTIFIER)

#define FINISHED_ROUND	68

/* Of two samples the later one is first in the file; behind them is a record of perf's own. */
static void enter(void)
{
	struct build_sample sample = {
		.id = build_id(0, 0), .ip = 0xffffffff81001010, .time = 9, .cpu = 3, .period = 100,
		.pid = 70, .tid = 71, .chain = 2,
		.chain_at = { (uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81001010 },
	};
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1 };
	struct build_trailer early = { .pid = 70, .tid = 71, .time = 5, .cpu = 2 };
	struct build build;
	uint64_t seed = 1;
	size_t at;

	enter_directory();
	build_begin(&build, &attr, 1);
	build_sample(&build, 0, PERF_RECORD_MISC_KERNEL, &sample, &seed);
	sample.time = 8;
	build_sample(&build, 0, PERF_RECORD_MISC_KERNEL, &sample, &seed);
	build_comm(&build, 70, 71, "a\033b", PERF_RECORD_MISC_COMM_EXEC, &early);
	build_task(&build, PERF_RECORD_FORK, 80, 70, 81, 71, &early);
	build_mmap(&build, 70, 0x1000, 0x2000, 0x3000, "/bin/x", NULL, &early);
	at = build_record(&build, PERF_RECORD_LOST, 0);
	build_word(&build, build_id(0, 0));
	build_word(&build, 42);
	build_trailer(&build, TYPE, &early);
	build_record_end(&build, at);
	at = build_record(&build, PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT);
	build_half(&build, 80);
	build_half(&build, 81);
	build_trailer(&build, TYPE, &early);
	build_record_end(&build, at);
	at = build_record(&build, FINISHED_ROUND, 0);
	build_record_end(&build, at);
	build_features(&build, NULL, 0);
	write_file("perf.data", build.data, build.size);
	write_file("cut", build.data, build.size - 1);
	build_free(&build);
}

TestSuite(perffile_dump, .init = enter, .fini = leave_directory);

static void has_all(const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		has("out", texts[i]);
}

/* Places in the file follow from how it was built: perf prints the same of this file. */
static const char *const records[] = {
	": event: 3\n.\n. ... raw event: size 56 bytes\n"
	".  0000:  03 00 00 00 00 20 38 00 46 00 00 00 47 00 00 00  ..... 8.F...G...\n"
	".  0010:  61 1b 62 00 00 00 00 00 46 00 00 00 47 00 00 00  a.b.....F...G...\n",
	"[0x38]: PERF_RECORD_COMM exec: a?b:70/71\n",
	"PERF_RECORD_FORK(80:81):(70:71)\n",
	"PERF_RECORD_MMAP2 70/70: [0x1000(0x2000) @ 0x3000 00:00 0 0]: r-xp /bin/x\n",
	"2 5 ", "PERF_RECORD_LOST: id:1000: lost:42\n",
	"PERF_RECORD_SWITCH_CPU_WIDE OUT          next pid/tid:    80/81   \n",
	"\n3 8 ", "PERF_RECORD_SAMPLE(IP, 0x1): 70/71: 0xffffffff81001010 period: 100 addr: 0\n"
	"... FP chain: nr:2\n.....  0: ffffffffffffff80\n.....  1: ffffffff81001010\n"
	" ... thread: a?b:71\n ...... dso: [kernel.kallsyms]\n",
	/* The last line of bytes is filled up with blanks. */
	".  0000:  44 00 00 00 00 00 08 00                          D.......        \n\n",
	"[0x8]: PERF_RECORD_FINISHED_ROUND\n",
};

Test(perffile_dump, each_record_is_printed)
{
	const char *text, *earlier, *later;

	cr_assert_eq(run(&command_report, "-D"), 0, "%s", text_of("err"));
	has_all(records, ARRAY_LEN(records));
	has("out", "\nAggregated stats:\n           TOTAL events:          7\n");
	has("out", "          SAMPLE events:          2\n");
	text = text_of("out");
	earlier = strstr(text, "\n3 8 ");
	later = strstr(text, "\n3 9 ");
	cr_assert(earlier && later && earlier < later);
	cr_assert_null(strchr(text, '\033'));
	cr_assert_eq(run(&command_report, "--dump-raw-trace --stdio -g none"), 0);
}

Test(perffile_dump, of_script_without_numbers)
{
	cr_assert_eq(run(&command_script, "-D"), 0, "%s", text_of("err"));
	has_all(records, ARRAY_LEN(records));
	lacks("out", "Aggregated");
	cr_assert_eq(run(&command_script, "--dump-raw-trace -F comm"), 0);
}

Test(perffile_dump, what_goes_with_it)
{
	static const char *const lines[] = { "-D --stats", "-D -j", "--folded -D" };

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		cr_expect_eq(run(&command_report, lines[i]), 2, "%s", lines[i]);
		has("err", "only one of ");
	}
	cr_expect_eq(run(&command_script, "-D -j"), 2);
	has("err", "-D is text of records: it excludes -j and --trace");
	cr_expect_eq(run(&command_script, "-D --trace"), 2);
	cr_expect_eq(run(&command_report, "-i cut -D"), 1);
	has("err", "cannot read 'cut'");
}
