// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl annotate": which instructions of functions samples are at.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "annotate.h"
#include "options.h"
#include "report/reading.h"

/* Functions with less are not printed unless they are asked for. */
#define LIMIT_DEFAULT 1.0

enum {
	OPTION_LIMIT = OPTION_NO_LETTER,
	OPTION_NO_SOURCE,
	OPTION_STDIO,
	OPTION_TRACE,
};

static const char *const syntaxes[] = { "att", "intel", NULL };

static const struct cli_option annotate_options[] = {
	{ 'i', "input", .argument = "FILE", .help = "the recording (perf.data)" },
	{ 's', "symbol", .argument = "SYMBOL", .help = "only this function, as without -s" },
	{ 'd', "dsos", "dso", "DSOS",
	  .help = "only functions in these programs and libraries, with commas between" },
	{ 'e', "event", .argument = "NAME", .help = "only this event of the recording" },
	{ 'C', "cpu", .argument = "CPUS", .help = "only samples on these CPUs, 0,2-3" },
	{ READING_TIME, "time", .argument = "START,STOP",
	  .help = "only those between, in seconds; 10%-40% and 10%/2 are parts of the whole" },
	{ OPTION_TRACE, "trace",
	  .help = "count the instructions of the trace, also if there are samples" },
	{ OPTION_LIMIT, "percent-limit", .argument = "P",
	  .help = "only functions with P percent or more (1), unless one is named" },
	{ 'M', "disassembler-style", .argument = "SYNTAX", .words = syntaxes,
	  .help = "how instructions are written" },
	{ 'n', "show-nr-samples", .help = "the number of samples of each instruction" },
	{ OPTION_NO_SOURCE, "no-source", .help = "no lines of source" },
	{ 'l', "print-line", .help = "first the lines of source by their shares, and the line at each instruction" },
	{ 'P', "full-paths", .help = "paths of programs and of what -l prints, not only names" },
	{ 'q', "quiet", .help = "no messages about what is missing" },
	{ OPTION_STDIO, "stdio", .help = "text, as always" },
	{ 'f', "force", .help = "whoever owns the recording, as always" },
	{ 'v', "verbose", .help = "all that goes wrong is told, as always" },
	{ 'j', "json", .help = "one JSON object" },
	{ 'k', "vmlinux", .argument = "FILE",
	  .help = "the kernel that was recorded, as a program with symbols" },
	{ READING_KALLSYMS, "kallsyms", .argument = "FILE",
	  .help = "the kernel's symbols: a copy of its /proc/kallsyms" },
	{ READING_SYMFS, "symfs", .argument = "DIR",
	  .help = "where the recorded machine's files are, instead of /" },
	{ 0 },
};

static int parse_syntax(struct annotate *annotate, const char *text)
{
	annotate->intel = !strcmp(text, "intel");
	if (!annotate->intel && strcmp(text, "att"))
		return say_usage(&command_annotate, "'%s' is no syntax of instructions: there are att and intel",
				 text);
	return STATUS_OK;
}

static int apply(void *arg, int option)
{
	struct annotate *annotate = arg;

	switch (option) {
	case 's':
		annotate->symbol = optarg;
		break;
	case 'e':
		annotate->event = optarg;
		break;
	case OPTION_TRACE:
		annotate->trace = true;
		break;
	case OPTION_LIMIT:
		return options_percent(&command_annotate, optarg, &annotate->limit);
	case 'M':
		return parse_syntax(annotate, optarg);
	case 'n':
		annotate->counts = true;
		break;
	case OPTION_NO_SOURCE:
		annotate->no_source = true;
		break;
	case 'l':
		annotate->lines = true;
		break;
	case 'P':
		annotate->full_paths = true;
		break;
	case 'q':
		annotate->quiet = true;
		break;
	case 'j':
		annotate->json = true;
		break;
	case OPTION_STDIO:
	case 'f':
	case 'v':
		break;
	default:
		return reading_input(&command_annotate, &annotate->input, option) == STATUS_HELP ?
			reading_filter(&command_annotate, &annotate->filter, option) : STATUS_OK;
	}
	return STATUS_OK;
}

static int add_sample(struct annotate *annotate, const struct perffile_record *record)
{
	struct samples *samples = annotate->samples;
	const struct thread *thread = samples_resolve(samples, record, false);
	int ret = thread ? 0 : -ENOMEM;

	annotate->totals[record->event - samples->file->events] += record->sample.period;
	if (ret == 0 && filter_has(&annotate->filter, samples, record, thread))
		ret = sites_add(annotate, record);
	/* Branches before it may be in other functions. */
	if (ret == 0 && annotate_has_branches(record->event))
		ret = annotate_add_branches(annotate, record, thread);
	if (ret < 0)
		say_error("%s", pmuctl_strerror(ret));
	return ret;
}

static int read_samples(struct annotate *annotate)
{
	struct samples *samples = annotate->samples;
	struct perffile_record record;
	int ret;

	while ((ret = samples_next(samples, &record)) > 0) {
		if (record.type != PERF_RECORD_SAMPLE || !record.event ||
		    filter_skips(&annotate->filter, &record) ||
		    (annotate->event &&
		     strcmp(annotate->event, samples_event_name(samples, record.event))))
			continue;
		ret = add_sample(annotate, &record);
		if (ret < 0)
			return ret;
	}
	return ret;
}

/* Of each event those with enough; if none has, the hottest one. */
static size_t select_functions(const struct annotate *annotate,
			       struct annotate_function **list)
{
	size_t kept = 0;

	for (size_t i = 0; i < annotate->count; i++) {
		bool is_first = !i || list[i]->event != list[i - 1]->event;
		double percent = annotate_percent(list[i]->period,
						  annotate_total(annotate, list[i]));

		if (annotate->symbol || is_first || percent >= annotate->limit)
			list[kept++] = list[i];
	}
	return kept;
}

static int print(struct annotate *annotate)
{
	struct annotate_function **list;
	int found;

	if (!annotate->count && annotate->trace)
		say_error("'%s' has no traced instruction in %s: 'pmuctl script --trace=functions' shows where they are",
			  annotate->samples->path,
			  annotate->symbol ? annotate->symbol : "functions with a name");
	else if (!annotate->count && annotate->symbol)
		say_error("'%s' has no samples in '%s': 'pmuctl report' shows where they are",
			  annotate->samples->path, annotate->symbol);
	else if (!annotate->count)
		say_error("'%s' has no samples in functions with a name", annotate->samples->path);
	if (!annotate->count || sites_finish(annotate, &list) < 0)
		return STATUS_FAILED;
	found = annotate_print(annotate, list, select_functions(annotate, list));
	free(list);
	if (fflush(stdout) || ferror(stdout)) {
		say_error("cannot write the result: %s", strerror(errno));
		return STATUS_FAILED;
	}
	return found > 0 ? STATUS_OK : STATUS_FAILED;
}

static bool has_event(const struct annotate *annotate)
{
	struct samples *samples = annotate->samples;

	for (size_t i = 0; annotate->event && i < samples->file->event_count; i++)
		if (!strcmp(annotate->event,
			    samples_event_name(samples, &samples->file->events[i])))
			return true;
	if (annotate->event)
		say_error("'%s' has no event '%s': 'pmuctl report --header-only' shows which it has",
			  samples->path, annotate->event);
	return !annotate->event;
}

/* What chooses samples means nothing to a trace: better no answer than another one. */
static int choose_trace(struct annotate *annotate)
{
	const struct filter *filter = &annotate->filter;

	annotate->trace = annotate->trace || counts_are_all(annotate->samples);
	if (annotate->trace && (filter->cpus.count || filter->time))
		return say_usage(&command_annotate, "%s is of samples: of a trace all is counted",
				 filter->time ? "--time" : "-C");
	annotate->counts = annotate->counts && !annotate->trace;
	return STATUS_OK;
}

static int read_all(struct annotate *annotate)
{
	if (!has_event(annotate))
		return -ENODATA;
	if (annotate->trace)
		return counts_read(annotate);
	return filter_start(&annotate->filter, annotate->samples) < 0 ? -ENODATA : read_samples(annotate);
}

static int run(struct annotate *annotate)
{
	struct samples *samples = annotate->samples;
	int status = STATUS_FAILED, ret = -ENOMEM;

	annotate->totals = calloc(samples->file->event_count, sizeof(*annotate->totals));
	if (annotate->totals)
		ret = read_all(annotate);
	if (ret == 0 || ret == -EBADMSG) {
		status = print(annotate);
		if (!annotate->quiet)
			samples_warn(samples);
	}
	if (ret == -EBADMSG)
		status = STATUS_FAILED;
	free(annotate->totals);
	sites_free(annotate);
	return status;
}

static int annotate_run(int argc, char **argv)
{
	struct annotate annotate = {
		.input = { .path = recording_default(STDIN_FILENO), .root = "" }, .limit = LIMIT_DEFAULT,
	};
	int status = options_parse(&command_annotate, argc, argv, apply, &annotate);

	if (status == STATUS_OK && optind < argc)
		annotate.symbol = argv[optind++];
	if (status == STATUS_OK && optind < argc)
		status = say_usage(&command_annotate, "'%s' is one function too many", argv[optind]);
	if (status == STATUS_OK && samples_open(&annotate.samples, &annotate.input) < 0)
		status = STATUS_FAILED;
	if (annotate.samples && status == STATUS_OK)
		status = choose_trace(&annotate);
	if (annotate.samples && status == STATUS_OK)
		status = run(&annotate);
	samples_close(annotate.samples);
	filter_free(&annotate.filter);
	return status;
}

const struct command command_annotate = {
	.name = "annotate",
	.run = annotate_run,
	.summary = "tell at which instructions samples are",
	.operands = "[SYMBOL]",
	.about = "Shows the code of functions, with the share of its samples at each instruction: of "
		 "the hottest functions of a recording, or of SYMBOL. Of a recording that has a trace and no "
		 "samples it counts the instructions of the trace.",
	.options = { annotate_options },
	.notes = "Shares are of the function's count, which the heading says with its share of all. Of samples "
		 "with branches (record -b), Coverage is how often an instruction was executed by these; of a "
		 "trace, Executed is how often it was, and its share is of all instructions.",
};
