// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing the texts of the command line that say what is counted (libFuzzer): lists of events with
 * their terms and modifiers, as several -e give them; filters; lists of numbers; metrics and their
 * formulas. Whatever they are, they are understood or refused with a place in them. The first byte of
 * an input says what the rest is.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is wrong is told with a mark below it, which would only slow the fuzzer down. */
static FILE *nowhere;
#undef stderr
#define stderr nowhere
#include <pmuctl_trace.h>

#include "../../tools/evlist/events_text.c"
#include "../../tools/evlist/measure.h"
#include "../../tools/metric/metric.h"
#include "../../tools/trace/trace.h"

/* So that nothing is optimized away */
static volatile uint64_t sink;

void say_error(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	sink += (uint64_t)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
}

int say_usage(const struct command *command, const char *format, ...)
{
	char text[512];
	va_list args;

	(void)command;
	va_start(args, format);
	sink += (uint64_t)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return STATUS_USAGE;
}

/* ---- in place of the kernel's tracing, which is another one on each machine, and others */

FILE *tracefs_open(const char *name)
{
	static char list[] = "sched:sched_switch\nsched:sched_wakeup\nirq:irq_entry\nftrace:function\n";
	static char id[] = "314\n";

	if (!strcmp(name, "available_events"))
		return fmemopen(list, sizeof(list) - 1, "r");
	if (!strcmp(name, "events/sched/sched_switch/id") || !strcmp(name, "events/ftrace/function/id"))
		return fmemopen(id, sizeof(id) - 1, "r");
	return NULL;
}

bool measure_is_of_cpus(const struct measure *measure)
{
	return measure->kind == TARGET_CPU || measure->kind == TARGET_ALL_CPUS;
}

uint64_t tasks_address_of(const struct thread *thread, const char *path, uint64_t offset)
{
	(void)thread;
	return strlen(path) + offset;
}

/* ---- events */

static void look_at(const struct pmuctl_events *events)
{
	size_t count = pmuctl_events_count(events);

	if (!count)
		abort();
	for (size_t i = 0; i < count; i++) {
		size_t leader = pmuctl_events_leader(events, i);

		if (leader > i || pmuctl_events_leader(events, leader) != leader)
			abort();
		if (pmuctl_events_attr(events, i)->size != sizeof(struct perf_event_attr))
			abort();
		sink += strlen(pmuctl_events_name(events, i));
		sink += (uint64_t)!!pmuctl_events_trace(events, i);
	}
}

static void parse_events(const char *text, bool with_times)
{
	struct pmuctl_parse_error error = { .position = SIZE_MAX };
	struct pmuctl_events *events;
	int ret = pmuctl_events_parse(text, resolve, &with_times, &error, &events);

	if (ret == 0) {
		look_at(events);
		pmuctl_events_free(events);
		return;
	}
	/* A place in the text, or just behind it, and a sentence */
	if (ret != -ENOMEM && (error.position > strlen(text) || !error.sentence[0] ||
			       !memchr(error.sentence, '\0', sizeof(error.sentence))))
		abort();
}

/* Two -e, parted at the first ';'. Names in place of numbers are left as they are by a second time. */
static void events_are_understood(char *text)
{
	char *joined = NULL, *again = NULL, *second = strchr(text, ';');
	struct pmuctl_events *events;
	size_t count, counted;

	if (second)
		*second++ = '\0';
	if (events_text_add(&joined, text) < 0 || (second && events_text_add(&joined, second) < 0) ||
	    events_text_add(&again, joined) < 0)
		abort();
	if (strcmp(joined, again) != 0)
		abort();
	parse_events(joined, true);
	parse_events(joined, false);
	if (events_text_parse(joined, true, &events) == 0) {
		count = pmuctl_events_count(events);
		pmuctl_events_free(events);
		if (events_text_count(joined, &counted) != 0 || counted != count)
			abort();
	}
	free(joined);
	free(again);
}

/* ---- what goes with them */

/* "EVENTS;FILTER;EVENTS;CGROUPS;FILTER", each if it is there */
static void options_are_understood(char *text)
{
	struct measure measure = { .kind = TARGET_ALL_CPUS };
	int wrong = 0;
	char *part;

	for (int i = 0; (part = strsep(&text, ";")) && !wrong; i++) {
		if (i == 0 || i == 2) {
			measure.before_last = measure.events_text ? strlen(measure.events_text) : 0;
			if (*part)
				wrong = events_text_add(&measure.events_text, part);
		} else if (i == 3) {
			if (*part)
				wrong = cgroup_option(&measure, part, *part == 'a');
		} else {
			wrong = filter_option(&measure, part);
		}
	}
	if (!wrong && measure.events_text)
		wrong = events_text_parse(measure.events_text, false, &measure.events);
	if (!wrong && measure_filters_check(&measure) == 0 && measure.events) {
		for (size_t i = 0; i < pmuctl_events_count(measure.events); i++) {
			const char *filter = filter_of_event(&measure, i), *cgroup = cgroup_of_event(&measure, i);

			sink += (filter ? strlen(filter) : 0) + (cgroup ? strlen(cgroup) : 0);
		}
	}
	pmuctl_events_free(measure.events);
	cgroups_free(&measure.cgroups);
	free(measure.filters.list);
	free(measure.events_text);
}

/* Each number once, or a place in the text */
static void numbers_are_understood(const char *text, bool ranges)
{
	static uint8_t has[65536];
	struct int_list list;
	size_t position = SIZE_MAX;
	int ret = int_list_parse(text, ranges, &list, &position);

	if (ret == -EINVAL ? position > strlen(text) : ret == 0 && !list.count)
		abort();
	memset(has, 0, sizeof(has));
	for (size_t i = 0; i < list.count && ret == 0; i++) {
		if (list.list[i] < 0 || (list.list[i] < (int)sizeof(has) && has[list.list[i]]++))
			abort();
	}
	int_list_free(&list);
}

static void ranges_are_found(const char *text)
{
	struct trace_range ranges[TRACE_RANGES];

	if (trace_filter_ranges(text, (const struct thread *)nowhere, ranges) > TRACE_RANGES)
		abort();
}

/* ---- metrics */

/* A count by the name; some events have none. */
static bool count_of(void *arg, const char *name, double *count)
{
	(void)arg;
	*count = (double)(name[0] % 8);
	return name[0] != 'x';
}

static void named(void *arg, const char *name)
{
	size_t *names = arg;

	if (!*name || strlen(name) >= METRIC_NAME_SIZE)
		abort();
	(*names)++;
}

/* What is no formula has no value, and the same one has the same value again. */
static void formula_is_computed(const char *text, bool smt_on)
{
	const struct metric_facts facts = { .smt_on = smt_on, .count = count_of };
	double value = 0, again = 0;
	size_t names = 0;
	int ret = metric_names(text, smt_on, named, &names);
	bool has = metric_compute(text, &facts, &value);

	if (metric_compute(text, &facts, &again) != has || (has && (ret < 0 || value != again)))
		abort();
}

static void metrics_are_chosen(const char *text)
{
	static const struct metric_machine machine = {
		.model = { .vendor = "GenuineIntel", .family = 6, .model = 94 }, .smt_on = true,
	};
	const struct metric_room room = { .general = 4, .has_fixed = text[0] & 1 };
	struct metric_choice choice;
	const char *unknown = NULL;
	char *events = NULL;
	size_t size;
	FILE *out;

	if (metric_choose(&machine, text, &choice, &unknown) < 0) {
		if (unknown < text || unknown > text + strlen(text))
			abort();
		metric_choice_free(&choice);
		return;
	}
	out = open_memstream(&events, &size);
	if (!out || metric_events_print(&choice, &room, out) < 0 || fclose(out))
		abort();
	parse_events(events, true);
	free(events);
	metric_choice_free(&choice);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	nowhere = fopen("/dev/null", "w");
	/* The events of the same CPU everywhere */
	if (!nowhere || setenv("LIBPFM_FORCE_PMU", "skl", 1))
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size)
		return 0;
	/* Of its own size, so that what is read behind its end is noticed */
	text = malloc(size);
	if (!text)
		abort();
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	switch (data[0] & 7) {
	case 0:
	case 1:
		events_are_understood(text);
		break;
	case 2:
	case 3:
		options_are_understood(text);
		break;
	case 4:
		numbers_are_understood(text, data[0] & 8);
		break;
	case 5:
		formula_is_computed(text, data[0] & 8);
		break;
	case 6:
		metrics_are_chosen(text);
		break;
	case 7:
		ranges_are_found(text);
		break;
	}
	free(text);
	return 0;
}
