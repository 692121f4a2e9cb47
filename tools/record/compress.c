// SPDX-License-Identifier: GPL-2.0-only
/*
 * "record -z": what is read from rings is written in compressed records. All of a file are
 * one stream of zstd that is flushed after each piece, so that what a killed recorder
 * has written can be read; a record may begin in one and end in another. Source of the
 * format: PERF_RECORD_COMPRESSED and HEADER_COMPRESSED in
 * tools/perf/Documentation/perf.data-file-format.txt of Linux.
 */
#include <errno.h>
#include <stdlib.h>

#include "record.h"

#ifdef HAVE_LIBZSTD
#include <zstd.h>

/* Readers get so much at most from one record: they are told of it. */
#define CHUNK_SIZE 131072u

/* The highest levels would look for what is equal in 128 MB, with tables of a gigabyte. */
#define WINDOW_LOG_MAX 23
#define LEVEL_OF_WINDOW 19

#define RECORD_SIZE_MAX 65535u
#define HEADER_SIZE sizeof(struct perf_event_header)

/**
 * struct compressor - the stream
 * @zstd: its state.
 * @level: of compression.
 * @records: those that will be written next.
 * @before: bytes that were compressed.
 * @after: what they became.
 */
struct compressor {
	ZSTD_CCtx *zstd;
	int level;
	struct perfdata_buffer records;
	uint64_t before;
	uint64_t after;
};

/* A chunk becomes one record, or some if it hardly gets smaller. */
static int add_chunk(struct compressor *compressor, ZSTD_inBuffer in)
{
	unsigned char record[RECORD_SIZE_MAX];
	size_t left;

	do {
		struct perf_event_header header = { .type = PERFFILE_COMPRESSED };
		ZSTD_outBuffer out = { record, sizeof(record) - HEADER_SIZE, 0 };

		left = ZSTD_compressStream2(compressor->zstd, &out, &in, ZSTD_e_flush);
		if (ZSTD_isError(left))
			return -ENOMEM;
		header.size = (uint16_t)(HEADER_SIZE + out.pos);
		perfdata_put(&compressor->records, &header, sizeof(header));
		perfdata_put(&compressor->records, record, out.pos);
	} while (left);
	return 0;
}

/**
 * compressor_write() - add records to a file
 * @compressor: of the file; when this has failed, nothing more can be written.
 * @file: the file.
 * @pieces: whole records altogether, though a record may be parted between pieces.
 * @count: how many pieces.
 *
 * Return: 0 or a negative errno; then nothing was added.
 */
int compressor_write(struct compressor *compressor, struct perfdata *file,
		     const struct iovec *pieces, int count)
{
	uint64_t before = compressor->before;
	int ret = 0;

	compressor->records.size = 0;
	for (int i = 0; i < count; i++) {
		for (size_t at = 0; at < pieces[i].iov_len && ret == 0; at += CHUNK_SIZE) {
			ZSTD_inBuffer in = {
				(const char *)pieces[i].iov_base + at,
				pieces[i].iov_len - at, 0,
			};

			if (in.size > CHUNK_SIZE)
				in.size = CHUNK_SIZE;
			ret = add_chunk(compressor, in);
			before += in.size;
		}
	}
	if (ret < 0)
		return ret;
	compressor->after += compressor->records.size;
	compressor->before = before;
	return perfdata_write_buffer(file, &compressor->records);
}

/**
 * compressor_describe() - tell how a file is compressed, as far as it is by now
 * @compressor: of the file.
 * @file: the file.
 */
void compressor_describe(const struct compressor *compressor, struct perfdata *file)
{
	struct perfdata_buffer *feature = perfdata_feature(file, PERFFILE_COMPRESSION);
	uint64_t ratio = compressor->after ? compressor->before / compressor->after : 1;

	feature->size = 0;
	perfdata_put_u32(feature, 1);	/* version */
	perfdata_put_u32(feature, PERFFILE_ZSTD);
	perfdata_put_u32(feature, (uint32_t)compressor->level);
	perfdata_put_u32(feature, (uint32_t)ratio);
	perfdata_put_u32(feature, CHUNK_SIZE);
}

/**
 * compressor_totals() - what was saved
 * @compressor: of the file.
 * @before: set to the bytes that were compressed.
 * @after: set to what they became.
 */
void compressor_totals(const struct compressor *compressor, uint64_t *before, uint64_t *after)
{
	*before = compressor->before;
	*after = compressor->after;
}

/**
 * compressor_new() - begin a stream
 * @level: 1 to 22: the higher, the smaller and the slower.
 * @compressor: set.
 *
 * Return: 0, -ENOMEM.
 */
int compressor_new(int level, struct compressor **compressor)
{
	struct compressor *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->level = level;
	new->zstd = ZSTD_createCCtx();
	if (!new->zstd) {
		free(new);
		return -ENOMEM;
	}
	ZSTD_CCtx_setParameter(new->zstd, ZSTD_c_compressionLevel, level);
	if (level > LEVEL_OF_WINDOW)
		ZSTD_CCtx_setParameter(new->zstd, ZSTD_c_windowLog, WINDOW_LOG_MAX);
	*compressor = new;
	return 0;
}

void compressor_free(struct compressor *compressor)
{
	if (!compressor)
		return;
	ZSTD_freeCCtx(compressor->zstd);
	perfdata_buffer_free(&compressor->records);
	free(compressor);
}

#else

int compressor_new(int level, struct compressor **compressor)
{
	(void)level;
	(void)compressor;
	return -EOPNOTSUPP;
}

int compressor_write(struct compressor *compressor, struct perfdata *file,
		     const struct iovec *pieces, int count)
{
	(void)compressor;
	return perfdata_write(file, pieces, count);
}

void compressor_describe(const struct compressor *compressor, struct perfdata *file)
{
	(void)compressor;
	(void)file;
}

void compressor_totals(const struct compressor *compressor, uint64_t *before, uint64_t *after)
{
	(void)compressor;
	*before = 0;
	*after = 0;
}

void compressor_free(struct compressor *compressor)
{
	(void)compressor;
}

#endif
