// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings that went through a pipe, and compressed ones: what is read of them is what a
 * file has; what is damaged or cut off is refused or told.
 */
/* sources: tools/perffile/perffile.c tools/perffile/features.c tools/perffile/records.c tools/perffile/order.c */
/* sources: tools/perffile/sample.c tools/perffile/groups.c tools/perffile/stream.c tools/perffile/spool.c */
/* sources: tools/perffile/perfdata_buffer.c */
/* sources: tools/perffile/perfdata.c tools/perffile/perfdata_stream.c */
/* libs: -lzstd */
#define _GNU_SOURCE
#define HAVE_LIBZSTD
#include "../../tools/perffile/expand.c"
#include "../../tools/record/compress.c"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "fuzz/perffile_build.h"

#define TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)
#define SAMPLES 50

static const uint64_t ids[] = { 1000, 1001, 1010, 1011 };

static const struct perfdata_event events[] = {
	{ "instructions:u", { .size = 112, .sample_type = TYPE, .sample_id_all = 1 }, 0, ids, 2 },
	{ "my cycles", { .size = 112, .sample_type = TYPE, .sample_id_all = 1 }, 0, ids + 2, 2 },
};

/* Samples of both events, the later ones first */
static void build_samples(struct build *build, size_t count)
{
	struct build_sample sample;
	uint64_t seed = 1;

	memset(build, 0, sizeof(*build));
	build->attrs[0] = events[0].attr;
	build->attrs[1] = events[1].attr;
	build->events = 2;
	for (size_t i = 0; i < count; i++) {
		build_sample_random(&sample, i % 2, &seed);
		sample.time = 1000 + count - i;
		build_sample(build, i % 2, PERF_RECORD_MISC_USER, &sample, &seed);
	}
}

static void put_info(struct perfdata *file)
{
	struct perfdata_buffer *words = perfdata_feature(file, PERFFILE_CMDLINE);

	perfdata_put_string(perfdata_feature(file, PERFFILE_HOSTNAME), "guest");
	perfdata_put_u32(words, 2);
	perfdata_put_string(words, "pmuctl");
	perfdata_put_string(words, "record");
	perfdata_put_build_id(perfdata_feature(file, PERFFILE_BUILD_ID), false, ids, 20, "/bin/true");
	perfdata_put_build_id(perfdata_feature(file, PERFFILE_BUILD_ID), true, ids, 20, "[kernel]");
}

struct written {
	uint8_t *bytes;
	size_t size;
};

/* How a recording is written: through a pipe, or compressed at a level that is not 0 */
static struct written write_records(bool is_stream, int level, const struct build *records)
{
	struct iovec pieces[2] = { { records->data, records->size / 3 }, { NULL, 0 } };
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	struct compressor *compressor = NULL;
	struct written written;
	struct perfdata *file;

	pieces[1].iov_base = records->data + pieces[0].iov_len;
	pieces[1].iov_len = records->size - pieces[0].iov_len;
	cr_assert_eq((is_stream ? perfdata_create_stream : perfdata_create)(fd, events, 2, &file), 0);
	if (level) {
		cr_assert_eq(compressor_new(level, &compressor), 0);
		compressor_describe(compressor, file);
	}
	perfdata_put(perfdata_feature(file, PERFFILE_TRACING_DATA), "formats", 7);
	cr_assert_eq(perfdata_begin_records(file), 0);
	cr_assert_eq(level ? compressor_write(compressor, file, pieces, 2) :
			     perfdata_write(file, pieces, 2), 0);
	cr_assert_eq(perfdata_finish_round(file), 0);
	put_info(file);
	if (compressor)
		compressor_describe(compressor, file);
	cr_assert_eq(perfdata_finish(file), 0);
	perfdata_free(file);
	compressor_free(compressor);
	written.size = (size_t)lseek(fd, 0, SEEK_END);
	written.bytes = malloc(written.size);
	cr_assert_eq(pread(fd, written.bytes, written.size, 0), (ssize_t)written.size);
	close(fd);
	return written;
}

static struct perffile *opened(const void *bytes, size_t size)
{
	struct perffile_error error = { "" };
	struct perffile *file = NULL;

	cr_assert_eq(perffile_open_memory(&file, bytes, size, &error), 0, "%s", error.text);
	return file;
}

static void refused(const void *bytes, size_t size, const char *words)
{
	struct perffile_error error = { "" };
	struct perffile *file = NULL;

	cr_assert_eq(perffile_open_memory(&file, bytes, size, &error), -EBADMSG,
		     "%zu bytes are taken, not refused with '%s'", size, words);
	cr_assert_not_null(strstr(error.text, words), "'%s' lacks '%s'", error.text, words);
}

/* Whatever came between: the samples are those that were built, by their time. */
static void check_samples(struct perffile *file, const struct build *records, size_t count)
{
	struct perffile_record record;
	struct perffile_error error = { "" };
	size_t n = 0, size = count ? records->size / count : 0;

	while (perffile_next(file, &record, &error) > 0) {
		const uint8_t *built = records->data + (count - 1 - n) * size;

		cr_assert_eq(record.type, PERF_RECORD_SAMPLE);
		cr_assert_eq(record.size, size);
		cr_assert_arr_eq(file->data + record.offset, built, size, "sample %zu", n);
		cr_assert_eq(record.event, &file->events[(count - 1 - n) % 2]);
		cr_assert_eq(record.time, 1001 + n);
		n++;
	}
	cr_assert_str_eq(error.text, "");
	cr_assert_eq(n, count);
}

static void check_info(const struct perffile *file)
{
	cr_assert_eq(file->event_count, 2);
	cr_assert_eq(file->events[1].attr.sample_type, TYPE);
	cr_assert_eq(file->events[1].id_count, 2);
	cr_assert_eq(file->events[0].members, 2);
	cr_assert_str_eq(file->events[0].name, "instructions:u");
	cr_assert_str_eq(file->events[1].name, "my cycles");
	cr_assert_str_eq(file->info.hostname, "guest");
	cr_assert_str_eq(file->info.cmdline, "pmuctl record");
	cr_assert_eq(file->info.build_id_count, 2);
	cr_assert_str_eq(file->info.build_ids[1].name, "[kernel]");
	cr_assert_eq(memcmp(file->info.build_ids[1].id, ids, 20), 0);
}

Test(perffile_stream, each_way_of_writing_is_read_as_the_same)
{
	static const int levels[] = { 0, 1, 22 };

	for (int i = 0; i < 6; i++) {
		struct written written;
		struct perffile *file;
		struct build records;

		build_samples(&records, SAMPLES);
		written = write_records(i & 1, levels[i / 2], &records);
		file = opened(written.bytes, written.size);
		cr_assert_eq(file->is_stream, i & 1);
		cr_assert_not(file->is_unfinished);
		cr_assert_eq(file->info.compression, levels[i / 2] ? PERFFILE_ZSTD : 0);
		check_info(file);
		check_samples(file, &records, SAMPLES);
		perffile_close(file);
		free(written.bytes);
		build_free(&records);
	}
}

/* Several records of the longest size, and a stream that goes on over them */
Test(perffile_stream, what_hardly_gets_smaller_is_parted)
{
	struct written written;
	struct perffile *file;
	struct build records;
	size_t count = 10000;

	build_samples(&records, count);
	cr_assert_gt(records.size, 3 * CHUNK_SIZE);
	written = write_records(false, 1, &records);
	cr_assert_lt(written.size, records.size);
	file = opened(written.bytes, written.size);
	check_samples(file, &records, count);
	perffile_close(file);
	free(written.bytes);
	build_free(&records);
}

/* Of whatever length the beginning is: what is whole in it is read, and the rest told. */
Test(perffile_stream, every_truncation_of_a_stream_is_told)
{
	struct written written;
	struct build records;
	size_t begin = 16 + 2 * (8 + 112 + 16);

	build_samples(&records, 5);
	for (int level = 0; level < 2; level++) {
		size_t whole = 0, cut = 0;

		written = write_records(true, level, &records);
		for (size_t size = 0; size < written.size; size++) {
			struct perffile_error error = { "" };
			uint8_t *copy = malloc(size + 1);
			struct perffile *file;

			memcpy(copy, written.bytes, size);
			if (perffile_open_memory(&file, copy, size, &error) < 0) {
				cr_assert_lt(size, begin, "%zu: %s", size, error.text);
				cr_assert(*error.text);
			} else {
				cut += file->is_unfinished;
				whole += !file->is_unfinished;
				cr_assert_leq(file->record_count, 5);
				perffile_close(file);
			}
			free(copy);
		}
		/* Between records nobody can know whether there are more. */
		cr_assert_gt(whole, 5);
		cr_assert_gt(cut, 20 * whole);
		free(written.bytes);
	}
	build_free(&records);
}

Test(perffile_stream, what_cannot_be_a_stream_is_refused)
{
	struct written written;
	struct build records;
	uint32_t small = 63;

	build_samples(&records, 1);
	written = write_records(true, 0, &records);
	refused(written.bytes, 16, "before it described any event");
	memcpy(written.bytes + 16 + 8 + 4, &small, sizeof(small));
	refused(written.bytes, written.size, "says that it has 63 bytes, of 128");
	memset(written.bytes + 16 + 6, 0, 2);
	refused(written.bytes, written.size, "damaged at byte 16");
	free(written.bytes);
	build_free(&records);
}

static void put_stream(int fd, const struct written *written)
{
	/* Both fit into a pipe. */
	cr_assert_eq(write(fd, written->bytes, written->size), (ssize_t)written->size);
	close(fd);
}

Test(perffile_stream, standard_input_may_be_a_pipe)
{
	for (int i = 0; i < 4; i++) {
		struct perffile_error error = { "" };
		struct written written;
		struct perffile *file;
		struct build records;
		int fds[2];

		build_samples(&records, SAMPLES);
		written = write_records(i & 1, i & 2, &records);
		cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
		cr_assert_eq(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
		close(fds[0]);
		put_stream(fds[1], &written);
		cr_assert_eq(perffile_open(&file, "-", &error), 0, "%s", error.text);
		check_info(file);
		check_samples(file, &records, SAMPLES);
		perffile_close(file);
		free(written.bytes);
		build_free(&records);
	}
}

Test(perffile_stream, an_empty_pipe_and_a_full_disk_are_told)
{
	struct perffile_error error = { "" };
	struct perffile *file;
	int fds[2];

	cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
	cr_assert_eq(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	close(fds[1]);
	cr_assert_eq(perffile_open(&file, "-", &error), -EBADMSG);
	cr_assert_not_null(strstr(error.text, "empty"), "%s", error.text);
	cr_assert_eq(setenv("TMPDIR", "/nonexistent", 1), 0);
	cr_assert_eq(perffile_open(&file, "-", &error), -EBADMSG);
	cr_assert_not_null(strstr(error.text, "cannot be copied to '/nonexistent': No such file"), "%s",
			   error.text);
}

/* ----------------------------------------------------------- compressed records */

struct packed {
	struct build build;
	ZSTD_CCtx *zstd;
};

static void pack_begin(struct packed *packed)
{
	const struct perf_event_attr attrs[] = { events[0].attr, events[1].attr };

	build_begin(&packed->build, attrs, 2);
	packed->zstd = ZSTD_createCCtx();
}

/* A compressed record of @size bytes of what comes next, of the older type or the newer */
static void pack(struct packed *packed, const void *bytes, size_t size, bool newer)
{
	size_t at = build_record(&packed->build, newer ? 83 : 81, 0);
	uint8_t room[4096];
	ZSTD_outBuffer out = { room, sizeof(room), 0 };
	ZSTD_inBuffer in = { bytes, size, 0 };

	cr_assert_eq(ZSTD_compressStream2(packed->zstd, &out, &in, ZSTD_e_flush), 0);
	if (newer)
		build_word(&packed->build, out.pos);
	build_bytes(&packed->build, room, out.pos);
	if (newer)
		build_pad(&packed->build, -packed->build.size & 7);
	build_record_end(&packed->build, at);
}

static void pack_end(struct packed *packed)
{
	build_features(&packed->build, NULL, 0);
	ZSTD_freeCCtx(packed->zstd);
}

Test(perffile_stream, a_record_may_be_parted_anywhere)
{
	struct build records;

	build_samples(&records, 6);
	for (size_t first = 1; first < records.size; first++) {
		struct perffile *file;
		struct packed packed;
		size_t at;

		pack_begin(&packed);
		pack(&packed, records.data, first, first & 1);
		/* What is not compressed may come between, and is no part of it. */
		at = build_record(&packed.build, PERFFILE_FINISHED_ROUND, 0);
		build_record_end(&packed.build, at);
		pack(&packed, records.data + first, records.size - first, first & 2);
		pack_end(&packed);
		file = opened(packed.build.data, packed.build.size);
		check_samples(file, &records, 6);
		perffile_close(file);
		build_free(&packed.build);
	}
	build_free(&records);
}

Test(perffile_stream, damaged_compressed_records_are_refused)
{
	static const uint64_t no_size[] = { 0 };
	struct build records;
	struct packed packed;
	struct perffile *file;
	size_t at;

	build_samples(&records, 2);
	pack_begin(&packed);
	pack(&packed, records.data, records.size - 1, false);
	pack_end(&packed);
	refused(packed.build.data, packed.build.size, "the last one in them is cut off");
	/* One that was not finished may end so. */
	build_set(&packed.build, 48, 0);
	file = opened(packed.build.data, packed.build.size);
	cr_assert(file->is_unfinished);
	cr_assert_eq(file->record_count, 1);
	perffile_close(file);
	packed.build.data[packed.build.records + 8] ^= 0xff;
	refused(packed.build.data, packed.build.size, "is damaged: Unknown frame descriptor");
	build_free(&packed.build);

	pack_begin(&packed);
	pack(&packed, no_size, 8, false);
	pack_end(&packed);
	refused(packed.build.data, packed.build.size, "says that it has 0 bytes");
	build_free(&packed.build);

	pack_begin(&packed);
	pack(&packed, records.data, records.size, true);
	at = packed.build.records + 8;
	pack_end(&packed);
	build_set(&packed.build, at, 4096);
	refused(packed.build.data, packed.build.size, "is shorter than it says");
	build_free(&packed.build);
	build_free(&records);
}

Test(perffile_stream, compressed_records_in_compressed_ones_are_refused)
{
	static const unsigned int compression[] = { PERFFILE_COMPRESSION };
	const struct perf_event_header inner = { .type = 81, .size = sizeof(inner) };
	struct packed packed;

	pack_begin(&packed);
	pack(&packed, &inner, sizeof(inner), false);
	pack_end(&packed);
	refused(packed.build.data, packed.build.size, "compressed twice");
	build_free(&packed.build);

	pack_begin(&packed);
	pack(&packed, &inner, sizeof(inner), false);
	build_features(&packed.build, compression, 1);
	build_feature(&packed.build, 0);
	build_half(&packed.build, 1);
	build_half(&packed.build, 2);
	build_feature_end(&packed.build, 0);
	ZSTD_freeCCtx(packed.zstd);
	refused(packed.build.data, packed.build.size, "a method with the number 2");
	build_free(&packed.build);
}

/* 64 MB of records without anything in them are some 6 kB. */
Test(perffile_stream, what_expands_beyond_reason_is_refused)
{
	const size_t size = 1 << 16, blocks = 1024;
	uint8_t *records = malloc(size);
	struct packed packed;

	for (size_t at = 0; at < size; at += 8)
		memcpy(records + at, &(struct perf_event_header){ .type = 68, .size = 8 }, 8);
	pack_begin(&packed);
	ZSTD_CCtx_setParameter(packed.zstd, ZSTD_c_compressionLevel, 19);
	for (size_t i = 0; i < blocks; i++)
		pack(&packed, records, size, false);
	pack_end(&packed);
	cr_assert_lt(packed.build.size, blocks * 32);
	refused(packed.build.data, packed.build.size, "4096 times as long");
	build_free(&packed.build);
	free(records);
}
