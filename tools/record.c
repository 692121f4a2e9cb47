// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl record": the command line. What it asks for is done in record_run.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

static const char record_help[] =
"usage: pmuctl record [OPTIONS] COMMAND [ARGUMENTS]\n"
"       pmuctl record [OPTIONS] -p PIDS | -t TIDS | -C CPUS | -a [COMMAND [ARGUMENTS]]\n"
"\n"
"Samples where COMMAND spends its time, or other events, into the file perf.data, which\n"
"'pmuctl report', 'pmuctl script' and perf read. Of COMMAND the first thread is sampled,\n"
"not its children: use -a for these. With -p, -t, -C or -a, samples those instead, until\n"
"COMMAND ends, they end, or Ctrl-C.\n"
"\n"
"  -e, --event LIST          what to sample, several -e add up; see pmuctl-list(1);\n"
"                            cycles, or cpu-clock without a PMU, if it is not given\n"
"  -F, --freq N              N samples in a second, 4000 if it is not given\n"
"  -c, --count N             a sample at each Nth event\n"
"  -g                        who called, too: call chains by frame pointers\n"
"      --call-graph fp       the same\n"
"  -p, --pid LIST            the threads that these processes have now\n"
"  -t, --tid LIST            these threads\n"
"  -C, --cpu LIST            these CPUs, all that runs there: 0,2-3\n"
"  -a, --all-cpus            all CPUs\n"
"  -D, --delay MS            begin MS milliseconds later\n"
"  -m, --mmap-pages N        pages of memory for each ring, a power of two; 128 if it is\n"
"                            not given\n"
"  -o, --output FILE         write to FILE instead of perf.data; what it was before is\n"
"                            kept in FILE.old\n"
"  -B, --no-buildid          leave out the build ids of programs\n"
"  -q, --quiet               say nothing but what went wrong\n"
"  -h, --help                this text\n"
"\n"
"The exit status is COMMAND's own, 128 plus the signal that ended it, 127 if it is\n"
"not found, 126 if it cannot be executed; 1 if events are refused, 2 for wrong\n"
"options.\n";

enum {
	OPTION_CALL_GRAPH = 256,
};

#define FREQUENCY_DEFAULT	4000u
#define PAGES_DEFAULT		128u
/* A day; more is a slip of the finger. */
#define DELAY_MAX		86400000u
#define PAGES_MAX		(1u << 30)

static const struct option long_options[] = {
	{ "event",		required_argument, NULL, 'e' },
	{ "freq",		required_argument, NULL, 'F' },
	{ "count",		required_argument, NULL, 'c' },
	{ "call-graph",		required_argument, NULL, OPTION_CALL_GRAPH },
	{ "pid",		required_argument, NULL, 'p' },
	{ "tid",		required_argument, NULL, 't' },
	{ "cpu",		required_argument, NULL, 'C' },
	{ "all-cpus",		no_argument, NULL, 'a' },
	{ "delay",		required_argument, NULL, 'D' },
	{ "mmap-pages",		required_argument, NULL, 'm' },
	{ "output",		required_argument, NULL, 'o' },
	{ "no-buildid",		no_argument, NULL, 'B' },
	{ "quiet",		no_argument, NULL, 'q' },
	{ "help",		no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* What the command line said, before it is understood. */
struct record_words {
	char *events;		/* all -e, with commas between */
	bool has_target;
};

static int target_option(struct record_options *options, struct record_words *words,
			 enum target_kind kind, const char *text)
{
	size_t position;

	if (words->has_target)
		return say_usage(&command_record,
				 "only one of -p, -t, -C and -a can be given");
	words->has_target = true;
	options->kind = kind;
	if (kind == TARGET_ALL_CPUS ||
	    int_list_parse(text, kind == TARGET_CPU, &options->ids,
			   &position) == 0)
		return 0;
	return say_usage(&command_record,
			 "'%s' is not a list of numbers: wrong at character %zu",
			 text, position + 1);
}

/* The argument of -@option, a number from 1 to @max */
static int number_option(char option, const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *number && *number <= max)
		return 0;
	return say_usage(&command_record,
			 "'%s' is not a number for -%c: it is from 1 to %llu",
			 text, option, (unsigned long long)max);
}

static int pages_option(struct record_options *options, const char *text)
{
	uint64_t pages, below = 1;
	int ret = number_option('m', text, PAGES_MAX, &pages);

	if (ret)
		return ret;
	while (below * 2 <= pages)
		below *= 2;
	if (below != pages)
		return say_usage(&command_record,
				 "-m %s is not a power of two: use %llu or %llu",
				 text, (unsigned long long)below,
				 (unsigned long long)below * 2);
	options->pages = (unsigned int)pages;
	return 0;
}

static int call_graph_option(struct record_options *options, const char *text)
{
	options->callchains = true;
	if (!strcmp(text, "fp"))
		return 0;
	return say_usage(&command_record,
			 "--call-graph %s is not there: call chains are followed by frame pointers, 'fp'",
			 text);
}

/* One of the options that take a number; as option_apply(). */
static int number_option_apply(struct record_options *options, int option)
{
	uint64_t number;
	int ret;

	switch (option) {
	case 'F':
		return number_option('F', optarg, UINT32_MAX, &options->frequency);
	case 'c':
		return number_option('c', optarg, INT64_MAX, &options->period);
	case 'D':
		ret = number_option('D', optarg, DELAY_MAX, &number);
		options->delay = (unsigned int)number;
		return ret;
	default:
		return pages_option(options, optarg);
	}
}

/* One option; returns 0, or an exit status, or -1 to end well. */
static int option_apply(struct record_options *options, struct record_words *words,
			int option, int argc, char **argv)
{
	switch (option) {
	case 'e':
		return events_text_add(&words->events, optarg) < 0 ? STATUS_FAILED : 0;
	case 'F':
	case 'c':
	case 'D':
	case 'm':
		return number_option_apply(options, option);
	case 'g':
		options->callchains = true;
		return 0;
	case OPTION_CALL_GRAPH:
		return call_graph_option(options, optarg);
	case 'p':
		return target_option(options, words, TARGET_PROCESS, optarg);
	case 't':
		return target_option(options, words, TARGET_THREAD, optarg);
	case 'C':
		return target_option(options, words, TARGET_CPU, optarg);
	case 'a':
		return target_option(options, words, TARGET_ALL_CPUS, "");
	case 'o':
		options->output = optarg;
		return 0;
	case 'B':
		options->no_build_ids = true;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case 'h':
		fputs(record_help, stdout);
		return -1;
	case ':':
		return say_usage(&command_record, "the option '%s' needs an argument",
				 argv[optind - 1]);
	default:
		return say_bad_option(&command_record, argc, argv);
	}
}

static int options_check(struct record_options *options, struct record_words *words)
{
	if (!words->has_target && !options->argv)
		return say_usage(&command_record,
				 "nothing to record: give a command, or -p, -t, -C or -a");
	if (options->frequency && options->period)
		return say_usage(&command_record, "-F and -c exclude each other");
	if (!options->frequency && !options->period)
		options->frequency = FREQUENCY_DEFAULT;
	if (!*options->output)
		return say_usage(&command_record, "the name of the file is empty");
	options->default_events = !words->events;
	return words->events ?
		events_text_parse(words->events, &options->events) : 0;
}

/* What every machine can do */
static int default_event_choose(struct pmuctl_device *dev,
				struct record_options *options)
{
	struct pmuctl_info info;
	const char *text = "cycles";

	if (pmuctl_device_info(dev, &info, sizeof(info)) == 0 &&
	    info.pmu_kind == PMUCTL_PMU_NONE)
		text = "cpu-clock";
	return events_text_parse(text, &options->events);
}

/* Returns 0, an exit status, or -1 to end well. */
static int options_parse(struct record_options *options, int argc, char **argv)
{
	struct record_words words = { NULL, false };
	int option, ret = 0;

	opterr = 0;
	optind = 1;
	while (ret == 0 && (option = getopt_long(argc, argv, "+:e:F:c:gp:t:C:aD:m:o:Bqh",
						 long_options, NULL)) != -1)
		ret = option_apply(options, &words, option, argc, argv);
	if (ret == 0) {
		options->argv = optind < argc ? argv + optind : NULL;
		ret = options_check(options, &words);
	}
	free(words.events);
	return ret;
}

static int record_main(int argc, char **argv)
{
	struct record_options options = {
		.kind = TARGET_COMMAND,
		.pages = PAGES_DEFAULT,
		.output = "perf.data",
		.line = argv,
	};
	struct pmuctl_device *dev = NULL;
	struct pmuctl_explanation why;
	int status = options_parse(&options, argc, argv);

	if (status)
		goto out;
	if (pmuctl_device_open(NULL, &why, &dev) < 0) {
		say_error("%s", why.sentence);
		status = STATUS_FAILED;
		goto out;
	}
	if (options.default_events)
		status = default_event_choose(dev, &options);
	if (!status)
		status = record_run(dev, &options);
out:
	pmuctl_device_close(dev);
	pmuctl_events_free(options.events);
	int_list_free(&options.ids);
	return status < 0 ? STATUS_OK : status;
}

const struct command command_record = {
	.name = "record",
	.run = record_main,
	.summary = "sample a command, a process, a thread or CPUs into a file",
	.help = record_help,
};
