// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records that have others in them, compressed with zstd, as "record -z" writes them. All
 * of a file are one stream of zstd, and a record may begin in one of them and end in another.
 * The records are written as they were before, each whole, to a file without a name, which
 * takes the place of what was read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "perffile.h"

#ifdef HAVE_LIBZSTD
#include <zstd.h>

#define HEADER_SIZE sizeof(struct perf_event_header)

/* Room for the longest record but a byte, and for what is got at a time */
#define BUFFER_SIZE (65536 + 131072)

/* Stacks that are like each other become some 100 times smaller; nothing is like this. */
#define RATIO_MAX 4096
#define EXPANDED_MIN (1U << 20)

/**
 * struct expander - what it takes
 * @file: the file.
 * @zstd: the stream.
 * @out: where the records go.
 * @bytes: what was got and is not written yet: less than a record between two calls.
 * @used: how many.
 * @left: how many more may be got.
 */
struct expander {
	struct perffile *file;
	ZSTD_DStream *zstd;
	FILE *out;
	uint8_t bytes[BUFFER_SIZE];
	size_t used;
	uint64_t left;
};

static int write_out(struct expander *expander, const void *bytes, size_t size,
		     struct perffile_error *error)
{
	if (size && fwrite(bytes, size, 1, expander->out) != 1)
		return perffile_spool_failed(error);
	return 0;
}

/* Records that are whole go on; the beginning of the next one stays. */
static int write_whole(struct expander *expander, uint64_t at, struct perffile_error *error)
{
	struct perf_event_header header;
	size_t whole = 0;
	int ret;

	while (expander->used - whole >= HEADER_SIZE) {
		memcpy(&header, expander->bytes + whole, sizeof(header));
		if (header.size < HEADER_SIZE)
			return perffile_fail(error, "its records are damaged: in the compressed one at byte %" PRIu64
					     " is one of type %u that says that it has %u bytes",
					     at, header.type, header.size);
		if (header.size > expander->used - whole)
			break;
		whole += header.size;
	}
	ret = write_out(expander, expander->bytes, whole, error);
	expander->used -= whole;
	memmove(expander->bytes, expander->bytes + whole, expander->used);
	return ret;
}

static int expand(struct expander *expander, uint64_t at, ZSTD_inBuffer in,
		  struct perffile_error *error)
{
	ZSTD_outBuffer out;
	size_t status;
	int ret;

	do {
		out.dst = expander->bytes + expander->used;
		out.size = BUFFER_SIZE - expander->used;
		out.pos = 0;
		status = ZSTD_decompressStream(expander->zstd, &out, &in);
		if (ZSTD_isError(status))
			return perffile_fail(error, "its compressed record at byte %" PRIu64
					     " is damaged: %s", at, ZSTD_getErrorName(status));
		if (out.pos > expander->left)
			return perffile_fail(error, "its compressed records are damaged: up to byte %" PRIu64
					     " they are more than %u times as long as they are there",
					     at, RATIO_MAX);
		expander->left -= out.pos;
		expander->used += out.pos;
		ret = write_whole(expander, at, error);
	} while (ret == 0 && (in.pos < in.size || out.pos == out.size));
	return ret;
}

/* What is compressed in the record at @at; of the newer type with its length before it */
static int take_compressed(struct expander *expander, uint64_t at,
			   struct perffile_error *error)
{
	struct perf_event_header header;
	struct perffile_bytes bytes;
	ZSTD_inBuffer in = { .pos = 0 };

	memcpy(&header, expander->file->data + at, sizeof(header));
	bytes.at = expander->file->data + at + HEADER_SIZE;
	bytes.end = expander->file->data + at + header.size;
	bytes.failed = false;
	in.size = header.size - HEADER_SIZE;
	if (header.type == PERFFILE_COMPRESSED2)
		in.size = perffile_take64(&bytes);
	in.src = perffile_take(&bytes, in.size);
	if (bytes.failed)
		return perffile_fail(error, "its compressed record at byte %" PRIu64
				     " is shorter than it says", at);
	expander->left += (uint64_t)in.size * RATIO_MAX;
	return expand(expander, at, in, error);
}

static int take_all(struct expander *expander, struct perffile_error *error)
{
	struct perffile *file = expander->file;
	int ret = 0;

	for (uint64_t at = file->records; at < file->records_end && ret == 0;
	     at = perffile_record_after(file, at)) {
		struct perf_event_header header;

		memcpy(&header, file->data + at, sizeof(header));
		if (header.type == PERFFILE_COMPRESSED || header.type == PERFFILE_COMPRESSED2)
			ret = take_compressed(expander, at, error);
		else
			ret = write_out(expander, file->data + at,
					perffile_record_length(file, at), error);
	}
	if (ret < 0 || !expander->used)
		return ret;
	/* A stream may have been cut off between two of them. */
	if (!file->is_unfinished && !file->is_stream)
		return perffile_fail(error, "its compressed records are damaged: the last one in them is cut off");
	file->is_unfinished = true;
	file->left_out += expander->used;
	return 0;
}

/* The records that were got take the place of the file. */
static int replace(struct perffile *file, FILE *out, struct perffile_error *error)
{
	const void *data;
	size_t size;
	int ret = perffile_spool_map(out, &data, &size, error);

	if (ret < 0)
		return ret;
	file->source = file->data;
	file->source_size = file->size;
	file->data = data;
	file->size = size;
	file->records = 0;
	file->records_end = size;
	ret = perffile_records_check(file, error);
	if (ret == 0 && file->is_compressed)
		return perffile_fail(error, "its records are damaged: they are compressed twice");
	return ret;
}

/**
 * perffile_expand() - get the records that others have in them
 * @file: with its records checked: they are replaced, and are to be checked no more.
 * @error: why not.
 *
 * Return: 0, -EBADMSG, -ENOMEM.
 */
int perffile_expand(struct perffile *file, struct perffile_error *error)
{
	struct expander *expander;
	int ret;

	if (file->info.compression && file->info.compression != PERFFILE_ZSTD)
		return perffile_fail(error, "its records are compressed by a method with the number %u, and only zstd, %u, is known",
				     file->info.compression, PERFFILE_ZSTD);
	expander = calloc(1, sizeof(*expander));
	if (!expander)
		return perffile_no_memory(error);
	expander->file = file;
	expander->left = EXPANDED_MIN;
	expander->zstd = ZSTD_createDStream();
	expander->out = expander->zstd ? perffile_spool_new(error) : NULL;
	if (!expander->out)
		ret = expander->zstd ? -EBADMSG : perffile_no_memory(error);
	else
		ret = take_all(expander, error);
	if (ret == 0)
		ret = replace(file, expander->out, error);
	else if (expander->out)
		fclose(expander->out);
	ZSTD_freeDStream(expander->zstd);
	free(expander);
	return ret;
}

#else

int perffile_expand(struct perffile *file, struct perffile_error *error)
{
	(void)file;
	return perffile_fail(error, "its records are compressed, and this pmuctl was built without libzstd: install libzstd-dev and build it again, or record without '-z'");
}

#endif
