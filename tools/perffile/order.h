/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of the records of a file (perffile.h), with memory that does not grow with it.
 * order.c tells how.
 */
#ifndef PMUCTL_TOOL_PERFFILE_ORDER_H
#define PMUCTL_TOOL_PERFFILE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Records that the window grows by. The fuzzers, whose files are short, have a smaller number. */
#ifndef PERFFILE_CHUNK
#define PERFFILE_CHUNK 4096
#endif

struct perffile;
struct perffile_error;

/* Where a record is */
struct perffile_place {
	uint64_t time;
	uint64_t offset;
};

/**
 * struct perffile_chunk - some thousand records, one after the other
 * @at: where the first one is.
 * @time: of the one before, which the first one has if it has none.
 * @limit: those that are older are too late.
 * @until: the oldest time behind this chunk but for what is too late; while records are noted, in
 *	the chunk.
 */
struct perffile_chunk {
	uint64_t at;
	uint64_t time;
	uint64_t limit;
	uint64_t until;
};

/**
 * struct perffile_order - the order of records. Private, but for times
 * @chunks: all records, in the order of the file.
 * @chunk_count: how many.
 * @chunk_room: of these there is room for so many.
 * @noted: records in them.
 * @time: of the last one that was noted.
 * @newest: time among them.
 * @round: the newest since the last mark.
 * @before: between that and the one before it.
 * @limit: in the round before that: at the mark behind it, all that is older was there.
 * @first_sample: the oldest time of a sample; 0 if there is none.
 * @last_sample: the newest; 0 if there is none.
 * @late: what is too late, in the order of time.
 * @late_count: how many.
 * @late_room: of these.
 * @late_next: the next one to hand out.
 * @window: what was taken of the chunks, in the order of time.
 * @spare: as much room, to sort with.
 * @room: of each of them.
 * @count: how many are in @window.
 * @ready: how many of these may be handed out.
 * @next: the next one to hand out.
 * @loaded: how many chunks were taken.
 * @given: records that were handed out.
 * @until: what is newer is not handed out.
 * @low: the first byte that was handed out since pages were let go of.
 * @high: the byte behind the last one.
 * @handed: bytes that were handed out since then.
 */
struct perffile_order {
	struct perffile_chunk *chunks;
	size_t chunk_count;
	size_t chunk_room;
	size_t noted;
	uint64_t time;
	uint64_t newest;
	uint64_t round;
	uint64_t before;
	uint64_t limit;
	uint64_t first_sample;
	uint64_t last_sample;
	struct perffile_place *late;
	size_t late_count;
	size_t late_room;
	size_t late_next;
	struct perffile_place *window;
	struct perffile_place *spare;
	size_t room;
	size_t count;
	size_t ready;
	size_t next;
	size_t loaded;
	size_t given;
	uint64_t until;
	uint64_t low;
	uint64_t high;
	uint64_t handed;
};

void perffile_rewind(struct perffile *file);
unsigned int perffile_percent(const struct perffile *file);

/* For the other parts of the reader */
void perffile_order_begin(struct perffile *file);
int perffile_order_note(struct perffile *file, uint64_t at, uint32_t type,
			struct perffile_error *error);
int perffile_order_ready(struct perffile *file, struct perffile_error *error);
int perffile_order_next(struct perffile *file, uint64_t *at, struct perffile_error *error);
void perffile_order_free(struct perffile *file);

#endif /* PMUCTL_TOOL_PERFFILE_ORDER_H */
