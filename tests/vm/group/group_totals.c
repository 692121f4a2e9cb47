// SPDX-License-Identifier: GPL-2.0-only
/*
 * The numbers that debugfs shows of all that has happened: of samples, of records that were lost, of
 * throttles and of rotations, beside those that the events' own records tell.
 */
#include "groups.h"
#include "pmu.h"
#include "records.h"

TestSuite(group_totals, .init = sampling_init, .fini = sampling_fini);

#define PERIOD	50
#define ROUNDS	2000	/* more than fit a page */

Test(group_totals, of_samples_and_what_was_lost)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	struct totals before = totals(), after;
	int fd = event_open(attr);
	struct tally t = { 0 };
	struct ring r;

	ring_map(&r, fd, 1);
	block_run(fd, ROUNDS);
	after = totals();
	tally_ring(&attr, &r, &t);
	cr_expect_eq(after.samples - before.samples, t.samples);
	cr_expect_eq(after.lost - before.lost, BLOCK_LENGTH(ROUNDS) / PERIOD - t.samples);
	cr_expect_gt(after.lost, before.lost);
	cr_expect_eq(after.throttles, before.throttles);
	cr_expect_eq(after.rotations, before.rotations);
}

Test(group_totals, of_throttles)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	struct perf_event_header *header;
	struct totals before, after;
	uint64_t throttles = 0;
	struct ring r;
	int fd;

	set_max_rate(1);
	before = totals();
	fd = event_open(attr);
	ring_map(&r, fd, 8);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	while (throttles < 3) {
		user_loop(10 * PERIOD);
		while ((header = ring_next(&r)))
			throttles += header->type == PERF_RECORD_THROTTLE;
	}
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	after = totals();
	while ((header = ring_next(&r)))
		throttles += header->type == PERF_RECORD_THROTTLE;
	cr_expect_eq(after.throttles - before.throttles, throttles);
	cr_expect_eq(after.lost, before.lost);
}

/* One event more than there are counters: at each turn one that waited comes on. */
Test(group_totals, of_rotations)
{
	struct totals before = totals(), after;
	unsigned int n = pmu_general() + 1;
	int fds[65];

	cr_assert_leq(n, RAW_ARRAY_SIZE(fds));
	for (unsigned int i = 0; i < n; i++)
		fds[i] = event_open(branches_u());
	do {
		user_loop(100000);
		after = totals();
	} while (after.rotations - before.rotations < 3);
	for (unsigned int i = 0; i < n; i++) {
		struct counts c = event_read(fds[i]);

		cr_expect_gt(c.running, 0, "event %u", i);
		if (i)
			close(fds[i]);
	}
	before = totals();
	user_loop(10000000);
	after = totals();
	cr_expect_eq(after.rotations, before.rotations, "one event waits for nobody");
	close(fds[0]);
}
