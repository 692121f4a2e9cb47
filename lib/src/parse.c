// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The grammar of event lists: where an event ends, which kind of event it is, and
 * its modifiers. Names and fields are looked up in names.c and fields.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define GROUPS_SENTENCE \
	"groups of events in braces are not supported yet: list the events without braces"

/* Sentences of resolvers are cut to this. */
#define RESOLVE_SENTENCE_MAX 200

struct named_event {
	char *name;
	struct perf_event_attr attr;
};

struct pmuctl_events {
	size_t count;
	struct named_event *list;
};

/**
 * pmuctl_parse_fail() - say what is wrong and where
 * @p: the parser.
 * @where: points into its text.
 * @format: the sentence.
 *
 * Return: -EINVAL.
 */
int pmuctl_parse_fail(struct parser *p, const char *where, const char *format, ...)
{
	va_list args;

	if (!p->error)
		return -EINVAL;
	p->error->position = (size_t)(where - p->text);
	va_start(args, format);
	vsnprintf(p->error->sentence, sizeof(p->error->sentence), format, args);
	va_end(args);
	return -EINVAL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static struct span span_trim(struct span span)
{
	while (span.len && is_blank(span.start[0])) {
		span.start++;
		span.len--;
	}
	while (span.len && is_blank(span.start[span.len - 1]))
		span.len--;
	return span;
}

/* ------------------------------------------------------------- modifiers */

static bool is_modifier(char c)
{
	return c != '\0' && strchr("ukhp", c);
}

/* Sets what the letters say; exclude_* stay as they are if none of u, k, h is there. */
static int modifiers_apply(struct parser *p, struct span mods,
			   struct perf_event_attr *attr)
{
	unsigned int precise = 0;
	bool seen[128] = { false };

	if (!mods.len)
		return pmuctl_parse_fail(p, mods.start,
			"a modifier is expected here: u, k, h or p");
	for (size_t i = 0; i < mods.len; i++) {
		char c = mods.start[i];

		if (!is_modifier(c))
			return pmuctl_parse_fail(p, mods.start + i,
				"unknown modifier '%c': known are u (user space), k (kernel), h (hypervisor) and p (precise)",
				c);
		if (c == 'p') {
			if (++precise > 3)
				return pmuctl_parse_fail(p, mods.start + i,
					"the modifier p is given more than three times");
			continue;
		}
		if (seen[(unsigned char)c])
			return pmuctl_parse_fail(p, mods.start + i,
				"the modifier %c is given twice", c);
		seen[(unsigned char)c] = true;
	}
	if (seen['u'] || seen['k'] || seen['h']) {
		attr->exclude_user = !seen['u'];
		attr->exclude_kernel = !seen['k'];
		attr->exclude_hv = !seen['h'];
	}
	attr->precise_ip = precise;
	return 0;
}

/* ------------------------------------------------------- one kind each */

/*
 * FIELDS or a generic name, between the slashes or bare. @list holds all terms with
 * their commas.
 */
static int fields_parse(struct parser *p, struct span list, struct span *name,
			struct perf_event_attr *attr)
{
	const char *end = list.start + list.len;
	const char *at = list.start;
	struct field_set set = { .seen = 0 };
	int ret;

	attr->type = PERF_TYPE_RAW;
	do {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		struct span term = { at, (size_t)((comma ? comma : end) - at) };

		ret = pmuctl_field_apply(p, span_trim(term), &set, attr);
		if (ret < 0)
			return ret;
		at = comma ? comma + 1 : end + 1;
	} while (at <= end);
	if (set.name.len)
		*name = set.name;
	return 0;
}

/* cpu/.../ with what follows */
static int pmu_parse(struct parser *p, struct span item, struct span *name,
		     struct perf_event_attr *attr)
{
	const char *end = item.start + item.len;
	const char *open = memchr(item.start, '/', item.len);
	const char *close = memchr(open + 1, '/', (size_t)(end - open - 1));
	struct span pmu = { item.start, (size_t)(open - item.start) };
	struct span body = { open + 1, (size_t)(close - open - 1) };
	struct span mods = { close + 1, (size_t)(end - close - 1) };
	int ret;

	if (!pmuctl_span_is(pmu, "cpu"))
		return pmuctl_parse_fail(p, pmu.start,
			"there is no PMU '%.*s' here: pmuctl counts events of cpu/.../",
			(int)pmu.len, pmu.start);
	body = span_trim(body);
	if (!body.len)
		return pmuctl_parse_fail(p, open + 1,
			"there is nothing between the slashes: write for example cpu/event=0xc4/");
	ret = pmuctl_name_find_generic(body, attr);
	if (!ret)
		ret = pmuctl_raw_parse(p, body, attr);
	if (!ret)
		ret = fields_parse(p, body, name, attr);
	if (ret < 0 || !mods.len)
		return ret < 0 ? ret : 0;
	if (mods.start[0] == ':') {
		mods.start++;
		mods.len--;
	}
	return modifiers_apply(p, mods, attr);
}

/* A name that only the resolver can know; it may contain colons itself. */
static int resolve_name(struct parser *p, struct span item,
			struct perf_event_attr *attr)
{
	char sentence[RESOLVE_SENTENCE_MAX] = "";
	struct span mods = { item.start + item.len, 0 };
	char *name;
	int ret;

	while (mods.start > item.start && is_modifier(mods.start[-1])) {
		mods.start--;
		mods.len++;
	}
	if (mods.len && mods.start > item.start + 1 && mods.start[-1] == ':')
		item.len -= mods.len + 1;
	else
		mods.len = 0;
	name = strndup(item.start, item.len);
	if (!name)
		return -ENOMEM;
	ret = p->resolve ? p->resolve(p->arg, name, attr, sentence,
				      sizeof(sentence)) : -ENOENT;
	free(name);
	if (ret < 0 && ret != -ENOENT && ret != -EINVAL) {
		pmuctl_parse_fail(p, item.start, "%s", sentence);
		return ret;
	}
	if (ret < 0 && sentence[0])
		return pmuctl_parse_fail(p, item.start, "%s", sentence);
	if (ret < 0)
		return pmuctl_parse_fail(p, item.start,
			"unknown event '%.*s': 'pmuctl list' shows the names there are",
			(int)item.len, item.start);
	return mods.len ? modifiers_apply(p, mods, attr) : 0;
}

/* A name with its modifiers */
static int name_parse(struct parser *p, struct span item,
		      struct perf_event_attr *attr)
{
	const char *colon = memchr(item.start, ':', item.len);
	struct span name = item, mods = { NULL, 0 };
	int raw = 0;

	if (colon) {
		name.len = (size_t)(colon - item.start);
		mods.start = colon + 1;
		mods.len = item.len - name.len - 1;
	}
	if (!pmuctl_name_find_generic(name, attr) &&
	    !pmuctl_name_find_cache(name, attr)) {
		raw = pmuctl_raw_parse(p, name, attr);
		if (raw < 0)
			return raw;
		if (!raw)
			return resolve_name(p, item, attr);
	}
	return colon ? modifiers_apply(p, mods, attr) : 0;
}

/* -------------------------------------------------------------- the list */

/* Up to the next comma that is not between slashes; NULL if a slash lacks its twin. */
static const char *item_end(struct parser *p, const char *at)
{
	const char *open = NULL;

	for (; *at && (open || *at != ','); at++)
		if (*at == '/')
			open = open ? NULL : at;
	if (!open)
		return at;
	pmuctl_parse_fail(p, open, "the slash that ends this one is missing");
	return NULL;
}

/*
 * Bare fields: the terms that follow belong to the same event as long as each is
 * a field that it has not got yet. Returns the end of the event.
 */
static const char *fields_end(const char *at)
{
	unsigned int seen = 0, index;

	for (;;) {
		const char *end = at + strcspn(at, ",");
		const char *colon = memchr(at, ':', (size_t)(end - at));
		struct span term = { at, (size_t)((colon ? colon : end) - at) };
		struct span next;

		if (pmuctl_field_is(span_trim(term), &index))
			seen |= 1u << index;
		if (!*end || colon)
			return end;
		next.start = end + 1;
		next.len = strcspn(next.start, ",:");
		if (!pmuctl_field_is(span_trim(next), &index) ||
		    seen & 1u << index)
			return end;
		at = end + 1;
	}
}

static int bare_fields_parse(struct parser *p, struct span item, struct span *name,
			     struct perf_event_attr *attr)
{
	const char *colon = memchr(item.start, ':', item.len);
	struct span list = item, mods;
	int ret;

	if (colon)
		list.len = (size_t)(colon - item.start);
	ret = fields_parse(p, list, name, attr);
	if (ret < 0 || !colon)
		return ret;
	mods.start = colon + 1;
	mods.len = item.len - list.len - 1;
	return modifiers_apply(p, mods, attr);
}

/* Does the event at @at start with a bare field? */
static bool is_bare_field(const char *at)
{
	size_t len = strcspn(at, ",:/=");
	unsigned int index;

	if (at[len] != '=')
		return false;
	return pmuctl_field_is((struct span){ at, len + 1 }, &index);
}

static int events_add(struct pmuctl_events *events, struct span name,
		      const struct perf_event_attr *attr)
{
	struct named_event *list;

	list = reallocarray(events->list, events->count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	events->list = list;
	list[events->count].attr = *attr;
	list[events->count].name = strndup(name.start, name.len);
	if (!list[events->count].name)
		return -ENOMEM;
	events->count++;
	return 0;
}

/* Parses the event at @at; returns where it ends, or NULL with *@ret set. */
static const char *item_parse(struct parser *p, const char *at,
			      struct pmuctl_events *events, int *ret)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	bool bare = is_bare_field(at);
	const char *end = bare ? fields_end(at) : item_end(p, at);
	struct span item, name;

	*ret = -EINVAL;
	if (!end)
		return NULL;
	item = span_trim((struct span){ at, (size_t)(end - at) });
	name = item;
	if (!item.len)
		pmuctl_parse_fail(p, at, "an event is missing here");
	else if (memchr(item.start, '{', item.len) ||
		 memchr(item.start, '}', item.len))
		pmuctl_parse_fail(p, item.start, GROUPS_SENTENCE);
	else if (bare)
		*ret = bare_fields_parse(p, item, &name, &attr);
	else if (memchr(item.start, '/', item.len))
		*ret = pmu_parse(p, item, &name, &attr);
	else
		*ret = name_parse(p, item, &attr);
	if (*ret < 0)
		return NULL;
	*ret = events_add(events, name, &attr);
	return *ret < 0 ? NULL : end;
}

PMUCTL_API int pmuctl_events_parse(const char *text, pmuctl_name_fn resolve,
				   void *arg, struct pmuctl_parse_error *error,
				   struct pmuctl_events **events)
{
	struct parser p = { .text = text, .resolve = resolve, .arg = arg,
			    .error = error };
	struct pmuctl_events *new;
	const char *at = text;
	int ret;

	if (!text || !events)
		return -EINVAL;
	*events = NULL;
	if (error)
		memset(error, 0, sizeof(*error));
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	for (;;) {
		while (is_blank(*at))
			at++;
		at = item_parse(&p, at, new, &ret);
		if (!at) {
			pmuctl_events_free(new);
			return ret;
		}
		if (!*at)
			break;
		at++;
	}
	*events = new;
	return 0;
}

PMUCTL_API void pmuctl_events_free(struct pmuctl_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->count; i++)
		free(events->list[i].name);
	free(events->list);
	free(events);
}

PMUCTL_API size_t pmuctl_events_count(const struct pmuctl_events *events)
{
	return events->count;
}

PMUCTL_API const char *pmuctl_events_name(const struct pmuctl_events *events,
					  size_t index)
{
	return index < events->count ? events->list[index].name : NULL;
}

PMUCTL_API const struct perf_event_attr *
pmuctl_events_attr(const struct pmuctl_events *events, size_t index)
{
	return index < events->count ? &events->list[index].attr : NULL;
}
