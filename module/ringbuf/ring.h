/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sample ring: records that writers on any CPU, in task, interrupt and NMI context,
 * hand to one reader in user space. Here and in ring.c is the protocol, which compiles in
 * user space too; the memory is in ring_mem.c. What a record is, is not known here: some
 * bytes, a multiple of 8. Layout and reader's side are struct perf_event_mmap_page of
 * <linux/perf_event.h>.
 *
 * Writers
 * -------
 * A writer reserves room, fills it, and commits. Everything it has to agree upon with
 * others is in one word, the state:
 *
 *	 63                                       17   16     15         0
 *	+-------------------------------------------+--------+------------+
 *	|  position: bytes ever reserved, in eights | paused |    open    |
 *	+-------------------------------------------+--------+------------+
 *
 * "open" is how many writers are between reserve and commit. To reserve is to add to the
 * position and to open, in one compare-and-exchange; the bytes between the old position and
 * the new one are then the writer's own.
 *
 * To commit is to take oneself from open. A writer that is the only open one knows that all
 * bytes up to the position are written: it publishes the position as data_head first, and
 * leaves with a compare-and-exchange that fails if anything has happened meanwhile; then it
 * looks again. A writer that is not the only one just leaves. So
 *
 *  - a head is published only when nobody has yet to write below it;
 *  - while one publishes, it is the only one who does: others see two open. Heads never go
 *    backwards, and what only the publisher touches needs no lock;
 *  - if nobody is open, the head is the position: nothing that was written stays hidden.
 *
 * A writer that interrupts another on its CPU is the second open one at least, so the
 * outermost publishes. Nobody ever waits: who loses a compare-and-exchange lost it to one
 * who got on. From reserve to commit preemption is off, for what follows an open record
 * is hidden as long.
 *
 * The data are mapped twice in a row, so a record that wraps at their end is in one piece
 * for its writer.
 *
 * The position in the state wraps at 2^50 bytes. The publisher, who saw the last head,
 * makes 64 bits of it.
 *
 * The reader
 * ----------
 * It reads from its tail to data_head, then moves data_tail. A record is refused that would
 * leave no byte free, thus tail == head is always an empty ring. data_tail is user space's
 * to write: whatever it says, the writers stay within the data; at worst the reader's own
 * records are overwritten or refused.
 *
 * With RING_OVERWRITE there is no tail: what is published may be overwritten. What is not
 * may not: a writer is refused that would catch up with one that has been open for a whole
 * ring, as it may be where the CPUs are virtual. A reader pauses the ring first.
 *
 * With RING_BACKWARD positions are the same, and addresses and heads are their negatives:
 * the head is where the newest record starts, and they follow from new to old.
 *
 * Barriers
 * --------
 *	(A) commit: record, then state
 *	(B) commit, pause: state, then records and the last head
 *	(C) publish: records, then data_head and the last head
 *	(D) reader: data_head, then records
 *	(E) reader: records, then data_tail
 *	(F) reserve: data_tail or the last head, then the record
 *	(G) reserve: state, then data_tail or the last head
 *	(H) end of a pause: the reader's reading, then state
 *	(I) refused: that the ring is full, then state; commit: state, then whether it is
 *
 * (A) pairs with (B): the last open one sees all records of the others, and whether they have
 * asked for a reader; the next publisher sees what the one before it wrote.
 * (C) pairs with (D), in user space smp_rmb() or a load-acquire: a reader that sees a head
 * sees the records below it.
 * (E), in user space smp_mb() or a store-release, pairs with (F): a record is not
 * overwritten before it was read. With RING_OVERWRITE (C) pairs with (F): it is not
 * overwritten before it was written.
 * (I) pairs with itself: of a last open one and of one who was refused meanwhile at least one
 * finds that the reader is to be woken.
 * (G) pairs with (A) and (H). It also keeps a ring with room from looking full: the tail
 * is not older than the position that it is compared with. If the position is the older
 * one, the exchange fails.
 */
#ifndef PMUCTL_RINGBUF_RING_H
#define PMUCTL_RINGBUF_RING_H

#include <linux/perf_event.h>

#include "compat/pure.h"

struct page;
struct vm_fault;

/* Flags of a ring: the reader maps read-only and is never waited for */
#define RING_OVERWRITE	1
/* ... data_head goes down from 0 */
#define RING_BACKWARD	2

/* Parts of the state; a position in bytes is shifted to its place. */
#define RING_OPEN	0xffffULL
#define RING_PAUSED	0x10000ULL
#define RING_SHIFT	14

/**
 * struct ring - a ring and its memory
 *
 * Constant after ring_alloc():
 * @user: the metadata page. User space may write to it: nothing in it is trusted.
 * @data: the records, mapped twice in a row.
 * @size: of the data, in bytes: a power of two.
 * @flags: RING_OVERWRITE, RING_BACKWARD.
 * @watermark: in bytes, see ring_commit().
 * @pages: of @user, and then of @data, each of these twice.
 * @nr_pages: of @data, not counting any twice.
 * @order: of the chunks that these were got in.
 *
 * Writers on all CPUs, NMIs too:
 * @state: see above.
 * @full_at: the state, but for who was open, at which a reader was last woken because the ring is
 *	full.
 * @lost: records refused that the reader has not been told of.
 *
 * @asked: whoever publishes next is to have the reader woken.
 * @full: likewise, and even who has just published: somebody was refused.
 *
 * Of who writes records of losses:
 * @told: one was written without the record that was to follow it.
 *
 * The only open writer; the first is read by others:
 * @head: the last head that was published, as a position.
 * @woken: @head when ring_commit() last said true.
 */
struct ring {
	struct perf_event_mmap_page *user;
	void *data;
	u64 size;
	u64 watermark;
	struct page **pages;
	unsigned int nr_pages;
	unsigned int order;
	unsigned int flags;

	atomic64_t state ____cacheline_aligned;
	u64 head;
	u64 woken;
	u64 full_at;
	atomic64_t lost;
	bool asked;
	bool full;
	bool told;
};

/**
 * struct ring_handle - a writer, between reserve and commit
 * @ring: where to.
 * @to: where the next bytes go. All of the record is in one piece, so it may be written
 *	to directly as well.
 * @wake: of one who was refused: wake the reader. It waits for a watermark that does not
 *	come, since the ring is full. True once for each time that it fills up, at most: while
 *	others write, the last of them tells, by its commit.
 */
struct ring_handle {
	struct ring *ring;
	void *to;
	bool wake;
};

/**
 * ring_alloc() - make a ring
 * @nr_pages: of data: a power of two, at least 1.
 * @flags: RING_OVERWRITE, RING_BACKWARD.
 * @watermark: in bytes, see ring_commit(); 0 for a quarter of the data.
 *
 * Context: Process, may sleep.
 * Return: the ring, to be given to ring_free(); or NULL: there is no memory.
 */
struct ring *ring_alloc(unsigned int nr_pages, unsigned int flags, u64 watermark);

/**
 * ring_free() - free it
 * @ring: without writers; or NULL. Who has pages of it mapped keeps them as long.
 *
 * Context: Process, may sleep.
 */
void ring_free(struct ring *ring);

/* Page @n of it as it is mapped, the metadata page and then the data; NULL: there is none. */
struct page *ring_page(const struct ring *ring, unsigned long n);

/**
 * ring_map_around() - map to user space what is looked at, and pages around it
 * @ring: a ring that is mapped.
 * @vmf: of such a mapping, or a part of one, at a page that there is; with VM_MIXEDMAP.
 *
 * Takes no lock but a leaf and the kernel's of page tables: what is mapped stays until the mapping
 * has gone.
 *
 * Context: Process, in a page fault or on behalf of another process; mmap_lock held for reading.
 * Return: true; false: not all of them, so that it may be missing still, and can be mapped alone.
 */
bool ring_map_around(const struct ring *ring, struct vm_fault *vmf);

/**
 * ring_init() - set up a ring in memory that is there; for ring_alloc() and tests
 * @ring: is filled.
 * @user: the metadata page, zeroed.
 * @data: mapped twice in a row.
 * @size: of the data, in bytes: a power of two, at least 16.
 * @flags: as ring_alloc().
 * @watermark: as ring_alloc().
 *
 * Context: Any.
 */
void ring_init(struct ring *ring, struct perf_event_mmap_page *user, void *data,
	       u64 size, unsigned int flags, u64 watermark);

/* May the ring ever have room for so many bytes of records together? Context: NMI-safe. */
static inline bool ring_may_have(const struct ring *ring, u32 size)
{
	return size < ring->size;
}

/**
 * ring_reserve() - begin a record
 * @h: is filled; of one who is refused only @h->wake counts.
 * @ring: where to.
 * @size: in bytes: a multiple of 8, not 0.
 *
 * Context: NMI-safe. Preemption off from here to ring_commit(), which must follow.
 * Return: true; false if there is no room, the ring is paused, or the record is not
 * smaller than the ring.
 */
bool ring_reserve(struct ring_handle *h, struct ring *ring, u32 size);

/* When the record is published the reader is to be woken. Context: As ring_reserve(). */
static inline void ring_ask(struct ring_handle *h)
{
	WRITE_ONCE(h->ring->asked, true);
}

/**
 * ring_commit() - end a record, all of which has been written
 * @h: from ring_reserve().
 *
 * Context: NMI-safe.
 * Return: true if at least a watermark of bytes has been published since it last was, or one of
 * those who have has asked for it: wake the reader. Of several writers that are open at once the
 * last one tells.
 */
bool ring_commit(struct ring_handle *h);

/**
 * ring_pause() - refuse writers, or no more
 * @ring: a ring.
 * @pause: true: when this returns, all records are complete and published, and nothing
 *	changes until the ring goes on.
 *
 * Waits for writers that are open on other CPUs, a few hundred instructions.
 *
 * Context: Process, preemption on.
 */
void ring_pause(struct ring *ring, bool pause);

/* Is there anything for the reader? Of a ring that is overwritten: was there ever? NMI-safe */
bool ring_has_any(const struct ring *ring);

/**
 * ring_write() - the next bytes of a record
 * @h: from ring_reserve(); all writes together are of the size that was reserved.
 * @from: the bytes.
 * @size: how many.
 *
 * Context: As ring_reserve().
 */
static inline void ring_write(struct ring_handle *h, const void *from, u32 size)
{
	memcpy(h->to, from, size);
	h->to += size;
}

/* The same for 8 bytes, to be used where all that was written is a multiple of 8. */
static inline void ring_write_u64(struct ring_handle *h, u64 value)
{
	*(u64 *)h->to = value;
	h->to += sizeof(value);
}

/* @n records could not be written. NMI-safe */
static inline void ring_lost_add(struct ring *ring, u64 n)
{
	atomic64_add(n, &ring->lost);
}

/* How many has the reader not been told of? Who takes them tells it, or gives them
 * back with ring_lost_add(). NMI-safe
 */
static inline u64 ring_lost_take(struct ring *ring)
{
	return likely(!atomic64_read(&ring->lost)) ? 0 : atomic64_xchg(&ring->lost, 0);
}

#endif /* PMUCTL_RINGBUF_RING_H */
