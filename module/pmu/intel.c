// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the registers of Intel's architectural PMU are: SDM Vol. 4, "Architectural MSRs".
 */
#include "pmu/regs.h"

/* SDM Vol. 3B, "Freezing LBR and Performance Counters on PMI" */
#define STATUS_CTR_FRZ			BIT_ULL(59)
#define DEBUGCTL_FREEZE_PERFMON_ON_PMI	BIT_ULL(12)

static bool can_freeze(const struct hwpmu_caps *caps)
{
	u64 value;

	return caps->version >= 2 && boot_cpu_has(X86_FEATURE_PDCM) &&
		!rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &value);
}

void hwpmu_intel_regs(const struct hwpmu_caps *caps)
{
	hwpmu_regs = (struct hwpmu_regs) {
		.evtsel = MSR_ARCH_PERFMON_EVENTSEL0,
		.counter = MSR_ARCH_PERFMON_PERFCTR0,
		.write = caps->full_width ? MSR_IA32_PMC0 :
					    MSR_ARCH_PERFMON_PERFCTR0,
		.global_ctrl = MSR_CORE_PERF_GLOBAL_CTRL,
		.global_status = MSR_CORE_PERF_GLOBAL_STATUS,
		.global_ack = MSR_CORE_PERF_GLOBAL_OVF_CTRL,
		.clearable = ~HWPMU_STATUS_TOPA,
		.frozen = caps->version >= 4 ? STATUS_CTR_FRZ : 0,
		.freeze = can_freeze(caps) ? DEBUGCTL_FREEZE_PERFMON_ON_PMI : 0,
	};
}
