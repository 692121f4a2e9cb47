// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/bts_window.c module/ringbuf/auxbuf.c */
/*
 * What Branch Trace Store may write, against a processor of 20 lines that writes record after
 * record: buffers of all sizes, spans from everywhere, readers that are slow.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "pmu/bts_window.h"

#define MARGIN	(170 * BTS_RECORD)

struct processor {
	u64 next;
	u64 wrote, lost;
	u64 interrupted_at;	/* bytes written when the first came; all ones: none came */
};

static void start(struct processor *p, const struct bts_window *w)
{
	*p = (struct processor){ .next = w->first, .interrupted_at = ~0ULL };
}

/* Write @n records; it stops at the end, or goes round. */
static void run(struct processor *p, const struct bts_window *w, u64 n)
{
	for (; n; n--) {
		if (p->next + BTS_RECORD > w->end) {
			if (!w->circular) {
				p->lost++;
				continue;
			}
			p->next = 0;
		}
		cr_assert_eq(p->next % BTS_RECORD, 0, "a record at %llu", p->next);
		p->next += BTS_RECORD;
		p->wrote += BTS_RECORD;
		if (p->next >= w->threshold && p->interrupted_at == ~0ULL)
			p->interrupted_at = p->wrote;
	}
}

/* Nothing is written beyond what is free, whatever is free, and there is always a margin. */
Test(bts_window, ends_before_what_was_not_read)
{
	u64 size = 64 << 10, from, room;
	struct processor p;
	struct bts_window w;

	for (from = 0; from < 2 * size; from += 24 * 57) {
		u64 lap = from / size, position = lap * size + from % size / BTS_RECORD * BTS_RECORD;

		for (room = 1; room <= size; room += 997) {
			struct auxbuf_span span = { position, room, position + size };

			if (!bts_window_open(&w, size, &span)) {
				cr_assert_leq(room, 2 * MARGIN + BTS_RECORD + 16);
				continue;
			}
			start(&p, &w);
			run(&p, &w, size / BTS_RECORD);
			cr_assert_leq(w.skip + p.wrote, room);
			cr_assert_leq(w.first + p.wrote, bts_lap(size));
			cr_assert_eq((position + w.skip - w.first) % size, 0);
			cr_assert_eq(bts_window_written(&w, size, p.next), p.wrote);
			cr_assert_eq(p.wrote - p.interrupted_at, MARGIN);
		}
	}
}

Test(bts_window, small_buffers_have_small_margins)
{
	struct auxbuf_span span = { 0, 4096, 4096 };
	struct bts_window w;

	cr_assert(bts_window_open(&w, 4096, &span));
	cr_assert_eq(w.end, 4080);
	cr_assert_eq(w.end - w.threshold, 1008);
	cr_assert_eq(w.skip, 0);
	/* The rest at the end is left out, and what is read at the beginning is free again. */
	span = (struct auxbuf_span){ 3072, 4096, 8192 };
	cr_assert(bts_window_open(&w, 4096, &span));
	cr_assert_eq(w.skip, 1024);
	cr_assert_eq(w.first, 0);
	cr_assert_eq(w.end, 3072);
	span.room = 1024;
	cr_assert_not(bts_window_open(&w, 4096, &span));
	span.room = 1024 + 1008;
	cr_assert_not(bts_window_open(&w, 4096, &span));
	span.room = 1024 + 1008 + 24;
	cr_assert(bts_window_open(&w, 4096, &span));
}

Test(bts_window, interrupts_at_the_watermark)
{
	u64 size = 64 << 10, ahead;
	struct processor p;
	struct bts_window w;

	for (ahead = 1; ahead < size; ahead += 1021) {
		struct auxbuf_span span = { 2 * size, size, 2 * size + ahead };
		u64 most = bts_lap(size) - MARGIN;

		cr_assert(bts_window_open(&w, size, &span));
		start(&p, &w);
		run(&p, &w, size / BTS_RECORD);
		cr_assert_eq(p.interrupted_at,
			     ahead < most ? bts_lap(ahead + BTS_RECORD - 1) : most);
	}
	/* One that was passed while the rest of the buffer was left out comes at once. */
	cr_assert(bts_window_open(&w, size, &(struct auxbuf_span){ size - 64, size, size - 8 }));
	cr_assert_eq(w.threshold, BTS_RECORD);
}

Test(bts_window, goes_round_in_a_snapshot)
{
	u64 size = 8192, position = 0;
	struct bts_window w;
	struct processor p;
	unsigned int i;

	srandom(1);
	for (i = 0; i < 10000; i++) {
		struct auxbuf_span span = { position, size, ~0ULL };
		u64 written;

		cr_assert(bts_window_open(&w, size, &span));
		cr_assert_eq(w.skip, 0);
		start(&p, &w);
		run(&p, &w, random() % 1000);
		cr_assert_eq(p.lost, 0);
		cr_assert_eq(p.interrupted_at, ~0ULL);
		written = bts_window_written(&w, size, p.next);
		cr_assert_lt(written, size);
		position += written;
		/* The next one begins where this one ended. */
		cr_assert_eq(position % size, p.next == bts_lap(size) ? 0 : p.next);
	}
}

/* A long trace: the writer is stopped at any time, a slow reader reads behind it. */
Test(bts_window, loses_nothing_between_interrupt_and_handler)
{
	static struct perf_event_mmap_page page;
	unsigned int round, full = 0, skips = 0;
	struct auxbuf_span span;
	struct processor p;
	struct auxbuf buf;
	struct bts_window w;
	u64 total = 0, left_out = 0;

	auxbuf_init(&buf, &page, 64 << 10, 0, 0);
	srandom(1);
	for (round = 0; round < 20000; round++) {
		u64 n = random() % 4000, until;

		if (random() % 2)
			page.aux_tail += random() % (page.aux_head - page.aux_tail + 1);
		if (!auxbuf_begin(&buf, &span) || !bts_window_open(&w, buf.size, &span)) {
			full++;
			continue;
		}
		/* Up to 170 records follow the interrupt. */
		until = (w.threshold - w.first) / BTS_RECORD + random() % 171;
		start(&p, &w);
		run(&p, &w, n < until ? n : until);
		cr_assert_eq(p.lost, 0);
		if (p.wrote && w.skip) {
			left_out += w.skip;
			skips++;
			cr_assert_leq(w.skip, MARGIN + 16);
		} else if (!p.wrote) {
			w.skip = 0;
		}
		cr_assert_eq((buf.head + w.skip) % buf.size, w.first % buf.size);
		total += bts_window_written(&w, buf.size, p.next);
		auxbuf_end(&buf, w.skip + bts_window_written(&w, buf.size, p.next));
		cr_assert_leq(page.aux_head - page.aux_tail, buf.size);
	}
	cr_assert_eq(buf.head, total + left_out);
	cr_assert_gt(skips, 100);
	cr_assert_gt(full, 100);
}
