// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists of numbers on the command line, and names through libpfm4.
 */
/* sources: tools/evlist/lists.c tools/evlist/cpu_names.c */
/* libs: -lpfm */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "../../tools/stat/stat.h"

static void check(const char *text, bool ranges, size_t count, const int *numbers)
{
	struct int_list list;
	size_t position = 0;

	cr_assert_eq(int_list_parse(text, ranges, &list, &position), 0, "%s", text);
	cr_assert_eq(list.count, count, "%s: %zu", text, list.count);
	cr_assert_arr_eq(list.list, numbers, count * sizeof(*numbers));
	int_list_free(&list);
}

static void check_wrong(const char *text, bool ranges, size_t where)
{
	struct int_list list;
	size_t position = 999;

	cr_assert_eq(int_list_parse(text, ranges, &list, &position), -EINVAL,
		     "%s", text);
	cr_assert_eq(position, where, "%s: %zu", text, position);
	int_list_free(&list);
}

Test(tool_lists, numbers_and_ranges)
{
	check("0", true, 1, (int[]){ 0 });
	check("12,13", false, 2, (int[]){ 12, 13 });
	check("0,2-4,7", true, 5, (int[]){ 0, 2, 3, 4, 7 });
	check("2147483647", false, 1, (int[]){ 2147483647 });
	check("3-3", true, 1, (int[]){ 3 });
}

/* Each is meant once, at the place where it is named first. */
Test(tool_lists, repeated_numbers)
{
	static int all[65536];
	struct int_list list;
	size_t position;

	check("0,0", true, 1, (int[]){ 0 });
	check("7,7,7", false, 1, (int[]){ 7 });
	check("9,3,9,1,3", false, 3, (int[]){ 9, 3, 1 });
	check("2-4,0-3,4,9", true, 6, (int[]){ 2, 3, 4, 0, 1, 9 });
	check("0,2147483647,0,2147483647", false, 2, (int[]){ 0, 2147483647 });
	/* However many there are */
	for (int i = 0; i < 65536; i++)
		all[i] = i;
	cr_assert_eq(int_list_parse("0-65535,0-65535", true, &list, &position), 0);
	cr_assert_eq(list.count, 65536);
	cr_assert_arr_eq(list.list, all, sizeof(all));
	int_list_free(&list);
}

Test(tool_lists, mistakes)
{
	check_wrong("", true, 0);
	check_wrong("x", true, 0);
	check_wrong("-1", true, 0);
	check_wrong("1,", true, 2);
	check_wrong("1,,2", true, 2);
	check_wrong("1 2", true, 1);
	check_wrong("1-3", false, 1);
	check_wrong("3-1", true, 0);
	check_wrong("1-", true, 0);
	check_wrong("2147483648", true, 0);
	check_wrong("0-99999999", true, 0);
}

static int resolve(const char *name, struct perf_event_attr *attr, char *sentence)
{
	/* A model whose table is known, whatever this machine is. */
	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	sentence[0] = '\0';
	return cpu_name_resolve(NULL, name, attr, sentence, 200);
}

Test(tool_cpu_names, names_of_the_maker)
{
	struct perf_event_attr attr;
	char sentence[200];

	cr_assert_eq(resolve("INST_RETIRED:ANY_P", &attr, sentence), 0, "%s",
		     sentence);
	cr_assert_eq(attr.type, PERF_TYPE_RAW);
	cr_assert_eq(attr.config & 0xffff, 0xc0);
	cr_assert_eq(attr.size, sizeof(attr));
	cr_assert_eq(resolve("br_inst_retired:conditional", &attr, sentence), 0);
	cr_assert_eq(attr.config & 0xffff, 0x1c4);
	cr_assert_eq(attr.exclude_user, 0);
	cr_assert_eq(attr.exclude_kernel, 0);
	cr_assert_eq(resolve("INST_RETIRED:ANY_P:c=2:u", &attr, sentence), 0);
	cr_assert_eq(attr.config >> 24 & 0xff, 2);
	cr_assert_eq(attr.exclude_user, 0);
	cr_assert_eq(attr.exclude_kernel, 1);
}

Test(tool_cpu_names, names_that_nobody_gave)
{
	struct perf_event_attr attr;
	char sentence[200];

	cr_assert_eq(resolve("NO_SUCH_EVENT", &attr, sentence), -ENOENT);
	cr_assert(strstr(sentence, "unknown event 'NO_SUCH_EVENT'"));
	cr_assert_eq(resolve("INST_RETIRED:NO_SUCH_MASK", &attr, sentence), -EINVAL);
	cr_assert(strstr(sentence, "pmuctl list INST_RETIRED'"), "%s", sentence);
}

static void count_event(void *arg, const struct cpu_event *event)
{
	int *count = arg;

	cr_assert_str_not_empty(event->name);
	cr_assert_str_eq(event->pmu, "skl");
	(*count)++;
}

Test(tool_cpu_names, every_listed_event_can_be_looked_up)
{
	int count = 0;

	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	cr_assert_eq(cpu_events_visit(count_event, &count), 1);
	cr_assert_gt(count, 100);
}
