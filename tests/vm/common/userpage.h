/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of reading counters in user space: the page of an event, and the
 * protocol to read it, written down once more, as <linux/perf_event.h> has it.
 */
#ifndef VM_USERPAGE_H
#define VM_USERPAGE_H

#include "groups.h"

#include <sys/mman.h>

#define PAGE_BYTES	4096

typedef struct perf_event_mmap_page user_page;

user_page *page_map(int fd);
void page_unmap(user_page *page);

static inline uint64_t counter_read(uint32_t number)
{
	uint32_t low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (number));
	return low | (uint64_t)high << 32;
}

/**
 * struct user_read - one read by the protocol
 * @value: what the event has counted.
 * @index: 0 if it had no counter.
 * @retries: how often the page changed meanwhile.
 */
struct user_read {
	uint64_t value;
	uint32_t index;
	unsigned int retries;
};

static inline struct user_read page_read(const volatile user_page *page)
{
	struct user_read r = { .retries = -1 };
	uint32_t lock;
	int64_t pmc;

	do {
		r.retries++;
		lock = page->lock;
		asm volatile("" : : : "memory");
		r.index = page->index;
		r.value = page->offset;
		if (page->cap_user_rdpmc && r.index) {
			unsigned int unused = 64 - page->pmc_width;

			pmc = counter_read(r.index - 1) << unused;
			r.value += pmc >> unused;
		}
		asm volatile("" : : : "memory");
	} while (page->lock != lock || lock & 1);
	return r;
}

/* Instructions from one read to the next with a loop between; without a retry */
static inline uint64_t around_loop(const user_page *page, uint64_t n)
{
	unsigned int tries = 100;
	struct user_read a, b;

	do {
		a = page_read(page);
		user_loop(n);
		b = page_read(page);
	} while ((b.retries || !a.index || !b.index) && --tries);
	cr_assert(tries, "never undisturbed");
	return b.value - a.value;
}

/* ---- Is the instruction allowed? ---- */

/* Does reading a counter end in SIGSEGV? One thread of a process at a time. */
bool counter_faults(void);

#endif /* VM_USERPAGE_H */
