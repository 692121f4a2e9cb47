// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events as they are given to -e: lists that add up, and numbers of generic events.
 */
/* sources: tools/evlist/events_text.c tools/evlist/times.c tools/evlist/cpu_names.c */
/* sources: tools/trace/names.c tools/say.c */
/* sources: lib/src/names.c lib/src/fields.c lib/src/parse.c lib/src/terms.c lib/src/events.c */
/* sources: lib/src/explain.c lib/src/tracepoint.c */
/* sources: tools/tracepoint/tracefs.c tools/tracepoint/globs.c */
/* libs: -lpfm */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "../../tools/command.h"

static void check(const char *list, const char *expected)
{
	char *text = NULL;

	cr_assert_eq(events_text_add(&text, list), 0);
	cr_expect_str_eq(text, expected, "%s became %s", list, text);
	free(text);
}

Test(events_text, numbers_are_generic_events)
{
	static const char *const names[] = {
		"cycles", "instructions", "cache-references", "cache-misses", "branches",
		"branch-misses", "bus-cycles", "stalled-cycles-frontend",
		"stalled-cycles-backend", "ref-cycles",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char number[] = { (char)('0' + i), '\0' };

		check(number, names[i]);
	}
	check("1,3:u,005", "instructions,cache-misses:u,branch-misses");
	check("{1,4}:u,{0}", "{instructions,branches}:u,{cycles}");
}

Test(events_text, other_words_stay)
{
	check("10", "10");
	check("99999999999999999999999", "99999999999999999999999");
	check("", "");
	check(",,", ",,");
	check("1x,r1,cycles:1", "1x,r1,cycles:1");
	check("cpu/event=1,umask=0/,event=3", "cpu/event=1,umask=0/,event=3");
}

Test(events_text, lists_add_up)
{
	char *text = NULL;

	cr_assert_eq(events_text_add(&text, "1"), 0);
	cr_assert_eq(events_text_add(&text, "cycles:u"), 0);
	cr_assert_eq(events_text_add(&text, "5"), 0);
	cr_expect_str_eq(text, "instructions,cycles:u,branch-misses");
	free(text);
}

Test(events_text, a_number_is_counted_as_its_name_says)
{
	struct pmuctl_events *events = NULL;
	char *text = NULL;

	cr_assert_eq(events_text_add(&text, "{3,cycles}:u"), 0);
	cr_assert_eq(events_text_parse(text, false, &events), 0);
	cr_assert_eq(pmuctl_events_count(events), 2);
	cr_expect_str_eq(pmuctl_events_name(events, 0), "cache-misses:u");
	cr_expect_eq(pmuctl_events_attr(events, 0)->type, PERF_TYPE_HARDWARE);
	cr_expect_eq(pmuctl_events_attr(events, 0)->config, PERF_COUNT_HW_CACHE_MISSES);
	cr_expect(pmuctl_events_attr(events, 0)->exclude_kernel);
	pmuctl_events_free(events);
	free(text);
	cr_expect_eq(events_text_parse("cycles,nonesuch", false, &events), STATUS_USAGE);
	cr_expect_eq(events_text_parse("cycles,no_such_system:*", false, &events), STATUS_USAGE);
}

/* They are opened as one that counts nothing, so that they may be anywhere that an event may be. */
Test(events_text, times_are_counted_and_not_sampled)
{
	struct pmuctl_events *events = NULL;

	cr_assert_eq(events_text_parse("{duration_time:u,cycles},user_time,system_time", true, &events), 0);
	cr_assert_eq(pmuctl_events_count(events), 4);
	cr_expect_eq(pmuctl_events_attr(events, 0)->type, PERF_TYPE_SOFTWARE);
	cr_expect_eq(pmuctl_events_attr(events, 0)->config, PERF_COUNT_SW_DUMMY);
	cr_expect_eq(event_time_find(pmuctl_events_name(events, 0)), EVENT_TIME_DURATION);
	cr_expect_eq(event_time_find(pmuctl_events_name(events, 1)), EVENT_TIME_NONE);
	cr_expect_eq(event_time_find(pmuctl_events_name(events, 2)), EVENT_TIME_USER);
	cr_expect_eq(event_time_find(pmuctl_events_name(events, 3)), EVENT_TIME_SYSTEM);
	pmuctl_events_free(events);
	cr_expect_eq(event_time_find("user_times"), EVENT_TIME_NONE);
	cr_expect_eq(event_time_find("user"), EVENT_TIME_NONE);
	cr_expect_eq(events_text_parse("cycles,duration_time", false, &events), STATUS_USAGE);
}
