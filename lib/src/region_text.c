// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What was counted in regions, as a table for people.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmuctl_region.h>

#include "internal.h"

/* A text that grows; it is NULL once there was no memory. */
static void text_add(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void text_add(char **text, const char *format, ...)
{
	va_list args;
	char *more, *all;
	int length;

	va_start(args, format);
	length = vasprintf(&more, format, args);
	va_end(args);
	if (length < 0) {
		free(*text);
		*text = NULL;
		return;
	}
	all = *text ? realloc(*text, strlen(*text) + (size_t)length + 1) : NULL;
	if (all)
		strcat(all, more);
	else
		free(*text);
	*text = all;
	free(more);
}

static void text_add_region(char **text, const struct pmuctl_regions *regions,
			    const struct pmuctl_region *region, const uint64_t *counts, size_t nr)
{
	text_add(text, "region %s: calls %llu, threads %llu, %.6f s\n", region->name,
		 (unsigned long long)region->calls, (unsigned long long)region->threads,
		 (double)region->time_enabled / 1e9);
	for (size_t i = 0; i < nr; i++) {
		const struct pmuctl_reading reading = {
			.value = counts[i], .time_enabled = region->time_enabled,
			.time_running = region->time_running,
		};

		text_add(text, "%20llu  %s", (unsigned long long)pmuctl_reading_estimate(&reading),
			 pmuctl_regions_event(regions, i));
		if (region->time_running < region->time_enabled)
			text_add(text, "  (%.2f%%)", 100. * (double)region->time_running /
				 (double)region->time_enabled);
		text_add(text, "\n");
	}
}

PMUCTL_API int pmuctl_regions_text(struct pmuctl_regions *regions, char **text)
{
	struct pmuctl_region region;
	uint64_t *counts;
	int nr;

	*text = NULL;
	if (!regions)
		return 0;
	nr = pmuctl_regions_get(regions, 0, &region, NULL, 0);
	if (nr < 0 && nr != -ENOENT)
		return nr;
	counts = calloc(nr > 0 ? (size_t)nr : 1, sizeof(*counts));
	*text = counts ? strdup("") : NULL;
	for (size_t i = 0; *text && nr > 0; i++) {
		int got = pmuctl_regions_get(regions, i, &region, counts, (size_t)nr);

		if (got < 0)
			break;
		text_add_region(text, regions, &region, counts, (size_t)nr);
	}
	free(counts);
	return *text ? 0 : -ENOMEM;
}
