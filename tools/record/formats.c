// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tracepoints of a recording are, in the words of the kernel's tracing: nobody reads
 * what a tracepoint tells without that. The layout is that of trace-cmd.dat(5), version 0.6,
 * with the formats of those that are recorded only, and without the kernel's symbols, which
 * readers have from elsewhere.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"
#include "tracepoint/tracefs.h"

/* A file of the kernel's tracing: its length, of 4 or 8 bytes, and what it says */
static bool put_file(struct perfdata_buffer *buffer, size_t length_size, const char *name)
{
	size_t size = 0;
	char *text = tracefs_read(name, &size);
	uint64_t length = size;

	perfdata_put(buffer, &length, length_size);
	perfdata_put(buffer, text, size);
	free(text);
	return size != 0;
}

static bool put_named_file(struct perfdata_buffer *buffer, const char *name)
{
	char path[100];

	snprintf(path, sizeof(path), "events/%s", name);
	perfdata_put(buffer, name, strlen(name) + 1);
	return put_file(buffer, sizeof(uint64_t), path);
}

/**
 * struct names - the tracepoints of a recording, each once
 * @list: "system:name".
 * @count: how many.
 */
struct names {
	char **list;
	size_t count;
};

static bool has_name(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->list[i], name))
			return true;
	return false;
}

static void find_names(struct names *names, const struct perfdata_event *events,
		       size_t nr_events)
{
	names->list = calloc(nr_events, sizeof(*names->list));
	for (size_t i = 0; names->list && i < nr_events; i++) {
		char *name = NULL;

		if (events[i].attr.type == PERF_TYPE_TRACEPOINT)
			name = tracefs_name(events[i].attr.config, events[i].name);
		if (name && !has_name(names, name))
			names->list[names->count++] = name;
		else
			free(name);
	}
}

static bool is_of_system(const char *name, const char *of)
{
	size_t length = strcspn(of, ":") + 1;

	return !strncmp(name, of, length);
}

static bool is_first_of_system(const struct names *names, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_of_system(names->list[i], names->list[index]))
			return false;
	return true;
}

static void put_system(struct perfdata_buffer *buffer, const struct names *names, size_t first)
{
	const char *name = names->list[first];
	const size_t length = strcspn(name, ":");
	uint32_t count = 0;
	char path[300];

	for (size_t i = first; i < names->count; i++)
		count += is_of_system(names->list[i], name);
	perfdata_put(buffer, name, length);
	perfdata_put(buffer, NULL, 1);
	perfdata_put_u32(buffer, count);
	for (size_t i = first; i < names->count; i++) {
		if (!is_of_system(names->list[i], name))
			continue;
		snprintf(path, sizeof(path), "events/%.*s/%s/format", (int)length, name,
			 names->list[i] + length + 1);
		put_file(buffer, sizeof(uint64_t), path);
	}
}

static void put_systems(struct perfdata_buffer *buffer, const struct names *names)
{
	uint32_t count = 0;

	for (size_t i = 0; i < names->count; i++)
		count += is_first_of_system(names, i);
	perfdata_put_u32(buffer, count);
	for (size_t i = 0; i < names->count; i++)
		if (is_first_of_system(names, i))
			put_system(buffer, names, i);
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
	static const char magic[] = "\027\010\104tracing0.6";
	struct perfdata_buffer *buffer = perfdata_feature(file, PERFFILE_TRACING_DATA);
	const unsigned char machine[] = { 0 /* little endian */, sizeof(long) };
	struct names names = { NULL, 0 };

	find_names(&names, events, nr_events);
	if (names.count) {
		perfdata_put(buffer, magic, sizeof(magic));
		perfdata_put(buffer, machine, sizeof(machine));
		perfdata_put_u32(buffer, (uint32_t)getpagesize());
		if (!put_named_file(buffer, "header_page") ||
		    !put_named_file(buffer, "header_event"))
			buffer->size = 0;
	}
	if (buffer->size) {
		perfdata_put_u32(buffer, 0);	/* formats of the function tracer */
		put_systems(buffer, &names);
		perfdata_put_u32(buffer, 0);	/* the kernel's symbols */
		put_file(buffer, sizeof(uint32_t), "printk_formats");
		put_file(buffer, sizeof(uint64_t), "saved_cmdlines");
	}
	for (size_t i = 0; i < names.count; i++)
		free(names.list[i]);
	free(names.list);
}
