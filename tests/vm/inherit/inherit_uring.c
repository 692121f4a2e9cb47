// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workers of io_uring, which the kernel makes for a task that asks for work: they are
 * inherited like its threads. What a worker does here is to read into memory that is not
 * there yet, so each page is a page fault of the worker's and none of the task's.
 */
#include "family.h"
#include "soft.h"

#include <linux/io_uring.h>

#define PAGES	37u

TestSuite(inherit_uring, .init = sampling_init, .fini = sampling_fini);

/**
 * struct uring - a queue of one entry
 * @fd: the io_uring.
 * @rings: what is submitted and what is done: one mapping.
 * @entry: the only entry.
 * @p: where things are in the rings.
 */
struct uring {
	int fd;
	uint8_t *rings;
	struct io_uring_sqe *entry;
	struct io_uring_params p;
};

static void *uring_part(const struct uring *u, size_t size, off_t offset)
{
	void *part = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			  u->fd, offset);

	cr_assert_neq(part, MAP_FAILED, "%m");
	return part;
}

static void uring_open(struct uring *u)
{
	memset(u, 0, sizeof(*u));
	u->fd = syscall(__NR_io_uring_setup, 1, &u->p);
	cr_assert(u->fd >= 0, "io_uring: %m");
	cr_assert(u->p.features & IORING_FEAT_SINGLE_MMAP);
	u->rings = uring_part(u, PAGE, IORING_OFF_SQ_RING);
	u->entry = uring_part(u, PAGE, IORING_OFF_SQES);
}

static void uring_close(struct uring *u)
{
	munmap(u->entry, PAGE);
	munmap(u->rings, PAGE);
	close(u->fd);
}

static uint32_t *uring_word(const struct uring *u, uint32_t offset)
{
	return (uint32_t *)(u->rings + offset);
}

/* Let a worker read @size bytes from @from, and wait until it has. */
static void uring_read(struct uring *u, int from, void *to, uint32_t size)
{
	uint32_t *tail = uring_word(u, u->p.sq_off.tail);
	struct io_uring_cqe *done = (void *)uring_word(u, u->p.cq_off.cqes);
	uint32_t *head = uring_word(u, u->p.cq_off.head);
	uint32_t mask = *uring_word(u, u->p.cq_off.ring_mask);

	*u->entry = (struct io_uring_sqe) {
		.opcode = IORING_OP_READ,
		.flags = IOSQE_ASYNC,
		.fd = from,
		.addr = (uintptr_t)to,
		.len = size,
	};
	*uring_word(u, u->p.sq_off.array) = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	cr_assert_eq(syscall(__NR_io_uring_enter, u->fd, 1, 1, IORING_ENTER_GETEVENTS,
			     NULL, 0), 1, "%m");
	cr_assert_eq(done[*head & mask].res, (int)size);
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
}

static int faults_open(bool of_children)
{
	struct perf_event_attr attr = soft_attr(PERF_COUNT_SW_PAGE_FAULTS);

	attr.inherit = of_children;
	return event_open(attr);
}

/* What both count while @pages are read by a worker */
static void count_both(struct uring *u, int own, int all, uint32_t pages, uint64_t counts[2])
{
	uint8_t *map = fresh_pages(pages);
	AUTO_CLOSE int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	counts[0] = sampling_value(own);
	counts[1] = sampling_value(all);
	event_ioctl(own, PERF_EVENT_IOC_ENABLE);
	event_ioctl(all, PERF_EVENT_IOC_ENABLE);
	uring_read(u, zero, map, pages * PAGE);
	event_ioctl(all, PERF_EVENT_IOC_DISABLE);
	event_ioctl(own, PERF_EVENT_IOC_DISABLE);
	counts[0] = sampling_value(own) - counts[0];
	counts[1] = sampling_value(all) - counts[1];
	cr_assert_eq(munmap(map, pages * PAGE), 0);
}

Test(inherit_uring, workers_are_counted)
{
	int own = faults_open(false), all = faults_open(true);
	uint64_t counts[2];
	struct uring u;

	uring_open(&u);
	/* The first makes the worker, the next ones find it. */
	for (unsigned int i = 0; i < 3; i++) {
		count_both(&u, own, all, PAGES, counts);
		cr_expect_eq(counts[1] - counts[0], PAGES, "round %u: %lu and %lu", i,
			     counts[0], counts[1]);
	}
	uring_close(&u);
}

Test(inherit_uring, workers_made_before_are_nobodys_children)
{
	uint32_t workers[2] = { 1, 1 };
	uint64_t counts[2];
	struct uring u;
	int own, all;

	uring_open(&u);
	/* When one has to wait for anything there would be another one, made by it. */
	cr_assert_eq(syscall(__NR_io_uring_register, u.fd, IORING_REGISTER_IOWQ_MAX_WORKERS, workers,
			     2), 0, "%m");
	own = faults_open(false);
	count_both(&u, own, own, PAGES, counts);
	all = faults_open(true);
	count_both(&u, own, all, PAGES, counts);
	cr_expect_eq(counts[1], counts[0], "%lu and %lu", counts[0], counts[1]);
	uring_close(&u);
}
