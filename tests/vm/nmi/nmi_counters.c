// SPDX-License-Identifier: GPL-2.0-only
/*
 * All general counters of two CPUs sample at once, each with a period of its own, so that
 * their overflows come in every order, together and while another's is being handled. Not
 * one may be lost, and no NMI may be left that nobody wants: that shows in the kernel
 * log, which the laboratory reads. A million overflows if SAMPLING_STRESS is set.
 */
#include "nmis.h"
#include "pmu.h"

#define CPUS		2
#define ROUNDS		5000

static uint64_t overflows_wanted(void)
{
	return is_stress() ? 1000000 : 20000;
}

/**
 * struct counter - one event of a thread's group
 * @fd: its descriptor.
 * @ring: where it samples to.
 * @period: events from one sample to the next.
 * @samples: how many came.
 */
struct counter {
	int fd;
	struct ring ring;
	uint64_t period;
	uint64_t samples;
};

struct sampler {
	pthread_t thread;
	int cpu;
	uint64_t overflows;
};

/* Close to each other, and no two the same: a step of 2 between primes and others */
static uint64_t period_of(unsigned int i, bool branches)
{
	return (branches ? 101 : 1009) + 2 * i;
}

static void open_counters(struct counter *c, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct perf_event_attr attr = sampling_attr(period_of(i, i % 2));

		attr.config = i % 2 ? PERF_COUNT_HW_BRANCH_INSTRUCTIONS :
				      PERF_COUNT_HW_INSTRUCTIONS;
		attr.sample_type = PERF_SAMPLE_IP;
		attr.disabled = !i;
		c[i].period = attr.sample_period;
		c[i].samples = 0;
		c[i].fd = event_open(attr, .group = i ? c[0].fd : -1);
		ring_map(&c[i].ring, c[i].fd, 16);
	}
}

static void *sampler_thread(void *arg)
{
	struct sampler *s = arg;
	struct counter c[PMU_MAX];
	unsigned int i, n = pmu_general();
	uint64_t value;

	pin_here(s->cpu);
	open_counters(c, n);
	while (s->overflows < overflows_wanted() / CPUS) {
		block_run(c[0].fd, ROUNDS);
		for (i = 0; i < n; i++) {
			value = ring_drain(&c[i].ring, PERF_RECORD_SAMPLE);
			c[i].samples += value;
			s->overflows += value;
			value = sampling_value(c[i].fd);
			cr_assert_eq(c[i].samples, value / c[i].period,
				     "CPU %d, counter %u: %lu samples of %lu every %lu",
				     s->cpu, i, c[i].samples, value, c[i].period);
		}
	}
	for (i = 0; i < n; i++) {
		ring_unmap(&c[i].ring);
		close(c[i].fd);
	}
	return NULL;
}

TestSuite(nmi_counters, .init = sampling_init, .fini = sampling_fini);

Test(nmi_counters, none_is_lost_while_all_sample_on_both_cpus)
{
	struct sampler s[CPUS];
	uint64_t seen = 0, claimed = 0;
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		seen -= nmi_stats(cpu).overflows;
		claimed -= nmi_stats(cpu).claimed;
		s[cpu] = (struct sampler) { .cpu = cpu };
		cr_assert_eq(pthread_create(&s[cpu].thread, NULL, sampler_thread, &s[cpu]), 0);
	}
	for (cpu = 0; cpu < CPUS; cpu++)
		cr_assert_eq(pthread_join(s[cpu].thread, NULL), 0);
	for (cpu = 0; cpu < CPUS; cpu++) {
		seen += nmi_stats(cpu).overflows;
		claimed += nmi_stats(cpu).claimed;
	}
	cr_expect_geq(seen, s[0].overflows + s[1].overflows);
	cr_expect_gt(claimed, 0);
	fprintf(stderr, "%lu overflows, %lu NMIs\n", seen, claimed);
}
