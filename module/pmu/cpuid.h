/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What CPUID says of the PMU. Pure logic on register values: reading CPUID is
 * hwpmu.c's work, so that every processor can be tested on any.
 */
#ifndef PMUCTL_PMU_CPUID_H
#define PMUCTL_PMU_CPUID_H

#include "compat/pure.h"

/* General counters have the indices 0..31, fixed counters 32..63, as in
 * IA32_PERF_GLOBAL_CTRL.
 */
#define HWPMU_FIXED_BASE	32
#define HWPMU_MAX_COUNTERS	64
#define HWPMU_MAX_GENERAL	32
#define HWPMU_MAX_FIXED		16

/* The bits of IA32_PERFEVTSELx, SDM Vol. 3B, "Architectural Performance
 * Monitoring Version 1 Facilities"
 */
#define HWPMU_EVTSEL_EVENT	0x000000ffULL
#define HWPMU_EVTSEL_UMASK	0x0000ff00ULL
#define HWPMU_EVTSEL_USR	BIT_ULL(16)
#define HWPMU_EVTSEL_OS		BIT_ULL(17)
#define HWPMU_EVTSEL_EDGE	BIT_ULL(18)
#define HWPMU_EVTSEL_PC		BIT_ULL(19)
#define HWPMU_EVTSEL_INT	BIT_ULL(20)
#define HWPMU_EVTSEL_ANY	BIT_ULL(21)	/* version 3 */
#define HWPMU_EVTSEL_EN		BIT_ULL(22)
#define HWPMU_EVTSEL_INV	BIT_ULL(23)
#define HWPMU_EVTSEL_CMASK	0xff000000ULL
/* AMD's high bits of the event: APM Vol. 2, "Performance Event-Select Registers" */
#define HWPMU_EVTSEL_EVENT_HIGH	0xf00000000ULL

/* The types of CPU in a hybrid processor: SDM Vol. 2A, "CPUID", leaf 1AH */
#define HWPMU_CORE_EFFICIENCY	0x20
#define HWPMU_CORE_PERFORMANCE	0x40

enum hwpmu_vendor {
	HWPMU_VENDOR_OTHER,
	HWPMU_VENDOR_INTEL,	/* and those who copy its architectural PMU */
	HWPMU_VENDOR_AMD,
};

/**
 * struct hwpmu_cpuid - the register values that the decoder looks at
 * @vendor: who made the CPU.
 * @family: and @model: as the kernel displays them.
 * @hypervisor: CPUID.1:ECX[31].
 * @xen_pv: a paravirtualized guest of Xen.
 * @pdcm: CPUID.1:ECX[15]: IA32_PERF_CAPABILITIES exists.
 * @max_leaf: CPUID.0:EAX.
 * @eax: of leaf 0xA, and so on; 0 if there is no such leaf.
 * @ext1_ecx: ECX of leaf 0x80000001.
 * @ext22_eax: EAX and EBX of leaf 0x80000022; 0 if there is no such leaf.
 * @ext22_ebx: as @ext22_eax.
 * @core_type: of a hybrid processor's CPU, CPUID.1AH:EAX[31:24]; else 0.
 * @ext_general: bitmap of general counters, CPUID.23H.1:EAX; 0 if there is no such leaf.
 * @ext_fixed: of fixed ones, EBX; as @ext_general.
 * @perf_capabilities: IA32_PERF_CAPABILITIES, 0 without @pdcm.
 * @tsx_takes_counter: the microcode uses general counter 3 for transactions.
 */
struct hwpmu_cpuid {
	enum hwpmu_vendor vendor;
	unsigned int family, model;
	bool hypervisor;
	bool xen_pv;
	bool pdcm;
	bool tsx_takes_counter;
	u32 max_leaf;
	u32 eax, ebx, ecx, edx;
	u32 ext1_ecx;
	u32 ext22_eax, ext22_ebx;
	u32 core_type;
	u32 ext_general, ext_fixed;
	u64 perf_capabilities;
};

/**
 * struct hwpmu_caps - what the PMU is
 * @vendor: whose PMU it is like.
 * @version: of the architectural PMU, or of AMD's PerfMon; 0 if there is no usable PMU.
 * @family: and @model: choose the tables of events that are not architectural.
 * @nr_general: and @nr_fixed: counters.
 * @general_width: and @fixed_width: their bits.
 * @counters: bit n is set if counter n exists.
 * @arch_events: bit n is set if CPUID.0xA:EBX describes architectural event n as
 *	available.
 * @raw_mask: event-select bits that a user may choose.
 * @full_width: general counters can be written in full.
 * @global: all counters start and stop with one register, and another tells which have
 *	overflowed. Without it each is started by its event select, and looked at by itself.
 * @core_ext: AMD's counters are those of the core extension.
 * @core_type: HWPMU_CORE_*; 0 if all CPUs are alike.
 * @name: for people.
 */
struct hwpmu_caps {
	enum hwpmu_vendor vendor;
	unsigned int version;
	unsigned int family, model;
	unsigned int nr_general, nr_fixed;
	unsigned int general_width, fixed_width;
	u64 counters;
	u32 arch_events;
	u64 raw_mask;
	bool full_width;
	bool global;
	bool core_ext;
	u32 core_type;
	char name[48];
};

/* IA32_PERF_CAPABILITIES.FW_WRITE, SDM Vol. 3B, "Full-Width Writes to
 * Performance Counter Registers"
 */
#define HWPMU_PERF_CAP_FULL_WIDTH	BIT_ULL(13)

/**
 * hwpmu_cpuid_decode() - decide whether there is a PMU that we can drive
 * @id: what the CPU says.
 * @caps: is filled; all zero if there is none.
 *
 * Context: Any.
 * Return: NULL if there is a usable PMU, else the sentence that says why not, a
 * constant.
 */
const char *hwpmu_cpuid_decode(const struct hwpmu_cpuid *id,
			       struct hwpmu_caps *caps);

#endif /* PMUCTL_PMU_CPUID_H */
