// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples that tell counts (PERF_SAMPLE_READ), of one event or of all of a group, of which one
 * samples for all. Such a sample stands for one of each event whose count has grown since it was
 * told last, and the growth is its period: so perf has it (deliver_sample_group() in
 * tools/perf/util/session.c). Counts are told apart by the number of the event, one for each CPU
 * or target; inherited ones have that of the first, and count for their threads alone.
 */
#include <errno.h>
#include <stdlib.h>

#include "perffile.h"

/* What newer headers name */
#define READ_LOST (1ULL << 4)

/* Slots of a table that is new; a power of two */
#define SLOTS_MIN 64

/* An event that is not inherited counts for all of its target. */
#define ANY_TID INT64_MIN

/**
 * struct count - what was told last
 * @id: number of the event.
 * @tid: of which thread, or ANY_TID.
 * @value: so many.
 * @is_used: there is one in this slot.
 */
struct count {
	uint64_t id;
	int64_t tid;
	uint64_t value;
	bool is_used;
};

/**
 * struct perffile_counts - a table of them
 * @slots: by number and thread; a power of two of them.
 * @slot_count: how many.
 * @used: of them.
 */
struct perffile_counts {
	struct count *slots;
	size_t slot_count;
	size_t used;
};

/* Words before the values: how many they are, and times */
static size_t words_before(uint64_t format)
{
	return !!(format & PERF_FORMAT_GROUP) +
	       !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
	       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
}

static size_t words_of_each(uint64_t format)
{
	return 1 + !!(format & PERF_FORMAT_ID) + !!(format & READ_LOST);
}

/**
 * perffile_read_take() - take what a read of an event gives, in its read_format
 * @format: attr.read_format.
 * @bytes: where it begins; it is taken off.
 *
 * Return: its words; none, and @bytes has failed, if they are not all there.
 */
struct perffile_words perffile_read_take(uint64_t format, struct perffile_bytes *bytes)
{
	struct perffile_bytes look = *bytes;
	uint64_t count = 1;

	if (format & PERF_FORMAT_GROUP)
		count = perffile_take64(&look);
	if (count > UINT16_MAX) {
		bytes->failed = true;
		return (struct perffile_words){ NULL, 0 };
	}
	return perffile_take_words(bytes, words_before(format) + count * words_of_each(format));
}

/**
 * perffile_read_count() - how many values there are
 * @format: attr.read_format.
 * @read: what was taken.
 */
size_t perffile_read_count(uint64_t format, const struct perffile_words *read)
{
	size_t before = words_before(format);

	return read->count < before ? 0 : (read->count - before) / words_of_each(format);
}

/**
 * perffile_read_value() - one of the values
 * @format: attr.read_format.
 * @read: what was taken.
 * @n: which, below perffile_read_count().
 * @id: set to the number of its event; 0 if that is not told.
 *
 * Return: the value.
 */
uint64_t perffile_read_value(uint64_t format, const struct perffile_words *read, size_t n,
			     uint64_t *id)
{
	/* Of one alone, the times are behind the value. */
	bool group = format & PERF_FORMAT_GROUP;
	size_t before = words_before(format);
	size_t at = group ? before + n * words_of_each(format) : 0;
	size_t id_at = group ? at + 1 : before + 1;

	*id = format & PERF_FORMAT_ID ? perffile_words_get(read, id_at) : 0;
	return perffile_words_get(read, at);
}

static size_t slot_of(const struct perffile_counts *counts, uint64_t id, int64_t tid)
{
	uint64_t hash = (id * 0x9e3779b97f4a7c15ULL ^ (uint64_t)tid) * 0xc2b2ae3d27d4eb4fULL;
	size_t slot = (hash ^ hash >> 29) & (counts->slot_count - 1);

	while (counts->slots[slot].is_used &&
	       (counts->slots[slot].id != id || counts->slots[slot].tid != tid))
		slot = (slot + 1) & (counts->slot_count - 1);
	return slot;
}

/* Half of the slots are free, so that each is found soon. */
static int make_room(struct perffile_counts *counts)
{
	struct perffile_counts new = { .used = counts->used };

	if (counts->used * 2 < counts->slot_count)
		return 0;
	new.slot_count = counts->slot_count ? counts->slot_count * 2 : SLOTS_MIN;
	new.slots = calloc(new.slot_count, sizeof(*new.slots));
	if (!new.slots)
		return -ENOMEM;
	for (size_t i = 0; i < counts->slot_count; i++)
		if (counts->slots[i].is_used)
			new.slots[slot_of(&new, counts->slots[i].id, counts->slots[i].tid)] =
				counts->slots[i];
	free(counts->slots);
	*counts = new;
	return 0;
}

/*
 * The growth since @id was told last. A count that is smaller than it was has begun anew: it is of
 * another thread by that number, or was reset.
 */
static int growth_of(struct perffile *file, uint64_t id, int64_t tid, uint64_t value,
		     uint64_t *growth)
{
	struct count *count;

	if (!file->counts)
		file->counts = calloc(1, sizeof(*file->counts));
	if (!file->counts || make_room(file->counts) < 0)
		return -ENOMEM;
	count = &file->counts->slots[slot_of(file->counts, id, tid)];
	file->counts->used += !count->is_used;
	*growth = value < count->value ? value : value - count->value;
	*count = (struct count){ id, tid, value, true };
	return 0;
}

/**
 * perffile_counts_free() - forget what was told
 * @counts: of a file, or NULL.
 */
void perffile_counts_free(struct perffile_counts *counts)
{
	if (counts)
		free(counts->slots);
	free(counts);
}

/**
 * perffile_group_next() - make of a sample that of the next event whose count it tells
 * @file: of which the sample is; @file->values_told counts how many of them were taken.
 * @record: the sample, as it is in the file.
 *
 * A number that the file does not know makes a sample without an event.
 *
 * Return: 1; 0: that count has not grown, so there is no sample; -ENOMEM.
 */
int perffile_group_next(struct perffile *file, struct perffile_record *record)
{
	const struct perf_event_attr *attr = record->attr;
	struct perffile_sample *sample = &record->sample;
	uint64_t id, value, format;
	size_t count;

	if (!attr || !(attr->sample_type & PERF_SAMPLE_READ) ||
	    !(attr->read_format & PERF_FORMAT_ID))
		return 1;
	format = attr->read_format;
	count = perffile_read_count(format, &sample->read);
	if (file->values_told >= count)
		return 0;
	value = perffile_read_value(format, &sample->read, file->values_told++, &id);
	file->values_left = count - file->values_told;
	record->id = id;
	record->event = perffile_event_by_id(file, id);
	if (!record->event)
		return 1;
	if (growth_of(file, id, attr->inherit ? record->tid : ANY_TID, value,
		      &sample->period) < 0)
		return -ENOMEM;
	return sample->period != 0;
}
