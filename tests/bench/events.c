// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of either kind: only the call that opens one differs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "bench.h"

static long device;

void bench_events_init(void)
{
	if (bench_kind != BENCH_PMUCTL)
		return;
	device = bench_syscall(SYS_open, (long)PMUCTL_DEVICE,
			       O_RDWR | O_CLOEXEC, 0, 0, 0);
	if (device < 0)
		bench_fail(PMUCTL_DEVICE, device);
}

struct perf_event_attr bench_attr(unsigned int n)
{
	static const uint64_t configs[] = {
		PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES,
		PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_MISSES,
	};
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = configs[n % 4],
	};

	return attr;
}

struct perf_event_attr bench_general_attr(void)
{
	return bench_attr(2);
}

/* perf knows tracepoints by numbers, which the kernel's tracing has. */
static uint64_t sched_id(const char *name)
{
	unsigned long long id = 0;
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/debug/tracing/events/sched/%s/id",
		 name);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%llu", &id) != 1)
		bench_fail(path, 0);
	fclose(file);
	return id;
}

static const char *tracepoint;

static long try_open(const struct perf_event_attr *attr, int pid, int cpu,
		     int group_fd, struct pmuctl_explanation *why)
{
	struct pmuctl_open open = {
		.size = sizeof(open), .flags = PERF_FLAG_FD_CLOEXEC,
		.attr = (uintptr_t)attr, .pid = pid, .cpu = cpu,
		.group_fd = group_fd, .explanation_size = sizeof(*why),
		.explanation = (uintptr_t)why,
		.tracepoint = (uintptr_t)tracepoint,
	};

	if (bench_kind == BENCH_PERF)
		return bench_syscall(SYS_perf_event_open, (long)attr, pid, cpu,
				     group_fd, PERF_FLAG_FD_CLOEXEC);
	return bench_syscall(SYS_ioctl, device, PMUCTL_IOC_OPEN, (long)&open, 0, 0);
}

int bench_open(const struct perf_event_attr *attr, int pid, int cpu, int group_fd)
{
	static struct pmuctl_explanation why;
	long fd = try_open(attr, pid, cpu, group_fd, &why);

	if (fd >= 0)
		return fd;
	if (why.size)
		fprintf(stderr, "bench: %s\n", why.sentence);
	bench_fail("opening an event", fd);
}

int bench_open_sched(const char *name, int pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr),
	};

	if (bench_kind == BENCH_PERF)
		attr.config = sched_id(name);
	return bench_open_tracepoint(name, &attr, pid, cpu, -1);
}

int bench_open_tracepoint(const char *name, const struct perf_event_attr *attr, int pid,
			  int cpu, int group_fd)
{
	int fd;

	tracepoint = name;
	fd = bench_open(attr, pid, cpu, group_fd);
	tracepoint = NULL;
	return fd;
}

int bench_device(void)
{
	return device;
}

void bench_close(int fd)
{
	long ret = bench_syscall(SYS_close, fd, 0, 0, 0, 0);

	if (ret)
		bench_fail("closing an event", ret);
}

static void control(int fd, unsigned long number)
{
	long ret = bench_syscall(SYS_ioctl, fd, number, 0, 0, 0);

	if (ret)
		bench_fail("an ioctl of an event", ret);
}

void bench_enable(int fd)
{
	control(fd, PERF_EVENT_IOC_ENABLE);
}

void bench_disable(int fd)
{
	control(fd, PERF_EVENT_IOC_DISABLE);
}

void bench_open_group(int *fds, unsigned int n, int pid, uint64_t read_format)
{
	for (unsigned int i = 0; i < n; i++) {
		struct perf_event_attr attr = bench_attr(i);

		attr.disabled = !i;
		attr.read_format = read_format;
		fds[i] = bench_open(&attr, pid, -1, i ? fds[0] : -1);
	}
}

void bench_close_all(const int *fds, unsigned int n)
{
	while (n--)
		bench_close(fds[n]);
}
