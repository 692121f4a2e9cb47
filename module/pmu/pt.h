/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Intel Processor Trace on this CPU, one of the units of hwtrace.h.
 */
#ifndef PMUCTL_PMU_PT_H
#define PMUCTL_PMU_PT_H

#include "pmu/hwtrace.h"
#include "pmu/pt_filter.h"
#include "pmu/topa.h"

/**
 * struct pt_trace - a trace, embedded in the core's
 * @base: what all units have.
 * @ctl: IA32_RTIT_CTL while it is on; set by pt_config_encode().
 * @filter: the addresses that it traces; changed while it is not on.
 * @topa: the tables of its buffer; none if nr_regions is 0.
 * @from: the position at which it began to write. Owner CPU.
 */
struct pt_trace {
	struct hwtrace base;
	u64 ctl;
	struct pt_filter filter;
	struct topa topa;
	u64 from;
};

extern const struct hwtrace_unit pt_unit;

/* Find out what this CPU has. Module load. */
void pt_init(void);

/* Constant after init. */
const struct pt_caps *pt_caps(void);

/* IA32_PERF_GLOBAL_STATUS says so: tell the core. NMI. */
void pt_nmi(void);

/* May a trace of ours fill regions on this CPU right now? NMI. */
bool pt_is_on(void);

/* The kernel has crashed: as hwpmu_crash(). */
void pt_crash(void);

#endif /* PMUCTL_PMU_PT_H */
