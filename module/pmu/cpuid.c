// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding of what CPUID says of the PMU. Intel, leaf 0xA: SDM Vol. 2A, "CPUID - CPU
 * Identification", and Vol. 3B, chapter "Performance Monitoring", section
 * "Architectural Performance Monitoring". The counters of a CPU that differs from others,
 * leaf 0x23: the same, "Architectural Performance Monitoring Extended". AMD, leaves
 * 0x80000001 and 0x80000022: APM Vol. 2, "Performance Monitoring Counters", and Vol. 3,
 * "Obtaining Processor Information Via the CPUID Instruction". Pure logic: compiles in
 * user space too.
 */
#include "explain/sentences.h"
#include "pmu/cpuid.h"

/* What AMD's CPUID does not tell: APM Vol. 2, "Performance Counter MSRs" */
#define AMD_NR_LEGACY	4
#define AMD_NR_CORE	6
#define AMD_WIDTH	48

#define AMD_EXT1_CORE_COUNTERS	BIT_ULL(23)	/* leaf 0x80000001, ECX: PerfCtrExtCore */
#define AMD_EXT22_PERFMON_V2	BIT_ULL(0)	/* leaf 0x80000022, EAX: PerfMonV2 */
#define AMD_EXT22_NR_CORE	0xf		/* EBX: NumPerfCtrCore */

#define TSX_COUNTER	3

#define RAW_MASK	(HWPMU_EVTSEL_EVENT | HWPMU_EVTSEL_UMASK | HWPMU_EVTSEL_EDGE | \
			 HWPMU_EVTSEL_INV | HWPMU_EVTSEL_CMASK)

static const char *core_name(u32 type)
{
	switch (type) {
	case HWPMU_CORE_EFFICIENCY:
		return "efficiency core";
	case HWPMU_CORE_PERFORMANCE:
		return "performance core";
	default:
		return "core";
	}
}

/* Leaf 0xA may say no more than what all CPUs have. */
static void decode_extended(const struct hwpmu_cpuid *id, struct hwpmu_caps *caps)
{
	u64 fixed = id->ext_fixed & (BIT_ULL(HWPMU_MAX_FIXED) - 1);
	u64 gap = ~(u64)id->ext_general;

	if (!(id->ext_general & 1))
		return;
	caps->nr_general = __ffs64(gap);
	caps->nr_fixed = hweight64(fixed);
	caps->counters = GENMASK_ULL(caps->nr_general - 1, 0) | fixed << HWPMU_FIXED_BASE;
}

/*
 * Alder Lake and Raptor Lake do not have leaf 0x23, and leaf 0xA tells of no more than both types
 * have. A performance core has eight general counters and four fixed ones: Intel's event
 * lists for these models (goldencove), counters 0 to 7, and TOPDOWN.SLOTS on fixed counter 3.
 * If one has not, the probe finds out.
 */
static void decode_silent(const struct hwpmu_cpuid *id, struct hwpmu_caps *caps)
{
	static const u8 models[] = { 0x97, 0x9a, 0xb7, 0xba, 0xbf };
	unsigned int i;

	if (id->core_type != HWPMU_CORE_PERFORMANCE || id->ext_general)
		return;
	for (i = 0; i < ARRAY_SIZE(models); i++) {
		if (id->model != models[i])
			continue;
		caps->counters |= 0xffULL | 0xfULL << HWPMU_FIXED_BASE;
		caps->nr_general = hweight64(caps->counters & 0xffffffff);
		caps->nr_fixed = hweight64(caps->counters >> HWPMU_FIXED_BASE);
	}
}

/*
 * Of some Skylakes the microcode counts on the last of four counters, so that transactions are
 * in order: what others have there is not theirs. "Performance Monitoring Impact of Intel
 * Transactional Synchronization Extension Memory Ordering Issue", Intel 604224. Without
 * hyperthreads there are eight counters, and those beyond are not used either: they have no gaps.
 */
static void leave_counter_to_tsx(struct hwpmu_caps *caps)
{
	if (caps->nr_general > TSX_COUNTER)
		caps->nr_general = TSX_COUNTER;
	caps->counters &= ~GENMASK_ULL(HWPMU_FIXED_BASE - 1, TSX_COUNTER);
}

static void decode_intel(const struct hwpmu_cpuid *id,
			 struct hwpmu_caps *caps)
{
	unsigned int nr_events = (id->eax >> 24) & 0xff;
	u64 fixed;

	caps->nr_general = (id->eax >> 8) & 0xff;
	if (caps->nr_general > HWPMU_MAX_GENERAL)
		caps->nr_general = HWPMU_MAX_GENERAL;
	caps->general_width = (id->eax >> 16) & 0xff;
	/* Version 1 has none, and its EDX is reserved. */
	caps->nr_fixed = caps->version < 2 ? 0 : id->edx & 0x1f;
	if (caps->nr_fixed > HWPMU_MAX_FIXED)
		caps->nr_fixed = HWPMU_MAX_FIXED;
	caps->fixed_width = caps->version < 2 ? 0 : (id->edx >> 5) & 0xff;

	/* A bit of EBX is set if the event is *not* available. */
	if (nr_events > 31)
		nr_events = 31;
	caps->arch_events = ~id->ebx & (u32)(BIT_ULL(nr_events) - 1);

	caps->counters = caps->nr_general ?
		GENMASK_ULL(caps->nr_general - 1, 0) : 0;
	fixed = BIT_ULL(caps->nr_fixed) - 1;
	/* Version 5: ECX is a bitmap of fixed counters, besides the number. */
	if (caps->version >= 5)
		fixed |= id->ecx & (BIT_ULL(HWPMU_MAX_FIXED) - 1);
	caps->counters |= fixed << HWPMU_FIXED_BASE;
	caps->nr_fixed = hweight64(fixed);
	decode_extended(id, caps);
	decode_silent(id, caps);
	if (id->tsx_takes_counter)
		leave_counter_to_tsx(caps);

	caps->global = caps->version >= 2;
	caps->full_width = id->pdcm &&
		(id->perf_capabilities & HWPMU_PERF_CAP_FULL_WIDTH);
	caps->raw_mask = RAW_MASK;
	/* EDX[15]: AnyThread is deprecated. */
	if (caps->version >= 3 && !(id->edx & BIT_ULL(15)))
		caps->raw_mask |= HWPMU_EVTSEL_ANY;
	caps->core_type = id->core_type;
	if (id->core_type)
		scnprintf(caps->name, sizeof(caps->name), "Intel %s, PMU version %u",
			  core_name(id->core_type), caps->version);
	else
		scnprintf(caps->name, sizeof(caps->name),
			  "Intel architectural PMU version %u", caps->version);
}

static void decode_amd(const struct hwpmu_cpuid *id, struct hwpmu_caps *caps)
{
	const char *kind = "legacy counters";

	caps->version = id->ext22_eax & AMD_EXT22_PERFMON_V2 ? 2 : 1;
	caps->global = caps->version >= 2;
	caps->core_ext = caps->global || (id->ext1_ecx & AMD_EXT1_CORE_COUNTERS);
	caps->nr_general = AMD_NR_LEGACY;
	if (caps->core_ext) {
		caps->nr_general = AMD_NR_CORE;
		kind = "core counters";
	}
	if (caps->global) {
		caps->nr_general = id->ext22_ebx & AMD_EXT22_NR_CORE;
		kind = "PerfMonV2";
	}
	caps->general_width = AMD_WIDTH;
	caps->counters = GENMASK_ULL(caps->nr_general - 1, 0);
	caps->full_width = true;
	caps->raw_mask = RAW_MASK | HWPMU_EVTSEL_EVENT_HIGH;
	scnprintf(caps->name, sizeof(caps->name), "AMD family %xh, %s",
		  caps->family, kind);
}

static bool is_width(unsigned int bits)
{
	return bits >= 32 && bits <= 64;
}

static const char *intel_reason(const struct hwpmu_cpuid *id)
{
	unsigned int version = id->eax & 0xff;

	if (id->max_leaf < 0xa || !version)
		return id->hypervisor ? PMUCTL_NO_PMU_HIDDEN :
					PMUCTL_NO_PMU_ABSENT;
	if (version > 5)
		return PMUCTL_NO_PMU_VERSION6;
	if (!((id->eax >> 8) & 0xff))
		return PMUCTL_NO_PMU_COUNTERS;
	if (!is_width((id->eax >> 16) & 0xff) ||
	    (version >= 2 && (id->edx & 0x1f) && !is_width((id->edx >> 5) & 0xff)))
		return PMUCTL_NO_PMU_WIDTH;
	return NULL;
}

static const char *amd_reason(const struct hwpmu_cpuid *id)
{
	/* The K7 is family 6. */
	if (id->family < 6)
		return PMUCTL_NO_PMU_AMD;
	if ((id->ext22_eax & AMD_EXT22_PERFMON_V2) &&
	    !(id->ext22_ebx & AMD_EXT22_NR_CORE))
		return PMUCTL_NO_PMU_AMD_NONE;
	return NULL;
}

static const char *find_reason(const struct hwpmu_cpuid *id)
{
	if (id->xen_pv)
		return PMUCTL_NO_PMU_XEN_PV;
	switch (id->vendor) {
	case HWPMU_VENDOR_INTEL:
		return intel_reason(id);
	case HWPMU_VENDOR_AMD:
		return amd_reason(id);
	default:
		return PMUCTL_NO_PMU_VENDOR;
	}
}

const char *hwpmu_cpuid_decode(const struct hwpmu_cpuid *id,
			       struct hwpmu_caps *caps)
{
	const char *reason = find_reason(id);

	memset(caps, 0, sizeof(*caps));
	if (reason)
		return reason;

	caps->vendor = id->vendor;
	caps->family = id->family;
	caps->model = id->model;
	if (id->vendor == HWPMU_VENDOR_AMD) {
		decode_amd(id, caps);
	} else {
		caps->version = id->eax & 0xff;
		decode_intel(id, caps);
	}
	return NULL;
}
