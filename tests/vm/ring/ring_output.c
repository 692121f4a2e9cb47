// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several events that write one ring: which may, and what is in it then.
 */
#include "records.h"

#include <pthread.h>
#include <sys/epoll.h>

TestSuite(ring_output, .init = sampling_init, .fini = sampling_fini);

#define PERIOD	50
#define ROUNDS	10	/* two samples of them */

static struct perf_event_attr with_id(uint64_t period)
{
	struct perf_event_attr attr = sampling_attr(period);

	attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
	return attr;
}

/* 0 or -errno */
static int set_output(int fd, int output)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (long)output) ? -errno : 0;
}

static void take_next(struct ring *r, const struct perf_event_attr *attr,
		      struct sample *s)
{
	struct perf_event_header *header = ring_next(r);

	cr_assert_not_null(header);
	take_sample(attr, header, s);
}

Test(ring_output, samples_of_both_events_in_one_ring)
{
	struct perf_event_attr attr = with_id(PERIOD);
	int a = event_open(attr), b = event_open(attr);
	struct sample s;
	struct ring r;

	ring_map(&r, a, 1);
	cr_assert_eq(set_output(b, a), 0, "%m");
	for (int i = 0; i < 10; i++) {
		int fd = i % 3 ? a : b;

		block_run(fd, ROUNDS);
		for (int n = 0; n < 2; n++) {
			take_next(&r, &attr, &s);
			cr_assert_eq(s.identifier, event_id(fd), "block %d", i);
		}
		cr_assert_null(ring_next(&r));
	}
}

Test(ring_output, at_open)
{
	struct perf_event_attr attr = with_id(PERIOD);
	int a = event_open(attr), b;
	struct sample s;
	struct ring r;

	ring_map(&r, a, 1);
	b = event_try(attr, .group = a, .flags = PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP);
	cr_assert_geq(b, 0, "%s: %s", strerror(-b), event_why.sentence);
	block_run(b, ROUNDS);
	take_next(&r, &attr, &s);
	cr_assert_eq(s.identifier, event_id(b));
}

/* Those of a group that overflow at the same instruction, without a gap */
Test(ring_output, events_that_overflow_at_once)
{
	struct perf_event_attr leader = with_id(PERIOD), sibling = with_id(PERIOD);
	struct tally t = { 0 };
	struct ring r;
	int fds[4];

	sibling.disabled = 0;
	for (int i = 0; i < 4; i++)
		fds[i] = event_open(i ? &sibling : &leader, .group = i ? fds[0] : -1);
	ring_map(&r, fds[0], 256);
	for (int i = 1; i < 4; i++)
		cr_assert_eq(set_output(fds[i], fds[0]), 0, "%m");
	block_run(fds[0], 1000);
	tally_ring(&leader, &r, &t);
	cr_assert_eq(t.samples, 4 * (BLOCK_LENGTH(1000) / PERIOD));
	cr_assert_eq(t.others + t.lost, 0);
}

/* A dummy is waited for before it has a ring. */
Test(ring_output, is_told_to_who_waits_since_before_the_mapping)
{
	struct perf_event_attr attr = with_id(PERIOD);
	struct perf_event_attr dummy = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	int shown = event_open(dummy), fd = event_open(attr), waits = epoll_create1(0);
	struct epoll_event told = { .events = EPOLLIN };
	struct ring r;

	cr_assert_eq(epoll_ctl(waits, EPOLL_CTL_ADD, shown, &told), 0);
	epoll_wait(waits, &told, 1, 0); /* perf says EPOLLHUP as long as there is no ring */
	ring_map(&r, shown, 1);
	cr_assert_eq(set_output(fd, shown), 0);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	user_loop(1000000);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_assert_eq(epoll_wait(waits, &told, 1, 10000), 1);
	cr_assert(told.events & EPOLLIN, "%#x", told.events);
	close(waits);
}

#define WAIT_MS	20000

static pid_t waiter;

/* Returns NULL if nobody has woken it. */
static void *wait_for_records(void *fd)
{
	__atomic_store_n(&waiter, gettid(), __ATOMIC_RELEASE);
	return is_woken(*(int *)fd, WAIT_MS) ? fd : NULL;
}

/* Who waits is told of what is in the ring to which the event has just been moved. */
Test(ring_output, is_told_to_who_waits_since_before_a_move)
{
	struct perf_event_attr dummy = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	struct perf_event_attr attr = with_id(PERIOD);
	int empty = event_open(dummy), moved = event_open(dummy), full;
	struct ring r, other;
	pthread_t thread;
	void *told;

	attr.wakeup_events = 1;
	full = event_open(attr);
	ring_map(&r, empty, 1);
	ring_map(&other, full, 1);
	cr_assert_eq(set_output(moved, empty), 0, "%m");
	block_run(full, ROUNDS);
	cr_assert_eq(pthread_create(&thread, NULL, wait_for_records, &moved), 0);
	while (!__atomic_load_n(&waiter, __ATOMIC_ACQUIRE))
		;
	wait_asleep(waiter);
	cr_assert_eq(set_output(moved, full), 0, "%m");
	pthread_join(thread, &told);
	cr_assert_not_null(told);
}

Test(ring_output, taken_back)
{
	struct perf_event_attr attr = with_id(PERIOD);
	int a = event_open(attr), b = event_open(attr);
	struct ring r, own;

	ring_map(&r, a, 1);
	cr_assert_eq(set_output(b, a), 0, "%m");
	block_run(b, ROUNDS);
	cr_assert_eq(ring_drain(&r, PERF_RECORD_SAMPLE), 2);
	cr_assert_eq(set_output(b, -1), 0, "%m");
	block_run(b, ROUNDS);
	cr_assert_eq(ring_drain(&r, PERF_RECORD_SAMPLE), 0);
	ring_map(&own, b, 1);
	block_run(b, ROUNDS);
	cr_assert_eq(ring_drain(&r, PERF_RECORD_SAMPLE), 0);
	cr_assert_eq(ring_drain(&own, PERF_RECORD_SAMPLE), 2);
}

/* It is the buffer that is shared, not what is done with the event later. */
Test(ring_output, to_an_event_that_is_redirected_itself)
{
	struct perf_event_attr attr = with_id(PERIOD);
	int a = event_open(attr), b = event_open(attr), c = event_open(attr);
	struct ring r;

	ring_map(&r, a, 1);
	cr_assert_eq(set_output(b, a), 0, "%m");
	cr_assert_eq(set_output(c, b), 0, "%m");
	block_run(c, ROUNDS);
	cr_assert_eq(ring_drain(&r, PERF_RECORD_SAMPLE), 2);
	cr_assert_eq(set_output(b, -1), 0, "%m");
	block_run(b, ROUNDS);
	cr_assert_eq(ring_drain(&r, PERF_RECORD_SAMPLE), 0);
	block_run(c, ROUNDS);
	cr_assert_eq(ring_drain(&r, PERF_RECORD_SAMPLE), 2);
	close(b);
	close(a);
	block_run(c, ROUNDS);
	cr_assert_eq(ring_drain(&r, PERF_RECORD_SAMPLE), 2);
	ring_unmap(&r);
	close(c);
}

/* The ring stays as long as it is mapped, whoever opened it. */
Test(ring_output, owner_of_the_ring_is_closed_first)
{
	struct perf_event_attr attr = with_id(PERIOD);
	int a = event_open(attr), b = event_open(attr);
	struct ring r;

	ring_map(&r, a, 1);
	cr_assert_eq(set_output(b, a), 0, "%m");
	close(a);
	block_run(b, ROUNDS);
	cr_assert_eq(ring_drain(&r, PERF_RECORD_SAMPLE), 2);
	ring_unmap(&r);
	block_run(b, ROUNDS); /* nowhere to go */
	cr_assert_eq(sampling_value(b), 2 * BLOCK_LENGTH(ROUNDS));
	close(b);
}

Test(ring_output, ring_is_unmapped_while_others_write_it)
{
	struct perf_event_attr attr = with_id(PERIOD);
	int a = event_open(attr), b = event_open(attr);
	struct ring r;

	for (int i = 0; i < 100; i++) {
		ring_map(&r, a, 1);
		cr_assert_eq(set_output(b, a), 0, "%m");
		block_run(b, ROUNDS);
		cr_assert_geq(ring_drain(&r, PERF_RECORD_SAMPLE), 2);
		ring_unmap(&r);
		block_run(b, ROUNDS);
	}
}

/* ---- Refusals ---- */

static void check_refused(int fd, int output, int error, const char *what)
{
	int err = set_output(fd, output);

	cr_assert_eq(err, -error, "%s: %d", what, err);
}

Test(ring_output, refusals)
{
	struct perf_event_attr attr = with_id(PERIOD), backward = attr, clock = attr;
	int a = event_open(attr), b = event_open(attr), other, null;
	struct ring r, own;

	check_refused(b, a, EINVAL, "without a ring");
	ring_map(&r, a, 1);
	check_refused(a, a, EINVAL, "to itself");
	check_refused(b, 999, EBADF, "no descriptor");
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	check_refused(b, null, EBADF, "no event");

	ring_map(&own, b, 1);
	check_refused(b, a, EINVAL, "has a ring that is mapped");
	check_refused(b, -1, EINVAL, "take back what is mapped");
	ring_unmap(&own);
	cr_assert_eq(set_output(b, a), 0, "%m");

	backward.write_backward = 1;
	other = event_open(backward);
	check_refused(other, a, EINVAL, "another direction");
	close(other);
	clock.use_clockid = 1;
	clock.clockid = CLOCK_MONOTONIC;
	other = event_open(clock);
	check_refused(other, a, EINVAL, "another clock");
	close(other);

	/* What was there before goes on. */
	block_run(b, ROUNDS);
	cr_assert_eq(ring_drain(&r, PERF_RECORD_SAMPLE), 2);
}

Test(ring_output, events_of_a_cpu)
{
	struct perf_event_attr attr = with_id(1000);
	uint64_t mine = 0, id;
	struct perf_event_header *header;
	struct sample s;
	struct ring r;
	int a, b;

	a = event_open(attr, -1, 1);
	b = event_open(attr, -1, 1);
	event_open(attr, -1, 0);
	id = event_id(b);
	ring_map(&r, a, 8);
	cr_assert_eq(set_output(b, a), 0, "%m");
	pin_here(1);
	block_run(b, 1000);
	while ((header = ring_next(&r))) {
		take_sample(&attr, header, &s);
		mine += s.identifier == id && s.cpu == 1;
	}
	cr_assert_geq(mine, 10);
}

/* A task's, another task's, and those of two CPUs. Perf's rings can have one writer at a
 * time, ours many.
 */
Test(ring_output, events_of_others_in_one_ring)
{
	struct perf_event_attr attr = with_id(1000);
	uint64_t ids[4], seen[4] = { 0 };
	struct perf_event_header *header;
	struct worker w;
	struct sample s;
	struct ring r;
	int fds[4];

	pin_here(0);
	worker_start(&w, false);
	pin_task(w.tid, 1);
	fds[0] = event_open(attr);
	ring_map(&r, fds[0], 256);
	for (int i = 1; i < 4; i++) {
		fds[i] = event_open(attr, i == 1 ? w.tid : -1, i - 2);
		if (is_witness()) {
			check_refused(fds[i], fds[0], EINVAL, "somebody else's");
			continue;
		}
		cr_assert_eq(set_output(fds[i], fds[0]), 0, "%d: %m", i);
	}
	for (int i = 0; i < 4; i++) {
		ids[i] = event_id(fds[i]);
		event_ioctl(fds[i], PERF_EVENT_IOC_ENABLE);
	}
	worker_run(&w, 500000);
	user_loop(500000);
	for (int i = 0; i < 4; i++)
		event_ioctl(fds[i], PERF_EVENT_IOC_DISABLE);
	while ((header = ring_next(&r))) {
		take_sample(&attr, header, &s);
		for (int i = 0; i < 4; i++)
			seen[i] += s.identifier == ids[i];
	}
	for (int i = 0; i < (is_witness() ? 1 : 4); i++)
		cr_assert_eq(seen[i], sampling_value(fds[i]) / 1000, "event %d: %lu", i,
			     seen[i]);
	worker_end(&w);
}

/* ---- A record that is on its way into a ring ---- */

#define STACK_COPIED	32768	/* bytes in each: that takes a while */
#define MOVES		3
/* How many it takes is chance. */
#define TRIES_NS	60000000000ull

static volatile bool faults_end;

static struct perf_event_attr faults_with_stacks(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);

	attr.sample_period = 1;
	attr.wakeup_events = 1;
	attr.exclude_kernel = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = STACK_COPIED;
	return attr;
}

static void *fault_on(void *tid)
{
	char stack[STACK_COPIED + PAGE];
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(stack, 1, sizeof(stack));
	pin_here(1);
	__atomic_store_n((pid_t *)tid, gettid(), __ATOMIC_RELEASE);
	while (!faults_end) {
		*(volatile char *)page = stack[0];
		madvise(page, PAGE, MADV_DONTNEED);
	}
	return NULL;
}

/* All that is there has been read, and told of. */
static void forget_all(struct ring *r, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	do
		r->page->data_tail = ring_head(r);
	while (poll(&p, 1, 0) > 0);
}

/*
 * An event moves to another ring while it writes to this one. If there is a new record in the end,
 * who polls must be told.
 */
static bool is_told_of_what_came_last(int fd, int left, int next, struct ring *from, struct ring *to)
{
	struct pollfd p = { .fd = left, .events = POLLIN };
	uint64_t before, next_before;

	cr_assert_eq(set_output(fd, left), 0, "%m");
	forget_all(from, left);
	before = ring_head(from);
	cr_assert_eq(set_output(fd, next), 0, "%m");
	/* The first in the other ring comes after the last one in this. */
	next_before = ring_head(to);
	while (ring_head(to) == next_before)
		to->page->data_tail = next_before;
	forget_all(to, next);
	if (ring_head(from) == before)
		return false;
	cr_assert_eq(poll(&p, 1, 10000), 1, "a record that nobody was told of");
	return true;
}

Test(ring_output, the_last_record_in_the_ring_that_is_left_is_told, .timeout = 300)
{
	struct perf_event_attr dummy = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	int left, next, fd, told = 0, tries;
	uint64_t end;
	struct ring from, to;
	pthread_t thread;
	pid_t tid = 0;

	pin_here(0);
	cr_assert_eq(pthread_create(&thread, NULL, fault_on, &tid), 0);
	while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		;
	left = event_open(dummy, tid);
	next = event_open(dummy, tid);
	ring_map(&from, left, 64);
	ring_map(&to, next, 64);
	fd = event_open(faults_with_stacks(), tid);
	end = clock_ns(CLOCK_MONOTONIC) + TRIES_NS;
	for (tries = 0; told < MOVES && clock_ns(CLOCK_MONOTONIC) < end; tries++)
		told += is_told_of_what_came_last(fd, left, next, &from, &to);
	faults_end = true;
	pthread_join(thread, NULL);
	printf("%d records came after the ring was left, of %d\n", told, tries);
}
