// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/ringbuf/auxbuf.c */
/*
 * The AUX buffer: which part of it may be written, what is published, when the reader is
 * woken, and what a tail of garbage can do.
 */
#include <criterion/criterion.h>

#include "ringbuf/auxbuf.h"

#define SIZE	65536ULL

static struct perf_event_mmap_page page;

static void make(struct auxbuf *buf, unsigned int flags, u64 watermark)
{
	memset(&page, 0, sizeof(page));
	auxbuf_init(buf, &page, SIZE, flags, watermark);
}

Test(auxbuf, is_free_as_a_whole_at_first)
{
	struct auxbuf_span span;
	struct auxbuf buf;

	make(&buf, 0, 0);
	cr_assert(auxbuf_begin(&buf, &span));
	cr_assert_eq(span.from, 0);
	cr_assert_eq(span.room, SIZE);
	cr_assert_eq(span.wake, SIZE / 2, "half, if nobody says otherwise");
	make(&buf, 0, SIZE);
	cr_assert_eq(buf.watermark, SIZE / 2, "a watermark beyond its end never comes");
	make(&buf, 0, 4096);
	cr_assert(auxbuf_begin(&buf, &span));
	cr_assert_eq(span.wake, 4096);
}

Test(auxbuf, leaves_alone_what_was_not_read)
{
	struct auxbuf_span span;
	struct auxbuf buf;

	make(&buf, 0, 0);
	auxbuf_end(&buf, 1000);
	cr_assert_eq(page.aux_head, 1000);
	cr_assert(auxbuf_begin(&buf, &span));
	cr_assert_eq(span.from, 1000);
	cr_assert_eq(span.room, SIZE - 1000);
	page.aux_tail = 400;
	cr_assert(auxbuf_begin(&buf, &span));
	cr_assert_eq(span.room, SIZE - 600);
	auxbuf_end(&buf, SIZE - 600);
	cr_assert_eq(page.aux_head, SIZE + 400, "the head does not wrap");
	cr_assert_not(auxbuf_begin(&buf, &span), "full");
	page.aux_tail = 401;
	cr_assert(auxbuf_begin(&buf, &span));
	cr_assert_eq(span.room, 1);
}

/* Write everything in steps of every size: woken once for each watermark, never twice. */
Test(auxbuf, wakes_once_for_each_watermark)
{
	u64 step, total, woken;
	struct auxbuf_span span;
	struct auxbuf buf;

	for (step = 1; step <= 4096; step = step * 3 + 1) {
		make(&buf, 0, 4096);
		woken = 0;
		for (total = step; total < 10 * SIZE; total += step) {
			page.aux_tail = page.aux_head;
			cr_assert(auxbuf_begin(&buf, &span));
			cr_assert_gt(span.wake, span.from);
			cr_assert_leq(span.wake - span.from, 4096);
			woken += auxbuf_end(&buf, step);
			cr_assert_eq(woken, total / 4096, "%llu of %llu", step, total);
		}
	}
}

/* One end may pass several watermarks: one wakeup, and the next is a whole one later. */
Test(auxbuf, wakes_once_for_several_watermarks)
{
	struct auxbuf_span span;
	struct auxbuf buf;

	make(&buf, 0, 4096);
	cr_assert(auxbuf_end(&buf, 3 * 4096 + 5));
	cr_assert(auxbuf_begin(&buf, &span));
	cr_assert_eq(span.wake, 4 * 4096);
	cr_assert_not(auxbuf_end(&buf, 4090));
	cr_assert(auxbuf_end(&buf, 1));
}

Test(auxbuf, survives_a_tail_of_garbage)
{
	static const u64 tails[] = { 1001, 2000, SIZE, 1ULL << 63, 1000 - SIZE, -SIZE };
	struct auxbuf_span span;
	struct auxbuf buf;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tails); i++) {
		make(&buf, 0, 0);
		auxbuf_end(&buf, 1000);
		page.aux_tail = tails[i];
		cr_assert_not(auxbuf_begin(&buf, &span), "tail %llx", tails[i]);
		page.aux_tail = 1000;
		cr_assert(auxbuf_begin(&buf, &span), "and goes on with a right one");
		cr_assert_eq(span.room, SIZE);
	}
}

Test(auxbuf, overwrites_for_ever_what_nobody_reads)
{
	struct auxbuf_span span;
	struct auxbuf buf;

	make(&buf, AUXBUF_OVERWRITE, 4096);
	page.aux_tail = 12345;
	cr_assert(auxbuf_begin(&buf, &span));
	cr_assert_eq(span.room, SIZE);
	cr_assert_not(auxbuf_end(&buf, SIZE + 100), "nobody is woken");
	cr_assert_eq(page.aux_head, 100, "the place of the oldest byte");
	cr_assert(auxbuf_begin(&buf, &span));
	cr_assert_eq(span.from, SIZE + 100);
	cr_assert_eq(span.room, SIZE);
}
