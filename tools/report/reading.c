// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options that commands which read a recording have in common; reading.h explains it.
 */
#include <getopt.h>

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

/**
 * reading_input() - understand an option that says where things are
 * @input: gets it; its argument is in optarg.
 * @option: its letter or number.
 *
 * Return: 0, or STATUS_HELP: it is another option.
 */
int reading_input(struct samples_options *input, int option)
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
	}
	return STATUS_HELP;
}
