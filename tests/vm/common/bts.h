/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of Branch Trace Store: its records, and code whose branches are known.
 */
#ifndef VM_BTS_H
#define VM_BTS_H

#include "aux.h"

struct branch {
	uint64_t from, to, flags;
};

#define BRANCH		sizeof(struct branch)
#define KERNEL(ip)	((ip) >> 63)

uint32_t bts_type(void);

/* The branches of user mode, from when it is enabled */
union raw_attr bts_attr(void);

void bts_open(struct trace *t, union raw_attr *attr, pid_t pid, int cpu,
	      size_t pages, int prot);

/* ---- Code whose branches are known ---- */

/* Three calls, two jumps and a loop of two rounds; @way is where an indirect jump goes to. */
void bts_block(void);

#define BTS_KNOWN	9	/* branches of it */

/*
 * How many rounds of the block are in records; each must be complete and in order, but for
 * interrupts, which go to the kernel, and maybe the last.
 */
size_t bts_rounds(const struct branch *b, size_t n);

/* ---- A way through a program ---- */

/*
 * Is it possible? Where a branch has gone to, code runs straight to the next one; and it goes
 * on where the kernel was entered, but for signals and their ends. Returns what is not
 * possible, the index of a record, or 0.
 */
size_t bts_find_gap(const struct branch *b, size_t n);

/* Of all branches from one place in user mode to another, in order */
struct bts_way {
	uint64_t branches, hash;
};

void bts_follow(struct bts_way *way, const struct branch *b, size_t n);

#endif /* VM_BTS_H */
