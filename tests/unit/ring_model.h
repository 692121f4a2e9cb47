/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of CPUs: it runs the ring's own code in every order in which a few writers,
 * a reader and whoever pauses can take turns, a turn being one access to what they share.
 * An actor of a higher level on the same CPU is an interrupt: it may begin at any time, and
 * the one below goes on when it has ended. Memory is taken to be in order; that the
 * barriers suffice where it is not, ThreadSanitizer tells (ring_race.c).
 *
 * Each order is a sequence of choices. It is run from the start; then the last choice
 * that has an alternative left takes it. An order that comes to where another has been (the
 * same memory, the same stacks) is left, for all that can follow has been seen.
 *
 * Who includes this defines PURE_SCHEDULE() as model_schedule() first, and includes ring.c.
 */
#ifndef PMUCTL_TESTS_UNIT_RING_MODEL_H
#define PMUCTL_TESTS_UNIT_RING_MODEL_H

#include <sanitizer/asan_interface.h>

#include "unit/ring_space.h"

#define MODEL_ACTORS	6
#define MODEL_STEPS	100
#define MODEL_STACK	(16 << 10)
#define MODEL_SEEN	(1u << 22)

struct model;

struct actor {
	void (*run)(struct model *m, struct actor *self);
	unsigned int cpu;
	unsigned int level;
	struct producer p;
	bool started;
	bool done;
	bool waits;		/* for a turn of somebody else */
	void *sp;
	u8 *stack;
};

struct model {
	/* What a test fills */
	struct space *sp;
	struct actor actors[MODEL_ACTORS];
	unsigned int n;
	void (*begin)(struct model *m);	/* before each order: seek, producers */
	bool (*end)(struct model *m);	/* after each: is all as it should be? */

	struct reader observer;		/* looks after each turn */
	struct reader reader;		/* for an actor */
	u8 *window;			/* where data may change */
	u64 window_size;
	u64 paused_at;		/* the state, and data_head, when a pause had begun */
	u64 paused_head;
	u64 asked;	/* the end of the last record whose writer asked */
	u64 told;	/* what was published when the reader was last woken */
	u64 orders;
	u64 states;
	u64 *seen;		/* hashes of states, in a table */
	struct actor *now;
	void *scheduler;
	unsigned int depth;
	unsigned int fresh;	/* from this depth on states may be new */
	u8 choice[MODEL_STEPS];
	u8 choices[MODEL_STEPS];
};

static struct model *model_now;

/* Save where we are, and go on where somebody else was. */
void model_switch(void **from, void *to);
asm(".text\n"
    "model_switch:\n"
    "	push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
    "	mov %rsp, (%rdi)\n"
    "	mov %rsi, %rsp\n"
    "	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
    "	ret\n");

/* A turn ends here. */
static void model_schedule(void)
{
	struct model *m = model_now;

	if (!m || !m->now)
		return;
	if (!m->now->started) { /* its first turn has just begun */
		m->now->started = true;
		return;
	}
	model_switch(&m->now->sp, m->scheduler);
}

/* ... and the next one comes when somebody else had one. */
static inline void model_relax(void)
{
	model_now->now->waits = true;
	model_schedule();
}

static void model_entry(void)
{
	struct model *m = model_now;
	struct actor *self = m->now;

	self->run(m, self);
	self->started = true;
	self->done = true;
	model_switch(&self->sp, m->scheduler);
}

static void actor_reset(struct actor *a)
{
	void **top = (void **)(a->stack + MODEL_STACK);

	ASAN_UNPOISON_MEMORY_REGION(a->stack, MODEL_STACK); /* an order may have been left */
	a->started = false;
	a->done = false;
	a->waits = false;
	a->p.produced = 0;
	a->p.written = 0;
	a->p.wakes = 0;
	*--top = NULL;
	*--top = NULL;
	*--top = (void *)model_entry;
	a->sp = top - 6;
	memset(a->sp, 0, 6 * sizeof(*top));
}

static bool can_run(const struct model *m, const struct actor *a)
{
	const struct actor *o;

	if (a->done || a->waits)
		return false;
	for (o = m->actors; o < m->actors + m->n; o++)
		if (o->cpu == a->cpu && o->level > a->level && o->started && !o->done)
			return false;
	return true;
}

/* Records are complete below the head, and no head is missing if nobody is writing. */
static bool model_observe(struct model *m)
{
	struct reader *r = &m->observer;
	struct ring *ring = &m->sp->ring;
	u64 head = space_head_of(m->sp, m->sp->user->data_head);
	u64 left = head - r->tail, state = ring->state.counter;
	u64 at = ring->flags & RING_BACKWARD ? -head : r->tail;
	u32 size;

	if ((s64)left < 0)
		return found(r, "the head went from %llu back to %llu", r->tail, head);
	r->tail = head;
	r->from_the_newest = ring->flags & RING_BACKWARD;
	for (; left; left -= size, at += size) {
		size = read_record(r, (void *)(m->sp->data + (at & (ring->size - 1))), left);
		if (!size)
			return false;
	}
	if (!(state & RING_OPEN) && (state >> RING_SHIFT & ~7ULL) != (head & ((1ULL << 50) - 1)))
		return found(r, "nobody is open, yet the head is %llu", head);
	return true;
}

/* One turn of whoever the next choice says. False: nobody is left, or can go on. */
static bool model_turn(struct model *m)
{
	struct actor *can[MODEL_ACTORS], *a;
	unsigned int n = 0;

	for (a = m->actors; a < m->actors + m->n; a++)
		if (can_run(m, a))
			can[n++] = a;
	if (!n || m->depth == MODEL_STEPS)
		return false;
	m->choices[m->depth] = n;
	m->now = can[m->choice[m->depth++]];
	for (a = m->actors; a < m->actors + m->n; a++)
		a->waits = false;
	model_switch(&m->scheduler, m->now->sp);
	m->now = NULL;
	return true;
}

/* For begin(): all is read up to @position, and @bytes after it are poisoned. */
static inline void model_seek(struct model *m, u64 position, u64 bytes)
{
	struct ring *ring = &m->sp->ring;
	u64 from = ring->flags & RING_BACKWARD ? -position - bytes : position;

	space_seek(m->sp, position);
	ring_lost_take(ring);
	m->window = m->sp->data + (from & (ring->size - 1));
	m->window_size = bytes;
	memset(m->window, RECORD_POISON, bytes);
	m->observer.tail = position;
	m->observer.last_head = position;
	m->reader.tail = position;
	m->reader.last_head = position;
}

/* Of stacks too, so AddressSanitizer must not look. */
__attribute__((no_sanitize_address))
static u64 hash(u64 h, const void *from, size_t size)
{
	const u64 *word = from, *end = word + size / 8;

	for (; word < end; word++) {
		h = (h ^ *word) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	return h;
}

/* All that what comes next depends on; data that are still poisoned among it. */
static u64 model_hash(struct model *m)
{
	struct ring *ring = &m->sp->ring;
	struct actor *a;
	u64 h = m->n;

	h = hash(h, &ring->state, sizeof(*ring) - offsetof(struct ring, state));
	h = hash(h, &m->sp->user->data_head, 16);
	h = hash(h, &m->paused_at, 32);
	h = hash(h, m->window, m->window_size);
	h = hash(h, &m->observer, offsetof(struct reader, finding));
	h = hash(h, &m->reader, offsetof(struct reader, finding));
	for (a = m->actors; a < m->actors + m->n; a++) {
		h = hash(h, &a->p, sizeof(a->p));
		h = (h ^ (a->started + 2 * a->done + 4 * a->waits)) * 0xd6e8feb86659fd93ULL;
		if (!a->done)
			h = hash(h, a->sp, a->stack + MODEL_STACK - (u8 *)a->sp);
	}
	return h;
}

/* Has another order been here? */
static bool model_has_seen(struct model *m)
{
	u64 h = model_hash(m), i = h & (MODEL_SEEN - 1);

	for (; m->seen[i]; i = (i + 1) & (MODEL_SEEN - 1))
		if (m->seen[i] == h)
			return true;
	m->seen[i] = h;
	space_check(++m->states < MODEL_SEEN / 4 * 3, "more states than there is room for");
	return false;
}

static bool model_run_order(struct model *m)
{
	struct actor *a;

	memset(&m->observer, 0, sizeof(m->observer));
	memset(&m->reader, 0, sizeof(m->reader));
	for (a = m->actors; a < m->actors + m->n; a++) {
		actor_reset(a);
		m->observer.max_words = a->p.max_words;
		m->reader.max_words = a->p.max_words;
	}
	m->begin(m);
	m->depth = 0;
	m->orders++;
	while (model_turn(m)) {
		if (!model_observe(m))
			return false;
		if (m->depth > m->fresh && model_has_seen(m))
			return true;
	}
	for (a = m->actors; a < m->actors + m->n; a++)
		if (!a->done)
			return found(&m->observer, "somebody waits for ever");
	return m->end(m);
}

/* The last choice that can be another one is; those after it start over. */
static bool model_next_order(struct model *m)
{
	unsigned int d = m->depth;

	while (d--) {
		if (m->choice[d] + 1 < m->choices[d]) {
			m->choice[d]++;
			m->fresh = d;
			memset(m->choice + d + 1, 0, MODEL_STEPS - d - 1);
			return true;
		}
	}
	return false;
}

/* Run all orders. False: one of them has a finding, which the observer tells. */
static bool model_run(struct model *m)
{
	bool good;
	unsigned int i;

	for (i = 0; i < m->n; i++) {
		m->actors[i].stack = malloc(MODEL_STACK);
		space_check(m->actors[i].stack, "a stack");
		m->actors[i].p.id = i;
	}
	m->seen = calloc(MODEL_SEEN, sizeof(*m->seen));
	space_check(m->seen, "a table of states");
	model_now = m;
	do
		good = model_run_order(m);
	while (good && model_next_order(m));
	model_now = NULL;
	free(m->seen);
	for (i = 0; i < m->n; i++)
		free(m->actors[i].stack);
	return good;
}

/* ---- writers, and a scenario that more than one test has ---- */

static inline void model_pause_writer(void *arg)
{
	(void)arg;
	model_schedule();
}

/* Writes a record, in two turns. */
static inline void actor_writes(struct model *m, struct actor *self)
{
	produce(&m->sp->ring, &self->p, model_pause_writer, NULL);
}

static inline void actor_writes_twice(struct model *m, struct actor *self)
{
	actor_writes(m, self);
	actor_writes(m, self);
}

static inline void model_add(struct model *m, unsigned int cpu, unsigned int level,
			     void (*run)(struct model *m, struct actor *self))
{
	m->actors[m->n++] = (struct actor) {
		.run = run, .cpu = cpu, .level = level, .p.max_words = 2,
	};
}

static inline void begin_in_the_middle(struct model *m)
{
	model_seek(m, 4096 - 48, 512);
}

static inline bool end_accounts(struct model *m)
{
	struct producer p[MODEL_ACTORS];
	unsigned int i;

	for (i = 0; i < m->n; i++)
		p[i] = m->actors[i].p;
	return account(&m->observer, m->sp, p, m->n);
}

/* Two CPUs write a record each, and on the first an NMI does too. */
static inline void model_two_cpus_and_nmi(struct model *m, struct space *sp)
{
	memset(m, 0, sizeof(*m));
	m->sp = sp;
	m->begin = begin_in_the_middle;
	m->end = end_accounts;
	model_add(m, 0, 0, actor_writes);
	model_add(m, 0, 1, actor_writes);
	model_add(m, 1, 0, actor_writes);
}

#endif /* PMUCTL_TESTS_UNIT_RING_MODEL_H */
