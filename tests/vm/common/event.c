// SPDX-License-Identifier: GPL-2.0-only
#include "event.h"

__thread struct pmuctl_explanation event_why;

void close_descriptor(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

bool is_witness(void)
{
	const char *of = getenv("SAMPLING_OF");

	return of && !strcmp(of, "perf");
}

int event_try_for(const void *attr, struct event_target target)
{
	struct pmuctl_open request = raw_request(attr, target.pid, target.cpu,
						 PERF_FLAG_FD_CLOEXEC | target.flags, &event_why);
	int device, fd, err;

	if (is_witness()) {
		fd = syscall(__NR_perf_event_open, attr, target.pid, target.cpu, target.group,
			     PERF_FLAG_FD_CLOEXEC | target.flags);
		return fd < 0 ? -errno : fd;
	}
	device = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0)
		return -errno;
	request.group_fd = target.group;
	request.tracepoint = (uintptr_t)target.tracepoint;
	memset(&event_why, 0, sizeof(event_why));
	fd = ioctl(device, PMUCTL_IOC_OPEN, &request);
	err = errno;
	close(device);
	return fd < 0 ? -err : fd;
}

int event_open_for(const void *attr, struct event_target target)
{
	int fd = event_try_for(attr, target);

	cr_assert(fd >= 0, "open for pid %d, cpu %d: %s: %s", target.pid, target.cpu,
		  strerror(-fd), is_witness() ? "perf" : event_why.sentence);
	return fd;
}
