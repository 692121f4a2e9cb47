// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options that commands which read a recording have in common; reading.h explains it.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#include "report/reading.h"

/**
 * reading_filter() - understand an option that chooses samples
 * @command: whose option it is.
 * @filter: gets it; its argument is in optarg.
 * @option: its letter or number.
 *
 * Return: 0, an exit status, or STATUS_HELP: it is another option.
 */
int reading_filter(const struct command *command, struct filter *filter, int option)
{
	switch (option) {
	case 'c':
		filter->comms = optarg;
		return STATUS_OK;
	case 'd':
		filter->dsos = optarg;
		return STATUS_OK;
	case 'S':
		filter->symbols = optarg;
		return STATUS_OK;
	case READING_PID:
		return filter_numbers(command, &filter->pids, "processes", optarg);
	case READING_TID:
		return filter_numbers(command, &filter->tids, "threads", optarg);
	case 'C':
		return filter_numbers(command, &filter->cpus, "CPUs", optarg);
	case READING_TIME:
		filter->time = optarg;
		return STATUS_OK;
	}
	return STATUS_HELP;
}

static int max_stack(const struct command *command, struct samples_options *input,
		     const char *text)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || !number)
		return say_usage(command, "'%s' is not a number of callers for --max-stack", text);
	input->max_stack = number;
	return STATUS_OK;
}

/**
 * reading_input() - understand an option that says where things are, and how they are read
 * @command: whose option it is.
 * @input: gets it; its argument is in optarg.
 * @option: its letter or number.
 *
 * Return: 0, an exit status, or STATUS_HELP: it is another option.
 */
int reading_input(const struct command *command, struct samples_options *input, int option)
{
	switch (option) {
	case 'i':
		input->path = optarg;
		return STATUS_OK;
	case 'k':
		input->vmlinux = optarg;
		return STATUS_OK;
	case READING_KALLSYMS:
		input->kallsyms = optarg;
		return STATUS_OK;
	case READING_SYMFS:
		input->root = optarg;
		return STATUS_OK;
	case READING_DEBUGINFOD:
		input->debuginfod = optarg ? optarg : "";
		return STATUS_OK;
	case READING_INLINE:
	case READING_NO_INLINE:
		input->no_inline = option == READING_NO_INLINE;
		return STATUS_OK;
	case READING_MAX_STACK:
		return max_stack(command, input, optarg);
	}
	return STATUS_HELP;
}
