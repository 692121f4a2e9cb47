// SPDX-License-Identifier: GPL-2.0-only
#include "userpage.h"

#include <setjmp.h>

user_page *page_map(int fd)
{
	void *page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);

	cr_assert(page != MAP_FAILED, "mmap: %m");
	return page;
}

void page_unmap(user_page *page)
{
	cr_assert_eq(munmap(page, PAGE_BYTES), 0);
}

/* ---- Is the instruction allowed? ---- */

static sigjmp_buf fault_jump;

static void fault_handler(int signal)
{
	(void)signal;
	siglongjmp(fault_jump, 1);
}

bool counter_faults(void)
{
	struct sigaction act = { .sa_handler = fault_handler }, old;
	volatile bool faulted = true;

	sigaction(SIGSEGV, &act, &old);
	if (!sigsetjmp(fault_jump, 1)) {
		counter_read(0);
		faulted = false;
	}
	sigaction(SIGSEGV, &old, NULL);
	return faulted;
}
