// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refusals of the ioctls that have to do with samples and where they go: periods and limits
 * of events that only count, buffers that are not there, outputs that do not fit.
 */
#include "refusal.h"

#include <time.h>

#define PAGE	4096ul

static union raw_attr sampled(void)
{
	union raw_attr a = raw_instructions();

	a.attr.sample_period = 1000000;
	a.attr.sample_type = PERF_SAMPLE_IP;
	return a;
}

static int open_sampled(void)
{
	union raw_attr a = sampled();

	return event_open(a);
}

static int open_counting(void)
{
	union raw_attr a = raw_instructions();

	return event_open(a);
}

static void *map_buffer(int fd)
{
	void *map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	cr_assert(map != MAP_FAILED, "mmap: %m");
	return map;
}

static void unmap_buffer(void *map)
{
	cr_assert_eq(munmap(map, 2 * PAGE), 0);
}

#define check_done(fd, number, arg) \
	cr_assert_eq(ioctl(fd, number, arg), 0, "%m")

/* ---- PERIOD ---- */

static void check_counts_only(int fd, unsigned long number, unsigned long arg)
{
	check_refused(IOCTL(fd, number, arg), EINVAL, PMUCTL_WHY_NOT_SAMPLED, "",
		      "this event only counts: open it with attr.sample_period or attr.sample_freq");
}

static void check_no_period(int fd, uint64_t period)
{
	check_refused(IOCTL(fd, PERF_EVENT_IOC_PERIOD, &period), EINVAL,
		      PMUCTL_WHY_PERIOD_RANGE, "",
		      "%lu is not a period: it is from 1 to 2^63 - 1",
		      (unsigned long)period);
}

Test(refuse_output, periods_that_are_none)
{
	static const uint64_t good[] = { 1000000, 1ul << 32, (1ul << 63) - 1 };
	int fd = open_sampled();

	for (size_t i = 0; i < RAW_ARRAY_SIZE(good); i++)
		check_done(fd, PERF_EVENT_IOC_PERIOD, &good[i]);
	check_no_period(fd, 0);
	check_no_period(fd, 1ul << 63);
	check_no_period(fd, ~0ul);
}

Test(refuse_output, frequencies_above_the_limit)
{
	static const uint64_t good[] = { 1, 99999, 100000 };
	static const uint64_t bad[] = { 100001, 1ul << 32, ~0ul };
	union raw_attr a = sampled();
	int fd;

	a.attr.freq = 1;
	a.attr.sample_freq = 100;
	fd = event_open(a);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(good); i++)
		check_done(fd, PERF_EVENT_IOC_PERIOD, &good[i]);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(bad); i++)
		check_refused(IOCTL(fd, PERF_EVENT_IOC_PERIOD, &bad[i]), EINVAL,
			      PMUCTL_WHY_FREQ_TOO_HIGH, "",
			      "%lu samples a second are above the limit 100000: ask for less, or raise /sys/module/pmuctl/parameters/max_sample_rate",
			      (unsigned long)bad[i]);
	check_no_period(fd, 0);
}

Test(refuse_output, period_of_an_event_that_counts)
{
	uint64_t period = 1000;
	int fd = open_counting();

	check_counts_only(fd, PERF_EVENT_IOC_PERIOD, (uintptr_t)&period);
}

Test(refuse_output, period_from_nowhere_is_a_fault)
{
	int fd = open_sampled();

	check_refusals(
		{ "no address", IOCTL(fd, PERF_EVENT_IOC_PERIOD, NULL), EFAULT,
		  PMUCTL_WHY_BAD_POINTER, "",
		  "the memory at this address cannot be read or written: pass a pointer into your own address space" },
		{ "7 bytes", IOCTL(fd, PERF_EVENT_IOC_PERIOD, raw_at_edge(7, 0)), EFAULT,
		  PMUCTL_WHY_BAD_POINTER, "",
		  "the memory at this address cannot be read or written: pass a pointer into your own address space" }
	);
	check_done(fd, PERF_EVENT_IOC_PERIOD, raw_at_edge(8, 1));
}

/* ---- REFRESH ---- */

Test(refuse_output, refresh_of_an_event_that_counts)
{
	int fd = open_counting();

	check_counts_only(fd, PERF_EVENT_IOC_REFRESH, 1);
	check_counts_only(fd, PERF_EVENT_IOC_REFRESH, 0);
}

Test(refuse_output, refresh_of_all_cpus)
{
	union raw_attr a = sampled();
	int fd = event_open(a, -1);

	check_refused(IOCTL(fd, PERF_EVENT_IOC_REFRESH, 1), EINVAL, PMUCTL_WHY_REFRESH_MANY, "",
		      "an event of all CPUs, or one that is inherited, overflows in many places: open one for each CPU or task to have it end after a number of overflows");
	close(fd);
	/* What the sentence says helps. */
	fd = event_open(a, -1, 0);
	check_done(fd, PERF_EVENT_IOC_REFRESH, 1);
	fd = open_sampled();
	check_done(fd, PERF_EVENT_IOC_REFRESH, 1);
}

/* ---- PAUSE_OUTPUT ---- */

static void check_nothing_to_pause(int fd)
{
	for (unsigned long pause = 0; pause < 2; pause++)
		check_refused(IOCTL(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, pause), EINVAL,
			      PMUCTL_WHY_NO_BUFFER, "",
			      "this event has no buffer: map one first");
}

Test(refuse_output, nothing_to_pause)
{
	int fd = open_sampled();
	void *map;

	check_nothing_to_pause(open_counting());
	check_nothing_to_pause(fd);
	map = map_buffer(fd);
	check_done(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	check_done(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	check_done(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	unmap_buffer(map);
	check_nothing_to_pause(fd);
	/* A page to read a counter by is no buffer. */
	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	cr_assert(map != MAP_FAILED, "%m");
	check_nothing_to_pause(fd);
}

/* ---- SET_OUTPUT ---- */

static struct call output(int fd, int to)
{
	return IOCTL(fd, PERF_EVENT_IOC_SET_OUTPUT, (long)to);
}

static int open_perf(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY };

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

Test(refuse_output, descriptors_that_are_no_events)
{
	int fds[] = { raw_device(), open_perf(), open("/dev/null", O_RDWR), 1000000, -2,
		INT32_MIN, INT32_MAX };
	int fd = open_sampled();

	for (size_t i = 0; i < RAW_ARRAY_SIZE(fds); i++)
		check_refused(output(fd, fds[i]), EBADF, PMUCTL_WHY_OUTPUT_FD, "",
			      "%d is not an event of pmuctl: pass the descriptor of one that has a buffer, or -1",
			      fds[i]);
	check_done(fd, PERF_EVENT_IOC_SET_OUTPUT, -1L);
}

Test(refuse_output, to_itself)
{
	static const char sentence[] =
		"an event cannot be redirected to itself: map a buffer for it";
	int fd = open_sampled(), counting = open_counting();

	check_refusals(
		{ "one that samples", output(fd, fd), EINVAL, PMUCTL_WHY_OUTPUT_ITSELF, "",
		  sentence },
		{ "one that counts", output(counting, counting), EINVAL, PMUCTL_WHY_OUTPUT_ITSELF,
		  "", sentence }
	);
	map_buffer(fd);
	check_refusals(
		{ "one with a buffer", output(fd, fd), EINVAL, PMUCTL_WHY_OUTPUT_ITSELF, "",
		  sentence },
		{ "another descriptor of it", output(fd, dup(fd)), EINVAL,
		  PMUCTL_WHY_OUTPUT_ITSELF, "", sentence }
	);
}

static void check_no_buffer(int fd, int to)
{
	check_refused(output(fd, to), EINVAL, PMUCTL_WHY_OUTPUT_NO_BUFFER, "",
		      "the event to write to has no buffer: map one for it first");
}

Test(refuse_output, to_an_event_without_a_buffer)
{
	int fd = open_sampled(), other = open_sampled();
	void *map;

	check_no_buffer(fd, open_counting());
	check_no_buffer(fd, other);
	map = map_buffer(other);
	check_done(fd, PERF_EVENT_IOC_SET_OUTPUT, (long)other);
	unmap_buffer(map);
	check_no_buffer(fd, other);
}

Test(refuse_output, with_a_buffer_of_its_own)
{
	static const char sentence[] = "this event's own buffer is mapped: unmap it first";
	int fd = open_sampled(), other = open_sampled();
	void *map = map_buffer(fd);

	map_buffer(other);
	check_refusals(
		{ "to another", output(fd, other), EINVAL, PMUCTL_WHY_OUTPUT_MAPPED, "", sentence },
		{ "to none", output(fd, -1), EINVAL, PMUCTL_WHY_OUTPUT_MAPPED, "", sentence }
	);
	unmap_buffer(map);
	check_done(fd, PERF_EVENT_IOC_SET_OUTPUT, (long)other);
	check_done(fd, PERF_EVENT_IOC_SET_OUTPUT, -1L);
}

/* Every pair of clocks and directions; @period 0: events that count, for other records */
static void every_pair(uint64_t period)
{
	static const int clocks[] = { -1, CLOCK_MONOTONIC, CLOCK_BOOTTIME };
	union raw_attr a = sampled();
	int fds[6], i, k;

	a.attr.sample_type = 0;
	a.attr.sample_period = period;
	for (i = 0; i < 6; i++) {
		a.attr.use_clockid = clocks[i % 3] >= 0;
		a.attr.clockid = clocks[i % 3] >= 0 ? clocks[i % 3] : 0;
		a.attr.write_backward = i / 3;
		fds[i] = event_open(a);
	}
	for (i = 0; i < 6; i++) {
		void *map = map_buffer(fds[i]);

		for (k = 0; k < 6; k++) {
			if (i == k)
				continue;
			check_refused(output(fds[k], fds[i]), EINVAL, PMUCTL_WHY_OUTPUT_OTHER, "",
				      "the two events differ in attr.%s, so their records cannot be in one buffer: open them alike",
				      i % 3 != k % 3 ? "clockid" : "write_backward");
		}
		/* One that is alike is welcome. */
		a.attr.use_clockid = clocks[i % 3] >= 0;
		a.attr.clockid = clocks[i % 3] >= 0 ? clocks[i % 3] : 0;
		a.attr.write_backward = i / 3;
		k = event_open(a);
		check_done(k, PERF_EVENT_IOC_SET_OUTPUT, (long)fds[i]);
		close(k);
		unmap_buffer(map);
	}
}

Test(refuse_output, events_that_differ)
{
	every_pair(1000000);
}

Test(refuse_output, events_that_count_and_differ)
{
	every_pair(0);
}

/* ---- At open ---- */

/* What cannot be redirected is not opened. */
Test(refuse_output, at_open)
{
	const uint32_t alone = PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP;
	int other = open_sampled(), null = open("/dev/null", O_RDWR);
	union raw_attr a = sampled();
	unsigned int before = raw_info().hw_events;

	for (int i = 0; i < 2; i++) {
		uint32_t flags = i ? alone : PERF_FLAG_FD_OUTPUT;

		check_refused(OPEN(a, .group = other, .flags = flags), EINVAL,
			      PMUCTL_WHY_OUTPUT_NO_BUFFER, "",
			      "the event to write to has no buffer: map one for it first");
		check_refused(OPEN(a, .group = null, .flags = flags), EBADF, PMUCTL_WHY_GROUP_FD,
			      "group_fd",
			      "group_fd %d is not an event of pmuctl: pass the descriptor of the group's leader, or -1",
			      null);
		cr_assert_eq(raw_info().hw_events, before);
	}
	map_buffer(other);
	for (int i = 0; i < 2; i++)
		event_open(a, .group = other, .flags = i ? alone : PERF_FLAG_FD_OUTPUT);
	a.attr.write_backward = 1;
	check_refused(OPEN(a, .group = other, .flags = alone), EINVAL, PMUCTL_WHY_OUTPUT_OTHER, "",
		      "the two events differ in attr.write_backward, so their records cannot be in one buffer: open them alike");
	cr_assert_eq(raw_info().hw_events, before + 2);
	/* Without a group there is nothing to write to, nor to refuse. */
	event_open(a, .flags = PERF_FLAG_FD_OUTPUT);
}
