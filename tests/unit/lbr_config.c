// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/lbr_config.c module/explain/explain.c */
/*
 * Last branch records: why there are none, what is asked of the processor, which instruction is
 * what, and which records are told.
 */
#include <criterion/criterion.h>

#include "pmu/lbr_config.h"

#define USER	PERF_SAMPLE_BRANCH_USER
#define KERNEL	PERF_SAMPLE_BRANCH_KERNEL
#define ANY	PERF_SAMPLE_BRANCH_ANY
#define CALLS	PERF_SAMPLE_BRANCH_ANY_CALL
#define RETURNS	PERF_SAMPLE_BRANCH_ANY_RETURN

#define IN_KERNEL	0xffffffff81000000ULL
#define IN_USER		0x401000ULL

Test(lbr_config, tells_why_there_are_none)
{
	struct lbr_cpuid id = { .intel = true, .pdcm = true, .capabilities = 0x2000 | 5 };

	cr_assert_null(lbr_caps_decode(&id));
	for (unsigned int format = 0; format < 64; format++) {
		id.capabilities = 0x2000 | format;
		if (format == 5)
			cr_assert_null(lbr_caps_decode(&id));
		else
			cr_assert_str_eq(lbr_caps_decode(&id), format ? PMUCTL_NO_LBR_FORMAT :
									PMUCTL_NO_LBR_ABSENT);
	}
	id.capabilities = 5;
	id.pdcm = false;
	cr_assert_str_eq(lbr_caps_decode(&id), PMUCTL_NO_LBR_ABSENT);
	id.architectural = true;
	cr_assert_str_eq(lbr_caps_decode(&id), PMUCTL_NO_LBR_ARCHITECTURAL);
	id.intel = false;
	cr_assert_str_eq(lbr_caps_decode(&id), PMUCTL_NO_LBR_VENDOR);
}

/* SDM, "Filtering of Last Branch Records": bits 0 to 8 leave out, bit 9 is the call stack's. */
Test(lbr_config, asks_the_processor)
{
	static const struct {
		u64 branches;
		u16 select;
	} choices[] = {
		{ USER | ANY, 0x001 }, { KERNEL | ANY, 0x002 }, { USER | KERNEL | ANY, 0 },
		{ USER | CALLS, 0x0e5 }, { USER | RETURNS, 0x0dd },
		{ USER | PERF_SAMPLE_BRANCH_IND_CALL, 0x1ed }, { USER | PERF_SAMPLE_BRANCH_COND, 0x1f9 },
		{ USER | PERF_SAMPLE_BRANCH_IND_JUMP, 0x1bd }, { USER | PERF_SAMPLE_BRANCH_CALL, 0x1f5 },
		{ USER | PERF_SAMPLE_BRANCH_CALL_STACK, 0x3c5 },
		{ USER | PERF_SAMPLE_BRANCH_COND | RETURNS, 0x0d9 },
		{ USER | PERF_SAMPLE_BRANCH_ABORT_TX, 0x1fd },
	};
	struct pmuctl_explanation why;
	u16 select;

	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		cr_assert_eq(lbr_select_encode(choices[i].branches, &select, &why), 0);
		cr_assert_eq(select, choices[i].select, "%#llx: %#x", choices[i].branches, select);
	}
}

Test(lbr_config, a_call_stack_has_no_other_kinds)
{
	const u64 good = USER | KERNEL | PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_NO_FLAGS |
			 PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_HW_INDEX;
	struct pmuctl_explanation why;
	u16 select;

	cr_assert_eq(lbr_select_encode(good, &select, &why), 0);
	for (unsigned int bit = 3; bit <= 10; bit++) {
		cr_assert_eq(lbr_select_encode(good | 1ULL << bit, &select, &why), -EINVAL);
		cr_assert_eq(why.code, PMUCTL_WHY_BRANCH_CALL_STACK);
	}
}

static void check_insn(enum lbr_kind kind, unsigned int n, const char *bytes)
{
	cr_assert_eq(lbr_kind_of_insn((const u8 *)bytes, n, true), kind, "%#x %#x: not %u",
		     (u8)bytes[0], (u8)bytes[1], kind);
}

Test(lbr_config, knows_branches_by_their_bytes)
{
	check_insn(LBR_COND, 2, "\x74\x10");
	check_insn(LBR_COND, 6, "\x0f\x84\x00\x00\x00\x00");
	check_insn(LBR_COND, 2, "\xe2\xfe");
	check_insn(LBR_COND, 3, "\x2e\x75\x10");
	check_insn(LBR_JMP, 2, "\xeb\x10");
	check_insn(LBR_JMP, 5, "\xe9\x00\x00\x00\x00");
	check_insn(LBR_CALL, 5, "\xe8\x00\x00\x00\x00");
	check_insn(LBR_RET, 1, "\xc3");
	check_insn(LBR_RET, 2, "\xf3\xc3");
	check_insn(LBR_RET, 3, "\xc2\x08\x00");
	check_insn(LBR_IND_CALL, 2, "\xff\xd0");
	check_insn(LBR_IND_CALL, 3, "\x41\xff\xd3");
	check_insn(LBR_IND_CALL, 6, "\xff\x15\x00\x00\x00\x00");
	check_insn(LBR_IND_JMP, 2, "\xff\xe0");
	check_insn(LBR_IND_JMP, 4, "\x3e\x41\xff\xe3");
	check_insn(LBR_SYSCALL, 2, "\x0f\x05");
	check_insn(LBR_SYSRET, 3, "\x48\x0f\x07");
	check_insn(LBR_IRET, 2, "\x48\xcf");
	check_insn(LBR_INT, 2, "\xcd\x80");
	/* None, or the memory ends */
	check_insn(LBR_UNKNOWN, 1, "\x90");
	check_insn(LBR_UNKNOWN, 2, "\xff\xc0");
	check_insn(LBR_UNKNOWN, 1, "\x0f");
	check_insn(LBR_UNKNOWN, 1, "\xff");
	check_insn(LBR_UNKNOWN, 0, "");
	check_insn(LBR_UNKNOWN, 15, "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66");
	/* In 32-bit mode 0x40 is an instruction, no prefix. */
	cr_assert_eq(lbr_kind_of_insn((const u8 *)"\x40\xc3", 2, true), LBR_RET);
	cr_assert_eq(lbr_kind_of_insn((const u8 *)"\x40\xc3", 2, false), LBR_UNKNOWN);
}

/* Nothing that begins or ends in the kernel goes to whom has not asked for the kernel. */
Test(lbr_config, keeps_the_kernels_addresses)
{
	static const struct lbr_record records[] = {
		{ IN_USER, IN_USER, 0 }, { IN_USER, IN_KERNEL, 0 },
		{ IN_KERNEL, IN_USER, 0 }, { IN_KERNEL, IN_KERNEL, 0 },
	};
	static const bool told[][4] = {
		{ true, false, false, false }, { false, true, false, true },
		{ true, true, true, true },
	};
	static const u64 branches[] = { USER | ANY, KERNEL | ANY, USER | KERNEL | ANY };

	for (size_t i = 0; i < 3; i++)
		for (size_t r = 0; r < 4; r++)
			cr_assert_eq(lbr_may_tell(&records[r], branches[i]), told[i][r], "%zu, %zu",
				     i, r);
	cr_assert_not(lbr_may_tell(&(struct lbr_record){ 0, IN_USER, 0 }, branches[2]));
	cr_assert_not(lbr_may_tell(&(struct lbr_record){ IN_USER, 0, 0 }, branches[2]));
}

Test(lbr_config, transactions)
{
	struct lbr_record in = { IN_USER, IN_USER, RECORD_IN_TX }, out = { IN_USER, IN_USER, 0 };
	const u64 both = PERF_SAMPLE_BRANCH_IN_TX | PERF_SAMPLE_BRANCH_NO_TX;

	cr_assert(lbr_may_tell(&in, USER | ANY | PERF_SAMPLE_BRANCH_IN_TX));
	cr_assert_not(lbr_may_tell(&out, USER | ANY | PERF_SAMPLE_BRANCH_IN_TX));
	cr_assert_not(lbr_may_tell(&in, USER | ANY | PERF_SAMPLE_BRANCH_NO_TX));
	cr_assert(lbr_may_tell(&out, USER | ANY | PERF_SAMPLE_BRANCH_NO_TX));
	cr_assert(lbr_may_tell(&in, USER | ANY | both) && lbr_may_tell(&out, USER | ANY | both));
	in.info |= RECORD_ABORT;
	cr_assert_eq(lbr_flags(&in, USER | ANY, LBR_UNKNOWN, true), 0xe);
	cr_assert_eq(lbr_flags(&in, USER | ANY, LBR_UNKNOWN, false), 0x2);
}

static bool is_wanted(u64 from, u64 to, u64 branches, enum lbr_kind kind)
{
	return lbr_is_wanted(&(struct lbr_record){ from, to, 0 }, branches, &kind);
}

/* To the processor they are of one class. */
Test(lbr_config, tells_far_branches_apart)
{
	const u64 all = USER | KERNEL;

	cr_assert(is_wanted(IN_USER, IN_KERNEL, all | CALLS, LBR_SYSCALL));
	cr_assert(is_wanted(IN_USER, IN_KERNEL, all | CALLS, LBR_UNKNOWN));
	cr_assert_not(is_wanted(IN_USER, IN_KERNEL, all | RETURNS, LBR_SYSCALL));
	cr_assert_not(is_wanted(IN_USER, IN_KERNEL, all | RETURNS, LBR_UNKNOWN));
	cr_assert(is_wanted(IN_KERNEL, IN_USER, all | RETURNS, LBR_UNKNOWN));
	cr_assert_not(is_wanted(IN_KERNEL, IN_USER, all | CALLS, LBR_UNKNOWN));
	cr_assert_not(is_wanted(IN_USER, IN_USER, all | CALLS, LBR_IRET));
	cr_assert(is_wanted(IN_USER, IN_USER, all | RETURNS, LBR_IRET));
	cr_assert(is_wanted(IN_USER, IN_USER, all | CALLS, LBR_CALL));
	cr_assert(is_wanted(IN_KERNEL, IN_USER, all | ANY, LBR_UNKNOWN));
	cr_assert(lbr_needs_kind(CALLS) && lbr_needs_kind(ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE));
	cr_assert_not(lbr_needs_kind(ANY) || lbr_needs_kind(ANY | CALLS) ||
		      lbr_needs_kind(PERF_SAMPLE_BRANCH_COND));
}

Test(lbr_config, what_is_told_of_each)
{
	struct lbr_record record = { IN_USER, IN_KERNEL, RECORD_MISPRED | 0x1234 };
	const u64 type = PERF_SAMPLE_BRANCH_TYPE_SAVE;
	const u64 none = PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;
	enum lbr_kind kind = LBR_UNKNOWN;

	cr_assert_eq(lbr_flags(&record, ANY, kind, true), 0x12341);
	record.info &= ~RECORD_MISPRED;
	cr_assert_eq(lbr_flags(&record, ANY, kind, true), 0x12342);
	cr_assert_eq(lbr_flags(&record, ANY | PERF_SAMPLE_BRANCH_NO_FLAGS, kind, true), 0x12342);
	cr_assert_eq(lbr_flags(&record, ANY | none, kind, true), 0);
	cr_assert(lbr_is_wanted(&record, ANY | type, &kind));
	cr_assert_eq(kind, LBR_IRQ);
	cr_assert_eq(lbr_flags(&record, ANY | type | none, kind, true), 12 << 20);
	cr_assert_eq(lbr_flags(&record, ANY | type | none, LBR_COND, true), 1 << 20);
	cr_assert_eq(lbr_flags(&record, ANY | type | none, LBR_INT, true), 0);
}
