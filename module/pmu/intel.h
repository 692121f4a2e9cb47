/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers of Intel's architectural PMU, version 2 and later. Thin: one function for
 * each thing one can do to the hardware; what to do and when is hwpmu.c's and
 * nmi.c's. All functions: on the CPU meant, preemption off, NMI-safe.
 *
 * Source: SDM Vol. 3B, "Architectural Performance Monitoring Version 2"; MSR
 * addresses Vol. 4, "Architectural MSRs".
 */
#ifndef PMUCTL_PMU_INTEL_H
#define PMUCTL_PMU_INTEL_H

#include <asm/msr.h>
#include <asm/perf_event.h>

#include "pmu/cpuid.h"

/**
 * struct intel_saved - registers as they were before we owned the PMU
 *
 * @lvtpc belongs to the local APIC and is owner.c's, all else intel_take()'s.
 */
struct intel_saved {
	u32 lvtpc;
	u64 global_ctrl;
	u64 fixed_ctrl;
	u64 evtsel[HWPMU_MAX_GENERAL];
	u64 counter[HWPMU_MAX_COUNTERS];
};

/* Do the registers exist that CPUID promises? */
bool intel_probe(const struct hwpmu_caps *caps);

/* Save all registers, then stop and zero everything; and the reverse. */
void intel_take(const struct hwpmu_caps *caps, struct intel_saved *saved);
void intel_give_back(const struct hwpmu_caps *caps,
		     const struct intel_saved *saved);

/* Set the raw value of a counter that is not enabled. */
void intel_write_counter(const struct hwpmu_caps *caps, unsigned int index,
			 u64 value);

/* IA32_PERF_GLOBAL_CTRL: which counters count, bit n for counter n */
static inline void intel_enable_only(u64 counters)
{
	wrmsrl(MSR_CORE_PERF_GLOBAL_CTRL, counters);
}

static inline u64 intel_read_enabled(void)
{
	u64 counters;

	rdmsrl(MSR_CORE_PERF_GLOBAL_CTRL, counters);
	return counters;
}

static inline void intel_write_evtsel(unsigned int index, u64 evtsel)
{
	wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + index, evtsel);
}

static inline void intel_write_fixed_ctrl(u64 ctrl)
{
	wrmsrl(MSR_CORE_PERF_FIXED_CTR_CTRL, ctrl);
}

/* Which counters have overflowed; other bits as the manual has them */
static inline u64 intel_read_status(void)
{
	u64 status;

	rdmsrl(MSR_CORE_PERF_GLOBAL_STATUS, status);
	return status;
}

static inline void intel_ack_status(u64 status)
{
	wrmsrl(MSR_CORE_PERF_GLOBAL_OVF_CTRL, status);
}

/* Its number for the instruction, SDM Vol. 2B, "RDPMC": bit 30 selects the fixed ones */
static inline u32 intel_counter_number(unsigned int index)
{
	return index >= HWPMU_FIXED_BASE ?
		(index - HWPMU_FIXED_BASE) | (1u << 30) : index;
}

/* Raw value of a counter */
static inline u64 intel_read_counter(unsigned int index)
{
	u32 low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high)
		     : "c" (intel_counter_number(index)));
	return low | (u64)high << 32;
}

#endif /* PMUCTL_PMU_INTEL_H */
