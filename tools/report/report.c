// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl report": reads a recording and tells where its samples are.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static const char report_help[] =
"usage: pmuctl report [OPTIONS] [-i FILE]\n"
"\n"
"Tells where the samples of a recording are: of 'pmuctl record' or 'perf record'.\n"
"\n"
"  -i, --input FILE     the recording (perf.data)\n"
"  -s, --sort KEYS      a row for each: comm, pid, tid, cpu, dso, symbol, srcline;\n"
"                       with commas between (comm,dso,symbol)\n"
"  -e, --event NAME     only this event of the recording\n"
"  -g, --call-graph callee   below each row who called it (if there are call chains)\n"
"                   caller   at the end a tree of calls, from the outermost caller on\n"
"                   none     neither\n"
"      --children       rows for callers too, with all that they called\n"
"  -n, --show-nr-samples     the number of samples of each row\n"
"      --percent-limit P     only rows with P percent or more\n"
"  -j, --json           one JSON object\n"
"      --folded         a line for each stack, 'command;caller;function EVENTS'\n"
"      --svg FILE       a flame graph that a browser shows; '-' is standard output\n"
"      --title TEXT     its title\n"
"      --kallsyms FILE  the kernel's symbols: a copy of its /proc/kallsyms\n"
"      --symfs DIR      where the recorded machine's files are, instead of /\n"
"  -h, --help           this text\n"
"\n"
"Percentages are of the event's count, not of the number of samples.\n";

enum {
	OPTION_CHILDREN = 256,
	OPTION_LIMIT,
	OPTION_FOLDED,
	OPTION_SVG,
	OPTION_TITLE,
	OPTION_KALLSYMS,
	OPTION_SYMFS,
};

static const struct option long_options[] = {
	{ "input",		required_argument, NULL, 'i' },
	{ "sort",		required_argument, NULL, 's' },
	{ "event",		required_argument, NULL, 'e' },
	{ "call-graph",		required_argument, NULL, 'g' },
	{ "children",		no_argument, NULL, OPTION_CHILDREN },
	{ "show-nr-samples",	no_argument, NULL, 'n' },
	{ "percent-limit",	required_argument, NULL, OPTION_LIMIT },
	{ "json",		no_argument, NULL, 'j' },
	{ "folded",		no_argument, NULL, OPTION_FOLDED },
	{ "svg",		required_argument, NULL, OPTION_SVG },
	{ "title",		required_argument, NULL, OPTION_TITLE },
	{ "kallsyms",		required_argument, NULL, OPTION_KALLSYMS },
	{ "symfs",		required_argument, NULL, OPTION_SYMFS },
	{ "help",		no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* "sym" is perf's other name for symbol. */
static int key_number(const char *word, size_t length)
{
	if (length == 3 && !strncmp(word, "sym", 3))
		return KEY_SYMBOL;
	for (int i = 0; i < KEY_COUNT; i++)
		if (strlen(report_key_names[i]) == length &&
		    !strncmp(word, report_key_names[i], length))
			return i;
	return -1;
}

static int parse_keys(struct report_options *options, const char *text)
{
	options->key_count = 0;
	for (;;) {
		size_t length = strcspn(text, ",");
		int key = key_number(text, length);

		for (size_t i = 0; i < options->key_count; i++)
			if (key == (int)options->keys[i])
				return say_usage(&command_report, "'%s' is there twice",
						 report_key_names[key]);
		if (key < 0)
			return say_usage(&command_report, "'%.*s' is nothing to sort by: there are comm, pid, tid, cpu, dso, symbol and srcline",
					 (int)length, text);
		options->keys[options->key_count++] = (enum report_key)key;
		if (!text[length])
			return STATUS_OK;
		text += length + 1;
	}
}

static int parse_graph(struct report_options *options, const char *text)
{
	if (!strcmp(text, "callee"))
		options->graph = GRAPH_CALLEE;
	else if (!strcmp(text, "caller"))
		options->graph = GRAPH_CALLER;
	else if (!strcmp(text, "none"))
		options->graph = GRAPH_NONE;
	else
		return say_usage(&command_report, "'%s' is no kind of call graph: there are callee, caller and none",
				 text);
	return STATUS_OK;
}

static int parse_limit(struct report_options *options, const char *text)
{
	char *end;

	options->limit = strtod(text, &end);
	if (end == text || *end || !(options->limit >= 0 && options->limit <= 100))
		return say_usage(&command_report, "'%s' is no percentage", text);
	return STATUS_OK;
}

static int set_format(struct report_options *options, enum report_format format)
{
	if (options->format != FORMAT_TEXT && options->format != format)
		return say_usage(&command_report, "only one of --json, --folded and --svg");
	options->format = format;
	return STATUS_OK;
}

static int take_option(struct report_options *options, int option)
{
	switch (option) {
	case 'i':
		options->input.path = optarg;
		return STATUS_OK;
	case 's':
		return parse_keys(options, optarg);
	case 'e':
		options->event = optarg;
		return STATUS_OK;
	case 'g':
		return parse_graph(options, optarg);
	case OPTION_CHILDREN:
		options->children = true;
		return STATUS_OK;
	case 'n':
		options->counts = true;
		return STATUS_OK;
	case OPTION_LIMIT:
		return parse_limit(options, optarg);
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
	case OPTION_KALLSYMS:
		options->input.kallsyms = optarg;
		return STATUS_OK;
	case OPTION_SYMFS:
		options->input.root = optarg;
		return STATUS_OK;
	}
	return STATUS_USAGE;
}

/* Names are given to the events that are reported. */
static int select_events(struct report *report)
{
	const struct perffile *file = report->samples->file;
	const char *wanted = report->options->event;
	bool found = false;

	report->event_count = file->event_count;
	report->events = calloc(report->event_count, sizeof(*report->events));
	if (!report->events)
		return -ENOMEM;
	for (size_t i = 0; i < report->event_count; i++) {
		struct report_event *event = &report->events[i];
		const char *name = samples_event_name(report->samples, &file->events[i]);

		event->event = &file->events[i];
		if (wanted && strcmp(wanted, name))
			continue;
		event->name = name;
		found = true;
	}
	if (found)
		return 0;
	say_error("'%s' has no event '%s'; it has:", report->samples->path, wanted);
	for (size_t i = 0; i < report->event_count; i++)
		fprintf(stderr, "  %s\n",
			samples_event_name(report->samples, &file->events[i]));
	return -ENOENT;
}

static int take_sample(struct report *report, const struct perffile_record *record)
{
	const struct report_options *options = report->options;
	struct report_event *event;
	const struct thread *thread;
	bool calls = options->format == FORMAT_FOLDED || options->format == FORMAT_SVG ||
		     options->graph == GRAPH_CALLER;
	bool chain = calls || options->children || options->graph != GRAPH_NONE;

	if (!record->event)
		return 0;
	event = &report->events[record->event - report->samples->file->events];
	if (!event->name)
		return 0;
	thread = samples_resolve(report->samples, record, chain);
	if (!thread || (calls && flame_add(report, event, thread, record->sample.period) < 0))
		return -ENOMEM;
	if (options->format == FORMAT_FOLDED || options->format == FORMAT_SVG) {
		event->samples++;
		event->period += record->sample.period;
		return 0;
	}
	return hist_add(report, event, record, thread);
}

/* Of formats that have one event, the one that was asked for or has samples. */
static const struct report_event *single_event(const struct report *report)
{
	const struct report_event *chosen = NULL;
	unsigned int others = 0;

	for (size_t i = 0; i < report->event_count; i++) {
		const struct report_event *event = &report->events[i];

		if (!event->name || !event->samples)
			continue;
		others += !!chosen;
		chosen = chosen ? chosen : event;
	}
	if (!chosen)
		say_error("'%s' has no samples", report->samples->path);
	else if (others)
		say_error("this is of %s; there are %u more events: choose one with -e",
			  chosen->name, others);
	return chosen;
}

static int print(struct report *report)
{
	const struct report_options *options = report->options;
	const struct report_event *event;

	for (size_t i = 0; i < report->event_count; i++) {
		hist_sort(&report->events[i], options->children);
		if (report->events[i].root && options->graph == GRAPH_CALLER)
			tree_sort(report->events[i].root, false);
	}
	switch (options->format) {
	case FORMAT_TEXT:
		report_print(report);
		return STATUS_OK;
	case FORMAT_JSON:
		return report_print_json(report) < 0 ? STATUS_FAILED : STATUS_OK;
	case FORMAT_FOLDED:
	case FORMAT_SVG:
		break;
	}
	event = single_event(report);
	if (!event)
		return STATUS_FAILED;
	if (options->format == FORMAT_SVG)
		return flame_write_svg(report, event, options->svg) < 0 ?
		       STATUS_FAILED : STATUS_OK;
	flame_print_folded(event);
	return STATUS_OK;
}

static int run(struct report *report)
{
	struct perffile_record record;
	int status = STATUS_FAILED, ret = select_events(report);

	while (ret == 0) {
		ret = samples_next(report->samples, &record);
		if (ret < 0)
			return STATUS_FAILED;
		if (ret == 0)
			break;
		ret = record.type == PERF_RECORD_SAMPLE ? take_sample(report, &record) : 0;
	}
	if (ret == -ENOMEM)
		say_error("%s", pmuctl_strerror(ret));
	if (ret == 0) {
		status = print(report);
		samples_warn(report->samples);
	}
	if (fflush(stdout) || ferror(stdout)) {
		say_error("cannot write the report: %s", strerror(errno));
		status = STATUS_FAILED;
	}
	return status;
}

static void set_defaults(struct report_options *options)
{
	static const enum report_key keys[] = { KEY_COMM, KEY_DSO, KEY_SYMBOL };

	*options = (struct report_options){
		.input = { .path = "perf.data", .root = "" },
		.key_count = ARRAY_LEN(keys),
	};
	memcpy(options->keys, keys, sizeof(keys));
}

static int report_run(int argc, char **argv)
{
	struct report_options options;
	struct report report = { .options = &options };
	int option, status;

	set_defaults(&options);
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":i:s:e:g:njh", long_options,
				     NULL)) != -1) {
		if (option == 'h') {
			fputs(report_help, stdout);
			return STATUS_OK;
		}
		if (option == ':' || option == '?')
			return say_bad_option(&command_report, argc, argv);
		status = take_option(&options, option);
		if (status != STATUS_OK)
			return status;
	}
	if (optind < argc)
		return say_usage(&command_report, "'%s' is no option: give the recording with -i",
				 argv[optind]);
	if (samples_open(&report.samples, &options.input) < 0)
		return STATUS_FAILED;
	status = run(&report);
	for (size_t i = 0; i < report.event_count; i++)
		hist_free(&report.events[i]);
	free(report.events);
	samples_close(report.samples);
	return status;
}

const struct command command_report = {
	.name = "report",
	.run = report_run,
	.summary = "tell where the samples of a recording are",
	.help = report_help,
};
