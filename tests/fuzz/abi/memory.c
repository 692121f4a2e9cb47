// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "call.h"
#include "memory.h"

#define PAGE	4096UL
#define WINDOW	(1UL << 30)
#define FIRST	(1UL << 44)

/* Pages that root, whom nothing limits, may map at a time */
#define ROOT_PAGES	4097

static bool used[MAPS];
static __thread sigjmp_buf *caught;

static char *window(int64_t map)
{
	return (char *)(FIRST + ((uint64_t)map % MAPS) * WINDOW);
}

static size_t length(int64_t pages, uint64_t most)
{
	return ((uint64_t)pages > most ? most : (uint64_t)pages) * PAGE;
}

/* ---- Accesses that may fault ---- */

static void on_fault(int signal)
{
	(void)signal;
	if (caught)
		siglongjmp(*caught, 1);
	_Exit(9);
}

void memory_init(void)
{
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

/* Call @func; -EFAULT if it accesses what it cannot. */
static int64_t guarded(int64_t (*func)(char *at, const int64_t *arg), char *at,
		       const int64_t *arg)
{
	sigjmp_buf jump;
	int64_t ret = -EFAULT;

	if (!sigsetjmp(jump, 1)) {
		caught = &jump;
		ret = func(at, arg);
	}
	caught = NULL;
	return ret;
}

/* ---- The calls ---- */

static int64_t set_aux(char *at, const int64_t *arg)
{
	struct perf_event_mmap_page *page = (void *)at;

	page->aux_offset = page->data_offset + page->data_size;
	page->aux_size = (uint64_t)arg[MMAP_PAGES] * PAGE;
	return page->aux_offset;
}

int64_t memory_map(const int64_t *arg, int fd, bool root)
{
	size_t size = length(arg[MMAP_PAGES], root ? ROOT_PAGES : WINDOW / PAGE);
	int64_t offset = arg[MMAP_OFFSET] * PAGE;
	void *p;

	/* The ring that tells where the AUX area is to be: that of the map before this one */
	if (arg[MMAP_AREA] == AREA_AUX) {
		offset = guarded(set_aux, window(arg[MMAP_MAP] + MAPS - 1), arg);
		if (offset < 0)
			return offset;
	}
	p = mmap(window(arg[MMAP_MAP]), size, arg[MMAP_PROT], arg[MMAP_FLAGS] | MAP_FIXED, fd,
		 offset);
	if (p == MAP_FAILED)
		return -errno;
	used[(uint64_t)arg[MMAP_MAP] % MAPS] = true;
	return 0;
}

int64_t memory_unmap(const int64_t *arg)
{
	size_t from = length(arg[MUNMAP_FROM], WINDOW / PAGE - 1);
	size_t size = arg[MUNMAP_PAGES] ? length(arg[MUNMAP_PAGES], WINDOW / PAGE) : WINDOW;

	if (size > WINDOW - from)
		size = WINDOW - from;
	return munmap(window(arg[MUNMAP_MAP]) + from, size) ? -errno : 0;
}

int64_t memory_move(const int64_t *arg)
{
	size_t size = length(arg[MREMAP_PAGES] ? arg[MREMAP_PAGES] : 3, WINDOW / PAGE);
	void *p;

	if ((uint64_t)arg[MREMAP_MAP] % MAPS == (uint64_t)arg[MREMAP_TO] % MAPS)
		p = mremap(window(arg[MREMAP_MAP]), 3 * PAGE, size, 0);
	else
		p = mremap(window(arg[MREMAP_MAP]), size, size,
			   MREMAP_MAYMOVE | MREMAP_FIXED, window(arg[MREMAP_TO]));
	if (p == MAP_FAILED)
		return -errno;
	used[(uint64_t)arg[MREMAP_TO] % MAPS] = true;
	return 0;
}

static int64_t change_ring(char *at, const int64_t *arg)
{
	struct perf_event_mmap_page *page = (void *)at;
	uint64_t value = arg[RING_VALUE];

	switch (arg[RING_WHAT]) {
	case RING_CONSUME:
		page->data_tail = page->data_head;
		return 0;
	case RING_GARBAGE:
		if (value & 1)
			page->data_tail += value;
		else
			memset(at, (int)value, 1088);
		return 0;
	case RING_AUX_CONSUME:
		page->aux_tail = page->aux_head;
		return 0;
	case RING_AUX_GARBAGE:
		page->aux_tail = page->aux_head - value;
		page->aux_offset = value;
		page->aux_size = value;
		return 0;
	case RING_PROTECT:
		return mprotect(at, 3 * PAGE, value & 1 ? PROT_READ : PROT_READ | PROT_WRITE) ?
			-errno : 0;
	}
	return -EINVAL;
}

int64_t memory_ring(const int64_t *arg)
{
	return guarded(change_ring, window(arg[RING_MAP]), arg);
}

char *memory_scratch(void)
{
	char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_Exit(9);
	mprotect(p + PAGE, PAGE, PROT_NONE);
	mprotect(p + 2 * PAGE, PAGE, PROT_READ);
	return p;
}

void memory_clean(void)
{
	int i;

	for (i = 0; i < MAPS; i++) {
		if (used[i])
			munmap(window(i), WINDOW);
		used[i] = false;
	}
}
