/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Validation of struct perf_event_attr: which bits exist, and which of them this
 * module supports. What an event means to the PMU is decided in pmu/, who may
 * open it in permission.c. Pure logic: compiles in user space too.
 */
#ifndef PMUCTL_ATTR_H
#define PMUCTL_ATTR_H

#include "compat/pure.h"
#include <linux/pmuctl.h>
#include <asm/perf_regs.h>

struct pmuctl_explanation;

/* Most addresses of a call chain, whatever the kernel's own limit */
#define PMUCTL_STACK_MAX	127U

/*
 * The registers that a sample can have, as bits of attr.sample_regs_user and
 * sample_regs_intr: a task's DS, ES, FS and GS are saved nowhere.
 */
#define PMUCTL_REGS_SUPPORTED						\
	(GENMASK_ULL(PERF_REG_X86_R15, 0) &				\
	 ~(1ULL << PERF_REG_X86_DS | 1ULL << PERF_REG_X86_ES |		\
	   1ULL << PERF_REG_X86_FS | 1ULL << PERF_REG_X86_GS))

/* Bits of the word of flags, those that older headers have no field for */
#define PMUCTL_ATTR_BUILD_ID		BIT_ULL(34)
#define PMUCTL_ATTR_INHERIT_THREAD	BIT_ULL(35)
#define PMUCTL_ATTR_REMOVE_ON_EXEC	BIT_ULL(36)

/**
 * pmuctl_attr_flags() - the word of single-bit flags
 * @attr: at least PERF_ATTR_SIZE_VER0 of it.
 *
 * Context: Any.
 * Return: all of it, also what this kernel's header has no field for.
 */
static inline u64 pmuctl_attr_flags(const struct perf_event_attr *attr)
{
	/* It follows read_format. */
	const u8 *at = (const u8 *)attr + offsetof(struct perf_event_attr, read_format) + 8;
	u64 flags;

	memcpy(&flags, at, sizeof(flags));
	return flags;
}

/* All of PERF_SAMPLE_BRANCH_* up to PRIV_SAVE, whatever the kernel's header has */
#define PMUCTL_BRANCHES_KNOWN	GENMASK_ULL(18, 0)

/**
 * pmuctl_attr_branches() - which branches an event samples
 * @attr: validated, with PERF_SAMPLE_BRANCH_STACK.
 *
 * Context: Any.
 * Return: attr.branch_sample_type; if that has no privilege those that the event counts.
 */
static inline u64 pmuctl_attr_branches(const struct perf_event_attr *attr)
{
	u64 branches = attr->branch_sample_type;

	if (branches & PERF_SAMPLE_BRANCH_PLM_ALL)
		return branches;
	if (!attr->exclude_user)
		branches |= PERF_SAMPLE_BRANCH_USER;
	if (!attr->exclude_kernel)
		branches |= PERF_SAMPLE_BRANCH_KERNEL;
	if (!attr->exclude_hv)
		branches |= PERF_SAMPLE_BRANCH_HV;
	return branches;
}

/* Is its attr.config what is written to an event select? Any context. */
static inline bool pmuctl_attr_is_raw(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_RAW || attr->type == PMUCTL_TYPE_CPU_CORE ||
		attr->type == PMUCTL_TYPE_CPU_ATOM;
}

/**
 * union pmuctl_attr - an attr of the largest size that the module knows
 * @attr: in the terms of the kernel headers that the module was built with,
 *	which may be older and shorter; or newer and longer, then the rest of it is 0.
 * @bytes: all of it.
 */
union pmuctl_attr {
	struct perf_event_attr attr;
	u8 bytes[PMUCTL_ATTR_SIZE];
};

/**
 * pmuctl_attr_check() - validate every field of an attr
 * @attr: zero-extended to the full size; attr.size itself was checked when it
 *	was copied.
 * @why: filled on refusal.
 *
 * Context: Any.
 * Return: 0; -EINVAL if reserved or unknown bits are set or the attr contradicts
 * itself; -EOPNOTSUPP if it asks for what this module lacks; -ENOENT if its type
 * does not exist.
 */
int pmuctl_attr_check(const union pmuctl_attr *attr,
		      struct pmuctl_explanation *why);

#endif /* PMUCTL_ATTR_H */
