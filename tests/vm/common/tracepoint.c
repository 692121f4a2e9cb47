// SPDX-License-Identifier: GPL-2.0-only
#include "tracepoint.h"

struct perf_event_attr tracepoint_attr(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_TRACEPOINT, 0);

	attr.read_format = 0;
	attr.disabled = 1;
	return attr;
}

int tracepoint_try_in_group(const char *name, const struct perf_event_attr *attr,
				 pid_t pid, int cpu, int group_fd)
{
	struct pmuctl_open request = {
		.size = sizeof(request),
		.flags = PERF_FLAG_FD_CLOEXEC,
		.attr = (uintptr_t)attr,
		.pid = pid, .cpu = cpu, .group_fd = group_fd,
		.explanation_size = sizeof(event_why),
		.explanation = (uintptr_t)&event_why,
		.tracepoint = (uintptr_t)name,
	};
	int fd;

	memset(&event_why, 0, sizeof(event_why));
	fd = ioctl(raw_device(), PMUCTL_IOC_OPEN, &request);
	return fd < 0 ? -errno : fd;
}

int tracepoint_try(const char *name, const struct perf_event_attr *attr,
			pid_t pid, int cpu)
{
	return tracepoint_try_in_group(name, attr, pid, cpu, -1);
}

int tracepoint_open_for(const char *name, const struct perf_event_attr *attr,
			     pid_t pid, int cpu)
{
	int fd = tracepoint_try(name, attr, pid, cpu);

	cr_assert(fd >= 0, "%s for pid %d, cpu %d: %s: %s", name, pid, cpu,
		  strerror(-fd), event_why.sentence);
	return fd;
}

int tracepoint_open(const char *name, const struct perf_event_attr *attr)
{
	return tracepoint_open_for(name, attr, 0, -1);
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
