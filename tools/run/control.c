// SPDX-License-Identifier: GPL-2.0-only
/*
 * PR_TASK_PERF_EVENTS_ENABLE and _DISABLE of prctl(2): all events that the calling thread has
 * opened. The kernel does that for its own; we for ours that the caller has a descriptor of.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "request.h"

static struct run_opened *place_of(const struct request *r, uint64_t id)
{
	return &r->shared->opened[id % RUN_OPENED];
}

/**
 * request_keep_opener() - remember whose an event is
 * @r: the call by which it is opened.
 * @fd: the event.
 */
void request_keep_opener(const struct request *r, int fd)
{
	uint64_t id;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0)
		*place_of(r, id) = (struct run_opened){ id, r->caller.start, r->caller.tid };
}

static bool has_opened(const struct request *r, int fd)
{
	const struct run_opened *opened;
	uint64_t id;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
		return false;
	opened = place_of(r, id);
	return opened->id == id && opened->tid == r->caller.tid &&
		opened->start == r->caller.start;
}

/**
 * request_control() - enable or disable the events of the caller
 * @r: the call.
 *
 * Return: REQUEST_PASS_ON: the kernel has events of its own.
 */
int request_control(struct request *r)
{
	const unsigned long request = (int)r->call->data.args[0] == PR_TASK_PERF_EVENTS_ENABLE ?
				      PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
	struct dirent *entry;
	DIR *directory;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/fd", r->caller.tid);
	directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		int fd = entry->d_name[0] == '.' ? -1 :
			 request_get_event(r, dirfd(directory), entry->d_name);

		if (fd < 0)
			continue;
		if (has_opened(r, fd))
			ioctl(fd, request, 0);
		close(fd);
	}
	if (directory)
		closedir(directory);
	return REQUEST_PASS_ON;
}
