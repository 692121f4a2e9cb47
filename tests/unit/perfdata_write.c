// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes of a file of samples, read back by offsets as other readers have them.
 */
/* sources: tools/perffile/perfdata_buffer.c */
/* sources: tools/perffile/perfdata.c tools/perffile/perfdata_stream.c */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "../../tools/perffile/perfdata.h"

#define HEADER_SIZE	104u
#define ATTR_SIZE	112u

/* What a finished file has, and where it is. */
struct image {
	int fd;
	size_t size;
	unsigned char *bytes;
};

static uint64_t u64_at(const struct image *image, uint64_t at)
{
	uint64_t value;

	cr_assert_leq(at + sizeof(value), image->size, "%lu", at);
	memcpy(&value, image->bytes + at, sizeof(value));
	return value;
}

static uint32_t u32_at(const struct image *image, uint64_t at)
{
	uint32_t value;

	cr_assert_leq(at + sizeof(value), image->size, "%lu", at);
	memcpy(&value, image->bytes + at, sizeof(value));
	return value;
}

static void image_read(struct image *image)
{
	off_t size = lseek(image->fd, 0, SEEK_END);

	cr_assert_gt(size, 0);
	image->size = (size_t)size;
	image->bytes = malloc(image->size);
	cr_assert_eq(pread(image->fd, image->bytes, image->size, 0), size);
}

static void image_free(struct image *image)
{
	free(image->bytes);
	close(image->fd);
}

/* Where the section of a feature is; each has an entry, in the order of the bits. */
static uint64_t feature_at(const struct image *image, unsigned int bit, uint64_t *size)
{
	uint64_t table = u64_at(image, 40) + u64_at(image, 48);
	uint64_t bits = u64_at(image, 72);

	cr_assert(bits >> bit & 1, "feature %u", bit);
	for (unsigned int i = 0; i < bit; i++)
		table += bits >> i & 1 ? 16 : 0;
	*size = u64_at(image, table + 8);
	cr_assert_leq(u64_at(image, table) + *size, image->size);
	return u64_at(image, table);
}

static const uint64_t ids[] = { 11, 12, 21, 22, 31 };

static const struct perfdata_event events[] = {
	{ "cycles", { .size = 128, .config = 7, .sample_period = 1000 }, 0, ids, 2 },
	{ "a:u", { .size = 128, .config = 8 }, 1, ids + 2, 2 },
	{ "b:u", { .size = 128, .config = 9 }, 1, ids + 4, 1 },
};

static struct perfdata *create(struct image *image, size_t nr_events)
{
	struct perfdata *file;

	image->fd = memfd_create("perf.data", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	cr_assert_geq(image->fd, 0);
	cr_assert_eq(perfdata_create(image->fd, events, nr_events, &file), 0);
	return file;
}

Test(perfdata_write, header_and_attrs_are_where_readers_look)
{
	struct image image;
	struct perfdata *file = create(&image, 3);
	uint64_t attrs = HEADER_SIZE + sizeof(ids), at;
	const uint64_t id_places[] = { 104, 16, 120, 16, 136, 8 };

	cr_assert_eq(perfdata_finish(file), 0);
	perfdata_free(file);
	image_read(&image);
	cr_assert_eq(memcmp(image.bytes, "PERFILE2", 8), 0);
	cr_assert_eq(u64_at(&image, 8), HEADER_SIZE);
	cr_assert_eq(u64_at(&image, 16), ATTR_SIZE + 16);
	cr_assert_eq(u64_at(&image, 24), attrs);
	cr_assert_eq(u64_at(&image, 32), 3 * (ATTR_SIZE + 16));
	cr_assert_eq(u64_at(&image, 40), attrs + 3 * (ATTR_SIZE + 16));
	cr_assert_eq(u64_at(&image, 48), 8, "no records, but the end of a round");
	cr_assert_eq(u64_at(&image, attrs + 3 * (ATTR_SIZE + 16)), 68 | 8ull << 48);
	cr_assert_eq(u64_at(&image, 56), 0);
	cr_assert_eq(u64_at(&image, 64), 0);
	cr_assert_arr_eq(image.bytes + HEADER_SIZE, ids, sizeof(ids));
	for (unsigned int i = 0; i < 3; i++) {
		at = attrs + i * (ATTR_SIZE + 16);
		cr_expect_eq(u32_at(&image, at + 4), ATTR_SIZE);
		cr_expect_eq(u64_at(&image, at + 8), 7 + i);
		cr_expect_eq(u64_at(&image, at + ATTR_SIZE), id_places[2 * i]);
		cr_expect_eq(u64_at(&image, at + ATTR_SIZE + 8),
			     id_places[2 * i + 1]);
	}
	image_free(&image);
}

Test(perfdata_write, unfinished_file_has_no_records)
{
	struct image image;
	struct perfdata *file = create(&image, 1);
	unsigned char record[24] = { 9 };
	struct iovec piece = { record, sizeof(record) };

	cr_assert_eq(perfdata_write(file, &piece, 1), 0);
	image_read(&image);
	cr_assert_eq(u64_at(&image, 48), 0);
	perfdata_free(file);
	image_free(&image);
}

Test(perfdata_write, records_follow_each_other)
{
	struct image image;
	struct perfdata *file = create(&image, 1);
	struct perfdata_buffer buffer = { .size = 0 };
	unsigned char record[24] = { 9, [6] = 24 };
	struct iovec pieces[] = { { record, 10 }, { record + 10, 14 } };
	uint64_t data;

	cr_assert_eq(perfdata_write(file, pieces, 2), 0);
	cr_assert_eq(perfdata_finish_round(file), 0);
	perfdata_put(&buffer, record, sizeof(record));
	perfdata_put(&buffer, record, sizeof(record));
	cr_assert_eq(perfdata_write_buffer(file, &buffer), 0);
	cr_assert_eq(perfdata_write_buffer(file, &buffer), 0, "it is empty now");
	cr_assert_eq(perfdata_finish(file), 0);
	image_read(&image);
	data = u64_at(&image, 40);
	cr_assert_eq(data % 8, 0);
	cr_assert_eq(u64_at(&image, 48), 3 * 24 + 8);
	cr_assert_arr_eq(image.bytes + data, record, 24);
	cr_assert_eq(u64_at(&image, data + 24), 68 | 8ull << 48);
	cr_assert_arr_eq(image.bytes + data + 32, record, 24);
	cr_assert_arr_eq(image.bytes + data + 56, record, 24);
	perfdata_buffer_free(&buffer);
	perfdata_free(file);
	image_free(&image);
}

Test(perfdata_write, features_are_in_the_order_of_their_bits)
{
	struct image image;
	struct perfdata *file = create(&image, 1);
	uint64_t at, size;

	perfdata_put_u64(perfdata_feature(file, PERFFILE_SAMPLE_TIME), 5);
	perfdata_put_u64(perfdata_feature(file, PERFFILE_SAMPLE_TIME), 6);
	perfdata_put_string(perfdata_feature(file, PERFFILE_HOSTNAME), "guest");
	cr_assert_eq(perfdata_finish(file), 0);
	perfdata_free(file);
	image_read(&image);
	cr_assert_eq(u64_at(&image, 72), 1 << 3 | 1 << 12 | 1 << 21);
	cr_assert_eq(u64_at(&image, 80) | u64_at(&image, 88) |
		     u64_at(&image, 96), 0);
	at = feature_at(&image, 3, &size);
	cr_assert_eq(size, 4 + 64);
	cr_assert_eq(u32_at(&image, at), 64);
	cr_assert_str_eq((char *)image.bytes + at + 4, "guest");
	at = feature_at(&image, 21, &size);
	cr_assert_eq(size, 16);
	cr_assert_eq(u64_at(&image, at), 5);
	cr_assert_eq(u64_at(&image, at + 8), 6);
	image_free(&image);
}

Test(perfdata_write, events_have_names_and_ids)
{
	struct image image;
	struct perfdata *file = create(&image, 3);
	uint64_t at, size;

	cr_assert_eq(perfdata_finish(file), 0);
	perfdata_free(file);
	image_read(&image);
	at = feature_at(&image, 12, &size);
	cr_assert_eq(u32_at(&image, at), 3);
	cr_assert_eq(u32_at(&image, at + 4), ATTR_SIZE);
	at += 8;
	for (unsigned int i = 0; i < 3; i++) {
		cr_assert_eq(u64_at(&image, at + 8), 7 + i);
		at += ATTR_SIZE;
		cr_assert_eq(u32_at(&image, at), events[i].nr_ids);
		cr_assert_eq(u32_at(&image, at + 4), 64);
		cr_assert_str_eq((char *)image.bytes + at + 8, events[i].name);
		at += 8 + 64;
		for (size_t n = 0; n < events[i].nr_ids; n++, at += 8)
			cr_assert_eq(u64_at(&image, at), events[i].ids[n]);
	}
	at = feature_at(&image, 17, &size);
	cr_assert_eq(size, 4 + 4 + 64 + 8);
	cr_assert_eq(u32_at(&image, at), 1, "one group");
	cr_assert_eq(u32_at(&image, at + 72), 1, "led by the second event");
	cr_assert_eq(u32_at(&image, at + 76), 2, "of two members");
	image_free(&image);
}

Test(perfdata_write, strings_end_with_a_zero_whatever_their_length)
{
	char text[200];

	for (size_t length = 0; length < sizeof(text) - 1; length++) {
		struct perfdata_buffer buffer = { .size = 0 };
		uint32_t padded;

		memset(text, 'x', length);
		text[length] = '\0';
		perfdata_put_string(&buffer, text);
		memcpy(&padded, buffer.bytes, sizeof(padded));
		cr_assert_eq(padded % 64, 0);
		cr_assert_eq(buffer.size, 4 + padded);
		cr_assert_gt(padded, length);
		cr_assert_str_eq((char *)buffer.bytes + 4, text);
		perfdata_buffer_free(&buffer);
	}
}

Test(perfdata_write, build_id_entry)
{
	static const unsigned char id[32] = { 1, 2, 3, [19] = 20, [20] = 99 };
	struct perfdata_buffer buffer = { .size = 0 };
	struct perf_event_header header;
	int32_t pid;

	perfdata_put_build_id(&buffer, false, id, 16, "/bin/true");
	memcpy(&header, buffer.bytes, sizeof(header));
	cr_assert_eq(header.type, 67);
	cr_assert_eq(header.misc, PERF_RECORD_MISC_USER | 1 << 15);
	cr_assert_eq(header.size, 36 + 64);
	cr_assert_eq(buffer.size, header.size);
	memcpy(&pid, buffer.bytes + 8, sizeof(pid));
	cr_assert_eq(pid, -1);
	cr_assert_arr_eq(buffer.bytes + 12, id, 16);
	cr_assert_eq(buffer.bytes[12 + 20], 16);
	cr_assert_str_eq((char *)buffer.bytes + 36, "/bin/true");

	/* One that is too long is cut, not written over what follows. */
	buffer.size = 0;
	perfdata_put_build_id(&buffer, true, id, sizeof(id), "[kernel.kallsyms]");
	memcpy(&header, buffer.bytes, sizeof(header));
	cr_assert_eq(header.misc, PERF_RECORD_MISC_KERNEL | 1 << 15);
	cr_assert_arr_eq(buffer.bytes + 12, id, 20);
	cr_assert_eq(buffer.bytes[12 + 20], 20);
	perfdata_buffer_free(&buffer);
}

Test(perfdata_write, what_cannot_be_written_is_told)
{
	unsigned char record[8] = { 9, [6] = 8 };
	struct iovec piece = { record, sizeof(record) };
	struct image image;
	struct perfdata *file;
	int fds[2];

	cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
	cr_assert_eq(perfdata_create(fds[1], events, 1, &file), -ESPIPE);
	file = create(&image, 1);
	cr_assert_eq(fcntl(image.fd, F_ADD_SEALS, F_SEAL_GROW), 0);
	cr_assert_eq(perfdata_write(file, &piece, 1), -EPERM);
	cr_assert_eq(perfdata_finish(file), -EPERM);
	perfdata_free(file);
	close(image.fd);
	perfdata_free(NULL);
}

/* The records, as often as they fit into a file of so many bytes, and no byte more */
static struct perfdata *fill(struct image *image, size_t room, uint64_t *records)
{
	unsigned char record[24] = { 9, [6] = 24 };
	struct iovec pieces[] = { { record, 10 }, { record + 10, 14 } };
	struct perfdata *file = create(image, 1);
	int ret;

	cr_assert_eq(ftruncate(image->fd, (off_t)room), 0);
	cr_assert_eq(fcntl(image->fd, F_ADD_SEALS, F_SEAL_GROW), 0);
	for (*records = 0; (ret = perfdata_write(file, pieces, 2)) == 0;)
		(*records)++;
	cr_assert_eq(ret, -EPERM);
	return file;
}

/* A disk that is full takes what goes over bytes that are there, and no others. */
Test(perfdata_write, a_full_disk_leaves_the_records)
{
	const uint64_t data = HEADER_SIZE + 16 + ATTR_SIZE + 16;

	/* The next record may be cut off at any byte; at some the features have room. */
	for (size_t room = 512; room < 512 + 24; room++) {
		struct image image;
		uint64_t records;
		struct perfdata *file = fill(&image, room, &records);

		cr_assert_eq(records, (room - data) / 24);
		perfdata_put_string(perfdata_feature(file, PERFFILE_HOSTNAME), "guest");
		cr_assert_eq(perfdata_finish(file), -EPERM);
		perfdata_free(file);
		image_read(&image);
		cr_assert_eq(u64_at(&image, 40), data);
		cr_assert_eq(u64_at(&image, 48), records * 24, "%zu", room);
		cr_assert_eq(u64_at(&image, 72), 0, "no features");
		for (uint64_t i = 0; i < records; i++)
			cr_assert_eq(u64_at(&image, data + i * 24), 9 | 24ull << 48);
		image_free(&image);
	}
}

/* As the rings are read, many at a time: those that have room stay, and are told apart. */
Test(perfdata_write, a_full_disk_takes_a_part_of_many)
{
	const uint64_t data = HEADER_SIZE + 16 + ATTR_SIZE + 16;
	unsigned char records[40 * 24] = { 0 };
	struct iovec pieces[] = { { records, 7 * 24 + 8 }, { records + 7 * 24 + 8, 33 * 24 - 8 } };

	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < 40; i++) {
		records[i * 24] = i % 2 ? PERF_RECORD_SAMPLE : PERF_RECORD_LOST;
		records[i * 24 + 6] = 24;
	}
	for (size_t room = 512; room < 512 + 24; room++) {
		struct image image;
		struct perfdata *file = create(&image, 1);
		uint64_t samples, fit = (room - data) / 24;
		struct rlimit limit = { room, RLIM_INFINITY };

		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
		cr_assert_eq(perfdata_write(file, pieces, 2), -EFBIG);
		cr_assert_eq(perfdata_end(file), data + fit * 24, "%zu", room);
		cr_assert_eq(perfdata_whole(pieces, 2, room - data, &samples), fit * 24);
		cr_assert_eq(samples, fit / 2);
		perfdata_free(file);
		close(image.fd);
	}
	cr_assert_eq(perfdata_whole(pieces, 2, sizeof(records), NULL), sizeof(records));
}

/* What a reader of a pipe gets: every record is as long as it says. */
Test(perfdata_write, a_stream_tells_in_records)
{
	static const struct { uint32_t type; uint16_t size; } expected[] = {
		{ 64, 8 + ATTR_SIZE + 16 }, { 78, 8 + 16 + 8 },		/* cycles */
		{ 64, 8 + ATTR_SIZE + 16 }, { 78, 8 + 16 + 8 },
		{ 64, 8 + ATTR_SIZE + 8 }, { 78, 8 + 16 + 8 },
		{ 80, 16 + 80 },	/* the group */
		{ 9, 24 }, { 68, 8 }, { 67, 36 + 64 }, { 80, 16 + 72 },
	};
	unsigned char record[24] = { 9, [6] = 24 };
	struct iovec piece = { record, sizeof(record) };
	struct image image;
	struct perfdata *file;
	uint64_t at = 16;
	int fds[2];

	cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
	cr_assert_eq(perfdata_create_stream(fds[1], events, 3, &file), 0);
	cr_assert_eq(perfdata_begin_records(file), 0);
	cr_assert_eq(perfdata_write(file, &piece, 1), 0);
	cr_assert_eq(perfdata_finish_round(file), 0);
	perfdata_put_string(perfdata_feature(file, PERFFILE_HOSTNAME), "guest");
	perfdata_put_build_id(perfdata_feature(file, PERFFILE_BUILD_ID), false, ids, 20, "/bin/true");
	perfdata_put_u64(perfdata_feature(file, PERFFILE_SAMPLE_TIME), 5);	/* has no place */
	cr_assert_eq(perfdata_finish(file), 0);
	image.bytes = malloc(65536);
	image.fd = fds[0];
	image.size = (size_t)read(fds[0], image.bytes, 65536);
	cr_assert_eq(perfdata_size(file), image.size);
	perfdata_free(file);
	close(fds[1]);
	cr_assert_eq(memcmp(image.bytes, "PERFILE2", 8), 0);
	cr_assert_eq(u64_at(&image, 8), 16);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		cr_assert_eq(u32_at(&image, at), expected[i].type, "record %zu", i);
		cr_assert_eq(u64_at(&image, at) >> 48, expected[i].size, "record %zu", i);
		at += expected[i].size;
	}
	cr_assert_eq(at, image.size);
	cr_assert_eq(u64_at(&image, 24 + 8), 7, "the first attr's config");
	cr_assert_eq(u64_at(&image, 24 + ATTR_SIZE), 11);
	cr_assert_eq(u64_at(&image, 24 + ATTR_SIZE + 16 + 8), 2, "a name");
	cr_assert_eq(u64_at(&image, 24 + ATTR_SIZE + 16 + 16), 11, "of the event with this id");
	cr_assert_str_eq((char *)image.bytes + 24 + ATTR_SIZE + 16 + 24, "cycles");
	image_free(&image);
}

Test(perfdata_write, a_stream_begins_with_the_formats_of_tracepoints)
{
	struct perfdata *file;
	struct image image;
	int fds[2];

	cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
	cr_assert_eq(perfdata_create_stream(fds[1], events, 0, &file), 0);
	perfdata_put(perfdata_feature(file, PERFFILE_TRACING_DATA), "0123456789", 10);
	cr_assert_eq(perfdata_begin_records(file), 0);
	image.bytes = malloc(65536);
	image.fd = fds[0];
	image.size = (size_t)read(fds[0], image.bytes, 65536);
	cr_assert_eq(image.size, 16 + 12 + 16);
	cr_assert_eq(u64_at(&image, 16), 66 | 12ull << 48);
	cr_assert_eq(u32_at(&image, 24), 16);
	cr_assert_arr_eq(image.bytes + 28, "0123456789\0\0\0\0\0\0", 16);
	perfdata_free(file);
	close(fds[1]);
	image_free(&image);
}
