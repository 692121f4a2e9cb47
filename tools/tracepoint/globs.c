// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patterns in lists of events, "sched:*": what the kernel's tracing has of these names takes
 * their place before the list is understood.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "tracefs.h"

#define NAME_SIZE 300

/* Patterns are letters like others in fields and their values. */
static bool is_pattern(const char *item, size_t length)
{
	const char *colon = memchr(item, ':', length);
	size_t before = strcspn(item, ":/,{} \t\n");

	if (!colon || before != (size_t)(colon - item))
		return false;
	length = before + 1 + strcspn(colon + 1, ":/,{} \t\n");
	for (size_t i = 0; i < length; i++)
		if (strchr("*?[", item[i]))
			return true;
	return false;
}

/* Where an event of a list ends: at a comma or a brace that is not between slashes */
static size_t item_length(const char *item)
{
	bool inside = false;
	size_t length;

	for (length = 0; item[length]; length++) {
		if (item[length] == '/')
			inside = !inside;
		else if (!inside && strchr(",{}", item[length]))
			break;
	}
	return length;
}

/* Writes all events that a pattern matches, each with what is behind that; returns how many. */
static size_t put_matches(FILE *out, const char *item, size_t length, size_t *made_up)
{
	const char *colon = memchr(item, ':', length);
	size_t end = (size_t)(colon + 1 - item) + strcspn(colon + 1, ":/,{} \t\n");
	char pattern[NAME_SIZE], line[NAME_SIZE];
	FILE *file = tracefs_open("available_events");
	size_t count = 0;

	snprintf(pattern, sizeof(pattern), "%.*s", (int)end, item);
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (fnmatch(pattern, line, 0))
			continue;
		if (trace_name_is_made_up(line)) {
			(*made_up)++;
			continue;
		}
		fprintf(out, "%s%s%.*s", count++ ? "," : "", line, (int)(length - end), item + end);
	}
	if (file)
		fclose(file);
	return count;
}

static int say_nothing_matches(const char *item, size_t length, size_t made_up)
{
	char sentence[256];

	if (made_up)
		say_error("'%.*s' are no tracepoints but events of the kernel's tracing itself: 'perf record' has them",
			  (int)length, item);
	else if (trace_names_are_hidden(item, sentence, sizeof(sentence)))
		say_error("%s", sentence);
	else
		say_error("no tracepoint has a name like '%.*s': 'pmuctl list tracepoints' shows them",
			  (int)length, item);
	return -ENOENT;
}

/**
 * tracepoint_globs_expand() - a list of events with names in the place of patterns
 * @text: the list.
 * @expanded: a new text; NULL after an error.
 *
 * Return: 0; -ENOMEM; -ENOENT if nothing matches, of which the user has been told.
 */
int tracepoint_globs_expand(const char *text, char **expanded)
{
	size_t size = 0, made_up = 0;
	FILE *out;
	int ret = 0;

	*expanded = NULL;
	out = open_memstream(expanded, &size);
	if (!out)
		return -ENOMEM;
	while (*text && !ret) {
		size_t blanks = strspn(text, " \t\n"), length = item_length(text + blanks);

		fwrite(text, 1, blanks, out);
		text += blanks;
		if (!is_pattern(text, length))
			fwrite(text, 1, length, out);
		else if (!put_matches(out, text, length, &made_up))
			ret = say_nothing_matches(text, length, made_up);
		text += length;
		if (*text)
			fputc(*text++, out);
	}
	if (fclose(out) && !ret)
		ret = -ENOMEM;
	if (ret) {
		free(*expanded);
		*expanded = NULL;
	}
	return ret;
}
