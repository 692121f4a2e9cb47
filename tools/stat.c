// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl stat": the command line. What it asks for is done in stat_measure.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

static const char stat_help[] =
"usage: pmuctl stat [OPTIONS] COMMAND [ARGUMENTS]\n"
"       pmuctl stat [OPTIONS] -p PIDS | -t TIDS | -C CPUS | -a [COMMAND [ARGUMENTS]]\n"
"\n"
"Counts events while COMMAND runs. With -p, -t, -C or -a, counts those instead, until\n"
"COMMAND ends, they end, or Ctrl-C.\n"
"\n"
"  -e, --event LIST            what to count, several -e add up; {A,B} is a group,\n"
"                              counted all at once; see pmuctl-list(1)\n"
"  -p, --pid LIST              the threads that these processes have now\n"
"  -t, --tid LIST              these threads\n"
"  -C, --cpu LIST              these CPUs, all that runs there: 0,2-3\n"
"  -a, --all-cpus              all CPUs, those that come later too\n"
"  -A, --per-cpu, --no-aggr    with -a or -C: a line for each CPU\n"
"  -I, --interval-print MS     what was counted in each MS milliseconds\n"
"  -r, --repeat N              run COMMAND N times: mean and deviation\n"
"  -x, --field-separator TEXT  CSV output with TEXT between the columns\n"
"  -j, --json                  JSON output, one object a line\n"
"  -o, --output FILE           write the counts to FILE instead of stderr\n"
"      --append                to its end\n"
"  -h, --help                  this text\n"
"\n"
"Without -e: cycles, instructions, branches, branch-misses, those the CPU has; without\n"
"a PMU task-clock, context-switches, cpu-migrations, page-faults.\n"
"The exit status is COMMAND's own, 128 plus the signal that ended it, 127 if it is\n"
"not found, 126 if it cannot be executed; 1 if events are refused, 2 for wrong\n"
"options.\n";

enum {
	OPTION_APPEND = 256,
};

/* A day; more is a slip of the finger. */
#define INTERVAL_MAX	86400000u
#define REPEAT_MAX	1000000u

static const struct option long_options[] = {
	{ "event",		required_argument, NULL, 'e' },
	{ "pid",		required_argument, NULL, 'p' },
	{ "tid",		required_argument, NULL, 't' },
	{ "cpu",		required_argument, NULL, 'C' },
	{ "all-cpus",		no_argument, NULL, 'a' },
	{ "per-cpu",		no_argument, NULL, 'A' },
	{ "no-aggr",		no_argument, NULL, 'A' },
	{ "interval-print",	required_argument, NULL, 'I' },
	{ "repeat",		required_argument, NULL, 'r' },
	{ "field-separator",	required_argument, NULL, 'x' },
	{ "json",		no_argument, NULL, 'j' },
	{ "json-output",	no_argument, NULL, 'j' },
	{ "output",		required_argument, NULL, 'o' },
	{ "append",		no_argument, NULL, OPTION_APPEND },
	{ "help",		no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* What the command line said, before it is understood. */
struct stat_words {
	char *events;		/* all -e, with commas between */
	bool has_target;
};

/* ---------------------------------------------------------------- options */

static int words_add_events(struct stat_words *words, const char *list)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", words->events ? words->events : "",
		     words->events ? "," : "", list) < 0)
		return -ENOMEM;
	free(words->events);
	words->events = joined;
	return 0;
}

static int target_option(struct stat_options *options, struct stat_words *words,
			 enum target_kind kind, const char *text)
{
	size_t position;

	if (words->has_target)
		return say_usage(&command_stat,
				 "only one of -p, -t, -C and -a can be given");
	words->has_target = true;
	options->kind = kind;
	options->ids_text = text;
	if (kind == TARGET_ALL_CPUS)
		return 0;
	if (int_list_parse(text, kind == TARGET_CPU, &options->ids,
			   &position) == 0)
		return 0;
	return say_usage(&command_stat,
			 "'%s' is not a list of numbers: wrong at character %zu",
			 text, position + 1);
}

/* The argument of -@option, a number from 1 to @max */
static int number_option(char option, const char *text, unsigned int max,
			 unsigned int *number)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || !value || value > max)
		return say_usage(&command_stat,
				 "'%s' is not a number for -%c: it is from 1 to %u",
				 text, option, max);
	*number = (unsigned int)value;
	return 0;
}

/* One of the options that choose what to print; as option_apply(). */
static int output_option_apply(struct stat_options *options, int option)
{
	switch (option) {
	case 'A':
		options->per_cpu = true;
		return 0;
	case 'I':
		return number_option('I', optarg, INTERVAL_MAX,
				     &options->interval);
	case 'r':
		return number_option('r', optarg, REPEAT_MAX, &options->repeat);
	case 'x':
		if (!*optarg)
			return say_usage(&command_stat, "the separator is empty");
		options->separator = strcmp(optarg, "\\t") ? optarg : "\t";
		return 0;
	case 'j':
		options->json = true;
		return 0;
	case 'o':
		options->output = optarg;
		return 0;
	default:
		options->append = true;
		return 0;
	}
}

/* One option; returns 0, or an exit status, or -1 to end well. */
static int option_apply(struct stat_options *options, struct stat_words *words,
			int option, int argc, char **argv)
{
	switch (option) {
	case 'e':
		return words_add_events(words, optarg) < 0 ? STATUS_FAILED : 0;
	case 'p':
		return target_option(options, words, TARGET_PROCESS, optarg);
	case 't':
		return target_option(options, words, TARGET_THREAD, optarg);
	case 'C':
		return target_option(options, words, TARGET_CPU, optarg);
	case 'a':
		return target_option(options, words, TARGET_ALL_CPUS, "");
	case 'A':
	case 'I':
	case 'r':
	case 'x':
	case 'j':
	case 'o':
	case OPTION_APPEND:
		return output_option_apply(options, option);
	case 'h':
		fputs(stat_help, stdout);
		return -1;
	case ':':
		return say_usage(&command_stat, "the option '%s' needs an argument",
				 argv[optind - 1]);
	default:
		return say_bad_option(&command_stat, argc, argv);
	}
}

/* Says where a list of events is wrong, with a mark below it. */
static void say_parse_error(const char *text, const struct pmuctl_parse_error *error)
{
	say_error("events: at character %zu: %s", error->position + 1,
		  error->sentence);
	fprintf(stderr, "  %s\n  %*s^\n", text, (int)error->position, "");
}

static int events_understand(struct stat_options *options, const char *text)
{
	struct pmuctl_parse_error error;
	int ret = pmuctl_events_parse(text, trace_name_resolve, NULL, &error,
				      &options->events);

	if (ret == -ENOMEM) {
		say_error("%s", pmuctl_strerror(ret));
		return STATUS_FAILED;
	}
	if (ret == 0)
		return 0;
	say_parse_error(text, &error);
	return STATUS_USAGE;
}

static int options_check(struct stat_options *options, struct stat_words *words)
{
	if (options->separator && options->json)
		return say_usage(&command_stat, "-x and -j exclude each other");
	if (options->append && !options->output)
		return say_usage(&command_stat, "--append needs -o FILE");
	if (!words->has_target && !options->argv)
		return say_usage(&command_stat,
				 "nothing to count: give a command, or -p, -t, -C or -a");
	if (options->per_cpu && options->kind != TARGET_CPU &&
	    options->kind != TARGET_ALL_CPUS)
		return say_usage(&command_stat,
				 "--per-cpu needs -a or -C: tasks are not counted CPU by CPU");
	if (options->repeat > 1 && !options->argv)
		return say_usage(&command_stat, "-r needs a command to repeat");
	if (options->repeat > 1 && options->interval)
		return say_usage(&command_stat, "-r and -I exclude each other");
	options->default_events = !words->events;
	return words->events ? events_understand(options, words->events) : 0;
}

/* Returns 0, an exit status, or -1 to end well. */
static int options_parse(struct stat_options *options, int argc, char **argv)
{
	struct stat_words words = { NULL, false };
	int option, ret = 0;

	opterr = 0;
	optind = 1;
	while (ret == 0 && (option = getopt_long(argc, argv, "+:e:p:t:C:aAI:r:x:jo:h",
						 long_options, NULL)) != -1)
		ret = option_apply(options, &words, option, argc, argv);
	if (ret == 0) {
		options->argv = optind < argc ? argv + optind : NULL;
		ret = options_check(options, &words);
	}
	free(words.events);
	return ret;
}

/* --------------------------------------------------------- default events */

static const struct {
	const char *name;
	unsigned int bit;
} default_events[] = {
	{ "cycles",		PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions",	PERF_COUNT_HW_INSTRUCTIONS },
	{ "branches",		PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses",	PERF_COUNT_HW_BRANCH_MISSES },
};

static const char without_pmu[] =
	"task-clock,context-switches,cpu-migrations,page-faults";

/* Those that the CPU has; if it has none, what every machine can count */
static int default_events_choose(struct pmuctl_device *dev,
				 struct stat_options *options)
{
	struct pmuctl_info info;
	char text[128] = "";
	uint64_t have = 0;

	if (pmuctl_device_info(dev, &info, sizeof(info)) == 0)
		have = info.generic_events;
	for (size_t i = 0; i < ARRAY_LEN(default_events); i++) {
		if (!(have >> default_events[i].bit & 1))
			continue;
		if (text[0])
			strcat(text, ",");
		strcat(text, default_events[i].name);
	}
	return events_understand(options, text[0] ? text : without_pmu);
}

/* ------------------------------------------------------------------- run */

static FILE *output_open(const struct stat_options *options)
{
	FILE *out;

	if (!options->output)
		return stderr;
	out = fopen(options->output, options->append ? "ae" : "we");
	if (!out)
		say_error("cannot write to '%s': %s", options->output,
			  strerror(errno));
	return out;
}

static int stat_run(int argc, char **argv)
{
	struct stat_options options = { .kind = TARGET_COMMAND };
	struct pmuctl_device *dev = NULL;
	struct pmuctl_explanation why;
	FILE *out = NULL;
	int status = options_parse(&options, argc, argv);

	if (status)
		goto out;
	status = STATUS_FAILED;
	if (pmuctl_device_open(NULL, &why, &dev) < 0) {
		say_error("%s", why.sentence);
		goto out;
	}
	if (options.default_events) {
		status = default_events_choose(dev, &options);
		if (status)
			goto out;
		status = STATUS_FAILED;
	}
	out = output_open(&options);
	if (out)
		status = stat_measure(dev, &options, out);
out:
	if (out && out != stderr && fclose(out) != 0 && status == STATUS_OK) {
		say_error("cannot write to '%s': %s", options.output,
			  strerror(errno));
		status = STATUS_FAILED;
	}
	pmuctl_device_close(dev);
	pmuctl_events_free(options.events);
	int_list_free(&options.ids);
	return status < 0 ? STATUS_OK : status;
}

const struct command command_stat = {
	.name = "stat",
	.run = stat_run,
	.summary = "count events of a command, a process, a thread or CPUs",
	.help = stat_help,
};
