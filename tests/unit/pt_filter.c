// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/pt_filter.c module/explain/explain.c */
/*
 * Address filters of Processor Trace: what their text means, and what is wrong with it.
 */
#include <criterion/criterion.h>

#include "pmu/pt_filter.h"

static const struct pt_caps two = { .nr_ranges = 2 };
static struct pmuctl_explanation why;
static struct pt_filter filter;
static struct pt_file_name names[PT_RANGES_MAX];

static int parse(const char *text)
{
	return pt_filter_parse(text, &two, PT_CTL_OS | PT_CTL_USER, &filter, names, &why);
}

Test(pt_filter, none_is_everything)
{
	cr_assert_eq(parse(""), 0);
	cr_assert_eq(filter.nr, 0);
	cr_assert_eq(pt_filter_ctl(&filter), 0);
	cr_assert_eq(parse("  \n"), 0);
}

Test(pt_filter, ranges)
{
	cr_assert_eq(parse("filter 0x401000/0x20"), 0);
	cr_assert_eq(filter.nr, 1);
	cr_assert_eq(filter.ranges[0].from, 0x401000);
	cr_assert_eq(filter.ranges[0].to, 0x40101f);
	cr_assert_eq(pt_filter_ctl(&filter), 0x100000000);
	cr_assert_eq(parse(" filter 4096 / 1 ,filter 0xffffffff81000000/4096 "), 0);
	cr_assert_eq(filter.nr, 2);
	cr_assert_eq(filter.ranges[0].from, 4096);
	cr_assert_eq(filter.ranges[0].to, 4096);
	cr_assert_eq(filter.ranges[1].from, 0xffffffff81000000);
	cr_assert_eq(filter.ranges[1].to, 0xffffffff81000fff);
	cr_assert_eq(pt_filter_ctl(&filter), 0x1100000000);
	/* Up to the last byte of both halves */
	cr_assert_eq(parse("filter 0x7ffffffff000/4096,filter 0xfffffffffffff000/4096"), 0);
}

static void check_name(unsigned int n, const char *name)
{
	cr_assert_eq(names[n].length, strlen(name), "%u", names[n].length);
	if (*name)
		cr_assert_eq(memcmp(names[n].at, name, names[n].length), 0);
}

Test(pt_filter, files)
{
	cr_assert_eq(parse("filter 0x1000/0x30@/bin/true"), 0);
	cr_assert_eq(filter.ranges[0].from, 0x1000);
	cr_assert_eq(filter.ranges[0].to, 0x102f);
	check_name(0, "/bin/true");
	cr_assert_eq(parse(" filter 0/1 @/a , stop 0x2000/4"), 0);
	check_name(0, "/a");
	check_name(1, "");
	cr_assert_not(filter.ranges[0].stop);
	cr_assert(filter.ranges[1].stop);
	cr_assert(pt_filter_stops(&filter));
	cr_assert_eq(pt_filter_ctl(&filter), 0x2100000000);
	cr_assert_eq(parse("filter 0/1@/a,filter 0/2@/b"), 0);
	check_name(1, "/b");
	cr_assert_not(pt_filter_stops(&filter));
}

/* A file's part is where the mapping has it; of a part of it, that part. */
Test(pt_filter, mappings)
{
	const struct pt_range part = { .from = 0x1800, .to = 0x27ff };
	struct pt_range range = { 7, 7 };

	cr_assert(pt_range_map(&part, 0x1000, 0x400000, 0x3000, &range));
	cr_assert_eq(range.from, 0x400800);
	cr_assert_eq(range.to, 0x4017ff);
	cr_assert(pt_range_map(&part, 0, 0x400000, 0x2000, &range));
	cr_assert_eq(range.from, 0x401800);
	cr_assert_eq(range.to, 0x401fff);
	cr_assert(pt_range_map(&part, 0x2000, 0x400000, 0x1000, &range));
	cr_assert_eq(range.from, 0x400000);
	cr_assert_eq(range.to, 0x4007ff);
	cr_assert_not(pt_range_map(&part, 0, 0x400000, 0x1800, &range));
	cr_assert_not(pt_range_map(&part, 0x2800, 0x400000, 0x1000, &range));
	cr_assert_eq(range.to, 0x4007ff);
}

Test(pt_filter, what_is_no_filter)
{
	static const struct {
		const char *text;
		uint32_t code;
	} all[] = {
		{ "trace 0x401000/1", PMUCTL_WHY_FILTER_TEXT },
		{ "start 0x401000", PMUCTL_WHY_PT_START },
		{ "stop 0x401000", PMUCTL_WHY_FILTER_TEXT },
		{ "filter", PMUCTL_WHY_FILTER_TEXT },
		{ "filter 0x", PMUCTL_WHY_FILTER_TEXT },
		{ "filter 0x401000", PMUCTL_WHY_FILTER_TEXT },
		{ "filter 0x401000/", PMUCTL_WHY_FILTER_TEXT },
		{ "filter 0x401000/4 x", PMUCTL_WHY_FILTER_TEXT },
		{ "filter 0x401000/4,", PMUCTL_WHY_FILTER_TEXT },
		{ "filter 0x10000000000000000/4", PMUCTL_WHY_FILTER_TEXT },
		{ "filter 0x401000/0", PMUCTL_WHY_PT_RANGE },
		{ "filter 0x7fffffffffff/2", PMUCTL_WHY_PT_RANGE },
		{ "filter 0x800000000000/1", PMUCTL_WHY_PT_RANGE },
		{ "filter 0xffffffffffffffff/2", PMUCTL_WHY_PT_RANGE },
		{ "filter 0x1000/0x30@", PMUCTL_WHY_FILTER_TEXT },
		{ "filter 0x1000/0x30@,filter 1/1", PMUCTL_WHY_FILTER_TEXT },
		{ "filter 0x1000/0x30@/bin/true x", PMUCTL_WHY_FILTER_TEXT },
		{ "filter 0xffffffff81000000/1@/bin/true", PMUCTL_WHY_PT_RANGE },
		{ "filter 1/1,filter 2/1,filter 3/1", PMUCTL_WHY_PT_RANGES },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		cr_assert_lt(parse(all[i].text), 0, "%s", all[i].text);
		cr_assert_eq(why.code, all[i].code, "%s: %s", all[i].text, why.sentence);
		cr_assert_str_eq(why.field, "filter");
	}
}

Test(pt_filter, levels_and_cpus_without)
{
	static const struct pt_caps none;

	cr_assert_eq(pt_filter_parse("filter 0x1000/1", &two, PT_CTL_OS, &filter, names, &why), -EINVAL);
	cr_assert_eq(why.code, PMUCTL_WHY_PT_RANGE_LEVEL);
	cr_assert_eq(pt_filter_parse("filter 0xffffffff81000000/1", &two, PT_CTL_USER, &filter,
				     names, &why), -EINVAL);
	cr_assert_eq(why.code, PMUCTL_WHY_PT_RANGE_LEVEL);
	cr_assert_eq(pt_filter_parse("filter 1/1", &none, PT_CTL_USER, &filter, names,
				     &why), -EINVAL);
	cr_assert_eq(why.code, PMUCTL_WHY_PT_RANGES);
	cr_assert_eq(pt_filter_parse("", &none, PT_CTL_USER, &filter, names, &why), 0);
}
