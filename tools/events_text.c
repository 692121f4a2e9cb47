// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events as they are given to -e: several lists add up, and what is wrong in them is
 * shown with a mark below it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"

/**
 * events_text_add() - one more list of events
 * @text: all lists so far, with commas between; NULL for none; to be freed.
 * @list: the list.
 *
 * Return: 0 or -ENOMEM.
 */
int events_text_add(char **text, const char *list)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", *text ? *text : "", *text ? "," : "",
		     list) < 0)
		return -ENOMEM;
	free(*text);
	*text = joined;
	return 0;
}

/**
 * events_text_parse() - understand a list of events, or say what is wrong
 * @text: the list.
 * @events: the result.
 *
 * Return: 0 or an exit status.
 */
int events_text_parse(const char *text, struct pmuctl_events **events)
{
	struct pmuctl_parse_error error;
	int ret = pmuctl_events_parse(text, trace_name_resolve, NULL, &error, events);

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
