// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl stat", and "pmuctl timec", which is the same by an older name: the command
 * line. What it asks for is done in stat_measure.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

static const char stat_help[] =
"usage: pmuctl stat [OPTIONS] COMMAND [ARGUMENTS]\n"
"       pmuctl stat [OPTIONS] -p PIDS | -t TIDS | -C CPUS | -a [COMMAND [ARGUMENTS]]\n"
"\n"
"Counts events of COMMAND and of all that it starts while COMMAND runs. With -p, -t, -C\n"
"or -a, counts those instead, until COMMAND ends, they end, or Ctrl-C.\n"
"\n"
"  -e, --event LIST            what to count, several -e add up; {A,B} is a group,\n"
"                              counted all at once; see pmuctl-list(1)\n"
"  -p, --pid LIST              these processes, all threads, and what they start\n"
"  -t, --tid LIST              these threads, and what they start\n"
"  -C, --cpu LIST              these CPUs, all that runs there: 0,2-3\n"
"  -a, --all-cpus              all CPUs, those that come later too\n"
"  -i, --no-inherit            leave out the threads and processes that are started\n"
"      --filter TEXT           of tracepoints: only if what they tell passes,\n"
"                              as 'id == 39 || id == 186'\n"
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

static const char timec_help[] =
"usage: pmuctl timec [-e LIST] [OPTIONS] COMMAND [ARGUMENTS]\n"
"\n"
"Counts events of COMMAND and of all processes and threads that it starts, down to the\n"
"last one, and prints the sums when it has ended: pmuctl stat by another name.\n"
"\n"
"  -e, --event LIST            what to count, several -e add up: names of events, see\n"
"                              pmuctl-list(1), or numbers of generic ones:\n"
"                                0 cycles            5 branch-misses\n"
"                                1 instructions      6 bus-cycles\n"
"                                2 cache-references  7 stalled-cycles-frontend\n"
"                                3 cache-misses      8 stalled-cycles-backend\n"
"                                4 branches          9 ref-cycles\n"
"  -h, --help                  this text\n"
"\n"
"All other options, the events without -e, and the exit status are those of pmuctl stat:\n"
"see 'pmuctl stat --help'.\n";

enum {
	OPTION_APPEND = 256,
};

/* A day; more is a slip of the finger. */
#define INTERVAL_MAX	86400000u
#define REPEAT_MAX	1000000u

static const struct option long_options[] = {
	{ "per-cpu",		no_argument, NULL, 'A' },
	{ "no-aggr",		no_argument, NULL, 'A' },
	{ "interval-print",	required_argument, NULL, 'I' },
	{ "repeat",		required_argument, NULL, 'r' },
	{ "field-separator",	required_argument, NULL, 'x' },
	{ "json",		no_argument, NULL, 'j' },
	{ "json-output",	no_argument, NULL, 'j' },
	{ "output",		required_argument, NULL, 'o' },
	{ "append",		no_argument, NULL, OPTION_APPEND },
	{ NULL, 0, NULL, 0 },
};

/* The argument of -@option, a number from 1 to @max */
static int number_option(const struct stat_options *options, char option,
			 unsigned int max, unsigned int *number)
{
	uint64_t value;
	int ret = measure_number(&options->measure, option, optarg, max, &value);

	*number = (unsigned int)value;
	return ret;
}

/* A measure_apply */
static int option_apply(void *arg, int option)
{
	struct stat_options *options = arg;

	switch (option) {
	case 'A':
		options->per_cpu = true;
		return 0;
	case 'I':
		return number_option(options, 'I', INTERVAL_MAX,
				     &options->interval);
	case 'r':
		return number_option(options, 'r', REPEAT_MAX, &options->repeat);
	case 'x':
		if (!*optarg)
			return say_usage(options->measure.command,
					 "the separator is empty");
		options->separator = strcmp(optarg, "\\t") ? optarg : "\t";
		return 0;
	case 'j':
		options->json = true;
		return 0;
	case 'o':
		options->output = optarg;
		return 0;
	case OPTION_APPEND:
		options->append = true;
		return 0;
	default:
		return MEASURE_OPTION_COMMON;
	}
}

/* What is wrong with the options as a whole, NULL if nothing is. */
static const char *options_wrong(const struct stat_options *options)
{
	const struct measure *measure = &options->measure;

	if (options->separator && options->json)
		return "-x and -j exclude each other";
	if (options->append && !options->output)
		return "--append needs -o FILE";
	if (!measure->has_target && !measure->argv)
		return "nothing to count: give a command, or -p, -t, -C or -a";
	if (options->per_cpu && !measure_is_of_cpus(measure))
		return "--per-cpu needs -a or -C: tasks are not counted CPU by CPU";
	if (options->repeat > 1 && !measure->argv)
		return "-r needs a command to repeat";
	if (options->repeat > 1 && options->interval)
		return "-r and -I exclude each other";
	return NULL;
}

/* Returns 0, an exit status, or -1 to end well. */
static int options_parse(struct stat_options *options, int argc, char **argv)
{
	struct measure *measure = &options->measure;
	const char *wrong;
	int ret = measure_parse(measure, argc, argv, "AI:r:x:jo:", long_options,
				option_apply, options);

	if (ret)
		return ret;
	wrong = options_wrong(options);
	if (wrong)
		return say_usage(measure->command, "%s", wrong);
	if (measure->events_text)
		ret = events_text_parse(measure->events_text, &measure->events);
	return ret ? ret : measure_filters_check(measure);
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
	return events_text_parse(text[0] ? text : without_pmu,
				 &options->measure.events);
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

static int run(const struct command *command, int argc, char **argv)
{
	struct stat_options options = { .measure.command = command };
	struct pmuctl_device *dev = NULL;
	FILE *out = NULL;
	int status = options_parse(&options, argc, argv);

	if (!status)
		status = measure_device(&dev);
	if (!status && !options.measure.events)
		status = default_events_choose(dev, &options);
	if (status)
		goto out;
	out = output_open(&options);
	status = out ? stat_measure(dev, &options, out) : STATUS_FAILED;
	if (out && out != stderr && fclose(out) != 0 && status == STATUS_OK) {
		say_error("cannot write to '%s': %s", options.output,
			  strerror(errno));
		status = STATUS_FAILED;
	}
out:
	pmuctl_device_close(dev);
	measure_free(&options.measure);
	return status < 0 ? STATUS_OK : status;
}

static int stat_run(int argc, char **argv)
{
	return run(&command_stat, argc, argv);
}

static int timec_run(int argc, char **argv)
{
	return run(&command_timec, argc, argv);
}

const struct command command_stat = {
	.name = "stat",
	.run = stat_run,
	.summary = "count events of a command, a process, a thread or CPUs",
	.help = stat_help,
};

const struct command command_timec = {
	.name = "timec",
	.run = timec_run,
	.summary = "stat by another name: a command and all that it starts",
	.help = timec_help,
};
