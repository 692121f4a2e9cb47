// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl stat", and "pmuctl timec", which is the same by an older name: the command
 * line. What it asks for is done in measure.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stat.h"

enum {
	OPTION_APPEND = OPTION_NO_LETTER,
	OPTION_OPENMETRICS,
	OPTION_METRIC_ONLY,
	OPTION_INTERVAL_COUNT,
	OPTION_SUMMARY,
	OPTION_TABLE,
	OPTION_TIMEOUT,
	OPTION_CONTROL,
	OPTION_NO_BIG_NUM,
	OPTION_TOPDOWN,
	OPTION_PRE,
	OPTION_POST,
	OPTION_LOG_FD,
	OPTION_QUIET,
	OPTION_SCALE,
	OPTION_NO_SCALE,
	/* and the kinds of enum stat_aggregate */
	OPTION_AGGREGATE,
};

/* A day; more is a slip of the finger. */
#define INTERVAL_MAX	86400000u
#define REPEAT_MAX	1000000u

#define CORES "cpu_core/EVENT/ and cpu_atom/EVENT/ are of one type of core"

static const struct other_option other_options[] = {
	{ 'T', "transaction", "'pmuctl list' has the CPU's events, transactions among them" },
	{ 0, "cputype", CORES }, { 0, "hybrid-merge", CORES }, { 0, "no-merge", CORES },
	{ 0, "group", "braces around events are a group: -e '{cycles,instructions}'" },
	{ 0, "interval-clear", "-I prints below what it has printed; 'watch -n' clears" },
	{ 0, "iostat", "events of the uncore are perf's" }, { 0, "smi-cost", "the events of MSRs are perf's" },
	{ 0, "metric-no-group", "a metric's events share a group where there is room" },
	{ 0, "metric-no-merge", "an event of several metrics is counted once" },
	{ 0, "no-csv-summary", "--summary in CSV is marked by the word 'summary'" },
	{ 0, "percore-show-thread", "-A has each CPU" }, { 0, "td-level", "-M TopdownL2 and the like are levels" },
	{ 0 },
};

static const struct cli_option stat_options[] = {
	{ MEASURE_OPTION_EACH_CGROUP, "for-each-cgroup", .argument = "CGROUPS",
	  .help = "all events, for each of these" },
	{ 'd', "detailed", .help = "cache events too; -dd, -ddd: more of them" },
	{ 'M', "metrics", .argument = "METRICS",
	  .help = "what is computed of several events, by name or group: insn_per_cycle, "
		  "TopdownL1; see pmuctl list metrics" },
	{ OPTION_TOPDOWN, "topdown", .help = "where the slots of the pipeline went: -M TopdownL1" },
	{ OPTION_METRIC_ONLY, "metric-only",
	  .help = "no counts: a table of what is computed of them" },
	{ 'n', "null", .help = "no events: only the time" },
	{ 'A', "per-cpu", "no-aggr", .help = "with -a or -C: a line for each CPU" },
	{ OPTION_AGGREGATE + AGGREGATE_CORE, "per-core", .help = "likewise for each core," },
	{ OPTION_AGGREGATE + AGGREGATE_DIE, "per-die", .help = "for each die," },
	{ OPTION_AGGREGATE + AGGREGATE_SOCKET, "per-socket", .help = "for each socket," },
	{ OPTION_AGGREGATE + AGGREGATE_NODE, "per-node", .help = "for each NUMA node" },
	{ OPTION_AGGREGATE + AGGREGATE_THREAD, "per-thread",
	  .help = "with -p or -t: a line for each thread" },
	{ 'I', "interval-print", .argument = "MS",
	  .help = "what was counted in each MS milliseconds" },
	{ OPTION_INTERVAL_COUNT, "interval-count", .argument = "N", .help = "end after N of them" },
	{ OPTION_SUMMARY, "summary", .help = "and at the end, in all of them" },
	{ 'D', "delay", .argument = "MS",
	  .help = "start measuring MS milliseconds after COMMAND; -1: when --control says so" },
	{ OPTION_TIMEOUT, "timeout", .argument = "MS",
	  .help = "end after MS milliseconds; COMMAND gets SIGTERM then" },
	{ OPTION_CONTROL, "control", .argument = "HOW", .words = control_words,
	  .help = "obey enable, disable, ping and stop, a line each, from a descriptor or a FIFO; "
		  "answers go to a second one" },
	{ 'r', "repeat", .argument = "N", .help = "run COMMAND N times: mean and deviation" },
	{ OPTION_TABLE, "table", .help = "and how long each run took" },
	{ OPTION_PRE, "pre", .argument = "COMMAND", .help = "run this in a shell before each run, and" },
	{ OPTION_POST, "post", .argument = "COMMAND", .help = "this after it" },
	{ 'S', "sync", .help = "have disks written to before each run" },
	{ OPTION_NO_BIG_NUM, "no-big-num", .help = "numbers without separators of thousands" },
	{ 'B', "big-num", .help = "with these, as always" },
	{ OPTION_NO_SCALE, "no-scale",
	  .help = "counts of events that took turns as they are, not estimated for all the time" },
	{ OPTION_SCALE, "scale", .help = "estimated, as always" },
	{ 'v', "verbose", .help = "all that goes wrong is told, as always" },
	{ 'x', "field-separator", .argument = "TEXT",
	  .help = "CSV output with TEXT between the columns" },
	{ 'j', "json", "json-output", .help = "JSON output, one object a line" },
	{ OPTION_OPENMETRICS, "openmetrics", .help = "OpenMetrics output, which Prometheus reads" },
	{ 'o', "output", .argument = "FILE", .help = "write the counts to FILE instead of stderr" },
	{ OPTION_APPEND, "append", .help = "to its end" },
	{ OPTION_LOG_FD, "log-fd", .argument = "N", .help = "write them to this descriptor" },
	{ OPTION_QUIET, "quiet", .help = "do not print them; what goes wrong is told" },
	{ 0 },
};

/* The argument of --@option, a number from 1 to @max */
static int number_option(const struct stat_options *options, const char *option,
			 unsigned int max, unsigned int *number)
{
	uint64_t value;
	int ret = measure_number(&options->measure, option, optarg, max, &value);

	*number = (unsigned int)value;
	return ret;
}

static int aggregate_option(struct stat_options *options, enum stat_aggregate aggregate)
{
	if (options->aggregate != AGGREGATE_ALL && options->aggregate != aggregate)
		return say_usage(options->measure.command,
				 "only one of -A, --per-core, --per-die, --per-socket, --per-node and --per-thread can be given");
	options->aggregate = aggregate;
	options->measure.by_thread = aggregate == AGGREGATE_THREAD;
	return 0;
}

/* When measuring begins and ends */
static int time_option(struct stat_options *options, int option)
{
	switch (option) {
	case 'I':
		return number_option(options, "-I", INTERVAL_MAX, &options->interval);
	case OPTION_INTERVAL_COUNT:
		return number_option(options, "--interval-count", UINT_MAX,
				     &options->interval_count);
	case OPTION_SUMMARY:
		options->summary = true;
		return 0;
	case OPTION_TABLE:
		options->table = true;
		return 0;
	case OPTION_TIMEOUT:
		return number_option(options, "--timeout", INTERVAL_MAX, &options->timeout);
	case 'D':
		if (strcmp(optarg, "-1") != 0)
			return number_option(options, "-D", INTERVAL_MAX, &options->delay);
		options->delay = DELAY_FOREVER;
		return 0;
	default:
		return MEASURE_OPTION_COMMON;
	}
}

/* What the output looks like, and where it goes */
static int output_option(struct stat_options *options, int option)
{
	switch (option) {
	case 'x':
		if (!*optarg)
			return say_usage(options->measure.command,
					 "the separator is empty");
		options->separator = strcmp(optarg, "\\t") ? optarg : "\t";
		return 0;
	case 'j':
		options->json = true;
		return 0;
	case OPTION_OPENMETRICS:
		options->openmetrics = true;
		return 0;
	case OPTION_METRIC_ONLY:
		options->metric_only = true;
		return 0;
	case 'o':
		options->output = optarg;
		return 0;
	case OPTION_APPEND:
		options->append = true;
		return 0;
	case OPTION_LOG_FD:
		return number_option(options, "--log-fd", INT_MAX, &options->log_fd);
	case 'B':
	case OPTION_NO_BIG_NUM:
		options->plain_numbers = option == OPTION_NO_BIG_NUM;
		return 0;
	case OPTION_QUIET:
		options->quiet = true;
		return 0;
	case OPTION_SCALE:
	case OPTION_NO_SCALE:
		options->no_scale = option == OPTION_NO_SCALE;
		return 0;
	case 'v':
		return 0;
	default:
		return time_option(options, option);
	}
}

static int metrics_option(struct stat_options *options, const char *names)
{
	char *text;

	if (asprintf(&text, "%s%s%s", options->metrics_text ? options->metrics_text : "",
		     options->metrics_text ? "," : "", names) < 0) {
		say_error("%s", pmuctl_strerror(ENOMEM));
		return STATUS_FAILED;
	}
	free(options->metrics_text);
	options->metrics_text = text;
	return 0;
}

/**
 * stat_apply() - an option_apply
 * @arg: struct stat_options, to be freed with stat_options_free().
 * @option: which option was given.
 *
 * Return: 0 or an exit status.
 */
int stat_apply(void *arg, int option)
{
	struct stat_options *options = arg;
	int ret;

	switch (option) {
	case 'M':
		return metrics_option(options, optarg);
	case OPTION_TOPDOWN:
		return metrics_option(options, "TopdownL1");
	case 'A':
		return aggregate_option(options, AGGREGATE_CPU);
	case OPTION_AGGREGATE + AGGREGATE_CORE ... OPTION_AGGREGATE + AGGREGATE_THREAD:
		return aggregate_option(options, option - OPTION_AGGREGATE);
	case 'd':
		options->details++;
		return 0;
	case 'n':
		options->nothing = true;
		return 0;
	case 'r':
		return number_option(options, "-r", REPEAT_MAX, &options->repeat);
	case OPTION_CONTROL:
		options->control = optarg;
		return 0;
	case OPTION_PRE:
		options->pre = optarg;
		return 0;
	case OPTION_POST:
		options->post = optarg;
		return 0;
	case 'S':
		options->sync = true;
		return 0;
	default:
		ret = output_option(options, option);
		return ret == MEASURE_OPTION_COMMON ? measure_option(&options->measure, option) : ret;
	}
}

static const char *times_wrong(const struct stat_options *options)
{
	const struct measure *measure = &options->measure;

	if (options->interval_count && !options->interval)
		return "--interval-count needs -I";
	if (options->summary && !options->interval)
		return "--summary is of the intervals of -I";
	if (options->table && options->repeat <= 1)
		return "--table is of the runs of -r";
	if (options->table && (options->separator || options->json || options->metric_only))
		return "--table is for people: without -x, -j and --metric-only";
	if (options->nothing && (measure->events_text || options->details || options->metrics_text))
		return "-n is without events: it excludes -e, -d and -M";
	if (options->nothing && (!measure->argv || options->interval))
		return "-n needs a command, and excludes -I";
	if (options->delay == DELAY_FOREVER && !options->control)
		return "-D -1 needs --control: else measuring never begins";
	return NULL;
}

/* What is wrong with the options as a whole, NULL if nothing is. */
static const char *options_wrong(const struct stat_options *options)
{
	const struct measure *measure = &options->measure;

	if (options->separator && options->json)
		return "-x and -j exclude each other";
	if (options->openmetrics && (options->separator || options->json))
		return "--openmetrics excludes -x and -j";
	if (options->openmetrics && (options->append || options->interval || options->repeat > 1))
		return "--openmetrics is one set of counts: without --append, -I and -r";
	if (options->metric_only && (options->json || options->openmetrics))
		return "--metric-only is a table: it excludes -j and --openmetrics";
	if (options->append && !options->output && !options->log_fd)
		return "--append needs -o FILE";
	if (options->quiet && (options->log_fd || options->output))
		return "--quiet prints no counts: without -o and --log-fd";
	if (options->log_fd && options->output)
		return "--log-fd and -o exclude each other";
	if (!measure->has_target && !measure->argv)
		return "nothing to count: give a command, or -p, -t, -C or -a";
	if (options->aggregate == AGGREGATE_THREAD) {
		if (measure->kind != TARGET_PROCESS && measure->kind != TARGET_THREAD)
			return "--per-thread needs -p or -t";
	} else if (options->aggregate != AGGREGATE_ALL && !measure_is_of_cpus(measure)) {
		return "a line for each CPU, core, die, socket or node needs -a or -C: no task is on one only";
	}
	if (options->repeat > 1 && !measure->argv)
		return "-r needs a command to repeat";
	if (options->repeat > 1 && options->interval)
		return "-r and -I exclude each other";
	return times_wrong(options);
}

/* Returns 0 or an exit status. */
static int options_check(struct stat_options *options)
{
	struct measure *measure = &options->measure;
	const char *wrong = options_wrong(options);
	int ret = 0;

	if (wrong)
		return say_usage(measure->command, "%s", wrong);
	if (measure->events_text)
		ret = events_text_parse(measure->events_text, true, &measure->events);
	if (measure->events)
		options->nr_asked = pmuctl_events_count(measure->events);
	return ret ? ret : measure_filters_check(measure);
}

/* --------------------------------------------------------- default events */

/* What every machine can count; of CPUs, their time instead of that of tasks */
static const char software_events[] =
	"%s-clock,context-switches,cpu-migrations,page-faults";

static const struct {
	const char *name;
	unsigned int bit;
} default_events[] = {
	{ ",cycles",		PERF_COUNT_HW_CPU_CYCLES },
	{ ",instructions",	PERF_COUNT_HW_INSTRUCTIONS },
	{ ",branches",		PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ ",branch-misses",	PERF_COUNT_HW_BRANCH_MISSES },
};

/* By how often -d is given, those before included: perf stat's */
static const char *const detailed_events[] = {
	",L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
	",L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses",
	",L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

/* Those that are counted if the user has named neither events nor metrics */
static void put_default_events(FILE *out, const struct stat_options *options, uint64_t have)
{
	fprintf(out, software_events,
		measure_is_of_cpus(&options->measure) ? "cpu" : "task");
	for (size_t i = 0; i < ARRAY_LEN(default_events); i++)
		if (have >> default_events[i].bit & 1)
			fputs(default_events[i].name, out);
}

/* Returns 0 or a negative errno. */
static int put_events(FILE *out, struct pmuctl_device *dev,
		      const struct stat_options *options)
{
	struct metric_room room = { .general = 0 };
	struct pmuctl_info info;
	uint64_t have = 0;

	if (pmuctl_device_info(dev, &info, sizeof(info)) == 0) {
		have = info.generic_events;
		room.general = info.nr_counters;
		room.has_fixed = info.nr_fixed >= 2;
	}
	if (options->measure.events_text)
		fputs(options->measure.events_text, out);
	else if (!options->metrics_text)
		put_default_events(out, options, have);
	for (size_t i = 0; have && i < ARRAY_LEN(detailed_events) && i < options->details; i++)
		fputs(detailed_events[i] + (i == 0 && ftell(out) == 0), out);
	return metric_events_print(&options->metrics, &room, out);
}

/* Returns 0 or an exit status. */
static int metrics_find(struct stat_options *options)
{
	struct metric_machine machine;
	const char *unknown;
	int ret;

	if (!options->metrics_text)
		return 0;
	metric_machine_get(&machine);
	ret = metric_choose(&machine, options->metrics_text, &options->metrics, &unknown);
	if (ret == -ENOENT) {
		say_error("there is no metric '%.*s' %s: 'pmuctl list metrics' shows those that there are",
			  (int)strcspn(unknown, ","), unknown,
			  metric_core_of(&machine) ? "here" : "on this CPU");
		return STATUS_USAGE;
	}
	if (ret < 0)
		say_error("%s", pmuctl_strerror(ret));
	return ret < 0 ? STATUS_FAILED : 0;
}

/* Of what the user has not named, those that the CPU has. Returns 0 or an exit status. */
static int events_complete(struct pmuctl_device *dev, struct stat_options *options)
{
	char *text = NULL;
	size_t size;
	FILE *out;
	int ret;

	if (options->nothing ||
	    (options->measure.events && !options->details && !options->metrics_text))
		return 0;
	out = open_memstream(&text, &size);
	ret = out ? put_events(out, dev, options) : -ENOMEM;
	if (out && fclose(out) != 0)
		ret = -ENOMEM;
	if (ret < 0) {
		say_error("%s", pmuctl_strerror(ret));
		free(text);
		return STATUS_FAILED;
	}
	pmuctl_events_free(options->measure.events);
	options->measure.events = NULL;
	ret = events_text_parse(text, true, &options->measure.events);
	free(text);
	return ret;
}

/* ------------------------------------------------------------------- run */

static FILE *output_open(const struct stat_options *options)
{
	const char *path;
	FILE *out;

	if (options->log_fd) {
		int fd = fcntl((int)options->log_fd, F_DUPFD_CLOEXEC, 3);

		out = fd >= 0 ? fdopen(fd, "w") : NULL;
		if (!out)
			say_error("cannot write to the descriptor %u of --log-fd: %s",
				  options->log_fd, strerror(errno));
		return out;
	}
	if (!options->output && !options->quiet)
		return stderr;
	path = options->quiet ? "/dev/null" : options->output;
	out = fopen(path, options->append ? "ae" : "we");
	if (!out)
		say_error("cannot write to '%s': %s", path, strerror(errno));
	return out;
}

/**
 * stat_prepare() - judge the options as a whole, open the driver and choose the events
 * @options: as given.
 * @dev: the driver; to be closed by the caller, also if this fails.
 *
 * Return: 0 or an exit status.
 */
int stat_prepare(struct stat_options *options, struct pmuctl_device **dev)
{
	int status = options_check(options);

	if (!status)
		status = metrics_find(options);
	if (!status)
		status = measure_device(dev);
	return status ? status : events_complete(*dev, options);
}

/* stat_options_free() - what the options have allocated */
void stat_options_free(struct stat_options *options)
{
	metric_choice_free(&options->metrics);
	free(options->metrics_text);
	measure_free(&options->measure);
}

static int run(const struct command *command, int argc, char **argv)
{
	struct stat_options options = { .measure.command = command };
	struct pmuctl_device *dev = NULL;
	FILE *out = NULL;
	int status = measure_parse(&options.measure, argc, argv, stat_apply, &options);

	if (!status)
		status = stat_prepare(&options, &dev);
	if (status)
		goto out;
	out = output_open(&options);
	status = out ? stat_measure(dev, &options, out) : STATUS_FAILED;
	if (out && out != stderr && fclose(out) != 0 && status == STATUS_OK) {
		say_error("cannot write to '%s': %s",
			  options.output ? options.output : "the descriptor of --log-fd",
			  strerror(errno));
		status = STATUS_FAILED;
	}
out:
	pmuctl_device_close(dev);
	stat_options_free(&options);
	return status;
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
	.operands = "COMMAND [ARGUMENTS]\n-p PIDS | -t TIDS | -C CPUS | -a [COMMAND [ARGUMENTS]]",
	.about =
"Counts events of COMMAND and of all that it starts while COMMAND runs. With -p, -t, -C or -a, "
"counts those instead, until COMMAND ends, they end, or Ctrl-C.",
	.options = { measure_options, stat_options },
	.others = other_options,
	.notes =
"Without -e and -M: task-clock, context-switches, cpu-migrations, page-faults, and of cycles, "
"instructions, branches, branch-misses those that the CPU has. The exit status is COMMAND's own, "
"128 plus the signal that ended it, 127 if it is not found, 126 if it cannot be executed; 1 if "
"events are refused, 2 for wrong options.",
	.starts_command = true,
};

static const struct cli_option timec_options[] = {
	{ 'e', "event", .argument = "EVENTS",
	  .help = "what is counted, several -e add up: names of events, see pmuctl-list(1), or "
		  "numbers of generic ones: 0 cycles, 1 instructions, 2 cache-references, 3 "
		  "cache-misses, 4 branches, 5 branch-misses, 6 bus-cycles, 7 "
		  "stalled-cycles-frontend, 8 stalled-cycles-backend, 9 ref-cycles" },
	{ 0 },
};

const struct command command_timec = {
	.name = "timec",
	.run = timec_run,
	.summary = "stat by another name: a command and all that it starts",
	.operands = "COMMAND [ARGUMENTS]",
	.about =
"Counts events of COMMAND and of all processes and threads that it starts, down to the last one, "
"and prints the sums when it has ended: pmuctl stat by another name.",
	.options = { timec_options },
	.base = &command_stat,
	.notes =
"All other options, the events without -e, and the exit status are those of pmuctl stat: see "
"'pmuctl stat --help'.",
	.starts_command = true,
};
