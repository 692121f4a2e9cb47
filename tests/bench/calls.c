// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the calls of a program that counts itself cost: open and close, enable and
 * disable, read.
 */
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

static int fds[BENCH_EVENTS];
static struct perf_event_attr first;

static void null_syscall(void)
{
	bench_syscall(SYS_getppid, 0, 0, 0, 0, 0);
}

static int null_device;

static void null_read(void)
{
	bench_syscall(SYS_read, null_device, (long)fds, sizeof(uint64_t), 0, 0);
}

static void null_ioctl(void)
{
	bench_syscall(SYS_ioctl, null_device, PERF_EVENT_IOC_ENABLE, 0, 0, 0);
}

static void null_open_close(void)
{
	bench_close(bench_syscall(SYS_eventfd2, 0, EFD_CLOEXEC, 0, 0, 0));
}

/* What the kernel does for any file, before and after those whose file it is */
static void floors(void)
{
	null_device = bench_syscall(SYS_open, (long)"/dev/null", O_RDWR, 0, 0, 0);
	if (null_device < 0)
		bench_fail("/dev/null", null_device);
	bench_row("syscall", bench_measure(null_syscall, 100));
	bench_row("floor_ioctl", bench_measure(null_ioctl, 100));
	bench_row("floor_read", bench_measure(null_read, 100));
	bench_row("floor_open", bench_measure(null_open_close, 50));
	bench_syscall(SYS_close, null_device, 0, 0, 0, 0);
}

static void open_close(void)
{
	bench_close(bench_open(&first, 0, -1, -1));
}

static void open_close_group(void)
{
	int group[4];

	for (unsigned int i = 0; i < 4; i++) {
		struct perf_event_attr attr = bench_attr(i);

		group[i] = bench_open(&attr, 0, -1, i ? group[0] : -1);
	}
	bench_close_all(group, 4);
}

/* The guest has one CPU: for perf that is one event of CPU 0. */
static void open_close_all_cpus(void)
{
	bench_close(bench_open(&first, -1, bench_kind == BENCH_PERF ? 0 : -1, -1));
}

static void enable_disable(void)
{
	bench_enable(fds[0]);
	bench_disable(fds[0]);
}

static uint64_t values[1 + BENCH_EVENTS];
static long read_size;

static void read_counts(void)
{
	long ret = bench_syscall(SYS_read, fds[0], (long)values, sizeof(values), 0, 0);

	if (ret != read_size)
		bench_fail("reading an event", ret);
}

/* A row of reads says nothing if the event does not count. */
static int64_t measure_read(unsigned int n, unsigned int words)
{
	uint64_t before;
	int64_t cost;

	read_size = words * sizeof(*values);
	bench_enable(fds[0]);
	read_counts();
	before = values[words - 1];
	cost = bench_measure(read_counts, 100);
	if (n != words && values[0] != n)
		bench_fail("a group read has too few events", 0);
	if (values[words - n] <= before)
		bench_fail("an event does not count", 0);
	bench_disable(fds[0]);
	return cost;
}

static void one_event(void)
{
	bench_open_group(fds, 1, 0, 0);
	bench_row("enable_one", bench_measure(enable_disable, 50));
	bench_row("read_one", measure_read(1, 1));
	bench_close_all(fds, 1);
}

static void group_of_four(void)
{
	bench_open_group(fds, 4, 0, PERF_FORMAT_GROUP);
	bench_row("enable_group", bench_measure(enable_disable, 50));
	bench_row("read_group", measure_read(4, 5));
	bench_close_all(fds, 4);
}

#define FIRSTS	5

/* Nobody has had an event for a while: what is set up with the first one was taken down. */
static int64_t measure_first(void)
{
	uint64_t taken[FIRSTS];

	for (unsigned int i = 0; i < FIRSTS; i++) {
		uint64_t start;

		sleep(2);
		start = bench_now();
		open_close();
		taken[i] = bench_now() - start;
	}
	return bench_median(taken, FIRSTS);
}

#define CLOSES	201

/* close() alone, of an event that counts */
static int64_t measure_close(void)
{
	uint64_t taken[CLOSES];

	for (unsigned int i = 0; i < CLOSES; i++) {
		int fd = bench_open(&first, 0, -1, -1);
		uint64_t start = bench_now();

		bench_close(fd);
		taken[i] = bench_now() - start;
	}
	return bench_median(taken, CLOSES);
}

void bench_calls(void)
{
	struct perf_event_attr other = bench_attr(0);
	int held;

	first = bench_attr(0);
	other.disabled = 1;
	floors();

	bench_row("open_first", measure_first());
	bench_row("open_only", bench_measure(open_close, 20));
	held = bench_open(&other, 0, -1, -1);
	bench_row("open_one", bench_measure(open_close, 20));
	bench_row("close_one", measure_close());
	bench_row("open_group", bench_measure(open_close_group, 10));
	bench_row("open_all_cpus", bench_measure(open_close_all_cpus, 20));
	bench_close(held);

	one_event();
	group_of_four();
}

void bench_caught(void)
{
	int other;

	first = bench_attr(0);
	other = bench_open(&first, 0, -1, -1);
	bench_row("open_caught", bench_measure(open_close, 20));
	bench_close(other);
	bench_row("syscall_caught", bench_measure(null_syscall, 100));
}
