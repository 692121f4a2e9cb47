// SPDX-License-Identifier: GPL-2.0-only
#include "bts.h"

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
} bts_known[BTS_KNOWN] = {
	{ bts_call, bts_function }, { bts_return, bts_back }, { bts_jump, bts_over },
	{ bts_loop_jump, bts_loop }, { bts_loop_jump, bts_loop },
	{ bts_indirect, bts_target }, { bts_indirect_call, bts_function },
	{ bts_return, bts_after }, { bts_final, NULL },
};

uint32_t bts_type(void)
{
	return trace_type_of(1, "intel_bts");
}

union raw_attr bts_attr(void)
{
	union raw_attr a = raw_attr(bts_type(), 0);

	a.attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	a.attr.sample_id_all = 1;
	return a;
}

void bts_open(struct trace *t, union raw_attr *attr, pid_t pid, int cpu,
	      size_t pages, int prot)
{
	trace_open(t, attr, pid, cpu, pages, prot);
	/* What is left at the end of the buffer when an interrupt has come */
	t->gap = 4096;
}

/* ---- Code whose branches are known ---- */

static bool bts_in_block(uint64_t ip)
{
	return ip >= (uintptr_t)bts_block && ip < (uintptr_t)bts_block_end;
}

size_t bts_rounds(const struct branch *b, size_t n)
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

size_t bts_find_gap(const struct branch *b, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t begin = KERNEL(b[i - 1].to) ? b[i - 1].from : b[i - 1].to;

		if (b[i].from - begin >= 4096 && !KERNEL(b[i - 1].to))
			return i;
	}
	return 0;
}

void bts_follow(struct bts_way *way, const struct branch *b, size_t n)
{
	for (; n--; b++) {
		if (KERNEL(b->from) || KERNEL(b->to) || (!b->from && !b->to))
			continue;
		way->branches++;
		way->hash = (way->hash ^ b->from) * 0x100000001b3;
		way->hash = (way->hash ^ b->to) * 0x100000001b3;
	}
}
