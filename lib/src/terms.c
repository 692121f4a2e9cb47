// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events with terms between slashes that are no fields of a counter: those of drivers that
 * trace, "intel_pt/tsc=1/", whose terms the driver lists in sysfs, and named events with
 * "period=N", "aux-action=WHAT", and for tracepoints conditions, "raw_syscalls:sys_enter/id=63/".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define DRIVERS	"/sys/class/misc/pmuctl"

/* What a driver's event has if its user does not say otherwise */
static const char *const defaults[] = { "pt", "branch", "tsc" };

static struct span key_of(struct span term)
{
	const char *equals = memchr(term.start, '=', term.len);

	if (equals)
		term.len = (size_t)(equals - term.start);
	return pmuctl_span_trim(term);
}

/* What is behind the equals sign; of length 0 if there is none */
static struct span value_of(struct span term)
{
	const char *end = term.start + term.len;
	const char *equals = memchr(term.start, '=', term.len);

	if (!equals)
		return (struct span){ end, 0 };
	return pmuctl_span_trim((struct span){ equals + 1, (size_t)(end - equals - 1) });
}

static int say_no_number(struct parser *p, struct span value)
{
	return pmuctl_parse_fail(p, value.start,
		"'%.*s' is not a number: write it in decimal, or hexadecimal with 0x before it",
		(int)value.len, value.start);
}

/* ------------------------------------------------------------ of all events */

static const struct {
	const char *name;
	uint32_t action;
} actions[] = {
	{ "start-paused", PMUCTL_AUX_START_PAUSED },
	{ "pause", PMUCTL_AUX_PAUSE },
	{ "resume", PMUCTL_AUX_RESUME },
};

static int action_parse(struct parser *p, struct span value, struct item *item)
{
	char *at = (char *)&item->attr + PMUCTL_ATTR_AUX_ACTION;
	bool is_start;

	for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
		if (!pmuctl_span_is(value, actions[i].name))
			continue;
		if (item->action)
			return pmuctl_parse_fail(p, value.start,
				"aux-action is given twice: an event does one thing to a trace");
		is_start = actions[i].action == PMUCTL_AUX_START_PAUSED;
		if (is_start && !item->traces)
			return pmuctl_parse_fail(p, value.start,
				"aux-action=%s is for an event that traces; others have pause or resume",
				actions[i].name);
		if (!is_start && item->traces)
			return pmuctl_parse_fail(p, value.start,
				"aux-action=%s is for others than the one that traces, which has start-paused",
				actions[i].name);
		item->action = actions[i].action;
		memcpy(at, &item->action, sizeof(item->action));
		return 0;
	}
	return pmuctl_parse_fail(p, value.start,
		"aux-action is start-paused, pause or resume, not '%.*s'",
		(int)value.len, value.start);
}

static int period_parse(struct parser *p, struct span value, struct item *item)
{
	uint64_t number;

	if (item->traces)
		return pmuctl_parse_fail(p, value.start,
			"an event that traces has no period: all is traced");
	if (!pmuctl_number_parse(value, &number))
		return say_no_number(p, value);
	if (!number)
		return pmuctl_parse_fail(p, value.start, "a period of 0 never ends: the least is 1");
	item->attr.sample_period = number;
	return 0;
}

static int name_parse(struct parser *p, struct span value, struct item *item)
{
	if (!value.len)
		return pmuctl_parse_fail(p, value.start, "the name is empty");
	item->name = value;
	item->has_own_name = true;
	return 0;
}

/**
 * pmuctl_term_common() - a term that every event can have between slashes
 * @p: whom to tell what is wrong.
 * @term: the term.
 * @item: changed.
 *
 * Return: 1; 0 if it is none; -EINVAL if it is wrong.
 */
int pmuctl_term_common(struct parser *p, struct span term, struct item *item)
{
	struct span key = key_of(term), value = value_of(term);
	int ret;

	if (pmuctl_span_is(key, "aux-action"))
		ret = action_parse(p, value, item);
	else if (pmuctl_span_is(key, "period"))
		ret = period_parse(p, value, item);
	else if (pmuctl_span_is(key, "name"))
		ret = name_parse(p, value, item);
	else if (pmuctl_span_is(key, "aux-output"))
		return pmuctl_parse_fail(p, key.start,
			"aux-output, PEBS records in a trace, is not there: let the event pause or resume the trace with aux-action, or sample it into the ring");
	else
		return 0;
	return ret < 0 ? ret : 1;
}

/* ------------------------------------------------------------ drivers that trace */

/* The text of a file of sysfs without its newline; false if it cannot be read */
static bool driver_file(struct span driver, const char *folder, struct span name,
			char *text, size_t size)
{
	char path[200];
	FILE *file;
	bool found;

	snprintf(path, sizeof(path), DRIVERS "/%.*s/%s%.*s", (int)driver.len, driver.start,
		 folder, (int)name.len, name.start);
	file = fopen(path, "re");
	if (!file)
		return false;
	found = fgets(text, (int)size, file) != NULL;
	fclose(file);
	if (found)
		text[strcspn(text, "\n")] = '\0';
	return found;
}

static bool is_word(struct span span)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

	return span.len && span.len < 32 && strspn(span.start, letters) >= span.len;
}

/* Which bits of attr.config a term is */
static bool format_find(struct span driver, struct span name, unsigned int *low,
			unsigned int *high)
{
	char text[64];
	int n;

	if (!is_word(name) || !driver_file(driver, "format/", name, text, sizeof(text)))
		return false;
	n = sscanf(text, "config:%u-%u", low, high);
	if (n == 1)
		*high = *low;
	return n >= 1 && *low <= *high && *high < 64;
}

static int driver_term(struct parser *p, struct span driver, struct span term,
		       struct item *item, uint64_t *given)
{
	struct span key = key_of(term), value = value_of(term);
	unsigned int low = 0, high = 63;
	uint64_t number = 1, mask;

	if (!pmuctl_span_is(key, "config") && !format_find(driver, key, &low, &high))
		return pmuctl_parse_fail(p, term.start,
			"'%.*s' of this CPU has no '%.*s': " DRIVERS "/%.*s/format has a file for each that there is",
			(int)driver.len, driver.start, (int)key.len, key.start,
			(int)driver.len, driver.start);
	if ((value.len || key.len < term.len) && !pmuctl_number_parse(value, &number))
		return say_no_number(p, value);
	mask = (high - low == 63 ? 0 : 1ULL << (high - low + 1)) - 1;
	if (number > mask)
		return pmuctl_parse_fail(p, value.start, "%.*s=%.*s is too large: the most is %llu",
			(int)key.len, key.start, (int)value.len, value.start,
			(unsigned long long)mask);
	item->attr.config &= ~(mask << low);
	item->attr.config |= number << low;
	*given |= mask << low;
	return 0;
}

static void driver_defaults(struct span driver, struct item *item, uint64_t given)
{
	for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
		struct span name = { defaults[i], strlen(defaults[i]) };
		unsigned int low, high;

		if (format_find(driver, name, &low, &high) && !(given & 1ULL << low))
			item->attr.config |= 1ULL << low;
	}
}

static bool driver_is_known(struct span name)
{
	return pmuctl_span_is(name, "intel_pt") || pmuctl_span_is(name, "intel_bts");
}

/* ------------------------------------------------------------ tracepoints */

/* "id=63": only if the tracepoint's field says so */
static int filter_term(struct parser *p, struct span term, struct item *item)
{
	struct span key = key_of(term), value = value_of(term);
	size_t length = strlen(item->filter);
	uint64_t number;
	int added;

	if (!key.len || !value.len)
		return pmuctl_parse_fail(p, term.start,
			"a field of the tracepoint and its value are expected, such as id=63, or period=N or aux-action=WHAT");
	if (!pmuctl_number_parse(value, &number))
		return say_no_number(p, value);
	added = snprintf(item->filter + length, sizeof(item->filter) - length,
			 "%s%.*s == %.*s", length ? " && " : "", (int)key.len, key.start,
			 (int)value.len, value.start);
	if (added < 0 || (size_t)added >= sizeof(item->filter) - length)
		return pmuctl_parse_fail(p, term.start,
			"these conditions are too long: give them with --filter");
	return 0;
}

/* ------------------------------------------------------------ all of them */

static int one_term(struct parser *p, struct span name, struct span term, struct item *item,
		    uint64_t *given)
{
	int ret = pmuctl_term_common(p, term, item);

	if (ret)
		return ret < 0 ? ret : 0;
	if (item->traces)
		return driver_term(p, name, term, item, given);
	if (item->attr.type == PERF_TYPE_TRACEPOINT)
		return filter_term(p, term, item);
	return pmuctl_parse_fail(p, term.start,
		"'%.*s' can have aux-action=WHAT, period=N and name=TEXT between its slashes",
		(int)name.len, name.start);
}

static int each_term(struct parser *p, struct span name, struct span body, struct item *item)
{
	const char *at = body.start, *end = body.start + body.len;
	uint64_t given = 0;
	int ret = 0;

	while (at < end && !ret) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		struct span term = { at, (size_t)((comma ? comma : end) - at) };

		ret = one_term(p, name, pmuctl_span_trim(term), item, &given);
		at = comma ? comma + 1 : end;
	}
	if (!ret && item->traces)
		driver_defaults(name, item, given);
	return ret;
}

/* Which event it is: 1 if there is one, 0 if not */
static int event_find(struct parser *p, struct span name, struct item *item)
{
	static const struct span type = { "type", 4 };
	char text[32], sentence[248], *copy;
	int ret = -ENOENT;

	if (is_word(name) && driver_file(name, "", type, text, sizeof(text))) {
		item->attr.type = (uint32_t)strtoul(text, NULL, 10);
		item->traces = true;
		return 1;
	}
	if (driver_is_known(name))
		return pmuctl_parse_fail(p, name.start,
			"there is no %.*s here: this CPU has none, a hypervisor hides it, or the driver is not loaded ('pmuctl doctor' tells)",
			(int)name.len, name.start);
	if (pmuctl_name_find_generic(name, &item->attr) ||
	    pmuctl_name_find_cache(name, &item->attr))
		return 1;
	if (!p->resolve || !memchr(name.start, ':', name.len))
		return 0;
	copy = strndup(name.start, name.len);
	if (!copy)
		return -ENOMEM;
	sentence[0] = '\0';
	ret = p->resolve(p->arg, copy, &item->attr, sentence, sizeof(sentence));
	free(copy);
	if (ret < 0 && sentence[0])
		return pmuctl_parse_fail(p, name.start, "%s", sentence);
	if (ret < 0)
		return pmuctl_parse_fail(p, name.start,
			"unknown event '%.*s': 'pmuctl list' shows the names there are",
			(int)name.len, name.start);
	return 1;
}

/**
 * pmuctl_terms_parse() - understand NAME/TERMS/
 * @p: whom to tell what is wrong.
 * @name: what is before the slash; not "cpu".
 * @body: what is between the slashes.
 * @item: filled.
 *
 * Return: 0 or a negative errno.
 */
int pmuctl_terms_parse(struct parser *p, struct span name, struct span body,
		       struct item *item)
{
	int ret = event_find(p, name, item);

	if (ret < 0)
		return ret;
	if (!ret)
		return pmuctl_parse_fail(p, name.start,
			"there is no PMU '%.*s' here: pmuctl counts events of cpu/.../, and of cpu_core/.../ and cpu_atom/.../ on hybrid processors",
			(int)name.len, name.start);
	return each_term(p, name, body, item);
}
