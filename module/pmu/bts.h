/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Branch Trace Store on this CPU, one of the units of hwtrace.h: each branch that is taken,
 * each interrupt and each exception is a record of 24 bytes.
 */
#ifndef PMUCTL_PMU_BTS_H
#define PMUCTL_PMU_BTS_H

#include "pmu/bts_window.h"
#include "pmu/hwtrace.h"

/**
 * struct bts_trace - a trace, embedded in the core's
 * @base: what all units have.
 * @ctl: its bits of IA32_DEBUGCTL while it is on, without BTINT.
 * @memory: its buffer in one piece, as the processor writes to it; NULL if it has none.
 * @size: of that.
 * @window: what it may write. Owner CPU.
 */
struct bts_trace {
	struct hwtrace base;
	u64 ctl;
	void *memory;
	u64 size;
	struct bts_window window;
};

extern const struct hwtrace_unit bts_unit;

/* Find out what this CPU has. Module load. */
void bts_init(void);

/*
 * This CPU comes under our control, or goes out of it, while branches may be traced. Own
 * CPU, IRQs off; serialized with hwtrace_unit.reserve by CPU hotplug.
 */
void bts_cpu_online(void);
void bts_cpu_offline(void);

/* Is it the reason of this NMI? Then tell the core. Returns how many reasons it was. NMI. */
int bts_nmi(void);

/* The kernel has crashed: as hwpmu_crash(). */
void bts_crash(void);

#endif /* PMUCTL_PMU_BTS_H */
