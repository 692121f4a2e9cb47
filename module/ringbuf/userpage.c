// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of pages that user space maps to read counters. Process context only.
 */
#include <linux/gfp.h>

#include "compat/gfp.h"
#include "ringbuf/userpage.h"

bool userpage_alloc(struct userpage *up, bool counter)
{
	struct perf_event_mmap_page *page;

	page = (void *)get_zeroed_page(COMPAT_GFP_MAPPED);
	if (!page)
		return false;
	userpage_init(page);
	page->cap_user_rdpmc = counter;
	up->page = page;
	up->lock = 0;
	return true;
}

void userpage_free(struct userpage *up)
{
	free_page((unsigned long)up->page);
	up->page = NULL;
}
