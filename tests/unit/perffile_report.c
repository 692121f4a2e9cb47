// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl report" and "pmuctl script" on recordings that are built here: what they
 * print, and that they tell what was lost.
 */
/* sources: $(READER) $(SYMBOLS) $(REPORT) */
/* sources: tools/script/trace.c tools/trace/streams.c tools/trace/spans.c tools/trace/pieces.c tools/trace/result.c */
/* sources: tools/trace/code.c tools/trace/timeline.c tools/trace/decode.c tools/trace/filter.c tools/trace/branches.c tools/perffile/trace.c */
/* sources: tools/script/script.c tools/script/json.c tools/script/names.c tools/script/text.c */
/* sources: tools/script/tracepoint.c tools/tracepoint/formats.c tools/tracepoint/print.c */
/* sources: tools/tracepoint/printer.c */
/* libs: -ltraceevent -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	      PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_IDENTIFIER)

/* outer() calls work(), which calls leaf(), all in the kernel: they need no file. */
static const char kallsyms[] =
	"ffffffff81000000 T _text\nffffffff81001000 T leaf\nffffffff81002000 T work\n"
	"ffffffff81003000 T outer;<&>\nffffffff81004000 T end\n";

static void add_sample(struct build *build, size_t event, uint64_t time, uint64_t period,
		       const uint64_t *chain, size_t count)
{
	struct build_sample sample = {
		.id = build_id(event, 0), .ip = chain[0], .time = time, .period = period,
		.pid = 70, .tid = 71, .cpu = 3, .chain = count + 1,
	};
	uint64_t seed = 1;

	sample.chain_at[0] = (uint64_t)PERF_CONTEXT_KERNEL;
	memcpy(sample.chain_at + 1, chain, count * sizeof(*chain));
	build_sample(build, event, PERF_RECORD_MISC_KERNEL, &sample, &seed);
}

/* 60 % leaf, 30 % work, 10 % outer; of the second event one sample, in leaf. */
static void enter(void)
{
	static const uint64_t chain[] = {
		0xffffffff81001010, 0xffffffff81002020, 0xffffffff81003030,
	};
	static const unsigned int features[] = { 12 };
	static const char *const names[] = { "events", "others" };
	struct perf_event_attr attrs[2] = {
		{ .size = sizeof(attrs[0]), .sample_type = TYPE, .sample_id_all = 1 },
	};
	struct build_trailer early = { .pid = 70, .tid = 71, .time = 1 };
	struct build build;
	size_t at;

	enter_directory();
	attrs[1] = attrs[0];
	build_begin(&build, attrs, 2);
	add_sample(&build, 0, 4000000004, 300, chain + 1, 2);
	add_sample(&build, 0, 3000000003, 600, chain, 3);
	add_sample(&build, 0, 5000000005, 100, chain + 2, 1);
	add_sample(&build, 1, 6000000006, 7, chain, 1);
	build_comm(&build, 70, 71, "the \033command", 0, &early);
	at = build_record(&build, PERF_RECORD_LOST, 0);
	build_word(&build, build_id(0, 0));
	build_word(&build, 42);
	build_trailer(&build, TYPE, &early);
	build_record_end(&build, at);
	build_features(&build, features, 1);
	build_feature_names(&build, 0, names);
	write_file("perf.data", build.data, build.size);
	write_file("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	write_file("empty", "", 0);
	write_file("cut", build.data, build.size - 1);
	/* Without features, and without the end of its last record */
	build_set(&build, 48, 0);
	write_file("killed", build.data, build.features - 3);
	build_free(&build);
}

TestSuite(perffile_report, .init = enter, .fini = leave_directory);

Test(perffile_report, rows_by_period)
{
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms --no-children -g none -n"), 0);
	has("out", "# events: 3 samples, 1000 events\n");
	has("out", "\n    60.00%         1  the ?command  [kernel.kallsyms]  [k] leaf\n"
		   "    30.00%         1  the ?command  [kernel.kallsyms]  [k] work\n"
		   "    10.00%         1  the ?command  [kernel.kallsyms]  [k] outer;<&>\n");
	has("out", "# others: 1 samples, 7 events\n");
	has("out", "\n   100.00%         1  the ?command  [kernel.kallsyms]  [k] leaf\n");
}

Test(perffile_report, losses_are_told)
{
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms"), 0);
	has("out", "# lost records: 42\n");
	has("err", "42 records were lost");
	cr_assert_eq(run(&command_script, "--kallsyms kallsyms"), 0);
	has("err", "42 records were lost");
}

/* An event behind the others that counts nothing has no table, but by its name. */
Test(perffile_report, what_only_tells_of_tasks_is_left_out)
{
	static const uint64_t chain[] = { 0xffffffff81001010 };
	static const unsigned int features[] = { 12 };
	static const char *const names[] = { "events", "dummy" };
	struct perf_event_attr attrs[2] = {
		{ .size = sizeof(attrs[0]), .sample_type = TYPE, .sample_id_all = 1 },
	};
	struct build build;

	attrs[1] = attrs[0];
	attrs[1].type = PERF_TYPE_SOFTWARE;
	attrs[1].config = PERF_COUNT_SW_DUMMY;
	build_begin(&build, attrs, 2);
	add_sample(&build, 0, 4000000004, 300, chain, 1);
	build_features(&build, features, 1);
	build_feature_names(&build, 0, names);
	write_file("perf.data", build.data, build.size);
	build_free(&build);
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms"), 0);
	has("out", "# events: 1 samples, 300 events\n");
	lacks("out", "dummy");
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms --group --no-children -g none -n"), 0);
	has("out", "\n   100.00%         1 ");
	lacks("out", "dummy");
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms -e dummy"), 0);
	has("out", "# dummy: 0 samples");
}

static void add_lost_samples(struct build *build, uint64_t count, uint64_t time)
{
	const struct build_trailer trailer = { .time = time };
	size_t at = build_record(build, PERF_RECORD_LOST_SAMPLES, 0);

	build_word(build, count);
	build_trailer(build, TYPE, &trailer);
	build_record_end(build, at);
}

/* The kernel has a time for what the hardware lost, a recorder none for its own losses. */
Test(perffile_report, who_lost_it_is_told)
{
	static const uint64_t chain[] = { 0xffffffff81001010 };
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1,
	};
	struct build build;

	build_begin(&build, &attr, 1);
	add_sample(&build, 0, 4, 300, chain, 1);
	add_lost_samples(&build, 3, 9);
	add_lost_samples(&build, 50, 0);
	build_features(&build, NULL, 0);
	write_file("lost", build.data, build.size);
	build_free(&build);
	cr_assert_eq(run(&command_report, "-i lost --kallsyms kallsyms"), 0);
	has("out", "# lost records: 53\n");
	has("err", "50 records were lost by the recorder, as its rings or its disk were full");
	has("err", "3 samples were lost by the hardware");
	cr_assert_eq(run(&command_report, "-i lost --kallsyms kallsyms -j"), 0);
	has("out", "\"lost_records\": 50");
	has("out", "\"lost_samples\": 3");
}

/* What the recorder had written when it was killed is shown, and that there was more. */
Test(perffile_report, unfinished_files_are_told)
{
	cr_assert_eq(run(&command_report, "-i killed --kallsyms kallsyms --no-children -g none -n"), 0);
	has("out", "    60.00%         1  the ?command  [kernel.kallsyms]  [k] leaf\n");
	has("out", "# lost records: 0\n");
	has("err", "'killed' was not finished: the program that recorded was killed, or is still recording: its last records are missing\n");
	cr_assert_eq(run(&command_script, "-i killed --kallsyms kallsyms"), 0);
	has("err", "'killed' was not finished");
}

Test(perffile_report, callers_below_their_row)
{
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms --no-children -e events -s sym"), 0);
	has("out", "    60.00%  [k] leaf\n"
		   "              60.00%  work\n"
		   "                      outer;<&>\n"
		   "\n"
		   "    30.00%  [k] work\n"
		   "              30.00%  outer;<&>\n"
		   "\n"
		   "    10.00%  [k] outer;<&>\n");
	lacks("out", "others");
}

/* It stopped at the first byte of work(); where a call returns to is behind the call. */
Test(perffile_report, what_an_interrupt_stopped_is_no_caller)
{
	static const uint64_t chain[] = {
		0xffffffff81001010, 0xffffffff81000016, 0xffffffff81002000, 0xffffffff81003000,
	};
	static const char text[] =
		"ffffffff80fff000 T _text\nffffffff81000000 T asm_sysvec_apic_timer_interrupt\n"
		"ffffffff81001000 T leaf\nffffffff81002000 T work\n"
		"ffffffff81002800 T outer\nffffffff81003000 T end\n";
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1,
	};
	struct build build;

	build_begin(&build, &attr, 1);
	add_sample(&build, 0, 1000000001, 100, chain, 4);
	build_features(&build, NULL, 0);
	write_file("interrupted", build.data, build.size);
	build_free(&build);
	write_file("entries", text, sizeof(text) - 1);
	cr_assert_eq(run(&command_report, "-i interrupted --kallsyms entries --folded"), 0);
	has("out", ";outer;work;asm_sysvec_apic_timer_interrupt;leaf 100\n");
}

Test(perffile_report, tree_from_the_outermost_caller)
{
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms -e events -g caller"), 0);
	has("out", "\n# Calls, from the outermost caller on\n#\n"
		   " 100.00%  the ?command\n"
		   "          outer;<&>\n"
		   "    90.00%  work\n"
		   "      60.00%  leaf\n");
}

Test(perffile_report, children_have_what_they_called)
{
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms -e events --children -g none -s sym"), 0);
	has("out", "# Children      Self  Symbol\n#\n"
		   "   100.00%    10.00%  [k] outer;<&>\n"
		   "    90.00%    30.00%  [k] work\n"
		   "    60.00%    60.00%  [k] leaf\n");
}

Test(perffile_report, rows_below_the_limit_are_left_out)
{
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms --no-children -g none --percent-limit 30"), 0);
	has("out", "work");
	lacks("out", "outer");
}

Test(perffile_report, other_keys)
{
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms -e events -g none -s pid,tid,cpu,dso"), 0);
	has("out", "   100.00%  70   71   3    [kernel.kallsyms]\n");
}

Test(perffile_report, folded_stacks)
{
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms --folded"), 0);
	cr_assert_str_eq(text_of("out"), "the ?command;outer:<&> 100\n"
			 "the ?command;outer:<&>;work 300\n"
			 "the ?command;outer:<&>;work;leaf 600\n");
	has("err", "this is of events; there are 1 more events");
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms --folded -e others"), 0);
	cr_assert_str_eq(text_of("out"), "the ?command;leaf 7\n");
}

Test(perffile_report, flame_graph)
{
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms -e events --svg x.svg"), 0);
	cr_assert_str_eq(text_of("out"), "");
	has("x.svg", "<?xml version=\"1.0\" encoding=\"UTF-8\"");
	has("x.svg", "<title>all (1000 events, 100.00 %, 3 samples)</title>");
	has("x.svg", "<title>outer;&lt;&amp;&gt; (1000 events, 100.00 %, 3 samples)</title>");
	has("x.svg", "<title>leaf (600 events, 60.00 %, 1 samples)</title><rect x=\"0.00\"");
	has("x.svg", "width=\"720.00\"");
	has("x.svg", "</svg>\n");
	lacks("x.svg", "href");
	lacks("x.svg", "<&>");
}

Test(perffile_report, json)
{
	json_t *all, *event, *row, *callers;
	json_error_t error;

	cr_assert_eq(run(&command_report, "--kallsyms kallsyms --json"), 0);
	all = json_loads(text_of("out"), 0, &error);
	cr_assert_not_null(all, "%s", error.text);
	cr_assert_eq(json_integer_value(json_object_get(all, "lost_records")), 42);
	cr_assert_eq(json_array_size(json_object_get(all, "events")), 2);
	event = json_array_get(json_object_get(all, "events"), 0);
	cr_assert_eq(json_integer_value(json_object_get(event, "period")), 1000);
	row = json_array_get(json_object_get(event, "rows"), 0);
	cr_assert_float_eq(json_real_value(json_object_get(row, "percent")), 60, 1e-9);
	cr_assert_str_eq(json_string_value(json_object_get(row, "symbol")), "leaf");
	cr_assert_str_eq(json_string_value(json_object_get(row, "level")), "kernel");
	callers = json_object_get(row, "callers");
	cr_assert_str_eq(json_string_value(json_object_get(json_array_get(callers, 0), "name")),
			 "work");
	json_decref(all);
}

Test(perffile_report, samples_in_the_order_of_time)
{
	cr_assert_eq(run(&command_script, "--kallsyms kallsyms -e events -G"), 0);
	cr_assert_str_eq(text_of("out"),
		"the ?command         71 [003]     3.000000003:        600 events: ffffffff81001010 leaf+0x10 ([kernel.kallsyms])\n"
		"the ?command         71 [003]     4.000000004:        300 events: ffffffff81002020 work+0x20 ([kernel.kallsyms])\n"
		"the ?command         71 [003]     5.000000005:        100 events: ffffffff81003030 outer;<&>+0x30 ([kernel.kallsyms])\n");
	cr_assert_eq(run(&command_script, "--kallsyms kallsyms -F time,sym"), 0);
	has("out", "    3.000000003: \n\t leaf\n\t work\n\t outer;<&>\n\n");
}

Test(perffile_report, samples_as_json)
{
	json_error_t error;
	json_t *object;
	char *line;

	cr_assert_eq(run(&command_script, "--kallsyms kallsyms --json --records"), 0);
	line = (char *)text_of("out");
	cr_assert_not_null(strstr(line, "{\"type\":\"lost\",\"comm\":\"the ?command\",\"tid\":71"));
	cr_assert_not_null(strstr(line, "\"lost\":42}\n"));
	line = strstr(line, "{\"type\":\"sample\"");
	cr_assert_not_null(line);
	object = json_loads(line, JSON_DISABLE_EOF_CHECK, &error);
	cr_assert_not_null(object, "%s", error.text);
	cr_assert_eq(json_integer_value(json_object_get(object, "time_ns")), 3000000003);
	cr_assert_str_eq(json_string_value(json_object_get(object, "ip")), "0xffffffff81001010");
	cr_assert_eq(json_array_size(json_object_get(object, "callers")), 2);
	json_decref(object);
}

/* What is not done is refused, not left out. */
Test(perffile_report, options_of_samples_are_refused_for_traces)
{
	static const char *const options[] = { "-j", "-F ip", "-e events", "--records" };
	char line[64];

	for (size_t i = 0; i < 4; i++) {
		snprintf(line, sizeof(line), "--trace %s", options[i]);
		cr_expect_eq(run(&command_script, line), 2, "%s", line);
		has("err", " is of samples: of a trace, --trace=WHAT chooses");
	}
	cr_expect_eq(run(&command_script, "--trace --kallsyms kallsyms"), 1);
	has("err", "has no trace");
}

Test(perffile_report, files_that_are_none)
{
	const struct command *const commands[] = { &command_report, &command_script };

	for (int i = 0; i < 2; i++) {
		cr_assert_eq(run(commands[i], "-i empty"), 1);
		has("err", "pmuctl: cannot read 'empty': the file is empty");
		cr_assert_eq(run(commands[i], "-i cut"), 1);
		has("err", "pmuctl: cannot read 'cut': the file is truncated");
		cr_assert_eq(run(commands[i], "-i kallsyms"), 1);
		has("err", "it is not a perf.data file");
		cr_assert_eq(run(commands[i], "-i none"), 1);
		has("err", "No such file or directory");
		cr_assert_eq(run(commands[i], "-e no-such-event"), 1);
		has("err", "has no event 'no-such-event'");
		cr_assert_str_eq(text_of("out"), "");
	}
}

Test(perffile_report, wrong_use)
{
	static const char *const lines[] = {
		"-s nothing", "-s comm,comm", "-s comm,", "-g up", "--percent-limit 101",
		"--percent-limit x", "--json --folded", "file", "--nothing", "-i",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		cr_assert_eq(run(&command_report, lines[i]), 2, "%s", lines[i]);
		has("err", "Try 'pmuctl report --help'.");
	}
	cr_assert_eq(run(&command_script, "-F comm,nothing"), 2);
	has("err", "'nothing' is no field");
}

Test(perffile_report, samples_in_a_file)
{
	cr_assert_eq(run(&command_script, "--kallsyms kallsyms -F sym -G --dsos [kernel.kallsyms]"), 0);
	has("out", "leaf");
	cr_assert_eq(run(&command_script, "--kallsyms kallsyms -F sym -G --dsos libc.so.6"), 0);
	cr_assert_str_eq(text_of("out"), "");
	cr_assert_eq(run(&command_script, "--trace --dsos libc.so.6"), 2);
	has("err", "--dsos is of samples");
	cr_assert_eq(run(&command_report, "-s socket"), 2);
	has("err", "'socket' is nothing to sort by: 'cpu' has a row for each CPU");
}

/* Who types them is told that they are not unknown, only not here, and what does it. */
Test(perffile_report, options_that_only_perf_has)
{
	static const struct {
		const struct command *command;
		const char *line, *says;
	} rows[] = {
		{ &command_report, "-M intel", "--disassembler-style of 'perf report' is not here: code is shown by 'pmuctl annotate'\n" },
		{ &command_report, "--prefix=/a --stdio", "--prefix of 'perf report' is not here: " },
		{ &command_report, "--no-demangle", "--demangle of 'perf report' is not here: names of C++" },
		{ &command_report, "--samples 3", "--samples of 'perf report' is not here; perf reads recordings of pmuctl, too\n" },
		{ &command_report, "--no-prefixes", "unknown option '--no-prefixes'" },
		{ &command_report, "--prefi", "unknown option '--prefi'" },
		{ &command_report, "-y", "unknown option '-y'" },
		{ &command_report, "--sort", "the option '--sort' needs an argument" },
		{ &command_script, "-s x.py", "--script of 'perf script' is not here: perf's scripts are run by 'perf script'" },
		{ &command_script, "-l", "--list of 'perf script' is not here: " },
		{ &command_script, "-a", "--all-cpus of 'perf script' is not here: 'pmuctl record -a'" },
		{ &command_script, "--max-blocks", "--max-blocks of 'perf script' is not here; perf reads" },
		{ &command_script, "-M", "unknown option '-M'" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cr_expect_eq(run(rows[i].command, rows[i].line), 2, "%s", rows[i].line);
		has("err", rows[i].says);
		has("err", "Try 'pmuctl ");
	}
}

Test(perffile_report, a_full_disk_is_told)
{
	cr_assert_eq(run(&command_report, "--kallsyms kallsyms --svg /dev/full"), 1);
	has("err", "cannot write '/dev/full': No space left on device");
}
