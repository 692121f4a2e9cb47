// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the registers of Intel's architectural PMU are: SDM Vol. 4, "Architectural MSRs".
 */
#include "pmu/regs.h"

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
	};
}
