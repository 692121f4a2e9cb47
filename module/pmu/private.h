/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of pmu/ share among themselves: the state of one CPU's PMU.
 */
#ifndef PMUCTL_PMU_PRIVATE_H
#define PMUCTL_PMU_PRIVATE_H

#include <linux/percpu.h>

#include <asm/apic.h>
#include <asm/tsc.h>

#include "pmu/hwpmu.h"
#include "pmu/regs.h"

/**
 * struct hwpmu_cpu - the PMU of one CPU
 * @enabled: what the global control register is to be; written before the register, so that
 *	the NMI, which restores the register from it, is never behind.
 * @stopped: those of @enabled that shall stand still. The NMI may set bits, so it is changed by
 *	single instructions only.
 * @active: who is on counter n; not NULL for every bit of @enabled.
 * @used: counters that may hold something else than 0.
 * @nr_extra: counters that have another register, see extra.h.
 * @unsettled: see hwpmu_rdpmc_unsettled().
 * @lbr_stale: the last branch records are off, and to be forgotten before they are on again.
 * @owned: the PMU is ours on this CPU.
 * @type: of CPU; HWPMU_NO_TYPE: not known, and not to be used. Constant after init, or since
 *	the CPU was online first.
 * @stuck: the NMI could not make the counters stop overflowing and has disabled them, until
 *	they are tried again, or the PMU is taken anew.
 * @leaving: the PMU is being given back: nothing starts, and what overflows until all is
 *	stopped is handled.
 * @closed: one of these two; else 0.
 * @frozen: they all stand still for a moment, to be read.
 * @still: one of these three; else 0.
 * @written: what the global control register was last written to, or is about to be.
 * @folding: a counter that is being folded while an NMI may read it, and
 * @folded: its value: see hwpmu_read_in_nmi().
 * @stats: what has happened.
 * @counting: without global control: counters whose enable bit is set, or may be. As @stopped.
 * @seen: those of @active that were being stopped or handed over when an NMI came that has
 *	claimed their overflow. As @stopped.
 * @late_nmi_deadline: TSC value until which an NMI may be that of an overflow handled before.
 * @evtsel: what the event-select registers hold; without global control their enable bit
 *	is @counting's.
 * @fixed_ctrl: what IA32_FIXED_CTR_CTRL holds.
 *
 * Written by its own CPU with IRQs off; the NMI reads the first group and may write
 * @stuck, @written, @counting, @seen, @late_nmi_deadline and @stats.
 */
struct hwpmu_cpu {
	u64 enabled;
	u64 stopped;
	struct hwpmu_counter *active[HWPMU_MAX_COUNTERS];
	bool owned;
	u8 type;
	union {
		struct {
			union {
				struct {
					bool stuck;
					bool leaving;
				};
				u16 closed;
			};
			bool frozen;
		};
		u32 still;
	};
	bool unsettled;
	bool lbr_stale;
	u8 nr_extra;
	u64 used;
	u64 written;
	const struct hwpmu_counter *folding;
	u64 folded;
	struct hwpmu_stats stats;
	u64 counting;
	u64 seen;
	u64 late_nmi_deadline;

	u64 evtsel[HWPMU_MAX_GENERAL];
	u64 fixed_ctrl;
};

/* The CPU is of no type that was there when the module was loaded. */
#define HWPMU_NO_TYPE	0xff

DECLARE_PER_CPU(struct hwpmu_cpu, hwpmu_cpu);

/* Constant after hwpmu_init() */
extern struct hwpmu_caps hwpmu_the_caps;
extern const struct hwpmu_ops *hwpmu_core_ops;
extern const char *hwpmu_no_pmu_reason; /* what hwpmu_reason() returns */
/* The bit of IA32_PERF_GLOBAL_STATUS for Processor Trace while that is ours; else 0 */
extern u64 hwpmu_status_topa;

/* Distance from overflow that a counter is armed for, 0: as wide as it is */
extern unsigned int hwpmu_headroom;

/* How long an NMI without an overflow may be a late one, in ms; a parameter */
extern unsigned int hwpmu_late_nmi_ms;

/* noglobal.c: for PMUs that start, stop and look at each counter by itself */

/* Let these counters count and no others. Own CPU, IRQs off, or its NMI. */
void hwpmu_noglobal_enable_only(struct hwpmu_cpu *cpu, u64 counters);

/* Which active counters have overflowed since they were folded? Its NMI, or IRQs off. */
u64 hwpmu_noglobal_overflowed(struct hwpmu_cpu *cpu);

/* Wait until the NMIs have come of these counters, which are active and do not count.
 * Own CPU, IRQs off.
 */
void hwpmu_noglobal_settle(struct hwpmu_cpu *cpu, u64 counters);

/* Let these counters count and no others. As the next. */
static inline void hwpmu_enable_only(struct hwpmu_cpu *cpu, u64 counters)
{
	if (static_branch_likely(&hwpmu_has_global))
		hwpmu_regs_enable_only(counters);
	else
		hwpmu_noglobal_enable_only(cpu, counters);
}

/* What the global control register is to be now. As the next. */
static inline u64 hwpmu_wanted(const struct hwpmu_cpu *cpu)
{
	if (READ_ONCE(cpu->still))
		return 0;
	return READ_ONCE(cpu->enabled) & ~READ_ONCE(cpu->stopped);
}

/* Write @counters, that were wanted a moment ago, to the global control register; and again, if an
 * NMI stops one meanwhile. Own CPU, IRQs off, or its NMI.
 */
static inline void hwpmu_write_enabled(struct hwpmu_cpu *cpu, u64 counters)
{
	u64 before;

	do {
		WRITE_ONCE(cpu->written, counters);
		hwpmu_enable_only(cpu, counters);
		before = counters;
		counters = hwpmu_wanted(cpu);
	} while (unlikely(counters != before));
}

/* How many bits counter @index has */
static inline unsigned int hwpmu_width(unsigned int index)
{
	return index >= HWPMU_FIXED_BASE ? hwpmu_the_caps.fixed_width :
					   hwpmu_the_caps.general_width;
}

/* The bits that counter @index can hold */
static inline u64 hwpmu_width_mask(unsigned int index)
{
	return GENMASK_ULL(hwpmu_width(index) - 1, 0);
}

/**
 * hwpmu_arm() - let a counter that is not enabled overflow when it should
 * @counter: with its index chosen; count and prev are right before and after.
 *
 * One that has a period overflows when that is over, or before if it is longer than the
 * counter can hold. Others after the headroom, if one is set; else the raw value just goes
 * on, unless user space reads the counter and it is not in the upper half of its range.
 *
 * Context: Owner CPU, IRQs off, or its NMI.
 */
void hwpmu_arm(struct hwpmu_counter *counter);

/* Add to @counter->count what the hardware has counted since @counter->prev, and take it
 * off @counter->left.
 */
void hwpmu_fold(struct hwpmu_counter *counter);

/* Tell user space that an overflow was handled. NMI; @counter has a user. */
void hwpmu_rdpmc_overflow(struct hwpmu_counter *counter);

/* hybrid.c */

/* What CPUID says on this CPU. Preemption off. */
void hwpmu_read_cpuid(struct hwpmu_cpuid *id);

/* Find the types of CPU; hwpmu_the_caps is that of one of them. At module load. */
void hwpmu_hybrid_init(void);

/* This CPU comes online: false if it is of a type that cannot be used. Its CPU, IRQs off. */
bool hwpmu_hybrid_online(void);

/*
 * Encode an event for each type of CPU, or for those that are @core if that is not 0:
 * @counter->of_type, and as hwpmu_counter_init()
 */
int hwpmu_hybrid_encode(struct hwpmu_counter *counter, const struct perf_event_attr *attr, u8 core,
			struct pmuctl_explanation *why);

/* The PMU of this CPU */
static inline const struct hwpmu_caps *hwpmu_caps_here(void)
{
	if (static_branch_unlikely(&hwpmu_is_hybrid))
		return hwpmu_caps_of_type(this_cpu_read(hwpmu_cpu.type));
	return &hwpmu_the_caps;
}

/* nmi.c */
int hwpmu_nmi_init(void);
void hwpmu_nmi_exit(void);

/* Have overflows raise an NMI on this CPU. IRQs off, or an NMI. */
static inline void hwpmu_lvtpc_set_nmi(void)
{
	apic->write(APIC_LVTPC, APIC_DM_NMI);
}

/* An overflow has been handled, whose NMI may still be on its way. Own CPU, NMI-safe. */
static inline void hwpmu_expect_late_nmi(void)
{
	if (hwpmu_the_caps.vendor == HWPMU_VENDOR_AMD)
		this_cpu_write(hwpmu_cpu.late_nmi_deadline,
			       rdtsc() + (u64)READ_ONCE(hwpmu_late_nmi_ms) * tsc_khz);
}

/* self_check.c */

/* Find out what counts nothing, before there are events. Process; the PMU is ours. */
void hwpmu_self_check(void);

/* owner.c */

/* Begin anew with a CPU that is stuck, if it still is. Own CPU, IRQs off. */
void hwpmu_cpu_retry(void);

int hwpmu_owner_init(void);
void hwpmu_owner_exit(void);

#endif /* PMUCTL_PMU_PRIVATE_H */
