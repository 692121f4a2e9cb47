// SPDX-License-Identifier: GPL-2.0-only
/*
 * AMD's NMIs may come long after their overflow has been handled, and find nothing. Others'
 * NMIs stand for them here. For --cpu amd and amd-v2.
 */
#include "nmis.h"

#define NMIS	50

static void begin(void)
{
	cr_assert_eq(raw_give_back(), 0);
	foreign_load();
	sampling_init();
}

static void end(void)
{
	late_nmi_set(LATE_NMI_MS);
	sampling_fini();
	foreign_unload();
}

TestSuite(nmi_late, .init = begin, .fini = end);

/* How many of those that a CPU is sent while it samples are unknown, and how many were alone */
static uint64_t unknown_while_sampling(uint64_t *alone)
{
	struct foreign before = foreign_read(1), after;
	struct sampled s;

	sampled_start(&s, 1, 997, NULL);
	sampled_wait(&s);
	pin_here(0);
	for (int i = 0; i < NMIS; i++)
		foreign_send(1);
	sampled_end(&s);
	after = foreign_read(1);
	*alone = after.alone - before.alone;
	return after.unknown - before.unknown;
}

Test(nmi_late, after_an_overflow_it_is_ours)
{
	uint64_t alone, unknown;

	/* No sleep of the host is to be longer. */
	late_nmi_set(3600 * 1000);
	unknown = unknown_while_sampling(&alone);
	cr_expect_gt(alone, 0);
	cr_expect_eq(unknown, 0, "%lu of %lu", unknown, alone);
}

Test(nmi_late, unless_it_is_told_not_to_wait)
{
	uint64_t alone, unknown;

	late_nmi_set(0);
	unknown = unknown_while_sampling(&alone);
	cr_expect_eq(unknown, alone, "%lu of %lu", unknown, alone);
}

/* The counter of the other CPU does not matter, nor what was longer ago. */
Test(nmi_late, later_it_is_not)
{
	struct perf_event_attr attr = instructions_u();
	struct foreign before, after;
	int fd = event_open(attr, -1, 0);
	uint64_t alone;

	cr_assert_eq(raw_read_number("/sys/module/pmuctl/parameters/late_nmi_ms"), LATE_NMI_MS);
	unknown_while_sampling(&alone);
	pin_here(0);
	usleep(2 * LATE_NMI_MS * 1000);
	before = foreign_read(1);
	for (int i = 0; i < NMIS; i++)
		foreign_send(1);
	after = foreign_read(1);
	cr_expect_eq(after.unknown - before.unknown, NMIS);
	close(fd);
}
