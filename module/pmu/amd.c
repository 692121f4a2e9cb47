// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the registers of AMD's PMU are: APM Vol. 2, "Performance Counter MSRs" and
 * "Core Performance Event-Select/Counter Registers"; PPR for family 19h model 11h,
 * "Performance Monitor Counters", for PerfMonV2.
 */
#include "pmu/regs.h"

/* Not in the headers of all kernels */
#define GLOBAL_STATUS		0xc0000300
#define GLOBAL_CTL		0xc0000301
#define GLOBAL_STATUS_CLR	0xc0000302

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
	if (caps->core_ext) {
		/* Event selects and counters alternate. */
		hwpmu_regs.evtsel = MSR_F15H_PERF_CTL;
		hwpmu_regs.counter = MSR_F15H_PERF_CTR;
		hwpmu_regs.shift = 1;
	}
	hwpmu_regs.write = hwpmu_regs.counter;
}
