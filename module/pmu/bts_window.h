/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which part of a buffer Branch Trace Store may write: the arithmetic of records that are
 * never cut in two, in a buffer whose size is no multiple of theirs. Pure logic: places are
 * offsets in the buffer. SDM Vol. 3B, "Setting Up the BTS Buffer".
 *
 * A record is at a multiple of its size from the buffer's beginning, so that the last 8 or
 * 16 bytes of the buffer are never written, as in perf's. The processor stops at the end of
 * the buffer, or goes round by itself and tells nobody. So if what was written is to be kept,
 * the interrupt comes a margin before the end of what may be written, for the branches on the
 * way to its handler; and what is left then at the end of the buffer is left out, as zeros.
 */
#ifndef PMUCTL_PMU_BTS_WINDOW_H
#define PMUCTL_PMU_BTS_WINDOW_H

#include "ringbuf/auxbuf.h"

/* SDM, "64-Bit Branch Trace Record Format": from, to, flags */
#define BTS_RECORD	24

/**
 * struct bts_window - what may be written
 * @from: the position where the buffer's reader believes it to begin.
 * @skip: bytes up to the end of the buffer that are left out before; 0 if it does not
 *	begin anew.
 * @first: offset of the first record.
 * @end: of what is behind the last one.
 * @threshold: an interrupt is to come when the next record would be there; all ones for none.
 * @circular: at the end it goes on at offset 0.
 */
struct bts_window {
	u64 from;
	u64 skip;
	u64 first;
	u64 end;
	u64 threshold;
	bool circular;
};

/**
 * bts_window_open() - find the part of a buffer that may be written
 * @window: is filled.
 * @size: of the buffer.
 * @span: what is free; its wake is U64_MAX if everything may be overwritten for ever.
 *
 * Context: NMI-safe.
 * Return: true; false if there is not enough room.
 */
bool bts_window_open(struct bts_window *window, u64 size, const struct auxbuf_span *span);

/**
 * bts_window_written() - how much has been written?
 * @window: opened.
 * @size: of the buffer.
 * @next: offset at which the processor would write the next record.
 *
 * Context: NMI-safe.
 * Return: bytes since @window->first; if it is circular, less than @size.
 */
u64 bts_window_written(const struct bts_window *window, u64 size, u64 next);

/* What a full buffer of that size holds */
static inline u64 bts_lap(u64 size)
{
	return size - size % BTS_RECORD;
}

#endif /* PMUCTL_PMU_BTS_WINDOW_H */
