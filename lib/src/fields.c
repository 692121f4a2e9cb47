// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events given by what goes into the event select register: named fields
 * ("event=0xc4", "cmask=1", "edge") and the raw number ("r01c4"). Whether the CPU
 * has such an event, and which bits a user may set, is the driver's to decide.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum field_kind {
	FIELD_CONFIG,		/* bits of attr.config */
	FIELD_EVENT,		/* bits 0-7, and 32-35 for events above 0xff */
	FIELD_CONFIG1,
	FIELD_CONFIG2,
	FIELD_NAME,		/* not a number: what to call it */
};

struct field {
	const char *name;
	enum field_kind kind;
	unsigned int shift;
	uint64_t max;
	bool flag;		/* "=1" may be left out */
};

/*
 * Layout of an event select register: Intel SDM volume 3, section 20.2.1.1
 * (IA32_PERFEVTSELx); bits 32-35: AMD APM volume 2, section 13.2.1 (PerfEvtSeln). What config1
 * is for has the names of perf's format files.
 */
static const struct field fields[] = {
	{ "config",	FIELD_CONFIG,	0,	UINT64_MAX,	false },
	{ "event",	FIELD_EVENT,	0,	0xfff,		false },
	{ "umask",	FIELD_CONFIG,	8,	0xff,		false },
	{ "edge",	FIELD_CONFIG,	18,	1,		true },
	{ "pc",		FIELD_CONFIG,	19,	1,		true },
	{ "any",	FIELD_CONFIG,	21,	1,		true },
	{ "inv",	FIELD_CONFIG,	23,	1,		true },
	{ "cmask",	FIELD_CONFIG,	24,	0xff,		false },
	{ "config1",	FIELD_CONFIG1,	0,	UINT64_MAX,	false },
	{ "config2",	FIELD_CONFIG2,	0,	UINT64_MAX,	false },
	{ "offcore_rsp", FIELD_CONFIG1,	0,	UINT64_MAX,	false },
	{ "frontend",	FIELD_CONFIG1,	0,	0xffffff,	false },
	{ "snoop_rsp",	FIELD_CONFIG1,	0,	UINT64_MAX,	false },
	{ "name",	FIELD_NAME,	0,	0,		false },
};

static struct span span_key(struct span term)
{
	const char *equals = memchr(term.start, '=', term.len);

	if (equals)
		term.len = (size_t)(equals - term.start);
	return term;
}

/**
 * pmuctl_field_is() - does this term name a field?
 * @term: "event=0xc4", "edge".
 * @index: if it does, which.
 */
bool pmuctl_field_is(struct span term, unsigned int *index)
{
	struct span key = span_key(term);

	for (unsigned int i = 0; i < ARRAY_LEN(fields); i++) {
		if (strlen(fields[i].name) == key.len &&
		    !strncmp(fields[i].name, key.start, key.len) &&
		    (key.len < term.len || fields[i].flag)) {
			*index = i;
			return true;
		}
	}
	return false;
}

/**
 * pmuctl_number_parse() - understand a number: hexadecimal with 0x, else decimal
 * @text: all of it.
 * @value: the result.
 *
 * Return: whether it is one.
 */
bool pmuctl_number_parse(struct span text, uint64_t *value)
{
	uint64_t base = 10, result = 0;

	if (text.len > 2 && text.start[0] == '0' &&
	    (text.start[1] == 'x' || text.start[1] == 'X')) {
		base = 16;
		text.start += 2;
		text.len -= 2;
	}
	if (!text.len)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		int c = tolower((unsigned char)text.start[i]);
		uint64_t digit;

		if (c >= '0' && c <= '9')
			digit = (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (uint64_t)(c - 'a') + 10;
		else
			return false;
		if (digit >= base || result > (UINT64_MAX - digit) / base)
			return false;
		result = result * base + digit;
	}
	*value = result;
	return true;
}

static void field_store(const struct field *field, uint64_t value,
			struct perf_event_attr *attr)
{
	switch (field->kind) {
	case FIELD_CONFIG:
		attr->config |= value << field->shift;
		break;
	case FIELD_EVENT:
		attr->config |= (value & 0xff) | (value >> 8) << 32;
		break;
	case FIELD_CONFIG1:
		attr->config1 = value;
		break;
	case FIELD_CONFIG2:
		attr->config2 = value;
		break;
	case FIELD_NAME:
		break;
	}
}

static int field_unknown(struct parser *p, struct span term)
{
	struct span key = span_key(term);

	if (!key.len)
		return pmuctl_parse_fail(p, term.start,
			"a field is expected, such as event=0xc4");
	for (unsigned int i = 0; i < ARRAY_LEN(fields); i++)
		if (pmuctl_span_is(key, fields[i].name))
			return pmuctl_parse_fail(p, term.start,
				"the field '%s' needs a value: %s=NUMBER",
				fields[i].name, fields[i].name);
	return pmuctl_parse_fail(p, term.start,
		"unknown field '%.*s': known are event, umask, edge, inv, any, pc, cmask, config, config1, config2, offcore_rsp, frontend, snoop_rsp, name",
		(int)key.len, key.start);
}

/**
 * pmuctl_field_apply() - put one term into an attr
 * @p: whom to tell what is wrong.
 * @term: "event=0xc4".
 * @set: what was given so far.
 * @attr: changed.
 *
 * Return: 0 or -EINVAL.
 */
int pmuctl_field_apply(struct parser *p, struct span term, struct field_set *set,
		       struct perf_event_attr *attr)
{
	struct span value = span_key(term);
	const struct field *field;
	unsigned int index;
	uint64_t number = 1;

	if (!pmuctl_field_is(term, &index))
		return field_unknown(p, term);
	field = &fields[index];
	if (set->seen & 1u << index)
		return pmuctl_parse_fail(p, term.start,
			"the field '%s' is given twice", field->name);
	set->seen |= 1u << index;
	if (value.len < term.len) {
		value.start += value.len + 1;
		value.len = term.len - value.len - 1;
		if (field->kind == FIELD_NAME) {
			set->name = value;
			return value.len ? 0 : pmuctl_parse_fail(p, value.start,
				"the name is empty");
		}
		if (!pmuctl_number_parse(value, &number))
			return pmuctl_parse_fail(p, value.start,
				"'%.*s' is not a number: write it in decimal, or hexadecimal with 0x before it",
				(int)value.len, value.start);
	}
	if (number > field->max)
		return pmuctl_parse_fail(p, value.start,
			"%s=%.*s is too large: the most is 0x%llx", field->name,
			(int)value.len, value.start,
			(unsigned long long)field->max);
	field_store(field, number, attr);
	return 0;
}

/**
 * pmuctl_raw_parse() - understand "r01c4"
 * @p: whom to tell what is wrong.
 * @text: the text.
 * @attr: type and config are set.
 *
 * Return: 1 if it was one, 0 if it is something else, -EINVAL if it is one but wrong.
 */
int pmuctl_raw_parse(struct parser *p, struct span text,
		     struct perf_event_attr *attr)
{
	uint64_t config = 0;

	if (text.len < 2 || text.start[0] != 'r')
		return 0;
	for (size_t i = 1; i < text.len; i++) {
		int c = tolower((unsigned char)text.start[i]);

		if (!isxdigit(c))
			return 0;
		if (config >> 60)
			return pmuctl_parse_fail(p, text.start,
				"a raw event has at most 16 hexadecimal digits behind the r");
		config = config << 4 |
			(uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	attr->type = PERF_TYPE_RAW;
	attr->config = config;
	return 1;
}
