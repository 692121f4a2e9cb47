// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of the events of a set: setting them, and having what they look at.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"

/*
 * Tracepoints and traces have the filters that the user gave, others cannot have one. @text: to be
 * given to free(); NULL if it has none. Return: 0 or -ENOMEM.
 */
static int filter_text(const struct event_set *set, const struct set_event *event, char **text)
{
	const struct measure *measure = set->measure;
	const bool is_tracepoint = event->attr.type == PERF_TYPE_TRACEPOINT;
	const char *given = NULL, *parts[3];
	size_t count = 0, size = 0;
	char self[64];
	FILE *out;

	*text = NULL;
	if (is_tracepoint)
		given = filter_of_event(measure, event->number);
	else if (event->traces)
		given = measure->address_filter;
	if (event->filter)
		parts[count++] = event->filter;
	if (given)
		parts[count++] = given;
	if (is_tracepoint && measure->exclude_self) {
		snprintf(self, sizeof(self), "common_pid != %d && comm != \"" MEASURE_SELF "\"", (int)getpid());
		parts[count++] = self;
	}
	if (count <= 1) {
		*text = count ? strdup(parts[0]) : NULL;
		return count && !*text ? -ENOMEM : 0;
	}
	out = open_memstream(text, &size);
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s(%s)", i ? " && " : "", parts[i]);
	if (fclose(out) == 0)
		return 0;
	free(*text);
	*text = NULL;
	return -ENOMEM;
}

/**
 * event_filter_set() - have an event count what its filters let through
 * @set: the events.
 * @event: number of the event.
 * @opened: it.
 * @why: filled if it is refused.
 *
 * Return: 0 or a negative errno.
 */
int event_filter_set(const struct event_set *set, size_t event, struct pmuctl_event *opened,
		     struct pmuctl_explanation *why)
{
	char *text;
	int ret;

	ret = filter_text(set, &set->events[event], &text);
	if (ret < 0 || !text)
		return ret;
	ret = pmuctl_event_set_filter(opened, text);
	free(text);
	if (ret < 0)
		pmuctl_event_explain(opened, why);
	return ret;
}

/* Is such a filter understood, by an event of this task? */
static bool is_understood(struct pmuctl_device *dev, const struct perf_event_attr *attr,
			  const char *text, bool *is_open)
{
	struct pmuctl_event *event;
	int ret;

	*is_open = pmuctl_event_open(dev, attr, 0, -1, 0, &event) == 0;
	if (!*is_open)
		return false;
	ret = pmuctl_event_set_filter(event, text);
	pmuctl_event_close(event);
	return ret == 0;
}

/**
 * event_filter_prepare() - have an event of a tracepoint told what its filter looks at
 * @set: the events.
 * @event: one of them.
 *
 * Most fields are in the kernel's records only, and these are made only where somebody asks. What
 * is refused is refused again when it is opened.
 *
 * Return: 0 or -ENOMEM.
 */
int event_filter_prepare(const struct event_set *set, struct set_event *event)
{
	struct perf_event_attr attr = event->attr;
	bool is_open;
	char *text;
	int ret;

	if (event->attr.type != PERF_TYPE_TRACEPOINT)
		return 0;
	ret = filter_text(set, event, &text);
	if (ret < 0 || !text)
		return ret;
	attr.disabled = 1;
	if (!is_understood(set->dev, &attr, text, &is_open) && is_open) {
		attr.sample_type |= PERF_SAMPLE_RAW;
		is_understood(set->dev, &attr, text, &is_open);
		/* What is wrong even then is told better. */
		if (is_open)
			event->attr.sample_type |= PERF_SAMPLE_RAW;
	}
	free(text);
	return 0;
}
