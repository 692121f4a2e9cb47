// SPDX-License-Identifier: GPL-2.0-only
/*
 * "--filter": of which events it is, and that it is refused if there are none of them.
 */
/* sources: tools/evlist/measure_options.c tools/evlist/user.c tools/evlist/numbers.c tools/evlist/lists.c */
/* sources: tools/evlist/events_text.c */
/* sources: tools/evlist/times.c tools/evlist/cpu_names.c */
/* sources: tools/evlist/filters.c tools/evlist/cgroups.c tools/tracepoint/tracefs.c tools/tracepoint/globs.c */
/* sources: tools/trace/names.c tools/say.c tools/options.c lib/src/names.c lib/src/fields.c lib/src/parse.c */
/* sources: lib/src/terms.c lib/src/events.c lib/src/explain.c lib/src/tracepoint.c */
/* sources: lib/src/device.c */
/* libs: -lpfm */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "../../tools/evlist/measure.h"

static const struct command command = {
	.name = "stat", .options = { measure_options }, .starts_command = true,
};

static int apply(void *arg, int option)
{
	return measure_option(arg, option);
}

/* The command line of these words; returns the exit status. */
static int parse(struct measure *measure, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	memset(measure, 0, sizeof(*measure));
	measure->command = &command;
	/* What is refused is said there. */
	cr_assert_not_null(freopen("/dev/null", "w", stderr));
	return measure_parse(measure, argc, argv, apply, measure);
}

static void is_kind(const char *filter, bool of_addresses)
{
	char *argv[] = { "stat", "--filter", (char *)filter, NULL };
	struct measure measure;

	cr_assert_eq(parse(&measure, argv), 0);
	cr_expect_eq(measure.filter, of_addresses ? NULL : filter, "%s", filter);
	cr_expect_eq(measure.address_filter, of_addresses ? filter : NULL, "%s", filter);
}

Test(tool_filter, two_kinds)
{
	is_kind("id == 39 || id == 186", false);
	is_kind("", false);
	is_kind("filter == 3", false);
	is_kind("stop&1", false);
	is_kind("filters > 3", false);
	is_kind("filter 0x1000/0x20", true);
	is_kind("  stop 0x1000@/bin/true", true);
	is_kind("start 0x1000, stop 0x2000", true);
	is_kind("tracestop 0x1000", true);
}

Test(tool_filter, two_of_a_kind_are_refused)
{
	char *twice[] = { "stat", "--filter", "id == 1", "--filter", "id == 2", NULL };
	char *traces[] = { "stat", "--filter", "stop 1", "--filter", "stop 2", NULL };
	char *both[] = { "stat", "--filter", "id == 1", "--filter", "filter 1/2", NULL };
	struct measure measure;

	cr_expect_eq(parse(&measure, twice), 2);
	cr_expect_eq(parse(&measure, traces), 2);
	cr_expect_eq(parse(&measure, both), 0);
	cr_expect_str_eq(measure.filter, "id == 1");
	cr_expect_str_eq(measure.address_filter, "filter 1/2");
}

/* As with perf, the filter is of the last -e. */
Test(tool_filter, each_of_the_events_before_it)
{
	char *argv[] = { "stat", "--filter", "all", "-e", "cs,faults", "--filter", "first", "-e", "cs",
			 "-e", "{faults,cs}", "--filter", "last", NULL };
	char *twice[] = { "stat", "-e", "cs", "--filter", "id == 1", "--filter", "id == 2", NULL };
	static const char *const wanted[] = { "first", "first", "all", "last", "last", "all" };
	struct measure measure;

	cr_assert_eq(parse(&measure, argv), 0);
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		cr_expect_str_eq(filter_of_event(&measure, i), wanted[i], "%zu", i);
	measure_free(&measure);
	cr_expect_eq(parse(&measure, twice), 2);
	measure_free(&measure);
}

/* A resolver that knows one tracepoint */
static int one_tracepoint(void *arg, const char *name, struct perf_event_attr *attr,
			  char *sentence, size_t size)
{
	(void)arg;
	(void)sentence;
	(void)size;
	if (strcmp(name, "a:tracepoint") != 0)
		return -ENOENT;
	attr->type = PERF_TYPE_TRACEPOINT;
	return 0;
}

static int checked(const char *filter, const char *events, bool exclude_self)
{
	char *argv[] = { "stat", filter ? "--filter" : NULL, (char *)filter, NULL };
	struct pmuctl_parse_error error;
	struct measure measure;
	int status;

	cr_assert_eq(parse(&measure, argv), 0);
	if (events)
		cr_assert_eq(pmuctl_events_parse(events, one_tracepoint, NULL, &error, &measure.events), 0,
			     "%s", error.sentence);
	measure.exclude_self = exclude_self;
	status = measure_filters_check(&measure);
	measure_free(&measure);
	return status;
}

Test(tool_filter, an_event_must_be_of_its_kind)
{
	cr_expect_eq(checked("id == 1", NULL, false), 2);
	cr_expect_eq(checked("id == 1", "cycles", false), 2);
	cr_expect_eq(checked("id == 1", "cycles,page-faults", false), 2);
	cr_expect_eq(checked("filter 1/2", NULL, false), 2);
	cr_expect_eq(checked("id == 1", "cycles,a:tracepoint", false), 0);
	cr_expect_eq(checked("filter 1/2", "cycles", false), 2);
	cr_expect_eq(checked("filter 1/2", "a:tracepoint", false), 2);
}

Test(tool_filter, ones_own_work_is_of_tracepoints)
{
	cr_expect_eq(checked(NULL, NULL, true), 2);
	cr_expect_eq(checked(NULL, "cycles", true), 2);
	cr_expect_eq(checked(NULL, "cycles,a:tracepoint", true), 0);
	cr_expect_eq(checked("id == 1", "a:tracepoint", true), 0);
}
