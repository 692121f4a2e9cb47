// SPDX-License-Identifier: GPL-2.0-only
/*
 * The feature sections of a perf.data file, which follow its records: who recorded
 * where, what the events are called, the build ids of binaries. A section whose
 * inside makes no sense is left out, as one of a later version may be; one that is not
 * in the file at all says that the file was cut off. In a stream they are records: stream.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "perffile.h"

/* Bits of the header of a build id */
#define MISC_BUILD_ID_SIZE (1 << 15)

/* The bytes before the name: header, pid, 20 bytes, and 4 of which one is the size */
#define BUILD_ID_NAME	36
#define BUILD_ID_PID	8
#define BUILD_ID_BYTES	12

static struct perffile_bytes bytes_of(const struct perffile *file, const uint8_t *section)
{
	const uint8_t *at = file->data + perffile_word(section);

	return (struct perffile_bytes){ at, at + perffile_word(section + 8), false };
}

/* A string: its length with padding, then the bytes, which end with a 0. */
static const char *take_string(struct perffile_bytes *bytes)
{
	uint32_t length = perffile_take32(bytes);
	const uint8_t *at = perffile_take(bytes, length);

	if (!at || !memchr(at, 0, length))
		return NULL;
	return (const char *)at;
}

static const char *string_of(struct perffile_bytes bytes)
{
	return take_string(&bytes);
}

static char *join_words(struct perffile_bytes bytes)
{
	uint32_t count = perffile_take32(&bytes);
	size_t size = (size_t)(bytes.end - bytes.at) + 1, used = 0;
	char *text = malloc(size);

	if (!text)
		return NULL;
	for (uint32_t i = 0; i < count; i++) {
		const char *word = take_string(&bytes);
		size_t length;

		if (!word)
			break;
		length = strlen(word);
		memcpy(text + used, word, length);
		used += length;
		text[used++] = ' ';
	}
	text[used ? used - 1 : 0] = '\0';
	return text;
}

/* Names are matched by number; without numbers, by their order. */
static void read_names(struct perffile *file, struct perffile_bytes bytes)
{
	uint32_t count = perffile_take32(&bytes);
	uint32_t attr_size = perffile_take32(&bytes);

	for (uint32_t i = 0; i < count && i < file->event_count; i++) {
		struct perffile_event *event = &file->events[i];
		struct perffile_words ids;
		const char *name;
		uint32_t id_count;

		perffile_take(&bytes, attr_size);
		id_count = perffile_take32(&bytes);
		name = take_string(&bytes);
		ids = perffile_take_words(&bytes, id_count);
		if (bytes.failed || !name)
			return;
		if (ids.count)
			event = perffile_event_by_id(file, perffile_words_get(&ids, 0));
		if (event)
			event->name = name;
	}
}

/* Of each group its name, the number of its leader, and how many it has with those behind it. */
static void read_groups(struct perffile *file, struct perffile_bytes bytes)
{
	uint32_t count = perffile_take32(&bytes);

	for (uint32_t i = 0; i < count; i++) {
		const char *name = take_string(&bytes);
		uint32_t leader = perffile_take32(&bytes);
		uint32_t members = perffile_take32(&bytes);

		if (bytes.failed || !name || leader >= file->event_count ||
		    members > file->event_count - leader)
			return;
		file->events[leader].members = members;
	}
}

/**
 * perffile_build_id_read() - take a build id with its name
 * @id: filled.
 * @bytes: the record that it is, or more of them; the first is taken off.
 *
 * Return: whether it makes sense.
 */
bool perffile_build_id_read(struct perffile_build_id *id, struct perffile_bytes *bytes)
{
	const uint8_t *at = bytes->at;
	struct perffile_bytes entry;
	uint16_t size;

	if (bytes->end - at < BUILD_ID_NAME)
		return false;
	memcpy(&id->misc, at + 4, sizeof(id->misc));
	memcpy(&size, at + 6, sizeof(size));
	if (size <= BUILD_ID_NAME || !perffile_take(bytes, size))
		return false;
	entry = (struct perffile_bytes){ at + BUILD_ID_NAME, at + size, false };
	id->name = perffile_string(&entry);
	memcpy(&id->pid, at + BUILD_ID_PID, sizeof(id->pid));
	memcpy(id->id, at + BUILD_ID_BYTES, sizeof(id->id));
	id->size = PERFFILE_BUILD_ID_MAX;
	if (id->misc & MISC_BUILD_ID_SIZE)
		id->size = at[BUILD_ID_BYTES + PERFFILE_BUILD_ID_MAX];
	return id->name && id->size <= PERFFILE_BUILD_ID_MAX;
}

static void read_build_ids(struct perffile *file, struct perffile_bytes bytes)
{
	size_t most = (size_t)(bytes.end - bytes.at) / BUILD_ID_NAME;
	struct perffile_info *info = &file->info;

	if (!most)
		return;
	info->build_ids = calloc(most, sizeof(*info->build_ids));
	while (info->build_ids && info->build_id_count < most &&
	       perffile_build_id_read(&info->build_ids[info->build_id_count], &bytes))
		info->build_id_count++;
}

static uint32_t compression_of(struct perffile_bytes bytes)
{
	perffile_take32(&bytes);	/* version */
	return perffile_take32(&bytes);
}

/**
 * perffile_feature_read() - read one feature
 * @file: with its events; @file->info is filled.
 * @number: of the feature.
 * @bytes: what is in it.
 */
void perffile_feature_read(struct perffile *file, unsigned int number,
			   struct perffile_bytes bytes)
{
	struct perffile_info *info = &file->info;

	switch (number) {
	case PERFFILE_TRACING_DATA:
		info->tracing = bytes.at;
		info->tracing_size = (size_t)(bytes.end - bytes.at);
		break;
	case PERFFILE_BUILD_ID:
		read_build_ids(file, bytes);
		break;
	case PERFFILE_HOSTNAME:
		info->hostname = string_of(bytes);
		break;
	case PERFFILE_OSRELEASE:
		info->osrelease = string_of(bytes);
		break;
	case PERFFILE_VERSION:
		info->version = string_of(bytes);
		break;
	case PERFFILE_ARCH:
		info->arch = string_of(bytes);
		break;
	case PERFFILE_CPUDESC:
		info->cpudesc = string_of(bytes);
		break;
	case PERFFILE_CPUID:
		info->cpuid = string_of(bytes);
		break;
	case PERFFILE_NRCPUS:
		/* In this order, whatever the format's description says */
		info->cpus_available = perffile_take32(&bytes);
		info->cpus_online = perffile_take32(&bytes);
		break;
	case PERFFILE_TOTAL_MEM:
		info->memory = perffile_take64(&bytes);
		break;
	case PERFFILE_CMDLINE:
		free(info->cmdline);
		info->cmdline = join_words(bytes);
		break;
	case PERFFILE_COMPRESSION:
		info->compression = compression_of(bytes);
		break;
	case PERFFILE_EVENT_DESC:
		read_names(file, bytes);
		break;
	case PERFFILE_GROUP_DESC:
		read_groups(file, bytes);
		break;
	}
}

/**
 * perffile_features_read() - read what the file tells about the recording
 * @file: with its header read; @file->info is filled.
 * @error: why not.
 *
 * Return: 0, -EBADMSG if the file is cut off, or has no samples by its kind.
 */
int perffile_features_read(struct perffile *file, struct perffile_error *error)
{
	uint64_t at = file->records_end;

	for (unsigned int number = 0; number < PERFFILE_FEATURES; number++) {
		uint64_t offset, size;

		if (!(file->flags[number / 64] >> number % 64 & 1))
			continue;
		if (number == PERFFILE_STAT)
			return perffile_fail(error, "the file is one of 'perf stat record', with counts and no samples: 'perf stat report -i' shows it");
		if (file->size - at < 16)
			return perffile_fail(error,
					     "the file is truncated: the list of what follows its records is cut off at byte %"
					     PRIu64, file->size);
		offset = perffile_word(file->data + at);
		size = perffile_word(file->data + at + 8);
		if (offset > file->size || size > file->size - offset)
			return perffile_fail(error, "the file is truncated: its feature section %u should be %" PRIu64
					     " bytes from byte %" PRIu64 " on, but the file ends at byte %" PRIu64,
					     number, size, offset, file->size);
		perffile_feature_read(file, number, bytes_of(file, file->data + at));
		at += 16;
	}
	return 0;
}
