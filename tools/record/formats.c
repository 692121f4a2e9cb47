// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tracepoints of a recording are, in the words of the kernel's tracing: perf
 * reads no recording of a tracepoint without that. The layout is that of trace-cmd.dat(5),
 * version 0.5, with the formats of those that are recorded only.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"

#define TRACING "/sys/kernel/tracing/events"

/* Text files of the kernel's tracing have a page or two. */
#define FILE_MAX 65536

/* The length, 64 bits, and the bytes of a file; returns whether it could be read. */
static bool put_file(struct perfdata_buffer *buffer, const char *path)
{
	char *text = malloc(FILE_MAX);
	FILE *file = text ? fopen(path, "re") : NULL;
	size_t size = file ? fread(text, 1, FILE_MAX, file) : 0;

	if (file)
		fclose(file);
	perfdata_put_u64(buffer, size);
	perfdata_put(buffer, text, size);
	free(text);
	return size != 0;
}

static bool put_named_file(struct perfdata_buffer *buffer, const char *name)
{
	char path[100];

	snprintf(path, sizeof(path), TRACING "/%s", name);
	perfdata_put(buffer, name, strlen(name) + 1);
	return put_file(buffer, path);
}

/* A tracepoint's system and name, if it was called by these; false if not */
static bool name_of(const struct perfdata_event *event, char *system, char *name,
		    size_t size)
{
	const char *colon = strchr(event->name, ':');
	size_t length;

	if (event->attr.type != PERF_TYPE_TRACEPOINT || !colon)
		return false;
	length = strcspn(colon + 1, ":/");
	if ((size_t)(colon - event->name) >= size || length >= size)
		return false;
	snprintf(system, size, "%.*s", (int)(colon - event->name), event->name);
	snprintf(name, size, "%.*s", (int)length, colon + 1);
	return true;
}

static void put_event(struct perfdata_buffer *buffer, const char *system, const char *name)
{
	char path[300];

	perfdata_put(buffer, system, strlen(system) + 1);
	perfdata_put_u32(buffer, 1);
	snprintf(path, sizeof(path), TRACING "/%s/%s/format", system, name);
	put_file(buffer, path);
}

/**
 * formats_put() - fill the feature that is about tracepoints, if there are any
 * @file: of which recording.
 * @events: its events.
 * @nr_events: how many.
 */
void formats_put(struct perfdata *file, const struct perfdata_event *events,
		 size_t nr_events)
{
	/* Three bytes, the word, and the version */
	static const char magic[] = "\027\010\104tracing0.5";
	struct perfdata_buffer *buffer = perfdata_feature(file, PERFFILE_TRACING_DATA);
	const unsigned char machine[] = { 0 /* little endian */, sizeof(long) };
	char system[100], name[100];
	uint32_t count = 0;

	for (size_t i = 0; i < nr_events; i++)
		count += name_of(&events[i], system, name, sizeof(name));
	if (!count)
		return;
	perfdata_put(buffer, magic, sizeof(magic));
	perfdata_put(buffer, machine, sizeof(machine));
	perfdata_put_u32(buffer, (uint32_t)getpagesize());
	if (!put_named_file(buffer, "header_page") || !put_named_file(buffer, "header_event")) {
		buffer->size = 0;
		return;
	}
	perfdata_put_u32(buffer, 0);	/* formats of the function tracer */
	perfdata_put_u32(buffer, count);
	for (size_t i = 0; i < nr_events; i++)
		if (name_of(&events[i], system, name, sizeof(name)))
			put_event(buffer, system, name);
	perfdata_put_u32(buffer, 0);	/* the kernel's symbols */
	perfdata_put_u32(buffer, 0);	/* formats of its messages */
}
