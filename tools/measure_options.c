// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options that "pmuctl stat" and "pmuctl record" have in common.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"

static int target_option(struct measure *measure, enum target_kind kind,
			 const char *text)
{
	size_t position;

	if (measure->has_target)
		return say_usage(measure->command,
				 "only one of -p, -t, -C and -a can be given");
	measure->has_target = true;
	measure->kind = kind;
	measure->ids_text = text;
	if (kind == TARGET_ALL_CPUS ||
	    int_list_parse(text, kind == TARGET_CPU, &measure->ids, &position) == 0)
		return 0;
	return say_usage(measure->command,
			 "'%s' is not a list of numbers: wrong at character %zu",
			 text, position + 1);
}

/**
 * measure_option() - one of the common options, or a wrong one
 * @measure: what is measured.
 * @option: from getopt_long(), which was given MEASURE_OPTIONS.
 * @argc: number of arguments.
 * @argv: the arguments.
 *
 * Return: 0, or an exit status, or -1 to end well.
 */
int measure_option(struct measure *measure, int option, int argc, char **argv)
{
	switch (option) {
	case 'e':
		return events_text_add(&measure->events_text, optarg) < 0 ?
			STATUS_FAILED : 0;
	case 'p':
		return target_option(measure, TARGET_PROCESS, optarg);
	case 't':
		return target_option(measure, TARGET_THREAD, optarg);
	case 'C':
		return target_option(measure, TARGET_CPU, optarg);
	case 'a':
		return target_option(measure, TARGET_ALL_CPUS, "");
	case 'i':
		measure->no_inherit = true;
		return 0;
	case 'h':
		fputs(measure->command->help, stdout);
		return -1;
	case ':':
		return say_usage(measure->command, "the option '%s' needs an argument",
				 argv[optind - 1]);
	default:
		return say_bad_option(measure->command, argc, argv);
	}
}

/**
 * measure_number() - the argument of an option that takes a number
 * @measure: what is measured.
 * @option: the option.
 * @text: its argument.
 * @max: the largest number; the smallest one is 1.
 * @number: the result.
 *
 * Return: 0 or an exit status.
 */
int measure_number(const struct measure *measure, char option, const char *text,
		   uint64_t max, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *number && *number <= max)
		return 0;
	return say_usage(measure->command,
			 "'%s' is not a number for -%c: it is from 1 to %llu",
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

void measure_free(struct measure *measure)
{
	free(measure->events_text);
	pmuctl_events_free(measure->events);
	int_list_free(&measure->ids);
}
