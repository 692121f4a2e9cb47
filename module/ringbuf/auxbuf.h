/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The AUX buffer: memory that a tracing unit of the processor fills by itself, and user
 * space maps beside the ring of records. Here and in auxbuf.c is who may write which part
 * of it, which compiles in user space too; the memory is in auxbuf_mem.c. Layout and
 * reader's side are the aux_ fields of struct perf_event_mmap_page.
 *
 * There is one writer at a time: the event whose buffer it is, on the CPU where it runs. So
 * nothing here is atomic but what is shared with the reader.
 *
 *	auxbuf_begin()   which part is free?
 *	    the unit writes from @from on, and is stopped
 *	auxbuf_end()     so many bytes have been written: they are published
 *
 * Positions are bytes ever written; a position modulo the size is the place in memory.
 *
 * Full trace: the reader moves aux_tail, and what it has not read is not overwritten. The
 * tail is user space's to write. Nothing follows from a wrong one but a trace that is
 * stopped, or overwritten, for that reader.
 *
 * Snapshot (AUXBUF_OVERWRITE): there is no tail. All of it is free at any time, aux_head is
 * the place where the oldest bytes are, once it was full.
 *
 * Barriers: auxbuf_end() publishes the head by a release, after the bytes. The bytes come
 * from the processor's own stores to memory, so the driver must have ordered these before.
 * The tail is read by an acquire, before anything is overwritten.
 */
#ifndef PMUCTL_RINGBUF_AUXBUF_H
#define PMUCTL_RINGBUF_AUXBUF_H

#include <linux/perf_event.h>

#include "compat/pure.h"

struct page;
struct vm_area_struct;

/* Flag of an AUX buffer: the reader maps read-only and is never waited for */
#define AUXBUF_OVERWRITE	1

/**
 * struct auxbuf - an AUX buffer
 *
 * Constant after auxbuf_alloc():
 * @user: the metadata page of the ring beside it. User space may write to it.
 * @size: in bytes: a power of two.
 * @watermark: bytes after which the reader is woken.
 * @flags: AUXBUF_OVERWRITE.
 * @chunk_shift: the memory is in chunks of 2^this bytes, each in one piece.
 * @chunks: their first pages.
 *
 * The writer:
 * @head: the position that was last published.
 * @woken: where it was, in multiples of the watermark, when the reader was last woken.
 */
struct auxbuf {
	struct perf_event_mmap_page *user;
	u64 size;
	u64 watermark;
	unsigned int flags;
	unsigned int chunk_shift;
	struct page **chunks;

	u64 head;
	u64 woken;
};

/**
 * struct auxbuf_span - what may be written now
 * @from: the position where it begins.
 * @room: how many bytes, not 0.
 * @wake: the position at which the reader wants to be woken, after @from; all ones if it
 *	does not, since all may be overwritten.
 */
struct auxbuf_span {
	u64 from;
	u64 room;
	u64 wake;
};

/* Set it up, for auxbuf_alloc() and tests. @watermark 0 is half of it. */
void auxbuf_init(struct auxbuf *buf, struct perf_event_mmap_page *user, u64 size,
		 unsigned int flags, u64 watermark);

/**
 * auxbuf_begin() - begin to write
 * @buf: nobody writes to it.
 * @span: is filled.
 *
 * Context: NMI-safe; the writer.
 * Return: true; false if it is full.
 */
bool auxbuf_begin(const struct auxbuf *buf, struct auxbuf_span *span);

/**
 * auxbuf_end() - publish what was written
 * @buf: begun.
 * @bytes: how many since then; of a snapshot all that went round count too.
 *
 * Context: as auxbuf_begin().
 * Return: true if the reader is to be woken.
 */
bool auxbuf_end(struct auxbuf *buf, u64 bytes);

/**
 * auxbuf_alloc() - make an AUX buffer
 * @user: the metadata page of its ring, which outlives it.
 * @nr_pages: a power of two.
 * @flags: AUXBUF_OVERWRITE.
 * @watermark: in bytes; 0 is half of it.
 *
 * Context: Process, may sleep.
 * Return: to be given to auxbuf_free(), or NULL: there is no memory.
 */
struct auxbuf *auxbuf_alloc(struct perf_event_mmap_page *user,
			    unsigned long nr_pages, unsigned int flags,
			    u64 watermark);

/* Free it; nobody writes. Who has pages of it mapped keeps them as long. Process. */
void auxbuf_free(struct auxbuf *buf);

/* Page @n of it, which exists. Any context. */
struct page *auxbuf_page(const struct auxbuf *buf, unsigned long n);

/* Map all of it to user space, to a mapping of its size: 0, -ENOMEM. Process, in mmap(). */
int auxbuf_insert_pages(const struct auxbuf *buf, struct vm_area_struct *vma);

static inline unsigned int auxbuf_nr_chunks(const struct auxbuf *buf)
{
	return buf->size >> buf->chunk_shift;
}

#endif /* PMUCTL_RINGBUF_AUXBUF_H */
