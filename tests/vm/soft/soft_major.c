// SPDX-License-Identifier: GPL-2.0-only
/*
 * Major page faults, those that wait for somebody who brings the page: counted and sampled.
 * The one who brings it is this test, through userfaultfd. No PMU is needed.
 */
#include "soft.h"

#include <linux/userfaultfd.h>
#include <sys/resource.h>

#define PAGES	37u

TestSuite(soft_major, .init = sampling_init, .fini = sampling_fini);

struct bringer {
	int fd;
	uint8_t *map;
	size_t pages;
	pthread_t thread;
};

static void *bring_pages(void *arg)
{
	static uint8_t page[PAGE] __attribute__((aligned(4096)));
	struct bringer *b = arg;
	struct uffd_msg msg;

	for (size_t i = 0; i < b->pages; i++) {
		struct uffdio_copy copy = {
			.src = (uintptr_t)page, .len = PAGE,
		};

		if (read(b->fd, &msg, sizeof(msg)) != sizeof(msg))
			return NULL;
		copy.dst = msg.arg.pagefault.address & ~(PAGE - 1);
		if (ioctl(b->fd, UFFDIO_COPY, &copy))
			return NULL;
	}
	return b;
}

static void bringer_start(struct bringer *b, size_t pages)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	b->fd = syscall(__NR_userfaultfd, O_CLOEXEC);
	cr_assert_geq(b->fd, 0, "userfaultfd: %m");
	cr_assert_eq(ioctl(b->fd, UFFDIO_API, &api), 0);
	b->map = fresh_pages(pages);
	b->pages = pages;
	range.range.start = (uintptr_t)b->map;
	range.range.len = pages * PAGE;
	cr_assert_eq(ioctl(b->fd, UFFDIO_REGISTER, &range), 0);
	cr_assert_eq(pthread_create(&b->thread, NULL, bring_pages, b), 0);
}

static void bringer_end(struct bringer *b)
{
	void *ret;

	cr_assert_eq(pthread_join(b->thread, &ret), 0);
	cr_assert_eq(ret, b);
	munmap(b->map, b->pages * PAGE);
	close(b->fd);
}

/* Which kind it is to wait for somebody is the kernel's to say; 6.1 says major. */
Test(soft_major, page_faults_that_wait_for_somebody)
{
	int minor = event_open(soft_attr(PERF_COUNT_SW_PAGE_FAULTS_MIN));
	int major = event_open(soft_attr(PERF_COUNT_SW_PAGE_FAULTS_MAJ));
	struct rusage before, after;
	struct bringer b;

	bringer_start(&b, PAGES);
	event_ioctl(minor, PERF_EVENT_IOC_ENABLE);
	event_ioctl(major, PERF_EVENT_IOC_ENABLE);
	getrusage(RUSAGE_THREAD, &after);
	getrusage(RUSAGE_THREAD, &before);
	event_ioctl(minor, PERF_EVENT_IOC_RESET);
	event_ioctl(major, PERF_EVENT_IOC_RESET);
	touch_pages(b.map, PAGES);
	event_ioctl(minor, PERF_EVENT_IOC_DISABLE);
	event_ioctl(major, PERF_EVENT_IOC_DISABLE);
	getrusage(RUSAGE_THREAD, &after);
	bringer_end(&b);
	cr_expect_eq(sampling_value(minor) + sampling_value(major), PAGES);
	cr_expect_eq(sampling_value(major), (uint64_t)(after.ru_majflt - before.ru_majflt));
}

Test(soft_major, samples_with_their_address)
{
	struct perf_event_attr attr = soft_attr(PERF_COUNT_SW_PAGE_FAULTS_MAJ);
	struct bringer b;
	struct sample s;
	struct ring r;
	size_t n = 0;
	int fd;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	fd = event_open(attr);
	ring_map(&r, fd, 8);
	bringer_start(&b, PAGES);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	touch_pages(b.map, PAGES);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	for (; next_sample(&attr, &r, &s); n++)
		cr_expect_eq(s.addr, (uintptr_t)b.map + n * PAGE);
	/* All or none: which kind it is to wait for somebody is the kernel's to say. */
	cr_expect(n == PAGES || n == 0);
	cr_expect_eq(n, sampling_value(fd));
	bringer_end(&b);
}
