// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader's side of a ring of records.
 *
 * The kernel writes records, then data_head; the reader reads data_head, then records,
 * then writes data_tail; the kernel reads data_tail before it writes over what was read.
 * Each side has a barrier between its two steps:
 *
 *	kernel				reader
 *	store records			[R1] load data_head, acquire
 *	store data_head, release   ->	load records
 *
 *	load data_tail		   <-	load records
 *	(a branch on it)		[R2] store data_tail, release
 *	store records
 *
 * [R1] pairs with the release of data_head: the reader sees whole records up to it. [R2]
 * pairs with the branch between the load of data_tail and the stores of the records,
 * which depend on it: nothing is overwritten that is still being read.
 *
 * A snapshot is written from its end to its start: data_head is the place of the newest
 * record and goes down from 0. Nobody waits for its reader, so it is read only while its
 * output is paused.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "event.h"
#include "internal.h"
#include "ring.h"

/**
 * pmuctl_ring_init() - make a handle for memory that is there
 * @ring: filled.
 * @memory: the page about the ring, then the data.
 * @page_size: bytes of that page.
 * @data_size: bytes of the data, a power of two.
 * @is_snapshot: it is written backward.
 */
void pmuctl_ring_init(struct pmuctl_ring *ring, void *memory, size_t page_size,
		      size_t data_size, bool is_snapshot)
{
	memset(ring, 0, offsetof(struct pmuctl_ring, copy));
	ring->page = memory;
	ring->data = (unsigned char *)memory + page_size;
	ring->size = data_size;
	ring->is_snapshot = is_snapshot;
}

PMUCTL_API int pmuctl_ring_open(struct pmuctl_event *event, size_t pages,
				struct pmuctl_ring **ring)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	struct pmuctl_ring *new;
	int protection, error;
	void *memory;

	if (!ring || !event || !pages || (pages & (pages - 1)) ||
	    pages >= SIZE_MAX / page_size)
		return -EINVAL;
	*ring = NULL;
	new = malloc(sizeof(*new));
	if (!new)
		return -ENOMEM;
	protection = PROT_READ | (event->is_backward ? 0 : PROT_WRITE);
	memory = mmap(NULL, (pages + 1) * page_size, protection, MAP_SHARED,
		      event->fd, 0);
	if (memory == MAP_FAILED) {
		error = errno;
		free(new);
		return -error;
	}
	pmuctl_ring_init(new, memory, page_size, pages * page_size,
			 event->is_backward);
	new->event = event;
	*ring = new;
	return 0;
}

PMUCTL_API void pmuctl_ring_close(struct pmuctl_ring *ring)
{
	if (!ring)
		return;
	munmap(ring->page, (size_t)(ring->data - (unsigned char *)ring->page) +
	       ring->size);
	free(ring);
}

PMUCTL_API const struct perf_event_mmap_page *
pmuctl_ring_page(const struct pmuctl_ring *ring)
{
	return ring->page;
}

static uint64_t head_load(const struct pmuctl_ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE); /* R1 */
}

/* In one piece: as it is, or a copy if it wraps. */
static const struct perf_event_header *record_whole(struct pmuctl_ring *ring,
						    size_t size)
{
	size_t offset = (size_t)(ring->at & (ring->size - 1));
	size_t first = ring->size - offset;

	if (size <= first)
		return (const void *)(ring->data + offset);
	memcpy(ring->copy, ring->data + offset, first);
	memcpy(ring->copy + first, ring->data, size - first);
	return (const void *)ring->copy;
}

PMUCTL_API int pmuctl_ring_next(struct pmuctl_ring *ring,
				const struct perf_event_header **record)
{
	const struct perf_event_header *header;
	size_t size;

	if (ring->is_snapshot && !ring->frozen)
		return -EBUSY;
	if (ring->at == ring->end && !ring->is_snapshot)
		ring->end = head_load(ring);
	if (ring->at == ring->end)
		return 0;
	/* Records are multiples of 8 bytes, so that a header never wraps. */
	header = (const void *)(ring->data + (ring->at & (ring->size - 1)));
	size = header->size;
	if (ring->is_snapshot && size > ring->end - ring->at) {
		ring->at = ring->end;	/* the oldest, half overwritten */
		return 0;
	}
	if (size < sizeof(*header) || size % 8 || size > ring->end - ring->at ||
	    size > ring->size) {
		ring->at = ring->end;
		return -EBADMSG;
	}
	*record = record_whole(ring, size);
	ring->at += size;
	return 1;
}

PMUCTL_API int pmuctl_ring_pieces(const struct pmuctl_ring *ring,
				  struct iovec pieces[2])
{
	if (ring->is_snapshot)
		return 0;
	return pmuctl_ring_split(ring->data, ring->size, ring->consumed,
				 (size_t)(ring->at - ring->consumed), pieces);
}

PMUCTL_API void pmuctl_ring_consume(struct pmuctl_ring *ring)
{
	if (ring->is_snapshot)
		return;
	ring->consumed = ring->at;
	__atomic_store_n(&ring->page->data_tail, ring->at, __ATOMIC_RELEASE); /* R2 */
}

PMUCTL_API int pmuctl_ring_wait(struct pmuctl_ring *ring, int timeout)
{
	struct pollfd poller = { .fd = ring->event->fd, .events = POLLIN };
	int ret = poll(&poller, 1, timeout);

	if (ret < 0)
		return -errno;
	if (ret && (poller.revents & (POLLHUP | POLLERR)) &&
	    !(poller.revents & POLLIN) && head_load(ring) == ring->at)
		return -ESRCH;
	return ret;
}

/* ---------------------------------------------------------------- snapshots */

/**
 * pmuctl_ring_rewind() - start to read a snapshot from its newest record
 * @ring: a snapshot; nobody writes to it.
 */
void pmuctl_ring_rewind(struct pmuctl_ring *ring)
{
	uint64_t head = head_load(ring), written = 0 - head;

	ring->at = head;
	ring->end = head + (written < ring->size ? written : ring->size);
}

PMUCTL_API int pmuctl_ring_freeze(struct pmuctl_ring *ring)
{
	int ret;

	if (!ring->is_snapshot)
		return -EINVAL;
	ret = pmuctl_event_pause_output(ring->event, 1);
	if (ret < 0)
		return ret;
	pmuctl_ring_rewind(ring);
	ring->frozen = true;
	return 0;
}

PMUCTL_API int pmuctl_ring_thaw(struct pmuctl_ring *ring)
{
	if (!ring->is_snapshot)
		return -EINVAL;
	ring->frozen = false;
	return pmuctl_event_pause_output(ring->event, 0);
}
