/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers of the PMU. Thin: one function for each thing one can do to the hardware;
 * what to do and when is hwpmu.c's, nmi.c's and noglobal.c's. Where the registers are is
 * found out once, by intel.c or amd.c. All functions: on the CPU meant, preemption off,
 * NMI-safe.
 *
 * Source: SDM Vol. 3B, "Architectural Performance Monitoring Version 2"; APM Vol. 2,
 * "Performance Monitoring Counters".
 */
#ifndef PMUCTL_PMU_REGS_H
#define PMUCTL_PMU_REGS_H

#include <linux/jump_label.h>

#include <asm/msr.h>
#include <asm/perf_event.h>

#include "pmu/cpuid.h"

/* SDM Vol. 4, IA32_PERF_GLOBAL_STATUS, Trace_ToPA_PMI */
#define HWPMU_STATUS_TOPA	BIT_ULL(55)

/**
 * struct hwpmu_regs - where the registers are; constant after init
 * @evtsel: event select of general counter 0.
 * @counter: its value, as it is known to the kernel's reservation.
 * @write: its value, for writing.
 * @shift: registers of counter n are at n << @shift from those of counter 0.
 * @global_ctrl: which counters count, bit n for counter n.
 * @global_status: which have overflowed.
 * @global_ack: write: clears bits of the status.
 * @clearable: bits of the status that may be written there: those of other units too, which
 *	stay set for ever if nobody does; but not a trace's, which may be somebody else's.
 * @frozen: bit of the status that keeps all counters from counting until it is cleared; or 0.
 * @freeze: bit of IA32_DEBUGCTL that has the processor set it with each interrupt, or clear
 *	@global_ctrl; or 0.
 */
struct hwpmu_regs {
	u32 evtsel;
	u32 counter;
	u32 write;
	u32 shift;
	u32 global_ctrl;
	u32 global_status;
	u32 global_ack;
	u64 clearable;
	u64 frozen;
	u64 freeze;
};

extern struct hwpmu_regs hwpmu_regs;

/* caps->global: there are @global_ctrl, @global_status and @global_ack. */
DECLARE_STATIC_KEY_TRUE(hwpmu_has_global);

/**
 * struct hwpmu_saved - registers as they were before we owned the PMU
 *
 * @lvtpc belongs to the local APIC and is owner.c's, all else hwpmu_regs_take()'s.
 */
struct hwpmu_saved {
	u32 lvtpc;
	u64 freeze;
	u64 global_ctrl;
	u64 fixed_ctrl;
	u64 evtsel[HWPMU_MAX_GENERAL];
	u64 counter[HWPMU_MAX_COUNTERS];
};

/* Fill in hwpmu_regs for the PMU of @caps. */
void hwpmu_intel_regs(const struct hwpmu_caps *caps);
void hwpmu_amd_regs(const struct hwpmu_caps *caps);

/**
 * hwpmu_regs_init() - find the registers, and leave out of @caps what is not there
 * @caps: as CPUID has it.
 *
 * Hypervisors announce counters that they do not have. Registers are touched with care,
 * and written to only if nobody has reserved them.
 *
 * Context: Process, on any CPU. At module load.
 * Return: true if there is at least one counter that holds what is written to it.
 */
bool hwpmu_regs_init(struct hwpmu_caps *caps);

/* The second half of that, on this CPU, for one whose counters differ. IRQs off. */
bool hwpmu_regs_probe(struct hwpmu_caps *caps);

/* Save all registers, then stop and zero everything; and the reverse. */
void hwpmu_regs_take(const struct hwpmu_caps *caps, struct hwpmu_saved *saved);
void hwpmu_regs_give_back(const struct hwpmu_caps *caps,
			  const struct hwpmu_saved *saved);

/* Stop all counters, also for somebody who sets all bits of the global control register. */
void hwpmu_regs_clear(const struct hwpmu_caps *caps);

/* Set the raw value of a counter that is not enabled. */
void hwpmu_regs_write_counter(const struct hwpmu_caps *caps, unsigned int index,
			      u64 value);

/* Which counters count, as the registers say */
u64 hwpmu_regs_read_enabled(const struct hwpmu_caps *caps);

/* Only with hwpmu_has_global: which counters count, bit n for counter n */
static inline void hwpmu_regs_enable_only(u64 counters)
{
	wrmsrq(hwpmu_regs.global_ctrl, counters);
}

static inline void hwpmu_regs_write_evtsel(unsigned int index, u64 evtsel)
{
	wrmsrq(hwpmu_regs.evtsel + (index << hwpmu_regs.shift), evtsel);
}

static inline void hwpmu_regs_write_fixed_ctrl(u64 ctrl)
{
	wrmsrq(MSR_CORE_PERF_FIXED_CTR_CTRL, ctrl);
}

/* Only with hwpmu_has_global: which counters have overflowed; other bits as the manual
 * has them
 */
static inline u64 hwpmu_regs_read_status(void)
{
	u64 status;

	rdmsrq(hwpmu_regs.global_status, status);
	return status;
}

static inline void hwpmu_regs_ack_status(u64 status)
{
	wrmsrq(hwpmu_regs.global_ack, status);
}

/* Its number for the instruction, SDM Vol. 2B, "RDPMC": bit 30 selects the fixed ones;
 * AMD, which has none of these: APM Vol. 3, "RDPMC"
 */
static inline u32 hwpmu_regs_number(unsigned int index)
{
	return index >= HWPMU_FIXED_BASE ?
		(index - HWPMU_FIXED_BASE) | (1u << 30) : index;
}

/* Raw value of a counter */
static inline u64 hwpmu_regs_read_counter(unsigned int index)
{
	u32 low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high)
		     : "c" (hwpmu_regs_number(index)));
	return low | (u64)high << 32;
}

#endif /* PMUCTL_PMU_REGS_H */
