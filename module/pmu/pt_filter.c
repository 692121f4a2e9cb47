// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address filters of Processor Trace; pt_filter.h explains them. This file compiles in user
 * space too.
 */
#include "pmu/pt_filter.h"

/* IA32_RTIT_CTL.ADDRn_CFG: a range of what is traced, or where the trace stops */
#define ADDR_SHIFT	32
#define ADDR_FILTER	1ULL
#define ADDR_STOP	2ULL

/* The ends of the halves of the address space, with 48 bits */
#define USER_END	0x00007fffffffffffULL
#define KERNEL_START	0xffff800000000000ULL

struct parse {
	const char *text;
	const char *at;
	struct pmuctl_explanation *why;
};

static int fail(const struct parse *p, const char *what)
{
	return pmuctl_refuse(p->why, FILTER_TEXT, "filter",
			     (unsigned int)(p->at - p->text) + 1, what);
}

static void skip_space(struct parse *p)
{
	while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n')
		p->at++;
}

static int digit_of(char c, unsigned int base)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (base == 16 && (c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return -1;
}

static bool parse_number(struct parse *p, u64 *number)
{
	unsigned int base = 10;
	const char *start;
	int digit;

	skip_space(p);
	if (p->at[0] == '0' && (p->at[1] | 0x20) == 'x') {
		base = 16;
		p->at += 2;
	}
	start = p->at;
	for (*number = 0; (digit = digit_of(*p->at, base)) >= 0; p->at++) {
		if (*number > (~0ULL - digit) / base)
			return false;
		*number = *number * base + digit;
	}
	return p->at != start;
}

static int check_level(const struct pt_range *range, bool kernel, u64 ctl,
		       struct pmuctl_explanation *why)
{
	if (!(ctl & (kernel ? PT_CTL_OS : PT_CTL_USER)))
		return pmuctl_refuse(why, PT_RANGE_LEVEL, "filter", range->from,
				     kernel ? "kernel" : "user", kernel ? "kernel" : "user");
	return 0;
}

static int check_range(const struct pt_range *range, u64 size, bool in_file, u64 ctl,
		       struct pmuctl_explanation *why)
{
	bool kernel = !in_file && range->from >= KERNEL_START;

	if (!size || range->to < range->from ||
	    (!kernel && range->to > USER_END))
		return pmuctl_refuse(why, PT_RANGE, "filter", range->from, size);
	return check_level(range, kernel, ctl, why);
}

static bool take_word(struct parse *p, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(p->at, word, length))
		return false;
	p->at += length;
	return true;
}

static int parse_kind(struct parse *p, bool *stop)
{
	skip_space(p);
	if (take_word(p, "start"))
		return pmuctl_refuse(p->why, PT_START, "filter");
	*stop = take_word(p, "stop");
	if (!*stop && !take_word(p, "filter"))
		return fail(p, "'filter' or 'stop' is expected");
	return 0;
}

static int parse_name(struct parse *p, struct pt_file_name *name)
{
	skip_space(p);
	name->length = 0;
	if (*p->at != '@')
		return 0;
	name->at = ++p->at;
	while (*p->at && *p->at != ',' && *p->at != ' ' && *p->at != '\t' && *p->at != '\n')
		p->at++;
	name->length = p->at - name->at;
	if (!name->length)
		return fail(p, "the name of a file is expected");
	skip_space(p);
	return 0;
}

static int parse_one(struct parse *p, u64 ctl, struct pt_range *range,
		     struct pt_file_name *name)
{
	u64 size;
	int err;

	err = parse_kind(p, &range->stop);
	if (err)
		return err;
	if (!parse_number(p, &range->from))
		return fail(p, "an address is expected");
	skip_space(p);
	if (*p->at != '/')
		return fail(p, "a slash and a size are expected: the processor has ranges only");
	p->at++;
	if (!parse_number(p, &size))
		return fail(p, "a size is expected");
	err = parse_name(p, name);
	if (err)
		return err;
	if (*p->at && *p->at != ',')
		return fail(p, "a comma or the end is expected");
	range->to = range->from + size - 1;
	return check_range(range, size, name->length, ctl, p->why);
}

int pt_filter_parse(const char *text, const struct pt_caps *caps, u64 ctl,
		    struct pt_filter *filter, struct pt_file_name *names,
		    struct pmuctl_explanation *why)
{
	struct parse p = { text, text, why };
	int err;

	memset(filter, 0, sizeof(*filter));
	skip_space(&p);
	if (!*p.at)
		return 0;
	for (;;) {
		if (filter->nr == caps->nr_ranges || filter->nr == PT_RANGES_MAX)
			return pmuctl_refuse(why, PT_RANGES, "filter", filter->nr);
		err = parse_one(&p, ctl, &filter->ranges[filter->nr], &names[filter->nr]);
		if (err)
			return err;
		filter->nr++;
		if (!*p.at)
			return 0;
		p.at++; /* the comma */
	}
}

bool pt_range_map(const struct pt_range *part, u64 offset, u64 start, u64 length,
		  struct pt_range *range)
{
	u64 from = part->from > offset ? part->from : offset;
	u64 to = part->to < offset + length - 1 ? part->to : offset + length - 1;

	if (from > to)
		return false;
	range->from = start + (from - offset);
	range->to = start + (to - offset);
	return true;
}

bool pt_filter_stops(const struct pt_filter *filter)
{
	unsigned int i;

	for (i = 0; i < filter->nr; i++)
		if (filter->ranges[i].stop)
			return true;
	return false;
}

u64 pt_filter_ctl(const struct pt_filter *filter)
{
	unsigned int i;
	u64 ctl = 0;

	for (i = 0; i < filter->nr; i++)
		ctl |= (filter->ranges[i].stop ? ADDR_STOP : ADDR_FILTER) <<
			(ADDR_SHIFT + 4 * i);
	return ctl;
}
