// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader's side of a buffer of trace.
 *
 * In a stream aux_head and aux_tail are as data_head and data_tail of a ring, with the same
 * barriers (ring.c). In a snapshot aux_head is a place in the buffer; how much was written
 * in all, the event's value tells, and so how much of the buffer is new.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pmuctl_trace.h>

#include "event.h"
#include "internal.h"
#include "ring.h"

/**
 * struct pmuctl_trace - a mapped buffer
 * @ring: of the same event.
 * @data: the bytes.
 * @size: how many.
 * @is_snapshot: it is written over and over.
 * @position: of the first byte of the last pieces.
 * @taken: bytes of the whole trace that a snapshot has given, or was too late for.
 */
struct pmuctl_trace {
	struct pmuctl_ring *ring;
	unsigned char *data;
	size_t size;
	bool is_snapshot;
	uint64_t position;
	uint64_t taken;
};

PMUCTL_API int pmuctl_trace_open(struct pmuctl_ring *ring, size_t pages, int snapshot,
				 struct pmuctl_trace **trace)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	struct pmuctl_trace *new;
	uint64_t offset;
	void *memory;

	if (!ring || !trace || !pages || (pages & (pages - 1)) || pages >= SIZE_MAX / page_size)
		return -EINVAL;
	*trace = NULL;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	offset = (uint64_t)(ring->data - (unsigned char *)ring->page) + ring->size;
	ring->page->aux_offset = offset;
	ring->page->aux_size = pages * page_size;
	memory = mmap(NULL, pages * page_size, PROT_READ | (snapshot ? 0 : PROT_WRITE),
		      MAP_SHARED, ring->event->fd, (off_t)offset);
	if (memory == MAP_FAILED) {
		int error = errno;

		free(new);
		return -error;
	}
	new->ring = ring;
	new->data = memory;
	new->size = pages * page_size;
	new->is_snapshot = snapshot;
	*trace = new;
	return 0;
}

PMUCTL_API void pmuctl_trace_close(struct pmuctl_trace *trace)
{
	if (!trace)
		return;
	munmap(trace->data, trace->size);
	free(trace);
}

PMUCTL_API int pmuctl_trace_pieces(struct pmuctl_trace *trace, struct iovec pieces[2])
{
	const struct perf_event_mmap_page *page = trace->ring->page;
	uint64_t head = __atomic_load_n(&page->aux_head, __ATOMIC_ACQUIRE);

	if (trace->is_snapshot)
		return 0;
	trace->position = page->aux_tail;
	return pmuctl_ring_split(trace->data, trace->size, trace->position,
				 (size_t)(head - trace->position), pieces);
}

PMUCTL_API int pmuctl_trace_snapshot(struct pmuctl_trace *trace, struct iovec pieces[2])
{
	struct pmuctl_reading reading;
	uint64_t head, fresh;
	int ret;

	if (!trace->is_snapshot)
		return -EINVAL;
	ret = pmuctl_event_read(trace->ring->event, &reading);
	if (ret < 0)
		return ret;
	head = __atomic_load_n(&trace->ring->page->aux_head, __ATOMIC_ACQUIRE);
	fresh = reading.value - trace->taken;
	if (fresh > trace->size)
		fresh = trace->size;
	trace->taken = reading.value;
	trace->position = reading.value - fresh;
	return pmuctl_ring_split(trace->data, trace->size, head - fresh, (size_t)fresh, pieces);
}

PMUCTL_API uint64_t pmuctl_trace_position(const struct pmuctl_trace *trace)
{
	return trace->position;
}

PMUCTL_API void pmuctl_trace_consume(struct pmuctl_trace *trace, size_t bytes)
{
	struct perf_event_mmap_page *page = trace->ring->page;

	if (trace->is_snapshot)
		return;
	__atomic_store_n(&page->aux_tail, page->aux_tail + bytes, __ATOMIC_RELEASE);
}
