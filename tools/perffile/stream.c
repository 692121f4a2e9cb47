// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings that were written to a pipe: behind magic and size there is nothing but records.
 * Those of its own kinds tell what a file has in its header and in its features: the events
 * with their numbers, their names, the machine, build ids. They may be anywhere.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perffile.h"

#define HEADER_SIZE sizeof(struct perf_event_header)

/* What is in the record at @at, with what follows it */
static struct perffile_bytes body_at(const struct perffile *file, uint64_t at)
{
	const uint8_t *start = file->data + at;

	return (struct perffile_bytes){
		start + HEADER_SIZE, start + perffile_record_length(file, at), false,
	};
}

static int read_event(struct perffile *file, uint64_t at, struct perffile_error *error)
{
	struct perffile_event *event = &file->events[file->event_count];
	struct perffile_bytes bytes = body_at(file, at);
	size_t room = (size_t)(bytes.end - bytes.at), length = 0;
	int ret;

	if (room < PERF_ATTR_SIZE_VER0)
		return perffile_fail(error, "the description of an event has %zu bytes", room);
	ret = perffile_event_read(event, bytes.at, room, &length, error);
	if (ret < 0)
		return ret;
	event->ids = bytes.at + length;
	event->id_count = (room - length) / sizeof(uint64_t);
	file->event_count++;
	return 0;
}

static size_t count_type(const struct perffile *file, uint32_t type)
{
	size_t count = 0;

	for (uint64_t at = file->records; at < file->records_end;
	     at = perffile_record_after(file, at))
		count += perffile_header(file, at).type == type;
	return count;
}

/**
 * perffile_stream_events() - read which events were recorded
 * @file: of which the header says that it is a stream.
 * @error: why not.
 *
 * Return: 0, -EBADMSG, -ENOMEM.
 */
int perffile_stream_events(struct perffile *file, struct perffile_error *error)
{
	size_t count;
	int ret;

	file->is_stream = true;
	file->records = PERFFILE_STREAM_HEADER;
	file->records_end = file->size;
	ret = perffile_records_check(file, error);
	if (ret < 0)
		return ret;
	count = count_type(file, PERFFILE_HEADER_ATTR);
	if (!count)
		return perffile_fail(error, "it was written to a pipe, and ended before it described any event");
	file->events = calloc(count, sizeof(*file->events));
	if (!file->events)
		return perffile_no_memory(error);
	for (uint64_t at = file->records; at < file->records_end && ret == 0;
	     at = perffile_record_after(file, at))
		if (perffile_header(file, at).type == PERFFILE_HEADER_ATTR)
			ret = read_event(file, at, error);
	return ret;
}

static void read_name(struct perffile *file, struct perffile_bytes bytes)
{
	uint64_t what = perffile_take64(&bytes);
	struct perffile_event *event = perffile_event_by_id(file, perffile_take64(&bytes));
	const char *name = perffile_string(&bytes);

	if (what == PERFFILE_UPDATE_NAME && event && name)
		event->name = name;
}

static void read_feature(struct perffile *file, struct perffile_bytes bytes)
{
	uint64_t number = perffile_take64(&bytes);

	/* Build ids come as they are, and must not come in two lists. */
	if (!bytes.failed && number < PERFFILE_FEATURES && number != PERFFILE_BUILD_ID)
		perffile_feature_read(file, (unsigned int)number, bytes);
}

static void read_formats(struct perffile *file, struct perffile_bytes bytes)
{
	perffile_take32(&bytes);
	perffile_feature_read(file, PERFFILE_TRACING_DATA, bytes);
}

/* The record itself is what the feature of a file has in a row. */
static void read_build_id(struct perffile *file, uint64_t at)
{
	struct perffile_info *info = &file->info;
	struct perffile_bytes bytes = body_at(file, at);

	bytes.at -= HEADER_SIZE;
	if (perffile_build_id_read(&info->build_ids[info->build_id_count], &bytes))
		info->build_id_count++;
}

/**
 * perffile_stream_features() - read what a stream tells about the recording
 * @file: with its events; @file->info is filled.
 * @error: why not.
 *
 * Return: 0, -ENOMEM.
 */
int perffile_stream_features(struct perffile *file, struct perffile_error *error)
{
	size_t ids = count_type(file, PERFFILE_BUILD_ID_ENTRY);

	file->info.build_ids = calloc(ids ? ids : 1, sizeof(*file->info.build_ids));
	if (!file->info.build_ids)
		return perffile_no_memory(error);
	for (uint64_t at = file->records; at < file->records_end;
	     at = perffile_record_after(file, at)) {
		struct perffile_bytes bytes = body_at(file, at);

		switch (perffile_header(file, at).type) {
		case PERFFILE_EVENT_UPDATE:
			read_name(file, bytes);
			break;
		case PERFFILE_HEADER_FEATURE:
			read_feature(file, bytes);
			break;
		case PERFFILE_HEADER_TRACING_DATA:
			read_formats(file, bytes);
			break;
		case PERFFILE_BUILD_ID_ENTRY:
			read_build_id(file, at);
			break;
		}
	}
	return 0;
}
