// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading the counter of an event that samples from user space: the page is right though
 * overflows set the counter back at any moment, in the midst of a read too.
 */
#include "records.h"
#include "userpage.h"

TestSuite(sample_user, .init = sampling_init, .fini = sampling_fini);

/* Of perf the ring's metadata page serves, of ours a page that is mapped for that. */
static const user_page *page_of(int fd, const struct ring *ring)
{
	return is_witness() ? (const user_page *)ring->page : page_map(fd);
}

/* A read of the page lies between two by system call; and none is less than the last. */
static void check_reads(uint64_t period, int reads)
{
	struct perf_event_attr attr = sampling_attr(period);
	uint64_t before, after, last = 0, samples = 0;
	int fd = event_open(attr);
	const user_page *page;
	struct user_read r;
	struct ring ring;

	ring_map(&ring, fd, 16);
	page = page_of(fd, &ring);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < reads; i++) {
		r = page_read(page);
		cr_assert_neq(r.index, 0, "period %lu: no counter, read %d", period, i);
		cr_assert_gt(r.value, last, "period %lu, read %d", period, i);
		last = r.value;
		if (i % 64)
			continue;
		before = sampling_value(fd);
		r = page_read(page);
		after = sampling_value(fd);
		cr_assert(r.value > before && r.value < after,
			  "period %lu: %lu, not %lu to %lu", period, r.value, before,
			  after);
		last = r.value;
		samples += ring_drain(&ring, PERF_RECORD_SAMPLE);
	}
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	samples += ring_drain(&ring, PERF_RECORD_SAMPLE);
	cr_assert_eq(samples, sampling_value(fd) / period, "period %lu", period);
	ring_unmap(&ring);
	close(fd);
}

Test(sample_user, counter_that_overflows_all_the_time)
{
	static const uint64_t periods[] = { 211, 997, 5003, 100003, 1000000007 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(periods); i++)
		check_reads(periods[i], 20000);
}

/* After PERIOD and RESET as well; of perf only as many bits as a counter has are right. */
Test(sample_user, counter_that_is_set_anew)
{
	struct perf_event_attr attr = sampling_attr(1009);
	int fd = event_open(attr);
	struct user_read r;
	const user_page *page;
	uint64_t period;
	struct ring ring;

	ring_map(&ring, fd, 16);
	page = page_of(fd, &ring);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 500; i++) {
		period = 500 + i * 37 % 3000;
		cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), 0, "%m");
		user_loop(1000);
		event_ioctl(fd, PERF_EVENT_IOC_RESET);
		r = page_read(page);
		if (is_witness())
			r.value &= (1ull << page->pmc_width) - 1;
		cr_assert_neq(r.index, 0);
		cr_assert_lt(r.value, 1000, "%lu after a reset", r.value);
		ring_drain(&ring, 0);
	}
}
