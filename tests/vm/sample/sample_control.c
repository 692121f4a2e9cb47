// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a program learns of samples, and says how many it wants: REFRESH, poll and its
 * relatives, signals.
 */
#include "records.h"

#include <sys/epoll.h>
#include <sys/select.h>

TestSuite(sample_control, .init = sampling_init, .fini = sampling_fini);

#define PERIOD	1000
#define ROUNDS	100	/* of a block: one sample, and three instructions more */

static int refresh(int fd, unsigned long n)
{
	return ioctl(fd, PERF_EVENT_IOC_REFRESH, n) ? -errno : 0;
}

/* What poll() says at once */
static short polled(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	cr_assert_geq(poll(&p, 1, 0), 0, "%m");
	return p.revents;
}

/* ---- REFRESH ---- */

Test(sample_control, refresh_counts_down_to_disabled)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	int fd = event_open(attr);
	struct tally t = { 0 };
	struct ring r;

	ring_map(&r, fd, 8);
	for (uint64_t n = 1, all = 0; n < 20; n++) {
		cr_assert_eq(refresh(fd, n), 0, "%m");
		user_loop((n + 5) * PERIOD);
		all += n;
		/* Stopped at the instruction of the last sample */
		cr_assert_eq(sampling_value(fd), all * PERIOD);
		tally_ring(&attr, &r, &t);
		cr_assert_eq(t.samples, all);
	}
}

Test(sample_control, refresh_adds_up)
{
	struct perf_event_attr attr = sampling_attr(50 * PERIOD);
	int fd = event_open(attr);

	cr_assert_eq(refresh(fd, 2), 0, "%m");
	cr_assert_eq(refresh(fd, 3), 0, "%m");
	user_loop(500 * PERIOD);
	cr_assert_eq(sampling_value(fd), 5 * attr.sample_period);
}

Test(sample_control, refresh_of_what_does_not_sample_is_refused)
{
	struct perf_event_attr attr = sampling_attr(0);
	int fd = event_open(attr);

	cr_assert_eq(refresh(fd, 1), -EINVAL);
	block_run(fd, 10);
	cr_assert_eq(sampling_value(fd), BLOCK_LENGTH(10));
}

Test(sample_control, enabled_again_after_the_last_it_samples_on)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	int fd = event_open(attr);

	cr_assert_eq(refresh(fd, 1), 0, "%m");
	user_loop(PERIOD);
	cr_assert_eq(sampling_value(fd), PERIOD);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	user_loop(PERIOD * 10);
	cr_assert_geq(sampling_value(fd), 20 * PERIOD);
	close(fd);
}

/* ---- PERIOD ---- */

static int set_period(int fd, uint64_t period)
{
	return ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) ? -errno : 0;
}

Test(sample_control, periods_that_are_refused)
{
	struct perf_event_attr attr = sampling_attr(PERIOD), counting = sampling_attr(0);
	int fd = event_open(attr), counter = event_open(counting);

	cr_assert_eq(set_period(fd, 0), -EINVAL);
	cr_assert_eq(set_period(fd, 1ull << 63), -EINVAL);
	cr_assert_eq(set_period(fd, ~0ull), -EINVAL);
	cr_assert_eq(set_period(counter, PERIOD), -EINVAL);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_PERIOD, NULL), -1);
	cr_assert_eq(errno, EFAULT, "%m");
	cr_assert_eq(set_period(fd, (1ull << 63) - 1), 0, "%m");
	close(fd);
	attr.sample_period = 1ull << 63;
	cr_assert_eq(event_try(attr), -EINVAL);
}

/* ---- poll ---- */

/* The reader is woken by every n-th sample, not by one before. */
Test(sample_control, wakeup_events)
{
	for (uint32_t n = 1; n <= 7; n++) {
		struct perf_event_attr attr = sampling_attr(PERIOD);
		struct ring r;
		int fd;

		attr.wakeup_events = n;
		fd = event_open(attr);
		ring_map(&r, fd, 8);
		for (uint32_t i = 1; i <= 3 * n; i++) {
			cr_assert_eq(polled(fd), 0, "%u: before sample %u", n, i);
			block_run(fd, ROUNDS);
			if (i % n)
				continue;
			cr_assert_eq(polled(fd), POLLIN, "%u: after %u", n, i);
			cr_assert_eq(ring_drain(&r, PERF_RECORD_SAMPLE), n);
		}
		ring_unmap(&r);
		close(fd);
	}
}

/* Not before there are @least bytes; but as soon as there is one record more than that */
static void check_watermark(uint32_t watermark, uint64_t least, size_t pages)
{
	uint64_t most = least + 64;
	struct perf_event_attr attr = sampling_attr(PERIOD);
	uint64_t before = 0;
	struct ring r;
	int fd;

	attr.watermark = 1;
	attr.wakeup_watermark = watermark;
	fd = event_open(attr);
	ring_map(&r, fd, pages);
	while (!polled(fd)) {
		before = ring_head(&r);
		cr_assert_leq(before, most, "watermark %u: none at %lu", watermark,
			      before);
		block_run(fd, ROUNDS);
	}
	cr_assert_geq(ring_head(&r), least, "%u: at %lu", watermark, ring_head(&r));
	ring_unmap(&r);
	close(fd);
}

Test(sample_control, wakeup_watermark)
{
	check_watermark(1, 1, 1);
	check_watermark(100, 100, 1);
	check_watermark(1000, 1000, 1);
	check_watermark(4000, 4000, 4);
	check_watermark(10000, 10000, 4);
}

/* Nobody asked for a certain number: when a quarter of the ring is full; perf: half of it */
Test(sample_control, wakeup_by_default)
{
	static const size_t pages[] = { 1, 4, 32 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(pages); i++)
		check_watermark(0, pages[i] * PAGE / (is_witness() ? 2 : 4), pages[i]);
}

struct reader {
	pthread_t thread;
	int fd, epoll;
	struct ring r;
	uint64_t wanted, samples;
	int (*wait)(const struct reader *reader);
};

static void *reader_thread(void *arg)
{
	struct reader *reader = arg;

	while (reader->samples < reader->wanted) {
		cr_assert_eq(reader->wait(reader), 1, "%m");
		reader->samples += ring_drain(&reader->r, PERF_RECORD_SAMPLE);
	}
	return NULL;
}

static int wait_poll(const struct reader *reader)
{
	struct pollfd p = { .fd = reader->fd, .events = POLLIN };

	return poll(&p, 1, -1);
}

static int wait_select(const struct reader *reader)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(reader->fd, &set);
	return select(reader->fd + 1, &set, NULL, NULL, NULL);
}

static int wait_epoll(const struct reader *reader)
{
	struct epoll_event e;

	return epoll_wait(reader->epoll, &e, 1, -1);
}

/* A reader that sleeps is woken up, each time. */
Test(sample_control, sleeping_reader_wakes_up)
{
	static int (*const waits[])(const struct reader *) = {
		wait_poll, wait_select, wait_epoll };
	struct epoll_event e = { .events = EPOLLIN };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(waits); i++) {
		struct perf_event_attr attr = sampling_attr(PERIOD);
		struct reader reader = { .wait = waits[i], .wanted = 200 };

		attr.wakeup_events = 1;
		reader.fd = event_open(attr);
		ring_map(&reader.r, reader.fd, 8);
		reader.epoll = epoll_create1(EPOLL_CLOEXEC);
		cr_assert_eq(epoll_ctl(reader.epoll, EPOLL_CTL_ADD, reader.fd, &e), 0,
			     "%m");
		cr_assert_eq(pthread_create(&reader.thread, NULL, reader_thread,
					    &reader), 0);
		for (int n = 0; n < 200; n++)
			block_run(reader.fd, ROUNDS);
		pthread_join(reader.thread, NULL);
		cr_assert_eq(reader.samples, 200);
		close(reader.epoll);
		close(reader.fd);
	}
}

Test(sample_control, poll_tells_of_the_last_sample)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	int fd = event_open(attr);
	struct worker w;
	struct ring r;

	worker_start(&w, false);
	close(fd);
	fd = event_open(attr, w.tid);
	ring_map(&r, fd, 1);
	cr_assert_eq(polled(fd) & POLLHUP, 0);
	worker_end(&w);
	cr_assert_eq(polled(fd) & POLLHUP, POLLHUP);
	close(fd);
}

/* ---- Signals ---- */

static struct {
	volatile int fd;
	volatile uint64_t in, hup, others, wrong_fd, not_exact;
	volatile uint64_t rearm;	/* times */
} seen;

static void on_signal(int number, siginfo_t *info, void *context)
{
	uint64_t value;

	(void)context;
	if (number == SIGIO) {
		seen.others++;
		return;
	}
	seen.wrong_fd += info->si_fd != seen.fd;
	if (info->si_code == POLL_IN) {
		seen.in++;
	} else if (info->si_code == POLL_HUP) {
		seen.hup++;
		if (read(seen.fd, &value, sizeof(value)) != sizeof(value) ||
		    value != seen.hup * PERIOD)
			seen.not_exact++;
		if (seen.rearm) {
			seen.rearm--;
			ioctl(seen.fd, PERF_EVENT_IOC_REFRESH, 1);
		}
	} else {
		seen.others++;
	}
}

static void want_signals(int fd, int number, pid_t tid)
{
	struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = tid };
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO | SA_RESTART };

	memset((void *)&seen, 0, sizeof(seen));
	seen.fd = fd;
	sigaction(SIGIO, &action, NULL);
	sigaction(SIGRTMIN, &action, NULL);
	if (number != SIGIO)
		cr_assert_eq(fcntl(fd, F_SETSIG, number), 0, "%m");
	cr_assert_eq(fcntl(fd, F_SETOWN_EX, &owner), 0, "%m");
	cr_assert_eq(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC), 0, "%m");
}

/* The usual way to profile oneself: one overflow, a signal, a look, one more. The signal
 * comes before the next instruction: the count is as it was at the overflow.
 */
Test(sample_control, signal_at_each_overflow)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	int fd = event_open(attr);
	struct ring r;

	ring_map(&r, fd, 1);
	want_signals(fd, SIGRTMIN, gettid());
	seen.rearm = 500;
	cr_assert_eq(refresh(fd, 1), 0, "%m");
	while (seen.hup < 501)
		user_loop(PERIOD);
	user_loop(10 * PERIOD);
	cr_assert_eq(seen.hup, 501);
	cr_assert_eq(seen.in + seen.others + seen.wrong_fd + seen.not_exact, 0,
		     "%lu in, %lu others, %lu of another file, %lu not exact", seen.in,
		     seen.others, seen.wrong_fd, seen.not_exact);
	cr_assert_eq(sampling_value(fd), 501 * PERIOD);
}

/* No ring is needed for that. */
Test(sample_control, signal_without_a_ring)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	int fd = event_open(attr);

	want_signals(fd, SIGRTMIN, gettid());
	seen.rearm = 50;
	cr_assert_eq(refresh(fd, 1), 0, "%m");
	while (seen.hup < 51)
		user_loop(PERIOD);
	cr_assert_eq(seen.not_exact + seen.wrong_fd, 0);
}

Test(sample_control, signal_when_there_is_something_to_read)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	struct ring r;
	int fd;

	attr.wakeup_events = 4;
	fd = event_open(attr);
	ring_map(&r, fd, 8);
	want_signals(fd, SIGRTMIN, gettid());
	for (int i = 0; i < 40; i++)
		block_run(fd, ROUNDS);
	cr_assert_geq(seen.in, 10, "%lu", seen.in);
	cr_assert_leq(seen.in, 40);
	cr_assert_eq(seen.hup + seen.others + seen.wrong_fd, 0);
}

Test(sample_control, sigio_if_no_other_is_chosen)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	int fd = event_open(attr);
	struct ring r;

	ring_map(&r, fd, 1);
	want_signals(fd, SIGIO, gettid());
	cr_assert_eq(refresh(fd, 1), 0, "%m");
	user_loop(PERIOD);
	cr_assert_geq(seen.others, 1);
}

/* Another process than the sampled one gets them. */
Test(sample_control, signal_goes_to_the_owner)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	struct worker w;
	struct ring r;
	int fd;

	worker_start(&w, false);
	fd = event_open(attr, w.tid);
	ring_map(&r, fd, 1);
	want_signals(fd, SIGRTMIN, getpid());
	cr_assert_eq(refresh(fd, 1), 0, "%m");
	worker_run(&w, PERIOD);
	while (!seen.hup)
		sleep_ms(1);
	cr_assert_eq(seen.hup, 1);
	cr_assert_eq(seen.not_exact + seen.wrong_fd, 0);
	worker_end(&w);
}
