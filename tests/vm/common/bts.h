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

static inline uint32_t bts_type(void)
{
	return trace_type_of(1, "intel_bts");
}

/* The branches of user mode, from when it is enabled */
static inline union raw_attr bts_attr(void)
{
	union raw_attr a = raw_attr(bts_type(), 0);

	a.attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	a.attr.sample_id_all = 1;
	return a;
}

static inline void bts_open(struct trace *t, union raw_attr *attr, pid_t pid, int cpu,
			    size_t pages, int prot)
{
	trace_open(t, attr, pid, cpu, pages, prot);
	/* What is left at the end of the buffer when an interrupt has come */
	t->gap = 4096;
}

/* ---- Code whose branches are known ---- */

/* Three calls, two jumps and a loop of two rounds; @way is where an indirect jump goes to. */
void bts_block(void);
extern const char bts_block_end[];
extern const char bts_call[], bts_function[], bts_return[], bts_back[], bts_jump[], bts_over[],
	bts_loop[], bts_loop_jump[], bts_not_taken[], bts_indirect[], bts_target[],
	bts_indirect_call[], bts_after[], bts_final[];

asm(".text\n"
    ".globl bts_block\n"
    "bts_block:\n"
    "bts_call:		call	bts_function\n"
    "bts_back:		xor	%eax, %eax\n"
    "bts_jump:		jmp	bts_over\n"
    "			ud2\n"
    "bts_function:	test	%esp, %esp\n"
    "bts_not_taken:	jz	bts_over\n"
    "bts_return:		ret\n"
    "bts_over:		mov	$3, %ecx\n"
    "bts_loop:		dec	%ecx\n"
    "bts_loop_jump:	jnz	bts_loop\n"
    "			lea	bts_target(%rip), %rax\n"
    "bts_indirect:	jmp	*%rax\n"
    "			ud2\n"
    "bts_target:		lea	bts_function(%rip), %rax\n"
    "bts_indirect_call:	call	*%rax\n"
    "bts_after:		nop\n"
    "bts_final:		ret\n"
    "bts_block_end:\n");

static const struct {
	const char *from, *to;
} bts_known[] = {
	{ bts_call, bts_function }, { bts_return, bts_back }, { bts_jump, bts_over },
	{ bts_loop_jump, bts_loop }, { bts_loop_jump, bts_loop },
	{ bts_indirect, bts_target }, { bts_indirect_call, bts_function },
	{ bts_return, bts_after }, { bts_final, NULL },
};

#define BTS_KNOWN	RAW_ARRAY_SIZE(bts_known)

static inline bool bts_in_block(uint64_t ip)
{
	return ip >= (uintptr_t)bts_block && ip < (uintptr_t)bts_block_end;
}

/*
 * How many rounds of the block are in records; each must be complete and in order, but for
 * interrupts, which go to the kernel, and maybe the last.
 */
static inline size_t bts_rounds(const struct branch *b, size_t n)
{
	size_t step = 0, rounds = 0;

	for (size_t i = 0; i < n; i++) {
		if (!bts_in_block(b[i].from) || KERNEL(b[i].to))
			continue;
		cr_assert_eq(b[i].from, (uintptr_t)bts_known[step].from,
			     "round %zu, branch %zu is at %#lx", rounds, step, b[i].from);
		if (bts_known[step].to)
			cr_assert_eq(b[i].to, (uintptr_t)bts_known[step].to,
				     "round %zu, branch %zu goes to %#lx", rounds, step, b[i].to);
		if (++step == BTS_KNOWN) {
			step = 0;
			rounds++;
		}
	}
	return rounds;
}

/* ---- A way through a program ---- */

/*
 * Is it possible? Where a branch has gone to, code runs straight to the next one; and it goes
 * on where the kernel was entered, but for signals and their ends. Returns what is not
 * possible, the index of a record, or 0.
 */
static inline size_t bts_find_gap(const struct branch *b, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t begin = KERNEL(b[i - 1].to) ? b[i - 1].from : b[i - 1].to;

		if (b[i].from - begin >= 4096 && !KERNEL(b[i - 1].to))
			return i;
	}
	return 0;
}

/* Of all branches from one place in user mode to another, in order */
struct bts_way {
	uint64_t branches, hash;
};

static inline void bts_follow(struct bts_way *way, const struct branch *b, size_t n)
{
	for (; n--; b++) {
		if (KERNEL(b->from) || KERNEL(b->to) || (!b->from && !b->to))
			continue;
		way->branches++;
		way->hash = (way->hash ^ b->from) * 0x100000001b3;
		way->hash = (way->hash ^ b->to) * 0x100000001b3;
	}
}

#endif /* VM_BTS_H */
