// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the registers of AMD's PMU are: APM Vol. 2, "Performance Counter MSRs" and
 * "Core Performance Event-Select/Counter Registers"; PPR for family 19h model 11h,
 * "Performance Monitor Counters", for PerfMonV2.
 */
#include <asm/cpuid/api.h>

#include "pmu/regs.h"

/* Not in the headers of all kernels */
#define GLOBAL_STATUS		0xc0000300
#define GLOBAL_CTL		0xc0000301
#define GLOBAL_STATUS_CLR	0xc0000302

/* APM Vol. 3, CPUID leaf 8000_0022H, EAX: LbrAndPmcFreeze */
#define CPUID_FREEZE			BIT(2)
/* APM Vol. 2, "Debug-Control MSR (DebugCtl)"; PerfCntrGlobalStatus: the same bits as Intel's */
#define DEBUGCTL_FREEZE_PMC_ON_PMI	BIT_ULL(12)
#define STATUS_LBR_FROZEN		BIT_ULL(58)
#define STATUS_PMC_FROZEN		BIT_ULL(59)

static bool can_freeze(const struct hwpmu_caps *caps)
{
	u64 value;

	return caps->global && (cpuid_eax(0x80000022) & CPUID_FREEZE) &&
		!rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &value);
}

void hwpmu_amd_regs(const struct hwpmu_caps *caps)
{
	hwpmu_regs = (struct hwpmu_regs) {
		.evtsel = MSR_K7_EVNTSEL0,
		.counter = MSR_K7_PERFCTR0,
		.global_ctrl = GLOBAL_CTL,
		.global_status = GLOBAL_STATUS,
		.global_ack = GLOBAL_STATUS_CLR,
		.clearable = caps->counters,
	};
	if (can_freeze(caps)) {
		hwpmu_regs.clearable |= STATUS_LBR_FROZEN | STATUS_PMC_FROZEN;
		hwpmu_regs.frozen = STATUS_PMC_FROZEN;
		hwpmu_regs.freeze = DEBUGCTL_FREEZE_PMC_ON_PMI;
	}
	if (caps->core_ext) {
		/* Event selects and counters alternate. */
		hwpmu_regs.evtsel = MSR_F15H_PERF_CTL;
		hwpmu_regs.counter = MSR_F15H_PERF_CTR;
		hwpmu_regs.shift = 1;
	}
	hwpmu_regs.write = hwpmu_regs.counter;
}
