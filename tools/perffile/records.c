// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records of a perf.data file: whether each is whole, whose it is, and what is in it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "perffile.h"

/* Bits of the header's misc that newer headers name */
#define MISC_MMAP_BUILD_ID (1 << 14)

#define HEADER_SIZE sizeof(struct perf_event_header)

/**
 * perffile_event_by_id() - whose number is it?
 * @file: the file.
 * @id: the number.
 *
 * Return: the event, or NULL.
 */
struct perffile_event *perffile_event_by_id(const struct perffile *file, uint64_t id)
{
	size_t low = 0, high = file->id_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->ids[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == file->id_count || file->ids[low].id != id)
		return NULL;
	return &file->events[file->ids[low].event];
}

/* The word of the record at @at that is @from_start or @from_end; false: it has none. */
static bool word_of(const struct perffile *file, uint64_t at, int from_start,
		    int from_end, uint64_t *word)
{
	struct perf_event_header header = perffile_header(file, at);
	uint64_t where;

	if (header.type == PERF_RECORD_SAMPLE) {
		where = HEADER_SIZE + (uint64_t)from_start * 8;
		if (from_start < 0 || where + 8 > header.size)
			return false;
	} else {
		if (from_end < 0 || HEADER_SIZE + (uint64_t)from_end * 8 > header.size)
			return false;
		where = header.size - (uint64_t)from_end * 8;
	}
	*word = perffile_word(file->data + at + where);
	return true;
}

static const struct perffile_event *event_of(const struct perffile *file, uint64_t at)
{
	const struct perffile_event *first = &file->events[0];
	uint64_t id;

	/* A record that was made up by the recorder may have 0 there. */
	if (file->event_count == 1 ||
	    !word_of(file, at, first->id_from_start, first->id_from_end, &id) || !id)
		return first;
	return perffile_event_by_id(file, id);
}

/**
 * perffile_record_time() - the time of a record
 * @file: the file.
 * @at: where the record is, which is one of the kernel's.
 * @time: set to it; stays as it is if the record has none.
 */
void perffile_record_time(const struct perffile *file, uint64_t at, uint64_t *time)
{
	const struct perffile_event *event = event_of(file, at);

	if (event)
		word_of(file, at, event->time_from_start, event->time_from_end, time);
}

/* Behind this record of a stream are the formats of tracepoints. */
static int check_formats(const struct perffile *file, uint64_t at, uint64_t *length,
			 struct perffile_error *error)
{
	struct perf_event_header header = perffile_header(file, at);
	uint64_t left = file->records_end - at - header.size;
	uint32_t more;

	if (header.size < HEADER_SIZE + sizeof(more))
		return perffile_fail(error, "its records are damaged at byte %" PRIu64
				     ": one of tracepoints has %u bytes", at, header.size);
	memcpy(&more, file->data + at + HEADER_SIZE, sizeof(more));
	if (more > left)
		return perffile_fail(error, "its records are damaged at byte %" PRIu64
				     ": %u bytes about tracepoints, and %" PRIu64 " are left",
				     at, more, left);
	*length += more;
	return 0;
}

/* The record at @at as it is told about; checks that it is one. */
static int check_record(const struct perffile *file, uint64_t at, uint64_t *length,
			struct perffile_error *error)
{
	struct perf_event_header header;
	uint64_t left = file->records_end - at, more;

	if (left < HEADER_SIZE)
		return perffile_fail(error, "its records are damaged: the last one, at byte %" PRIu64
				     ", is cut off", at);
	header = perffile_header(file, at);
	if (header.size < HEADER_SIZE || header.size > left)
		return perffile_fail(error, "its records are damaged at byte %" PRIu64
				     ": one of type %u says that it has %u bytes, and %" PRIu64 " are left",
				     at, header.type, header.size, left);
	*length = header.size;
	if (file->is_stream && header.type == PERFFILE_HEADER_TRACING_DATA)
		return check_formats(file, at, length, error);
	if (header.type != PERFFILE_AUXTRACE)
		return 0;
	if (header.size < PERFFILE_AUXTRACE_SIZE)
		return perffile_fail(error, "its records are damaged at byte %" PRIu64
				     ": the record of a trace has %u bytes, and %u are needed",
				     at, header.size, PERFFILE_AUXTRACE_SIZE);
	more = perffile_word(file->data + at + HEADER_SIZE);
	if (more > left - header.size)
		return perffile_fail(error, "its records are damaged at byte %" PRIu64
				     ": a trace of %" PRIu64 " bytes, and %" PRIu64 " are left",
				     at, more, left - header.size);
	*length += more;
	return 0;
}

/**
 * perffile_record_length() - how far it is to the record that follows
 * @file: with its records checked: then all of them are whole.
 * @at: where the record is.
 *
 * Return: bytes, with those of a trace that follow the record.
 */
uint64_t perffile_record_length(const struct perffile *file, uint64_t at)
{
	struct perf_event_header header = perffile_header(file, at);
	uint32_t formats;

	if (file->is_stream && header.type == PERFFILE_HEADER_TRACING_DATA) {
		memcpy(&formats, file->data + at + HEADER_SIZE, sizeof(formats));
		return (uint64_t)header.size + formats;
	}
	if (header.type != PERFFILE_AUXTRACE)
		return header.size;
	return header.size + perffile_word(file->data + at + HEADER_SIZE);
}

/**
 * perffile_record_after() - go on to the record that follows
 * @file: with its records checked.
 * @at: where the record is.
 *
 * Return: where the next one is, perhaps behind the last. Whoever goes through all of them so
 * keeps few pages of the file.
 */
uint64_t perffile_record_after(const struct perffile *file, uint64_t at)
{
	uint64_t next = at + perffile_record_length(file, at);

	perffile_pass(file, at, next);
	return next;
}

/* Has the end of a stream the beginning of a record? */
static bool is_cut_off(const struct perffile *file, uint64_t at)
{
	return file->records_end - at < HEADER_SIZE ||
	       (perffile_header(file, at).size >= HEADER_SIZE &&
		(perffile_header(file, at).type != PERFFILE_AUXTRACE ||
		 perffile_header(file, at).size >= PERFFILE_AUXTRACE_SIZE));
}

/**
 * perffile_records_check() - look whether all records are whole
 * @file: with its header read.
 * @error: why not.
 *
 * Who was killed while he wrote has left the beginning of a record: then it ends before
 * that one. If the events are known, the records are ready to be handed out then, but for those
 * that are compressed.
 *
 * Return: 0, -EBADMSG, -ENOMEM.
 */
int perffile_records_check(struct perffile *file, struct perffile_error *error)
{
	uint64_t at, length = 0;
	uint32_t type;
	int ret;

	file->record_count = 0;
	file->is_compressed = false;
	perffile_order_begin(file);
	for (at = file->records; at < file->records_end; at += length) {
		ret = check_record(file, at, &length, error);
		if (ret < 0 && (file->is_unfinished ||
				(file->is_stream && is_cut_off(file, at)))) {
			file->is_unfinished = true;
			file->left_out = file->records_end - at;
			file->records_end = at;
			break;
		}
		if (ret < 0)
			return ret;
		type = perffile_header(file, at).type;
		file->is_compressed |= type == PERFFILE_COMPRESSED ||
				       type == PERFFILE_COMPRESSED2;
		file->record_count += type < PERFFILE_USER_TYPE;
		ret = file->ids ? perffile_order_note(file, at, type, error) : 0;
		if (ret < 0)
			return ret;
		perffile_pass(file, at, at + length);
	}
	if (file->is_unfinished && file->records_end == file->records)
		return perffile_fail(error, "it was not finished, and has no records: the program that recorded was killed, or is still recording");
	return perffile_order_ready(file, error);
}

static void parse_mmap(struct perffile_record *record, struct perffile_bytes *bytes)
{
	struct perffile_mmap *map = &record->mmap;
	const uint8_t *id;

	map->pid = perffile_take32(bytes);
	map->tid = perffile_take32(bytes);
	map->start = perffile_take64(bytes);
	map->length = perffile_take64(bytes);
	map->offset = perffile_take64(bytes);
	if (record->type == PERF_RECORD_MMAP2) {
		/* Device and inode, or a build id with its size before it */
		id = perffile_take(bytes, 24);
		if (id && record->misc & MISC_MMAP_BUILD_ID &&
		    *id <= PERFFILE_BUILD_ID_MAX) {
			map->build_id_size = *id;
			memcpy(map->build_id, id + 4, *id);
		}
		map->prot = perffile_take32(bytes);
		perffile_take32(bytes);
	}
	map->name = perffile_string(bytes);
	bytes->failed = bytes->failed || !map->name;
}

static void parse_comm(struct perffile_record *record, struct perffile_bytes *bytes)
{
	record->comm.pid = perffile_take32(bytes);
	record->comm.tid = perffile_take32(bytes);
	record->comm.name = perffile_string(bytes);
	bytes->failed = bytes->failed || !record->comm.name;
}

static void parse_ksymbol(struct perffile_record *record, struct perffile_bytes *bytes)
{
	struct perffile_ksymbol *code = &record->ksymbol;
	uint32_t both;

	code->start = perffile_take64(bytes);
	code->length = perffile_take32(bytes);
	both = perffile_take32(bytes);
	code->type = (uint16_t)both;
	code->flags = (uint16_t)(both >> 16);
	code->name = perffile_string(bytes);
	bytes->failed = bytes->failed || !code->name;
}

static void parse_task(struct perffile_record *record, struct perffile_bytes *bytes)
{
	record->task.pid = perffile_take32(bytes);
	record->task.ppid = perffile_take32(bytes);
	record->task.tid = perffile_take32(bytes);
	record->task.ptid = perffile_take32(bytes);
}

/* The fields that sample_id_all puts behind all records that are no samples. */
static void parse_trailer(struct perffile_record *record, const uint8_t *end)
{
	const struct perf_event_attr *attr = &record->event->attr;
	const uint64_t known = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_IDENTIFIER;
	uint64_t type = attr->sample_type & known;
	size_t size = (size_t)__builtin_popcountll(type) * 8;
	struct perffile_bytes bytes = { end - size, end, false };

	if (!attr->sample_id_all || size + HEADER_SIZE > record->size)
		return;
	record->fields = type;
	if (type & PERF_SAMPLE_TID) {
		record->pid = (int32_t)perffile_take32(&bytes);
		record->tid = (int32_t)perffile_take32(&bytes);
	}
	if (type & PERF_SAMPLE_TIME)
		record->time = perffile_take64(&bytes);
	if (type & PERF_SAMPLE_ID)
		record->id = perffile_take64(&bytes);
	if (type & PERF_SAMPLE_STREAM_ID)
		record->stream_id = perffile_take64(&bytes);
	if (type & PERF_SAMPLE_CPU) {
		record->cpu = perffile_take32(&bytes);
		perffile_take32(&bytes);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		record->id = perffile_take64(&bytes);
}

static bool parse_body(struct perffile_record *record, struct perffile_bytes *bytes)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		/* Nobody knows what is in it. */
		return !record->event || perffile_sample_parse(record, bytes);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		parse_mmap(record, bytes);
		break;
	case PERF_RECORD_COMM:
		parse_comm(record, bytes);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		parse_task(record, bytes);
		break;
	case PERF_RECORD_KSYMBOL:
		parse_ksymbol(record, bytes);
		break;
	case PERF_RECORD_CGROUP:
		record->cgroup.id = perffile_take64(bytes);
		record->cgroup.path = perffile_string(bytes);
		bytes->failed = bytes->failed || !record->cgroup.path;
		break;
	case PERF_RECORD_READ:
		record->count.pid = perffile_take32(bytes);
		record->count.tid = perffile_take32(bytes);
		if (record->attr)
			record->count.read = perffile_read_take(record->attr->read_format, bytes);
		break;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		record->other.pid = perffile_take32(bytes);
		record->other.tid = perffile_take32(bytes);
		break;
	case PERF_RECORD_AUX:
		record->aux.position = perffile_take64(bytes);
		record->aux.size = perffile_take64(bytes);
		record->aux.flags = perffile_take64(bytes);
		break;
	case PERF_RECORD_LOST:
		perffile_take64(bytes);
		record->lost = perffile_take64(bytes);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		record->lost = perffile_take64(bytes);
		break;
	}
	if (record->event)
		parse_trailer(record, bytes->end);
	return !bytes->failed;
}

/* Of a group all is told; which value is the event's own, numbers say. */
static void find_count(const struct perffile *file, struct perffile_record *record)
{
	struct perffile_count *count = &record->count;
	uint64_t format = record->attr ? record->attr->read_format : 0, value, id;

	for (size_t i = 0; i < perffile_read_count(format, &count->read); i++) {
		value = perffile_read_value(format, &count->read, i, &id);
		if (!i || perffile_event_by_id(file, id) == record->event)
			count->value = value;
	}
}

/**
 * perffile_record_read() - take a record apart as it is in the file
 * @file: with its records checked.
 * @at: where it is; one of the kernel's.
 * @record: filled; a sample of a group is that of the event that has written it.
 * @error: why not.
 *
 * Return: 0, -EBADMSG.
 */
int perffile_record_read(const struct perffile *file, uint64_t at, struct perffile_record *record,
			 struct perffile_error *error)
{
	struct perf_event_header header = perffile_header(file, at);
	struct perffile_bytes bytes = {
		file->data + at + HEADER_SIZE, file->data + at + header.size, false
	};

	memset(record, 0, sizeof(*record));
	record->type = header.type;
	record->misc = header.misc;
	record->size = header.size;
	record->offset = at;
	record->event = event_of(file, at);
	record->attr = record->event ? &record->event->attr : NULL;
	record->pid = -1;
	record->tid = -1;
	if (!parse_body(record, &bytes))
		return perffile_fail(error, "its records are damaged: one of type %u at byte %" PRIu64
				     " is shorter than what should be in it",
				     header.type, at);
	if (header.type == PERF_RECORD_READ)
		find_count(file, record);
	return 0;
}

/**
 * perffile_next() - the next record in the order of time
 * @file: the file.
 * @record: filled; valid as long as the file is open.
 * @error: why not.
 *
 * Records of perf's own types are left out. A SAMPLE without an event has none of its
 * fields. One that tells the counts of a group is handed out for each event of it that has
 * counted something since; for none, if none has.
 *
 * Return: 1, 0 behind the last one, -ENOMEM, -EBADMSG if it is damaged: then so are, perhaps,
 * those behind it.
 */
int perffile_next(struct perffile *file, struct perffile_record *record,
		  struct perffile_error *error)
{
	int ret;

	do {
		if (!file->values_left) {
			ret = perffile_order_next(file, &file->at, error);
			if (ret <= 0)
				return ret;
			file->values_told = 0;
			file->handed_out = false;
		}
		ret = perffile_record_read(file, file->at, record, error);
		if (ret == 0 && record->type != PERF_RECORD_SAMPLE)
			return 1;
		if (ret == 0)
			ret = perffile_group_next(file, record);
		if (ret == -ENOMEM)
			perffile_no_memory(error);
	} while (!ret);
	record->again = file->handed_out;
	file->handed_out = true;
	return ret;
}
