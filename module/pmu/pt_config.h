/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What CPUID says of Intel Processor Trace, and what a user may ask of it. Pure logic on
 * register values, so that every processor can be tested on any.
 *
 * Sections cited here are of the SDM, Vol. 3C, chapter "Intel Processor Trace".
 */
#ifndef PMUCTL_PMU_PT_CONFIG_H
#define PMUCTL_PMU_PT_CONFIG_H

#include <linux/perf_event.h>

#include "compat/pure.h"
#include "explain/explain.h"

/* IA32_RTIT_CTL, "IA32_RTIT_CTL MSR". The bits of attr.config are at the same places. */
#define PT_CTL_TRACE		BIT_ULL(0)
#define PT_CTL_CYC		BIT_ULL(1)
#define PT_CTL_OS		BIT_ULL(2)
#define PT_CTL_USER		BIT_ULL(3)
#define PT_CTL_POWER		BIT_ULL(4)
#define PT_CTL_FUP_ON_PTW	BIT_ULL(5)
#define PT_CTL_TOPA		BIT_ULL(8)
#define PT_CTL_MTC		BIT_ULL(9)
#define PT_CTL_TSC		BIT_ULL(10)
#define PT_CTL_NO_RETC		BIT_ULL(11)
#define PT_CTL_PTW		BIT_ULL(12)
#define PT_CTL_BRANCH		BIT_ULL(13)
#define PT_CTL_MTC_PERIOD	GENMASK_ULL(17, 14)
#define PT_CTL_CYC_THRESH	GENMASK_ULL(22, 19)
#define PT_CTL_PSB_PERIOD	GENMASK_ULL(27, 24)

/* Of attr.config alone, as perf has it: bit 13 tells whether branches are wanted; without
 * this bit they always are.
 */
#define PT_CONFIG_PT		BIT_ULL(0)

/**
 * struct pt_cpuid - the register values that the decoder looks at
 * @max_leaf: CPUID.0:EAX.
 * @pt: CPUID.7.0:EBX[25].
 * @ebx: of leaf 0x14, subleaf 0, and so on; 0 if there is no such leaf.
 * @eax1: of its subleaf 1.
 * @ebx1: likewise.
 * @family: of the processor, of which @model; only those of Intel have Processor Trace.
 */
struct pt_cpuid {
	u32 max_leaf;
	bool pt;
	u32 ebx, ecx;
	u32 eax1, ebx1;
	u8 family, model;
};

/**
 * struct pt_caps - what it can do
 * @allowed: bits of attr.config that may be set.
 * @mtc_periods: bit n: a period of n may be asked for; and so on.
 * @cyc_threshs: likewise.
 * @psb_periods: likewise.
 * @nr_ranges: address filters.
 * @only_branches: it does not trace without BranchEn.
 */
struct pt_caps {
	u64 allowed;
	u16 mtc_periods, cyc_threshs, psb_periods;
	u8 nr_ranges;
	bool only_branches;
};

/* Returns NULL and fills @caps, or the sentence that says why it cannot be used. */
const char *pt_caps_decode(const struct pt_cpuid *id, struct pt_caps *caps);

/**
 * pt_config_encode() - what is IA32_RTIT_CTL for an event?
 * @caps: of this CPU.
 * @attr: config and what it excludes.
 * @ctl: is set, without TraceEn.
 * @why: filled on refusal.
 *
 * Context: Any.
 * Return: 0; -EINVAL: bits that are none, or what this CPU lacks.
 */
int pt_config_encode(const struct pt_caps *caps, const struct perf_event_attr *attr,
		     u64 *ctl, struct pmuctl_explanation *why);

#endif /* PMUCTL_PMU_PT_CONFIG_H */
