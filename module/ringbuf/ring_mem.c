// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of sample rings: chunks, as large as they can be had up to ORDER_MAX, for one
 * allocation is cheaper than many. The data are mapped twice in a row for the kernel. To user
 * space they are mapped when they are looked at. Before that a chunk is split: each page is one of
 * its own then, and one that somebody keeps, who has given it to a pipe perhaps, can outlive the
 * ring, and keeps no others. What nobody looks at is freed as it was got. Process context only.
 */
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "compat/gfp.h"
#include "ringbuf/ring.h"
#include "ringbuf/userpage.h"

#define RING_GFP	(COMPAT_GFP_MAPPED | __GFP_ZERO | __GFP_NOWARN)
/* 256 KiB: beyond that, allocating is little of what zeroing costs. */
#define ORDER_MAX	6
/* Pages of data that are mapped at the first look at one of them: some chunks */
#define MAP_AROUND	BIT(ORDER_MAX)

/* Of all rings: held for one look, of some hundred instructions to some thousand. A leaf */
static DEFINE_SPINLOCK(split_lock);

/*
 * The page after its first one tells of a chunk: it has no reference of its own until the chunk is
 * split, and then the ring's, as long as there is the ring.
 */
static bool is_split(struct page **chunk, unsigned int order)
{
	return !order || page_count(chunk[1]);
}

/* From ring->pages[from] up to the one before [to] */
static void split_chunks(const struct ring *ring, unsigned long from, unsigned long to)
{
	unsigned long i;

	spin_lock(&split_lock);
	for (i = from; i < to; i += 1UL << ring->order)
		if (!is_split(ring->pages + i, ring->order))
			split_page(ring->pages[i], ring->order);
	spin_unlock(&split_lock);
}

static void free_chunks(struct page **pages, unsigned int n, unsigned int order)
{
	unsigned int i;

	for (i = 0; i < n; i += 1U << order) {
		if (is_split(pages + i, order))
			release_pages(pages + i, 1 << order); /* faster than one by one */
		else
			__free_pages(pages[i], order);
		cond_resched();
	}
}

/* Fill @pages from chunks of one order, and each page twice: as it is to be mapped. */
static bool alloc_chunks(struct page **pages, unsigned int n, unsigned int order)
{
	gfp_t how = order ? __GFP_NORETRY : __GFP_RETRY_MAYFAIL;
	unsigned int i, k;

	for (i = 0; i < n; i += 1U << order) {
		struct page *chunk = alloc_pages(RING_GFP | how, order);

		if (!chunk) {
			free_chunks(pages, i, order);
			return false;
		}
		for (k = i; k < i + (1U << order); k++) {
			pages[k] = chunk + (k - i);
			pages[n + k] = pages[k];
		}
	}
	return true;
}

/* The metadata page, and @n of data, in chunks of @order */
static struct page **alloc_pages_of(unsigned int n, unsigned int *order)
{
	struct page **pages;
	int o;

	pages = kvmalloc_array(2 * (size_t)n + 1, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return NULL;
	pages[0] = alloc_page(COMPAT_GFP_MAPPED | __GFP_ZERO);
	for (o = min_t(int, ilog2(n), ORDER_MAX); pages[0] && o >= 0; o--) {
		*order = o;
		if (alloc_chunks(pages + 1, n, o))
			return pages;
	}
	if (pages[0])
		__free_page(pages[0]);
	kvfree(pages);
	return NULL;
}

static void free_pages_of(struct page **pages, unsigned int n, unsigned int order)
{
	free_chunks(pages + 1, n, order);
	__free_page(pages[0]);
	kvfree(pages);
}

struct ring *ring_alloc(unsigned int nr_pages, unsigned int flags, u64 watermark)
{
	struct perf_event_mmap_page *user;
	struct page **pages;
	unsigned int order;
	struct ring *ring;
	void *data;

	might_sleep();
	if (!is_power_of_2(nr_pages) || nr_pages > INT_MAX / 2 + 1U)
		return NULL;
	ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	if (!ring)
		return NULL;
	pages = alloc_pages_of(nr_pages, &order);
	if (!pages)
		goto err_free_ring;
	user = page_address(pages[0]);
	data = vmap(pages + 1, 2 * nr_pages, VM_MAP, PAGE_KERNEL);
	if (!data)
		goto err_free_pages;

	ring_init(ring, user, data, (u64)nr_pages << PAGE_SHIFT, flags, watermark);
	ring->pages = pages;
	ring->nr_pages = nr_pages;
	ring->order = order;
	userpage_init(user);
	user->data_offset = PAGE_SIZE;
	return ring;

err_free_pages:
	free_pages_of(pages, nr_pages, order);
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
	free_pages_of(ring->pages, ring->nr_pages, ring->order);
	kfree(ring);
}

struct page *ring_page(const struct ring *ring, unsigned long n)
{
	return n <= ring->nr_pages ? ring->pages[n] : NULL;
}

/* Somebody else may be at it, or has been, for some of these pages. */
bool ring_map_around(const struct ring *ring, struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long from = 1, to, left;

	if (vmf->pgoff)
		from += round_down(vmf->pgoff - 1, MAP_AROUND);
	to = min(from + MAP_AROUND, ring->nr_pages + 1UL);
	split_chunks(ring, from, to);

	/* Who looks at the metadata page or at the first ones of data wants both. */
	from = max(from == 1 ? 0 : from, vma->vm_pgoff);
	left = min(to, vma->vm_pgoff + vma_pages(vma)) - from;
	return !vm_insert_pages(vma, vma->vm_start + ((from - vma->vm_pgoff) << PAGE_SHIFT),
				ring->pages + from, &left);
}
