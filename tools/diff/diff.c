// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl diff": what has become of the shares of functions between two recordings.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "options.h"

#define SORT_DEFAULT "dso,symbol"

enum {
	OPTION_PID = OPTION_NO_LETTER,
	OPTION_TID,
	OPTION_CPU,
	OPTION_TIME,
	OPTION_PERCENTAGE,
	OPTION_KALLSYMS,
	OPTION_SYMFS,
};

static const char *const keys[] = {
	"comm", "pid", "tid", "cpu", "dso", "symbol", "srcline", NULL
};

static const char *const computes[] = { "delta-abs", "delta", "ratio", "wdiff:", NULL };

static const char *const percentages[] = { "relative", "absolute", NULL };

static const struct cli_option diff_options[] = {
	{ 's', "sort", .argument = "KEYS", .words = keys,
	  .help = "a row for each, with commas between (dso,symbol)" },
	{ 'c', "compute", .argument = "WHAT", .words = computes,
	  .help = "the change of the share, by its size (delta-abs) or with what has grown first, or "
		  "the ratio of the counts, or with wdiff:1,2 twice the new one's less the old one's" },
	{ 'o', "order", .argument = "N",
	  .help = "0: by the share of the old recording; 1: by the change, as always" },
	{ 'p', "period", .help = "the counts, too" },
	{ 'F', "formula", .help = "how each change is computed, too" },
	{ 'b', "baseline-only", .help = "only rows that the old recording has" },
	{ 'e', "event", .argument = "NAME", .help = "only this event" },
	{ 'C', "comms", "comm", "COMMS", .help = "only samples of these commands" },
	{ 'd', "dsos", "dso", "DSOS", .help = "only those in these programs and libraries" },
	{ 'S', "symbols", "symbol", "SYMBOLS", .help = "only those in these functions" },
	{ OPTION_PID, "pid", .argument = "PIDS", .help = "only those of these processes" },
	{ OPTION_TID, "tid", .argument = "TIDS", .help = "only those of these threads" },
	{ OPTION_CPU, "cpu", .argument = "CPUS", .help = "only those on these CPUs, 0,2-3" },
	{ OPTION_TIME, "time", .argument = "PART",
	  .help = "only those of this part of each recording, 10%-40% or 10%/2" },
	{ OPTION_PERCENTAGE, "percentage", .argument = "OF", .words = percentages,
	  .help = "percentages of what these options leave, or of all (absolute)" },
	{ 't', "field-separator", .argument = "TEXT", .help = "between columns, without blanks" },
	{ 'q', "quiet", .help = "no headings, no messages" },
	{ 'f', "force", .help = "whoever owns the recordings, as always" },
	{ 'v', "verbose", .help = "all that goes wrong is told, as always" },
	{ 'j', "json", .help = "one JSON object" },
	{ OPTION_KALLSYMS, "kallsyms", .argument = "FILE",
	  .help = "the kernel's symbols: a copy of its /proc/kallsyms" },
	{ OPTION_SYMFS, "symfs", .argument = "DIR",
	  .help = "where the recorded machine's files are, instead of /" },
	{ 0 },
};

/* wdiff:WEIGHT,WEIGHT: of the old recording, and of the new one */
static int parse_weights(struct diff *diff, const char *text)
{
	int length = -1;

	diff->compute = DIFF_WEIGHTED;
	if (sscanf(text, "%9d,%9d%n", &diff->weights[0], &diff->weights[1], &length) == 2 &&
	    length >= 0 && !text[length])
		return STATUS_OK;
	return say_usage(&command_diff, "'%s' are no weights: wdiff:1,2 has that of the old recording and that of the new one",
			 text);
}

static int parse_compute(struct diff *diff, const char *text)
{
	if (!strncmp(text, "wdiff:", 6))
		return parse_weights(diff, text + 6);
	for (unsigned int i = 0; computes[i]; i++) {
		if (!strcmp(text, computes[i])) {
			diff->compute = (enum diff_compute)i;
			return STATUS_OK;
		}
	}
	return say_usage(&command_diff, "'%s' is nothing to compute: there are delta-abs, delta, ratio and wdiff:1,2",
			 text);
}

static int parse_percentage(struct filter *filter, const char *text)
{
	filter->relative = !strcmp(text, "relative");
	if (!filter->relative && strcmp(text, "absolute"))
		return say_usage(&command_diff, "'%s' is no kind of percentage: there are relative and absolute",
				 text);
	return STATUS_OK;
}

static int parse_order(struct diff *diff, const char *text)
{
	diff->by_baseline = !strcmp(text, "0");
	if (!diff->by_baseline && strcmp(text, "1"))
		return say_usage(&command_diff, "'%s' is no order: 0 is by the share of the old recording, 1 by the change",
				 text);
	return STATUS_OK;
}

static int parse_separator(struct diff *diff, const char *text)
{
	diff->separator = strcmp(text, "\\t") ? text : "\t";
	if (!*text)
		return say_usage(&command_diff, "a separator has at least one character");
	if (*text == '.')
		return say_usage(&command_diff, "'.' separates nothing: numbers and names have it");
	return STATUS_OK;
}

static int apply_filter(struct filter *filter, int option)
{
	switch (option) {
	case 'C':
		filter->comms = optarg;
		break;
	case 'd':
		filter->dsos = optarg;
		break;
	case 'S':
		filter->symbols = optarg;
		break;
	case OPTION_TIME:
		filter->time = optarg;
		break;
	case OPTION_PID:
		return filter_numbers(&command_diff, &filter->pids, "processes", optarg);
	case OPTION_TID:
		return filter_numbers(&command_diff, &filter->tids, "threads", optarg);
	case OPTION_CPU:
		return filter_numbers(&command_diff, &filter->cpus, "CPUs", optarg);
	case OPTION_PERCENTAGE:
		return parse_percentage(filter, optarg);
	}
	return STATUS_OK;
}

static int apply(void *arg, int option)
{
	struct diff *diff = arg;

	switch (option) {
	case 's':
		diff->options.sort_text = optarg;
		break;
	case 'c':
		return parse_compute(diff, optarg);
	case 'o':
		return parse_order(diff, optarg);
	case 'p':
		diff->periods = true;
		break;
	case 'F':
		diff->formula = true;
		break;
	case 't':
		return parse_separator(diff, optarg);
	case 'b':
		diff->baseline_only = true;
		break;
	case 'e':
		diff->options.event = optarg;
		break;
	case 'q':
		diff->options.about = ABOUT_NOTHING;
		break;
	case 'j':
		diff->options.format = FORMAT_JSON;
		break;
	case OPTION_KALLSYMS:
		diff->options.input.kallsyms = optarg;
		break;
	case OPTION_SYMFS:
		diff->options.input.root = optarg;
		break;
	default:
		return apply_filter(&diff->options.filter, option);
	}
	return STATUS_OK;
}

/* Keys only: shares are what is compared. */
static int check_sort(struct diff *diff)
{
	struct report_options *options = &diff->options;
	int status = columns_check(&command_diff, options);

	if (status != STATUS_OK)
		return status;
	columns_set(options);
	if (options->is_key[KEY_PARENT] || options->is_key[KEY_TIME])
		return say_usage(&command_diff, "recordings are not compared by %s",
				 report_column_names[options->is_key[KEY_PARENT] ? KEY_PARENT : KEY_TIME]);
	if (options->columns.count < 2 || options->columns.list[1] >= KEY_COUNT ||
	    options->columns.list[options->columns.count - 1] >= KEY_COUNT)
		return say_usage(&command_diff, "'%s' has numbers: recordings are compared by keys",
				 options->sort_text);
	return STATUS_OK;
}

static struct report_event *find_event(struct report *report, const char *name)
{
	for (size_t i = 0; i < report->event_count; i++)
		if (report->events[i].name && !strcmp(report->events[i].name, name))
			return &report->events[i];
	return NULL;
}

/* The events of both, with their rows; returns how many, or -ENOMEM. */
static int make_rows(struct diff *diff, struct diff_rows *list)
{
	struct report *new = &diff->reports[1];
	int count = 0;

	for (size_t i = 0; i < new->event_count; i++) {
		struct diff_rows *rows = &list[count];
		const char *name = new->events[i].name;

		if (!name)
			continue;
		rows->name = name;
		rows->events[0] = find_event(&diff->reports[0], name);
		rows->events[1] = &new->events[i];
		if (!rows->events[0]) {
			say_error("%s is not in '%s'", name, diff->paths[0]);
			continue;
		}
		if (pairs_make(diff, rows) < 0) {
			say_error("%s", pmuctl_strerror(-ENOMEM));
			return -ENOMEM;
		}
		count++;
	}
	if (!count)
		say_error("'%s' and '%s' have no event in common", diff->paths[0],
			  diff->paths[1]);
	return count;
}

static int print(struct diff *diff)
{
	size_t most = diff->reports[1].event_count;
	struct diff_rows *list = calloc(most, sizeof(*list));
	int count = list ? make_rows(diff, list) : -ENOMEM, ret = 0;

	if (count > 0 && diff->options.format == FORMAT_JSON)
		ret = diff_print_json(diff, list, (size_t)count);
	for (int i = 0; i < count && diff->options.format == FORMAT_TEXT; i++) {
		if (i)
			putchar('\n');
		diff_print(diff, &list[i]);
	}
	for (size_t i = 0; list && i < most; i++)
		free(list[i].list);
	free(list);
	if (fflush(stdout) || ferror(stdout)) {
		say_error("cannot write the result: %s", strerror(errno));
		return STATUS_FAILED;
	}
	return count > 0 && ret == 0 ? STATUS_OK : STATUS_FAILED;
}

static int run(struct diff *diff)
{
	int status = STATUS_OK;

	for (int i = 0; i < 2 && status == STATUS_OK; i++) {
		diff->options.input.path = diff->paths[i];
		if (report_open(&diff->reports[i], &diff->options) < 0 ||
		    report_read(&diff->reports[i]) < 0)
			status = STATUS_FAILED;
	}
	if (status == STATUS_OK) {
		status = print(diff);
		if (diff->options.about != ABOUT_NOTHING)
			for (int i = 0; i < 2; i++)
				samples_warn(diff->reports[i].samples);
	}
	for (int i = 0; i < 2; i++)
		report_close(&diff->reports[i]);
	return status;
}

static int diff_run(int argc, char **argv)
{
	struct diff diff = {
		.options = { .input = { .root = "" }, .sort_text = SORT_DEFAULT,
			     .graph = { .order = GRAPH_NONE } },
		.paths = { "perf.data.old", "perf.data" },
	};
	int status = options_parse(&command_diff, argc, argv, apply, &diff);

	if (status == STATUS_OK)
		status = check_sort(&diff);
	if (status == STATUS_OK && argc - optind > 2)
		status = say_usage(&command_diff, "'%s' is one recording too many", argv[optind + 2]);
	if (status == STATUS_OK && argc - optind == 2)
		diff.paths[0] = argv[optind++];
	if (status == STATUS_OK && argc - optind == 1)
		diff.paths[1] = argv[optind];
	if (status == STATUS_OK)
		status = run(&diff);
	filter_free(&diff.options.filter);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.run = diff_run,
	.summary = "compare where the samples of two recordings are",
	.operands = "[OLD] [NEW]",
	.about = "Compares the shares of functions in two recordings: perf.data.old and perf.data, or "
		 "those that are named.",
	.options = { diff_options },
	.notes = "Baseline is the share in OLD; the change is that of the share, in percent of all.",
};
