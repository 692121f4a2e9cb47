// SPDX-License-Identifier: GPL-2.0-only
#include <sched.h>
#include <sys/timerfd.h>

#include "tracepoint.h"

#include <sys/mount.h>

struct perf_event_attr tracepoint_attr(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_TRACEPOINT, 0);

	attr.read_format = 0;
	attr.disabled = 1;
	return attr;
}

void tracepoint_mount(void)
{
	if (access(TRACEFS "/events", F_OK))
		cr_assert_eq(mount("tracefs", TRACEFS, "tracefs", 0, NULL), 0);
}

uint64_t tracepoint_id(const char *event)
{
	char path[160], name[64];

	snprintf(name, sizeof(name), "%s", event);
	*strchr(name, ':') = '/';
	snprintf(path, sizeof(path), TRACEFS "/events/%s/id", name);
	return raw_read_number(path);
}

struct tracepoint_pair tracepoint_pair_open(struct perf_event_attr attr, const char *event,
					    pid_t pid)
{
	struct tracepoint_pair pair;

	pair.ours = event_open(attr, pid, .tracepoint = event);
	attr.config = tracepoint_id(event);
	pair.perfs = perf_try(&attr, pid, -1);
	cr_assert_geq(pair.perfs, 0, "%s: %s", event, strerror(-pair.perfs));
	return pair;
}

void tracepoint_pair_ioctl(const struct tracepoint_pair *pair, unsigned long request)
{
	event_ioctl(pair->perfs, request);
	event_ioctl(pair->ours, request);
}

int tracepoint_filter(int fd, const char *text)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_FILTER, text) ? -errno : 0;
}

uint64_t tracepoint_count_getppid(int fd, uint64_t n)
{
	uint64_t before = sampling_value(fd);

	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	syscall_loop(n);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	return sampling_value(fd) - before;
}

void tracepoint_set_timer(void)
{
	struct itimerspec late = { .it_value.tv_sec = 1000 };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	cr_assert_geq(fd, 0);
	cr_assert_eq(timerfd_settime(fd, 0, &late, NULL), 0);
	close(fd);
}

void tracepoint_not_preempted(void)
{
	const struct sched_param first = { .sched_priority = 1 };

	cr_assert_eq(sched_setscheduler(0, SCHED_FIFO, &first), 0, "%m");
}
