/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds perf.data files in memory, for the tests of their reader and as seeds for its
 * fuzzer. It knows the format by itself and shares nothing with the reader but the
 * kernel's header. Words of random value come from a generator of its own, so that a
 * file can be built again.
 */
#ifndef PMUCTL_TESTS_PERFFILE_BUILD_H
#define PMUCTL_TESTS_PERFFILE_BUILD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#define BUILD_HEADER	104
#define BUILD_ATTR	sizeof(struct perf_event_attr)
#define BUILD_IDS	2	/* numbers for each event */
#define BUILD_EVENTS	8

/* All fields of samples that the kernel's header names */
#define BUILD_FIELDS	(PERF_SAMPLE_MAX - 1)

struct build {
	uint8_t *data;
	size_t size;
	size_t room;
	struct perf_event_attr attrs[BUILD_EVENTS];
	size_t events;
	size_t records;		/* where they begin */
	size_t features;	/* where the table of features is */
};

static inline void build_bytes(struct build *build, const void *bytes, size_t size)
{
	if (build->size + size >= build->room) {
		build->room = (build->size + size) * 2 + 1024;
		build->data = realloc(build->data, build->room);
	}
	if (!build->data)
		abort();
	if (size)
		memcpy(build->data + build->size, bytes, size);
	build->size += size;
}

static inline void build_word(struct build *build, uint64_t word)
{
	build_bytes(build, &word, sizeof(word));
}

static inline void build_half(struct build *build, uint32_t half)
{
	build_bytes(build, &half, sizeof(half));
}

static inline void build_pad(struct build *build, size_t size)
{
	static const uint8_t zeros[64];

	for (; size > sizeof(zeros); size -= sizeof(zeros))
		build_bytes(build, zeros, sizeof(zeros));
	build_bytes(build, zeros, size);
}

static inline void build_set(struct build *build, size_t at, uint64_t word)
{
	memcpy(build->data + at, &word, sizeof(word));
}

static inline uint64_t build_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The number @n of event @event */
static inline uint64_t build_id(size_t event, size_t n)
{
	return 1000 + event * 10 + n;
}

/* Header, numbers, events; records follow. */
static inline void build_begin(struct build *build, const struct perf_event_attr *attrs,
			       size_t events)
{
	size_t ids = BUILD_HEADER, at = ids + events * BUILD_IDS * 8;

	memset(build, 0, sizeof(*build));
	build->events = events;
	memcpy(build->attrs, attrs, events * sizeof(*attrs));
	build_bytes(build, "PERFILE2", 8);
	build_word(build, BUILD_HEADER);
	build_word(build, BUILD_ATTR + 16);
	build_word(build, at);
	build_word(build, events * (BUILD_ATTR + 16));
	build_pad(build, BUILD_HEADER - build->size);
	for (size_t i = 0; i < events; i++)
		for (size_t n = 0; n < BUILD_IDS; n++)
			build_word(build, build_id(i, n));
	for (size_t i = 0; i < events; i++) {
		build_bytes(build, &attrs[i], BUILD_ATTR);
		build_word(build, ids + i * BUILD_IDS * 8);
		build_word(build, BUILD_IDS * 8);
	}
	build->records = build->size;
	build_set(build, 40, build->records);
}

/* Header of a record; its size is filled in by build_record_end(). */
static inline size_t build_record(struct build *build, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = { .type = type, .misc = misc };
	size_t at = build->size;

	build_bytes(build, &header, sizeof(header));
	return at;
}

static inline void build_record_end(struct build *build, size_t at)
{
	uint16_t size = (uint16_t)(build->size - at);

	memcpy(build->data + at + 6, &size, sizeof(size));
}

/* What sample_id_all puts behind a record that is no sample */
struct build_trailer {
	uint32_t pid, tid;
	uint64_t time, id, stream_id;
	uint32_t cpu;
};

static inline void build_trailer(struct build *build, uint64_t type,
				 const struct build_trailer *trailer)
{
	if (type & PERF_SAMPLE_TID) {
		build_half(build, trailer->pid);
		build_half(build, trailer->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		build_word(build, trailer->time);
	if (type & PERF_SAMPLE_ID)
		build_word(build, trailer->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		build_word(build, trailer->stream_id);
	if (type & PERF_SAMPLE_CPU) {
		build_half(build, trailer->cpu);
		build_half(build, 0);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		build_word(build, trailer->id);
}

static inline void build_string(struct build *build, const char *text)
{
	size_t size = strlen(text) + 1;

	build_bytes(build, text, size);
	build_pad(build, -size & 7);
}

static inline void build_comm(struct build *build, uint32_t pid, uint32_t tid,
			      const char *name, uint16_t misc,
			      const struct build_trailer *trailer)
{
	size_t at = build_record(build, PERF_RECORD_COMM, misc);

	build_half(build, pid);
	build_half(build, tid);
	build_string(build, name);
	build_trailer(build, build->attrs[0].sample_type, trailer);
	build_record_end(build, at);
}

/* FORK or EXIT */
static inline void build_task(struct build *build, uint32_t type, uint32_t pid, uint32_t ppid,
			      uint32_t tid, uint32_t ptid, const struct build_trailer *trailer)
{
	size_t at = build_record(build, type, 0);

	build_half(build, pid);
	build_half(build, ppid);
	build_half(build, tid);
	build_half(build, ptid);
	build_word(build, trailer->time);
	build_trailer(build, build->attrs[0].sample_type, trailer);
	build_record_end(build, at);
}

/* MMAP2, with the build id if there is one */
static inline void build_mmap(struct build *build, int32_t pid, uint64_t start, uint64_t length,
			      uint64_t offset, const char *name, const uint8_t *build_id,
			      const struct build_trailer *trailer)
{
	uint16_t misc = pid < 0 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	size_t at = build_record(build, PERF_RECORD_MMAP2, misc | (build_id ? 1 << 14 : 0));

	build_half(build, (uint32_t)pid);
	build_half(build, (uint32_t)pid);
	build_word(build, start);
	build_word(build, length);
	build_word(build, offset);
	if (build_id) {
		build_half(build, 20);
		build_bytes(build, build_id, 20);
	} else {
		build_pad(build, 24);
	}
	build_half(build, 5);	/* PROT_READ | PROT_EXEC */
	build_half(build, 2);	/* MAP_PRIVATE */
	build_string(build, name);
	build_trailer(build, build->attrs[0].sample_type, trailer);
	build_record_end(build, at);
}

/* KSYMBOL */
static inline void build_ksymbol(struct build *build, uint64_t start, uint32_t length,
				 uint16_t flags, const char *name,
				 const struct build_trailer *trailer)
{
	size_t at = build_record(build, PERF_RECORD_KSYMBOL, 0);

	build_word(build, start);
	build_half(build, length);
	build_half(build, PERF_RECORD_KSYMBOL_TYPE_BPF | (uint32_t)flags << 16);
	build_string(build, name);
	build_trailer(build, build->attrs[0].sample_type, trailer);
	build_record_end(build, at);
}

/*
 * What a sample of build_sample() has in its fields; of PERF_SAMPLE_READ, if @told, so many values
 * of events of these numbers
 */
struct build_sample {
	uint64_t id, ip, time, addr, stream_id, period, weight, data_src, transaction;
	uint64_t phys_addr, cgroup, data_page_size, code_page_size;
	uint32_t pid, tid, cpu;
	size_t chain, read, raw, branches, user_regs, stack, filled, intr_regs, aux;
	uint64_t chain_at[64];
	size_t told;
	uint64_t values[8], ids[8];
};

static inline void build_counted(struct build *build, size_t words, uint64_t *seed)
{
	for (size_t i = 0; i < words; i++)
		build_word(build, build_random(seed));
}

static inline void build_sample_start(struct build *build, uint64_t type,
				      const struct build_sample *sample)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		build_word(build, sample->id);
	if (type & PERF_SAMPLE_IP)
		build_word(build, sample->ip);
	if (type & PERF_SAMPLE_TID) {
		build_half(build, sample->pid);
		build_half(build, sample->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		build_word(build, sample->time);
	if (type & PERF_SAMPLE_ADDR)
		build_word(build, sample->addr);
	if (type & PERF_SAMPLE_ID)
		build_word(build, sample->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		build_word(build, sample->stream_id);
	if (type & PERF_SAMPLE_CPU) {
		build_half(build, sample->cpu);
		build_half(build, 0);
	}
	if (type & PERF_SAMPLE_PERIOD)
		build_word(build, sample->period);
}

/* What is told of an event: its value, number and losses */
static inline void build_value(struct build *build, uint64_t format, uint64_t value, uint64_t id)
{
	build_word(build, value);
	if (format & PERF_FORMAT_ID)
		build_word(build, id);
	if (format & (1 << 4))
		build_word(build, 0);
}

/*
 * How many words PERF_SAMPLE_READ is, for a group of two: of those that are both numbers of the first
 * event, unless the sample says what they are
 */
static inline size_t build_read(struct build *build, uint64_t format,
				const struct build_sample *sample, uint64_t *seed)
{
	size_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	size_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & (1 << 4));
	size_t count = sample->told ? sample->told : 2;

	if (!(format & PERF_FORMAT_GROUP)) {
		build_word(build, sample->told ? sample->values[0] : build_random(seed));
		build_counted(build, times, seed);
		if (format & PERF_FORMAT_ID)
			build_word(build, sample->told ? sample->ids[0] : build_id(0, 0));
		build_counted(build, !!(format & (1 << 4)), seed);
		return times + each;
	}
	build_word(build, count);
	build_counted(build, times, seed);
	for (size_t i = 0; i < count; i++)
		build_value(build, format,
			    sample->told ? sample->values[i] : build_random(seed),
			    sample->told ? sample->ids[i] : build_id(0, i));
	return 1 + times + count * each;
}

static inline size_t build_regs(struct build *build, uint64_t mask, uint64_t *seed)
{
	bool has = build_random(seed) % 4;
	size_t words = has ? (size_t)__builtin_popcountll(mask) : 0;

	build_word(build, has ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
	build_counted(build, words, seed);
	return words;
}

static inline void build_sample_middle(struct build *build, const struct perf_event_attr *attr,
				       struct build_sample *sample, uint64_t *seed)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_READ)
		sample->read = build_read(build, attr->read_format, sample, seed);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		build_word(build, sample->chain);
		for (size_t i = 0; i < sample->chain; i++)
			build_word(build, sample->chain_at[i]);
	}
	if (type & PERF_SAMPLE_RAW) {
		sample->raw = 4 + build_random(seed) % 5 * 8;
		build_half(build, (uint32_t)sample->raw);
		build_pad(build, sample->raw);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		sample->branches = build_random(seed) % 5 * 3;
		build_word(build, sample->branches / 3);
		if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
			build_word(build, 7);
		build_counted(build, sample->branches, seed);
	}
	if (type & PERF_SAMPLE_REGS_USER)
		sample->user_regs = build_regs(build, attr->sample_regs_user, seed);
	if (type & PERF_SAMPLE_STACK_USER) {
		size_t room = build_random(seed) % 4 * 8;

		build_word(build, room);
		build_pad(build, room);
		if (room)
			build_word(build, room - 3);
		sample->filled = room ? room - 3 : 0;
	}
}

static inline void build_sample_end(struct build *build, const struct perf_event_attr *attr,
				    struct build_sample *sample, uint64_t *seed)
{
	uint64_t type = attr->sample_type;

	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		build_word(build, sample->weight);
	if (type & PERF_SAMPLE_DATA_SRC)
		build_word(build, sample->data_src);
	if (type & PERF_SAMPLE_TRANSACTION)
		build_word(build, sample->transaction);
	if (type & PERF_SAMPLE_REGS_INTR)
		sample->intr_regs = build_regs(build, attr->sample_regs_intr, seed);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		build_word(build, sample->phys_addr);
	if (type & PERF_SAMPLE_CGROUP)
		build_word(build, sample->cgroup);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		build_word(build, sample->data_page_size);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		build_word(build, sample->code_page_size);
	if (type & PERF_SAMPLE_AUX) {
		sample->aux = build_random(seed) % 3 * 8;
		build_word(build, sample->aux);
		build_pad(build, sample->aux);
	}
}

/* Words of random value; event @event's number, and a chain of random length */
static inline void build_sample_random(struct build_sample *sample, size_t event, uint64_t *seed)
{
	uint64_t *words = (uint64_t *)sample;

	memset(sample, 0, sizeof(*sample));
	for (size_t i = 0; i < 13; i++)
		words[i] = build_random(seed);
	sample->id = build_id(event, build_random(seed) % BUILD_IDS);
	sample->pid = (uint32_t)build_random(seed) >> 1;
	sample->tid = (uint32_t)build_random(seed) >> 1;
	sample->cpu = (uint32_t)build_random(seed) % 64;
	sample->chain = build_random(seed) % 8;
	for (size_t i = 0; i < sample->chain; i++)
		sample->chain_at[i] = build_random(seed);
}

static inline void build_sample(struct build *build, size_t event, uint16_t misc,
				struct build_sample *sample, uint64_t *seed)
{
	const struct perf_event_attr *attr = &build->attrs[event];
	size_t at = build_record(build, PERF_RECORD_SAMPLE, misc);

	build_sample_start(build, attr->sample_type, sample);
	build_sample_middle(build, attr, sample, seed);
	build_sample_end(build, attr, sample, seed);
	build_record_end(build, at);
}

/* The end of the records; features follow, of which these numbers. */
static inline void build_features(struct build *build, const unsigned int *numbers, size_t count)
{
	uint64_t flags = 0;

	build_set(build, 48, build->size - build->records);
	for (size_t i = 0; i < count; i++)
		flags |= 1ULL << numbers[i];
	build_set(build, 72, flags);
	build->features = build->size;
	build_pad(build, count * 16);
}

/* The next feature, @n of the list, begins here. */
static inline void build_feature(struct build *build, size_t n)
{
	build_set(build, build->features + n * 16, build->size);
}

/* Feature @n ends here. */
static inline void build_feature_end(struct build *build, size_t n)
{
	uint64_t at;

	memcpy(&at, build->data + build->features + n * 16, sizeof(at));
	build_set(build, build->features + n * 16 + 8, build->size - at);
}

/* A string as features have it */
static inline void build_text(struct build *build, const char *text)
{
	size_t size = (strlen(text) + 64) & ~63UL;

	build_half(build, (uint32_t)size);
	build_bytes(build, text, strlen(text));
	build_pad(build, size - strlen(text));
}

static inline void build_feature_text(struct build *build, size_t n, const char *text)
{
	build_feature(build, n);
	build_text(build, text);
	build_feature_end(build, n);
}

/* Names of all events: feature 12 */
static inline void build_feature_names(struct build *build, size_t n, const char *const *names)
{
	build_feature(build, n);
	build_half(build, (uint32_t)build->events);
	build_half(build, BUILD_ATTR);
	for (size_t i = 0; i < build->events; i++) {
		build_bytes(build, &build->attrs[i], BUILD_ATTR);
		build_half(build, BUILD_IDS);
		build_text(build, names[i]);
		for (size_t id = 0; id < BUILD_IDS; id++)
			build_word(build, build_id(i, id));
	}
	build_feature_end(build, n);
}

/* One build id: feature 2 */
static inline void build_feature_build_id(struct build *build, size_t n, const char *name,
					  const uint8_t *id)
{
	size_t at;

	build_feature(build, n);
	at = build_record(build, 67, PERF_RECORD_MISC_USER | 1 << 15);
	build_half(build, (uint32_t)-1);
	build_bytes(build, id, 20);
	build_half(build, 20);
	build_string(build, name);
	build_record_end(build, at);
	build_feature_end(build, n);
}

static inline void build_free(struct build *build)
{
	free(build->data);
	build->data = NULL;
}

#endif /* PMUCTL_TESTS_PERFFILE_BUILD_H */
