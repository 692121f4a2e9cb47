// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters that a thread reads in user space while their period changes: they are set anew for
 * that, and the page must say so.
 */
#include "pmu.h"
#include "userpage.h"

#define LONG	(1ull << 28)
#define SHORT	(1ull << 20)

/* What read() says lies between two reads of the page, and these are close together. */
static void check_read(int fd, const user_page *page)
{
	uint64_t before = page_read(page).value;
	uint64_t now = event_value(fd);
	uint64_t after = page_read(page).value;

	cr_assert_leq(before, now, "%lu before %lu", before, now);
	cr_assert_leq(now, after, "%lu before %lu", now, after);
	cr_assert_lt(after - before, 3000, "%lu to %lu", before, after);
}

Test(user_period, a_new_one_changes_no_count)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t period;
	user_page *page;
	int fd;

	attr.sample_period = LONG;
	fd = event_open(attr);
	page = page_map(fd);
	for (unsigned int i = 0; i < 400; i++) {
		period = i % 2 ? LONG : SHORT;
		cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), 0);
		check_read(fd, page);
		user_loop(100);
		check_read(fd, page);
	}
	page_unmap(page);
}

/*
 * After much work its period is long. Then there is little, in calls that do not sleep: a tick
 * finds that the period is too long for its frequency, and shortens it.
 */
Test(user_period, nor_does_one_that_a_frequency_shortens)
{
	struct perf_event_attr attr = instructions_u();
	static char zeros[1 << 20];
	int fd, from = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	unsigned int shortened = 0;
	user_page *page;
	uint64_t offset;

	attr.freq = 1;
	attr.sample_freq = 1000;
	fd = event_open(attr);
	page = page_map(fd);
	for (unsigned int i = 0; i < 5; i++) {
		user_loop(10000000);
		for (unsigned int k = 0; k < 500; k++) {
			offset = page->offset;
			cr_assert_eq(read(from, zeros, sizeof(zeros)), (ssize_t)sizeof(zeros));
			check_read(fd, page);
			shortened += (uint64_t)page->offset != offset;
		}
	}
	cr_assert_gt(shortened, 0);
	page_unmap(page);
}
