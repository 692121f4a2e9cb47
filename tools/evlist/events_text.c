// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events as they are given to -e: several lists add up, and what is wrong in them is
 * shown with a mark below it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "tracepoint/tracefs.h"

/* The name of the generic event with the number that begins at @at, NULL if none does */
static const char *name_of_number(const char *at, size_t *length)
{
	struct pmuctl_name name;
	unsigned long number;
	char *end;

	if (!isdigit((unsigned char)*at))
		return NULL;
	number = strtoul(at, &end, 10);
	if (*end && !strchr(",:}", *end))
		return NULL;
	*length = (size_t)(end - at);
	for (size_t i = 0; pmuctl_name_get(i, &name) == 0; i++)
		if (name.type == PERF_TYPE_HARDWARE && name.config == number)
			return name.name;
	return NULL;
}

/* Writes @list with names in place of numbers. */
static void put_list(FILE *out, const char *list)
{
	bool begins = true;

	while (*list) {
		size_t length;
		const char *name = begins ? name_of_number(list, &length) : NULL;

		if (name) {
			fputs(name, out);
			list += length;
		} else {
			fputc(*list++, out);
		}
		begins = list[-1] == ',' || list[-1] == '{';
	}
}

/**
 * events_text_add() - one more list of events
 * @text: all lists so far, with commas between; NULL for none; to be freed.
 * @list: the list. A number stands for the generic event that has it.
 *
 * Return: 0 or -ENOMEM.
 */
int events_text_add(char **text, const char *list)
{
	char *joined = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&joined, &size);

	if (!out)
		return -ENOMEM;
	if (*text)
		fprintf(out, "%s,", *text);
	put_list(out, list);
	if (fclose(out) != 0) {
		free(joined);
		return -ENOMEM;
	}
	free(*text);
	*text = joined;
	return 0;
}

/* A pmuctl_name_fn; @arg: times are among the events. They are opened as one that counts nothing. */
static int resolve(void *arg, const char *name, struct perf_event_attr *attr, char *sentence,
		   size_t size)
{
	if (event_time_find(name) == EVENT_TIME_NONE)
		return trace_name_resolve(NULL, name, attr, sentence, size);
	if (!*(const bool *)arg) {
		snprintf(sentence, size,
			 "'%.64s' is a time, which nothing samples: 'pmuctl stat' tells it", name);
		return -EINVAL;
	}
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	return 0;
}

static int parse(const char *text, bool with_times, struct pmuctl_events **events)
{
	struct pmuctl_parse_error error;
	int ret = pmuctl_events_parse(text, resolve, &with_times, &error, events);

	if (ret == 0)
		return 0;
	if (ret == -ENOMEM) {
		say_error("%s", pmuctl_strerror(ret));
		return STATUS_FAILED;
	}
	say_error("events: at character %zu: %s", error.position + 1,
		  error.sentence);
	fprintf(stderr, "  %s\n  %*s^\n", text, (int)error.position, "");
	return STATUS_USAGE;
}

/**
 * events_text_parse() - understand a list of events, or say what is wrong
 * @text: the list; patterns of tracepoints, "sched:*", stand for all of them.
 * @with_times: duration_time, user_time and system_time may be there.
 * @events: the result.
 *
 * Return: 0 or an exit status.
 */
int events_text_parse(const char *text, bool with_times, struct pmuctl_events **events)
{
	char *expanded;
	int ret = tracepoint_globs_expand(text, &expanded);

	if (ret == -ENOMEM)
		say_error("%s", pmuctl_strerror(ret));
	if (ret)
		return ret == -ENOENT ? STATUS_USAGE : STATUS_FAILED;
	ret = parse(expanded, with_times, events);
	free(expanded);
	return ret;
}

/**
 * events_text_count() - how many events is a list of?
 * @text: the list.
 * @count: the result.
 *
 * Return: 0 or an exit status.
 */
int events_text_count(const char *text, size_t *count)
{
	struct pmuctl_events *events;
	int ret = events_text_parse(text, true, &events);

	*count = 0;
	if (ret)
		return ret;
	*count = pmuctl_events_count(events);
	pmuctl_events_free(events);
	return 0;
}
