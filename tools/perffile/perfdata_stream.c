// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing samples to where nobody can go back: to a pipe. The header has nothing but its
 * size; what the one of a file tells, and the features, are records before and behind the
 * others. Source of the format: the same as that of the file, "Pipe-mode data" there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfdata.h"

/* Those that are records here, by themselves or as what they are in a file */
static const enum perffile_feature features_sent[] = {
	PERFFILE_HOSTNAME, PERFFILE_OSRELEASE, PERFFILE_VERSION, PERFFILE_ARCH,
	PERFFILE_NRCPUS, PERFFILE_CPUDESC, PERFFILE_CPUID, PERFFILE_TOTAL_MEM, PERFFILE_CMDLINE,
};

/**
 * perfdata_stream_write() - write all of it, behind what was written before
 * @fd: the pipe.
 * @bytes: what.
 * @size: how many bytes.
 *
 * Return: 0 or a negative errno.
 */
int perfdata_stream_write(int fd, const void *bytes, size_t size)
{
	const unsigned char *from = bytes;

	while (size) {
		ssize_t written = write(fd, from, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		from += written;
		size -= (size_t)written;
	}
	return 0;
}

/* The header of a record that has @size bytes in all; false: a record cannot be so long. */
static bool put_header(struct perfdata_buffer *buffer, uint32_t type, size_t size)
{
	const struct perf_event_header header = { .type = type, .size = (uint16_t)size };

	perfdata_put(buffer, &header, sizeof(header));
	return size <= UINT16_MAX;
}

static bool put_event(struct perfdata_buffer *buffer, const struct perfdata_event *event)
{
	size_t header = sizeof(struct perf_event_header), ids = event->nr_ids * sizeof(uint64_t);
	size_t name = (strlen(event->name) + 1 + 7) & ~7UL;
	bool fits = put_header(buffer, PERFFILE_HEADER_ATTR, header + PERFDATA_ATTR_SIZE + ids);

	perfdata_put_attr(buffer, &event->attr);
	perfdata_put(buffer, event->ids, ids);
	if (!event->nr_ids)
		return fits;
	fits = put_header(buffer, PERFFILE_EVENT_UPDATE, header + 16 + name) && fits;
	perfdata_put_u64(buffer, PERFFILE_UPDATE_NAME);
	perfdata_put_u64(buffer, event->ids[0]);
	perfdata_put(buffer, event->name, strlen(event->name));
	perfdata_put(buffer, NULL, name - strlen(event->name));
	return fits;
}

/* What is in the buffer, which is freed */
static int send(int fd, struct perfdata_buffer *buffer, uint64_t *sent)
{
	int ret = buffer->failed ? -ENOMEM :
				   perfdata_stream_write(fd, buffer->bytes, buffer->size);

	*sent += buffer->size;
	perfdata_buffer_free(buffer);
	return ret;
}

/**
 * perfdata_stream_begin() - what comes before the records
 * @fd: the pipe.
 * @events: what they are of.
 * @nr_events: how many.
 * @sent: the bytes that this is are added.
 *
 * Return: 0 or a negative errno; -E2BIG for an event of more than some 8000 tasks or CPUs.
 */
int perfdata_stream_begin(int fd, const struct perfdata_event *events, size_t nr_events,
			  uint64_t *sent)
{
	struct perfdata_buffer buffer = { .size = 0 };
	bool fits = true;

	perfdata_put(&buffer, PERFFILE_MAGIC, strlen(PERFFILE_MAGIC));
	perfdata_put_u64(&buffer, strlen(PERFFILE_MAGIC) + sizeof(uint64_t));
	for (size_t i = 0; i < nr_events && fits; i++)
		fits = put_event(&buffer, &events[i]);
	if (fits)
		return send(fd, &buffer, sent);
	perfdata_buffer_free(&buffer);
	return -E2BIG;
}

static void put_formats(struct perfdata_buffer *buffer, const struct perfdata_buffer *formats)
{
	if (!formats->size)
		return;
	put_header(buffer, PERFFILE_HEADER_TRACING_DATA, sizeof(struct perf_event_header) + 4);
	perfdata_put_u32(buffer, (uint32_t)((formats->size + 7) & ~7UL));
	perfdata_put(buffer, formats->bytes, formats->size);
	perfdata_put(buffer, NULL, -formats->size & 7);
}

static void put_feature(struct perfdata_buffer *buffer, enum perffile_feature number,
			const struct perfdata_buffer *feature)
{
	size_t padded = (feature->size + 7) & ~7UL;

	if (!feature->size || feature->failed || padded > UINT16_MAX - 16)
		return;
	put_header(buffer, PERFFILE_HEADER_FEATURE, 16 + padded);
	perfdata_put_u64(buffer, number);
	perfdata_put(buffer, feature->bytes, feature->size);
	perfdata_put(buffer, NULL, padded - feature->size);
}

/**
 * perfdata_stream_begin_records() - what must be known before the first sample
 * @fd: the pipe.
 * @features: all, by their numbers: the formats of tracepoints, groups of events, and how
 *	records are compressed.
 * @sent: the bytes that this is are added.
 *
 * Return: 0 or a negative errno.
 */
int perfdata_stream_begin_records(int fd, const struct perfdata_buffer *features,
				  uint64_t *sent)
{
	const struct perfdata_buffer *formats = &features[PERFFILE_TRACING_DATA];
	struct perfdata_buffer buffer = { .failed = formats->failed };

	put_formats(&buffer, formats);
	put_feature(&buffer, PERFFILE_GROUP_DESC, &features[PERFFILE_GROUP_DESC]);
	put_feature(&buffer, PERFFILE_COMPRESSION, &features[PERFFILE_COMPRESSION]);
	return send(fd, &buffer, sent);
}

/**
 * perfdata_stream_end() - what comes behind the records
 * @fd: the pipe.
 * @features: all, by their numbers; those that have no place in a pipe are left out.
 * @sent: the bytes that this is are added.
 *
 * Return: 0 or a negative errno.
 */
int perfdata_stream_end(int fd, const struct perfdata_buffer *features, uint64_t *sent)
{
	struct perfdata_buffer buffer = { .size = 0 };
	const struct perfdata_buffer *ids = &features[PERFFILE_BUILD_ID];

	/* Its entries are records already. */
	buffer.failed = ids->failed;
	perfdata_put(&buffer, ids->bytes, ids->size);
	for (size_t i = 0; i < sizeof(features_sent) / sizeof(features_sent[0]); i++)
		put_feature(&buffer, features_sent[i], &features[features_sent[i]]);
	return send(fd, &buffer, sent);
}
