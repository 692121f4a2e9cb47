/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page that user space maps to read a counter without a system call: its memory,
 * and the protocol by which it is written. Its layout, and how it is read, is struct
 * perf_event_mmap_page of <linux/perf_event.h>.
 *
 * One writer at a time, which an NMI may interrupt; the NMI may write too, but not
 * while the one that it interrupted does (userpage_is_written()). Readers see an odd
 * number in the page's lock while it is written, and another one than before when it
 * has been.
 *
 *	writer, userpage_write_begin()	(1) lock odd, then the fields
 *	writer, userpage_write_end()	(2) the fields, then lock even
 *	reader				lock, then the fields; the fields, then lock again
 *
 * (1) pairs with the reader's second order, (2) with its first.
 */
#ifndef PMUCTL_RINGBUF_USERPAGE_H
#define PMUCTL_RINGBUF_USERPAGE_H

#include <linux/perf_event.h>
#include <linux/types.h>

/**
 * struct userpage - such a page
 * @page: the page. User space may write to it, so nothing here depends on what it holds.
 * @lock: what its lock is.
 */
struct userpage {
	struct perf_event_mmap_page *page;
	u32 lock;
};

/**
 * struct userpage_times - the times in it
 * @enabled: and @running: ns, at an instant that the following tell.
 * @ticking: they go on with the TSC; else they stand still.
 * @offset: to be added to the TSC's ns, so that the sum is ns since that instant.
 */
struct userpage_times {
	u64 enabled;
	u64 running;
	bool ticking;
	u64 offset;
};

/* What every such page says, a ring's first one, too; it is all zeros before. */
static inline void userpage_init(struct perf_event_mmap_page *page)
{
	page->cap_bit0_is_deprecated = 1;
	page->size = offsetof(struct perf_event_mmap_page, __reserved);
}

/**
 * userpage_alloc() - get the memory
 * @up: is filled.
 * @counter: the page says that a counter can be read with it; else it only says that
 *	none can.
 *
 * Context: Process, may sleep.
 * Return: true; false if there is no memory.
 */
bool userpage_alloc(struct userpage *up, bool counter);

/* Free it; who has it mapped keeps it as long. Nothing happens if it was not got. */
void userpage_free(struct userpage *up);

/* ns of the clock that the page describes. Any context. */
static inline u64 userpage_ns(u64 cycles, u32 mult, u16 shift)
{
	u64 rest = cycles & ((1ULL << shift) - 1);

	return (cycles >> shift) * mult + ((rest * mult) >> shift);
}

/* Is somebody writing it, whom we have interrupted? NMI-safe */
static inline bool userpage_is_written(const struct userpage *up)
{
	return up->lock & 1;
}

/* Only between these two are fields of the page written. Owner CPU, IRQs off, NMI-safe */
static inline void userpage_write_begin(struct userpage *up)
{
	WRITE_ONCE(up->page->lock, ++up->lock);
	smp_wmb(); /* (1) */
}

static inline void userpage_write_end(struct userpage *up)
{
	smp_wmb(); /* (2) */
	WRITE_ONCE(up->page->lock, ++up->lock);
}

#endif /* PMUCTL_RINGBUF_USERPAGE_H */
