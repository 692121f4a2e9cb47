// SPDX-License-Identifier: GPL-2.0-only
/*
 * NMIs that are not ours while every CPU samples: they reach their owner, and no sample is
 * missing. And overflows of all counters, so close to each other that one's NMI comes while
 * another's is handled.
 */
#include "positions.h"

#include <sys/klog.h>

TestSuite(sample_nmi, .init = sampling_init, .fini = sampling_fini);

#define CPUS	2

struct sampled {
	pthread_t thread;
	int cpu;
	struct positions p;
	struct ring r;
	uint64_t blocks;
	bool stop;
};

static void *sampled_thread(void *arg)
{
	struct sampled *s = arg;
	int fd;

	pin_here(s->cpu);
	fd = sampling_open(&s->p.attr);
	ring_map(&s->r, fd, 256);
	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		block_run(fd, s->p.rounds);
		s->blocks++;
		check_samples(&s->p, &s->r);
	}
	check_end(&s->p, fd, s->blocks);
	close(fd);
	return NULL;
}

/* How often the kernel has told the stack of a CPU, of all that its log still has */
static int backtraces(void)
{
	static char text[1 << 20];
	int n = klogctl(3, text, sizeof(text) - 1), found = 0; /* read all */

	cr_assert_geq(n, 0, "%m");
	text[n] = '\0';
	for (char *at = text; (at = strstr(at, "NMI backtrace for cpu")); at++)
		found++;
	return found;
}

static void forget_log(void)
{
	klogctl(5, NULL, 0); /* clear: what comes later is ours */
}

Test(sample_nmi, foreign_ones_reach_their_owner)
{
	struct sampled s[CPUS] = { 0 };
	int times = is_stress() ? 200 : 5, found;

	for (int cpu = 0; cpu < CPUS; cpu++) {
		s[cpu].cpu = cpu;
		s[cpu].p.attr = sampling_attr(1009);
		s[cpu].p.rounds = 2000;
		cr_assert_eq(pthread_create(&s[cpu].thread, NULL, sampled_thread,
					    &s[cpu]), 0);
	}
	for (int i = 0; i < times; i++) {
		forget_log();
		/* It returns when every CPU has told, or after 10 s without. */
		cr_assert_eq(raw_write_file("/proc/sysrq-trigger", "l"), 0);
		found = backtraces();
		cr_assert_geq(found, CPUS, "%d CPUs told their stacks", found);
		usleep(20000);
	}
	for (int cpu = 0; cpu < CPUS; cpu++) {
		__atomic_store_n(&s[cpu].stop, true, __ATOMIC_RELAXED);
		pthread_join(s[cpu].thread, NULL);
		cr_assert_gt(s[cpu].p.n, 0);
	}
}

/* Seven counters; the periods are so that any two of them soon overflow with any distance
 * from 0 to some dozens of instructions. Branches come one in ten.
 */
Test(sample_nmi, back_to_back_overflows_of_all_counters)
{
	static const struct {
		uint64_t config, period;
	} events[] = {
		{ PERF_COUNT_HW_INSTRUCTIONS, 101 }, { PERF_COUNT_HW_INSTRUCTIONS, 103 },
		{ PERF_COUNT_HW_INSTRUCTIONS, 107 }, { PERF_COUNT_HW_INSTRUCTIONS, 109 },
		{ PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 11 },
	};
	const unsigned int n = RAW_ARRAY_SIZE(events);
	uint64_t rounds = is_stress() ? 300000 : 10000, expected, got;
	struct perf_event_attr attr[n];
	struct perf_event_header *header;
	struct ring r[n];
	struct sample s;
	int fds[n];

	for (unsigned int i = 0; i < n; i++) {
		attr[i] = sampling_attr(events[i].period);
		attr[i].config = events[i].config;
		attr[i].sample_type = PERF_SAMPLE_READ;
		attr[i].disabled = !i;
		fds[i] = sampling_open_for(&attr[i], 0, -1, i ? fds[0] : -1);
		ring_map(&r[i], fds[i], is_stress() ? 1024 : 64);
	}
	block_run(fds[0], rounds);
	for (unsigned int i = 0; i < n; i++) {
		got = 0;
		while ((header = ring_next(&r[i]))) {
			take_sample(&attr[i], header, &s);
			got++;
			if (!is_witness())
				cr_assert_eq(s.read.each[0].value,
					     got * events[i].period, "event %u", i);
		}
		expected = sampling_value(fds[i]) / events[i].period;
		/* The kernel's own perf loses one now and then. */
		cr_assert_leq(got, expected + is_witness(), "event %u: %lu samples of %lu",
			      i, got, expected);
		cr_assert_geq(got, expected - (is_witness() ? expected / 50 : 0),
			      "event %u: %lu samples of %lu", i, got, expected);
		cr_assert_gt(got, 500);
		close(fds[i]);
	}
}
