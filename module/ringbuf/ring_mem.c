// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of sample rings: chunks, as large as they can be had up to ORDER_MAX, for one
 * allocation is cheaper than many. Then each page is one of its own: one that somebody keeps,
 * who has given it to a pipe perhaps, can outlive the ring, and keeps no others. The data are
 * mapped twice in a row for the kernel. Process context only.
 */
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat/gfp.h"
#include "ringbuf/ring.h"
#include "ringbuf/userpage.h"

#define RING_GFP	(COMPAT_GFP_MAPPED | __GFP_ZERO | __GFP_NOWARN)
/* 256 KiB: beyond that, allocating is little of what zeroing costs. */
#define ORDER_MAX	6

static void free_pages_of(struct page **pages, unsigned int n)
{
	while (n--)
		__free_page(pages[n]);
}

/* Fill @pages from chunks of one order, and each page twice: as it is to be mapped. */
static bool alloc_chunks(struct page **pages, unsigned int n, unsigned int order)
{
	gfp_t how = order ? __GFP_NORETRY : __GFP_RETRY_MAYFAIL;
	unsigned int i, k;

	for (i = 0; i < n; i += 1U << order) {
		struct page *chunk = alloc_pages(RING_GFP | how, order);

		if (!chunk) {
			free_pages_of(pages, i);
			return false;
		}
		if (order)
			split_page(chunk, order);
		for (k = i; k < i + (1U << order); k++) {
			pages[k] = chunk + (k - i);
			pages[n + k] = pages[k];
		}
	}
	return true;
}

static struct page **alloc_pages_of(unsigned int n)
{
	struct page **pages;
	int o;

	pages = kvmalloc_array(n, 2 * sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return NULL;
	for (o = min_t(int, ilog2(n), ORDER_MAX); o >= 0; o--)
		if (alloc_chunks(pages, n, o))
			return pages;
	kvfree(pages);
	return NULL;
}

struct ring *ring_alloc(unsigned int nr_pages, unsigned int flags, u64 watermark)
{
	struct perf_event_mmap_page *user;
	struct page **pages;
	struct ring *ring;
	void *data;

	might_sleep();
	if (!is_power_of_2(nr_pages) || nr_pages > INT_MAX / 2 + 1U)
		return NULL;
	ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	if (!ring)
		return NULL;
	user = (void *)__get_free_page(COMPAT_GFP_MAPPED | __GFP_ZERO);
	if (!user)
		goto err_free_ring;
	pages = alloc_pages_of(nr_pages);
	if (!pages)
		goto err_free_user;
	data = vmap(pages, 2 * nr_pages, VM_MAP, PAGE_KERNEL);
	if (!data)
		goto err_free_pages;

	ring_init(ring, user, data, (u64)nr_pages << PAGE_SHIFT, flags, watermark);
	ring->pages = pages;
	ring->nr_pages = nr_pages;
	userpage_init(user);
	user->data_offset = PAGE_SIZE;
	return ring;

err_free_pages:
	free_pages_of(pages, nr_pages);
	kvfree(pages);
err_free_user:
	free_page((unsigned long)user);
err_free_ring:
	kfree(ring);
	return NULL;
}

void ring_free(struct ring *ring)
{
	might_sleep();
	if (!ring)
		return;
	vunmap(ring->data);
	free_pages_of(ring->pages, ring->nr_pages);
	kvfree(ring->pages);
	free_page((unsigned long)ring->user);
	kfree(ring);
}

int ring_insert_pages(const struct ring *ring, struct vm_area_struct *vma)
{
	unsigned long n = ring->nr_pages;

	return vm_insert_page(vma, vma->vm_start, virt_to_page(ring->user)) ?:
	       vm_insert_pages(vma, vma->vm_start + PAGE_SIZE, ring->pages, &n);
}
