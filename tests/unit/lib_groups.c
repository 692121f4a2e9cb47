// SPDX-License-Identifier: GPL-2.0-only
/*
 * The grammar of event lists: groups in braces, their modifiers, the modifiers of
 * pinned and exclusive events, and what is wrong with braces.
 */
/* sources: lib/src/names.c lib/src/fields.c lib/src/parse.c lib/src/terms.c lib/src/events.c */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <criterion/criterion.h>

#include <pmuctl.h>

static int resolve(void *arg, const char *name, struct perf_event_attr *attr,
		   char *sentence, size_t size)
{
	(void)arg;
	(void)sentence;
	(void)size;
	if (strcmp(name, "MAKER:NAME") && strcmp(name, "MAKER:NAME:e"))
		return -ENOENT;
	attr->type = PERF_TYPE_RAW;
	attr->config = strlen(name);
	return 0;
}

static struct pmuctl_events *parse(const char *text)
{
	struct pmuctl_parse_error error;
	struct pmuctl_events *events = NULL;
	int ret = pmuctl_events_parse(text, resolve, NULL, &error, &events);

	cr_assert_eq(ret, 0, "'%s': %d at %zu: %s", text, ret, error.position,
		     error.sentence);
	return events;
}

/* What is expected of an event: its name, its leader, and the levels it counts. */
struct expected {
	const char *name;
	size_t leader;
	const char *levels;	/* of "ukh" */
};

static void check(const char *text, size_t count, const struct expected *expected)
{
	struct pmuctl_events *events = parse(text);

	cr_assert_eq(pmuctl_events_count(events), count, "'%s': %zu", text,
		     pmuctl_events_count(events));
	for (size_t i = 0; i < count; i++) {
		const struct perf_event_attr *attr = pmuctl_events_attr(events, i);
		const char *levels = expected[i].levels;

		cr_assert_str_eq(pmuctl_events_name(events, i), expected[i].name);
		cr_assert_eq(pmuctl_events_leader(events, i), expected[i].leader,
			     "'%s' %zu", text, i);
		cr_assert_eq(attr->exclude_user, !strchr(levels, 'u'), "%s %zu",
			     text, i);
		cr_assert_eq(attr->exclude_kernel, !strchr(levels, 'k'), "%s %zu",
			     text, i);
		cr_assert_eq(attr->exclude_hv, !strchr(levels, 'h'), "%s %zu", text,
			     i);
		cr_assert_eq(attr->size, sizeof(*attr));
	}
	cr_assert_eq(pmuctl_events_leader(events, count), SIZE_MAX);
	pmuctl_events_free(events);
}

#define CHECK(text, ...) \
	do { \
		const struct expected expected[] = { __VA_ARGS__ }; \
		check(text, sizeof(expected) / sizeof(expected[0]), expected); \
	} while (0)

Test(lib_groups, events_in_braces_have_a_leader)
{
	CHECK("{cycles,instructions}", { "cycles", 0, "ukh" },
	      { "instructions", 0, "ukh" });
	CHECK("{cycles}", { "cycles", 0, "ukh" });
	CHECK("r1,{r2,r3,r4},r5,{r6,r7}", { "r1", 0, "ukh" }, { "r2", 1, "ukh" },
	      { "r3", 1, "ukh" }, { "r4", 1, "ukh" }, { "r5", 4, "ukh" },
	      { "r6", 5, "ukh" }, { "r7", 5, "ukh" });
	CHECK(" { cycles , branches:u } , r1 ", { "cycles", 0, "ukh" },
	      { "branches:u", 0, "u" }, { "r1", 2, "ukh" });
}

Test(lib_groups, all_kinds_of_events_can_be_members)
{
	CHECK("{cpu/event=1,umask=2/u,event=3,umask=4,LLC-loads,MAKER:NAME}",
	      { "cpu/event=1,umask=2/u", 0, "u" }, { "event=3,umask=4", 0, "ukh" },
	      { "LLC-loads", 0, "ukh" }, { "MAKER:NAME", 0, "ukh" });
	CHECK("{event=1,event=2:u},{r1,umask=2,event=3}", { "event=1", 0, "ukh" },
	      { "event=2:u", 0, "u" }, { "r1", 2, "ukh" },
	      { "umask=2,event=3", 2, "ukh" });
}

Test(lib_groups, modifiers_of_a_group_are_added_to_each_member)
{
	CHECK("{cycles,cpu/event=1/,event=2,MAKER:NAME}:u", { "cycles:u", 0, "u" },
	      { "cpu/event=1/u", 0, "u" }, { "event=2:u", 0, "u" },
	      { "MAKER:NAME:u", 0, "u" });
	CHECK("{cycles:k,branches,cycles:u,cpu/event=1/k}:u",
	      { "cycles:ku", 0, "uk" }, { "branches:u", 0, "u" },
	      { "cycles:u", 0, "u" }, { "cpu/event=1/ku", 0, "uk" });
	CHECK("{cycles,branches}:kh,r1", { "cycles:kh", 0, "kh" },
	      { "branches:kh", 0, "kh" }, { "r1", 2, "ukh" });
	CHECK("{cpu/event=1,name=mine/,r1:u} :k", { "mine", 0, "k" },
	      { "r1:uk", 0, "uk" });
}

Test(lib_groups, precision_of_a_group_is_the_least)
{
	struct pmuctl_events *events = parse("{cycles,cycles:p,cycles:uppp}:pp");

	cr_assert_eq(pmuctl_events_attr(events, 0)->precise_ip, 2);
	cr_assert_eq(pmuctl_events_attr(events, 1)->precise_ip, 2);
	cr_assert_eq(pmuctl_events_attr(events, 2)->precise_ip, 3);
	cr_assert_str_eq(pmuctl_events_name(events, 0), "cycles:pp");
	cr_assert_str_eq(pmuctl_events_name(events, 1), "cycles:pp");
	cr_assert_str_eq(pmuctl_events_name(events, 2), "cycles:uppp");
	cr_assert_eq(pmuctl_events_attr(events, 0)->exclude_kernel, 0);
	pmuctl_events_free(events);
}

Test(lib_groups, pinned_and_exclusive)
{
	struct pmuctl_events *events =
		parse("cycles:D,branches:ue,{r1,r2:u}:De,cpu/event=1/D");

	cr_assert_eq(pmuctl_events_attr(events, 0)->pinned, 1);
	cr_assert_eq(pmuctl_events_attr(events, 0)->exclusive, 0);
	cr_assert_eq(pmuctl_events_attr(events, 0)->exclude_kernel, 0);
	cr_assert_eq(pmuctl_events_attr(events, 1)->pinned, 0);
	cr_assert_eq(pmuctl_events_attr(events, 1)->exclusive, 1);
	cr_assert_eq(pmuctl_events_attr(events, 1)->exclude_kernel, 1);
	cr_assert_eq(pmuctl_events_attr(events, 2)->pinned, 1);
	cr_assert_eq(pmuctl_events_attr(events, 2)->exclusive, 1);
	cr_assert_str_eq(pmuctl_events_name(events, 2), "r1:De");
	cr_assert_eq(pmuctl_events_attr(events, 3)->pinned, 0);
	cr_assert_eq(pmuctl_events_attr(events, 3)->exclusive, 0);
	cr_assert_str_eq(pmuctl_events_name(events, 3), "r2:u");
	cr_assert_eq(pmuctl_events_attr(events, 4)->pinned, 1);
	pmuctl_events_free(events);
}

Test(lib_groups, e_behind_a_makers_name_is_the_makers)
{
	struct pmuctl_events *events = parse("MAKER:NAME:e,MAKER:NAME:uD");

	cr_assert_eq(pmuctl_events_attr(events, 0)->config, strlen("MAKER:NAME:e"));
	cr_assert_eq(pmuctl_events_attr(events, 0)->exclusive, 0);
	cr_assert_eq(pmuctl_events_attr(events, 1)->config, strlen("MAKER:NAME"));
	cr_assert_eq(pmuctl_events_attr(events, 1)->pinned, 1);
	pmuctl_events_free(events);
}

struct mistake {
	const char *text;
	size_t position;
	const char *part;	/* of the sentence */
};

static const struct mistake mistakes[] = {
	{ "{", 1, "an event is missing" },
	{ "{}", 1, "an event is missing" },
	{ "{ }", 2, "an event is missing" },
	{ "{cycles", 0, "the brace that ends this group is missing" },
	{ "r1,{cycles,r2", 3, "the brace that ends this group is missing" },
	{ "{cycles,}", 8, "an event is missing" },
	{ "{cycles,,r1}", 8, "an event is missing" },
	{ "cycles}", 6, "this brace ends no group" },
	{ "{cycles},r1}", 11, "this brace ends no group" },
	{ "}", 0, "an event is missing" },
	{ "{cycles,{r1}}", 8, "cannot be part of another" },
	{ "cycles{r1}", 6, "a comma is missing" },
	{ "{cycles}r1", 8, "a comma is expected" },
	{ "{cycles}u", 8, "a comma is expected" },
	{ "{cycles}{r1}", 8, "a comma is expected" },
	{ "{cycles}:", 9, "a modifier is expected" },
	{ "{cycles}:x", 9, "unknown modifier 'x'" },
	{ "{cycles}:uu", 10, "twice" },
	{ "{cycles}:pppp", 12, "more than three" },
	{ "{cycles,nonesuch}:u", 8, "unknown event 'nonesuch'" },
	{ "{cpu/event=1}", 4, "the slash that ends this one is missing" },
	{ "cycles:DD", 8, "twice" },
};

Test(lib_groups, mistakes_are_told_with_their_place)
{
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const struct mistake *mistake = &mistakes[i];
		struct pmuctl_events *events = (void *)1;
		struct pmuctl_parse_error error;

		cr_expect_eq(pmuctl_events_parse(mistake->text, resolve, NULL, &error,
						 &events), -EINVAL, "'%s'",
			     mistake->text);
		cr_expect_null(events);
		cr_expect_eq(error.position, mistake->position, "'%s': at %zu: %s",
			     mistake->text, error.position, error.sentence);
		cr_expect(strstr(error.sentence, mistake->part), "'%s': %s",
			  mistake->text, error.sentence);
		cr_expect_eq(pmuctl_events_parse(mistake->text, resolve, NULL, NULL,
						 &events), -EINVAL);
	}
}
