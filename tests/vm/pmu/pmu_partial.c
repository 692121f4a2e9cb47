// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hypervisor whose CPUID announces counters that are not there: those that are there
 * count, the others are never touched again. For guests with --cpu intel-partial and
 * amd-partial, which have the first two counters of each kind. That no access to a
 * register fails shows in the kernel log, which the laboratory reads.
 */
#include "groups.h"
#include "pmu.h"

#define N		100000ull
#define THERE		2

Test(pmu_partial, info_has_what_is_there)
{
	struct pmuctl_info info = raw_info();

	cr_expect_eq(info.nr_counters, THERE, "%u", info.nr_counters);
	cr_expect_eq(info.nr_fixed, pmu_is_amd() ? 0 : THERE, "%u", info.nr_fixed);
	cr_expect_str_empty(info.pmu_reason);
	cr_expect_eq(info.generic_events >> PERF_COUNT_HW_REF_CPU_CYCLES & 1, 0,
		     "fixed counter 2 is not there");
}

Test(pmu_partial, all_that_are_there_count)
{
	uint64_t configs[PMU_MAX];
	unsigned int i, n = pmu_fill(configs);
	struct worker w;
	int fd[PMU_MAX];

	cr_expect_eq(n, pmu_is_amd() ? THERE : 2 * THERE);
	worker_start(&w, false);
	for (i = 0; i < n; i++) {
		struct perf_event_attr attr = user_attr(configs[i]);

		fd[i] = event_open(attr, w.tid);
	}
	for (i = 0; i < n; i++)
		cr_expect_eq(worker_count_loop(&w, fd[i], N),
			     configs[i] == PERF_COUNT_HW_BRANCH_INSTRUCTIONS ? N : 2 * N,
			     "event %u", i);
	for (i = 0; i < n; i++)
		cr_expect_eq(event_read(fd[i]).enabled, event_read(fd[i]).running);
	worker_end(&w);
}

Test(pmu_partial, a_group_has_no_more_than_there_are)
{
	int leader = event_open(branches_u());

	event_open(branches_u(), .group = leader);
	cr_expect_eq(event_try(branches_u(), .group = leader), -EINVAL);
	cr_expect_eq(event_why.code, PMUCTL_WHY_GROUP_TOO_BIG);
}
