// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sample ring's protocol in every order of events, for a few small cases; how is
 * explained in ring_model.h.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>

static void model_schedule(void);
#define PURE_SCHEDULE()		model_schedule()

#include "unit/ring_model.h"

#undef cpu_relax
#define cpu_relax()		model_relax()

#include "ringbuf/ring.c"

#define SIZE	4096

static struct model model;

static void run(struct model *m, u64 at_least)
{
	cr_assert(model_run(m), "after %llu orders: %s", m->orders, m->observer.finding);
	cr_log_info("%llu orders, %llu states", m->orders, m->states);
	cr_assert_geq(m->states, at_least, "only %llu states were found", m->states);
}

static void setup(struct space *sp, unsigned int flags, u64 watermark)
{
	space_make(sp, SIZE, flags, watermark);
	memset(&model, 0, sizeof(model));
	model.sp = sp;
	model.begin = begin_in_the_middle;
	model.end = end_accounts;
}

Test(ring_model, two_cpus_and_an_nmi)
{
	struct space sp;
	unsigned int flags;

	for (flags = 0; flags <= (RING_OVERWRITE | RING_BACKWARD); flags++) {
		space_make(&sp, SIZE, flags, 0);
		model_two_cpus_and_nmi(&model, &sp);
		run(&model, 1000);
		space_free(&sp);
	}
}

Test(ring_model, interrupts_in_interrupts)
{
	unsigned int level;
	struct space sp;

	setup(&sp, RING_OVERWRITE, 0);
	for (level = 0; level < 3; level++)
		model_add(&model, 0, level, actor_writes);
	model_add(&model, 1, 0, actor_writes);
	run(&model, 1000);
	space_free(&sp);
}

Test(ring_model, three_cpus_that_go_on_writing)
{
	struct space sp;
	unsigned int cpu;

	setup(&sp, 0, 0);
	for (cpu = 0; cpu < 3; cpu++)
		model_add(&model, cpu, 0, cpu ? actor_writes : actor_writes_twice);
	run(&model, 1000);
	space_free(&sp);
}

/* The position in the state wraps at 2^50; heads do not, until 2^64. */
static u64 edge;

static void begin_at_an_edge(struct model *m)
{
	model_seek(m, edge - 16, 512);
}

Test(ring_model, positions_may_wrap)
{
	unsigned int flags;
	struct space sp;

	for (flags = 0; flags <= RING_BACKWARD; flags += RING_BACKWARD)
		for (edge = 1ULL << 50; edge; edge <<= 14) {
			setup(&sp, flags, 0);
			model_two_cpus_and_nmi(&model, &sp);
			model.begin = begin_at_an_edge;
			run(&model, 1000);
			space_free(&sp);
		}
}

/* ---- a full ring: who finds no room is counted, what was not read stays ---- */

#define OLD	(PRODUCERS_MAX - 1)	/* the producer of what is there at first */

static void write_old(struct model *m, unsigned int words)
{
	struct ring_handle h;
	u64 number;
	u32 size;

	for (number = 0;; number++) {
		size = record_size(OLD, number, 2);
		if (words < size / 8)
			return;
		words -= size / 8;
		ring_reserve(&h, &m->sp->ring, size);
		record_begin(&h, OLD, number, size);
		record_end(&h, OLD, number, size);
		ring_commit(&h);
	}
}

static void begin_almost_full(struct model *m)
{
	model_seek(m, 4096 - 48, SIZE);
	write_old(m, SIZE / 8 - 9);
	m->observer.tail = space_head_of(m->sp, m->sp->user->data_head);
}

static void actor_reads(struct model *m, struct actor *self)
{
	(void)self;
	read_and_free(&m->reader, m->sp);
	read_and_free(&m->reader, m->sp);
}

/* Gives all back that is there, without a look. */
static void actor_frees(struct model *m, struct actor *self)
{
	struct perf_event_mmap_page *user = m->sp->user;

	(void)self;
	smp_store_release(&user->data_tail, smp_load_acquire(&user->data_head));
	smp_store_release(&user->data_tail, smp_load_acquire(&user->data_head));
}

static bool end_reads_the_rest(struct model *m)
{
	struct reader *r = &m->reader;
	struct producer p[MODEL_ACTORS + 1] = { };
	unsigned int i;

	read_and_free(r, m->sp);
	for (i = 0; i < m->n; i++)
		p[i] = m->actors[i].p;
	p[i] = (struct producer) { .id = OLD, .produced = r->next[OLD], .written = r->next[OLD] };
	account(r, m->sp, p, m->n + 1);
	if (!r->next[OLD])
		found(r, "there was nothing in the ring");
	memcpy(m->observer.finding, r->finding, sizeof(r->finding));
	return !r->finding[0];
}

Test(ring_model, a_full_ring_loses_and_tells)
{
	unsigned int with_reader;
	struct space sp;

	for (with_reader = 0; with_reader < 2; with_reader++) {
		setup(&sp, 0, 0);
		model.begin = begin_almost_full;
		model.end = end_reads_the_rest;
		model_add(&model, 0, 0, actor_writes_twice);
		model_add(&model, with_reader ? 1 : 0, 1, actor_writes_twice);
		if (!with_reader)
			model_add(&model, 1, 0, actor_writes);
		if (with_reader)
			model_add(&model, 2, 0, actor_reads);
		run(&model, 1000);
		space_free(&sp);
	}
}

/* A reader that is quick makes a position old; there is room nevertheless. */
static bool end_lost_nothing(struct model *m)
{
	if (ring_lost_take(&m->sp->ring) || m->reader.lost)
		return found(&m->observer, "a record was refused, though there was room");
	return end_accounts(m);
}

Test(ring_model, a_ring_with_room_loses_nothing)
{
	unsigned int flags;
	struct space sp;

	for (flags = 0; flags <= RING_BACKWARD; flags += RING_BACKWARD) {
		setup(&sp, flags, 0);
		model.end = end_lost_nothing;
		model_add(&model, 0, 0, actor_writes);
		model_add(&model, 0, 1, actor_writes);
		model_add(&model, 1, 0, actor_writes);
		model_add(&model, 2, 0, actor_frees);
		run(&model, 1000);
		space_free(&sp);
	}
}

/* ---- pausing ---- */

static void actor_pauses(struct model *m, struct actor *self)
{
	struct ring *ring = &m->sp->ring;

	(void)self;
	ring_pause(ring, true);
	m->paused_at = ring->state.counter;
	m->paused_head = m->sp->user->data_head;
}

static bool end_is_as_paused(struct model *m)
{
	struct ring *ring = &m->sp->ring;

	if ((u64)ring->state.counter != m->paused_at || m->sp->user->data_head != m->paused_head)
		return found(&m->observer, "it went on from %llx to %llx", m->paused_at,
			     (u64)ring->state.counter);
	return end_accounts(m);
}

Test(ring_model, nothing_changes_after_a_pause)
{
	struct space sp;

	setup(&sp, RING_OVERWRITE | RING_BACKWARD, 0);
	model.end = end_is_as_paused;
	model_add(&model, 0, 0, actor_writes_twice);
	model_add(&model, 1, 0, actor_writes);
	model_add(&model, 2, 0, actor_pauses);
	run(&model, 1000);
	space_free(&sp);
}

/* ---- wakeups ---- */

static bool end_woke(struct model *m)
{
	struct ring *ring = &m->sp->ring;
	u64 wakes = 0, bytes = ring->head - (4096 - 48);
	unsigned int i;

	for (i = 0; i < m->n; i++)
		wakes += m->actors[i].p.wakes;
	if (wakes < (bytes >= ring->watermark) || wakes > bytes / ring->watermark)
		return found(&m->observer, "%llu wakeups for %llu bytes", wakes, bytes);
	return end_accounts(m);
}

Test(ring_model, wakeups_are_not_lost)
{
	struct space sp;
	u64 watermark;

	for (watermark = 16; watermark <= 112; watermark += 48) {
		setup(&sp, 0, watermark);
		model.end = end_woke;
		model_add(&model, 0, 0, actor_writes_twice);
		model_add(&model, 0, 1, actor_writes);
		model_add(&model, 1, 0, actor_writes_twice);
		run(&model, 1000);
		space_free(&sp);
	}
}

/* ---- asking to be read ---- */

static void begin_asking(struct model *m)
{
	begin_in_the_middle(m);
	m->asked = 0;
	m->told = 0;
}

static u64 position_of(const struct ring *ring, const struct ring_handle *h)
{
	u64 offset = (u64)((u8 *)h->to - (u8 *)ring->data);

	return offset < SIZE - 48 ? SIZE + offset : offset;
}

static void write_one(struct model *m, struct actor *self, bool asks)
{
	struct ring *ring = &m->sp->ring;
	u64 number = self->p.produced++;
	u32 size = record_size(self->p.id, number, self->p.max_words);
	struct ring_handle h;
	u64 end;

	if (!ring_reserve(&h, ring, size)) {
		found(&m->observer, "there is room");
		return;
	}
	end = position_of(ring, &h) + size;
	record_begin(&h, self->p.id, number, size);
	record_end(&h, self->p.id, number, size);
	if (asks) {
		m->asked = end > m->asked ? end : m->asked;
		ring_ask(&h);
	}
	if (ring_commit(&h) && ring->head > m->told)
		m->told = ring->head;
	self->p.written++;
}

static void actor_asks(struct model *m, struct actor *self)
{
	write_one(m, self, true);
}

static void actor_does_not_ask(struct model *m, struct actor *self)
{
	write_one(m, self, false);
}

/* Whoever asks, and whoever publishes: the reader is woken when the record is there. */
static bool end_told(struct model *m)
{
	if (m->told < m->asked)
		return found(&m->observer, "asked for %llu, but told when there were %llu",
			     m->asked, m->told);
	return end_accounts(m);
}

Test(ring_model, what_was_asked_for_is_there_when_it_is_told)
{
	unsigned int who;
	struct space sp;

	for (who = 1; who < 8; who++) {
		setup(&sp, RING_OVERWRITE, 1 << 20);
		model.begin = begin_asking;
		model.end = end_told;
		model_add(&model, 0, 0, who & 1 ? actor_asks : actor_does_not_ask);
		model_add(&model, 0, 1, who & 2 ? actor_asks : actor_does_not_ask);
		model_add(&model, 1, 0, who & 4 ? actor_asks : actor_does_not_ask);
		run(&model, 1000);
		space_free(&sp);
	}
}

/* ---- a full ring is to be read ---- */

static void begin_filling(struct model *m)
{
	begin_almost_full(m);
	m->asked = 0;
	m->told = 0;
}

/* Who is refused wants all to be read that is in the ring by then, written or not. */
static void actor_fills(struct model *m, struct actor *self)
{
	struct ring *ring = &m->sp->ring;
	u64 position = (u64)ring->state.counter >> RING_SHIFT & ~7ULL;
	u64 wakes = self->p.wakes;

	if (!produce(ring, &self->p, NULL, NULL) && position > m->asked)
		m->asked = position;
	if (self->p.wakes > wakes && ring->head > m->told)
		m->told = ring->head;
}

static void actor_fills_twice(struct model *m, struct actor *self)
{
	actor_fills(m, self);
	actor_fills(m, self);
}

static bool end_told_of_a_full_ring(struct model *m)
{
	struct ring *ring = &m->sp->ring;
	struct ring_handle h;

	if (m->told < m->asked)
		return found(&m->observer, "full at %llu, but told when there were %llu", m->asked,
			     m->told);
	if (!end_reads_the_rest(m))
		return false;
	/* Once more, perhaps, but not for each record */
	for (int i = 0; i < 2; i++) {
		ring_reserve(&h, ring, 16);
		record_begin(&h, OLD, 0, 16);
		if (ring_commit(&h) && i)
			return found(&m->observer, "it tells for ever");
	}
	return true;
}

Test(ring_model, a_full_ring_is_told_when_it_can_be_read)
{
	struct space sp;

	setup(&sp, 0, 1 << 20);
	model.begin = begin_filling;
	model.end = end_told_of_a_full_ring;
	model_add(&model, 0, 0, actor_fills_twice);
	model_add(&model, 0, 1, actor_fills_twice);
	model_add(&model, 1, 0, actor_fills_twice);
	run(&model, 1000);
	space_free(&sp);
}
