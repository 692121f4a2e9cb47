// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples by function and instruction. The list of a function's addresses is sorted and
 * equal ones are added up whenever it is full, so that it grows with the addresses that were
 * hit and not with the samples.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "annotate.h"

static int by_offset(const void *left, const void *right)
{
	const struct annotate_site *a = left, *b = right;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/**
 * sites_join() - what was at one site was at another one
 * @site: the other one.
 * @more: the one.
 */
void sites_join(struct annotate_site *site, const struct annotate_site *more)
{
	site->period += more->period;
	site->samples += more->samples;
	site->begins += more->begins;
	site->ends += more->ends;
	site->entry += more->entry;
	site->taken += more->taken;
	site->predicted += more->predicted;
	site->mispredicted += more->mispredicted;
}

static void add_up(struct annotate_function *function)
{
	struct annotate_site *sites = function->sites;
	size_t kept = 0;

	if (!function->site_count)
		return;
	qsort(sites, function->site_count, sizeof(*sites), by_offset);
	for (size_t i = 1; i < function->site_count; i++) {
		if (sites[i].offset != sites[kept].offset)
			sites[++kept] = sites[i];
		else
			sites_join(&sites[kept], &sites[i]);
	}
	function->site_count = kept + 1;
}

static int make_room(struct annotate_function *function)
{
	size_t room = function->site_room ? function->site_room * 2 : 16;
	struct annotate_site *sites;

	if (function->site_count < function->site_room)
		return 0;
	add_up(function);
	if (function->site_count * 2 < function->site_room)
		return 0;
	sites = reallocarray(function->sites, room, sizeof(*sites));
	if (!sites)
		return -ENOMEM;
	function->sites = sites;
	function->site_room = room;
	return 0;
}

static struct annotate_function *find(struct annotate *annotate,
				      const struct perffile_event *event,
				      const struct place *place)
{
	size_t hash = ((uintptr_t)place->symbol >> 4) + (size_t)(event->attr.config * 31);
	struct annotate_function **bucket = &annotate->buckets[hash % ANNOTATE_BUCKETS];
	struct annotate_function *function;

	for (function = *bucket; function; function = function->next)
		if (function->place.symbol == place->symbol && function->event == event)
			return function;
	function = calloc(1, sizeof(*function));
	if (!function)
		return NULL;
	function->event = event;
	function->place = *place;
	function->next = *bucket;
	*bucket = function;
	annotate->count++;
	return function;
}

/**
 * sites_find() - the function at a place, if it is one of those that were asked for
 * @annotate: the command.
 * @event: that was counted.
 * @place: the place.
 * @function: set; NULL: nobody asked for it, or it has no name.
 *
 * Return: 0, -ENOMEM.
 */
int sites_find(struct annotate *annotate, const struct perffile_event *event,
	       const struct place *place, struct annotate_function **function)
{
	const char *dsos = annotate->filter.dsos;

	*function = NULL;
	if (!place->symbol || (dsos && !filter_list_has(dsos, place->binary->name) &&
			       !filter_list_has(dsos, place->binary->path)))
		return 0;
	if (annotate->symbol &&
	    strcmp(annotate->symbol, samples_place_name(annotate->samples, place)) &&
	    strcmp(annotate->symbol, place->symbol->raw))
		return 0;
	*function = find(annotate, event, place);
	return *function ? 0 : -ENOMEM;
}

/**
 * sites_new() - one more site
 * @function: of this function.
 * @offset: there.
 *
 * Return: the site, zeroes but for @offset, valid until the next one; NULL if there is no memory.
 */
struct annotate_site *sites_new(struct annotate_function *function, uint64_t offset)
{
	struct annotate_site *site;

	if (make_room(function) < 0)
		return NULL;
	site = &function->sites[function->site_count++];
	*site = (struct annotate_site){ .offset = offset };
	return site;
}

/**
 * sites_add() - add a sample
 * @annotate: of which the sample was resolved.
 * @record: the sample.
 *
 * Return: 0, -ENOMEM.
 */
int sites_add(struct annotate *annotate, const struct perffile_record *record)
{
	const struct place *place = &annotate->samples->frames[annotate->samples->self];
	struct annotate_function *function;
	struct annotate_site *site;
	int ret = sites_find(annotate, record->event, place, &function);

	if (ret < 0 || !function)
		return ret;
	site = sites_new(function, place->address - place->symbol->start);
	if (!site)
		return -ENOMEM;
	site->period = record->sample.period;
	site->samples = 1;
	function->period += record->sample.period;
	function->samples++;
	return 0;
}

/* By event, then the hottest first */
static int by_period(const void *left, const void *right)
{
	const struct annotate_function *a = *(struct annotate_function *const *)left;
	const struct annotate_function *b = *(struct annotate_function *const *)right;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->period != b->period)
		return a->period > b->period ? -1 : 1;
	return strcmp(a->place.symbol->raw, b->place.symbol->raw);
}

/**
 * sites_finish() - the functions in order
 * @annotate: with all samples.
 * @list: set to them, by event, the hottest first; to be freed.
 *
 * Return: 0, -ENOMEM.
 */
int sites_finish(struct annotate *annotate, struct annotate_function ***list)
{
	size_t n = 0;

	*list = calloc(annotate->count + 1, sizeof(**list));
	if (!*list)
		return -ENOMEM;
	for (size_t i = 0; i < ANNOTATE_BUCKETS; i++)
		for (struct annotate_function *function = annotate->buckets[i]; function;
		     function = function->next) {
			add_up(function);
			branches_finish(function);
			(*list)[n++] = function;
		}
	qsort(*list, n, sizeof(**list), by_period);
	return 0;
}

/**
 * sites_free() - forget all functions
 * @annotate: the command.
 */
void sites_free(struct annotate *annotate)
{
	for (size_t i = 0; i < ANNOTATE_BUCKETS; i++)
		for (struct annotate_function *function = annotate->buckets[i], *next; function;
		     function = next) {
			next = function->next;
			counts_forget(function);
			free(function->sites);
			free(function);
		}
}
