// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl top": the command line, which is that of "perf top" as far as it goes.
 */
#include <getopt.h>
#include <string.h>

#include <pmuctl_trace.h>

#include "options.h"
#include "report/reading.h"
#include "top.h"

enum {
	OPTION_LIMIT = OPTION_NO_LETTER,
	OPTION_COMMS,
	OPTION_DSOS,
	OPTION_SYMBOLS,
	OPTION_ITERATIONS,
	OPTION_STDIO,
	OPTION_CALL_GRAPH,
	OPTION_CHILDREN,
	OPTION_NO_CHILDREN,
	OPTION_PERIODS,
	OPTION_KALLSYMS,
	OPTION_TUI,
};

#define SORT_DEFAULT		"dso,symbol"

static const char *const keys[] = { "comm", "pid", "tid", "cpu", "dso", "symbol", NULL };

static const char *const call_graphs[] = { "fp", "dwarf", "dwarf,BYTES", "lbr", NULL };

static const struct cli_option top_options[] = {
	{ 'e', "event", .argument = "EVENTS",
	  .help = "what to sample (cycles, or cpu-clock without a PMU); see pmuctl-list(1)" },
	{ 'F', "freq", .argument = "N", .help = "N samples in a second (4000)" },
	{ 'c', "count", .argument = "N", .help = "a sample at each Nth event" },
	{ 'a', "all-cpus", .help = "all CPUs, as without a command or another target" },
	{ 'C', "cpu", .argument = "CPUS", .help = "these CPUs, 0,2-3" },
	{ 'p', "pid", .argument = "PIDS",
	  .help = "these processes, all threads, and what they start" },
	{ 't', "tid", .argument = "TIDS", .help = "these threads, and what they start" },
	{ 'u', "uid", .argument = "USER",
	  .help = "the processes that a user, a name or number, has now, and what they start" },
	{ 'G', "cgroup", .argument = "CGROUPS",
	  .help = "of CPUs: only tasks of this cgroup; of several, with commas between, each is for "
		  "one of the events before it, an empty one for all tasks" },
	{ 'i', "no-inherit", .help = "leave out the threads and processes that are started" },
	{ MEASURE_OPTION_FILTER, "filter", .argument = "TEXT",
	  .help = "of tracepoints: only if what they tell passes" },
	{ 'g', .help = "who called, too: call chains by frame pointers" },
	{ OPTION_CALL_GRAPH, "call-graph", .argument = "HOW", .words = call_graphs,
	  .help = "the same, in this way, see pmuctl-record(1)" },
	{ OPTION_CHILDREN, "children",
	  .help = "with these, rows of functions that called others that were hit, too, as by itself" },
	{ OPTION_NO_CHILDREN, "no-children", .help = "only rows of functions that were hit" },
	{ 'd', "delay", .argument = "SECONDS", .help = "from refresh to refresh (2)" },
	{ 'z', "zero", .help = "show only what came since the last refresh; otherwise what came "
			       "before counts 1/8 less with each" },
	{ OPTION_ITERATIONS, "iterations", .argument = "N", .help = "end after N refreshes" },
	{ 's', "sort", .argument = "KEYS", .words = keys,
	  .help = "a row for each, with commas between (dso,symbol)" },
	{ 'n', "show-nr-samples", .help = "the number of samples of each row" },
	{ OPTION_PERIODS, "show-total-period", .help = "what the event has counted in each row" },
	{ 'E', "entries", .argument = "N", .help = "rows, at most" },
	{ OPTION_LIMIT, "percent-limit", .argument = "P",
	  .help = "only rows with P percent or more" },
	{ 'f', "count-filter", .argument = "N",
	  .help = "only rows in which the event has counted more than N" },
	{ 'K', "hide_kernel_symbols", .help = "nothing of the kernel" },
	{ 'U', "hide_user_symbols", .help = "only the kernel" },
	{ OPTION_COMMS, "comms", .argument = "COMMS", .help = "only samples of these commands" },
	{ OPTION_DSOS, "dsos", .argument = "DSOS",
	  .help = "only those in these programs and libraries" },
	{ OPTION_SYMBOLS, "symbols", .argument = "SYMBOLS",
	  .help = "only those in these functions" },
	{ 'k', "vmlinux", .argument = "FILE", .help = "the kernel, as a program with symbols" },
	{ OPTION_KALLSYMS, "kallsyms", .argument = "FILE",
	  .help = "the kernel's symbols: a copy of its /proc/kallsyms" },
	{ READING_MAX_STACK, "max-stack", .argument = "N", .help = "call chains of N functions, at most" },
	{ 'm', "mmap-pages", .argument = "N",
	  .help = "pages of memory for each ring, a power of two (128; where a ring is of several CPUs, for "
		  "each of them)" },
	{ OPTION_STDIO, "stdio", .help = "plain text, refresh by refresh, on a terminal too" },
	{ OPTION_TUI, "tui", .help = "a screen, as always on a terminal" },
	{ 'v', "verbose", .help = "all that goes wrong is told, as always" },
	{ 0 },
};

#define CODE "code is shown by 'pmuctl annotate'"
#define BRANCHES "'pmuctl record -b' and 'pmuctl report -b' have rows of branches"
#define SWITCHES "'pmuctl record' and 'pmuctl report --time' choose a part of the time"

static const struct other_option other_options[] = {
	{ 'b', "branch-any", BRANCHES }, { 'j', "branch-filter", BRANCHES }, { 0, "stitch-lbr", BRANCHES },
	{ 'M', "disassembler-style", CODE }, { 0, "asm-raw", CODE }, { 0, "source", CODE },
	{ 0, "objdump", CODE }, { 0, "prefix", CODE }, { 0, "prefix-strip", CODE }, { 0, "sym-annotate", CODE },
	{ 'D', "dump-symtab", "'pmuctl report --kallsyms' says whose symbols are used" },
	{ 'r', "realtime", "chrt(1) starts it with a priority" },
	{ 'w', "column-widths", "'pmuctl report -w' has it" },
	{ 0, "all-cgroups", "-G chooses a cgroup; 'pmuctl record --all-cgroups' and 'report -s cgroup' have rows" },
	{ 0, "demangle-kernel", "names of C++ and Rust are always demangled" },
	{ 0, "fields", "-s, -n and --show-total-period choose the columns" },
	{ 0, "force", "it reads no file that anybody could own" },
	{ 0, "group", "braces around events are a group: -e '{cycles,instructions}'" },
	{ 0, "group-sort-idx", "each event has rows of its own" },
	{ 0, "hierarchy", "'pmuctl report --hierarchy' has it" },
	{ 0, "ignore-callees", "--symbols chooses functions" },
	{ 0, "ignore-vmlinux", "a vmlinux is read with -k only" },
	{ 0, "namespaces", "'pmuctl record --namespaces' has it" },
	{ 0, "no-bpf-event", "names of BPF programs cost nothing until one is loaded" },
	{ 0, "num-thread-synthesize", "one thread reads /proc" },
	{ 0, "overwrite", "-z shows only what is new" },
	{ 0, "percentage", "percentages are of all that the event has counted" },
	{ 0, "proc-map-timeout", "all of /proc is read, however long that takes" },
	{ 0, "raw-trace", "'pmuctl script -F trace' prints what tracepoints tell" },
	{ 0, "show-on-off-events", SWITCHES }, { 0, "switch-off", SWITCHES }, { 0, "switch-on", SWITCHES },
	{ 0 },
};

/* What is sampled; STATUS_HELP: it is another option. */
static int apply_record(struct record_options *options, int option)
{
	int status = measure_option(&options->measure, option);

	if (status == MEASURE_OPTION_COMMON)
		status = record_rate_option(options, option);
	if (status == MEASURE_OPTION_COMMON && option == 'm')
		status = record_pages_parse(options, optarg, &options->pages);
	if (status == MEASURE_OPTION_COMMON && option == 'g') {
		options->callgraph = CALLGRAPH_FP;
		status = STATUS_OK;
	}
	if (status == MEASURE_OPTION_COMMON && option == OPTION_CALL_GRAPH)
		status = callgraph_option(options, optarg);
	return status == MEASURE_OPTION_COMMON ? STATUS_HELP : status;
}

/* How it is shown; STATUS_HELP: it is another option. */
static int apply_report(const struct measure *measure, struct report_options *options, int option)
{
	switch (option) {
	case 's':
		options->sort_text = optarg;
		return STATUS_OK;
	case 'n':
		options->counts = true;
		return STATUS_OK;
	case OPTION_PERIODS:
		options->periods = true;
		return STATUS_OK;
	case OPTION_KALLSYMS:
		options->input.kallsyms = optarg;
		return STATUS_OK;
	case OPTION_CHILDREN:
	case OPTION_NO_CHILDREN:
		options->children = option == OPTION_CHILDREN;
		return STATUS_OK;
	case 'f':
		return measure_number(measure, "-f", optarg, UINT64_MAX, &options->more_than);
	case OPTION_LIMIT:
		return options_percent(&command_top, optarg, &options->limit);
	case 'K':
		options->filter.hide_kernel = true;
		return STATUS_OK;
	case 'U':
		options->filter.hide_user = true;
		return STATUS_OK;
	case OPTION_COMMS:
		options->filter.comms = optarg;
		return STATUS_OK;
	case OPTION_DSOS:
		options->filter.dsos = optarg;
		return STATUS_OK;
	case OPTION_SYMBOLS:
		options->filter.symbols = optarg;
		return STATUS_OK;
	case 'k':
		options->input.vmlinux = optarg;
		return STATUS_OK;
	}
	return option == READING_MAX_STACK ? reading_input(&command_top, &options->input, option) : STATUS_HELP;
}

static int apply(void *arg, int option)
{
	struct top_options *options = arg;
	const struct measure *measure = &options->record.measure;
	int status = apply_record(&options->record, option);

	if (status == STATUS_HELP)
		status = apply_report(measure, &options->report, option);
	if (status != STATUS_HELP)
		return status;
	switch (option) {
	case 'd':
		return measure_number(measure, "-d", optarg, TOP_DELAY_MAX, &options->delay);
	case 'E':
		return measure_number(measure, "-E", optarg, TOP_ENTRIES_MAX, &options->entries);
	case OPTION_ITERATIONS:
		return measure_number(measure, "--iterations", optarg, UINT32_MAX,
				      &options->iterations);
	case 'z':
		options->zero = true;
		break;
	case OPTION_STDIO:
	case OPTION_TUI:
		options->stdio = option == OPTION_STDIO;
		break;
	}
	return STATUS_OK;
}

/* Traces have no samples, and keys of the report may need what is not sampled. */
static int check_events(const struct measure *measure)
{
	for (size_t i = 0; measure->events && i < pmuctl_events_count(measure->events); i++)
		if (pmuctl_events_trace(measure->events, i))
			return say_usage(&command_top,
					 "'%s' traces, it takes no samples: record it with 'pmuctl record'",
					 pmuctl_events_name(measure->events, i));
	return STATUS_OK;
}

static int check_sort(const struct top_options *options)
{
	for (const char *at = options->report.sort_text; *at; at += strcspn(at, ",")) {
		size_t length, i = 0;

		at += *at == ',';
		length = strcspn(at, ",");
		if (length == 3 && !strncmp(at, "sym", 3))
			continue;
		while (keys[i] && (strlen(keys[i]) != length || strncmp(keys[i], at, length)))
			i++;
		if (!keys[i])
			return say_usage(&command_top,
					 "'%.*s' is no key: there are comm, pid, tid, cpu, dso and symbol",
					 (int)length, at);
	}
	return columns_check(&command_top, &options->report);
}

static int check(struct top_options *options)
{
	struct record_options *record = &options->record;
	struct measure *measure = &record->measure;
	int status = check_sort(options);

	if (status != STATUS_OK)
		return status;
	if (record->callgraph == CALLGRAPH_NONE) {
		if (options->report.children > 0)
			return say_usage(&command_top, "--children is for -g and --call-graph");
		options->report.graph.order = GRAPH_NONE;
	}
	if (options->report.filter.hide_kernel && options->report.filter.hide_user)
		return say_usage(&command_top, "-K and -U together leave nothing to show");
	status = record_rate_check(record);
	if (status != STATUS_OK)
		return status;
	if (!measure->has_target && !measure->argv)
		measure->kind = TARGET_ALL_CPUS;
	measure->teller = measure->kind != TARGET_COMMAND;
	if (measure->events_text)
		status = events_text_parse(measure->events_text, false, &measure->events);
	if (status == STATUS_OK)
		status = measure_filters_check(measure);
	return status == STATUS_OK ? check_events(measure) : status;
}

static int top_main(int argc, char **argv)
{
	struct top_options options = {
		.record = { .measure.command = &command_top, },
		.report = { .input.root = "", .sort_text = SORT_DEFAULT,
			    .children = -1, .graph.limit = 0.5, .about = ABOUT_NOTHING },
		.delay = 2,
	};
	struct measure *measure = &options.record.measure;
	struct pmuctl_device *dev = NULL;
	int status = options_parse(&command_top, argc, argv, apply, &options);

	if (status == STATUS_OK) {
		measure->argv = optind < argc ? argv + optind : NULL;
		status = check(&options);
	}
	if (status == STATUS_OK)
		status = measure_device(&dev);
	if (status == STATUS_OK && !measure->events_text)
		status = measure_default_event(dev, measure);
	if (status == STATUS_OK)
		status = top_run(dev, &options);
	pmuctl_device_close(dev);
	filter_free(&options.report.filter);
	measure_free(measure);
	return status;
}

const struct command command_top = {
	.name = "top",
	.run = top_main,
	.summary = "show where the time goes now, again and again",
	.operands = "[COMMAND [ARGUMENTS]]",
	.about = "Shows which functions the CPUs are in, or where other events happen, and does so "
		 "again every two seconds, until Ctrl-C: of all CPUs, or of COMMAND and all that "
		 "it starts, or of what -p, -t or -C say.",
	.options = { top_options },
	.others = other_options,
	.notes = "Percentages are of the event's count. The exit status is COMMAND's own, if there "
		 "is one.",
	.starts_command = true,
};
