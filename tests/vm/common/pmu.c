// SPDX-License-Identifier: GPL-2.0-only
#include "pmu.h"

struct pmuctl_info pmu_info(void)
{
	struct pmuctl_info info = { .size = sizeof(info) };
	int device = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC);

	cr_assert_eq(ioctl(device, PMUCTL_IOC_INFO, &info), 0, "%m");
	close(device);
	return info;
}

bool pmu_is_amd(void)
{
	return pmu_info().pmu_kind == PMUCTL_PMU_AMD;
}

unsigned int pmu_general(void)
{
	return pmu_info().nr_counters;
}

unsigned int pmu_fixed(void)
{
	unsigned int n = pmu_info().nr_fixed;

	return n < 3 ? n : 3;
}

uint64_t pmu_missing_event(const char **name)
{
	bool has = pmu_info().generic_events >> PERF_COUNT_HW_STALLED_CYCLES_FRONTEND & 1;

	*name = has ? "bus-cycles" : "stalled-cycles-frontend";
	return has ? PERF_COUNT_HW_BUS_CYCLES : PERF_COUNT_HW_STALLED_CYCLES_FRONTEND;
}

uint64_t pmu_raw_branches(void)
{
	return pmu_is_amd() ? 0xc2 : 0xc4;
}

uint64_t pmu_raw_cycles(void)
{
	return pmu_is_amd() ? 0x76 : 0x3c;
}

unsigned int pmu_fill(uint64_t *configs)
{
	static const uint64_t fixed[] = { PERF_COUNT_HW_INSTRUCTIONS,
		PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_REF_CPU_CYCLES };
	unsigned int i, n = 0;

	for (i = 0; i < pmu_general(); i++)
		configs[n++] = i % 2 ? PERF_COUNT_HW_BRANCH_INSTRUCTIONS :
				       PERF_COUNT_HW_INSTRUCTIONS;
	for (i = 0; i < pmu_fixed(); i++)
		configs[n++] = fixed[i];
	return n;
}
