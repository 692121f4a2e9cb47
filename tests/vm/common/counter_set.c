// SPDX-License-Identifier: GPL-2.0-only
#include "counter_set.h"
#include "event.h"

#define ENABLE	(1ull << 22)	/* SDM Vol. 3B, IA32_PERFEVTSELx.EN; APM Vol. 2, PERF_CTLx.EN */
#define COPIES	(PMU_MAX / 2)

int counter_set_ours(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return event_try(attr, pid, cpu);
}

static uint64_t used_now(const struct msrs *m, int cpu)
{
	uint64_t value[MSRS_MAX], used = 0;
	unsigned int i;

	msrs_read(m, cpu, value);
	for (i = 0; i < m->n_evtsel; i++)
		if (value[i] & ENABLE)
			used |= 1ull << i;
	return used;
}

uint64_t counter_set(const struct msrs *m, int cpu, const struct perf_event_attr *attr,
		     counter_set_opener open)
{
	unsigned int n = 0, most = m->n_evtsel + 1;
	uint64_t used = 0;
	int fd[COPIES];

	cr_assert_leq(most, COPIES);
	cr_assert_eq(raw_give_back(), 0);
	while (n < most) {
		fd[n] = open(attr, -1, cpu);
		if (fd[n] < 0)
			break;
		n++;
	}
	if (n)
		used = used_now(m, cpu);
	while (n)
		close(fd[--n]);
	return used;
}
