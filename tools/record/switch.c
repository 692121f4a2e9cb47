// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl record --switch-output": a recording in several files, one after the other. Which is
 * the next one, when it is its turn, and which goes for it is decided here.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

#define SECONDS_MAX	(366u * 86400u)
/* So often another name is looked for, ten milliseconds later each. */
#define NAME_TRIES	100

/* Seconds of a unit of time, 0 for a letter that is none */
static unsigned int seconds_of(char letter)
{
	switch (letter) {
	case 's':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return 3600;
	case 'd':
		return 86400;
	default:
		return 0;
	}
}

static int time_option(struct record_options *options, const char *text, unsigned int unit)
{
	char digits[32];
	uint64_t number;
	int ret;

	snprintf(digits, sizeof(digits), "%.*s", (int)strlen(text) - 1, text);
	ret = measure_number(&options->measure, "--switch-output", digits, SECONDS_MAX / unit,
			     &number);
	options->switch_seconds = number * unit;
	return ret;
}

/**
 * switch_option() - understand the argument of --switch-output
 * @options: get it.
 * @text: signal, a size or a time; NULL: signal.
 *
 * Return: 0 or an exit status.
 */
int switch_option(struct record_options *options, const char *text)
{
	unsigned int unit = text && *text ? seconds_of(text[strlen(text) - 1]) : 0;
	bool is_size = false;

	options->switches_output = true;
	options->switch_seconds = 0;
	options->switch_size = 0;
	if (!text || !strcmp(text, "signal"))
		return 0;
	if (unit)
		return time_option(options, text, unit);
	if (strchr("BKMG", *text ? text[strlen(text) - 1] : '?'))
		return record_size_parse(options, "--switch-output", text, UINT64_MAX,
					 &options->switch_size, &is_size);
	return say_usage(options->measure.command,
			 "'%s' is not for --switch-output: it is signal, a size such as 100M, or a time such as 30s, 10m, 1h or 1d",
			 text);
}

/**
 * switch_check() - can what is asked for be in several files?
 * @options: all that is asked for.
 *
 * Return: 0 or an exit status.
 */
int switch_check(const struct record_options *options)
{
	const struct command *command = options->measure.command;

	if (options->switch_files && !options->switches_output)
		return say_usage(command, "--switch-max-files is for --switch-output");
	if (!options->switches_output && !options->timestamp_name)
		return 0;
	if (options->switches_output && options->snapshot)
		return say_usage(command,
				 "--switch-output and --snapshot exclude each other: of a trace, a snapshot is the end");
	if (options->switches_output && options->kcore)
		return say_usage(command,
				 "--switch-output and --kcore exclude each other: the latter is one directory");
	if (!strcmp(options->output, "-"))
		return say_usage(command, "%s needs names of files: '-' has none",
				 options->switches_output ? "--switch-output" :
							    "--timestamp-filename");
	return 0;
}

/* FILE, or FILE.TIME with hundredths of seconds; NULL without memory */
static char *name_now(const struct record_options *options)
{
	char when[32], *name;
	struct timespec now;
	struct tm fields;

	if (!options->switches_output && !options->timestamp_name)
		return strdup(options->output);
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &fields);
	strftime(when, sizeof(when), "%Y%m%d%H%M%S", &fields);
	return asprintf(&name, "%s.%s%02ld", options->output, when, now.tv_nsec / 10000000) < 0 ?
	       NULL : name;
}

/**
 * parts_next() - the name of the file that is recorded to from now on
 * @parts: all files of the recording.
 * @options: what is asked for.
 *
 * What is one too many is removed by parts_trim(), when the new one is there.
 *
 * Return: the name, which @parts has; NULL without memory.
 */
const char *parts_next(struct parts *parts, const struct record_options *options)
{
	char **names = reallocarray(parts->names, parts->count + 1, sizeof(*names));
	char *name;

	if (!names)
		return NULL;
	parts->names = names;
	name = name_now(options);
	/* One was begun a moment ago, or the clock was set back. */
	for (int tries = 0; name && options->switches_output && tries < NAME_TRIES &&
	     access(name, F_OK) == 0; tries++) {
		free(name);
		usleep(10000);
		name = name_now(options);
	}
	if (!name)
		return NULL;
	clock_gettime(CLOCK_MONOTONIC, &parts->since);
	return names[parts->count++] = name;
}

/**
 * parts_trim() - remove files that are more than are to be kept
 * @parts: all files of the recording.
 * @options: what is asked for.
 * @ended: nothing more is written; until then one that samples come to at its end only is empty.
 */
void parts_trim(struct parts *parts, const struct record_options *options, bool ended)
{
	uint64_t most = options->switch_files;

	most += most && options->overwrite && !ended;
	while (most && parts->count > most) {
		if (unlink(parts->names[0]) < 0)
			say_error("cannot remove '%s': %m", parts->names[0]);
		free(parts->names[0]);
		memmove(parts->names, parts->names + 1, --parts->count * sizeof(*parts->names));
	}
}

/**
 * parts_are_due() - is it time for the next file?
 * @parts: all files of the recording.
 * @options: what is asked for.
 * @size: bytes of the one that is being written.
 */
bool parts_are_due(const struct parts *parts, const struct record_options *options, uint64_t size)
{
	struct timespec now;

	if (options->switch_size)
		return size >= options->switch_size;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return options->switch_seconds &&
	       (now.tv_sec - parts->since.tv_sec) * 1000 +
	       (now.tv_nsec - parts->since.tv_nsec) / 1000000 >=
	       (long)options->switch_seconds * 1000;
}

void parts_free(struct parts *parts)
{
	while (parts->count)
		free(parts->names[--parts->count]);
	free(parts->names);
}
