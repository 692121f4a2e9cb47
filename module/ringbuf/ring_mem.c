// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of sample rings. Each page is an allocation of its own, so that it can be
 * mapped to user space and outlive the ring there; the data are mapped twice in a row for
 * the kernel. Process context only.
 */
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ringbuf/ring.h"

#define RING_GFP	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

static void free_pages_of(struct page **pages, unsigned int n)
{
	while (n--)
		__free_page(pages[n]);
	kvfree(pages);
}

/* All pages, each of them twice: in the array, and in memory if that is mapped. */
static struct page **alloc_pages_of(unsigned int n)
{
	struct page **pages;
	unsigned int i;

	pages = kvmalloc_array(n, 2 * sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return NULL;
	for (i = 0; i < n; i++) {
		pages[i] = alloc_page(RING_GFP);
		if (!pages[i]) {
			free_pages_of(pages, i);
			return NULL;
		}
		pages[n + i] = pages[i];
	}
	return pages;
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
	user = (void *)__get_free_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
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
	user->data_offset = PAGE_SIZE;
	return ring;

err_free_pages:
	free_pages_of(pages, nr_pages);
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
	free_page((unsigned long)ring->user);
	kfree(ring);
}

struct page *ring_page(const struct ring *ring, unsigned long n)
{
	if (n > ring->nr_pages)
		return NULL;
	return n ? ring->pages[n - 1] : virt_to_page(ring->user);
}
