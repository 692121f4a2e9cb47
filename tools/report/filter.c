// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which samples are looked at. As perf does it, CPUs and times leave samples out
 * altogether, while others still count for the whole, of which percentages are, unless
 * that is to be what is left (--percentage relative).
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"

/* What "--sort parent" looks for if nothing else was asked: entries of the kernel. */
#define PARENT_DEFAULT "^sys_|^do_page_fault"

/**
 * filter_list_has() - is this word in the list?
 * @list: with commas between.
 * @word: whole.
 */
bool filter_list_has(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; ; at++) {
		size_t there = strcspn(at, ",");

		if (there == length && !memcmp(at, word, length))
			return true;
		at += there;
		if (!*at)
			return false;
	}
}

static bool parse_number(const char **text, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*number = strtoul(*text, &end, 10);
	*text = end;
	return !errno && *number <= INT32_MAX;
}

/**
 * filter_numbers() - understand a list of numbers
 * @command: that it was given to.
 * @ranges: set.
 * @what: they are, for messages.
 * @text: "0,2-3".
 *
 * Return: 0, or an exit status.
 */
int filter_numbers(const struct command *command, struct filter_ranges *ranges,
		   const char *what, const char *text)
{
	const char *at = text;

	free(ranges->list);
	*ranges = (struct filter_ranges){ .count = 0 };
	do {
		struct filter_range range, *list;

		if (!parse_number(&at, &range.first))
			break;
		range.last = range.first;
		if (*at == '-' && (at++, !parse_number(&at, &range.last)))
			break;
		list = reallocarray(ranges->list, ranges->count + 1, sizeof(*list));
		if (!list || range.first > range.last || (*at && *at != ',')) {
			ranges->list = list ? list : ranges->list;
			break;
		}
		list[ranges->count++] = range;
		ranges->list = list;
		if (!*at)
			return STATUS_OK;
		at++;
	} while (true);
	return say_usage(command, "'%s' is no list of %s: it is like 0,2-3", text, what);
}

/**
 * filter_parent() - understand an expression for callers
 * @command: that it was given to.
 * @filter: gets it.
 * @text: an extended regular expression; NULL: perf's own.
 *
 * Return: 0, or an exit status.
 */
int filter_parent(const struct command *command, struct filter *filter, const char *text)
{
	char message[128];
	int ret;

	if (filter->parent_set)
		regfree(&filter->parent);
	ret = regcomp(&filter->parent, text ? text : PARENT_DEFAULT, REG_EXTENDED | REG_NOSUB);
	filter->parent_set = ret == 0;
	if (ret == 0)
		return STATUS_OK;
	regerror(ret, &filter->parent, message, sizeof(message));
	return say_usage(command, "'%s' is no regular expression: %s", text, message);
}

static bool all_have(const struct perffile *file, uint64_t field)
{
	for (size_t i = 0; i < file->event_count; i++)
		if (!(file->events[i].attr.sample_type & field))
			return false;
	return true;
}

/**
 * filter_start() - get ready for a recording; says what is wrong
 * @filter: the filter.
 * @samples: the recording.
 *
 * Return: 0 or a negative error number.
 */
int filter_start(struct filter *filter, const struct samples *samples)
{
	const struct perffile *file = samples->file;
	const char *path = samples->path;
	int ret;

	if (filter->cpus.count && !all_have(file, PERF_SAMPLE_CPU)) {
		say_error("'%s' does not tell on which CPU a sample was: leave -C out, or record with -a or --sample-cpu",
			  path);
		return -ENODATA;
	}
	if (filter->parent_set && !all_have(file, PERF_SAMPLE_CALLCHAIN)) {
		say_error("'%s' has no call chains, so nothing has a parent: record with -g", path);
		return -ENODATA;
	}
	if (!filter->time)
		return 0;
	if (!all_have(file, PERF_SAMPLE_TIME)) {
		say_error("'%s' does not tell when a sample was: leave --time out", path);
		return -ENODATA;
	}
	free(filter->times.list);
	filter->times = (struct filter_ranges){ .count = 0 };
	ret = times_parse(&filter->times, filter->time, file->order.first_sample,
			  file->order.last_sample);
	if (ret < 0)
		say_error("'%s' is no time: it is START,STOP in seconds, as 'pmuctl script' shows them, or like 10%%-40%%, or 10%%/2",
			  filter->time);
	return ret;
}

/* Is a number among those that are wanted? */
bool filter_ranges_have(const struct filter_ranges *ranges, int64_t number)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (number >= 0 && (uint64_t)number >= ranges->list[i].first &&
		    (uint64_t)number <= ranges->list[i].last)
			return true;
	return !ranges->count;
}

static bool is_hidden(const struct filter *filter, const struct perffile_record *record)
{
	switch (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return filter->hide_kernel;
	case PERF_RECORD_MISC_USER:
		return filter->hide_user;
	}
	return false;
}

/**
 * filter_skips() - is a sample left out altogether?
 * @filter: the filter.
 * @record: the sample.
 */
bool filter_skips(const struct filter *filter, const struct perffile_record *record)
{
	int64_t time = record->time > INT64_MAX ? INT64_MAX : (int64_t)record->time;

	return !filter_ranges_have(&filter->cpus, record->cpu) ||
	       !filter_ranges_have(&filter->times, time) || is_hidden(filter, record);
}

/**
 * filter_parent_of() - the caller that the expression means
 * @filter: with an expression.
 * @samples: which has resolved the sample.
 * @outermost_first: of several.
 *
 * Return: its name, or NULL.
 */
const char *filter_parent_of(const struct filter *filter, struct samples *samples,
			     bool outermost_first)
{
	for (size_t i = 0; i < samples->frame_count; i++) {
		size_t at = outermost_first ? samples->frame_count - 1 - i : i;
		const struct place *place = &samples->frames[at];
		const char *name;

		if (!place->symbol)
			continue;
		name = samples_place_name(samples, place);
		if (regexec(&filter->parent, name, 0, NULL, 0) == 0)
			return name;
	}
	return NULL;
}

static bool has_dso(const char *list, const struct binary *binary)
{
	return filter_list_has(list, binary->name) || filter_list_has(list, binary->path);
}

static bool has_symbol(const char *list, struct samples *samples, const struct place *place)
{
	return place->symbol && (filter_list_has(list, samples_place_name(samples, place)) ||
				 filter_list_has(list, place->symbol->raw));
}

/**
 * filter_has() - is a sample among those that are wanted?
 * @filter: the filter.
 * @samples: which has resolved the sample.
 * @record: the sample.
 * @thread: its thread.
 */
bool filter_has(const struct filter *filter, struct samples *samples,
		const struct perffile_record *record, const struct thread *thread)
{
	const struct place *place = &samples->frames[samples->self];

	return filter_ranges_have(&filter->pids, record->pid) &&
	       filter_ranges_have(&filter->tids, record->tid) &&
	       (!filter->comms || filter_list_has(filter->comms, thread->comm)) &&
	       (!filter->comm || !strcmp(filter->comm, thread->comm)) &&
	       (!filter->dsos || has_dso(filter->dsos, place->binary)) &&
	       (!filter->symbols || has_symbol(filter->symbols, samples, place)) &&
	       (!filter->has_parent || filter_parent_of(filter, samples, false));
}

/**
 * filter_free() - give back what the filter has
 * @filter: the filter.
 */
void filter_free(struct filter *filter)
{
	free(filter->pids.list);
	free(filter->tids.list);
	free(filter->cpus.list);
	free(filter->times.list);
	if (filter->parent_set)
		regfree(&filter->parent);
	filter->parent_set = false;
}
