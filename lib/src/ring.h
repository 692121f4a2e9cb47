/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a ring handle, for ring.c and its tests, which bring memory of their own
 * in place of a mapped one.
 */
#ifndef PMUCTL_LIB_RING_H
#define PMUCTL_LIB_RING_H

#include <stdbool.h>
#include <sys/uio.h>

#include <pmuctl_ring.h>

/**
 * struct pmuctl_ring - a mapped ring, seen by its reader
 *
 * Constant after open:
 * @event: whose ring it is.
 * @page: the page of data about it; the records follow at the next one.
 * @data: the records.
 * @size: bytes there, a power of two.
 * @is_snapshot: it is written backward, and never waits for its reader.
 *
 * Of the reader. Positions are as data_head and data_tail: they only grow, and modulo
 * @size they are offsets into @data.
 * @at: of the next record.
 * @end: there are records up to here, as far as is known.
 * @consumed: what is before has been given back.
 * @frozen: a snapshot may be read.
 * @copy: room for a record that wraps around the end of the data.
 */
struct pmuctl_ring {
	struct pmuctl_event *event;
	struct perf_event_mmap_page *page;
	unsigned char *data;
	size_t size;
	bool is_snapshot;

	uint64_t at;
	uint64_t end;
	uint64_t consumed;
	bool frozen;
	unsigned char copy[UINT16_MAX + 1] __attribute__((aligned(8)));
};

/* @length bytes from the place @at of a buffer on, which may wrap around its end: the pieces */
static inline int pmuctl_ring_split(unsigned char *data, size_t size, uint64_t at, size_t length,
				    struct iovec pieces[2])
{
	size_t offset = (size_t)(at & (size - 1)), first = size - offset;

	if (!length)
		return 0;
	pieces[0].iov_base = data + offset;
	pieces[0].iov_len = length < first ? length : first;
	if (length <= first)
		return 1;
	pieces[1].iov_base = data;
	pieces[1].iov_len = length - first;
	return 2;
}

void pmuctl_ring_init(struct pmuctl_ring *ring, void *memory, size_t page_size,
		      size_t data_size, bool is_snapshot);
void pmuctl_ring_rewind(struct pmuctl_ring *ring);

#endif /* PMUCTL_LIB_RING_H */
