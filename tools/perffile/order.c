// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of records. A file has them in the order in which rings were emptied, and they are
 * handed out in the order of their time; what has the same time, in that of the file. A record
 * without a time keeps its place behind the one before it; what a recorder wrote about tasks that
 * were there already has time 0 and comes first.
 *
 * A list of all records would grow with the file. But how far a record is from its place does
 * not: while all rings are read once, others are written to, and that is all. So when the records
 * are looked through, one after the other, it is noted for every few thousand of them, a chunk,
 * which time none of those behind it is older than. Then chunks are read into a window, and what
 * is not newer than that can be handed out, before those behind it are looked at again.
 *
 * A single record that is much too late would hold up all others. Marks tell of those: at each
 * FINISHED_ROUND all rings have been read once more, so that nothing should come that is older
 * than the newest record of the round before the one that it ends. What does, and what has time 0
 * among records that have one, is listed by itself, and handed out when its time comes. (Not the
 * newest record of all rounds: if one had a time that is never reached, all others would be too
 * late.)
 *
 * So the order is that of all records sorted at once, whatever the file has; marks and
 * times decide only how much memory that takes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perffile.h"

#define ROOM_MIN 64

static void forget_lists(struct perffile_order *order)
{
	free(order->chunks);
	free(order->late);
	free(order->window);
	free(order->spare);
}

/**
 * perffile_order_begin() - forget all records
 * @file: the file. Each of its records is to be given to perffile_order_note().
 */
void perffile_order_begin(struct perffile *file)
{
	forget_lists(&file->order);
	file->order = (struct perffile_order){
		.first_sample = UINT64_MAX, .until = UINT64_MAX,
	};
}

/**
 * perffile_order_free() - give back what the order takes
 * @file: the file.
 */
void perffile_order_free(struct perffile *file)
{
	forget_lists(&file->order);
	memset(&file->order, 0, sizeof(file->order));
}

/* Room for one more in a list; NULL: there is none. */
static void *grow(void *list, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? *room * 2 : ROOM_MIN;

	if (count < *room)
		return list;
	list = reallocarray(list, more, size);
	if (list)
		*room = more;
	return list;
}

static struct perffile_chunk *chunk_begin(struct perffile_order *order, uint64_t at)
{
	struct perffile_chunk *chunks = grow(order->chunks, order->chunk_count,
					     &order->chunk_room, sizeof(*chunks));
	uint64_t limit = order->limit;

	if (!chunks)
		return NULL;
	order->chunks = chunks;
	/* Time 0 is that of no record among others. */
	if (!limit && order->newest)
		limit = 1;
	chunks[order->chunk_count] = (struct perffile_chunk){ at, order->time, limit, UINT64_MAX };
	return &chunks[order->chunk_count++];
}

static int note_late(struct perffile_order *order, uint64_t at)
{
	struct perffile_place *late = grow(order->late, order->late_count, &order->late_room,
					   sizeof(*late));

	if (!late)
		return -ENOMEM;
	order->late = late;
	late[order->late_count++] = (struct perffile_place){ order->time, at };
	return 0;
}

/**
 * perffile_order_note() - see the next record, in the order of the file
 * @file: the file, with its events.
 * @at: where the record is; it is whole.
 * @type: of it.
 * @error: why not.
 *
 * Return: 0, -ENOMEM.
 */
int perffile_order_note(struct perffile *file, uint64_t at, uint32_t type,
			struct perffile_error *error)
{
	struct perffile_order *order = &file->order;
	struct perffile_chunk *chunk;

	if (type == PERFFILE_FINISHED_ROUND) {
		order->limit = order->before;
		order->before = order->round;
		order->round = 0;
	}
	if (type >= PERFFILE_USER_TYPE)
		return 0;
	chunk = order->noted++ % PERFFILE_CHUNK ? &order->chunks[order->chunk_count - 1] :
						 chunk_begin(order, at);
	if (!chunk)
		return perffile_no_memory(error);
	perffile_record_time(file, at, &order->time);
	if (order->time > order->newest)
		order->newest = order->time;
	if (order->time > order->round)
		order->round = order->time;
	if (type == PERF_RECORD_SAMPLE && order->time < order->first_sample)
		order->first_sample = order->time;
	if (type == PERF_RECORD_SAMPLE && order->time > order->last_sample)
		order->last_sample = order->time;
	if (order->time < chunk->limit)
		return note_late(order, at) < 0 ? perffile_no_memory(error) : 0;
	if (order->time < chunk->until)
		chunk->until = order->time;
	return 0;
}

/* From @at on, those whose times do not fall; at least one */
static size_t run_end(const struct perffile_place *places, size_t at, size_t count)
{
	for (at++; at < count && places[at - 1].time <= places[at].time;)
		at++;
	return at;
}

static void merge(struct perffile_place *out, const struct perffile_place *a,
		  const struct perffile_place *a_end, const struct perffile_place *b,
		  const struct perffile_place *b_end)
{
	while (a < a_end && b < b_end)
		*out++ = b->time < a->time ? *b++ : *a++;
	memcpy(out, a, (size_t)((const char *)a_end - (const char *)a));
	memcpy(out + (a_end - a), b, (size_t)((const char *)b_end - (const char *)b));
}

/*
 * Sorts by time, and keeps the order of what has the same. A ring is in order, so there are few
 * runs that are: each two next to each other are made one, until there is one only.
 */
static void sort(struct perffile_place **places, struct perffile_place **spare, size_t count)
{
	struct perffile_place *from, *to;

	while (count && run_end(*places, 0, count) < count) {
		from = *places;
		to = *spare;
		for (size_t start = 0, middle, end; start < count; start = end) {
			middle = run_end(from, start, count);
			end = middle < count ? run_end(from, middle, count) : count;
			merge(to + start, from + start, from + middle, from + middle, from + end);
		}
		*places = to;
		*spare = from;
	}
}

static int sort_late(struct perffile_order *order)
{
	struct perffile_place *spare;

	if (!order->late_count)
		return 0;
	spare = calloc(order->late_count, sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	sort(&order->late, &spare, order->late_count);
	free(spare);
	return 0;
}

/**
 * perffile_order_ready() - all records have been noted
 * @file: the file.
 * @error: why not.
 *
 * Return: 0, -ENOMEM.
 */
int perffile_order_ready(struct perffile *file, struct perffile_error *error)
{
	struct perffile_order *order = &file->order;
	uint64_t oldest = UINT64_MAX, own;

	for (size_t i = order->chunk_count; i-- > 0;) {
		own = order->chunks[i].until;
		order->chunks[i].until = oldest;
		oldest = own < oldest ? own : oldest;
	}
	if (order->first_sample > order->last_sample)
		order->first_sample = 0;
	return sort_late(order) < 0 ? perffile_no_memory(error) : 0;
}

/**
 * perffile_rewind() - begin with the first record again
 * @file: the file. It is not fed.
 */
void perffile_rewind(struct perffile *file)
{
	struct perffile_order *order = &file->order;

	order->loaded = 0;
	order->count = 0;
	order->next = 0;
	order->ready = 0;
	order->late_next = 0;
	order->given = 0;
	file->values_left = 0;
	perffile_counts_free(file->counts);
	file->counts = NULL;
}

/* For one more in the window, and in what it is sorted with */
static int make_room(struct perffile_order *order)
{
	size_t room = order->room ? order->room * 2 : PERFFILE_CHUNK;
	struct perffile_place *places;

	if (order->count < order->room)
		return 0;
	/* Most files are shorter. */
	if (order->chunk_count == 1)
		room = order->noted;
	places = reallocarray(order->spare, room, sizeof(*places));
	if (!places)
		return -ENOMEM;
	order->spare = places;
	places = reallocarray(order->window, room, sizeof(*places));
	if (!places)
		return -ENOMEM;
	order->window = places;
	order->room = room;
	return 0;
}

/* Takes the next chunk into the window. */
static int load(struct perffile *file)
{
	struct perffile_order *order = &file->order;
	const struct perffile_chunk *chunk = &order->chunks[order->loaded++];
	uint64_t at = chunk->at, end = file->records_end, time = chunk->time;

	if (order->loaded < order->chunk_count)
		end = order->chunks[order->loaded].at;
	for (; at < end; at = perffile_record_after(file, at)) {
		if (perffile_header(file, at).type >= PERFFILE_USER_TYPE)
			continue;
		perffile_record_time(file, at, &time);
		if (time < chunk->limit)
			continue;
		if (make_room(order) < 0)
			return -ENOMEM;
		order->window[order->count++] = (struct perffile_place){ time, at };
	}
	return 0;
}

/* How many of the window are not newer than @until. */
static size_t count_until(const struct perffile_order *order, uint64_t until)
{
	size_t low = 0, high = order->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (order->window[middle].time <= until)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * The window becomes at least twice as long as what is left of it, so that each record is sorted
 * a few times, however long it waits.
 */
static int refill(struct perffile *file)
{
	struct perffile_order *order = &file->order;
	size_t enough;

	order->count -= order->next;
	if (order->count)
		memmove(order->window, order->window + order->next,
			order->count * sizeof(*order->window));
	order->next = 0;
	order->ready = 0;
	while (!order->ready && order->loaded < order->chunk_count) {
		enough = order->count * 2 + 1;
		while (order->count < enough && order->loaded < order->chunk_count)
			if (load(file) < 0)
				return -ENOMEM;
		sort(&order->window, &order->spare, order->count);
		order->ready = count_until(order, order->chunks[order->loaded - 1].until);
	}
	return 0;
}

/* What was handed out is seldom looked at again. */
static void let_go(struct perffile *file, uint64_t at)
{
	struct perffile_order *order = &file->order;
	uint64_t end = at + perffile_header(file, at).size;

	if (!order->handed || at < order->low)
		order->low = at;
	if (!order->handed || end > order->high)
		order->high = end;
	order->handed += end - at;
	if (order->handed < PERFFILE_PAGES)
		return;
	perffile_let_go(file, order->low, order->high);
	order->handed = 0;
}

/**
 * perffile_order_next() - take the next record
 * @file: the file.
 * @at: set to where it is.
 * @error: why not.
 *
 * Return: 1, 0 behind the last one, -ENOMEM.
 */
int perffile_order_next(struct perffile *file, uint64_t *at, struct perffile_error *error)
{
	struct perffile_order *order = &file->order;
	const struct perffile_place *next = NULL, *late;

	if (order->next == order->ready && order->loaded < order->chunk_count && refill(file) < 0)
		return perffile_no_memory(error);
	if (order->next < order->ready)
		next = &order->window[order->next];
	late = order->late_next < order->late_count ? &order->late[order->late_next] : NULL;
	if (late && (!next || late->time < next->time ||
		     (late->time == next->time && late->offset < next->offset)))
		next = late;
	if (!next || next->time > order->until)
		return 0;
	*at = next->offset;
	if (next == late)
		order->late_next++;
	else
		order->next++;
	order->given++;
	let_go(file, *at);
	return 1;
}

/**
 * perffile_percent() - how much was handed out
 * @file: the file.
 *
 * Return: so much of 100 of its records.
 */
unsigned int perffile_percent(const struct perffile *file)
{
	const struct perffile_order *order = &file->order;

	return order->noted ? (unsigned int)((double)order->given / (double)order->noted * 100) : 100;
}
