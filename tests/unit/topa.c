// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/topa.c module/ringbuf/auxbuf.c */
/*
 * ToPA tables, written by a processor of 20 lines: it fills region after region as the
 * entries say, and stops and interrupts where they do. Against it: buffers of all sizes,
 * spans from everywhere, readers that are slow.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "pmu/topa.h"

#define REGIONS_MAX	2048U
#define TABLES_MAX	5
#define TABLE_AT	0x100000000ULL	/* table n is at this, plus n pages */
#define REGION_AT	0x200000000ULL

static u64 memory[TABLES_MAX][TOPA_PER_TABLE + 1];

struct processor {
	unsigned int table, entry;
	u64 offset;
	u64 wrote, interrupts;
	u64 interrupted_at;	/* bytes written when the first came */
	bool stopped;
};

static void make(struct topa *topa, unsigned int nr_regions, unsigned int shift)
{
	static u64 *tables[TABLES_MAX];
	static u64 addresses[TABLES_MAX];
	unsigned int i;

	memset(memory, 0, sizeof(memory));
	for (i = 0; i < TABLES_MAX; i++) {
		tables[i] = memory[i];
		addresses[i] = TABLE_AT + i * 4096;
	}
	*topa = (struct topa){
		.tables = tables, .addresses = addresses,
		.nr_regions = nr_regions, .shift = shift, .marked = { -1, -1 },
	};
	for (i = 0; i < nr_regions; i++)
		topa_set(topa, i, REGION_AT + ((u64)i << shift));
}

static void start(struct processor *p, const struct topa_place *place)
{
	*p = (struct processor){
		.table = place->table, .entry = place->entry, .offset = place->offset,
	};
}

/* Write up to @bytes; the regions must be those at @from and after, in their order. */
static void run(struct processor *p, const struct topa *topa, u64 from, u64 bytes)
{
	u64 size = (u64)topa->nr_regions << topa->shift;

	while (bytes && !p->stopped) {
		u64 entry = memory[p->table][p->entry], n;

		if (entry & TOPA_END) {
			p->table = ((entry & TOPA_ADDRESS) - TABLE_AT) / 4096;
			p->entry = 0;
			continue;
		}
		cr_assert_eq((entry >> TOPA_SIZE_SHIFT & 15) + 12, topa->shift);
		cr_assert_eq((entry & TOPA_ADDRESS) + p->offset,
			     REGION_AT + ((from + p->wrote) & (size - 1)), "the wrong place");
		n = BIT_ULL(topa->shift) - p->offset;
		n = n < bytes ? n : bytes;
		p->offset += n;
		p->wrote += n;
		bytes -= n;
		if (p->offset < BIT_ULL(topa->shift))
			return;
		if (entry & TOPA_INT && !p->interrupts++)
			p->interrupted_at = p->wrote;
		if (entry & TOPA_STOP) {
			p->stopped = true;
			return;
		}
		p->entry++;
		p->offset = 0;
	}
}

static u64 written(const struct topa *topa, u64 from, const struct processor *p)
{
	/* Where it says it is, an entry that leads on stands for what it leads to. */
	struct topa_place place = { p->table, p->entry, (u32)p->offset };

	return topa_written(topa, from, &place);
}

Test(topa, tables_lead_to_each_other_in_a_circle)
{
	static const unsigned int sizes[] = { 1, 2, 256, 512, 1024, 2048 };
	struct auxbuf_span span = { .wake = ~0ULL };
	struct topa_place place;
	struct processor p;
	struct topa topa;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		make(&topa, sizes[i], 12);
		span.room = (u64)sizes[i] << 12;
		cr_assert(topa_prepare(&topa, &span, &place));
		start(&p, &place);
		run(&p, &topa, 0, 3 * span.room + 123);
		cr_assert_eq(p.wrote, 3 * span.room + 123);
		cr_assert_eq(p.interrupts, 0);
		cr_assert_eq(written(&topa, 0, &p), 123);
	}
}

/* Nothing may be written beyond what is free, whatever is free. */
Test(topa, stops_before_what_was_not_read)
{
	struct auxbuf_span span;
	struct topa_place place;
	struct processor p;
	struct topa topa;
	u64 from, room, size = 16 << 12;

	make(&topa, 16, 12);
	for (from = 0; from < 2 * size; from += 1365)
		for (room = 1; room <= size; room += 997) {
			span = (struct auxbuf_span){ from, room, from + size };
			if (!topa_prepare(&topa, &span, &place)) {
				cr_assert_lt(room, 4096, "a region would have had room");
				continue;
			}
			start(&p, &place);
			run(&p, &topa, from, 10 * size);
			cr_assert(p.stopped);
			cr_assert_leq(p.wrote, room);
			cr_assert_gt(p.wrote + 4096, room, "more would have had room");
			cr_assert_eq(p.interrupts, 1);
			cr_assert_eq(written(&topa, from, &p), p.wrote);
		}
}

Test(topa, knows_a_buffer_that_is_full_from_one_that_is_empty)
{
	struct auxbuf_span span = { 0, 8 << 13, 8 << 13 };
	struct topa_place place;
	struct processor p;
	struct topa topa;

	make(&topa, 8, 13);
	cr_assert(topa_prepare(&topa, &span, &place));
	start(&p, &place);
	cr_assert_eq(written(&topa, 0, &p), 0);
	run(&p, &topa, 0, 8 << 13);
	cr_assert_eq(written(&topa, 0, &p), 8 << 13);
}

Test(topa, interrupts_at_the_watermark)
{
	u64 from, ahead, size = 16 << 12;
	struct auxbuf_span span;
	struct topa_place place;
	struct processor p;
	struct topa topa;

	make(&topa, 16, 12);
	for (from = 0; from < 2 * size; from += 1365)
		for (ahead = 1; ahead < size; ahead += 1021) {
			span = (struct auxbuf_span){ from, size, from + ahead };
			cr_assert(topa_prepare(&topa, &span, &place));
			start(&p, &place);
			run(&p, &topa, from, 10 * size);
			cr_assert_gt(p.interrupted_at + 4096, ahead);
			cr_assert_lt(p.interrupted_at, ahead + 4096);
		}
}

/* A long trace: the writer is stopped at any time, a slow reader reads behind it. */
Test(topa, goes_round_with_a_reader_behind)
{
	static struct perf_event_mmap_page page;
	struct auxbuf_span span;
	struct topa_place place;
	unsigned int round, full = 0;
	struct processor p;
	struct auxbuf buf;
	struct topa topa;
	u64 total = 0;

	make(&topa, 1024, 12);
	auxbuf_init(&buf, &page, 1024 << 12, 0, 0);
	srandom(1);
	for (round = 0; round < 20000; round++) {
		if (random() % 2)
			page.aux_tail += random() % (page.aux_head - page.aux_tail + 1);
		if (!auxbuf_begin(&buf, &span) || !topa_prepare(&topa, &span, &place)) {
			full++;
			continue;
		}
		start(&p, &place);
		run(&p, &topa, span.from, random() % 1500000);
		cr_assert_leq(p.wrote, span.room);
		cr_assert_eq(written(&topa, span.from, &p), p.wrote);
		auxbuf_end(&buf, p.wrote);
		total += p.wrote;
		cr_assert_eq(page.aux_head, total);
	}
	cr_assert_gt(full, 10);
	cr_assert_gt(total, 100 << 20);
}
