// SPDX-License-Identifier: GPL-2.0-only
/*
 * ToPA tables; topa.h explains them. This file compiles in user space too. NMI-safe.
 */
#include "pmu/topa.h"

static u64 *entry_of(const struct topa *topa, unsigned int region)
{
	return &topa->tables[region / TOPA_PER_TABLE][region % TOPA_PER_TABLE];
}

void topa_set(struct topa *topa, unsigned int region, u64 address)
{
	unsigned int next = region / TOPA_PER_TABLE + 1;
	u64 *entry = entry_of(topa, region);

	*entry = address | (u64)(topa->shift - 12) << TOPA_SIZE_SHIFT;
	if (region + 1 == topa->nr_regions)
		entry[1] = topa->addresses[0] | TOPA_END;
	else if (region % TOPA_PER_TABLE == TOPA_PER_TABLE - 1)
		entry[1] = topa->addresses[next] | TOPA_END;
}

static void unmark(struct topa *topa)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(topa->marked); i++) {
		if (topa->marked[i] >= 0)
			*entry_of(topa, topa->marked[i]) &= ~(TOPA_INT | TOPA_STOP);
		topa->marked[i] = -1;
	}
}

static void mark(struct topa *topa, unsigned int i, u64 position, u64 marks)
{
	/* The region that ends at @position, or in which it is */
	unsigned int region = ((position - 1) >> topa->shift) & (topa->nr_regions - 1);

	topa->marked[i] = region;
	*entry_of(topa, region) |= marks;
}

bool topa_prepare(struct topa *topa, const struct auxbuf_span *span,
		  struct topa_place *place)
{
	u64 mask = BIT_ULL(topa->shift) - 1;
	unsigned int region = (span->from >> topa->shift) & (topa->nr_regions - 1);
	u64 end = (span->from + span->room) & ~mask;

	unmark(topa);
	if (span->wake != ~0ULL) {
		if (end <= span->from)
			return false;
		mark(topa, 0, end, TOPA_INT | TOPA_STOP);
		if (((span->wake + mask) & ~mask) < end)
			mark(topa, 1, span->wake, TOPA_INT);
	}
	place->table = region / TOPA_PER_TABLE;
	place->entry = region % TOPA_PER_TABLE;
	place->offset = span->from & mask;
	return true;
}

u64 topa_written(const struct topa *topa, u64 from, const struct topa_place *place)
{
	u64 size = (u64)topa->nr_regions << topa->shift;
	u64 at = ((u64)(place->table * TOPA_PER_TABLE + place->entry) << topa->shift) +
		 place->offset;
	u64 written = (at - from) & (size - 1);

	/* At the end of a region it stays only if it was told to stop there. */
	return !written && place->offset == BIT_ULL(topa->shift) ? size : written;
}
