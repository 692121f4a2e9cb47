// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMU's interrupt with nothing in the status, as errata and some hypervisors send it.
 * Intel's processors have masked LVTPC then: it is unmasked, or no overflow would be seen any
 * more, and it is ours, as nothing else masks it. For --cpu intel.
 */
#include "nmis.h"

#define CPUS	2

static void begin(void)
{
	cr_assert_eq(raw_give_back(), 0);
	foreign_load();
	sampling_init();
}

static void end(void)
{
	sampling_fini();
	foreign_unload();
}

TestSuite(nmi_masked, .init = begin, .fini = end);

Test(nmi_masked, an_interrupt_without_a_status_is_ours)
{
	struct perf_event_attr attr = instructions_u();
	struct foreign before, after;
	struct nmi_stats old, now;
	int fd = event_open(attr, -1, 1), i;

	before = foreign_read(1);
	old = nmi_stats(1);
	for (i = 0; i < 100; i++)
		foreign_send_pmi(1);
	after = foreign_read(1);
	now = nmi_stats(1);
	cr_expect_eq(after.unknown, before.unknown, "%lu are unknown",
		     after.unknown - before.unknown);
	cr_expect_eq(now.claimed - old.claimed, after.all - before.all);
	close(fd);
}

/* Who does not mask it has sent something else. */
Test(nmi_masked, what_does_not_mask_is_not)
{
	struct perf_event_attr attr = instructions_u();
	struct foreign before, after;
	int fd = event_open(attr, -1, 1), i;

	before = foreign_read(1);
	for (i = 0; i < 100; i++) {
		foreign_send_pmi(1);
		foreign_send(1);
	}
	after = foreign_read(1);
	cr_expect_eq(after.unknown - before.unknown, 100);
	close(fd);
}

static void send_here(struct sampled *s)
{
	foreign_send_pmi(s->cpu);
}

/* Each sample is in its place after any number of them: no overflow waits for the next one. */
Test(nmi_masked, overflows_are_seen_after_it)
{
	struct sampled s[CPUS];
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		sampled_start(&s[cpu], cpu, 997 + cpu, send_here);
	for (cpu = 0; cpu < CPUS; cpu++)
		while (__atomic_load_n(&s[cpu].blocks, __ATOMIC_ACQUIRE) < 50)
			usleep(1000);
	for (cpu = 0; cpu < CPUS; cpu++)
		sampled_end(&s[cpu]);
}

/* Sent to a CPU whose counters overflow at that moment, too. */
Test(nmi_masked, none_is_lost_that_overflows_meanwhile)
{
	struct foreign before = foreign_read(1), after;
	struct sampled s;
	int i;

	sampled_start(&s, 1, 211, NULL);
	sampled_wait(&s);
	pin_here(0);
	for (i = 0; i < 500; i++)
		foreign_send_pmi(1);
	sampled_end(&s);
	after = foreign_read(1);
	cr_expect_eq(after.unknown, before.unknown);
}
