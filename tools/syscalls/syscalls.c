// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl trace": the command line, which is that of "perf trace" as far as it goes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "run.h"
#include "symbols/samples.h"
#include "tracepoint/tracefs.h"

enum {
	OPTION_DURATION = OPTION_NO_LETTER,
	OPTION_FAILURE,
	OPTION_MAX,
	OPTION_NO_SYSCALLS,
	OPTION_ERRORS,
	OPTION_CALL_GRAPH,
	OPTION_MAX_STACK,
	OPTION_FILTER_PIDS,
	OPTION_ALWAYS,
};

/* A tenth of a second of a program that does nothing else */
#define PAGES_DEFAULT	512u
/* With a copy of the stack for each call */
#define PAGES_STACKS	2048u

/* The beginnings come first: by that they are told from the ends. */
#define CALLS		"raw_syscalls:sys_enter,raw_syscalls:sys_exit"
#define MINOR		"minor-faults"
#define MAJOR		"major-faults"

static const char *const call_graphs[] = { "fp", "dwarf", "dwarf,BYTES", NULL };

static const char *const fault_kinds[] = { "all", "min", "maj", NULL };

static const struct cli_option calls_options_table[] = {
	{ 'e', "expr", .alias = "event", .argument = "CALLS",
	  .help = "only these system calls, openat,read or 'open*'; '!read,write': all but these" },
	{ 'p', "pid", .argument = "PIDS",
	  .help = "these processes, all threads, and what they start" },
	{ 't', "tid", .argument = "TIDS", .help = "these threads, and what they start" },
	{ 'C', "cpu", .argument = "CPUS", .help = "these CPUs, 0,2-3" },
	{ 'a', "all-cpus", .help = "all CPUs, as without a command or another target" },
	{ 'u', "uid", .argument = "USER",
	  .help = "the processes that a user, a name or number, has now, and what they start" },
	{ 'i', "no-inherit", .help = "leave out the threads and processes that are started" },
	{ 's', "summary", .help = "only how many calls there were, and how long they took" },
	{ 'S', "with-summary", .help = "that too, behind the calls" },
	{ OPTION_ERRORS, "errno-summary",
	  .help = "with which errors, too, below each call of -s or -S; alone as with -s" },
	{ 'T', "time", .help = "times since the machine was started, not since the first call" },
	{ OPTION_DURATION, "duration", .argument = "MS",
	  .help = "only calls that take MS milliseconds or more" },
	{ OPTION_FAILURE, "failure", .help = "only calls that fail" },
	{ OPTION_MAX, "max-events", .argument = "N", .help = "end after N lines; COMMAND gets SIGTERM then" },
	{ 'F', "pf", .argument = "FAULTS", .words = fault_kinds,
	  .help = "page faults, too, minor ones, major ones or both: what code wanted which data" },
	{ OPTION_NO_SYSCALLS, "no-syscalls", .help = "with -F: no system calls" },
	{ OPTION_CALL_GRAPH, "call-graph", .argument = "HOW", .words = call_graphs,
	  .help = "below each line the functions that led to it, see pmuctl-record(1)" },
	{ OPTION_MAX_STACK, "max-stack", .argument = "N",
	  .help = "only the last N of them; without --call-graph as with dwarf" },
	{ OPTION_FILTER_PIDS, "filter-pids", .argument = "TIDS",
	  .help = "leave out these processes, each its first thread, or threads: 12,34" },
	{ OPTION_ALWAYS, "comm", .help = "with the names of threads, as always" },
	{ OPTION_ALWAYS + 1, "syscalls", .help = "system calls, as always without --no-syscalls" },
	{ OPTION_ALWAYS + 2, "sort-events", .help = "in the order of time, as always" },
	{ 'f', "force", .help = "nothing, as it reads no file" },
	{ 'v', "verbose", .help = "all that goes wrong is told, as always" },
	{ 'o', "output", .argument = "FILE", .help = "write to FILE, not to standard error output" },
	{ 'm', "mmap-pages", .argument = "N",
	  .help = "pages of memory for each ring, a power of two (512; 2048 with copies of stacks)" },
	{ 0 },
};

#define RECORDED "'pmuctl record -e raw_syscalls:*' records, and 'pmuctl script' prints that"
#define EVENTS "'pmuctl record -e' and 'pmuctl script' show other events among calls"

static const struct other_option other_options[] = {
	{ 'i', "input", RECORDED }, { 'D', "delay", RECORDED }, { 'G', "cgroup", RECORDED },
	{ 0, "print-sample", RECORDED }, { 0, "filter", "-e chooses calls, --filter-pids leaves out processes" },
	{ 0, "kernel-syscall-graph", "--call-graph has who made the call, in user space" },
	{ 0, "libtraceevent_print", EVENTS }, { 0, "map-dump", "bpftool(8) prints maps" },
	{ 0, "min-stack", "--max-stack is here" }, { 0, "sched", EVENTS },
	{ 0, "proc-map-timeout", "all of /proc is read, however long that takes" },
	{ 0, "show-on-off-events", EVENTS }, { 0, "switch-off", EVENTS }, { 0, "switch-on", EVENTS },
	{ 0, "tool_stats", "-s tells how many calls there were" },
	{ 0 },
};

static int apply_choice(struct calls_options *options, const char *text)
{
	char wrong[80];

	switch (syscall_choice_parse(&options->calls.choice, text, wrong, sizeof(wrong))) {
	case 0:
		return STATUS_OK;
	case -ENOENT:
		return say_usage(&command_trace, "'%s' is no system call", wrong);
	default:
		return say_usage(&command_trace,
				 "-e can name what is wanted, or with '!' what is not, but not both");
	}
}

static int apply_duration(struct calls_options *options, const char *text)
{
	char *end;
	double ms = strtod(text, &end);

	if (end == text || *end || !(ms > 0 && ms < 1e9))
		return say_usage(&command_trace, "'%s' is not a number of milliseconds for --duration",
				 text);
	options->calls.duration = (uint64_t)(ms * 1e6);
	return STATUS_OK;
}

static int apply_faults(struct calls_options *options, const char *text)
{
	options->faults = !strcmp(text, "all") ? MINOR "," MAJOR :
			  !strcmp(text, "min") ? MINOR :
			  !strcmp(text, "maj") ? MAJOR : NULL;
	if (!options->faults)
		return say_usage(&command_trace, "-F takes all, min or maj, not '%s'", text);
	options->record.addresses = true;
	return STATUS_OK;
}

static int apply(void *arg, int option)
{
	struct calls_options *options = arg;
	struct calls *calls = &options->calls;
	int status;

	switch (option) {
	case 'e':
		return apply_choice(options, optarg);
	case 's':
		calls->summary = true;
		calls->lines = false;
		return STATUS_OK;
	case 'S':
		calls->summary = true;
		return STATUS_OK;
	case OPTION_CALL_GRAPH:
		if (!strcmp(optarg, "lbr"))
			return say_usage(&command_trace,
					 "--call-graph lbr is of a CPU's events, and these are the kernel's: there are fp and dwarf");
		return callgraph_option(&options->record, optarg);
	case OPTION_MAX_STACK:
		return measure_number(&options->record.measure, "--max-stack", optarg, SAMPLES_FRAMES_MAX,
				      &options->max_stack);
	case OPTION_ERRORS:
		calls->errors = true;
		return STATUS_OK;
	case 'v':
	case 'f':
	case OPTION_ALWAYS ... OPTION_ALWAYS + 2:
		return STATUS_OK;
	case OPTION_FILTER_PIDS:
		return filter_numbers(&command_trace, &options->left_out, "threads", optarg);
	case 'T':
		calls->full_time = true;
		return STATUS_OK;
	case OPTION_DURATION:
		return apply_duration(options, optarg);
	case OPTION_FAILURE:
		calls->failures = true;
		return STATUS_OK;
	case OPTION_MAX:
		return measure_number(&options->record.measure, "--max-events", optarg, UINT32_MAX,
				      &calls->most);
	case 'F':
		return apply_faults(options, optarg);
	case OPTION_NO_SYSCALLS:
		options->no_syscalls = true;
		return STATUS_OK;
	case 'o':
		options->output = optarg;
		return STATUS_OK;
	case 'm':
		return record_pages_parse(&options->record, optarg, &options->record.pages);
	}
	status = measure_option(&options->record.measure, option);
	return status == MEASURE_OPTION_COMMON ? STATUS_HELP : status;
}

/* What follows of several options */
static int finish_options(struct calls_options *options)
{
	struct record_options *record = &options->record;
	struct calls *calls = &options->calls;
	int status = STATUS_OK;

	if (calls->errors && !calls->summary) {
		calls->summary = true;
		calls->lines = false;
	}
	if (options->max_stack && record->callgraph == CALLGRAPH_NONE)
		status = callgraph_option(record, "dwarf");
	if (!calls->lines)
		record->callgraph = CALLGRAPH_NONE;
	/* Who called is known when it ends, too. */
	record->chains_from = options->no_syscalls ? 0 : 1;
	record->no_kernel_chains = true;
	if (!record->pages)
		record->pages = record->callgraph == CALLGRAPH_DWARF ? PAGES_STACKS : PAGES_DEFAULT;
	return status;
}

/* Which events, and of which calls if they can be told apart by the kernel */
static int choose_events(struct calls_options *options, char **filter)
{
	struct measure *measure = &options->record.measure;

	const char *faults = options->faults ? options->faults : "";

	if (options->no_syscalls && !options->faults)
		return say_usage(&command_trace, "--no-syscalls leaves nothing to trace without -F");
	*filter = options->no_syscalls ? NULL : syscall_choice_filter(&options->calls.choice);
	measure->filter = *filter;
	if (asprintf(&measure->events_text, "%s%s%s", options->no_syscalls ? "" : CALLS,
		     *faults && !options->no_syscalls ? "," : "", faults) < 0) {
		measure->events_text = NULL;
		say_error("%s", pmuctl_strerror(-ENOMEM));
		return STATUS_FAILED;
	}
	return events_text_parse(measure->events_text, false, &measure->events);
}

static int trace_main(int argc, char **argv)
{
	struct calls_options options = {
		.record = { .measure.command = &command_trace, .period = 1 },
		.calls = { .lines = true, .table.open_format = tracefs_open },
	};
	struct measure *measure = &options.record.measure;
	struct pmuctl_device *dev = NULL;
	char *filter = NULL;
	int status = options_parse(&command_trace, argc, argv, apply, &options);

	if (status == STATUS_OK) {
		measure->argv = optind < argc ? argv + optind : NULL;
		if (!measure->has_target && !measure->argv)
			measure->kind = TARGET_ALL_CPUS;
		status = finish_options(&options);
	}
	if (status == STATUS_OK)
		status = choose_events(&options, &filter);
	if (status == STATUS_OK)
		status = measure_device(&dev);
	if (status == STATUS_OK)
		status = calls_run(dev, &options);
	pmuctl_device_close(dev);
	calls_free(&options.calls);
	free(options.left_out.list);
	measure_free(measure);
	free(filter);
	return status;
}

const struct command command_trace = {
	.name = "trace",
	.run = trace_main,
	.summary = "show the system calls that are made",
	.operands = "[COMMAND [ARGUMENTS]]",
	.about = "Shows each system call of COMMAND and of all that it starts, or of what -p, -t, -C "
		 "or -a say: when it began, how long it took, who made it, its arguments and what it "
		 "returned. Nothing is stopped for that, as a debugger would do it.",
	.options = { calls_options_table },
	.others = other_options,
	.notes = "The exit status is COMMAND's own, if there is one.",
	.starts_command = true,
};
