// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl script": prints the samples of a recording one by one, in the order of time, or
 * what was traced.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "report/reading.h"
#include "report/report.h"
#include "script.h"

enum {
	OPTION_TRACE = OPTION_NO_LETTER,
	OPTION_CALLS,
	OPTION_CALLS_RETURNS,
	OPTION_INSTRUCTIONS,
	OPTION_HEADER,
	OPTION_HEADER_ONLY,
	OPTION_NS,
	OPTION_RELATIVE,
	OPTION_DELTA,
	OPTION_DSOS,
	OPTION_RECORDS,		/* these in the order of shown[] */
	OPTION_SHOW_TASKS,
	OPTION_SHOW_MAPPINGS,
	OPTION_SHOW_SWITCHES,
	OPTION_SHOW_LOSSES,
	OPTION_SHOW_NAMESPACES,
	OPTION_SHOW_CGROUPS,
	OPTION_SHOW_BPF,
	OPTION_SHOW_TEXT_POKES,
};

static const char *const field_names[] = {
	"comm", "pid", "tid", "cpu", "time", "period", "event", "addr", "ip", "sym",
	"symoff", "dso", "srcline", "weight", "phys_addr", "id",
	"trace", "brstack", "iregs", "uregs", NULL
};

static const char *const traces[] = {
	[SCRIPT_TRACE_NONE] = "none",
	[SCRIPT_TRACE_CALLS] = "calls",
	[SCRIPT_TRACE_BRANCHES] = "branches",
	[SCRIPT_TRACE_INSTRUCTIONS] = "instructions",
	[SCRIPT_TRACE_FUNCTIONS] = "functions",
	[SCRIPT_TRACE_TIMELINE] = "timeline",
	NULL
};

static const struct cli_option script_options[] = {
	{ 'i', "input", .argument = "FILE", .help = "the recording (perf.data)" },
	{ 'F', "fields", .argument = "FIELDS", .words = field_names,
	  .help = "what is printed, with commas between; with + or - before each, as "
		  "+srcline,-period, what is added to the default or left out" },
	{ 'e', "event", .argument = "NAME", .help = "only samples of this event" },
	{ 'c', "comms", "comm", "COMMS", .help = "only samples of these commands" },
	{ 'S', "symbols", "symbol", "SYMBOLS", .help = "only those in these functions" },
	{ OPTION_DSOS, "dsos", "dso", "DSOS", .help = "only those in these programs and libraries" },
	{ READING_PID, "pid", .argument = "PIDS", .help = "only those of these processes" },
	{ READING_TID, "tid", .argument = "TIDS", .help = "only those of these threads" },
	{ 'C', "cpu", .argument = "CPUS", .help = "only those on these CPUs, 0,2-3" },
	{ READING_TIME, "time", .argument = "START,STOP",
	  .help = "only those between, in seconds; 10%-40% and 10%/2 are parts of the whole" },
	{ 'G', "hide-call-graph", .help = "no callers" },
	{ OPTION_HEADER, "header", .help = "what the recording says of itself, too" },
	{ OPTION_HEADER_ONLY, "header-only", .help = "only that" },
	{ OPTION_RECORDS, "records",
	  .help = "all records: of forks, names, mappings, losses too" },
	{ OPTION_SHOW_TASKS, "show-task-events", .help = "those of forks, ends and names, too" },
	{ OPTION_SHOW_MAPPINGS, "show-mmap-events", .help = "those of mappings," },
	{ OPTION_SHOW_SWITCHES, "show-switch-events", .help = "of switches," },
	{ OPTION_SHOW_LOSSES, "show-lost-events", .help = "of losses," },
	{ OPTION_SHOW_NAMESPACES, "show-namespace-events", .help = "of namespaces," },
	{ OPTION_SHOW_CGROUPS, "show-cgroup-events", .help = "of cgroups," },
	{ OPTION_SHOW_BPF, "show-bpf-events", .help = "of BPF programs and their symbols," },
	{ OPTION_SHOW_TEXT_POKES, "show-text-poke-events", .help = "of changes of the kernel's code" },
	{ 'D', "dump-raw-trace", .help = "all records, as bytes and in words, and nothing else" },
	{ 'j', "json", .help = "an object a line for each" },
	{ OPTION_TRACE, "trace", .argument = "[=WHAT]", .words = traces + SCRIPT_TRACE_CALLS,
	  .help = "what was traced; calls if it is not given; of functions, how many "
		  "instructions each had; the timeline is JSON for ui.perfetto.dev and its like" },
	{ OPTION_CALLS, "call-trace", .help = "as --trace=calls," },
	{ OPTION_CALLS_RETURNS, "call-ret-trace", .help = "the same," },
	{ OPTION_INSTRUCTIONS, "insn-trace", .help = "and as --trace=instructions, as perf has it" },
	{ 'k', "vmlinux", .argument = "FILE",
	  .help = "the kernel that was recorded, as a program with symbols" },
	{ READING_KALLSYMS, "kallsyms", .argument = "FILE",
	  .help = "the kernel's symbols: a copy of its /proc/kallsyms" },
	{ READING_SYMFS, "symfs", .argument = "DIR",
	  .help = "where the recorded machine's files are, instead of /" },
	{ READING_NO_INLINE, "no-inline",
	  .help = "no functions that the compiler has put into others" },
	{ READING_INLINE, "inline", .help = "with these, as always" },
	{ READING_DEBUGINFOD, "debuginfod", .argument = "[=URL]",
	  .help = "ask this server for missing debug files, or those of DEBUGINFOD_URLS" },
	{ OPTION_NS, "ns", .help = "times in nanoseconds, as always" },
	{ OPTION_RELATIVE, "reltime", .help = "times since the first line" },
	{ OPTION_DELTA, "deltatime", .help = "times since the line before" },
	{ 'f', "force", .help = "whoever owns the recording, as always" },
	{ 'v', "verbose", .help = "all that goes wrong is told, as always" },
	{ READING_MAX_STACK, "max-stack", .argument = "N", .help = "call chains of N functions, at most" },
	{ 0 },
};

#define SCRIPTS "perf's scripts are run by 'perf script', on recordings of pmuctl, too; -j is for your own"

static const struct other_option other_options[] = {
	{ 's', "script", SCRIPTS }, { 'g', "gen-script", SCRIPTS }, { 'l', "list", SCRIPTS },
	{ 0, "dlfilter", SCRIPTS }, { 0, "dlarg", SCRIPTS }, { 0, "list-dlfilters", SCRIPTS },
	{ 'a', "all-cpus", "'pmuctl record -a' records all CPUs, and all that was recorded is printed" },
	{ 0, "itrace", "--trace chooses what is printed of a trace" },
	{ 0, "demangle", "names of C++ and Rust are always demangled" },
	{ 0, "dump-unsorted-raw-trace", "-D is in the order of time" },
	{ 0, "show-round-events", "-D prints them" },
	{ 0, "switch-off", "--time chooses a part of the time" },
	{ 0, "switch-on", "--time chooses a part of the time" }, { 0, "addr-range", NULL },
	{ 'd', "debug-mode", NULL }, { 0, "demangle-kernel", NULL },
	{ 0, "full-source-path", NULL }, { 0, "graph-function", NULL }, { 0, "guest-code", NULL },
	{ 0, "guestkallsyms", NULL }, { 0, "guestmodules", NULL }, { 0, "guestmount", NULL },
	{ 0, "guestvmlinux", NULL }, { 'L', "Latency", NULL }, { 0, "max-blocks", NULL },
	{ 0, "per-event-dump", NULL }, { 0, "show-kernel-path", NULL },
	{ 0, "show-on-off-events", NULL }, { 0, "stitch-lbr", NULL }, { 0, "stop-bt", NULL },
	{ 0, "xed", NULL },
	{ 0 },
};

/* FIELD,FIELD or +FIELD,-FIELD */
static int parse_fields(struct script *script, const char *text)
{
	bool changes = *text == '+' || *text == '-';

	if (!changes) {
		script->fields = 0;
		script->asked_fields = 0;
	} else if (!script->chose_fields) {
		script->fields = FIELDS_DEFAULT;
	}
	script->chose_fields = true;
	for (;;) {
		bool takes = changes && *text == '-';
		size_t length, i = 0;

		text += changes && (*text == '+' || *text == '-');
		length = strcspn(text, ",");
		while (field_names[i] && (strlen(field_names[i]) != length ||
					  strncmp(text, field_names[i], length) != 0))
			i++;
		if (!field_names[i])
			return say_usage(&command_script, "'%.*s' is no field: see 'pmuctl script --help'",
					 (int)length, text);
		script->fields |= 1U << i;
		script->asked_fields |= 1U << i;
		if (takes) {
			script->fields &= ~(1U << i);
			script->asked_fields &= ~(1U << i);
		}
		if (!text[length])
			break;
		text += length + 1;
	}
	/* An offset is behind its symbol. */
	if (script->fields & FIELD_SYMOFF && !changes)
		script->fields |= FIELD_SYM;
	if (!(script->fields & FIELD_SYM))
		script->fields &= ~FIELD_SYMOFF;
	if (!script->fields)
		return say_usage(&command_script, "-F leaves no field");
	return STATUS_OK;
}

static int parse_trace(struct script *script, const char *text)
{
	script->trace = SCRIPT_TRACE_CALLS;
	if (!text)
		return STATUS_OK;
	for (size_t i = SCRIPT_TRACE_CALLS; traces[i]; i++)
		if (!strcmp(text, traces[i])) {
			script->trace = (enum script_trace)i;
			return STATUS_OK;
		}
	return say_usage(&command_script,
			 "--trace=%s is not there: of a trace it prints calls, branches, instructions, functions or a timeline",
			 text);
}

static bool is_wanted(const struct script *script, const struct perffile_record *record)
{
	if (record->type != PERF_RECORD_SAMPLE)
		return record->type < 64 && script->records & 1ULL << record->type;
	return record->event && !filter_skips(&script->filter, record) &&
	       (!script->event ||
		!strcmp(script->event, samples_event_name(script->samples, record->event)));
}

/* Whose record it is: of a fork the child's, if nothing else tells. */
static const struct thread *thread_of(struct samples *samples, struct perffile_record *record)
{
	bool is_task = record->type == PERF_RECORD_FORK || record->type == PERF_RECORD_EXIT;

	if (record->type == PERF_RECORD_COMM) {
		record->pid = (int32_t)record->comm.pid;
		record->tid = (int32_t)record->comm.tid;
	} else if (record->tid < 0 && is_task) {
		record->pid = (int32_t)record->task.pid;
		record->tid = (int32_t)record->task.tid;
	}
	return record->tid < 0 ? NULL : tasks_thread(samples->tasks, record->pid, record->tid);
}

static int print(struct script *script, struct perffile_record *record)
{
	const struct thread *thread;

	if (record->type == PERF_RECORD_SAMPLE)
		thread = samples_resolve(script->samples, record, script->chains);
	else
		thread = thread_of(script->samples, record);
	if (record->type == PERF_RECORD_SAMPLE && thread &&
	    !filter_has(&script->filter, script->samples, record, thread))
		return 0;
	if (script->json)
		return script_print_json(script, record, thread);
	if (record->type == PERF_RECORD_SAMPLE)
		script_print_sample(script, record, thread);
	else
		script_print_record(script, record, thread);
	return 0;
}

static bool has_event(const struct script *script)
{
	const struct perffile *file = script->samples->file;

	for (size_t i = 0; i < file->event_count; i++)
		if (!script->event ||
		    !strcmp(script->event, samples_event_name(script->samples, &file->events[i])))
			return true;
	say_error("'%s' has no event '%s'", script->input.path, script->event);
	return false;
}

/* What samples have only if it was asked for when they were recorded, and how it is */
static const struct {
	unsigned int field;
	uint64_t sample_type;
	const char *how;
} recorded[] = {
	{ FIELD_CPU, PERF_SAMPLE_CPU, "record with -a, -C or --sample-cpu" },
	{ FIELD_TIME, PERF_SAMPLE_TIME, "record with -T" },
	{ FIELD_ADDR, PERF_SAMPLE_ADDR, "record with -d" },
	{ FIELD_WEIGHT, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, "'perf record -W' does" },
	{ FIELD_PHYS, PERF_SAMPLE_PHYS_ADDR, "'perf record --phys-data' does" },
	{ FIELD_ID, PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER, "'pmuctl record' does" },
	{ FIELD_TRACE, PERF_SAMPLE_RAW, "record a tracepoint" },
	{ FIELD_BRSTACK, PERF_SAMPLE_BRANCH_STACK, "record with -b" },
	{ FIELD_IREGS, PERF_SAMPLE_REGS_INTR, "record with -I" },
	{ FIELD_UREGS, PERF_SAMPLE_REGS_USER, "record with --user-regs" },
};

/* Which fields do the samples of this event have? */
static unsigned int fields_of(const struct perf_event_attr *attr)
{
	unsigned int fields = ~0U;

	for (size_t i = 0; i < ARRAY_LEN(recorded); i++)
		if (!(attr->sample_type & recorded[i].sample_type))
			fields &= ~recorded[i].field;
	return fields;
}

/* What was asked for by name is somewhere: else who reads nothing would think that there was nothing. */
static bool has_fields(const struct script *script)
{
	const struct perffile *file = script->samples->file;
	unsigned int there = 0;
	size_t i = 0;

	for (size_t event = 0; event < file->event_count; event++)
		if (!script->event || !strcmp(script->event,
					      samples_event_name(script->samples, &file->events[event])))
			there |= fields_of(&file->events[event].attr);
	while (i < ARRAY_LEN(recorded) &&
	       (!(script->asked_fields & recorded[i].field) || there & recorded[i].field))
		i++;
	if (i == ARRAY_LEN(recorded))
		return true;
	say_error("the samples of '%s' have no '%s': %s", script->input.path,
		  field_names[__builtin_ctz(recorded[i].field)], recorded[i].how);
	return false;
}

/*
 * Whoever reads what we write may end first, as head(1) does. SIGPIPE ends us then, also where it
 * is ignored because another process formats tracepoints.
 */
static int cannot_write(int error)
{
	if (error == EPIPE) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	say_error("cannot write: %s", strerror(error ? error : ENOMEM));
	return STATUS_FAILED;
}

static int run(struct script *script)
{
	struct perffile_record record;
	int ret;

	if (!has_event(script) || !has_fields(script))
		return STATUS_FAILED;
	while ((ret = samples_next(script->samples, &record)) > 0) {
		if (!is_wanted(script, &record))
			continue;
		samples_tell_no_more(script->samples);
		if (print(script, &record) < 0 || ferror(stdout))
			return cannot_write(errno);
	}
	if (fflush(stdout))
		return cannot_write(errno);
	samples_warn(script->samples);
	return ret < 0 ? STATUS_FAILED : STATUS_OK;
}

/* Which types of records these options are about, by what their number is above the first's */
#define RECORD(type)	(1ULL << PERF_RECORD_##type)
static const uint64_t shown[] = {
	~0ULL,
	RECORD(FORK) | RECORD(EXIT) | RECORD(COMM),
	RECORD(MMAP) | RECORD(MMAP2),
	RECORD(SWITCH) | RECORD(SWITCH_CPU_WIDE),
	RECORD(LOST) | RECORD(LOST_SAMPLES),
	RECORD(NAMESPACES),
	RECORD(CGROUP),
	RECORD(BPF_EVENT) | RECORD(KSYMBOL),
	RECORD(TEXT_POKE),
};

/* An option_apply */
static int apply(void *arg, int option)
{
	struct script *script = arg;
	int status = reading_filter(&command_script, &script->filter, option);

	if (status == STATUS_HELP)
		status = reading_input(&command_script, &script->input, option);
	if (status != STATUS_HELP)
		return status;
	if (option >= OPTION_RECORDS && option < OPTION_RECORDS + (int)ARRAY_LEN(shown)) {
		script->records |= shown[option - OPTION_RECORDS];
		return STATUS_OK;
	}
	switch (option) {
	case 'e':
		script->event = optarg;
		break;
	case 'F':
		return parse_fields(script, optarg);
	case 'G':
		script->chains = false;
		break;
	case OPTION_HEADER:
	case OPTION_HEADER_ONLY:
		script->header = true;
		script->header_only |= option == OPTION_HEADER_ONLY;
		break;
	case 'D':
		script->dump = true;
		break;
	case 'j':
		script->json = true;
		break;
	case OPTION_RELATIVE:
	case OPTION_DELTA:
		if (script->time_since)
			return say_usage(&command_script, "--reltime and --deltatime exclude each other");
		script->time_since = option == OPTION_DELTA ? SCRIPT_TIME_LAST : SCRIPT_TIME_FIRST;
		break;
	case OPTION_TRACE:
		return parse_trace(script, optarg);
	case OPTION_DSOS:
		script->filter.dsos = optarg;
		break;
	case OPTION_CALLS:
	case OPTION_CALLS_RETURNS:
		script->trace = SCRIPT_TRACE_CALLS;
		break;
	case OPTION_INSTRUCTIONS:
		script->trace = SCRIPT_TRACE_INSTRUCTIONS;
		break;
	}
	return STATUS_OK;
}

/* What is printed of samples means nothing to traces: better no answer than another one. */
static int check_trace(const struct script *script)
{
	const struct filter *filter = &script->filter;
	const char *wrong = script->json ? "-j" : script->chose_fields ? "-F" : script->event ? "-e" :
			    script->records ? "--records" : filter->comms ? "-c" : filter->dsos ? "--dsos" :
			    filter->symbols && script->trace != SCRIPT_TRACE_TIMELINE ? "-S" :
			    filter->pids.list ? "--pid" : filter->tids.list ? "--tid" : filter->cpus.list ? "-C" :
			    filter->time ? "--time" : NULL;

	if (!script->trace || !wrong)
		return STATUS_OK;
	return say_usage(&command_script,
			 "%s is of samples: of a trace, --trace=WHAT chooses what is printed, as text",
			 wrong);
}

static int dump_all(const struct script *script)
{
	int ret = dump_records(script->samples, NULL);

	if (fflush(stdout) || ferror(stdout))
		return cannot_write(errno);
	return ret < 0 ? STATUS_FAILED : STATUS_OK;
}

/* The recording, as it was asked for */
static int print_all(struct script *script)
{
	int status;

	if (samples_open(&script->samples, &script->input) < 0)
		return STATUS_FAILED;
	if (script->header) {
		samples_tell_no_more(script->samples);
		about_header(script->samples);
	}
	if (script->header_only)
		status = STATUS_OK;
	else if (script->dump)
		status = dump_all(script);
	else if (script->trace)
		status = script_print_trace(script);
	else
		status = filter_start(&script->filter, script->samples) == 0 &&
			 script_tracepoints_open(script) ? run(script) : STATUS_FAILED;
	tracepoints_free(script->tracepoints);
	samples_close(script->samples);
	return status;
}

static int say_operand(const char *word)
{
	if (!strcmp(word, "flamegraph"))
		return say_usage(&command_script, "a flame graph is drawn by 'pmuctl report --svg FILE'");
	return say_usage(&command_script, "'%s' is no option: give the recording with -i", word);
}

static int script_run(int argc, char **argv)
{
	struct script script = {
		.input = { .path = recording_default(STDIN_FILENO), .root = "" },
		.chains = true,
	};
	int status = options_parse(&command_script, argc, argv, apply, &script);

	if (!status && optind < argc)
		status = say_operand(argv[optind]);
	if (!status)
		status = check_trace(&script);
	if (!status && script.header && script.json && !script.header_only)
		status = say_usage(&command_script, "--header is text: it excludes -j");
	if (!status && script.dump && (script.json || script.trace))
		status = say_usage(&command_script, "-D is text of records: it excludes -j and --trace");
	if (!script.chose_fields)
		script.fields = FIELDS_DEFAULT;
	if (!status)
		status = print_all(&script);
	filter_free(&script.filter);
	return status;
}

const struct command command_script = {
	.name = "script",
	.run = script_run,
	.summary = "print the samples of a recording one by one",
	.operands = "",
	.about =
"Prints the samples of a recording in the order of time, a line each; behind one that has a "
"call chain, a line for each caller, the innermost first, and an empty line.",
	.options = { script_options },
	.others = other_options,
	.notes = "Without -F: comm,tid,cpu,time,period,event,addr,ip,sym,symoff,dso,trace.",
};
