// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options that "pmuctl stat", "pmuctl record" and "pmuctl top" have in common.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmuctl_trace.h>

#include "measure.h"
#include "options.h"

/* The same option again adds to its list. */
static int ids_add(struct measure *measure, const char *text)
{
	const char *before = measure->ids_text;
	char *joined;

	if (asprintf(&joined, "%s%s%s", before ? before : "", before ? "," : "", text) < 0)
		return -ENOMEM;
	free(measure->ids_text);
	measure->ids_text = joined;
	return 0;
}

/* -a says no more than -C does, and less than -p or -t. */
static int target_option(struct measure *measure, enum target_kind kind,
			 const char *text)
{
	bool narrower = measure->has_target && measure->kind != TARGET_ALL_CPUS;
	size_t position;

	if (kind == TARGET_ALL_CPUS && narrower)
		return 0;
	if (narrower && measure->kind != kind)
		return say_usage(measure->command, "only one of -p, -t and -C can be given");
	measure->has_target = true;
	measure->kind = kind;
	if (kind == TARGET_ALL_CPUS)
		return 0;
	int_list_free(&measure->ids);
	measure->ids = (struct int_list){ 0 };
	if (ids_add(measure, text) < 0)
		return STATUS_FAILED;
	if (int_list_parse(measure->ids_text, kind == TARGET_CPU, &measure->ids, &position) == 0)
		return 0;
	return say_usage(measure->command,
			 "'%s' is not a list of numbers: wrong at character %zu",
			 measure->ids_text, position + 1);
}

/* measure_processes() - as -p @list */
int measure_processes(struct measure *measure, const char *list)
{
	return target_option(measure, TARGET_PROCESS, list);
}

static int level_option(struct measure *measure, char level)
{
	if (measure->only && measure->only != level)
		return say_usage(measure->command,
				 "--all-user and --all-kernel exclude each other");
	measure->only = level;
	return 0;
}

/**
 * measure_option() - understand one of the options that say what is measured where
 * @measure: gets it.
 * @option: its letter; its argument is in optarg.
 *
 * Return: 0, an exit status, or MEASURE_OPTION_COMMON: it is another option.
 */
int measure_option(struct measure *measure, int option)
{
	switch (option) {
	case 'e':
		measure->before_last = measure->events_text ? strlen(measure->events_text) : 0;
		return events_text_add(&measure->events_text, optarg) < 0 ?
			STATUS_FAILED : 0;
	case 'p':
		return target_option(measure, TARGET_PROCESS, optarg);
	case 't':
		return target_option(measure, TARGET_THREAD, optarg);
	case 'u':
		return measure_user(measure, optarg);
	case 'C':
		return target_option(measure, TARGET_CPU, optarg);
	case 'a':
		return target_option(measure, TARGET_ALL_CPUS, "");
	case 'i':
		measure->no_inherit = true;
		return 0;
	case 'G':
	case MEASURE_OPTION_EACH_CGROUP:
		return cgroup_option(measure, optarg, option != 'G');
	case MEASURE_OPTION_FILTER:
		return filter_option(measure, optarg);
	case MEASURE_OPTION_ALL_USER:
		return level_option(measure, 'u');
	case MEASURE_OPTION_ALL_KERNEL:
		return level_option(measure, 'k');
	default:
		return MEASURE_OPTION_COMMON;
	}
}

const struct cli_option measure_options[] = {
	{ 'e', "event", .argument = "EVENTS",
	  .help = "what is counted or sampled; several -e add up, and {A,B} is a group; see "
		  "pmuctl-list(1)" },
	{ 'p', "pid", .argument = "PIDS",
	  .help = "these processes, all threads, and what they start" },
	{ 't', "tid", .argument = "TIDS", .help = "these threads, and what they start" },
	{ 'C', "cpu", .argument = "CPUS", .help = "these CPUs, all that runs there: 0,2-3" },
	{ 'a', "all-cpus", .help = "all CPUs" },
	{ 'G', "cgroup", .argument = "CGROUPS",
	  .help = "with -a or -C: only tasks of this cgroup; of several, with commas between, each "
		  "is for one of the events before it, an empty one for all tasks" },
	{ 'i', "no-inherit", .help = "leave out the threads and processes that are started" },
	{ MEASURE_OPTION_ALL_USER, "all-user",
	  .help = "only what runs in user space, whatever the events say; not of tracepoints" },
	{ MEASURE_OPTION_ALL_KERNEL, "all-kernel", .help = "only the kernel" },
	{ MEASURE_OPTION_FILTER, "filter", .argument = "TEXT",
	  .help = "of tracepoints: only if what they tell passes, as 'id == 39 || id == 186'; of "
		  "traces: only these addresses, as 'filter 0x1000/0x20@/usr/bin/make'" },
	{ 0 },
};

/**
 * measure_parse() - understand the options of a command
 * @measure: what is measured: its command is set; gets the command to start.
 * @argc: number of arguments.
 * @argv: the arguments.
 * @apply: called for each option; those of measure_options[] are measure_option()'s.
 * @arg: for @apply.
 *
 * Return: 0, or an exit status, or STATUS_HELP: the help was printed.
 */
int measure_parse(struct measure *measure, int argc, char **argv, option_apply apply, void *arg)
{
	int status = options_parse(measure->command, argc, argv, apply, arg);

	measure->argv = optind < argc ? argv + optind : NULL;
	return status;
}

/**
 * measure_number() - the argument of an option that takes a number
 * @measure: what is measured.
 * @option: the option, as it is typed.
 * @text: its argument.
 * @max: the largest number; the smallest one is 1.
 * @number: the result.
 *
 * Return: 0 or an exit status.
 */
int measure_number(const struct measure *measure, const char *option, const char *text,
		   uint64_t max, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *number && *number <= max)
		return 0;
	return say_usage(measure->command,
			 "'%s' is not a number for %s: it is from 1 to %llu",
			 text, option, (unsigned long long)max);
}

bool measure_is_of_cpus(const struct measure *measure)
{
	return measure->kind == TARGET_CPU || measure->kind == TARGET_ALL_CPUS;
}

/**
 * measure_device() - open the driver, or say why not
 * @dev: the result.
 *
 * Return: 0 or an exit status.
 */
int measure_device(struct pmuctl_device **dev)
{
	struct pmuctl_explanation why;

	if (pmuctl_device_open(NULL, &why, dev) == 0)
		return 0;
	say_error("%s", why.sentence);
	return STATUS_FAILED;
}

/**
 * measure_default_event() - what is sampled if no event was given: what every machine can do
 * @dev: the driver.
 * @measure: gets it.
 *
 * Return: 0 or an exit status.
 */
int measure_default_event(struct pmuctl_device *dev, struct measure *measure)
{
	struct pmuctl_info info;
	const char *text = "cycles";

	if (pmuctl_device_info(dev, &info, sizeof(info)) == 0 &&
	    info.pmu_kind == PMUCTL_PMU_NONE)
		text = "cpu-clock";
	return events_text_parse(text, false, &measure->events);
}

void measure_free(struct measure *measure)
{
	free(measure->events_text);
	pmuctl_events_free(measure->events);
	int_list_free(&measure->ids);
	free(measure->ids_text);
	cgroups_free(&measure->cgroups);
	free(measure->filters.list);
}
