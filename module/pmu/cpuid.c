// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding of CPUID leaf 0xA: SDM Vol. 2A, "CPUID - CPU Identification", and
 * Vol. 3B, chapter "Performance Monitoring", section "Architectural Performance
 * Monitoring". Pure logic: compiles in user space too.
 */
#include "pmu/cpuid.h"
#include "sentences.h"

static void decode_version2(const struct hwpmu_cpuid *id,
			    struct hwpmu_caps *caps)
{
	unsigned int nr_events = (id->eax >> 24) & 0xff;
	u64 fixed;

	caps->nr_general = (id->eax >> 8) & 0xff;
	if (caps->nr_general > HWPMU_MAX_GENERAL)
		caps->nr_general = HWPMU_MAX_GENERAL;
	caps->general_width = (id->eax >> 16) & 0xff;
	caps->nr_fixed = id->edx & 0x1f;
	if (caps->nr_fixed > HWPMU_MAX_FIXED)
		caps->nr_fixed = HWPMU_MAX_FIXED;
	caps->fixed_width = (id->edx >> 5) & 0xff;

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

	caps->full_width = id->pdcm &&
		(id->perf_capabilities & HWPMU_PERF_CAP_FULL_WIDTH);
	caps->raw_mask = HWPMU_EVTSEL_EVENT | HWPMU_EVTSEL_UMASK |
		HWPMU_EVTSEL_EDGE | HWPMU_EVTSEL_INV | HWPMU_EVTSEL_CMASK;
	/* EDX[15]: AnyThread is deprecated. */
	if (caps->version >= 3 && !(id->edx & BIT_ULL(15)))
		caps->raw_mask |= HWPMU_EVTSEL_ANY;
}

static bool is_width(unsigned int bits)
{
	return bits >= 32 && bits <= 64;
}

static const char *find_reason(const struct hwpmu_cpuid *id)
{
	unsigned int version = id->eax & 0xff;

	if (id->vendor == HWPMU_VENDOR_AMD)
		return PMUCTL_NO_PMU_AMD;
	if (id->vendor != HWPMU_VENDOR_INTEL)
		return PMUCTL_NO_PMU_VENDOR;
	if (id->max_leaf < 0xa || !version)
		return id->hypervisor ? PMUCTL_NO_PMU_HIDDEN :
					PMUCTL_NO_PMU_ABSENT;
	if (version < 2)
		return PMUCTL_NO_PMU_VERSION;
	if (version > 5)
		return PMUCTL_NO_PMU_VERSION6;
	if (!((id->eax >> 8) & 0xff))
		return PMUCTL_NO_PMU_COUNTERS;
	if (!is_width((id->eax >> 16) & 0xff) ||
	    ((id->edx & 0x1f) && !is_width((id->edx >> 5) & 0xff)))
		return PMUCTL_NO_PMU_WIDTH;
	return NULL;
}

const char *hwpmu_cpuid_decode(const struct hwpmu_cpuid *id,
			       struct hwpmu_caps *caps)
{
	const char *reason = find_reason(id);

	memset(caps, 0, sizeof(*caps));
	if (reason)
		return reason;

	caps->version = id->eax & 0xff;
	caps->family = id->family;
	caps->model = id->model;
	decode_version2(id, caps);
	scnprintf(caps->name, sizeof(caps->name),
		  "Intel architectural PMU version %u", caps->version);
	return NULL;
}
