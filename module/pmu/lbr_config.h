/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Last branch records: which a processor has, what a user may ask of them, and which of them an
 * event tells. Pure logic on register values, so that every processor can be tested on any.
 *
 * Sections cited here are of the SDM, Vol. 3B, chapter "Debug, Branch Profile, TSC, ...".
 */
#ifndef PMUCTL_PMU_LBR_CONFIG_H
#define PMUCTL_PMU_LBR_CONFIG_H

#include <linux/perf_event.h>

#include "compat/pure.h"
#include "explain/explain.h"

/* IA32_PERF_CAPABILITIES[5:0], "Last Branch Recording and..."; the only one that is understood */
#define LBR_FORMAT_MASK		0x3f
#define LBR_FORMAT_INFO		5
#define LBR_DEPTH		32

/* MSR_LBR_INFO_x, "LBR MSRs" */
#define RECORD_MISPRED	BIT_ULL(63)
#define RECORD_IN_TX		BIT_ULL(62)
#define RECORD_ABORT		BIT_ULL(61)
#define RECORD_CYCLES		GENMASK_ULL(15, 0)

/* MSR_LBR_SELECT, "Filtering of Last Branch Records": a set bit leaves out, but for the last */
#define LBR_SELECT_KERNEL	BIT_ULL(0)
#define LBR_SELECT_USER		BIT_ULL(1)
#define LBR_SELECT_JCC		BIT_ULL(2)
#define LBR_SELECT_REL_CALL	BIT_ULL(3)
#define LBR_SELECT_IND_CALL	BIT_ULL(4)
#define LBR_SELECT_RETURN	BIT_ULL(5)
#define LBR_SELECT_IND_JMP	BIT_ULL(6)
#define LBR_SELECT_REL_JMP	BIT_ULL(7)
#define LBR_SELECT_FAR		BIT_ULL(8)
#define LBR_SELECT_ALL		0x1ff
#define LBR_SELECT_CALL_STACK	BIT_ULL(9)

/**
 * struct lbr_cpuid - what decides whether they can be used
 * @intel: the processor is Intel's.
 * @architectural: CPUID.7.0:EDX[19], it has the architectural ones.
 * @pdcm: CPUID.1:ECX[15], there is IA32_PERF_CAPABILITIES.
 * @capabilities: that.
 */
struct lbr_cpuid {
	bool intel;
	bool architectural;
	bool pdcm;
	u64 capabilities;
};

/* Returns NULL, or the sentence that says why they cannot be used. */
const char *lbr_caps_decode(const struct lbr_cpuid *id);

/**
 * lbr_select_encode() - what MSR_LBR_SELECT is for an event
 * @branches: PERF_SAMPLE_BRANCH_*, pmuctl_attr_branches().
 * @select: is set.
 * @why: filled on refusal.
 *
 * Context: Any.
 * Return: 0; -EINVAL: call stacks have no other kinds of branches.
 */
int lbr_select_encode(u64 branches, u16 *select, struct pmuctl_explanation *why);

/* Kinds of branches as their instructions have them */
enum lbr_kind {
	LBR_UNKNOWN,	/* no branch, or not decoded */
	LBR_COND,
	LBR_JMP,
	LBR_IND_JMP,
	LBR_CALL,
	LBR_IND_CALL,
	LBR_RET,
	LBR_SYSCALL,
	LBR_SYSRET,
	LBR_INT,
	LBR_IRET,
	LBR_IRQ,
};

/* The longest instruction */
#define LBR_INSN_BYTES		15

/* The kind of the branch whose instruction begins with @n bytes; @is_64: of 64-bit mode. */
enum lbr_kind lbr_kind_of_insn(const u8 *insn, unsigned int n, bool is_64);

/**
 * struct lbr_record - one as the processor has it
 * @from: where the branch was.
 * @to: where it went.
 * @info: MSR_LBR_INFO_x.
 */
struct lbr_record {
	u64 from, to, info;
};

static inline bool lbr_is_kernel(u64 address)
{
	return (s64)address < 0;
}

/*
 * May an event that wants @branches tell a record, as far as its addresses and transactions are
 * concerned? One without the kernel gets none that begins there, either.
 */
bool lbr_may_tell(const struct lbr_record *record, u64 branches);

/*
 * Is the kind of a record needed? The processor does not tell far branches apart, and wanted
 * types are found from it.
 */
bool lbr_needs_kind(u64 branches);

/*
 * Of a record that may be told: is it one of @branches? @kind, of its instruction, if that is
 * needed, becomes that of the record: what ends in the kernel may be an interrupt.
 */
bool lbr_is_wanted(const struct lbr_record *record, u64 branches, enum lbr_kind *kind);

/* The third word of a struct perf_branch_entry */
u64 lbr_flags(const struct lbr_record *record, u64 branches, enum lbr_kind kind, bool transactions);

#endif /* PMUCTL_PMU_LBR_CONFIG_H */
