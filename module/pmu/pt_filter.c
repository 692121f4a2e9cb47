// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address filters of Processor Trace; pt_filter.h explains them. This file compiles in user
 * space too.
 */
#include "pmu/pt_filter.h"

/* IA32_RTIT_CTL.ADDRn_CFG: it is a range of what is traced */
#define ADDR_SHIFT	32
#define ADDR_FILTER	1ULL

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

static int check_range(const struct pt_range *range, u64 size, u64 ctl,
		       struct pmuctl_explanation *why)
{
	bool kernel = range->from >= KERNEL_START;

	if (!size || range->to < range->from ||
	    (!kernel && range->to > USER_END))
		return pmuctl_refuse(why, PT_RANGE, "filter", range->from, size);
	if (!(ctl & (kernel ? PT_CTL_OS : PT_CTL_USER)))
		return pmuctl_refuse(why, PT_RANGE_LEVEL, "filter", range->from,
				     kernel ? "kernel" : "user", kernel ? "kernel" : "user");
	return 0;
}

static int parse_one(struct parse *p, u64 ctl, struct pt_range *range)
{
	u64 size;

	skip_space(p);
	if (strncmp(p->at, "filter", 6))
		return fail(p, "'filter' is expected, the only kind there is");
	p->at += 6;
	if (!parse_number(p, &range->from))
		return fail(p, "an address is expected");
	skip_space(p);
	if (*p->at != '/')
		return fail(p, "a slash and a size are expected");
	p->at++;
	if (!parse_number(p, &size))
		return fail(p, "a size is expected");
	skip_space(p);
	if (*p->at == '@')
		return pmuctl_refuse(p->why, PT_RANGE_FILE, "filter");
	if (*p->at && *p->at != ',')
		return fail(p, "a comma or the end is expected");
	range->to = range->from + size - 1;
	return check_range(range, size, ctl, p->why);
}

int pt_filter_parse(const char *text, const struct pt_caps *caps, u64 ctl,
		    struct pt_filter *filter, struct pmuctl_explanation *why)
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
		err = parse_one(&p, ctl, &filter->ranges[filter->nr]);
		if (err)
			return err;
		filter->nr++;
		if (!*p.at)
			return 0;
		p.at++; /* the comma */
	}
}

u64 pt_filter_ctl(const struct pt_filter *filter)
{
	unsigned int i;
	u64 ctl = 0;

	for (i = 0; i < filter->nr; i++)
		ctl |= ADDR_FILTER << (ADDR_SHIFT + 4 * i);
	return ctl;
}
