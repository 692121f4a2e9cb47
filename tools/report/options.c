// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line of "pmuctl report", which is that of "perf report" as far as it goes.
 */
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "report/reading.h"
#include "report.h"

enum {
	OPTION_CHILDREN = OPTION_NO_LETTER,
	OPTION_NO_CHILDREN,
	OPTION_LIMIT,
	OPTION_FOLDED,
	OPTION_SVG,
	OPTION_TITLE,
	OPTION_FORMAT,
	OPTION_STDIO,
	OPTION_TUI,
	OPTION_PERIOD,
	OPTION_SYMBOL_FILTER,
	OPTION_PERCENTAGE,
	OPTION_HIERARCHY,
	OPTION_GROUP,
	OPTION_NO_GROUP,
	OPTION_HEADER,
	OPTION_HEADER_ONLY,
	OPTION_STATS,
	OPTION_TASKS,
	OPTION_MMAPS,
	OPTION_TIME_QUANTUM,
	OPTION_NS,
	OPTION_NO_BRANCHES,
};

#define KEYS	"comm", "pid", "tid", "cpu", "time", "cgroup", "dso", "symbol", "srcline", "parent", \
		"dso_from", "symbol_from", "dso_to", "symbol_to", "mispredict", "cycles"

static const char *const keys[] = { KEYS, NULL };

static const char *const columns[] = {
	"overhead", "overhead_children", "overhead_sys", "overhead_us", "sample", "period", KEYS,
	NULL
};

static const char *const graphs[] = {
	"graph", "fractal", "flat", "folded", "none", "caller", "callee", "percent", "period",
	"count", NULL
};

static const char *const formats[] = { "pprof", "speedscope", "firefox", NULL };

static const char *const percentages[] = { "relative", "absolute", NULL };

static const struct cli_option report_options[] = {
	{ 'i', "input", .argument = "FILE", .help = "the recording (perf.data)" },
	{ 's', "sort", .argument = "KEYS", .words = keys,
	  .help = "a row for each, with commas between (comm,dso,symbol); '+KEYS' adds some" },
	{ 'F', "fields", .argument = "COLUMNS", .words = columns,
	  .help = "the columns, and so the order of the rows" },
	{ 'e', "event", .argument = "NAME", .help = "only this event of the recording" },
	{ 'g', "call-graph", .argument = "[GRAPH]", .words = graphs,
	  .help = "below each row its call chains (if there are any): words, with commas between, "
		  "the least percentage, and the most branches; alone, graph,0.5,caller" },
	{ 'b', "branch-stack", .help = "rows of branches that samples tell, of 'record -b', from where and to where" },
	{ OPTION_NO_BRANCHES, "no-branch-stack", .help = "of where samples are, as always" },
	{ 'G', "inverted", .help = "call chains from the outermost caller on" },
	{ OPTION_CHILDREN, "children",
	  .help = "rows for callers too, with all that they called; so it is without this if there "
		  "are call chains, but not with --json" },
	{ OPTION_NO_CHILDREN, "no-children", .help = "only rows of functions that were hit" },
	{ 'n', "show-nr-samples", .help = "the number of samples of each row" },
	{ OPTION_PERIOD, "show-total-period",
	  .help = "how much of the event each row is" },
	{ OPTION_TIME_QUANTUM, "time-quantum", .argument = "TIME",
	  .help = "how long the pieces of the key 'time' are: 10ms; 100ms without it" },
	{ OPTION_NS, "ns", .help = "and these to the nanosecond" },
	{ OPTION_HIERARCHY, "hierarchy", .help = "rows within rows, a level for each key" },
	{ OPTION_GROUP, "group",
	  .help = "one table for the events of a group, as always, or for all if there are no groups" },
	{ OPTION_NO_GROUP, "no-group", .help = "a table for each event, in a group, too" },
	{ OPTION_LIMIT, "percent-limit", .argument = "P",
	  .help = "only rows with P percent or more" },
	{ 'c', "comms", "comm", "COMMS", .help = "only samples of these commands" },
	{ 'd', "dsos", "dso", "DSOS", .help = "only those in these programs and libraries" },
	{ 'S', "symbols", "symbol", "SYMBOLS", .help = "only those in these functions" },
	{ OPTION_SYMBOL_FILTER, "symbol-filter", .argument = "TEXT",
	  .help = "only rows of functions that have it in their names" },
	{ 'U', "hide-unresolved", .help = "only samples in functions that are known" },
	{ READING_PID, "pid", .argument = "PIDS", .help = "only samples of these processes" },
	{ READING_TID, "tid", .argument = "TIDS", .help = "only those of these threads" },
	{ 'C', "cpu", .argument = "CPUS", .help = "only those on these CPUs, 0,2-3" },
	{ READING_TIME, "time", .argument = "START,STOP",
	  .help = "only those between, in seconds; 10%-40% and 10%/2 are parts of the whole" },
	{ 'p', "parent", .argument = "REGEX",
	  .help = "what the key 'parent' looks for among the callers; rows go by it too" },
	{ 'x', "exclude-other", .help = "only samples that have such a caller" },
	{ OPTION_PERCENTAGE, "percentage", .argument = "OF", .words = percentages,
	  .help = "percentages of what these options leave, or of all (absolute)" },
	{ OPTION_HEADER, "header", .help = "what the recording says of itself, too" },
	{ 'I', "show-info", .help = "the same" },
	{ OPTION_HEADER_ONLY, "header-only", .help = "only that" },
	{ OPTION_STATS, "stats", .help = "only the numbers of records" },
	{ OPTION_TASKS, "tasks", .help = "only the tasks: who has made whom" },
	{ OPTION_MMAPS, "mmaps", .help = "these, and what each had mapped at its end" },
	{ 'D', "dump-raw-trace", .help = "all records, as bytes and in words, and their numbers" },
	{ 'T', "threads", .help = "what each thread has counted, too, of 'record -s'" },
	{ 'w', "column-widths", .argument = "WIDTHS",
	  .help = "how wide the columns are, with commas between; 0 is as wide as needed" },
	{ 't', "field-separator", .argument = "TEXT", .help = "between columns, without blanks" },
	{ 'q', "quiet", .help = "no headings, no messages" },
	{ OPTION_STDIO, "stdio", .help = "text, on a terminal too" },
	{ OPTION_TUI, "tui", .help = "the view on a terminal, as always there" },
	{ 'f', "force", .help = "whoever owns the recording, as always" },
	{ 'v', "verbose", .help = "all that goes wrong is told, as always" },
	{ READING_MAX_STACK, "max-stack", .argument = "N", .help = "call chains of N functions, at most" },
	{ 'j', "json", .help = "one JSON object" },
	{ OPTION_FOLDED, "folded", .help = "a line for each stack, 'command;caller;function EVENTS'" },
	{ OPTION_SVG, "svg", .argument = "FILE",
	  .help = "a flame graph that a browser shows; '-' is standard output" },
	{ OPTION_TITLE, "title", .argument = "TEXT", .help = "its title" },
	{ OPTION_FORMAT, "format", .argument = "NAME", .words = formats,
	  .help = "for the viewer of that name, with -o" },
	{ 'o', "output", .argument = "FILE", .help = "where that goes; '-' is standard output" },
	{ 'k', "vmlinux", .argument = "FILE", .help = "the kernel that was recorded, as a program with symbols" },
	{ READING_KALLSYMS, "kallsyms", .argument = "FILE",
	  .help = "the kernel's symbols: a copy of its /proc/kallsyms" },
	{ READING_SYMFS, "symfs", .argument = "DIR",
	  .help = "where the recorded machine's files are, instead of /" },
	{ READING_NO_INLINE, "no-inline",
	  .help = "no functions that the compiler has put into others" },
	{ READING_DEBUGINFOD, "debuginfod", .argument = "[=URL]",
	  .help = "ask this server for missing debug files, or those of DEBUGINFOD_URLS" },
	{ READING_INLINE, "inline", .help = "with these, as always" },
	{ 0 },
};

#define CODE "code is shown by 'pmuctl annotate'"
#define DEMANGLED "names of C++ and Rust are always demangled"

static const struct other_option other_options[] = {
	{ 'M', "disassembler-style", CODE }, { 0, "asm-raw", CODE }, { 0, "source", CODE },
	{ 0, "objdump", CODE }, { 0, "prefix", CODE }, { 0, "prefix-strip", CODE },
	{ 0, "percent-type", CODE }, { 0, "itrace", "'pmuctl script --trace' shows traces" },
	{ 0, "gtk", "text, --json, --svg and --format are" },
	{ 0, "raw-trace", "'pmuctl script -F trace' prints what tracepoints tell" },
	{ 0, "demangle", DEMANGLED }, { 0, "demangle-kernel", DEMANGLED },
	{ 'm', "modules", "the symbols of modules are always read, with the kernel's" },
	{ 0, "ignore-vmlinux", "a vmlinux is read with -k only" },
	{ 0, "stdio-color", "text has no colours" }, { 0, "branch-history", NULL },
	{ 0, "disable-order", NULL }, { 0, "full-source-path", NULL },
	{ 0, "group-sort-idx", NULL }, { 0, "ignore-callees", NULL }, { 0, "mem-mode", NULL },
	{ 0, "pretty", NULL }, { 0, "samples", NULL },
	{ 0, "show-cpu-utilization", "-F +overhead_sys,overhead_us has it" },
	{ 0, "show-on-off-events", NULL }, { 0, "show-ref-call-graph", NULL },
	{ 0, "skip-empty", NULL }, { 0, "socket-filter", "-C chooses the CPUs of a socket" },
	{ 0, "stitch-lbr", NULL }, { 0, "switch-off", "--time chooses a part of the time" },
	{ 0, "switch-on", "--time chooses a part of the time" }, { 0, "total-cycles", NULL },
	{ 0 },
};

static int parse_percentage(struct report_options *options, const char *text)
{
	options->filter.relative = !strcmp(text, "relative");
	if (!options->filter.relative && strcmp(text, "absolute"))
		return say_usage(&command_report, "'%s' is no kind of percentage: there are relative and absolute",
				 text);
	return STATUS_OK;
}

static int set_format(struct report_options *options, enum report_format format)
{
	if (options->format != FORMAT_TEXT && options->format != format)
		return say_usage(&command_report, "only one of --json, --folded, --svg, --format, --stats, --tasks and -D");
	options->format = format;
	return STATUS_OK;
}

static int parse_format(struct report_options *options, const char *name)
{
	options->export = export_format(name);
	if (!options->export)
		return say_usage(&command_report, "'%s' is no format: there are pprof, speedscope and firefox; see --json, --folded and --svg, too",
				 name);
	return set_format(options, FORMAT_EXPORT);
}

/* Which samples; STATUS_HELP: it is another option. */
static int apply_filter(struct filter *filter, int option)
{
	switch (option) {
	case OPTION_SYMBOL_FILTER:
		filter->symbol_part = optarg;
		return STATUS_OK;
	case 'p':
		return filter_parent(&command_report, filter, optarg);
	case 'x':
		filter->has_parent = true;
		return STATUS_OK;
	case 'U':
		filter->hide_unresolved = true;
		return STATUS_OK;
	}
	return reading_filter(&command_report, filter, option);
}

/* How rows look; STATUS_HELP: it is another option. */
static int apply_rows(struct report_options *options, int option)
{
	switch (option) {
	case 's':
		options->sort_text = optarg;
		return STATUS_OK;
	case 'F':
		options->fields_text = optarg;
		return STATUS_OK;
	case 'g':
		return callgraph_parse(&options->graph, optarg);
	case 'G':
		options->graph.order = GRAPH_CALLER;
		return STATUS_OK;
	case 'b':
	case OPTION_NO_BRANCHES:
		options->branches = option == 'b';
		return STATUS_OK;
	case OPTION_CHILDREN:
	case OPTION_NO_CHILDREN:
		options->children = option == OPTION_CHILDREN;
		return STATUS_OK;
	case 'n':
		options->counts = true;
		return STATUS_OK;
	case OPTION_PERIOD:
		options->periods = true;
		return STATUS_OK;
	case OPTION_TIME_QUANTUM:
		return columns_time_quantum(options, optarg);
	case OPTION_NS:
		options->nanoseconds = true;
		return STATUS_OK;
	case OPTION_HIERARCHY:
		options->hierarchy = true;
		return STATUS_OK;
	case OPTION_GROUP:
	case OPTION_NO_GROUP:
		options->group = option == OPTION_GROUP;
		return STATUS_OK;
	case OPTION_LIMIT:
		return options_percent(&command_report, optarg, &options->limit);
	case OPTION_PERCENTAGE:
		return parse_percentage(options, optarg);
	case 'w':
		options->sets_widths = true;
		return columns_widths(options, optarg);
	case 't':
		options->separator = optarg;
		return *optarg ? STATUS_OK :
		       say_usage(&command_report, "a separator has at least one character");
	}
	return STATUS_HELP;
}

/* What is printed; STATUS_HELP: it is another option. */
static int apply_format(struct report_options *options, int option)
{
	switch (option) {
	case OPTION_HEADER:
	case 'I':
		options->about = ABOUT_HEADER;
		return STATUS_OK;
	case OPTION_HEADER_ONLY:
		options->about = ABOUT_ONLY;
		return STATUS_OK;
	case 'q':
		options->about = ABOUT_NOTHING;
		return STATUS_OK;
	case 'T':
		options->threads = true;
		return STATUS_OK;
	case OPTION_STATS:
		return set_format(options, FORMAT_STATS);
	case OPTION_TASKS:
	case OPTION_MMAPS:
		options->maps |= option == OPTION_MMAPS;
		return set_format(options, FORMAT_TASKS);
	case 'D':
		return set_format(options, FORMAT_DUMP);
	case 'j':
		return set_format(options, FORMAT_JSON);
	case OPTION_FOLDED:
		return set_format(options, FORMAT_FOLDED);
	case OPTION_SVG:
		options->svg = optarg;
		return set_format(options, FORMAT_SVG);
	case OPTION_TITLE:
		options->title = optarg;
		return STATUS_OK;
	case OPTION_FORMAT:
		return parse_format(options, optarg);
	case 'o':
		options->output = optarg;
		return STATUS_OK;
	case OPTION_STDIO:
	case OPTION_TUI:
		options->stdio = option == OPTION_STDIO;
		return STATUS_OK;
	case 'f':
	case 'v':
		return STATUS_OK;
	}
	return STATUS_HELP;
}

static int apply(void *arg, int option)
{
	struct report_options *options = arg;
	int status = apply_filter(&options->filter, option);

	if (status == STATUS_HELP)
		status = apply_rows(options, option);
	if (status == STATUS_HELP)
		status = apply_format(options, option);
	if (status == STATUS_HELP)
		status = reading_input(&command_report, &options->input, option);
	if (status != STATUS_HELP)
		return status;
	if (option == 'e')
		options->event = optarg;
	return STATUS_OK;
}

/* What goes with what; and the key "parent" needs an expression, which may be perf's own. */
static int check(struct report_options *options)
{
	const char *sort = options->sort_text, *fields = options->fields_text;
	const char *keys = fields ? fields : sort;
	int status = columns_check(&command_report, options);

	if (status != STATUS_OK)
		return status;
	if (options->hierarchy && options->periods)
		return say_usage(&command_report, "--hierarchy has columns of its own: leave --show-total-period out");
	if (options->sets_widths && (options->format != FORMAT_TEXT || options->hierarchy || options->separator))
		return say_usage(&command_report, "-w is of the columns of a table: --hierarchy, -t and other formats have none");
	if ((options->branches || columns_of_branches(options)) &&
	    (options->hierarchy || (options->format != FORMAT_TEXT && options->format != FORMAT_JSON)))
		return say_usage(&command_report, "branches are rows of a table, or with --json: leave --hierarchy and other formats out");
	if (options->hierarchy && fields)
		return say_usage(&command_report, "--hierarchy has columns of its own: leave --fields out");
	if (options->threads && options->format != FORMAT_TEXT)
		return say_usage(&command_report, "-T is text: it goes with no other format");
	if (options->hierarchy && options->format != FORMAT_TEXT)
		return say_usage(&command_report, "--hierarchy is for text only");
	if (options->format == FORMAT_EXPORT && !options->output)
		return say_usage(&command_report, "--format needs a file: give one with -o, or '-o -'");
	if (options->format != FORMAT_EXPORT && options->output)
		return say_usage(&command_report, "-o is for --format");
	if (options->filter.symbol_part && keys && *keys != '+' && !strstr(keys, "sym"))
		return say_usage(&command_report, "--symbol-filter is for rows of functions: sort by 'symbol', too");
	if (options->filter.parent_set)
		return STATUS_OK;
	if (options->filter.has_parent || (sort && strstr(sort, "parent")) ||
	    (fields && strstr(fields, "parent")))
		return filter_parent(&command_report, &options->filter, NULL);
	return STATUS_OK;
}

/**
 * report_options_parse() - understand the command line
 * @options: filled.
 * @argc: number of arguments.
 * @argv: the arguments.
 *
 * Return: 0, an exit status, or STATUS_HELP: the help was printed.
 */
int report_options_parse(struct report_options *options, int argc, char **argv)
{
	int status;

	*options = (struct report_options){
		.input = { .path = recording_default(STDIN_FILENO), .root = "" },
		.children = -1,
		.group = -1,
		.graph = { .limit = 0.5 },
		.time_quantum = 100000000,
	};
	status = options_parse(&command_report, argc, argv, apply, options);
	if (status != STATUS_OK)
		return status;
	if (optind < argc)
		return say_usage(&command_report, "'%s' is no option: give the recording with -i",
				 argv[optind]);
	return check(options);
}

static int report_run(int argc, char **argv)
{
	struct report_options options;
	int status = report_options_parse(&options, argc, argv);

	if (status == STATUS_OK)
		status = report_make(&options);
	filter_free(&options.filter);
	return status;
}

const struct command command_report = {
	.name = "report",
	.run = report_run,
	.summary = "tell where the samples of a recording are",
	.operands = "",
	.about = "Tells where the samples of a recording are: of 'pmuctl record' or 'perf record'.",
	.options = { report_options },
	.others = other_options,
	.notes = "Percentages are of the event's count, not of the number of samples.",
};
