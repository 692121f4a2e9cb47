// SPDX-License-Identifier: GPL-2.0-only
/*
 * The format of pprof: profile.proto, a message of protocol buffers, compressed by gzip. Its
 * few kinds of fields are written here: numbers (varints), and what has a length: strings,
 * messages and packed lists. Source: proto/profile.proto of github.com/google/pprof, and
 * the encoding of protocol buffers (protobuf.dev/programming-guides/encoding).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "export.h"

/* Bytes of the longest message but the profile itself: a stack of numbers, and labels */
#define MESSAGE_MAX (10 * (SAMPLES_FRAMES_MAX + 64))

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* Fields of the messages */
enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_MAPPING = 3, PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5, PROFILE_STRING = 6, PROFILE_DURATION = 10, PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12, PROFILE_DEFAULT_TYPE = 14,
	TYPE_TYPE = 1, TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3,
	LABEL_KEY = 1, LABEL_STRING = 2, LABEL_NUMBER = 3,
	MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_BUILD_ID = 6, MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILE = 4,
};

/**
 * struct message - a message that is being made
 * @bytes: what is there.
 * @size: bytes of it.
 */
struct message {
	uint8_t bytes[MESSAGE_MAX];
	size_t size;
};

/**
 * struct profile - the profile that is being written
 * @data: of these samples.
 * @out: where to.
 * @strings: by their pointers: those that the profile has.
 * @mappings: binaries, by their pointers.
 * @values: samples and their periods that have a stack and a thread in common: that key.
 * @sums: number of samples and sum of periods of each.
 * @no_memory: a string is missing.
 */
struct profile {
	const struct export *data;
	gzFile out;
	struct export_table strings;
	struct export_table mappings;
	struct export_table values;
	uint64_t (*sums)[2];
	bool no_memory;
};

static void put_varint(struct message *message, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		message->bytes[message->size++] = (uint8_t)(value | 0x80);
	message->bytes[message->size++] = (uint8_t)value;
}

static void put_number(struct message *message, unsigned int field, uint64_t value)
{
	put_varint(message, field << 3 | WIRE_VARINT);
	put_varint(message, value);
}

/* A message, or a packed list of numbers, in another one */
static void put_message(struct message *message, unsigned int field, const struct message *inner)
{
	put_varint(message, field << 3 | WIRE_BYTES);
	put_varint(message, inner->size);
	memcpy(message->bytes + message->size, inner->bytes, inner->size);
	message->size += inner->size;
}

static int write_bytes(struct profile *profile, unsigned int field, const void *bytes, size_t size)
{
	struct message head = { .size = 0 };

	put_varint(&head, field << 3 | WIRE_BYTES);
	put_varint(&head, size);
	if (gzwrite(profile->out, head.bytes, (unsigned int)head.size) != (int)head.size ||
	    (size && gzwrite(profile->out, bytes, (unsigned int)size) != (int)size))
		return -EIO;
	return 0;
}

static int write_message(struct profile *profile, unsigned int field,
			 const struct message *message)
{
	return write_bytes(profile, field, message->bytes, message->size);
}

static int write_number(struct profile *profile, unsigned int field, uint64_t value)
{
	struct message message = { .size = 0 };

	put_number(&message, field, value);
	return gzwrite(profile->out, message.bytes, (unsigned int)message.size) ==
	       (int)message.size ? 0 : -EIO;
}

/* The number of a string; equal ones have equal pointers. */
static uint64_t string_of(struct profile *profile, const char *text)
{
	const char *kept = names_intern(profile->data->samples->symbols->names, text);
	struct export_key key = { { (uint64_t)(uintptr_t)kept } };
	uint32_t number;

	if (!kept || export_table_add(&profile->strings, key, &number) < 0) {
		profile->no_memory = true;
		return 0;
	}
	return number;
}

static struct message type_of(struct profile *profile, const char *type, const char *unit)
{
	struct message message = { .size = 0 };

	put_number(&message, TYPE_TYPE, string_of(profile, type));
	put_number(&message, TYPE_UNIT, string_of(profile, unit));
	return message;
}

static int write_types(struct profile *profile)
{
	const struct export *data = profile->data;
	const char *unit = export_is_time(data) ? "nanoseconds" : "count";
	struct message samples = type_of(profile, "samples", "count");
	struct message event = type_of(profile, data->name, unit);
	int ret = write_message(profile, PROFILE_SAMPLE_TYPE, &samples);

	if (ret == 0)
		ret = write_message(profile, PROFILE_SAMPLE_TYPE, &event);
	if (ret == 0)
		ret = write_message(profile, PROFILE_PERIOD_TYPE, &event);
	if (ret == 0)
		ret = write_number(profile, PROFILE_DEFAULT_TYPE, string_of(profile, data->name));
	if (ret == 0 && data->event && !data->event->attr.freq)
		ret = write_number(profile, PROFILE_PERIOD, data->event->attr.sample_period);
	return ret;
}

static void put_label(struct profile *profile, struct message *sample, const char *key,
		      const char *text, int64_t number)
{
	struct message label = { .size = 0 };

	put_number(&label, LABEL_KEY, string_of(profile, key));
	if (text)
		put_number(&label, LABEL_STRING, string_of(profile, text));
	else
		put_number(&label, LABEL_NUMBER, (uint64_t)number);
	put_message(sample, SAMPLE_LABEL, &label);
}

/* The innermost function comes first; numbers begin with 1 here. */
static int write_sample(struct profile *profile, uint32_t number)
{
	const uint64_t *key = profile->values.keys[number].part;
	struct export_thread thread = export_thread(profile->data, (uint32_t)key[1]);
	struct message sample = { .size = 0 }, list = { .size = 0 };

	for (uint32_t stack = (uint32_t)key[0]; stack != EXPORT_NONE;
	     stack = export_stack(profile->data, stack).parent)
		put_varint(&list, export_stack(profile->data, stack).frame + 1);
	put_message(&sample, SAMPLE_LOCATION, &list);
	list.size = 0;
	put_varint(&list, profile->sums[number][0]);
	put_varint(&list, profile->sums[number][1]);
	put_message(&sample, SAMPLE_VALUE, &list);
	put_label(profile, &sample, "comm", thread.comm, 0);
	put_label(profile, &sample, "pid", NULL, thread.pid);
	put_label(profile, &sample, "tid", NULL, thread.tid);
	return write_message(profile, PROFILE_SAMPLE, &sample);
}

/* Samples of a thread that have the same stack are one. */
static int write_samples(struct profile *profile)
{
	const struct export *data = profile->data;
	int ret = 0;

	profile->sums = calloc(data->count + 1, sizeof(*profile->sums));
	if (!profile->sums)
		return -ENOMEM;
	for (size_t i = 0; i < data->count; i++) {
		const struct export_sample *sample = &data->list[i];
		struct export_key key = { { sample->stack, sample->thread } };
		uint32_t number;

		if (export_table_add(&profile->values, key, &number) < 0)
			return -ENOMEM;
		profile->sums[number][0]++;
		profile->sums[number][1] += sample->period;
	}
	for (uint32_t i = 0; i < profile->values.count && ret == 0; i++)
		ret = write_sample(profile, i);
	return ret;
}

/* A function, and the one place in it that a location is here */
static int write_frame(struct profile *profile, uint32_t number)
{
	struct export_frame frame = export_frame(profile->data, number);
	struct export_key key = { { (uint64_t)(uintptr_t)frame.binary } };
	struct message message = { .size = 0 }, line = { .size = 0 };
	uint32_t mapping;
	int ret;

	if (export_table_add(&profile->mappings, key, &mapping) < 0)
		return -ENOMEM;
	put_number(&message, FUNCTION_ID, number + 1);
	put_number(&message, FUNCTION_NAME, string_of(profile, frame.name));
	ret = write_message(profile, PROFILE_FUNCTION, &message);
	if (ret < 0)
		return ret;
	message.size = 0;
	put_number(&message, LOCATION_ID, number + 1);
	put_number(&message, LOCATION_MAPPING, mapping + 1);
	put_number(&line, LINE_FUNCTION, number + 1);
	put_message(&message, LOCATION_LINE, &line);
	return write_message(profile, PROFILE_LOCATION, &message);
}

static int write_mapping(struct profile *profile, uint32_t number)
{
	const struct binary *binary = (void *)(uintptr_t)profile->mappings.keys[number].part[0];
	struct message message = { .size = 0 };
	char id[2 * PERFFILE_BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < binary->build_id_size; i++)
		snprintf(id + 2 * i, 3, "%02x", binary->build_id[i]);
	put_number(&message, MAPPING_ID, number + 1);
	put_number(&message, MAPPING_FILE, string_of(profile, binary->path));
	put_number(&message, MAPPING_BUILD_ID, string_of(profile, id));
	put_number(&message, MAPPING_HAS_FUNCTIONS, 1);
	return write_message(profile, PROFILE_MAPPING, &message);
}

static uint64_t duration_of(const struct export *data)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < data->count; i++) {
		if (data->list[i].time < first)
			first = data->list[i].time;
		if (data->list[i].time > last)
			last = data->list[i].time;
	}
	return last > first ? last - first : 0;
}

/* Strings come last, when it is known which there are; the first one must be empty. */
static int write_profile(struct profile *profile)
{
	const struct export *data = profile->data;
	int ret;

	string_of(profile, "");
	ret = write_types(profile);
	if (ret == 0)
		ret = write_samples(profile);
	for (uint32_t i = 0; i < data->frames.count && ret == 0; i++)
		ret = write_frame(profile, i);
	for (uint32_t i = 0; i < profile->mappings.count && ret == 0; i++)
		ret = write_mapping(profile, i);
	if (ret == 0)
		ret = write_number(profile, PROFILE_DURATION, duration_of(data));
	for (uint32_t i = 0; i < profile->strings.count && ret == 0; i++) {
		const char *text = (const char *)(uintptr_t)profile->strings.keys[i].part[0];

		ret = write_bytes(profile, PROFILE_STRING, text, strlen(text));
	}
	return ret == 0 && profile->no_memory ? -ENOMEM : ret;
}

/**
 * export_pprof() - write a profile for pprof
 * @data: the samples.
 * @out: where to; what goes wrong there it tells itself.
 *
 * Return: 0, -ENOMEM.
 */
int export_pprof(const struct export *data, FILE *out)
{
	struct profile profile = { .data = data };
	int fd = fflush(out) ? -1 : dup(fileno(out)), ret;

	profile.out = fd < 0 ? NULL : gzdopen(fd, "wb");
	if (!profile.out) {
		if (fd >= 0)
			close(fd);
		return fd < 0 ? -EIO : -ENOMEM;
	}
	ret = write_profile(&profile);
	if (gzclose(profile.out) != Z_OK && ret == 0)
		ret = -EIO;
	export_table_free(&profile.strings);
	export_table_free(&profile.mappings);
	export_table_free(&profile.values);
	free(profile.sums);
	return ret;
}
