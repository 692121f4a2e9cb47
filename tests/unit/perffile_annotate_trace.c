// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl annotate" of a trace, which is written here, of a program that is assembled here: how
 * often each of its instructions is executed is known.
 */
/* sources: $(READER) $(SYMBOLS) */
/* sources: tools/options.c tools/report/filter.c tools/report/reading.c tools/report/times.c */
/* sources: tools/annotate/annotate.c */
/* sources: tools/annotate/sites.c tools/annotate/branches.c tools/annotate/code.c tools/annotate/source.c */
/* sources: tools/annotate/print.c tools/annotate/counts.c tools/trace/code.c tools/trace/streams.c */
/* sources: tools/trace/spans.c tools/trace/pieces.c tools/trace/filter.c */
/* sources: tools/trace/branches.c tools/trace/result.c tools/perffile/trace.c */
/* libs: -lipt -ldw -lelf -lstdc++ -liberty -ljansson -lcap -lcapstone -lutil */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pty.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

#define HAVE_LIBIPT
#include "../../tools/trace/decode.c"

#define FIELDS	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
#define PMU	8
#define TEXT	0x401000
#define TURNS	70
#define CALLS	3

/* Bytes of main: call 5, call 5, call 5, syscall 2; of count: mov 5, dec 2, jnz 2, ret 1 */
static const char source[] =
	".globl main\n.type main, @function\nmain:\n"
	"\tcall count\n\tcall count\n\tcall count\n\tsyscall\n.size main, .-main\n"
	".type count, @function\ncount:\n"
	"\tmov $70, %ecx\n1:\tdec %ecx\n\tjnz 1b\n\tret\n.size count, .-count\n"
	".type never, @function\nnever:\n\tret\n.size never, .-never\n";

static struct build build;
/* What branches did that was not written yet, the oldest first, behind a 1 */
static unsigned int ways;
static uint8_t packets[1 << 16];
static size_t packet_size;

static void put(const void *bytes, size_t size)
{
	cr_assert_leq(packet_size + size, sizeof(packets));
	memcpy(packets + packet_size, bytes, size);
	packet_size += size;
}

/* Packets of six branches, and of the rest: the bits of "TNT" are between a 1 and a 0. */
static void flush(void)
{
	const uint8_t byte = (uint8_t)(ways << 1);

	if (ways > 1)
		put(&byte, 1);
	ways = 1;
}

static void go(bool taken)
{
	ways = ways << 1 | taken;
	if (ways >> 6)
		flush();
}

/* PSB, MODE.Exec, PSBEND, and TIP.PGE at main(); its branches; TIP.PGD at its end */
static void write_trace(int turns)
{
	static const uint8_t begin[] = {
		0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
		0x99, 0x01, 0x02, 0x23, 0x71, 0x00, 0x10, 0x40, 0x00, 0x00, 0x00,
	};
	static const uint8_t end = 0x01;

	packet_size = 0;
	ways = 1;
	put(begin, sizeof(begin));
	for (int i = 0; i < CALLS; i++) {
		for (int turn = 1; turn < turns; turn++)
			go(true);
		go(false);
		go(true);	/* the return goes where it was called */
	}
	flush();
	put(&end, 1);
}

static void begin(uint32_t whose)
{
	const struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PMU, .sample_type = FIELDS, .sample_id_all = 1,
	};
	const struct build_trailer early = { .pid = 70, .tid = 70 };
	char path[128];
	size_t at;

	snprintf(path, sizeof(path), "%s/prog", test_directory);
	build_begin(&build, &attr, 1);
	at = build_record(&build, PERFFILE_AUXTRACE_INFO, 0);
	build_half(&build, whose);
	build_half(&build, 0);
	for (unsigned int i = 0; i < PERFFILE_PT_WORDS; i++)
		build_word(&build, i == PERFFILE_PT_TYPE ? PMU : 0);
	build_record_end(&build, at);
	build_comm(&build, 70, 70, "prog", 0, &early);
	build_mmap(&build, 70, TEXT, 0x1000, 0x1000, path, NULL, &early);
}

/* So much of the trace as a task's, and a record that tells of it */
static void add_trace(size_t size)
{
	const struct build_trailer trailer = { .pid = 70, .tid = 70, .time = 2 };
	size_t at = build_record(&build, PERFFILE_AUXTRACE, 0), padded = (size + 7) & ~7UL;

	build_word(&build, padded);
	build_word(&build, 0);
	build_word(&build, 0);
	build_half(&build, 0);
	build_half(&build, 70);
	build_half(&build, (uint32_t)-1);
	build_half(&build, 0);
	build_record_end(&build, at);
	build_bytes(&build, packets, size);
	build_pad(&build, padded - size);
	at = build_record(&build, PERF_RECORD_AUX, 0);
	build_word(&build, 0);
	build_word(&build, size);
	build_word(&build, 0);
	build_trailer(&build, FIELDS, &trailer);
	build_record_end(&build, at);
}

static void add_sample(uint64_t seed)
{
	struct build_sample sample = { .id = build_id(0, 0), .pid = 70, .tid = 70, .time = 3 };

	build_sample(&build, 0, PERF_RECORD_MISC_USER, &sample, &seed);
}

static void end(void)
{
	static const unsigned int features[] = { 12 };
	static const char *const names[] = { "intel_pt//u" };

	build_features(&build, features, 1);
	build_feature_names(&build, 0, names);
	write_file("perf.data", build.data, build.size);
	build_free(&build);
}

static void record(void)
{
	begin(PERFFILE_TRACE_INTEL_PT);
	add_trace(packet_size);
	end();
}

static void enter(void)
{
	char command[128];

	enter_directory();
	write_file("prog.s", source, sizeof(source) - 1);
	snprintf(command, sizeof(command), "as -o prog.o prog.s && ld -Ttext=%#x -e main -o prog prog.o",
		 TEXT);
	cr_assert_eq(system(command), 0);
	write_trace(TURNS);
}

static bool is_slow;

/* If that is slow, a minute has gone by whenever the clock is looked at. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
	static time_t seconds;

	if (!is_slow)
		return (int)syscall(SYS_clock_gettime, clock, time);
	*time = (struct timespec){ .tv_sec = seconds += 60 };
	return 0;
}

TestSuite(perffile_annotate_trace, .init = enter, .fini = leave_directory);

/* Of 430 instructions: 4 of main(), 3 * (1 + 2 * 70 + 1) of count() */
Test(perffile_annotate_trace, each_instruction_is_counted)
{
	record();
	cr_assert_eq(run(&command_annotate, ""), 0, "%s", text_of("err"));
	has("out", " Percent |Executed |\tSource code & Disassembly of prog for intel_pt//u (426 instructions, 99.07% of all, percent: global period)");
	has("out", "         :         :\tcount():\n"
		   "    0.70 :       3 :\t  401011:\tmovl   $0x46, %ecx\n"
		   "   48.84 :     210 :\t  401016:\tdecl   %ecx\n"
		   "   48.84 :     210 :\t  401018:\tjne    0x401016 <count+0x5>\n"
		   "    0.70 :       3 :\t  40101a:\tretq\n");
	lacks("out", "main():");
	has("err", " 430 instructions, 3 calls, 0 errors\n");
	cr_assert_eq(run(&command_annotate, "--trace -n -e intel_pt//u -d prog main"), 0);
	has("out", " (4 instructions, 0.93% of all, ");
	has("out", "    0.23 :       1 :\t  40100f:\tsyscall\n");
	cr_assert_eq(run(&command_annotate, "-j count"), 0);
	has("out", "\"executed\": 426,\n");
	has("out", "\"executed\": 210,\n");
	lacks("out", "\"samples\"");
}

Test(perffile_annotate_trace, samples_come_first)
{
	begin(PERFFILE_TRACE_INTEL_PT);
	add_trace(packet_size);
	add_sample(1);
	end();
	cr_assert_eq(run(&command_annotate, "count"), 1);
	has("err", "has no samples in 'count'");
	cr_assert_eq(run(&command_annotate, "--trace count"), 0, "%s", text_of("err"));
	has("out", "     210 :\t  401016:");
}

/* Within the second call: what was decoded before is there, and that it is not all is said. */
Test(perffile_annotate_trace, what_cannot_be_decoded_is_told)
{
	begin(PERFFILE_TRACE_INTEL_PT);
	packets[27 + 20] = 0x05;	/* no packet begins so */
	add_trace(packet_size);
	end();
	cr_assert_eq(run(&command_annotate, "count"), 1);
	has("out", ":       2 :\t  401011:\tmovl ");
	has("out", ":       1 :\t  40101a:\tretq\n");
	has("err", " 1 errors\n");
}

Test(perffile_annotate_trace, what_is_not_there)
{
	record();
	cr_assert_eq(run(&command_annotate, "never"), 1);
	has("err", "'perf.data' has no traced instruction in never: 'pmuctl script --trace=functions' shows");
	cr_assert_eq(run(&command_annotate, "-d libc.so.6"), 1);
	has("err", "no traced instruction in functions with a name");
	cr_assert_eq(run(&command_annotate, "-C 0"), 2);
	has("err", "-C is of samples: of a trace all is counted");
	cr_assert_eq(run(&command_annotate, "--trace --time 10%/2"), 2);
	has("err", "--time is of samples");
	cr_assert_eq(run(&command_annotate, "-e others"), 1);
	has("err", "has no event 'others'");
	begin(PERFFILE_TRACE_INTEL_PT);
	add_sample(1);
	end();
	cr_assert_eq(run(&command_annotate, "--trace"), 1);
	has("err", "'perf.data' has no trace: record one with -e intel_pt//u");
	begin(PERFFILE_TRACE_INTEL_BTS);
	add_trace(24);
	end();
	cr_assert_eq(run(&command_annotate, ""), 1);
	has("err", "the trace in 'perf.data' has branches only: 'pmuctl script --trace=branches' lists them");
}

/* The loop goes round so often that the clock is looked at; the decoder does not see the number in the code. */
Test(perffile_annotate_trace, a_terminal_is_told_how_far_it_is)
{
	char said[4096] = "";
	int terminal, inner;
	const int err = dup(STDERR_FILENO);
	ssize_t got;
	const char *wipe;

	write_trace(100000);
	record();
	cr_assert_eq(openpty(&terminal, &inner, NULL, NULL, NULL), 0);
	cr_assert_geq(dup2(inner, STDERR_FILENO), 0);
	cr_assert_not_null(freopen("out", "w", stdout));
	optind = 0;
	is_slow = true;
	cr_assert_eq(command_annotate.run(2, (char *[]){ "annotate", "count", NULL }), 0);
	is_slow = false;
	fflush(stdout);
	dup2(err, STDERR_FILENO);
	close(inner);
	got = read(terminal, said, sizeof(said) - 1);
	cr_assert_gt(got, 0);
	cr_assert_not_null(strstr(said, "pmuctl: decoding 'perf.data': 262144 instructions"), "%s", said);
	wipe = strstr(said, "\r\033[K");
	cr_assert_not_null(wipe);
	cr_assert_not_null(strstr(wipe, "600010 instructions"), "%s", said);
	has("out", "  300000 :\t  401016:\tdecl   %ecx\n");
}
