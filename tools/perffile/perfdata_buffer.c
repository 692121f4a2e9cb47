// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes of a recording that are put together in memory, and records that are there.
 */
#include <stdlib.h>
#include <string.h>

#include "perfdata.h"

/* Names in features are padded to a multiple of this. */
#define NAME_ALIGN	64u

/* Of an entry of PERFFILE_BUILD_ID: it tells the size of the id. */
#define MISC_BUILD_ID_SIZE (1 << 15)

/**
 * perfdata_put() - add bytes
 * @buffer: where to.
 * @bytes: NULL for zeroes.
 * @size: how many.
 */
void perfdata_put(struct perfdata_buffer *buffer, const void *bytes, size_t size)
{
	if (buffer->failed || !size)
		return;
	if (size > buffer->capacity - buffer->size) {
		size_t capacity = (buffer->size + size) * 2;
		unsigned char *new = realloc(buffer->bytes, capacity);

		buffer->failed = !new;
		if (!new)
			return;
		buffer->bytes = new;
		buffer->capacity = capacity;
	}
	if (bytes)
		memcpy(buffer->bytes + buffer->size, bytes, size);
	else
		memset(buffer->bytes + buffer->size, 0, size);
	buffer->size += size;
}

void perfdata_put_u32(struct perfdata_buffer *buffer, uint32_t value)
{
	perfdata_put(buffer, &value, sizeof(value));
}

void perfdata_put_u64(struct perfdata_buffer *buffer, uint64_t value)
{
	perfdata_put(buffer, &value, sizeof(value));
}

static size_t aligned(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

/**
 * perfdata_put_string() - add a string as features have them
 * @buffer: where to.
 * @text: the string.
 */
void perfdata_put_string(struct perfdata_buffer *buffer, const char *text)
{
	size_t length = strlen(text), padded = aligned(length + 1, NAME_ALIGN);

	perfdata_put_u32(buffer, (uint32_t)padded);
	perfdata_put(buffer, text, length);
	perfdata_put(buffer, NULL, padded - length);
}

/**
 * perfdata_put_build_id() - add an entry of PERFFILE_BUILD_ID
 * @buffer: of that feature.
 * @is_kernel: it is the kernel or a module.
 * @id: the build id; what does not fit is left out.
 * @id_size: its bytes.
 * @path: whose.
 */
void perfdata_put_build_id(struct perfdata_buffer *buffer, bool is_kernel,
			   const void *id, size_t id_size, const char *path)
{
	size_t length = strlen(path), padded = aligned(length + 1, NAME_ALIGN);
	struct {
		struct perf_event_header header;
		int32_t pid;			/* -1: of this machine */
		unsigned char id[PERFFILE_BUILD_ID_MAX];
		unsigned char id_size;
		unsigned char reserved[3];
	} entry = {
		.header.type = PERFFILE_BUILD_ID_ENTRY,
		.header.misc = MISC_BUILD_ID_SIZE |
			       (is_kernel ? PERF_RECORD_MISC_KERNEL :
					    PERF_RECORD_MISC_USER),
		.pid = -1,
	};

	if (sizeof(entry) + padded > UINT16_MAX)
		return;
	if (id_size > sizeof(entry.id))
		id_size = sizeof(entry.id);
	entry.header.size = (uint16_t)(sizeof(entry) + padded);
	entry.id_size = (unsigned char)id_size;
	memcpy(entry.id, id, id_size);
	perfdata_put(buffer, &entry, sizeof(entry));
	perfdata_put(buffer, path, length);
	perfdata_put(buffer, NULL, padded - length);
}

void perfdata_buffer_free(struct perfdata_buffer *buffer)
{
	free(buffer->bytes);
	memset(buffer, 0, sizeof(*buffer));
}

/**
 * perfdata_whole() - how many bytes of some records make whole ones
 * @pieces: the records; one may be parted between pieces.
 * @count: how many pieces.
 * @room: bytes that there are at most.
 * @samples: set to how many of them are samples; or NULL.
 *
 * Return: bytes.
 */
uint64_t perfdata_whole(const struct iovec *pieces, int count, uint64_t room, uint64_t *samples)
{
	struct perf_event_header header;
	uint64_t done = 0, begin = 0, n = 0;

	for (int i = 0; i < count; begin += pieces[i++].iov_len) {
		/* What is parted has its header in one piece: records are whole words. */
		while (done - begin + sizeof(header) <= pieces[i].iov_len) {
			memcpy(&header, (const char *)pieces[i].iov_base + (done - begin),
			       sizeof(header));
			if (header.size < sizeof(header) || done + header.size > room)
				goto out;
			done += header.size;
			n += header.type == PERF_RECORD_SAMPLE;
		}
	}
out:
	if (samples)
		*samples = n;
	return done;
}
