// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lists of events: their parts, groups in braces, what a group's modifiers add to its
 * members, and the finished list. A single event is understood in parse.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pmuctl_list.h>
#include <pmuctl_trace.h>

#include "internal.h"

struct named_event {
	char *name;
	char *filter;		/* NULL if it has none */
	bool traces;
	bool weak;
	struct perf_event_attr attr;
	size_t leader;		/* index of the first one of its group */
};

struct pmuctl_events {
	size_t count;
	struct named_event *list;
};

/*
 * The first of a group is pinned or exclusive for all: the others cannot be. What W says is about
 * none of them, and S is about their samples: perf has it in no name, either.
 */
static bool letter_is_for(char letter, bool leader)
{
	return !strchr(leader ? "WS" : "WDeS", letter);
}

/* The event's name with the letters behind it that its group adds; to be freed. */
static char *name_make(const struct item *item, const struct modifiers *group,
		       bool leader)
{
	const char *letters = group->text.start;
	bool has_place = item->mods.text.len ||
			 item->name.start[item->name.len - 1] == '/';
	unsigned int added[128] = { 0 };
	size_t len = item->name.len;
	char *name = malloc(len + 1 + group->text.len + 1);

	if (!name)
		return NULL;
	memcpy(name, item->name.start, len);
	for (size_t i = 0; i < group->text.len && !item->has_own_name; i++) {
		unsigned char c = (unsigned char)letters[i];

		if (!letter_is_for((char)c, leader) ||
		    ++added[c] <= item->mods.times[c])
			continue;
		if (!has_place)
			name[len++] = ':';
		has_place = true;
		name[len++] = (char)c;
	}
	name[len] = '\0';
	return name;
}

static void group_modifiers_apply(struct perf_event_attr *attr,
				  const struct modifiers *mods, bool leader)
{
	bool chosen = attr->exclude_user || attr->exclude_kernel ||
		      attr->exclude_hv;

	if (pmuctl_modifiers_levels(mods)) {
		attr->exclude_user = (!chosen || attr->exclude_user) &&
				     !mods->times['u'];
		attr->exclude_kernel = (!chosen || attr->exclude_kernel) &&
				       !mods->times['k'];
		attr->exclude_hv = (!chosen || attr->exclude_hv) &&
				   !mods->times['h'];
	}
	pmuctl_modifiers_add(mods, attr);
	if (leader && mods->times['D'])
		attr->pinned = 1;
	if (leader && mods->times['e'])
		attr->exclusive = 1;
}

static int events_add(struct pmuctl_events *events, const struct item *item,
		      const struct modifiers *group, size_t leader)
{
	struct named_event *list;

	list = reallocarray(events->list, events->count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	events->list = list;
	list += events->count;
	list->attr = item->attr;
	list->leader = leader;
	list->traces = item->traces;
	list->weak = group->times['W'];
	list->filter = item->filter[0] ? strdup(item->filter) : NULL;
	list->name = name_make(item, group, leader == events->count);
	if (!list->name || (item->filter[0] && !list->filter)) {
		free(list->name);
		free(list->filter);
		return -ENOMEM;
	}
	group_modifiers_apply(&list->attr, group, leader == events->count);
	events->count++;
	return 0;
}

static const char *blanks_skip(const char *at)
{
	while (pmuctl_is_blank(*at))
		at++;
	return at;
}

/* Who pauses or resumes a trace is in the group of the one that traces. */
static int leader_find(struct parser *p, const char *at, const struct item *item,
		       const struct pmuctl_events *events, size_t *leader)
{
	*leader = events->count;
	if (!(item->action & (PMUCTL_AUX_PAUSE | PMUCTL_AUX_RESUME)))
		return 0;
	for (size_t i = events->count; i--;)
		if (events->list[i].traces) {
			*leader = events->list[i].leader;
			return 0;
		}
	return pmuctl_parse_fail(p, at,
		"no trace is there to pause or resume: give the event that traces before, as intel_pt/aux-action=start-paused/");
}

/* A single event; returns where it ends, or NULL with *@ret set. */
static const char *single_parse(struct parser *p, const char *at,
				struct pmuctl_events *events, int *ret)
{
	const struct modifiers none = { .text = { at, 0 } };
	const char *end;
	struct item item;
	size_t leader;

	end = pmuctl_item_parse(p, at, &item, ret);
	if (!end)
		return NULL;
	*ret = leader_find(p, at, &item, events, &leader);
	if (*ret == 0)
		*ret = events_add(events, &item, &none, leader);
	return *ret < 0 ? NULL : end;
}

/* What stands behind the brace at @at; returns where that ends. */
static const char *group_modifiers_parse(struct parser *p, const char *at,
					 struct modifiers *mods)
{
	const char *end = at + strcspn(at, ",");
	struct span text = { at, (size_t)(end - at) };

	text = pmuctl_span_trim(text);
	*mods = (struct modifiers){ .text = { at, 0 } };
	if (!text.len)
		return end;
	if (text.start[0] == ':') {
		text.start++;
		text.len--;
		return pmuctl_modifiers_parse(p, text, mods) < 0 ? NULL : end;
	}
	pmuctl_parse_fail(p, text.start,
			  "behind the brace a comma is expected, or a colon and modifiers");
	return NULL;
}

/*
 * A group, from the character behind its brace at @open. It is gone through twice: its
 * modifiers stand behind it. Returns where it ends, or NULL with *@ret set.
 */
static const char *group_parse(struct parser *p, const char *open,
			       struct pmuctl_events *events, int *ret)
{
	size_t leader = events->count;
	struct modifiers mods;
	const char *at = open, *end;
	struct item item;

	do {
		at = blanks_skip(at + 1);
		at = pmuctl_item_parse(p, at, &item, ret);
		if (!at)
			return NULL;
	} while (*at == ',');

	*ret = -EINVAL;
	if (*at != '}') {
		pmuctl_parse_fail(p, open, "the brace that ends this group is missing");
		return NULL;
	}
	end = group_modifiers_parse(p, at + 1, &mods);
	if (!end)
		return NULL;
	at = open;
	do {
		at = blanks_skip(at + 1);
		at = pmuctl_item_parse(p, at, &item, ret);
		if (at)
			*ret = events_add(events, &item, &mods, leader);
		if (*ret < 0)
			return NULL;
	} while (*at == ',');
	return end;
}

static int events_fill(struct parser *p, struct pmuctl_events *events)
{
	const char *at = p->text;
	int ret = 0;

	for (;;) {
		at = blanks_skip(at);
		if (*at == '{')
			at = group_parse(p, at, events, &ret);
		else
			at = single_parse(p, at, events, &ret);
		if (!at || !*at)
			return ret;
		if (*at == '}')
			return pmuctl_parse_fail(p, at,
				"this brace ends no group: the one that starts it is missing");
		at++;
	}
}

PMUCTL_API int pmuctl_events_parse(const char *text, pmuctl_name_fn resolve,
				   void *arg, struct pmuctl_parse_error *error,
				   struct pmuctl_events **events)
{
	struct parser p = { .text = text, .resolve = resolve, .arg = arg,
			    .error = error };
	struct pmuctl_events *new;
	int ret;

	if (!text || !events)
		return -EINVAL;
	*events = NULL;
	if (error)
		memset(error, 0, sizeof(*error));
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	ret = events_fill(&p, new);
	if (ret < 0)
		pmuctl_events_free(new);
	else
		*events = new;
	return ret;
}

PMUCTL_API void pmuctl_events_free(struct pmuctl_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->count; i++) {
		free(events->list[i].name);
		free(events->list[i].filter);
	}
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

PMUCTL_API const char *pmuctl_events_filter(const struct pmuctl_events *events,
					    size_t index)
{
	return index < events->count ? events->list[index].filter : NULL;
}

PMUCTL_API int pmuctl_events_trace(const struct pmuctl_events *events, size_t index)
{
	return index < events->count && events->list[index].traces;
}

PMUCTL_API int pmuctl_events_weak(const struct pmuctl_events *events, size_t index)
{
	return index < events->count && events->list[index].weak;
}

PMUCTL_API size_t pmuctl_events_leader(const struct pmuctl_events *events,
				       size_t index)
{
	return index < events->count ? events->list[index].leader : SIZE_MAX;
}
