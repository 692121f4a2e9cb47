// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of events: which of those on the command line has which. As with perf, a filter is of
 * the tracepoints of the -e before it; before any -e, of all of them.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pmuctl_trace.h>

#include "command.h"
#include "measure.h"
#include "options.h"

/* Those of traces begin with a word that no tracepoint has a comparison with. */
static bool is_of_addresses(const char *filter)
{
	static const char *const words[] = { "filter", "start", "stop", "tracestop" };

	filter += strspn(filter, " \t\n,");
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t length = strlen(words[i]);

		if (!strncmp(filter, words[i], length) && strspn(filter + length, " \t") &&
		    !strchr("=!<>&~", filter[length + strspn(filter + length, " \t")]))
			return true;
	}
	return false;
}

static int add(struct filter_texts *filters, struct filter_text filter)
{
	struct filter_text *list = reallocarray(filters->list, filters->count + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	filters->list = list;
	list[filters->count++] = filter;
	return 0;
}

/* Of the events of the last -e; an exit status, or 0. */
static int find_events(const struct measure *measure, struct filter_text *filter)
{
	char *before;
	int ret;

	ret = events_text_count(measure->events_text, &filter->end);
	if (ret || !measure->before_last)
		return ret;
	before = strndup(measure->events_text, measure->before_last);
	ret = before ? events_text_count(before, &filter->first) : STATUS_FAILED;
	free(before);
	return ret;
}

static int say_two(const struct measure *measure, const char *what, const char *one,
		   const char *other, const char *link)
{
	return say_usage(measure->command, "two filters of %s, '%s' and '%s': join them with '%s'",
			 what, one, other, link);
}

/**
 * filter_option() - understand --filter
 * @measure: gets it.
 * @text: the filter; must stay.
 *
 * Return: 0 or an exit status.
 */
int filter_option(struct measure *measure, const char *text)
{
	struct filter_texts *filters = &measure->filters;
	struct filter_text filter = { .text = text };
	int ret;

	if (is_of_addresses(text)) {
		if (measure->address_filter)
			return say_two(measure, "traces", measure->address_filter, text, ",");
		measure->address_filter = text;
		return STATUS_OK;
	}
	if (!measure->events_text) {
		if (measure->filter)
			return say_two(measure, "all tracepoints", measure->filter, text, "&&");
		measure->filter = text;
		return STATUS_OK;
	}
	ret = find_events(measure, &filter);
	if (ret)
		return ret;
	for (size_t i = 0; i < filters->count; i++)
		if (filters->list[i].first == filter.first && filters->list[i].end == filter.end)
			return say_two(measure, "the same tracepoints", filters->list[i].text, text, "&&");
	return add(filters, filter) < 0 ? STATUS_FAILED : STATUS_OK;
}

/**
 * filter_of_event() - which filter was given for a tracepoint?
 * @measure: what was asked for.
 * @event: its number.
 *
 * Return: the filter, or NULL.
 */
const char *filter_of_event(const struct measure *measure, size_t event)
{
	const struct filter_texts *filters = &measure->filters;

	for (size_t i = 0; i < filters->count; i++)
		if (event >= filters->list[i].first && event < filters->list[i].end)
			return filters->list[i].text;
	return measure->filter;
}

static bool has_tracepoint(const struct measure *measure, size_t first, size_t end)
{
	size_t count = measure->events ? pmuctl_events_count(measure->events) : 0;

	for (size_t i = first; i < count && i < end; i++)
		if (pmuctl_events_attr(measure->events, i)->type == PERF_TYPE_TRACEPOINT)
			return true;
	return false;
}

static int say_no_tracepoint(const struct measure *measure, const char *filter)
{
	return say_usage(measure->command,
			 "the filter '%s' is of tracepoints, and no event before it is one: add one, such as -e raw_syscalls:sys_enter",
			 filter);
}

/**
 * measure_filters_check() - are there events that the filters are of?
 * @measure: what is measured, with its events.
 *
 * Return: 0 or an exit status.
 */
int measure_filters_check(const struct measure *measure)
{
	const char *wrong = cgroups_check(measure);
	bool traces = false;

	if (wrong)
		return say_usage(measure->command, "%s", wrong);
	if (measure->filter && !has_tracepoint(measure, 0, SIZE_MAX))
		return say_no_tracepoint(measure, measure->filter);
	if (measure->exclude_self && !has_tracepoint(measure, 0, SIZE_MAX))
		return say_usage(measure->command,
				 "--exclude-perf is of tracepoints, and no event is one: add one, such as -e raw_syscalls:sys_enter");
	for (size_t i = 0; i < measure->filters.count; i++) {
		const struct filter_text *filter = &measure->filters.list[i];

		if (!has_tracepoint(measure, filter->first, filter->end))
			return say_no_tracepoint(measure, filter->text);
	}
	for (size_t i = 0; measure->events && i < pmuctl_events_count(measure->events); i++)
		traces |= pmuctl_events_trace(measure->events, i);
	if (measure->address_filter && !traces)
		return say_usage(measure->command,
				 "the filter '%s' is of traces, and no event traces: add one, such as -e intel_pt//u",
				 measure->address_filter);
	return 0;
}
