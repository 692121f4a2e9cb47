// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of AUX buffers: chunks, each in one piece, as large as they can be had, for
 * a tracing unit knows physical addresses only. Each is split into its pages, so that who
 * keeps one of them, in a pipe, keeps no more than that. Process context only.
 */
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat/gfp.h"
#include "ringbuf/auxbuf.h"

#define AUX_GFP	(COMPAT_GFP_MAPPED | __GFP_ZERO | __GFP_NOWARN)
/* A trace is stopped at the end of a chunk: fewer of them would leave too much unused. */
#define CHUNKS_MIN	16
/* 4 MiB, the most that the page allocator gives */
#define ORDER_MAX	10

static void free_chunks(struct auxbuf *buf, unsigned int nr)
{
	unsigned int i, pages = 1U << (buf->chunk_shift - PAGE_SHIFT);

	while (nr--)
		for (i = 0; i < pages; i++)
			__free_page(buf->chunks[nr] + i);
	kvfree(buf->chunks);
	buf->chunks = NULL;
}

/* All chunks of one order */
static bool alloc_chunks(struct auxbuf *buf, unsigned int order)
{
	gfp_t how = order ? __GFP_NORETRY : __GFP_RETRY_MAYFAIL;
	unsigned int i, nr;

	buf->chunk_shift = PAGE_SHIFT + order;
	nr = auxbuf_nr_chunks(buf);
	buf->chunks = kvcalloc(nr, sizeof(*buf->chunks), GFP_KERNEL_ACCOUNT);
	if (!buf->chunks)
		return false;
	for (i = 0; i < nr; i++) {
		buf->chunks[i] = alloc_pages(AUX_GFP | how, order);
		if (!buf->chunks[i]) {
			free_chunks(buf, i);
			return false;
		}
		if (order)
			split_page(buf->chunks[i], order);
	}
	return true;
}

struct auxbuf *auxbuf_alloc(struct perf_event_mmap_page *user,
			    unsigned long nr_pages, unsigned int flags,
			    u64 watermark)
{
	int order = min_t(int, ilog2(nr_pages) - ilog2(CHUNKS_MIN), ORDER_MAX);
	struct auxbuf *buf;

	might_sleep();
	if (!is_power_of_2(nr_pages) || nr_pages > INT_MAX)
		return NULL;
	buf = kzalloc(sizeof(*buf), GFP_KERNEL_ACCOUNT);
	if (!buf)
		return NULL;
	auxbuf_init(buf, user, (u64)nr_pages << PAGE_SHIFT, flags, watermark);
	for (order = max(order, 0); order >= 0; order--)
		if (alloc_chunks(buf, order))
			return buf;
	kfree(buf);
	return NULL;
}

void auxbuf_free(struct auxbuf *buf)
{
	might_sleep();
	if (!buf)
		return;
	free_chunks(buf, auxbuf_nr_chunks(buf));
	kfree(buf);
}

struct page *auxbuf_page(const struct auxbuf *buf, unsigned long n)
{
	unsigned int order = buf->chunk_shift - PAGE_SHIFT;

	return buf->chunks[n >> order] + (n & ((1UL << order) - 1));
}

/* Pages that are mapped at a time */
#define INSERT_AT_ONCE	32

int auxbuf_insert_pages(const struct auxbuf *buf, struct vm_area_struct *vma)
{
	struct page *pages[INSERT_AT_ONCE];
	unsigned long nr = buf->size >> PAGE_SHIFT, i, n;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		pages[i % INSERT_AT_ONCE] = auxbuf_page(buf, i);
		n = i % INSERT_AT_ONCE + 1;
		if (n < INSERT_AT_ONCE && i + 1 < nr)
			continue;
		err = vm_insert_pages(vma, vma->vm_start + ((i + 1 - n) << PAGE_SHIFT), pages, &n);
	}
	return err;
}
