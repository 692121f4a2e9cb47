// SPDX-License-Identifier: GPL-2.0-only
#include "tracepoint.h"

struct perf_event_attr tracepoint_attr(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_TRACEPOINT, 0);

	attr.read_format = 0;
	attr.disabled = 1;
	return attr;
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
