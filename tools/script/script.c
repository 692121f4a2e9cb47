// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl script": prints the samples of a recording one by one, in the order of time, or
 * what was traced.
 */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "script.h"

static const char script_help[] =
"usage: pmuctl script [OPTIONS] [-i FILE]\n"
"\n"
"Prints the samples of a recording in the order of time, a line each; behind one that\n"
"has a call chain, a line for each caller, the innermost first, and an empty line.\n"
"\n"
"  -i, --input FILE     the recording (perf.data)\n"
"  -F, --fields FIELDS  with commas between: comm, pid, tid, cpu, time, period, event,\n"
"                       addr, ip, sym, symoff, dso, srcline, weight, phys_addr,\n"
"                       id, trace, brstack\n"
"  -e, --event NAME     only samples of this event\n"
"  -G, --hide-call-graph     no callers\n"
"      --records        all records: of forks, names, mappings, losses too\n"
"  -j, --json           an object a line for each\n"
"      --trace[=WHAT]   what was traced: calls (if it is not given), branches,\n"
"                       instructions, or functions with how many instructions\n"
"      --kallsyms FILE  the kernel's symbols: a copy of its /proc/kallsyms\n"
"      --symfs DIR      where the recorded machine's files are, instead of /\n"
"      --no-inline      no functions that the compiler has put into others\n"
"      --debuginfod[=URL]    ask this server for missing debug files, or those of\n"
"                       DEBUGINFOD_URLS\n"
"  -h, --help           this text\n"
"\n"
"Without -F: comm,tid,cpu,time,period,event,addr,ip,sym,symoff,dso,trace.\n";

enum {
	OPTION_RECORDS = 256,
	OPTION_TRACE,
	OPTION_KALLSYMS,
	OPTION_SYMFS,
	OPTION_INLINE,
	OPTION_NO_INLINE,
	OPTION_DEBUGINFOD,
};

static const struct option long_options[] = {
	{ "input",		required_argument, NULL, 'i' },
	{ "fields",		required_argument, NULL, 'F' },
	{ "event",		required_argument, NULL, 'e' },
	{ "hide-call-graph",	no_argument, NULL, 'G' },
	{ "records",		no_argument, NULL, OPTION_RECORDS },
	{ "json",		no_argument, NULL, 'j' },
	{ "trace",		optional_argument, NULL, OPTION_TRACE },
	{ "kallsyms",		required_argument, NULL, OPTION_KALLSYMS },
	{ "symfs",		required_argument, NULL, OPTION_SYMFS },
	{ "inline",		no_argument, NULL, OPTION_INLINE },
	{ "no-inline",		no_argument, NULL, OPTION_NO_INLINE },
	{ "debuginfod",		optional_argument, NULL, OPTION_DEBUGINFOD },
	{ "help",		no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const char *const field_names[] = {
	"comm", "pid", "tid", "cpu", "time", "period", "event", "addr", "ip", "sym",
	"symoff", "dso", "srcline", "weight", "phys_addr", "id",
	"trace", "brstack",
};

static int parse_fields(struct script *script, const char *text)
{
	script->fields = 0;
	for (;;) {
		size_t length = strcspn(text, ","), i;

		for (i = 0; i < ARRAY_LEN(field_names); i++)
			if (strlen(field_names[i]) == length &&
			    !strncmp(text, field_names[i], length))
				break;
		if (i == ARRAY_LEN(field_names))
			return say_usage(&command_script, "'%.*s' is no field: see 'pmuctl script --help'",
					 (int)length, text);
		script->fields |= 1U << i;
		if (!text[length])
			break;
		text += length + 1;
	}
	/* An offset is behind its symbol. */
	if (script->fields & FIELD_SYMOFF)
		script->fields |= FIELD_SYM;
	return STATUS_OK;
}

static int parse_trace(struct script *script, const char *text)
{
	static const char *const names[] = {
		[SCRIPT_TRACE_CALLS] = "calls",
		[SCRIPT_TRACE_BRANCHES] = "branches",
		[SCRIPT_TRACE_INSTRUCTIONS] = "instructions",
		[SCRIPT_TRACE_FUNCTIONS] = "functions",
	};

	script->trace = SCRIPT_TRACE_CALLS;
	if (!text)
		return STATUS_OK;
	for (size_t i = SCRIPT_TRACE_CALLS; i < ARRAY_LEN(names); i++)
		if (!strcmp(text, names[i])) {
			script->trace = (enum script_trace)i;
			return STATUS_OK;
		}
	return say_usage(&command_script,
			 "--trace=%s is not there: of a trace it prints calls, branches, instructions or functions",
			 text);
}

static bool is_wanted(const struct script *script, const struct perffile_record *record)
{
	if (record->type != PERF_RECORD_SAMPLE)
		return script->records;
	return record->event &&
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

static int print(const struct script *script, struct perffile_record *record)
{
	const struct thread *thread;

	if (record->type == PERF_RECORD_SAMPLE)
		thread = samples_resolve(script->samples, record, script->chains);
	else
		thread = thread_of(script->samples, record);
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

static int run(const struct script *script)
{
	struct perffile_record record;
	int ret;

	if (!has_event(script))
		return STATUS_FAILED;
	while ((ret = samples_next(script->samples, &record)) > 0) {
		if (!is_wanted(script, &record))
			continue;
		if (print(script, &record) < 0 || ferror(stdout)) {
			say_error("cannot write: %s", strerror(errno ? errno : ENOMEM));
			return STATUS_FAILED;
		}
	}
	if (fflush(stdout)) {
		say_error("cannot write: %s", strerror(errno));
		return STATUS_FAILED;
	}
	samples_warn(script->samples);
	return ret < 0 ? STATUS_FAILED : STATUS_OK;
}

static int take_option(struct script *script, int option)
{
	switch (option) {
	case 'i':
		script->input.path = optarg;
		break;
	case 'F':
		return parse_fields(script, optarg);
	case 'e':
		script->event = optarg;
		break;
	case 'G':
		script->chains = false;
		break;
	case OPTION_RECORDS:
		script->records = true;
		break;
	case 'j':
		script->json = true;
		break;
	case OPTION_TRACE:
		return parse_trace(script, optarg);
	case OPTION_KALLSYMS:
		script->input.kallsyms = optarg;
		break;
	case OPTION_SYMFS:
		script->input.root = optarg;
		break;
	case OPTION_DEBUGINFOD:
		script->input.debuginfod = optarg ? optarg : "";
		break;
	case OPTION_INLINE:
	case OPTION_NO_INLINE:
		script->input.no_inline = option == OPTION_NO_INLINE;
		break;
	}
	return STATUS_OK;
}

/* What is printed of samples means nothing to traces: better no answer than another one. */
static int check_trace(const struct script *script)
{
	const char *wrong = script->json ? "-j" : script->fields ? "-F" : script->event ? "-e" :
			    script->records ? "--records" : NULL;

	if (!script->trace || !wrong)
		return STATUS_OK;
	return say_usage(&command_script,
			 "%s is of samples: of a trace, --trace=WHAT chooses what is printed, as text",
			 wrong);
}

static int script_run(int argc, char **argv)
{
	struct script script = {
		.input = { .path = "perf.data", .root = "" },
		.chains = true,
	};
	int option, status;

	opterr = 0;
	optind = 0; /* forgets where another command line ended */
	while ((option = getopt_long(argc, argv, ":i:F:e:Gjh", long_options, NULL)) != -1) {
		if (option == 'h') {
			fputs(script_help, stdout);
			return STATUS_OK;
		}
		if (option == ':' || option == '?')
			return say_bad_option(&command_script, argc, argv);
		status = take_option(&script, option);
		if (status != STATUS_OK)
			return status;
	}
	if (optind < argc)
		return say_usage(&command_script, "'%s' is no option: give the recording with -i",
				 argv[optind]);
	status = check_trace(&script);
	if (status != STATUS_OK)
		return status;
	script.chose_fields = script.fields;
	if (!script.fields)
		script.fields = FIELDS_DEFAULT;
	if (samples_open(&script.samples, &script.input) < 0)
		return STATUS_FAILED;
	if (script.trace)
		status = script_print_trace(&script);
	else
		status = script_tracepoints_open(&script) ? run(&script) : STATUS_FAILED;
	tracepoints_free(script.tracepoints);
	samples_close(script.samples);
	return status;
}

const struct command command_script = {
	.name = "script",
	.run = script_run,
	.summary = "print the samples of a recording one by one",
	.help = script_help,
};
