// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pieces of traces by their buffers and places, so that any byte of a buffer's trace is found
 * without looking through all of them: a recording may have as many as it likes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pieces.h"

/* The place of its last byte. Pieces of no bytes are not asked; forged ones may end nowhere. */
static uint64_t last_byte(const struct perffile_trace *piece)
{
	uint64_t last = piece->position + piece->size - 1;

	return last < piece->position ? UINT64_MAX : last;
}

/* Of those at the same place, the first in the file comes last, where it is looked at first. */
static int by_place(const void *left, const void *right)
{
	const struct perffile_trace *a = ((const struct placed *)left)->piece;
	const struct perffile_trace *b = ((const struct placed *)right)->piece;

	if (a->buffer != b->buffer)
		return a->buffer < b->buffer ? -1 : 1;
	if (a->position != b->position)
		return a->position < b->position ? -1 : 1;
	return a > b ? -1 : a < b;
}

static int by_first(const void *left, const void *right)
{
	const struct trace_buffer *a = left, *b = right;

	return a->first < b->first ? -1 : a->first > b->first;
}

/* One more piece of a buffer; they come by their places. */
static void buffer_add(struct trace_buffer *buffer, struct placed *placed)
{
	const struct placed *before = buffer->count ? placed - 1 : NULL;

	placed->furthest = placed->piece;
	if (before && before->furthest->size &&
	    (!placed->piece->size || last_byte(before->furthest) > last_byte(placed->piece)))
		placed->furthest = before->furthest;
	if (!before)
		buffer->placed = placed;
	if (!before || placed->piece < buffer->first)
		buffer->first = placed->piece;
	buffer->size += placed->piece->size;
	buffer->count++;
}

/* Which buffer each piece is of */
static void find_owners(struct trace_pieces *pieces, const struct perffile_traces *traces)
{
	for (size_t i = 0; i < pieces->buffer_count; i++) {
		const struct trace_buffer *buffer = &pieces->buffers[i];

		for (size_t n = 0; n < buffer->count; n++)
			pieces->owners[buffer->placed[n].piece - traces->pieces] = i;
	}
}

/**
 * trace_pieces_sort() - find the buffers of a recording
 * @pieces: filled; to be freed with trace_pieces_free(), also if it fails.
 * @traces: of the recording; must stay.
 *
 * Return: 0 or -ENOMEM.
 */
int trace_pieces_sort(struct trace_pieces *pieces, const struct perffile_traces *traces)
{
	size_t room = traces->count ? traces->count : 1;

	pieces->buffer_count = 0;
	pieces->placed = calloc(room, sizeof(*pieces->placed));
	pieces->buffers = calloc(room, sizeof(*pieces->buffers));
	pieces->owners = calloc(room, sizeof(*pieces->owners));
	if (!pieces->placed || !pieces->buffers || !pieces->owners)
		return -ENOMEM;
	for (size_t i = 0; i < traces->count; i++)
		pieces->placed[i].piece = &traces->pieces[i];
	qsort(pieces->placed, traces->count, sizeof(*pieces->placed), by_place);
	for (size_t i = 0; i < traces->count; i++) {
		struct placed *placed = &pieces->placed[i];

		if (!i || placed->piece->buffer != placed[-1].piece->buffer)
			pieces->buffer_count++;
		buffer_add(&pieces->buffers[pieces->buffer_count - 1], placed);
	}
	qsort(pieces->buffers, pieces->buffer_count, sizeof(*pieces->buffers), by_first);
	find_owners(pieces, traces);
	return 0;
}

/**
 * trace_pieces_free() - forget them
 * @pieces: the pieces.
 */
void trace_pieces_free(struct trace_pieces *pieces)
{
	free(pieces->placed);
	free(pieces->buffers);
	free(pieces->owners);
}

static bool has_byte(const struct perffile_trace *piece, uint64_t at)
{
	return at >= piece->position && at - piece->position < piece->size;
}

/* A piece that has this byte: the one that begins next before it, or the one that goes furthest */
static const struct perffile_trace *piece_with(const struct trace_buffer *buffer, uint64_t at)
{
	size_t low = 0, high = buffer->count;
	const struct placed *placed;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (buffer->placed[middle].piece->position <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	placed = &buffer->placed[low - 1];
	if (has_byte(placed->piece, at))
		return placed->piece;
	return has_byte(placed->furthest, at) ? placed->furthest : NULL;
}

/**
 * trace_buffer_copy() - bytes of a buffer's trace, which may be in several pieces
 * @buffer: the buffer.
 * @at: place of the first.
 * @size: how many.
 * @to: where to.
 *
 * Return: how many there are without a gap.
 */
uint64_t trace_buffer_copy(const struct trace_buffer *buffer, uint64_t at, uint64_t size,
			   uint8_t *to)
{
	uint64_t done = 0;

	while (done < size) {
		const struct perffile_trace *piece = piece_with(buffer, at + done);
		uint64_t into, length;

		if (!piece)
			break;
		into = at + done - piece->position;
		length = piece->size - into < size - done ? piece->size - into : size - done;
		memcpy(to + done, piece->bytes + into, length);
		done += length;
	}
	return done;
}
