// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing a file of samples: the file itself. The header is written first, saying that
 * there are no records yet, and again at the end: when it is known how many there are, and
 * when what follows them is there. A file that was never finished is not taken for a
 * whole one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfdata.h"

#define ATTR_SIZE	PERFDATA_ATTR_SIZE

struct section {
	uint64_t offset;
	uint64_t size;
};

struct header {
	char magic[8];
	uint64_t size;
	uint64_t attr_size;
	struct section attrs;
	struct section data;
	struct section event_types;	/* of old files */
	uint64_t features[4];
};

_Static_assert(sizeof(struct header) == 104, "the header is not as readers know it");
_Static_assert(ATTR_SIZE % 8 == 0, "records must be aligned");

/**
 * struct perfdata - a file being written
 * @fd: of the caller.
 * @events: of the caller.
 * @nr_events: how many.
 * @header: as far as it is known.
 * @is_stream: what was written cannot be changed any more: perfdata_stream.c.
 * @end: where the next record goes.
 * @traces: where the pieces of traces are, as PERFFILE_AUXTRACE_INDEX has it.
 * @features: what is behind the records.
 */
struct perfdata {
	int fd;
	const struct perfdata_event *events;
	size_t nr_events;
	struct header header;
	bool is_stream;
	uint64_t end;
	struct perfdata_buffer traces;
	struct perfdata_buffer features[PERFDATA_FEATURES];
};

/* --------------------------------------------------------------------- file */

/*
 * All of it, whatever it takes; the descriptor's own position is not used. @at goes on as far as was
 * written.
 */
static int write_on(int fd, uint64_t *at, const void *bytes, size_t size)
{
	const unsigned char *from = bytes;

	while (size) {
		ssize_t written = pwrite(fd, from, size, (off_t)*at);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		from += written;
		*at += (uint64_t)written;
		size -= (size_t)written;
	}
	return 0;
}

static int write_at(int fd, uint64_t at, const void *bytes, size_t size)
{
	return write_on(fd, &at, bytes, size);
}

/**
 * perfdata_put_attr() - add an attr as files have it
 * @buffer: where to.
 * @attr: the attr.
 */
void perfdata_put_attr(struct perfdata_buffer *buffer, const struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;

	copy.size = ATTR_SIZE;
	perfdata_put(buffer, &copy, ATTR_SIZE);
}

/* The ids of all events, then their attrs, each saying where its ids are */
static void put_attrs(struct perfdata *file, struct perfdata_buffer *buffer)
{
	uint64_t ids_at = sizeof(file->header);

	for (size_t i = 0; i < file->nr_events; i++)
		perfdata_put(buffer, file->events[i].ids,
			     file->events[i].nr_ids * sizeof(uint64_t));
	file->header.attr_size = ATTR_SIZE + sizeof(struct section);
	file->header.attrs.offset = sizeof(file->header) + buffer->size;
	file->header.attrs.size = file->nr_events * file->header.attr_size;
	for (size_t i = 0; i < file->nr_events; i++) {
		uint64_t size = file->events[i].nr_ids * sizeof(uint64_t);

		perfdata_put_attr(buffer, &file->events[i].attr);
		perfdata_put_u64(buffer, ids_at);
		perfdata_put_u64(buffer, size);
		ids_at += size;
	}
}

/**
 * perfdata_create() - start a file
 * @fd: where to write; it must be possible to seek there. It stays the caller's.
 * @events: what the records are of; they must live as long as the file.
 * @nr_events: how many.
 * @file: the new file, to be given to perfdata_free().
 *
 * Return: 0 or a negative errno.
 */
int perfdata_create(int fd, const struct perfdata_event *events, size_t nr_events,
		    struct perfdata **file)
{
	struct perfdata_buffer buffer = { .size = 0 };
	struct perfdata *new = calloc(1, sizeof(*new));
	int ret = -ENOMEM;

	if (!new)
		return -ENOMEM;
	new->fd = fd;
	new->events = events;
	new->nr_events = nr_events;
	memcpy(new->header.magic, PERFFILE_MAGIC, sizeof(new->header.magic));
	new->header.size = sizeof(new->header);
	put_attrs(new, &buffer);
	new->header.data.offset = sizeof(new->header) + buffer.size;
	new->end = new->header.data.offset;
	if (!buffer.failed)
		ret = write_at(fd, 0, &new->header, sizeof(new->header));
	if (ret == 0)
		ret = write_at(fd, sizeof(new->header), buffer.bytes,
			       buffer.size);
	perfdata_buffer_free(&buffer);
	if (ret < 0)
		free(new);
	else
		*file = new;
	return ret;
}

/**
 * perfdata_create_stream() - start to write to a pipe
 * @fd: where to write. It stays the caller's.
 * @events: what the records are of; they must live as long as the file.
 * @nr_events: how many.
 * @file: the new file, to be given to perfdata_free().
 *
 * Return: 0 or a negative errno.
 */
int perfdata_create_stream(int fd, const struct perfdata_event *events, size_t nr_events,
			   struct perfdata **file)
{
	struct perfdata *new = calloc(1, sizeof(*new));
	int ret;

	if (!new)
		return -ENOMEM;
	new->fd = fd;
	new->events = events;
	new->nr_events = nr_events;
	new->is_stream = true;
	ret = perfdata_stream_begin(fd, events, nr_events, &new->end);
	if (ret < 0)
		free(new);
	else
		*file = new;
	return ret;
}

static uint32_t members_of(const struct perfdata *file, size_t leader)
{
	uint32_t members = 0;

	for (size_t i = 0; i < file->nr_events; i++)
		members += file->events[i].leader == leader;
	return members;
}

static void put_group_desc(struct perfdata *file)
{
	struct perfdata_buffer *buffer = &file->features[PERFFILE_GROUP_DESC];
	uint32_t groups = 0;

	for (size_t i = 0; i < file->nr_events; i++)
		groups += members_of(file, i) > 1;
	if (!groups)
		return;
	perfdata_put_u32(buffer, groups);
	for (size_t i = 0; i < file->nr_events; i++) {
		uint32_t members = members_of(file, i);

		if (members < 2)
			continue;
		perfdata_put_string(buffer, "{anon_group}");
		perfdata_put_u32(buffer, (uint32_t)i);
		perfdata_put_u32(buffer, members);
	}
}

/**
 * perfdata_begin_records() - what has to come before all records, if it is a pipe
 * @file: the file; what it tells of tracepoints and of compression is complete.
 *
 * Return: 0 or a negative errno.
 */
int perfdata_begin_records(struct perfdata *file)
{
	if (!file->is_stream)
		return 0;
	put_group_desc(file);
	return perfdata_stream_begin_records(file->fd, file->features, &file->end);
}

static int write_to_file(struct perfdata *file, const struct iovec *pieces, int count)
{
	uint64_t at = file->end;
	int ret = 0;

	for (int i = 0; i < count && ret == 0; i++)
		ret = write_on(file->fd, &at, pieces[i].iov_base, pieces[i].iov_len);
	if (ret < 0)
		at = file->end + perfdata_whole(pieces, count, at - file->end, NULL);
	file->end = at;
	return ret;
}

/**
 * perfdata_write() - add records
 * @file: the file.
 * @pieces: whole records altogether, though a record may be parted between pieces.
 * @count: how many pieces.
 *
 * Return: 0 or a negative errno; then those were added that there was room for.
 */
int perfdata_write(struct perfdata *file, const struct iovec *pieces, int count)
{
	int ret = 0;

	if (!file->is_stream)
		return write_to_file(file, pieces, count);
	for (int i = 0; i < count && ret == 0; i++) {
		ret = perfdata_stream_write(file->fd, pieces[i].iov_base, pieces[i].iov_len);
		if (ret == 0)
			file->end += pieces[i].iov_len;
	}
	return ret;
}

/**
 * perfdata_end() - how long is the file by now?
 * @file: the file.
 *
 * Return: bytes, of whole records.
 */
uint64_t perfdata_end(const struct perfdata *file)
{
	return file->end;
}

/**
 * perfdata_write_buffer() - add the records of a buffer, and empty it
 * @file: the file.
 * @buffer: the records.
 *
 * Return: 0 or a negative errno.
 */
int perfdata_write_buffer(struct perfdata *file, struct perfdata_buffer *buffer)
{
	struct iovec piece = { buffer->bytes, buffer->size };
	int ret;

	if (buffer->failed)
		return -ENOMEM;
	ret = perfdata_write(file, &piece, 1);
	buffer->size = 0;
	return ret;
}

/**
 * perfdata_finish_round() - say that all rings have been read once more
 * @file: the file.
 *
 * Readers put records in order of time; at this mark they know that nothing comes any
 * more that is older than what the round before had.
 *
 * Return: 0 or a negative errno.
 */
int perfdata_finish_round(struct perfdata *file)
{
	struct perf_event_header round = {
		.type = PERFFILE_FINISHED_ROUND,
		.size = sizeof(round),
	};
	struct iovec piece = { &round, sizeof(round) };

	return perfdata_write(file, &piece, 1);
}

/**
 * perfdata_write_trace() - add a piece of a trace
 * @file: the file.
 * @trace: which.
 * @pieces: its bytes; the length of the last one may be no multiple of 8.
 * @count: how many pieces, 1 or 2.
 *
 * Return: 0 or a negative errno; then nothing was added.
 */
int perfdata_write_trace(struct perfdata *file, const struct perfdata_trace *trace,
			 const struct iovec *pieces, int count)
{
	struct {
		struct perf_event_header header;
		uint64_t size;
		uint64_t position;
		uint64_t reference;
		uint32_t buffer;
		int32_t tid;
		int32_t cpu;
		uint32_t reserved;
	} record = {
		.header.type = PERFFILE_AUXTRACE,
		.header.size = sizeof(record),
		.position = trace->position,
		.reference = trace->reference,
		.buffer = trace->buffer,
		.tid = trace->tid,
		.cpu = trace->cpu,
	};
	const uint64_t at = file->end, zero = 0;
	struct iovec padding = { (void *)&zero, 0 }, head = { &record, sizeof(record) };
	int ret;

	for (int i = 0; i < count; i++)
		record.size += pieces[i].iov_len;
	padding.iov_len = -record.size % 8;
	record.size += padding.iov_len;
	ret = perfdata_write(file, &head, 1);
	if (ret == 0)
		ret = perfdata_write(file, pieces, count);
	if (ret == 0)
		ret = perfdata_write(file, &padding, 1);
	if (ret < 0) {
		file->end = at;
		return ret;
	}
	perfdata_put_u64(&file->traces, at);
	perfdata_put_u64(&file->traces, sizeof(record));
	return 0;
}

/**
 * perfdata_feature() - the section of a feature
 * @file: the file.
 * @feature: which. An empty section is not written.
 *
 * Return: where to put it.
 */
struct perfdata_buffer *perfdata_feature(struct perfdata *file,
					 enum perffile_feature feature)
{
	return &file->features[feature];
}

/**
 * perfdata_size() - how large the file is by now
 * @file: the file.
 *
 * Return: bytes, without the features as long as it is not finished.
 */
uint64_t perfdata_size(const struct perfdata *file)
{
	return __atomic_load_n(&file->end, __ATOMIC_RELAXED); /* another thread may write */
}

static void put_event_desc(struct perfdata *file)
{
	struct perfdata_buffer *buffer = &file->features[PERFFILE_EVENT_DESC];

	perfdata_put_u32(buffer, (uint32_t)file->nr_events);
	perfdata_put_u32(buffer, ATTR_SIZE);
	for (size_t i = 0; i < file->nr_events; i++) {
		const struct perfdata_event *event = &file->events[i];

		perfdata_put_attr(buffer, &event->attr);
		perfdata_put_u32(buffer, (uint32_t)event->nr_ids);
		perfdata_put_string(buffer, event->name);
		perfdata_put(buffer, event->ids,
			     event->nr_ids * sizeof(*event->ids));
	}
}

static void put_traces(struct perfdata *file)
{
	struct perfdata_buffer *buffer = &file->features[PERFFILE_AUXTRACE_INDEX];

	if (!file->traces.size)
		return;
	buffer->failed = file->traces.failed;
	perfdata_put_u64(buffer, file->traces.size / (2 * sizeof(uint64_t)));
	perfdata_put(buffer, file->traces.bytes, file->traces.size);
}

/* A table of the sections, in the order of their numbers, and then these */
static int write_features(struct perfdata *file)
{
	struct section table[PERFDATA_FEATURES];
	size_t count = 0;
	uint64_t at;
	int ret;

	for (size_t i = 0; i < PERFDATA_FEATURES; i++) {
		if (file->features[i].failed)
			return -ENOMEM;
		count += !!file->features[i].size;
	}
	at = file->end + count * sizeof(*table);
	count = 0;
	for (size_t i = 0; i < PERFDATA_FEATURES; i++) {
		const struct perfdata_buffer *feature = &file->features[i];

		if (!feature->size)
			continue;
		ret = write_at(file->fd, at, feature->bytes, feature->size);
		if (ret < 0)
			return ret;
		table[count++] = (struct section){ at, feature->size };
		file->header.features[0] |= 1ULL << i;
		at += feature->size;
	}
	ret = write_at(file->fd, file->end, table, count * sizeof(*table));
	file->end = at;
	return ret;
}

/* Over itself, which takes no room on a disk that is full */
static int write_header(const struct perfdata *file)
{
	return write_at(file->fd, 0, &file->header, sizeof(file->header));
}

/**
 * perfdata_finish() - write what comes behind the records, and the header
 * @file: the file; nothing more can be written to it, whatever is returned.
 *
 * The header counts the records before anything is written behind them: what was
 * recorded can be read though the rest has no room.
 *
 * Return: 0 or a negative errno.
 */
int perfdata_finish(struct perfdata *file)
{
	int ret, round = 0;

	if (file->is_stream)
		return perfdata_stream_end(file->fd, file->features, &file->end);
	/* No records at all are what a file has that was never finished. */
	if (file->end == file->header.data.offset)
		round = perfdata_finish_round(file);
	file->header.data.size = file->end - file->header.data.offset;
	ret = write_header(file);
	if (ret == 0)
		ret = round;
	if (ret < 0)
		return ret;
	put_event_desc(file);
	put_group_desc(file);
	put_traces(file);
	ret = write_features(file);
	return ret < 0 ? ret : write_header(file);
}

/**
 * perfdata_free() - forget about it
 * @file: the file or NULL.
 */
void perfdata_free(struct perfdata *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < PERFDATA_FEATURES; i++)
		perfdata_buffer_free(&file->features[i]);
	perfdata_buffer_free(&file->traces);
	free(file);
}
