/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ToPA tables: how Intel Processor Trace is told of the memory it writes to. Each entry
 * is a region, all of the same size here; a table is a page of entries, the last of which
 * leads to the next table, and from the last table to the first. SDM Vol. 3C, "Table of
 * Physical Addresses (ToPA)".
 *
 * Pure logic: addresses are numbers. A region can have two marks: STOP, after it nothing
 * is written, and INT, when it is full an interrupt comes.
 */
#ifndef PMUCTL_PMU_TOPA_H
#define PMUCTL_PMU_TOPA_H

#include "ringbuf/auxbuf.h"

/* The last one of a table leads on. */
#define TOPA_PER_TABLE	511U

#define TOPA_END	BIT_ULL(0)
#define TOPA_INT	BIT_ULL(2)
#define TOPA_STOP	BIT_ULL(4)
#define TOPA_SIZE_SHIFT	6
#define TOPA_ADDRESS	GENMASK_ULL(51, 12)

/**
 * struct topa - the tables of a buffer
 * @tables: as the kernel sees them.
 * @addresses: as the processor does.
 * @nr_regions: a power of two.
 * @shift: a region has 2^this bytes.
 * @marked: the regions that have marks now, -1 for none.
 */
struct topa {
	u64 **tables;
	u64 *addresses;
	unsigned int nr_regions;
	unsigned int shift;
	int marked[2];
};

/**
 * struct topa_place - where output begins, in the processor's terms
 * @table: number of the table.
 * @entry: number of its entry.
 * @offset: in that region.
 */
struct topa_place {
	unsigned int table;
	unsigned int entry;
	u32 offset;
};

static inline unsigned int topa_nr_tables(unsigned int nr_regions)
{
	return (nr_regions + TOPA_PER_TABLE - 1) / TOPA_PER_TABLE;
}

/* Fill the entry of a region, and the one that leads on from the last of its table. */
void topa_set(struct topa *topa, unsigned int region, u64 address);

/**
 * topa_prepare() - set the marks for what may be written
 * @topa: filled; the processor does not use it.
 * @span: what may be written; its wake is U64_MAX if nobody wants an interrupt, and
 *	everything may be overwritten.
 * @place: is filled.
 *
 * Context: NMI-safe.
 * Return: true; false if there is no room up to the end of a region.
 */
bool topa_prepare(struct topa *topa, const struct auxbuf_span *span,
		  struct topa_place *place);

/**
 * topa_written() - how much has been written?
 * @topa: prepared.
 * @from: the position where it began.
 * @place: where the processor is now.
 *
 * Context: NMI-safe.
 * Return: bytes; all of the buffer if it was stopped when that was full, else less.
 */
u64 topa_written(const struct topa *topa, u64 from, const struct topa_place *place);

#endif /* PMUCTL_PMU_TOPA_H */
