// SPDX-License-Identifier: GPL-2.0-only
/*
 * Last branch records: checking, filtering and decoding. Pure logic: compiles in user space too.
 *
 * What each bit of attr.branch_sample_type asks of the processor, and what remains to be left out
 * afterwards, is what perf makes of it: far branches are of one class to the processor, whatever
 * they are.
 */
#include "pmu/lbr_config.h"

/* Bits of struct perf_branch_entry */
#define ENTRY_MISPRED		BIT_ULL(0)
#define ENTRY_PREDICTED		BIT_ULL(1)
#define ENTRY_IN_TX		BIT_ULL(2)
#define ENTRY_ABORT		BIT_ULL(3)
#define ENTRY_CYCLES_SHIFT	4
#define ENTRY_TYPE_SHIFT	20

const char *lbr_caps_decode(const struct lbr_cpuid *id)
{
	if (!id->intel)
		return PMUCTL_NO_LBR_VENDOR;
	if (id->architectural)
		return PMUCTL_NO_LBR_ARCHITECTURAL;
	if (!id->pdcm || !(id->capabilities & LBR_FORMAT_MASK))
		return PMUCTL_NO_LBR_ABSENT;
	if ((id->capabilities & LBR_FORMAT_MASK) != LBR_FORMAT_INFO)
		return PMUCTL_NO_LBR_FORMAT;
	return NULL;
}

int lbr_select_encode(u64 branches, u16 *select, struct pmuctl_explanation *why)
{
	static const struct {
		u64 asked;
		u16 wanted;
	} map[] = {
		{ PERF_SAMPLE_BRANCH_USER, LBR_SELECT_USER },
		{ PERF_SAMPLE_BRANCH_KERNEL, LBR_SELECT_KERNEL },
		{ PERF_SAMPLE_BRANCH_ANY, LBR_SELECT_ALL & ~(LBR_SELECT_USER | LBR_SELECT_KERNEL) },
		{ PERF_SAMPLE_BRANCH_ANY_CALL,
		  LBR_SELECT_REL_CALL | LBR_SELECT_IND_CALL | LBR_SELECT_FAR },
		{ PERF_SAMPLE_BRANCH_ANY_RETURN, LBR_SELECT_RETURN | LBR_SELECT_FAR },
		{ PERF_SAMPLE_BRANCH_IND_CALL, LBR_SELECT_IND_CALL },
		{ PERF_SAMPLE_BRANCH_COND, LBR_SELECT_JCC },
		{ PERF_SAMPLE_BRANCH_CALL_STACK,
		  LBR_SELECT_REL_CALL | LBR_SELECT_IND_CALL | LBR_SELECT_RETURN },
		{ PERF_SAMPLE_BRANCH_IND_JUMP, LBR_SELECT_IND_JMP },
		{ PERF_SAMPLE_BRANCH_CALL, LBR_SELECT_REL_CALL },
	};
	const u64 kinds = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_ANY_CALL |
		PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_IND_CALL |
		PERF_SAMPLE_BRANCH_ABORT_TX | PERF_SAMPLE_BRANCH_IN_TX |
		PERF_SAMPLE_BRANCH_NO_TX | PERF_SAMPLE_BRANCH_COND;
	u16 wanted = 0;
	unsigned int i;

	if (branches & PERF_SAMPLE_BRANCH_CALL_STACK && branches & kinds)
		return pmuctl_refuse(why, BRANCH_CALL_STACK, "attr.branch_sample_type");
	for (i = 0; i < ARRAY_SIZE(map); i++)
		if (branches & map[i].asked)
			wanted |= map[i].wanted;
	*select = LBR_SELECT_ALL & ~wanted;
	if (branches & PERF_SAMPLE_BRANCH_CALL_STACK)
		*select |= LBR_SELECT_CALL_STACK;
	return 0;
}

/* ---- Instructions: SDM Vol. 2, appendix "Opcode Map" ---- */

static bool is_prefix(u8 byte, bool is_64)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: case 0x66: case 0x67:
	case 0xf0: case 0xf2: case 0xf3:
		return true;
	default:
		return is_64 && (byte & 0xf0) == 0x40; /* REX */
	}
}

static enum lbr_kind kind_of_two_bytes(u8 opcode)
{
	switch (opcode) {
	case 0x05: case 0x34:
		return LBR_SYSCALL;
	case 0x07: case 0x35:
		return LBR_SYSRET;
	case 0x80 ... 0x8f:
		return LBR_COND;
	default:
		return LBR_UNKNOWN;
	}
}

/* Group 5, by the REG field of its second byte */
static enum lbr_kind kind_of_group(u8 modrm)
{
	switch (modrm >> 3 & 7) {
	case 2: case 3:
		return LBR_IND_CALL;
	case 4: case 5:
		return LBR_IND_JMP;
	default:
		return LBR_UNKNOWN;
	}
}

enum lbr_kind lbr_kind_of_insn(const u8 *insn, unsigned int n, bool is_64)
{
	while (n && is_prefix(*insn, is_64)) {
		insn++;
		n--;
	}
	if (!n)
		return LBR_UNKNOWN;
	switch (*insn) {
	case 0x0f:
		return n > 1 ? kind_of_two_bytes(insn[1]) : LBR_UNKNOWN;
	case 0x70 ... 0x7f: case 0xe0 ... 0xe3:
		return LBR_COND;
	case 0xc2: case 0xc3: case 0xca: case 0xcb:
		return LBR_RET;
	case 0xcc: case 0xcd: case 0xce:
		return LBR_INT;
	case 0xcf:
		return LBR_IRET;
	case 0xe8: case 0x9a:
		return LBR_CALL;
	case 0xe9: case 0xea: case 0xeb:
		return LBR_JMP;
	case 0xff:
		return n > 1 ? kind_of_group(insn[1]) : LBR_UNKNOWN;
	default:
		return LBR_UNKNOWN;
	}
}

/* ---- Which records are told ---- */

bool lbr_may_tell(const struct lbr_record *record, u64 branches)
{
	if (!record->from || !record->to)
		return false;
	if ((lbr_is_kernel(record->from) || lbr_is_kernel(record->to)) &&
	    !(branches & PERF_SAMPLE_BRANCH_KERNEL))
		return false;
	if (!lbr_is_kernel(record->to) && !(branches & PERF_SAMPLE_BRANCH_USER))
		return false;
	if (!(branches & (PERF_SAMPLE_BRANCH_IN_TX | PERF_SAMPLE_BRANCH_NO_TX)))
		return true;
	return branches & (record->info & RECORD_IN_TX ? PERF_SAMPLE_BRANCH_IN_TX :
							   PERF_SAMPLE_BRANCH_NO_TX);
}

bool lbr_needs_kind(u64 branches)
{
	if (branches & PERF_SAMPLE_BRANCH_TYPE_SAVE)
		return true;
	return !(branches & PERF_SAMPLE_BRANCH_ANY) &&
		branches & (PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_ANY_RETURN);
}

/* Far branches are all there if one of these two choices asks for some. */
static bool is_of_kind(enum lbr_kind kind, u64 branches)
{
	switch (kind) {
	case LBR_SYSCALL: case LBR_INT: case LBR_IRQ:
		return branches & PERF_SAMPLE_BRANCH_ANY_CALL;
	case LBR_SYSRET: case LBR_IRET:
		return branches & PERF_SAMPLE_BRANCH_ANY_RETURN;
	default:
		return true;
	}
}

/* What is in the kernel is not decoded: its text is told apart from its data by nobody here. */
bool lbr_is_wanted(const struct lbr_record *record, u64 branches, enum lbr_kind *kind)
{
	if (!lbr_is_kernel(record->from) && lbr_is_kernel(record->to) &&
	    *kind != LBR_SYSCALL && *kind != LBR_INT)
		*kind = LBR_IRQ;
	if (branches & PERF_SAMPLE_BRANCH_ANY)
		return true;
	/* Whatever it is, it goes back to user mode. */
	if (lbr_is_kernel(record->from) && !lbr_is_kernel(record->to))
		return branches & PERF_SAMPLE_BRANCH_ANY_RETURN;
	return is_of_kind(*kind, branches);
}

/* As perf has them */
static u64 type_of(enum lbr_kind kind)
{
	static const u8 types[] = {
		[LBR_COND] = 1, [LBR_JMP] = 2, [LBR_IND_JMP] = 3, [LBR_CALL] = 4,
		[LBR_IND_CALL] = 5, [LBR_RET] = 6, [LBR_SYSCALL] = 7, [LBR_SYSRET] = 8,
		[LBR_IRET] = 11, [LBR_IRQ] = 12,
	};

	return kind < ARRAY_SIZE(types) ? types[kind] : 0;
}

u64 lbr_flags(const struct lbr_record *record, u64 branches, enum lbr_kind kind, bool transactions)
{
	const u64 none = PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;
	u64 flags = 0;

	if ((branches & none) != none) {
		flags = record->info & RECORD_MISPRED ? ENTRY_MISPRED : ENTRY_PREDICTED;
		if (transactions && record->info & RECORD_IN_TX)
			flags |= ENTRY_IN_TX;
		if (transactions && record->info & RECORD_ABORT)
			flags |= ENTRY_ABORT;
		flags |= (record->info & RECORD_CYCLES) << ENTRY_CYCLES_SHIFT;
	}
	if (branches & PERF_SAMPLE_BRANCH_TYPE_SAVE)
		flags |= type_of(kind) << ENTRY_TYPE_SHIFT;
	return flags;
}
