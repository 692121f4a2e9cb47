/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of branches in samples: code whose branches are known, and what the processor of
 * the laboratory notes of them (docs/laboratory.md). For --cpu intel-lbr.
 */
#ifndef VM_BRANCHES_H
#define VM_BRANCHES_H

#include "records.h"

/* Newer than the header of the oldest system that builds this */
#define BRANCH_PRIV_SAVE	(1ull << 18)

#define KERNEL(ip)		((ip) >> 63)

/* Most that a sample can have */
#define BRANCHES_MAX		32

/* Bits of what is told of a branch */
#define BRANCH_MISPRED		(1ull << 0)
#define BRANCH_PREDICTED	(1ull << 1)
#define BRANCH_CYCLES(flags)	((flags) >> 4 & 0xffff)
#define BRANCH_TYPE(flags)	((flags) >> 20 & 0xf)

/**
 * struct known_branch - one of each round of branch_block()
 * @from: and @to: its addresses.
 * @kinds: PERF_SAMPLE_BRANCH_* that ask for it.
 * @type: PERF_BR_*.
 */
struct known_branch {
	const char *from, *to;
	uint64_t kinds;
	unsigned int type;
};

#define KNOWN_BRANCHES		10

extern const struct known_branch known_branches[KNOWN_BRANCHES];

/*
 * The same code elsewhere: branch_block() of a copy, which check_known() knows from then on instead.
 * It has its own pages.
 */
#define BRANCHES_COPY		0x200000000000ull
#define BRANCHES_COPY_LENGTH	8192ull

typedef long (*branch_block_func)(long fd, uint64_t rounds);

branch_block_func branches_move(void);

static inline bool is_in_copy(uint64_t ip)
{
	return ip - BRANCHES_COPY < BRANCHES_COPY_LENGTH;
}

/*
 * branch_nest(fd, rounds): ENABLE, a call of a function that calls another one, which calls a third
 * one, where there are @rounds of a loop; in the first two there are calls before that have returned.
 * DISABLE.
 */
long branch_nest(long fd, uint64_t rounds);

/* The calls that have not returned in the loop, the newest first; and where that is */
#define NESTED_CALLS		3

extern const struct known_branch nested_calls[NESTED_CALLS];

bool is_nested(uint64_t ip);

/* ENABLE of @fd, @rounds of the block, DISABLE: no other branches of user mode in between */
long branch_block(long fd, uint64_t rounds);

/* An event of user instructions that samples branches of these kinds, disabled */
struct perf_event_attr branches_attr(uint64_t period, uint64_t branches);

/*
 * The branches of user mode in a sample of branch_block(), as this event asks for them, must be
 * those before its place, without a gap, the newest first; with what is told of each. Returns how
 * many there are.
 */
uint64_t check_known(const struct perf_event_attr *attr, const struct sample *s);

#endif /* VM_BRANCHES_H */
