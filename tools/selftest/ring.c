// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring of an event of either system: both have the layout of <linux/perf_event.h>.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "selftest.h"

/* A thousand samples and more */
#define RING_PAGES	16

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/**
 * ring_open() - give an event a ring and map it
 * @ring: the new ring.
 * @fd: the event.
 *
 * Return: 0 or a negative errno.
 */
int ring_open(struct ring *ring, int fd)
{
	void *at = mmap(NULL, (RING_PAGES + 1) * page_size(), PROT_READ | PROT_WRITE,
			MAP_SHARED, fd, 0);

	ring->tail = 0;
	ring->page = at == MAP_FAILED ? NULL : at;
	return ring->page ? 0 : -errno;
}

/**
 * ring_close() - unmap it
 * @ring: the ring, or one that could not be opened.
 */
void ring_close(struct ring *ring)
{
	if (ring->page)
		munmap(ring->page, (RING_PAGES + 1) * page_size());
	ring->page = NULL;
}

static void copy_out(const struct ring *ring, void *to, size_t n)
{
	const char *data = (const char *)ring->page + page_size();
	size_t size = RING_PAGES * page_size(), from = ring->tail & (size - 1);
	size_t first = n < size - from ? n : size - from;

	memcpy(to, data + from, first);
	memcpy((char *)to + first, data, n - first);
}

/**
 * ring_record() - the next record
 * @ring: the ring.
 * @room: where it is copied to, in front of it as much as fits.
 * @size: bytes there, at least those of a header.
 *
 * Return: the record; NULL if there is none.
 */
const struct perf_event_header *ring_record(struct ring *ring, void *room, size_t size)
{
	/* The head, then the records: pairs with the barrier of the kernel that writes them. */
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	struct perf_event_header *header = room;

	if (head - ring->tail < sizeof(*header))
		return NULL;
	copy_out(ring, header, sizeof(*header));
	if (header->size < sizeof(*header) || header->size > head - ring->tail)
		return NULL;
	copy_out(ring, room, header->size < size ? header->size : size);
	ring->tail += header->size;
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
	return header;
}
