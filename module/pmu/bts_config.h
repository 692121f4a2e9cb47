/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What CPUID says of Branch Trace Store, and what a user may ask of it. Pure logic on
 * register values, so that every processor can be tested on any.
 *
 * Sections cited here are of the SDM, Vol. 3B, chapter "Debug, Branch Profile, TSC, ...".
 */
#ifndef PMUCTL_PMU_BTS_CONFIG_H
#define PMUCTL_PMU_BTS_CONFIG_H

#include <linux/perf_event.h>

#include "compat/pure.h"
#include "explain/explain.h"

/* IA32_DEBUGCTL, "IA32_DEBUGCTL MSR" */
#define BTS_CTL_TRACE		BIT_ULL(6)	/* TR */
#define BTS_CTL_STORE		BIT_ULL(7)	/* BTS */
#define BTS_CTL_INTERRUPT	BIT_ULL(8)	/* BTINT */
#define BTS_CTL_NOT_OS		BIT_ULL(9)	/* BTS_OFF_OS */
#define BTS_CTL_NOT_USER	BIT_ULL(10)	/* BTS_OFF_USR */
#define BTS_CTL_ALL		GENMASK_ULL(10, 6)

/**
 * struct bts_cpuid - what decides whether it can be used
 * @ds: CPUID.1:EDX[21], there is a debug store.
 * @dtes64: CPUID.1:ECX[2], in the 64-bit format.
 * @ds_cpl: CPUID.1:ECX[4], it can be told privileges apart.
 * @unavailable: IA32_MISC_ENABLE[11].
 * @isolated: the kernel's page tables are not those of user mode.
 */
struct bts_cpuid {
	bool ds, dtes64, ds_cpl;
	bool unavailable;
	bool isolated;
};

/* Returns NULL, or the sentence that says why it cannot be used. */
const char *bts_caps_decode(const struct bts_cpuid *id);

/**
 * bts_config_encode() - what of IA32_DEBUGCTL is an event's?
 * @attr: config and what it excludes.
 * @ctl: is set, without BTINT.
 * @why: filled on refusal.
 *
 * Context: Any.
 * Return: 0; -EINVAL: bits of config; there are none.
 */
int bts_config_encode(const struct perf_event_attr *attr, u64 *ctl,
		      struct pmuctl_explanation *why);

#endif /* PMUCTL_PMU_BTS_CONFIG_H */
