// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of pages that user space maps to read counters. Process context only.
 */
#include <linux/gfp.h>

#include "compat/gfp.h"
#include "ringbuf/userpage.h"

bool userpage_alloc(struct userpage *up, bool counter, bool time)
{
	struct perf_event_mmap_page *page;

	page = (void *)get_zeroed_page(COMPAT_GFP_MAPPED);
	if (!page)
		return false;
	page->cap_bit0_is_deprecated = 1;
	page->cap_user_rdpmc = counter;
	page->cap_user_time = time;
	page->size = offsetof(struct perf_event_mmap_page, __reserved);
	up->page = page;
	up->lock = 0;
	return true;
}

void userpage_free(struct userpage *up)
{
	free_page((unsigned long)up->page);
	up->page = NULL;
}
