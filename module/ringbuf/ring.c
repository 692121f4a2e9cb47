// SPDX-License-Identifier: GPL-2.0-only
/*
 * The protocol of the sample ring; ring.h explains it. This file compiles in user space
 * too, where threads, signals and exhaustive schedules try it. NMI-safe, but for
 * ring_init() and ring_pause().
 */
#include "ringbuf/ring.h"

void ring_init(struct ring *ring, struct perf_event_mmap_page *user, void *data,
	       u64 size, unsigned int flags, u64 watermark)
{
	memset(ring, 0, sizeof(*ring));
	ring->user = user;
	ring->data = data;
	ring->size = size;
	ring->flags = flags;
	ring->watermark = watermark ? watermark : size / 4;
	ring->full_at = ~0ULL;

	user->data_size = size;
	user->cap_bit0_is_deprecated = 1;
	user->size = offsetof(struct perf_event_mmap_page, __reserved);
}

/* Heads go up or down, positions only up: turn one into the other. */
static u64 turn(const struct ring *ring, u64 head)
{
	return ring->flags & RING_BACKWARD ? -head : head;
}

/* What must not be overwritten begins here: what the reader has not read, or if nobody
 * waits for it, what is not published, which somebody may be writing.
 */
static u64 oldest(const struct ring *ring)
{
	if (ring->flags & RING_OVERWRITE)
		return smp_load_acquire(&ring->head); /* (F) */
	return turn(ring, smp_load_acquire(&ring->user->data_tail)); /* (F) */
}

bool ring_has_any(const struct ring *ring)
{
	u64 head = READ_ONCE(ring->head);

	return ring->flags & RING_OVERWRITE ? head : head != oldest(ring);
}

/* Signed: what is ahead of a position that has just become old leaves room. */
static bool has_room(const struct ring *ring, u64 state, u64 size)
{
	u64 used = (state & ~(RING_OPEN | RING_PAUSED)) - (oldest(ring) << RING_SHIFT);

	return (s64)(used + (size << RING_SHIFT)) < (s64)(ring->size << RING_SHIFT);
}

/* Once at a position. If somebody will publish more, that is then to be done by whoever does. */
static bool should_wake(struct ring *ring, u64 state)
{
	u64 position = state & ~RING_OPEN;

	if (READ_ONCE(ring->full_at) == position)
		return false;
	WRITE_ONCE(ring->full_at, position);
	if (!(state & RING_OPEN))
		return true;
	WRITE_ONCE(ring->asked, true);
	WRITE_ONCE(ring->full, true);
	smp_mb(); /* (I) */
	return !(atomic64_read(&ring->state) & RING_OPEN);
}

bool ring_reserve(struct ring_handle *h, struct ring *ring, u32 size)
{
	u64 mask = ring->size - 1;
	u64 position;
	s64 state;

	h->wake = false;
	if (unlikely(!ring_may_have(ring, size)))
		return false;
	do {
		state = atomic64_read_acquire(&ring->state); /* (G) */
		if (unlikely(state & RING_PAUSED))
			return false;
		if (unlikely(!has_room(ring, state, size))) {
			h->wake = should_wake(ring, state);
			return false;
		}
	} while (unlikely(!atomic64_try_cmpxchg(&ring->state, &state,
						state + ((u64)size << RING_SHIFT) + 1)));

	position = (u64)state >> RING_SHIFT & ~7ULL;
	if (ring->flags & RING_BACKWARD)
		position = -(position + size);
	h->ring = ring;
	h->to = ring->data + (position & mask);
	return true;
}

/* Is there nobody else who writes below the position? Its commit is the proof of it. */
static bool is_only_open(u64 state)
{
	u64 open = state & RING_OPEN;

#ifdef RING_BREAK_PUBLISH
	open = 1; /* for a test, which must find it */
#endif
	return open == 1;
}

/* Called by the only open writer: what is its own stays so until it leaves. */
static bool publish(struct ring *ring, u64 state)
{
	u64 head = ring->head;
	bool wake = false;

	head += (state - (head << RING_SHIFT)) >> RING_SHIFT & ~7ULL;
	smp_store_release(&ring->head, head); /* (C) */
	smp_store_release(&ring->user->data_head, turn(ring, head)); /* (C) */
	if (unlikely(READ_ONCE(ring->asked) || READ_ONCE(ring->full))) {
		WRITE_ONCE(ring->full, false);
		WRITE_ONCE(ring->asked, false);
		wake = true;
	}
	if (head - ring->woken < ring->watermark)
		return wake;
	ring->woken = head;
	return true;
}

bool ring_commit(struct ring_handle *h)
{
	struct ring *ring = h->ring;
	bool wake = false;
	s64 state;

	do {
		state = atomic64_read_acquire(&ring->state); /* (B) */
		if (is_only_open(state)) {
			wake |= publish(ring, state);
		} else if (wake) {
			/* There is more to come, and who publishes that tells. */
			wake = false;
			WRITE_ONCE(ring->asked, true);
		}
	} while (unlikely(!atomic64_try_cmpxchg(&ring->state, &state, state - 1))); /* (A), (I) */
	/* Who was refused meanwhile has left the state as it is. The next one looks, too. */
	return wake || (is_only_open(state) && unlikely(READ_ONCE(ring->full)));
}

void ring_pause(struct ring *ring, bool pause)
{
	might_sleep();
	if (!pause) {
		atomic64_fetch_andnot_release(RING_PAUSED, &ring->state); /* (H) */
		return;
	}
	atomic64_or(RING_PAUSED, &ring->state);
	while (atomic64_read_acquire(&ring->state) & RING_OPEN) /* (B) */
		cpu_relax();
}
