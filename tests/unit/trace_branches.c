// SPDX-License-Identifier: GPL-2.0-only
/* sources: tools/trace/branches.c */
/*
 * Records of Branch Trace Store: which kind of branch each one is, by the code at its place.
 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "../../tools/perffile/perffile_format.h"
#include "../../tools/trace/trace.h"

#define USER	0x401000ULL
#define OTHER	0x402000ULL
#define KERNEL	0xffffffff81000000ULL

static uint8_t code[15];
static size_t code_size;
static struct trace_step steps[8];
static size_t step_count;

static int read_code(void *arg, uint64_t ip, uint8_t *to, size_t size)
{
	size_t n = code_size < size ? code_size : size;

	(void)arg;
	(void)ip;
	memcpy(to, code, n);
	return (int)n;
}

static void take(void *arg, const struct trace_step *step)
{
	(void)arg;
	cr_assert_lt(step_count, 8);
	steps[step_count++] = *step;
}

static void decode(const struct perffile_branch *branches, size_t size)
{
	const struct trace_piece piece = {
		.bytes = (const uint8_t *)branches, .size = size, .read = read_code, .visit = take,
	};

	step_count = 0;
	trace_branches(&piece);
}

static enum trace_step_kind kind_of(const char *bytes, size_t size, uint64_t from, uint64_t to)
{
	const struct perffile_branch branch = { from, to, 0 };

	memcpy(code, bytes, size);
	code_size = size;
	decode(&branch, sizeof(branch));
	cr_assert_eq(step_count, 1);
	cr_assert_eq(steps[0].from, from);
	cr_assert_eq(steps[0].to, to);
	return steps[0].kind;
}

#define kind(bytes, from, to)	kind_of(bytes, sizeof(bytes) - 1, from, to)

Test(trace_branches, kinds)
{
	cr_expect_eq(kind("\xe8\0\0\0\0", USER, OTHER), TRACE_CALL);
	cr_expect_eq(kind("\xff\xd0", USER, OTHER), TRACE_CALL);
	cr_expect_eq(kind("\x41\xff\xd4", USER, OTHER), TRACE_CALL); /* call *%r12 */
	cr_expect_eq(kind("\x3e\xff\xd0", USER, OTHER), TRACE_CALL); /* notrack */
	cr_expect_eq(kind("\xff\xe0", USER, OTHER), TRACE_JUMP);
	cr_expect_eq(kind("\xeb\x05", USER, OTHER), TRACE_JUMP);
	cr_expect_eq(kind("\x75\x05", USER, OTHER), TRACE_JUMP);
	cr_expect_eq(kind("\x0f\x84\0\0\0\0", USER, OTHER), TRACE_JUMP);
	cr_expect_eq(kind("\xe2\xfe", USER, OTHER), TRACE_JUMP); /* loop */
	cr_expect_eq(kind("\xc3", USER, OTHER), TRACE_RETURN);
	cr_expect_eq(kind("\xf3\xc3", USER, OTHER), TRACE_RETURN);
	cr_expect_eq(kind("\xc2\x08\0", USER, OTHER), TRACE_RETURN);
	cr_expect_eq(kind("\x0f\x05", USER, KERNEL), TRACE_SYSTEM_CALL);
	cr_expect_eq(kind("\xcd\x80", USER, KERNEL), TRACE_SYSTEM_CALL);
	cr_expect_eq(kind("\x48\x0f\x07", KERNEL, USER), TRACE_SYSTEM_RETURN);
	cr_expect_eq(kind("\x48\xcf", KERNEL, USER), TRACE_SYSTEM_RETURN);
	cr_expect_eq(kind("\x90", USER, KERNEL), TRACE_INTERRUPT);
	/* A branch whose target faults, or which an interrupt comes before */
	cr_expect_eq(kind("\xe8\0\0\0\0", USER, KERNEL), TRACE_INTERRUPT);
}

Test(trace_branches, code_that_is_not_there)
{
	cr_expect_eq(kind("", USER, OTHER), TRACE_INTERRUPT);
	cr_expect_eq(kind("", USER, KERNEL), TRACE_INTERRUPT);
	cr_expect_eq(kind("", KERNEL, USER), TRACE_SYSTEM_RETURN);
	cr_expect_eq(kind("", KERNEL, KERNEL + 5), TRACE_JUMP);
	/* Nothing but prefixes, up to the end of what an instruction can have */
	cr_expect_eq(kind("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66", USER, OTHER),
		     TRACE_INTERRUPT);
}

/* What was left out at the end of a buffer is zeros; half a record is none. */
Test(trace_branches, records_that_mean_nothing)
{
	static const struct perffile_branch branches[] = {
		{ USER, OTHER, 16 }, { 0, 0, 0 }, { 0, USER, 0 }, { OTHER, 0, 0 }, { USER, OTHER, 0 },
	};

	code[0] = 0xc3;
	code_size = 1;
	decode(branches, sizeof(branches) - 1);
	cr_assert_eq(step_count, 3);
	cr_assert_eq(steps[0].kind, TRACE_RETURN);
	cr_assert_eq(steps[1].kind, TRACE_BEGIN);
	cr_assert_eq(steps[1].to, USER);
	cr_assert_eq(steps[2].kind, TRACE_END);
	cr_assert_eq(steps[2].from, OTHER);
}
