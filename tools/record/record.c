// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl record": the command line. What it asks for is done in run.c.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

enum {
	OPTION_CALL_GRAPH = OPTION_NO_LETTER,
	OPTION_KCORE,
	OPTION_OVERWRITE,
	OPTION_NO_OVERWRITE,
	OPTION_TAIL,
	OPTION_SAMPLE_CPU,
	OPTION_SWITCHES,
	OPTION_NAMESPACES,
	OPTION_CGROUPS,
	OPTION_NO_BPF,
	OPTION_ALL_COPIES,
	OPTION_USER_CHAINS,
	OPTION_KERNEL_CHAINS,
	OPTION_DRY_RUN,
	OPTION_PER_THREAD,
	OPTION_USER_REGS,
	OPTION_CONTROL,
	OPTION_MAX_SIZE,
	OPTION_SWITCH_OUTPUT,
	OPTION_SWITCH_FILES,
	OPTION_TIMESTAMP_NAME,
	OPTION_EXCLUDE_SELF,
	OPTION_STRICT,
	OPTION_BOUNDARY,
	OPTION_IDENTIFIER,
};

#define FREQUENCY_DEFAULT	4000u
/* A day; more is a slip of the finger. */
#define DELAY_MAX		86400000u
#define PAGES_MAX		(1u << 30)
#define COMPRESSION_MAX		22u
#define FILES_MAX		1000000u

static const char *const call_graphs[] = { "fp", "dwarf", "dwarf,BYTES", "lbr", NULL };

static const char *const clocks[] = { "mono", "raw", "real", "boot", "tai", NULL };

static const struct cli_option record_options[] = {
	{ OPTION_EXCLUDE_SELF, "exclude-perf",
	  .help = "of tracepoints: nothing that this command does itself" },
	{ 'F', "freq", .argument = "N|max",
	  .help = "N samples in a second (4000), or as many as the module allows; of tracepoints, "
		  "a sample each if it is not given" },
	{ 'c', "count", .argument = "N", .help = "a sample at each Nth event" },
	{ 'g', .help = "who called, too: call chains by frame pointers" },
	{ OPTION_CALL_GRAPH, "call-graph", .argument = "HOW", .words = call_graphs,
	  .help = "the same; or by copies of the stack, of 8192 bytes if nothing is said, for "
		  "programs without frame pointers; or by the CPU's branches" },
	{ 'b', "branch-any", .help = "the branches that led to each sample, too" },
	{ 'j', "branch-filter", .argument = "LIST",
	  .help = "the same, of these kinds: any, any_call, any_ret, ind_call, ind_jmp, call, "
		  "cond, stack, ..., u and k; see pmuctl-record(1)" },
	{ 'I', "intr-regs", .argument = "[=REGS]",
	  .help = "the registers of each sample, AX,BX or all; -I? lists them" },
	{ OPTION_USER_REGS, "user-regs", .argument = "REGS",
	  .help = "likewise those that user space had" },
	{ 'u', "uid", .argument = "USER",
	  .help = "the processes that a user, a name or number, has now, and what they start" },
	{ OPTION_PER_THREAD, "per-thread", .help = "as --no-inherit" },
	{ 'd', "data", .help = "of each sample, the address of the data, as of page faults" },
	{ OPTION_SAMPLE_CPU, "sample-cpu",
	  .help = "of each sample, the CPU, which it has by itself with -a and -C" },
	{ 's', "stat", .help = "at the end of each thread, what it has counted: report -T" },
	{ OPTION_SWITCHES, "switch-events", .help = "when tasks get and leave a CPU, too" },
	{ OPTION_NAMESPACES, "namespaces", .help = "the namespaces of tasks, too" },
	{ OPTION_CGROUPS, "all-cgroups", .help = "of each sample, the cgroup, and cgroups that come" },
	{ OPTION_USER_CHAINS, "user-callchains", .help = "of call chains, only user space" },
	{ OPTION_KERNEL_CHAINS, "kernel-callchains", .help = "of call chains, only the kernel" },
	{ OPTION_DRY_RUN, "dry-run", .help = "look at the command line, and end" },
	{ OPTION_NO_BPF, "no-bpf-event", .help = "no BPF programs that come and go, nor their names" },
	{ 'k', "clockid", .argument = "CLOCK", .words = clocks,
	  .help = "of times; perf's own if it is not given" },
	{ 'D', "delay", .argument = "MS",
	  .help = "begin MS milliseconds later; -1: when --control says so" },
	{ OPTION_CONTROL, "control", .argument = "HOW", .words = control_words,
	  .help = "obey enable, disable, snapshot, ping and stop, a line each, from a descriptor or "
		  "a FIFO; answers go to a second one" },
	{ 'm', "mmap-pages", .argument = "N[,N]",
	  .help = "pages of memory for each ring, or its size: 512K, 1M (128; where a ring is of several "
		  "CPUs, for each of them); behind the comma, for each trace (1024)" },
	{ 'S', "snapshot",
	  .help = "of traces: only the end, and what is there at each SIGUSR2" },
	{ OPTION_OVERWRITE, "overwrite",
	  .help = "of samples: only the newest ones, those that the rings have room for, when it "
		  "ends, or at each SIGUSR2 with --switch-output" },
	{ OPTION_NO_OVERWRITE, "no-overwrite", .help = "all that there is room for, as always" },
	{ OPTION_TAIL, "tail-synthesize",
	  .help = "with --overwrite: what was there before is in each file, as always" },
	{ OPTION_KCORE, "kcore",
	  .help = "copy the kernel's code, too, for traces: FILE is a directory" },
	{ 'o', "output", .argument = "FILE",
	  .help = "write to FILE instead of perf.data; what it was before is kept in FILE.old; '-' "
		  "or a pipe: as 'perf record -o -'" },
	{ OPTION_MAX_SIZE, "max-size", .argument = "SIZE",
	  .help = "end when so much has been written: bytes, 512K, 1M, 2G" },
	{ OPTION_SWITCH_OUTPUT, "switch-output", .argument = "[=WHEN]",
	  .help = "go on in another file, FILE.TIME, at each SIGUSR2, or when it has a size, 100M, "
		  "or after a time: 30s, 10m, 1h, 1d" },
	{ OPTION_SWITCH_FILES, "switch-max-files", .argument = "N",
	  .help = "of these, keep the last N" },
	{ OPTION_TIMESTAMP_NAME, "timestamp-filename", .help = "the file's name ends with the time" },
	{ 'z', "compression-level", .argument = "[=N]",
	  .help = "compress by zstd; N is 1, the fastest, to 22" },
	{ 'B', "no-buildid", .help = "leave out the build ids of programs" },
	{ 'N', "no-buildid-cache", .help = "copy no programs to ~/.debug" },
	{ OPTION_ALL_COPIES, "buildid-all",
	  .help = "copy all, also with -a and -C, not only those of containers" },
	{ 'q', "quiet", .help = "say nothing but what went wrong" },
	{ 'v', "verbose", .help = "all that goes wrong is told, as always" },
	{ 'T', "timestamp", .help = "the time of each sample, as always" },
	{ 'P', "period", .help = "its period, as always" },
	{ 'R', "raw-samples", .help = "what tracepoints tell, as always" },
	{ OPTION_IDENTIFIER, "sample-identifier", .help = "the event of each sample, as always" },
	{ OPTION_BOUNDARY, "timestamp-boundary",
	  .help = "the times of the first and the last sample, as always" },
	{ OPTION_STRICT, "strict-freq",
	  .help = "no recording if -F is more than the module allows, as always" },
	{ 0 },
};

/**
 * record_size_parse() - a number, or a size with a letter behind it
 * @options: of whose command it is.
 * @option: of which option.
 * @text: what is typed.
 * @most: the largest number that is allowed.
 * @number: gets it, a size in bytes.
 * @is_size: gets whether it is one.
 *
 * Return: 0 or an exit status.
 */
int record_size_parse(const struct record_options *options, const char *option, const char *text,
		      uint64_t most, uint64_t *number, bool *is_size)
{
	static const char letters[] = "BKMG";
	size_t length = strlen(text);
	const char *letter = length ? strchr(letters, toupper(text[length - 1])) : NULL;
	char digits[32];
	int ret;

	*is_size = letter && *letter && length < sizeof(digits);
	if (!*is_size)
		return measure_number(&options->measure, option, text, most, number);
	snprintf(digits, sizeof(digits), "%.*s", (int)length - 1, text);
	ret = measure_number(&options->measure, option, digits, UINT32_MAX, number);
	*number <<= 10 * (letter - letters);
	return ret;
}

/* A number of pages, or a size */
static int pages_number(const struct record_options *options, const char *text, uint64_t *pages)
{
	uint64_t page = (uint64_t)getpagesize();
	bool is_size;
	int ret = record_size_parse(options, "-m", text, PAGES_MAX, pages, &is_size);

	if (ret || !is_size)
		return ret;
	*pages = (*pages + page - 1) / page;
	if (*pages > PAGES_MAX)
		return say_usage(options->measure.command, "-m %s is more than %u pages", text,
				 PAGES_MAX);
	return 0;
}

/**
 * record_pages_parse() - understand the argument of -m, or a part of it
 * @options: of whose command it is.
 * @text: the number of pages.
 * @result: gets it, or the next power of two, as with perf.
 *
 * Return: 0 or an exit status: it is no number, or too large.
 */
int record_pages_parse(const struct record_options *options, const char *text,
		       unsigned int *result)
{
	unsigned int power = 1;
	uint64_t pages;
	int ret = pages_number(options, text, &pages);

	if (ret)
		return ret;
	while (power < pages)
		power *= 2;
	if (power != pages && !options->quiet)
		fprintf(stderr, "pmuctl: -m %s becomes %u pages, a power of two\n", text, power);
	*result = power;
	return 0;
}

/* RING, RING,TRACE or ,TRACE */
static int pages_option(struct record_options *options, char *text)
{
	char *comma = strchr(text, ',');
	int ret = 0;

	if (comma)
		*comma = '\0';
	if (text != comma)
		ret = record_pages_parse(options, text, &options->pages);
	if (comma) {
		*comma = ',';
		if (!ret)
			ret = record_pages_parse(options, comma + 1, &options->trace_pages);
	}
	return ret;
}

/* perf's names for clocks */
static int clock_option(struct record_options *options, const char *text)
{
	static const char prefix[] = "CLOCK_";
	static const struct {
		const char *name;
		int clock;
	} names[] = {
		{ "mono", CLOCK_MONOTONIC }, { "monotonic", CLOCK_MONOTONIC },
		{ "raw", CLOCK_MONOTONIC_RAW }, { "monotonic_raw", CLOCK_MONOTONIC_RAW },
		{ "real", CLOCK_REALTIME }, { "realtime", CLOCK_REALTIME },
		{ "boot", CLOCK_BOOTTIME }, { "boottime", CLOCK_BOOTTIME },
		{ "tai", CLOCK_TAI },
	};

	if (!strncasecmp(text, prefix, strlen(prefix)))
		text += strlen(prefix);
	options->use_clock = true;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		options->clock = names[i].clock;
		if (!strcasecmp(text, names[i].name))
			return 0;
	}
	return say_usage(options->measure.command,
			 "'%s' is no clock: it is mono, raw, real, boot or tai", text);
}

static int delay_option(struct record_options *options, const char *text)
{
	uint64_t number = DELAY_FOREVER;
	int ret = 0;

	if (strcmp(text, "-1") != 0)
		ret = measure_number(&options->measure, "-D", text, DELAY_MAX, &number);
	options->delay = (unsigned int)number;
	return ret;
}

static int compression_option(struct record_options *options, const char *text)
{
	uint64_t level = 1;
	int ret = text ? measure_number(&options->measure, "-z", text, COMPRESSION_MAX, &level) : 0;

#ifndef HAVE_LIBZSTD
	say_error("this pmuctl was built without libzstd, which compresses: install libzstd-dev and build it again, or record without -z");
	return STATUS_FAILED;
#endif
	options->compression = (int)level;
	return ret;
}

#define RATE_FILE	"/sys/module/pmuctl/parameters/max_sample_rate"

static int rate_max(struct record_options *options)
{
	unsigned int rate;
	FILE *in = fopen(RATE_FILE, "re");
	int found = in ? fscanf(in, "%u", &rate) : 0;

	if (in)
		fclose(in);
	if (found != 1) {
		say_error("-F max is what " RATE_FILE " says, which cannot be read: is the module loaded?");
		return STATUS_FAILED;
	}
	options->frequency = rate;
	return 0;
}

/**
 * record_rate_option() - understand an option that says how often samples are taken
 * @options: get it.
 * @option: its letter; its argument is in optarg.
 *
 * Return: 0, an exit status, or MEASURE_OPTION_COMMON: it is another option.
 */
int record_rate_option(struct record_options *options, int option)
{
	switch (option) {
	case 'F':
		if (!strcmp(optarg, "max"))
			return rate_max(options);
		return measure_number(&options->measure, "-F", optarg, UINT32_MAX,
				      &options->frequency);
	case 'c':
		return measure_number(&options->measure, "-c", optarg, INT64_MAX,
				      &options->period);
	default:
		return MEASURE_OPTION_COMMON;
	}
}

/**
 * record_rate_check() - how often are samples taken, now that all options are known?
 * @options: as often as usual, if they do not say.
 *
 * Return: 0 or an exit status.
 */
int record_rate_check(struct record_options *options)
{
	if (options->frequency && options->period)
		return say_usage(options->measure.command, "-F and -c exclude each other");
	options->usual_rate = !options->frequency && !options->period;
	if (options->usual_rate)
		options->frequency = FREQUENCY_DEFAULT;
	return 0;
}

/* What samples have, and what is told beside them; MEASURE_OPTION_COMMON: it is another option. */
static int apply_samples(struct record_options *options, int option)
{
	switch (option) {
	case 'g':
		options->callgraph = CALLGRAPH_FP;
		return 0;
	case OPTION_CALL_GRAPH:
		return callgraph_option(options, optarg);
	case 'b':
		options->branches |= PERF_SAMPLE_BRANCH_ANY;
		return 0;
	case 'j':
		return branches_option(options, optarg);
	case 'I':
		return registers_option(options, optarg, &options->registers);
	case OPTION_USER_REGS:
		return registers_option(options, optarg, &options->user_registers);
	case 'd':
		options->addresses = true;
		return 0;
	case OPTION_SAMPLE_CPU:
		options->cpu_of_each = true;
		return 0;
	case 's':
		options->thread_counts = true;
		return 0;
	case OPTION_SWITCHES:
		options->switches = true;
		return 0;
	case OPTION_NAMESPACES:
		options->namespaces = true;
		return 0;
	case OPTION_CGROUPS:
		options->cgroups = true;
		return 0;
	case OPTION_NO_BPF:
		options->no_bpf = true;
		return 0;
	case OPTION_USER_CHAINS:
		options->no_kernel_chains = true;
		return 0;
	case OPTION_KERNEL_CHAINS:
		options->no_user_chains = true;
		return 0;
	case 'k':
		return clock_option(options, optarg);
	case OPTION_EXCLUDE_SELF:
		options->measure.exclude_self = true;
		return 0;
	case 'T':
	case 'P':
	case 'R':
	case OPTION_IDENTIFIER:
	case OPTION_BOUNDARY:
	case OPTION_STRICT:
		return 0;
	default:
		return record_rate_option(options, option);
	}
}

/* Where it goes; MEASURE_OPTION_COMMON: it is another option. */
static int apply_output(struct record_options *options, int option)
{
	bool is_size;

	switch (option) {
	case OPTION_MAX_SIZE:
		return record_size_parse(options, "--max-size", optarg, UINT64_MAX,
					 &options->max_size, &is_size);
	case OPTION_SWITCH_OUTPUT:
		return switch_option(options, optarg);
	case OPTION_SWITCH_FILES:
		return measure_number(&options->measure, "--switch-max-files", optarg, FILES_MAX,
				      &options->switch_files);
	case OPTION_TIMESTAMP_NAME:
		options->timestamp_name = true;
		return 0;
	case 'o':
		options->output = optarg;
		return 0;
	case OPTION_KCORE:
		options->kcore = true;
		return 0;
	case 'z':
		return compression_option(options, optarg);
	default:
		return apply_samples(options, option);
	}
}

/* An option_apply */
static int apply(void *arg, int option)
{
	struct record_options *options = arg;
	int ret;

	switch (option) {
	case 'D':
		return delay_option(options, optarg);
	case OPTION_CONTROL:
		options->control = optarg;
		return 0;
	case 'm':
		return pages_option(options, optarg);
	case 'S':
		options->snapshot = true;
		return 0;
	case OPTION_OVERWRITE:
	case OPTION_NO_OVERWRITE:
		options->overwrite = option == OPTION_OVERWRITE;
		return 0;
	case OPTION_TAIL:
		return 0;
	case OPTION_PER_THREAD:
		options->measure.no_inherit = true;
		return 0;
	case 'v':
		return 0;
	case 'B':
		options->no_build_ids = true;
		return 0;
	case 'N':
		options->no_copies = true;
		return 0;
	case OPTION_ALL_COPIES:
		options->all_copies = true;
		return 0;
	case OPTION_DRY_RUN:
		options->dry_run = true;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	default:
		ret = apply_output(options, option);
		return ret == MEASURE_OPTION_COMMON ? measure_option(&options->measure, option) : ret;
	}
}

static int say_no_trace(const struct record_options *options)
{
	return say_usage(options->measure.command,
			 "--snapshot is of traces, and no event traces: add one, such as -e intel_pt//u");
}

static int options_check(struct record_options *options)
{
	struct measure *measure = &options->measure;
	bool traces = false;
	int ret = 0;

	if (!measure->has_target && !measure->argv)
		return say_usage(measure->command,
				 "nothing to record: give a command, or -p, -t, -C or -a");
	if (options->delay == DELAY_FOREVER && !options->control)
		return say_usage(measure->command,
				 "-D -1 needs --control: else recording never begins");
	/* What does not begin with an exec is described before it is sampled, and may change meanwhile. */
	measure->teller = options->overwrite || options->delay || measure->kind != TARGET_COMMAND;
	ret = record_rate_check(options);
	if (ret)
		return ret;
	if (options->branches && options->callgraph == CALLGRAPH_LBR)
		return say_usage(measure->command,
				 "--call-graph lbr takes the CPU's records of branches for itself: leave out -b and -j");
	if (!*options->output)
		return say_usage(measure->command, "the name of the file is empty");
	ret = switch_check(options);
	if (ret)
		return ret;
	if (measure->events_text)
		ret = events_text_parse(measure->events_text, false, &measure->events);
	if (!ret)
		ret = measure_filters_check(measure);
	if (ret)
		return ret;
	if (!measure->events_text)
		return options->snapshot ? say_no_trace(options) : overwrite_check(options, false);
	for (size_t i = 0; i < pmuctl_events_count(measure->events); i++)
		traces |= pmuctl_events_trace(measure->events, i);
	if (options->snapshot && !traces)
		return say_no_trace(options);
	ret = overwrite_check(options, traces);
	if (ret)
		return ret;
	if (traces && options->use_clock)
		return say_usage(measure->command,
				 "-k is of samples: traces have the time stamp counter, which goes with perf's own clock only");
	/* A file is looked for in a task that nobody has inherited from yet: each thread has its own. */
	measure->by_thread |= traces && measure->address_filter && strchr(measure->address_filter, '@');
	measure->on_each_cpu = traces && !measure_is_of_cpus(measure) && !measure->no_inherit;
	return 0;
}

static int record_do(struct record_options *options)
{
	struct pmuctl_device *dev = NULL;
	int status = measure_device(&dev);

	if (!status && !options->measure.events_text)
		status = measure_default_event(dev, &options->measure);
	if (!status)
		status = record_run(dev, options);
	pmuctl_device_close(dev);
	return status;
}

static int record_main(int argc, char **argv)
{
	struct record_options options = {
		.measure.command = &command_record,
		.line = argv,
	};
	int status = measure_parse(&options.measure, argc, argv, apply, &options);

	if (!options.output)
		options.output = recording_default(STDOUT_FILENO);
	if (!status)
		status = options_check(&options);
	if (!status && !options.dry_run)
		status = record_do(&options);
	measure_free(&options.measure);
	return status;
}

const struct command command_record = {
	.name = "record",
	.run = record_main,
	.summary = "sample a command, a process, a thread or CPUs into a file",
	.operands = "COMMAND [ARGUMENTS]\n-p PIDS | -t TIDS | -C CPUS | -a [COMMAND [ARGUMENTS]]",
	.about =
"Samples where COMMAND spends its time, or other events, into the file perf.data, which "
"'pmuctl report', 'pmuctl script' and perf read; of COMMAND and of all that it starts. With -p, "
"-t, -C or -a, samples those instead, until COMMAND ends, they end, or Ctrl-C.",
	.options = { measure_options, record_options },
	.others = record_others,
	.notes =
"Without -e: cycles, or cpu-clock without a PMU. The exit status is COMMAND's own, 128 plus the "
"signal that ended it, 127 if it is not found, 126 if it cannot be executed; 1 if events are "
"refused, 2 for wrong options.",
	.starts_command = true,
};
