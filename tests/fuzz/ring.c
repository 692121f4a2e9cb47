// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing the sample ring (libFuzzer): writers nested and in any order of commit, tails of
 * garbage, pauses, positions anywhere, against a plain account of what must come out of it.
 * "make fuzz" builds and runs it.
 */
#define _GNU_SOURCE
#include "unit/ring_space.h"

#define SIZE		4096
#define OPEN_MAX	8

struct play {
	struct space sp;
	struct ring_handle open[OPEN_MAX];
	unsigned int n_open;
	u64 position;		/* what has been reserved */
	u64 published;
	u64 woken;
	bool paused;
	bool mad;		/* the tail is garbage */
};

#define must(condition)							\
	do {								\
		if (!(condition)) {					\
			fprintf(stderr, "not so: %s\n", #condition);	\
			abort();					\
		}							\
	} while (0)

static void reserve(struct play *g, u32 size)
{
	struct ring *ring = &g->sp.ring;
	bool overwrites = ring->flags & RING_OVERWRITE;
	u64 tail = space_head_of(&g->sp, g->sp.user->data_tail);
	u64 used = g->position - (overwrites ? g->published : tail);
	struct ring_handle *h = &g->open[g->n_open];
	bool got;

	if (g->n_open == OPEN_MAX)
		return;
	got = ring_reserve(h, ring, size);
	if (overwrites || !g->mad)
		must(got == (!g->paused && used + size < SIZE));
	if (!got)
		return;
	must(!g->paused && size < SIZE);
	must((u8 *)h->to >= g->sp.data && (u8 *)h->to < g->sp.data + SIZE);
	if (ring->flags & RING_BACKWARD)
		must((((u8 *)h->to - g->sp.data + g->position + size) & (SIZE - 1)) == 0);
	else
		must((((u8 *)h->to - g->sp.data - g->position) & (SIZE - 1)) == 0);
	g->position += size;
	memset(h->to, size, size); /* AddressSanitizer looks on */
	g->n_open++;
}

static void commit(struct play *g, unsigned int which)
{
	bool wakes;

	if (!g->n_open)
		return;
	which %= g->n_open;
	must(g->sp.user->data_head == space_head_of(&g->sp, g->published));
	wakes = ring_commit(&g->open[which]);
	g->open[which] = g->open[--g->n_open];
	if (g->n_open) {
		must(!wakes);
	} else {
		g->published = g->position;
		must(wakes == (g->published - g->woken >= g->sp.ring.watermark));
		if (wakes)
			g->woken = g->published;
	}
	must(g->sp.user->data_head == space_head_of(&g->sp, g->published));
}

static void move_tail(struct play *g, u8 how)
{
	struct perf_event_mmap_page *user = g->sp.user;

	g->mad = how & 1;
	if (g->mad)
		user->data_tail = record_word(how, g->position, 0) >> (how >> 2);
	else
		user->data_tail = space_head_of(&g->sp, g->published);
}

/* A pause waits for writers, of which there must be none then. */
static void pause_or_go_on(struct play *g, bool pause)
{
	while (g->n_open)
		commit(g, 0);
	ring_pause(&g->sp.ring, pause);
	g->paused = pause;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first two bytes say what ring it is; then two bytes are a step. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const u64 starts[] = { 0, SIZE - 64, (1ULL << 50) - 640, (1ULL << 63) - 64 };
	static struct play plays[4], *g;

	if (size < 2)
		return 0;
	g = &plays[data[0] & 3];
	if (!g->sp.user)
		space_make(&g->sp, SIZE, data[0] & 3, 600);
	g->n_open = 0;
	g->position = starts[data[1] & 3];
	g->published = g->position;
	g->woken = g->position;
	g->paused = false;
	g->mad = false;
	space_seek(&g->sp, g->position);
	for (data += 2, size -= 2; size >= 2; data += 2, size -= 2) {
		switch (data[0] & 7) {
		case 0: case 1: case 2:
			reserve(g, 8 * (1 + data[1]));
			break;
		case 3:
			reserve(g, 8 * (1 + 4 * data[1]));
			break;
		case 4: case 5:
			commit(g, data[1]);
			break;
		case 6:
			move_tail(g, data[1]);
			break;
		case 7:
			pause_or_go_on(g, data[1] & 1);
			break;
		}
	}
	return 0;
}
