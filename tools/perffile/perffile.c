// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens a perf.data file and reads its header: which events were recorded, under which
 * numbers, and where the records are. perffile.h tells the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perffile.h"

#define MAGIC_SWAPPED	"2ELIFREP"
#define MAGIC_OLD	"PERFFILE"

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
	struct section event_types;
	uint64_t flags[PERFFILE_FEATURES / 64];
};

_Static_assert(sizeof(struct header) == 104, "the layout of the file");

/**
 * perffile_fail() - say what is wrong
 * @error: filled.
 * @format: a sentence.
 *
 * Return: -EBADMSG.
 */
int perffile_fail(struct perffile_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -EBADMSG;
}

/**
 * perffile_no_memory() - say that there is too little
 * @error: filled.
 *
 * Return: -ENOMEM.
 */
int perffile_no_memory(struct perffile_error *error)
{
	perffile_fail(error, "there is not enough memory to read it");
	return -ENOMEM;
}

/* A section must be in the file as it is. */
static int check_section(const struct perffile *file, const struct section *section,
			 const char *what, struct perffile_error *error)
{
	if (section->offset > file->size ||
	    section->size > file->size - section->offset)
		return perffile_fail(error, "the file is truncated: its %s should be %" PRIu64
				     " bytes from byte %" PRIu64 " on, but the file ends at byte %" PRIu64,
				     what, section->size, section->offset, file->size);
	return 0;
}

/* Returns 1 if there is no more of a header, as it was written to a pipe. */
static int check_kind(const struct perffile *file, struct perffile_error *error)
{
	uint64_t size;

	if (!file->size)
		return perffile_fail(error, "the file is empty: was the recording ended before anything was written?");
	if (file->size < PERFFILE_STREAM_HEADER)
		return perffile_fail(error, "%" PRIu64 " bytes are too short for a perf.data file",
				     file->size);
	if (!memcmp(file->data, MAGIC_SWAPPED, 8))
		return perffile_fail(error, "it was recorded on a machine of the other byte order: read it there");
	if (!memcmp(file->data, MAGIC_OLD, 8))
		return perffile_fail(error, "it has the format that perf wrote before Linux 3.6: read it with a perf of that time");
	if (memcmp(file->data, PERFFILE_MAGIC, 8))
		return perffile_fail(error, "it is not a perf.data file");
	size = perffile_word(file->data + 8);
	if (size == PERFFILE_STREAM_HEADER)
		return 1;
	if (file->size < sizeof(struct header))
		return perffile_fail(error, "the file is truncated: it ends within its header, at byte %" PRIu64,
				     file->size);
	if (size != sizeof(struct header))
		return perffile_fail(error, "its header says that it has %" PRIu64 " bytes; %zu are known",
				     size, sizeof(struct header));
	return 0;
}

/* Where the word of field @which is among the fields of @type before it. */
static int words_before(uint64_t type, uint64_t which, const uint64_t *order, size_t count)
{
	int words = 0;

	if (!(type & which))
		return -1;
	for (size_t i = 0; i < count && order[i] != which; i++)
		words += !!(type & order[i]);
	return words;
}

static void find_words(struct perffile_event *event)
{
	static const uint64_t sample[] = {
		PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_TID,
		PERF_SAMPLE_TIME, PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
	};
	static const uint64_t trailer[] = {
		PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_CPU, PERF_SAMPLE_STREAM_ID,
		PERF_SAMPLE_ID, PERF_SAMPLE_TIME,
	};
	uint64_t type = event->attr.sample_type;
	uint64_t id = type & PERF_SAMPLE_IDENTIFIER ? PERF_SAMPLE_IDENTIFIER : PERF_SAMPLE_ID;

	event->id_from_start = words_before(type, id, sample, 6);
	event->time_from_start = words_before(type, PERF_SAMPLE_TIME, sample, 6);
	event->id_from_end = -1;
	event->time_from_end = -1;
	if (!event->attr.sample_id_all)
		return;
	event->id_from_end = words_before(type, id, trailer, 5);
	event->time_from_end = words_before(type, PERF_SAMPLE_TIME, trailer, 5);
	event->id_from_end += event->id_from_end >= 0;
	event->time_from_end += event->time_from_end >= 0;
}

/**
 * perffile_event_read() - take an event's attr
 * @event: filled, but for its numbers.
 * @at: the attr.
 * @room: bytes there, at least PERF_ATTR_SIZE_VER0.
 * @length: set to how many of them are the attr.
 * @error: why not.
 *
 * Return: 0, -EBADMSG.
 */
int perffile_event_read(struct perffile_event *event, const uint8_t *at, size_t room,
			size_t *length, struct perffile_error *error)
{
	uint32_t size;

	memcpy(&size, at + offsetof(struct perf_event_attr, size), sizeof(size));
	if (!size)
		size = PERF_ATTR_SIZE_VER0;
	if (size < PERF_ATTR_SIZE_VER0 || size > room)
		return perffile_fail(error, "the description of an event says that it has %u bytes, of %zu there",
				     size, room);
	memcpy(&event->attr, at, size < sizeof(event->attr) ? size : sizeof(event->attr));
	find_words(event);
	*length = size;
	return 0;
}

static int read_event(struct perffile *file, struct perffile_event *event,
		      const uint8_t *at, size_t attr_size, struct perffile_error *error)
{
	struct section ids;
	size_t length;
	int ret = perffile_event_read(event, at, attr_size, &length, error);

	if (ret < 0)
		return ret;
	memcpy(&ids, at + attr_size, sizeof(ids));
	ret = check_section(file, &ids, "list of numbers of an event", error);
	if (ret < 0)
		return ret;
	event->ids = file->data + ids.offset;
	event->id_count = ids.size / sizeof(uint64_t);
	return 0;
}

static int read_events(struct perffile *file, const struct header *header,
		       struct perffile_error *error)
{
	uint64_t stride = header->attr_size;
	int ret = check_section(file, &header->attrs, "list of events", error);

	if (ret < 0)
		return ret;
	if (stride < PERF_ATTR_SIZE_VER0 + sizeof(struct section) ||
	    stride > header->attrs.size || header->attrs.size % stride)
		return perffile_fail(error, "its list of events is damaged: %" PRIu64
				     " bytes, %" PRIu64 " for each event",
				     header->attrs.size, stride);
	file->event_count = header->attrs.size / stride;
	file->events = calloc(file->event_count, sizeof(*file->events));
	if (!file->events)
		return perffile_no_memory(error);
	for (size_t i = 0; i < file->event_count; i++) {
		const uint8_t *at = file->data + header->attrs.offset + i * stride;

		ret = read_event(file, &file->events[i], at,
				 stride - sizeof(struct section), error);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int by_id(const void *left, const void *right)
{
	const struct perffile_id *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

/* Records are told apart by a number that must be at the same place in all of them. */
static int read_ids(struct perffile *file, struct perffile_error *error)
{
	const struct perffile_event *first = &file->events[0];
	size_t count = 0;

	for (size_t i = 0; i < file->event_count; i++) {
		const struct perffile_event *event = &file->events[i];

		if (event->id_from_start != first->id_from_start ||
		    event->id_from_end != first->id_from_end ||
		    (first->id_from_start < 0 &&
		     event->attr.sample_type != first->attr.sample_type))
			return perffile_fail(error, "its %zu events cannot be told apart: their records have the event's number at different places",
					     file->event_count);
		/* Lists that overlap would make memory grow faster than the file. */
		if (event->id_count > file->size / sizeof(uint64_t) - count)
			return perffile_fail(error, "its lists of numbers of events overlap");
		count += event->id_count;
	}
	file->ids = calloc(count ? count : 1, sizeof(*file->ids));
	if (!file->ids)
		return perffile_no_memory(error);
	for (size_t i = 0; i < file->event_count; i++)
		for (size_t n = 0; n < file->events[i].id_count; n++)
			file->ids[file->id_count++] = (struct perffile_id){
				perffile_word(file->events[i].ids + n * sizeof(uint64_t)), i,
			};
	qsort(file->ids, file->id_count, sizeof(*file->ids), by_id);
	return 0;
}

static int read_header(struct perffile *file, struct perffile_error *error)
{
	struct header header;
	int ret = check_kind(file, error);

	if (ret < 0)
		return ret;
	if (ret > 0)
		return perffile_stream_events(file, error);
	memcpy(&header, file->data, sizeof(header));
	file->is_unfinished = !header.data.size;
	ret = check_section(file, &header.data, "section of records", error);
	if (ret < 0)
		return ret;
	/* Features are behind the records, of which nobody knows the end. */
	if (file->is_unfinished)
		header.data.size = file->size - header.data.offset;
	else
		memcpy(file->flags, header.flags, sizeof(file->flags));
	file->records = header.data.offset;
	file->records_end = header.data.offset + header.data.size;
	return read_events(file, &header, error);
}

/* What comes before the records, or among them if it is a stream */
static int read_all(struct perffile *file, struct perffile_error *error)
{
	int ret = read_header(file, error);

	if (ret == 0)
		ret = read_ids(file, error);
	if (ret == 0)
		ret = file->is_stream ? perffile_stream_features(file, error) :
					perffile_features_read(file, error);
	if (ret == 0)
		ret = perffile_records_check(file, error);
	if (ret == 0 && file->is_compressed)
		ret = perffile_expand(file, error);
	return ret;
}

/* If it fails, a mapping stays. */
static int open_bytes(struct perffile **file, const void *data, size_t size, bool mapped,
		      struct perffile_error *error)
{
	struct perffile *new = calloc(1, sizeof(*new));
	int ret;

	if (!new)
		return perffile_no_memory(error);
	new->data = data;
	new->size = size;
	new->mapped = mapped;
	ret = read_all(new, error);
	if (ret == 0) {
		*file = new;
		return 0;
	}
	new->mapped = false;
	perffile_close(new);
	return ret;
}

/**
 * perffile_open_memory() - read a file that is in memory
 * @file: set; to be closed with perffile_close().
 * @data: its bytes, which must stay there until then.
 * @size: how many.
 * @error: why not.
 *
 * Return: 0, -EBADMSG, -ENOMEM.
 */
int perffile_open_memory(struct perffile **file, const void *data, size_t size,
			 struct perffile_error *error)
{
	return open_bytes(file, data, size, false, error);
}

static int map_file(int fd, bool is_input, const void **data, size_t *size,
		    struct perffile_error *error)
{
	struct stat about;

	if (fstat(fd, &about) < 0)
		return perffile_fail(error, "%s", strerror(errno));
	if (is_input && isatty(fd))
		return perffile_fail(error, "it is a terminal: pipe a recording into it, as 'pmuctl record -o - COMMAND' writes");
	if (is_input && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
		return perffile_spool_copy(fd, data, size, error);
	if (S_ISDIR(about.st_mode))
		return perffile_fail(error, "it is a directory; those of 'perf record --threads' are not understood: record without it");
	if (!S_ISREG(about.st_mode))
		return perffile_fail(error, "it is not a file on a disk: what comes from elsewhere is read with '-i -' from standard input");
	*size = (size_t)about.st_size;
	*data = "";
	if (!*size)
		return 0;
	*data = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (*data == MAP_FAILED)
		return perffile_fail(error, "it cannot be mapped: %s", strerror(errno));
	return 0;
}

/* A recording with a copy of the kernel's code is a directory with the file in it. */
static int open_file(const char *path)
{
	/* What is no file must not make us wait. */
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
	char inner[PATH_MAX];
	struct stat about;

	if (!strcmp(path, "-"))
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if ((size_t)snprintf(inner, sizeof(inner), "%s/kcore_dir", path) < sizeof(inner) &&
	    stat(inner, &about) == 0) {
		snprintf(inner, sizeof(inner), "%s/data", path);
		return open(inner, flags);
	}
	return open(path, flags);
}

/**
 * perffile_open() - open a file and read all but its records
 * @file: set; to be closed with perffile_close().
 * @path: of the file; "-" is standard input, which may be a pipe.
 * @error: why not.
 *
 * If somebody makes the file shorter meanwhile, the reader gets a SIGBUS.
 *
 * Return: 0, or -EBADMSG, -ENOMEM, or what open() says.
 */
int perffile_open(struct perffile **file, const char *path, struct perffile_error *error)
{
	int fd = open_file(path);
	const void *data = NULL;
	size_t size = 0;
	int ret;

	if (fd < 0) {
		ret = -errno;
		perffile_fail(error, "%s", strerror(errno));
		return ret;
	}
	ret = map_file(fd, !strcmp(path, "-"), &data, &size, error);
	close(fd);
	if (ret < 0)
		return ret;
	ret = open_bytes(file, data, size, true, error);
	if (ret < 0 && size)
		munmap((void *)data, size);
	return ret;
}

/**
 * perffile_let_go() - some bytes are not needed for now
 * @file: the file.
 * @from: the first.
 * @to: the byte behind the last.
 *
 * Pages of a mapped file count as ours as long as we have looked at them. They come back when
 * somebody does again, so what was handed out stays valid.
 */
void perffile_let_go(const struct perffile *file, uint64_t from, uint64_t to)
{
	/* Records that were fed, and all of perffile_open_memory(), are nobody's but in memory. */
	bool is_mapped = file->source ? !file->fed : file->mapped;

	from -= from % (uint64_t)getpagesize();
	if (is_mapped && from < to)
		madvise((void *)(file->data + from), to - from, MADV_DONTNEED);
}

/**
 * perffile_pass() - look at what follows, and not at what was before
 * @file: the file.
 * @at: where the last record that was looked at is.
 * @next: where the next one is.
 */
void perffile_pass(const struct perffile *file, uint64_t at, uint64_t next)
{
	if (at / PERFFILE_PAGES != next / PERFFILE_PAGES)
		perffile_let_go(file, at - at % PERFFILE_PAGES, next - next % PERFFILE_PAGES);
}

/**
 * perffile_close() - forget a file
 * @file: the file, or NULL. All that it handed out goes with it.
 */
void perffile_close(struct perffile *file)
{
	if (!file)
		return;
	if (file->source) {
		if (file->size && !file->fed)
			munmap((void *)file->data, file->size);
		file->data = file->source;
		file->size = file->source_size;
	}
	if (file->mapped)
		munmap((void *)file->data, file->size);
	free(file->events);
	free(file->ids);
	free(file->info.cmdline);
	free(file->info.build_ids);
	perffile_order_free(file);
	perffile_counts_free(file->counts);
	free(file->fed);
	free(file);
}
