// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which part of a buffer Branch Trace Store may write; bts_window.h explains it. This file
 * compiles in user space too. NMI-safe.
 */
#include "pmu/bts_window.h"

/* 170 records, but no more than a quarter of the buffer */
#define MARGIN_MAX	(170 * BTS_RECORD)

static u64 margin_of(u64 size)
{
	return size / 4 < MARGIN_MAX ? bts_lap(size / 4) : MARGIN_MAX;
}

static u64 round_up_to_record(u64 bytes)
{
	return bts_lap(bytes + BTS_RECORD - 1);
}

static void open_circular(struct bts_window *window, u64 size)
{
	window->circular = true;
	window->first = window->from & (size - 1);
	window->end = bts_lap(size);
	window->threshold = ~0ULL;
}

bool bts_window_open(struct bts_window *window, u64 size, const struct auxbuf_span *span)
{
	u64 offset = span->from & (size - 1), room = span->room;
	u64 margin = margin_of(size), begin = span->from, wake;

	memset(window, 0, sizeof(*window));
	window->from = span->from;
	if (span->wake == ~0ULL) {
		open_circular(window, size);
		return true;
	}
	if (offset + margin >= bts_lap(size)) {
		window->skip = size - offset;
		if (room <= window->skip)
			return false;
		begin += window->skip;
		room -= window->skip;
		offset = 0;
	}
	room = bts_lap(room < size - offset ? room : size - offset);
	if (room <= margin)
		return false;
	window->first = offset;
	window->end = offset + room;
	window->threshold = window->end - margin;
	wake = span->wake > begin ? round_up_to_record(span->wake - begin) : BTS_RECORD;
	if (offset + wake < window->threshold)
		window->threshold = offset + wake;
	return true;
}

u64 bts_window_written(const struct bts_window *window, u64 size, u64 next)
{
	if (!window->circular)
		return next - window->first;
	if (next >= window->end)
		next = 0; /* it goes round with the next record */
	return (next - window->first) & (size - 1);
}
