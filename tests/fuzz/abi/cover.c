// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a call has reached of the module: the kernel's KCOV writes the place of each branch
 * that a task takes to memory. Two places one after the other are an edge.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run.h"

#define KCOV		"/sys/kernel/debug/kcov"
#define KCOV_INIT_TRACE	_IOR('c', 1, unsigned long)
#define KCOV_ENABLE	_IO('c', 100)
#define KCOV_TRACE_PC	0
#define PLACES		(64UL << 10)

static uint64_t *area[WHOS];

uint64_t cover_text(void)
{
	FILE *f = fopen("/sys/module/pmuctl/sections/.text", "re");
	unsigned long long text = 0;

	if (f) {
		if (fscanf(f, "%llx", &text) != 1)
			text = 0;
		fclose(f);
	}
	return text;
}

static bool map(enum who who)
{
	void *p = mmap(NULL, PLACES * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED,
		       FD_COVER + who, 0);

	area[who] = p == MAP_FAILED ? NULL : p;
	return area[who];
}

bool cover_open(void)
{
	enum who who;
	int fd;

	for (who = 0; who < WHOS; who++) {
		fd = open(KCOV, O_RDWR);
		if (fd < 0)
			return false;
		dup2(fd, FD_COVER + who);
		close(fd);
		if (ioctl(FD_COVER + who, KCOV_INIT_TRACE, PLACES) || !map(who))
			return false;
	}
	return true;
}

void cover_start(enum who who)
{
	if (!area[who] && !map(who))
		return;
	cover_reset(who);
	/* After an exec it is still on. */
	ioctl(FD_COVER + who, KCOV_ENABLE, KCOV_TRACE_PC);
}

void cover_reset(enum who who)
{
	if (area[who])
		__atomic_store_n(&area[who][0], 0, __ATOMIC_RELAXED);
}

static void is_there(struct runner *runner, uint32_t edge)
{
	uint32_t i;

	for (i = 0; i < runner->nr_track; i++)
		if (runner->track[i] == edge)
			runner->again[i] = true;
	if (shared->seen[edge])
		return;
	shared->seen[edge] = 1;
	__atomic_fetch_add(&shared->edges, 1, __ATOMIC_RELAXED);
	i = __atomic_fetch_add(&runner->nr_fresh, 1, __ATOMIC_RELAXED);
	if (i < FRESH_MAX)
		runner->fresh[i] = edge;
}

void cover_reach(struct runner *runner, uint32_t what)
{
	is_there(runner, what & (EDGES - 1));
}

void cover_collect(struct runner *runner, enum who who)
{
	uint64_t n, i, place, before = 0;

	if (!area[who])
		return;
	n = __atomic_load_n(&area[who][0], __ATOMIC_RELAXED);
	for (i = 1; i <= n && i < PLACES; i++) {
		place = (area[who][i] - shared->text) * 0x9e3779b97f4a7c15ULL >> 24;
		is_there(runner, (place ^ before) & (EDGES - 1));
		before = place >> 1;
	}
}
