// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/ringbuf/ring.c */
/*
 * The sample ring with one thing at a time: positions at every edge, room, wrapping,
 * nesting, wakeups, pausing, and what a tail of garbage can do, which is nothing.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include "unit/ring_space.h"

#define SIZE	4096

static void write_record(struct ring *ring, u32 size, u8 byte)
{
	struct ring_handle h;
	u8 bytes[SIZE];

	memset(bytes, byte, size);
	cr_assert(ring_reserve(&h, ring, size));
	ring_write(&h, bytes, size);
	ring_commit(&h);
}

Test(ring, is_set_up_as_user_space_expects)
{
	struct space sp;

	space_make(&sp, 4 * SIZE, 0, 0);
	cr_assert_eq(sp.user->data_size, 4 * SIZE);
	cr_assert_eq(sp.user->cap_bit0_is_deprecated, 1);
	cr_assert_eq(sp.user->size, offsetof(struct perf_event_mmap_page, __reserved));
	cr_assert_eq(sp.user->data_head, 0);
	cr_assert_eq(sp.ring.watermark, SIZE, "a quarter, if nobody says otherwise");
	space_free(&sp);
	space_make(&sp, SIZE, 0, 24);
	cr_assert_eq(sp.ring.watermark, 24);
	space_free(&sp);
}

/* From every offset, and across the places where something wraps */
Test(ring, puts_records_at_their_offsets)
{
	static const u64 starts[] = {
		0, SIZE - 8, (1ULL << 32) - 2048, (1ULL << 50) - 2048,
		(1ULL << 63) - 2048, -2048ULL,
	};
	unsigned int flags, i, at;
	struct space sp;

	for (flags = 0; flags <= (RING_OVERWRITE | RING_BACKWARD); flags++) {
		space_make(&sp, SIZE, flags, 0);
		for (i = 0; i < ARRAY_SIZE(starts); i++)
			for (at = 0; at < SIZE; at += 8) {
				u64 from = starts[i] + at, to = from + 24, low;

				space_seek(&sp, from);
				memset(sp.data, 0, SIZE);
				write_record(&sp.ring, 24, 0x5a);
				cr_assert_eq(sp.user->data_head, space_head_of(&sp, to),
					     "flags %u, from %llx: head %llx", flags, from,
					     sp.user->data_head);
				low = flags & RING_BACKWARD ? -to : from;
				for (u64 b = 0; b < SIZE; b++)
					cr_assert_eq(sp.data[b],
						     ((b - low) & (SIZE - 1)) < 24 ? 0x5a : 0,
						     "flags %u, from %llx: byte %llu", flags,
						     from, b);
			}
		space_free(&sp);
	}
}

/* The last 8 bytes stay free, wherever head and tail are; one more record is refused. */
Test(ring, is_full_with_8_bytes_left)
{
	static const u64 starts[] = { 0, 8, SIZE - 8, (1ULL << 50) - 64, -64ULL };
	struct ring_handle h;
	struct space sp;
	unsigned int i, flags;
	u64 used;

	for (flags = 0; flags <= RING_BACKWARD; flags += RING_BACKWARD) {
		space_make(&sp, SIZE, flags, 0);
		for (i = 0; i < ARRAY_SIZE(starts); i++)
			for (used = 0; used < SIZE; used += 8) {
				space_seek(&sp, starts[i]);
				if (used)
					write_record(&sp.ring, used, 1);
				cr_assert(!ring_reserve(&h, &sp.ring, SIZE - used),
					  "start %llx, used %llu", starts[i], used);
				if (used == SIZE - 8)
					continue;
				cr_assert(ring_reserve(&h, &sp.ring, SIZE - used - 8),
					  "start %llx, used %llu", starts[i], used);
				ring_commit(&h);
				cr_assert_eq(space_head_of(&sp, sp.user->data_head),
					     starts[i] + SIZE - 8);
			}
		space_free(&sp);
	}
}

Test(ring, refuses_what_is_not_smaller_than_it)
{
	unsigned int flags;
	struct ring_handle h;
	struct space sp;

	for (flags = 0; flags <= (RING_OVERWRITE | RING_BACKWARD); flags++) {
		space_make(&sp, SIZE, flags, 0);
		cr_assert(!ring_reserve(&h, &sp.ring, SIZE));
		cr_assert(!ring_reserve(&h, &sp.ring, 2 * SIZE));
		cr_assert(!ring_reserve(&h, &sp.ring, 0xfffffff8));
		cr_assert(!h.wake, "no reader can make room for it");
		cr_assert(ring_reserve(&h, &sp.ring, SIZE - 8));
		ring_commit(&h);
		space_free(&sp);
	}
}

Test(ring, overwrites_without_end)
{
	unsigned int flags;
	struct space sp;
	u64 n;

	for (flags = RING_OVERWRITE; flags <= (RING_OVERWRITE | RING_BACKWARD);
	     flags += RING_BACKWARD) {
		space_make(&sp, SIZE, flags, 0);
		for (n = 0; n < 10000; n++)
			write_record(&sp.ring, 40, n);
		cr_assert_eq(space_head_of(&sp, sp.user->data_head), n * 40);
		cr_assert_eq(ring_lost_take(&sp.ring), 0);
		space_free(&sp);
	}
}

/* An open writer would write into the others' records otherwise. */
Test(ring, overwrites_nothing_that_is_not_complete)
{
	struct ring_handle slow, h;
	unsigned int flags, n;
	struct space sp;

	for (flags = RING_OVERWRITE; flags <= (RING_OVERWRITE | RING_BACKWARD);
	     flags += RING_BACKWARD) {
		space_make(&sp, SIZE, flags, 0);
		for (n = 0; n < 100; n++)
			write_record(&sp.ring, 64, 1);
		cr_assert(ring_reserve(&slow, &sp.ring, 64));
		for (n = 64; n + 64 < SIZE; n += 64)
			write_record(&sp.ring, 64, 1);
		cr_assert(!ring_reserve(&h, &sp.ring, 64));
		cr_assert(!h.wake, "the reader cannot help");
		ring_commit(&slow);
		for (n = 0; n < 100; n++)
			write_record(&sp.ring, 64, 1);
		space_free(&sp);
	}
}

/* Whatever the tail says: all bytes go into the data, and a sane tail repairs all. */
Test(ring, survives_a_garbage_tail)
{
	static const u64 tails[] = {
		1, 7, 8, SIZE, SIZE + 1, -1ULL, -8ULL, 1ULL << 31, 1ULL << 32, 1ULL << 50,
		(1ULL << 49) - 1, 1ULL << 63, ~(1ULL << 63), 0x0123456789abcdefULL,
	};
	unsigned int flags, i, start, size;
	struct ring_handle h;
	struct space sp;

	for (flags = 0; flags <= RING_BACKWARD; flags += RING_BACKWARD) {
		space_make(&sp, SIZE, flags, 0);
		for (i = 0; i < ARRAY_SIZE(tails); i++)
			for (start = 0; start <= SIZE; start += 1016)
				for (size = 8; size <= 2 * SIZE; size += 504) {
					space_seek(&sp, start);
					sp.user->data_tail = tails[i];
					if (ring_reserve(&h, &sp.ring, size)) {
						cr_assert_lt(size, SIZE);
						cr_assert_geq((u8 *)h.to, sp.data);
						cr_assert_leq((u8 *)h.to + size, sp.data + 2 * SIZE);
						ring_commit(&h);
					}
					cr_assert_eq(space_open(&sp), 0);
					sp.user->data_tail = sp.user->data_head;
					write_record(&sp.ring, 64, 3);
				}
		space_free(&sp);
	}
}

/* Signals and threads do this at any instant; here it is in slow motion. */
Test(ring, publishes_when_the_outermost_writer_commits)
{
	struct ring_handle task, irq, nmi, next;
	struct space sp;

	space_make(&sp, SIZE, 0, 0);
	cr_assert(ring_reserve(&task, &sp.ring, 16));
	cr_assert(ring_reserve(&irq, &sp.ring, 24));
	cr_assert(ring_reserve(&nmi, &sp.ring, 32));
	cr_assert_eq((u8 *)irq.to, (u8 *)task.to + 16);
	cr_assert_eq((u8 *)nmi.to, (u8 *)irq.to + 24);
	ring_commit(&nmi);
	cr_assert_eq(sp.user->data_head, 0);
	ring_commit(&irq);
	cr_assert_eq(sp.user->data_head, 0);
	ring_commit(&task);
	cr_assert_eq(sp.user->data_head, 72);

	/* On another CPU, who came first may go first. */
	cr_assert(ring_reserve(&task, &sp.ring, 16));
	cr_assert(ring_reserve(&next, &sp.ring, 16));
	ring_commit(&task);
	cr_assert_eq(sp.user->data_head, 72);
	ring_commit(&next);
	cr_assert_eq(sp.user->data_head, 104);
	space_free(&sp);
}

/* One of each writer that a CPU of the largest machine can have, all at once */
Test(ring, holds_32000_open_writers)
{
	static struct ring_handle h[32000];
	struct space sp;
	unsigned int i;

	space_make(&sp, 128 * SIZE, 0, 0);
	for (i = 0; i < ARRAY_SIZE(h); i++)
		cr_assert(ring_reserve(&h[i], &sp.ring, 16));
	for (i = 0; i < ARRAY_SIZE(h); i++) {
		cr_assert_eq(sp.user->data_head, 0);
		ring_commit(&h[i]);
	}
	cr_assert_eq(sp.user->data_head, 16 * ARRAY_SIZE(h));
	space_free(&sp);
}

Test(ring, wakes_at_the_watermark)
{
	struct ring_handle h, inner;
	struct space sp;
	unsigned int i;

	space_make(&sp, SIZE, RING_OVERWRITE, 100);
	for (i = 1; i <= 1000; i++) {
		cr_assert(ring_reserve(&h, &sp.ring, 40));
		/* 120 bytes are the first sum of 40s that is a watermark. */
		cr_assert_eq(ring_commit(&h), i % 3 == 0, "record %u", i);
	}
	for (i = 0; i < 3; i++) {
		cr_assert(ring_reserve(&h, &sp.ring, 40));
		cr_assert(ring_reserve(&inner, &sp.ring, 200));
		cr_assert(!ring_commit(&inner), "nothing is published yet");
		cr_assert(ring_commit(&h));
	}
	space_free(&sp);
}

/* Who asks while another is open has the other one tell. */
Test(ring, wakes_who_was_asked_for)
{
	struct ring_handle h, inner;
	struct space sp;

	space_make(&sp, SIZE, RING_OVERWRITE, 1 << 20);
	cr_assert(ring_reserve(&h, &sp.ring, 40));
	ring_ask(&h);
	cr_assert(ring_commit(&h));
	cr_assert(ring_reserve(&h, &sp.ring, 40));
	cr_assert(ring_reserve(&inner, &sp.ring, 40));
	ring_ask(&inner);
	cr_assert(!ring_commit(&inner));
	cr_assert(ring_commit(&h));
	cr_assert(ring_reserve(&h, &sp.ring, 40));
	cr_assert(!ring_commit(&h), "once is enough");
	space_free(&sp);
}

/* A watermark larger than the ring is never reached, yet nobody sleeps on a full one. */
Test(ring, wakes_once_when_it_is_full)
{
	struct ring_handle h, inner;
	struct space sp;
	unsigned int round, i;

	space_make(&sp, SIZE, 0, 1 << 20);
	for (round = 0; round < 3; round++) {
		while (ring_reserve(&h, &sp.ring, 1000))
			cr_assert(!ring_commit(&h));
		cr_assert(h.wake);
		for (i = 0; i < 5; i++) {
			cr_assert(!ring_reserve(&h, &sp.ring, 1000));
			cr_assert(!h.wake, "it was woken already");
		}
		sp.user->data_tail = sp.user->data_head;
	}
	/* While somebody is open there is more to come, and who has written it tells. */
	cr_assert(ring_reserve(&h, &sp.ring, 4000));
	cr_assert(!ring_reserve(&inner, &sp.ring, 1000));
	cr_assert(!inner.wake);
	cr_assert(ring_commit(&h));
	cr_assert(!ring_reserve(&inner, &sp.ring, 1000));
	cr_assert(!inner.wake, "it was woken already");
	space_free(&sp);
}

Test(ring, counts_what_is_lost)
{
	struct space sp;

	space_make(&sp, SIZE, 0, 0);
	cr_assert_eq(ring_lost_take(&sp.ring), 0);
	ring_lost_add(&sp.ring, 1);
	ring_lost_add(&sp.ring, 1ULL << 40);
	cr_assert_eq(ring_lost_take(&sp.ring), (1ULL << 40) + 1);
	cr_assert_eq(ring_lost_take(&sp.ring), 0);
	space_free(&sp);
}

Test(ring, refuses_while_it_is_paused)
{
	struct ring_handle h;
	struct space sp;
	unsigned int flags;

	for (flags = 0; flags <= (RING_OVERWRITE | RING_BACKWARD); flags++) {
		space_make(&sp, SIZE, flags, 0);
		write_record(&sp.ring, 16, 1);
		ring_pause(&sp.ring, true);
		ring_pause(&sp.ring, true);
		cr_assert(!ring_reserve(&h, &sp.ring, 16));
		cr_assert(!h.wake);
		cr_assert_eq(space_head_of(&sp, sp.user->data_head), 16);
		ring_pause(&sp.ring, false);
		write_record(&sp.ring, 16, 1);
		cr_assert_eq(space_head_of(&sp, sp.user->data_head), 32);
		space_free(&sp);
	}
}

/* A full lap and more of records of all sizes, read as they come */
Test(ring, hands_over_every_byte)
{
	struct producer p = { .id = 1, .max_words = 40 };
	struct reader r = { .max_words = 40 };
	struct space sp;
	unsigned int i;

	space_make(&sp, SIZE, 0, 0);
	for (i = 0; i < 100000; i++) {
		produce(&sp.ring, &p, NULL, NULL);
		if (i % 7 == 0)
			cr_assert(read_and_free(&r, &sp), "%s", r.finding);
	}
	cr_assert(read_and_free(&r, &sp), "%s", r.finding);
	cr_assert(account(&r, &sp, &p, 1), "%s", r.finding);
	cr_assert_eq(p.written, p.produced);

	/* ... and with a reader that is too slow */
	for (i = 0; i < 100000; i++) {
		produce(&sp.ring, &p, NULL, NULL);
		if (i % 70 == 0)
			cr_assert(read_and_free(&r, &sp), "%s", r.finding);
	}
	cr_assert(read_and_free(&r, &sp), "%s", r.finding);
	cr_assert(account(&r, &sp, &p, 1), "%s", r.finding);
	cr_assert_lt(p.written, p.produced);
	space_free(&sp);
}
