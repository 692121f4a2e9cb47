// SPDX-License-Identifier: GPL-2.0-only
/*
 * What "pmuctl record" learns of records on their way to the file.
 */
#include <string.h>

#include "record.h"

/* Where things are in records, in bytes: see attr_prepare() of open.c. */
enum {
	SAMPLE_TIME_AT	= 32,	/* behind header, identifier, ip, pid and tid */
	LOST_COUNT_AT	= 16,	/* behind header, id */
	LOST_SAMPLES_AT	= 8,
	AUX_SIZE_AT	= 16,
	AUX_FLAGS_AT	= 24,
	MMAP_PID_AT	= 8,
	MMAP_START_AT	= 16,
	MMAP_SIZE_AT	= 24,
	MMAP_NAME_AT	= 40,
	MMAP2_DEVICE_AT	= 40,
	MMAP2_INODE_AT	= 48,
	MMAP2_NAME_AT	= 72,
};

static uint64_t word_at(const struct perf_event_header *record, size_t at)
{
	uint64_t word = 0;

	if (at + sizeof(word) <= record->size)
		memcpy(&word, (const char *)record + at, sizeof(word));
	return word;
}

static void note_sample(struct record_totals *totals,
			const struct perf_event_header *record)
{
	uint64_t time = word_at(record, SAMPLE_TIME_AT);

	totals->samples++;
	if (!totals->first || time < totals->first)
		totals->first = time;
	if (time > totals->last)
		totals->last = time;
}

/* The same record with a build id: it has the same time, and is taken after the first. */
static void tell_build_id(struct perfdata_buffer *told, const struct perf_event_header *record,
			  const struct dso_build_id *id)
{
	const char *bytes = (const char *)record;
	struct perf_event_header header = *record;
	size_t behind = MMAP2_DEVICE_AT + sizeof(*id);

	header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	perfdata_put(told, &header, sizeof(header));
	perfdata_put(told, bytes + sizeof(header), MMAP2_DEVICE_AT - sizeof(header));
	perfdata_put(told, id, sizeof(*id));
	perfdata_put(told, bytes + behind, record->size - behind);
}

static void note_map(const struct perf_event_header *record, size_t name_at, struct dsos *dsos,
		     struct perfdata_buffer *told)
{
	const char *name = (const char *)record + name_at;
	struct dso_mapping mapping = { .path = name };
	struct dso_build_id id;

	if (!dsos || record->size <= name_at ||
	    record->misc & PERF_RECORD_MISC_MMAP_DATA ||
	    !memchr(name, '\0', record->size - name_at))
		return;
	mapping.pid = (pid_t)(uint32_t)word_at(record, MMAP_PID_AT);
	mapping.start = word_at(record, MMAP_START_AT);
	mapping.size = word_at(record, MMAP_SIZE_AT);
	if (name_at == MMAP2_NAME_AT) {
		mapping.major = (uint32_t)word_at(record, MMAP2_DEVICE_AT);
		mapping.minor = (uint32_t)(word_at(record, MMAP2_DEVICE_AT) >> 32);
		mapping.inode = word_at(record, MMAP2_INODE_AT);
	}
	if (dsos_add(dsos, &mapping, &id) > 0 && name_at == MMAP2_NAME_AT)
		tell_build_id(told, record, &id);
}

/**
 * record_note() - learn what a record says
 * @record: as it is in a ring.
 * @totals: get it.
 * @dsos: get the file that it is about; NULL if nobody wants it.
 * @told: gets the record once more, with the build id, if the file is not the one that its path
 *	means.
 */
void record_note(const struct perf_event_header *record, struct record_totals *totals,
		 struct dsos *dsos, struct perfdata_buffer *told)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		note_sample(totals, record);
		break;
	case PERF_RECORD_LOST:
		totals->lost += word_at(record, LOST_COUNT_AT);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		totals->lost += word_at(record, LOST_SAMPLES_AT);
		break;
	case PERF_RECORD_AUX:
		if (!(word_at(record, AUX_FLAGS_AT) & PERF_AUX_FLAG_OVERWRITE))
			totals->traced += word_at(record, AUX_SIZE_AT);
		totals->truncated += !!(word_at(record, AUX_FLAGS_AT) &
					PERF_AUX_FLAG_TRUNCATED);
		break;
	case PERF_RECORD_THROTTLE:
		totals->throttled++;
		break;
	case PERF_RECORD_MMAP:
		note_map(record, MMAP_NAME_AT, dsos, told);
		break;
	case PERF_RECORD_MMAP2:
		note_map(record, MMAP2_NAME_AT, dsos, told);
		break;
	}
}
