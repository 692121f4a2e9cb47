// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The grammar of a single event: where it ends, which kind of event it is, and its
 * modifiers. Names and fields are looked up in names.c and fields.c; lists and groups
 * are in events.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Sentences of resolvers are cut to this. */
#define RESOLVE_SENTENCE_MAX 200

/* Letters that are modifiers, and those that are so behind any name. */
#define MODIFIERS		"ukhGHIpPDSeW"
#define MODIFIERS_OF_RESOLVED	"ukhGHIpPDS"

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

/**
 * pmuctl_is_blank() - a character that may stand between the parts of a list?
 * @c: the character.
 */
bool pmuctl_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/**
 * pmuctl_span_trim() - a span without the blanks at its ends
 * @span: the span.
 */
struct span pmuctl_span_trim(struct span span)
{
	while (span.len && pmuctl_is_blank(span.start[0])) {
		span.start++;
		span.len--;
	}
	while (span.len && pmuctl_is_blank(span.start[span.len - 1]))
		span.len--;
	return span;
}

/* ------------------------------------------------------------- modifiers */

static bool is_one_of(char c, const char *letters)
{
	return c != '\0' && strchr(letters, c);
}

/**
 * pmuctl_modifiers_parse() - understand modifiers
 * @p: whom to tell what is wrong.
 * @text: the letters.
 * @mods: filled.
 *
 * Return: 0 or -EINVAL.
 */
int pmuctl_modifiers_parse(struct parser *p, struct span text,
			   struct modifiers *mods)
{
	*mods = (struct modifiers){ .text = text };
	if (!text.len)
		return pmuctl_parse_fail(p, text.start,
			"a modifier is expected here: u, k, h, G, H, I, p, P, D, S, e or W");
	for (size_t i = 0; i < text.len; i++) {
		char c = text.start[i];

		if (!is_one_of(c, MODIFIERS))
			return pmuctl_parse_fail(p, text.start + i,
				"unknown modifier '%c': known are u (user space), k (kernel), h (hypervisor), G (guests), H (the host), I (not idle), p (precise), P (as precise as there is), D (pinned), S (read with each sample), e (exclusive) and W (of a group: weak)",
				c);
		if (++mods->times[(unsigned char)c] > (c == 'p' ? 3 : 1))
			return pmuctl_parse_fail(p, text.start + i, c == 'p' ?
				"the modifier %c is given more than three times" :
				"the modifier %c is given twice", c);
	}
	return 0;
}

/**
 * pmuctl_modifiers_levels() - do modifiers choose the levels to count?
 * @mods: the modifiers.
 */
bool pmuctl_modifiers_levels(const struct modifiers *mods)
{
	return mods->times['u'] || mods->times['k'] || mods->times['h'];
}

/**
 * pmuctl_modifiers_add() - what letters say besides the levels, behind an event or its group
 * @mods: the modifiers.
 * @attr: gets it.
 *
 * P asks for the most precise samples that there are, which is what there is without: nothing.
 * S is for who samples: that samples tell counts, and that of a group one samples for all, is his to do.
 */
void pmuctl_modifiers_add(const struct modifiers *mods, struct perf_event_attr *attr)
{
	if (mods->times['G'] != mods->times['H']) {
		attr->exclude_guest = !mods->times['G'];
		attr->exclude_host = !mods->times['H'];
	}
	if (mods->times['I'])
		attr->exclude_idle = 1;
	if (mods->times['p'] > attr->precise_ip)
		attr->precise_ip = mods->times['p'];
	if (mods->times['S'])
		attr->sample_type |= PERF_SAMPLE_READ;
}

/* Sets what the letters say; exclude_* stay as they are if none of u, k, h is there. */
static int modifiers_apply(struct parser *p, struct span text, struct item *item)
{
	struct perf_event_attr *attr = &item->attr;
	struct modifiers *mods = &item->mods;

	if (pmuctl_modifiers_parse(p, text, mods) < 0)
		return -EINVAL;
	if (pmuctl_modifiers_levels(mods)) {
		attr->exclude_user = !mods->times['u'];
		attr->exclude_kernel = !mods->times['k'];
		attr->exclude_hv = !mods->times['h'];
	}
	pmuctl_modifiers_add(mods, attr);
	attr->pinned = mods->times['D'];
	attr->exclusive = mods->times['e'];
	return 0;
}

/* ------------------------------------------------------- one kind each */

static bool is_name(struct span term)
{
	return term.len >= 5 && !strncmp(term.start, "name=", 5);
}

/*
 * FIELDS or a generic name, between the slashes or bare. @list holds all terms with
 * their commas.
 */
static int fields_parse(struct parser *p, struct span list, bool between_slashes,
			struct item *item)
{
	const char *end = list.start + list.len;
	const char *at = list.start;
	struct field_set set = { .seen = 0 };
	int ret;

	item->attr.type = PERF_TYPE_RAW;
	do {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		struct span term = { at, (size_t)((comma ? comma : end) - at) };

		term = pmuctl_span_trim(term);
		ret = between_slashes && !is_name(term) ?
		      pmuctl_term_common(p, term, item) : 0;
		if (!ret)
			ret = pmuctl_field_apply(p, term, &set, &item->attr);
		if (ret < 0)
			return ret;
		at = comma ? comma + 1 : end + 1;
	} while (at <= end);
	if (set.name.len) {
		item->name = set.name;
		item->has_own_name = true;
	}
	return 0;
}

/* What stands behind the second slash */
static int slash_modifiers_parse(struct parser *p, struct span mods, struct item *item)
{
	if (!mods.len)
		return 0;
	if (mods.start[0] == ':') {
		mods.start++;
		mods.len--;
	}
	return modifiers_apply(p, mods, item);
}

/* Which PMU's events are raw and generic ones */
static const struct {
	const char *name;
	uint32_t type;		/* of those of one type of a hybrid processor's CPUs */
} cpu_pmus[] = {
	{ "cpu", 0 },
	{ "cpu_core", PMUCTL_TYPE_CPU_CORE },
	{ "cpu_atom", PMUCTL_TYPE_CPU_ATOM },
};

static bool cpu_pmu_find(struct span pmu, uint32_t *type)
{
	for (size_t i = 0; i < sizeof(cpu_pmus) / sizeof(cpu_pmus[0]); i++) {
		*type = cpu_pmus[i].type;
		if (pmuctl_span_is(pmu, cpu_pmus[i].name))
			return true;
	}
	return false;
}

static int cpu_pmu_apply(struct parser *p, struct span pmu, struct perf_event_attr *attr,
			 uint32_t type)
{
	if (type && attr->type == PERF_TYPE_SOFTWARE)
		return pmuctl_parse_fail(p, pmu.start,
			"a software event is of no type of CPU: leave '%.*s' out", (int)pmu.len,
			pmu.start);
	if (type && attr->type == PERF_TYPE_RAW)
		attr->type = type;
	else
		attr->config |= (uint64_t)type << 32;
	return 0;
}

/* What is between the slashes of a CPU's event: a name, also with terms of all events, or fields */
static int cpu_body_parse(struct parser *p, struct span body, struct item *item)
{
	const char *comma = memchr(body.start, ',', body.len);
	struct span name = body, terms = { NULL, 0 };
	int ret;

	if (comma) {
		name.len = (size_t)(comma - body.start);
		terms = (struct span){ comma + 1, body.len - name.len - 1 };
	}
	name = pmuctl_span_trim(name);
	if (pmuctl_name_find_generic(name, &item->attr) ||
	    pmuctl_name_find_cache(name, &item->attr)) {
		if (comma && !terms.len)
			return pmuctl_parse_fail(p, terms.start,
				"a term is expected behind the comma");
		return comma ? pmuctl_terms_parse(p, name, terms, item) : 0;
	}
	ret = pmuctl_raw_parse(p, body, &item->attr);
	return ret ? ret : fields_parse(p, body, true, item);
}

/* cpu/.../, or another name before the slash, with what follows */
static int pmu_parse(struct parser *p, struct span text, struct item *item)
{
	const char *end = text.start + text.len;
	const char *open = memchr(text.start, '/', text.len);
	const char *close = memchr(open + 1, '/', (size_t)(end - open - 1));
	struct span pmu = { text.start, (size_t)(open - text.start) };
	struct span body = { open + 1, (size_t)(close - open - 1) };
	struct span mods = { close + 1, (size_t)(end - close - 1) };
	uint32_t type;
	int ret;

	body = pmuctl_span_trim(body);
	if (!cpu_pmu_find(pmu, &type)) {
		ret = pmuctl_terms_parse(p, pmu, body, item);
		return ret < 0 ? ret : slash_modifiers_parse(p, mods, item);
	}
	if (!body.len)
		return pmuctl_parse_fail(p, open + 1,
			"there is nothing between the slashes: write for example cpu/event=0xc4/");
	ret = cpu_body_parse(p, body, item);
	if (ret >= 0)
		ret = cpu_pmu_apply(p, pmu, &item->attr, type);
	return ret < 0 ? ret : slash_modifiers_parse(p, mods, item);
}

/* A name that only the resolver can know; it may contain colons itself. */
static int resolve_name(struct parser *p, struct span text, struct item *item)
{
	char sentence[RESOLVE_SENTENCE_MAX] = "";
	struct span mods = { text.start + text.len, 0 };
	char *name;
	int ret;

	while (mods.start > text.start &&
	       is_one_of(mods.start[-1], MODIFIERS_OF_RESOLVED)) {
		mods.start--;
		mods.len++;
	}
	if (mods.len && mods.start > text.start + 1 && mods.start[-1] == ':')
		text.len -= mods.len + 1;
	else
		mods.len = 0;
	name = strndup(text.start, text.len);
	if (!name)
		return -ENOMEM;
	ret = p->resolve ? p->resolve(p->arg, name, &item->attr,
				      sentence, sizeof(sentence)) : -ENOENT;
	free(name);
	if (ret < 0 && ret != -ENOENT && ret != -EINVAL) {
		pmuctl_parse_fail(p, text.start, "%s", sentence);
		return ret;
	}
	if (ret < 0 && sentence[0])
		return pmuctl_parse_fail(p, text.start, "%s", sentence);
	if (ret < 0)
		return pmuctl_parse_fail(p, text.start,
			"unknown event '%.*s': 'pmuctl list' shows the names there are",
			(int)text.len, text.start);
	return mods.len ? modifiers_apply(p, mods, item) : 0;
}

/* A name with its modifiers */
static int name_parse(struct parser *p, struct span text, struct item *item)
{
	const char *colon = memchr(text.start, ':', text.len);
	struct span name = text, mods = { NULL, 0 };
	int raw = 0;

	if (colon) {
		name.len = (size_t)(colon - text.start);
		mods.start = colon + 1;
		mods.len = text.len - name.len - 1;
	}
	if (!pmuctl_name_find_generic(name, &item->attr) &&
	    !pmuctl_name_find_cache(name, &item->attr)) {
		raw = pmuctl_raw_parse(p, name, &item->attr);
		if (raw < 0)
			return raw;
		if (!raw)
			return resolve_name(p, text, item);
	}
	return colon ? modifiers_apply(p, mods, item) : 0;
}

/* ---------------------------------------------------------- where it ends */

/*
 * Up to the next comma or closing brace that is not between slashes; NULL if a slash
 * lacks its twin.
 */
static const char *item_end(struct parser *p, const char *at)
{
	const char *open = NULL;

	for (; *at && (open || (*at != ',' && *at != '}')); at++)
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
		const char *end = at + strcspn(at, ",}");
		const char *colon = memchr(at, ':', (size_t)(end - at));
		struct span term = { at, (size_t)((colon ? colon : end) - at) };
		struct span next;

		if (pmuctl_field_is(pmuctl_span_trim(term), &index))
			seen |= 1u << index;
		if (*end != ',' || colon)
			return end;
		next.start = end + 1;
		next.len = strcspn(next.start, ",:}");
		if (!pmuctl_field_is(pmuctl_span_trim(next), &index) ||
		    seen & 1u << index)
			return end;
		at = end + 1;
	}
}

static int bare_fields_parse(struct parser *p, struct span text, struct item *item)
{
	const char *colon = memchr(text.start, ':', text.len);
	struct span list = text, mods;
	int ret;

	if (colon)
		list.len = (size_t)(colon - text.start);
	ret = fields_parse(p, list, false, item);
	if (ret < 0 || !colon)
		return ret;
	mods.start = colon + 1;
	mods.len = text.len - list.len - 1;
	return modifiers_apply(p, mods, item);
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

/**
 * pmuctl_item_parse() - understand the event that starts here
 * @p: the parser.
 * @at: its first character.
 * @item: filled.
 * @ret: what was wrong, if anything.
 *
 * Return: where it ends, at a comma, a closing brace or the end of the text; NULL if
 * it is wrong.
 */
const char *pmuctl_item_parse(struct parser *p, const char *at, struct item *item,
			      int *ret)
{
	bool bare = is_bare_field(at);
	const char *end = bare ? fields_end(at) : item_end(p, at);
	const char *brace;
	struct span text;

	*ret = -EINVAL;
	if (!end)
		return NULL;
	text = pmuctl_span_trim((struct span){ at, (size_t)(end - at) });
	*item = (struct item){ .attr = { .size = sizeof(item->attr) },
			       .name = text };
	brace = text.len ? memchr(text.start, '{', text.len) : NULL;
	if (!text.len)
		pmuctl_parse_fail(p, at, "an event is missing here");
	else if (brace)
		pmuctl_parse_fail(p, brace, brace == text.start ?
			"a group cannot be part of another one" :
			"a group of events starts at the brace: a comma is missing before it");
	else if (bare)
		*ret = bare_fields_parse(p, text, item);
	else if (memchr(text.start, '/', text.len))
		*ret = pmu_parse(p, text, item);
	else
		*ret = name_parse(p, text, item);
	return *ret < 0 ? NULL : end;
}
