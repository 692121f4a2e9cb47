// SPDX-License-Identifier: GPL-2.0-only
/*
 * The event, or the cgroup, that a call names by a descriptor of the caller: its group's leader, or whose
 * buffer it writes to.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "request.h"

/* A thread may have descriptors of its own, and only those of the process can be had. */
static bool has_own_files(const struct caller *caller)
{
	return caller->tid != caller->process &&
		syscall(SYS_kcmp, caller->tid, caller->process, KCMP_FILES, 0, 0) > 0;
}

/* Returns our descriptor of what the caller has at @number, or a negative errno. */
static int get(const struct request *r, int number)
{
	int process, fd;

	if (has_own_files(&r->caller))
		return -EBADF;
	process = (int)syscall(SYS_pidfd_open, r->caller.process, 0);
	if (process < 0)
		return -errno;
	fd = request_is_valid(r) ? (int)syscall(SYS_pidfd_getfd, process, number, 0) : -1;
	if (fd < 0)
		fd = -EBADF;
	close(process);
	return fd;
}

/**
 * request_get_event() - get hold of what the caller has a descriptor of, if it is an event of ours
 * @r: the call.
 * @directory: /proc/PID/fd of the caller.
 * @number: a name in it.
 *
 * Return: a descriptor, or a negative errno.
 */
int request_get_event(const struct request *r, int directory, const char *number)
{
	int fd;

	if (request_kind_at(directory, number) != REQUEST_OURS)
		return -EBADF;
	fd = get(r, atoi(number));
	if (fd < 0 || request_kind(fd) == REQUEST_OURS)
		return fd;
	close(fd);
	return -EBADF;
}

/**
 * request_find_group() - get hold of the event at group_fd
 * @r: the call; whether it is to be passed on is known.
 * @passed_on: it is not ours.
 *
 * Return: 0, or a negative errno.
 */
int request_find_group(struct request *r, bool passed_on)
{
	return r->group_fd == -1 ? 0 : request_take_group(r, get(r, r->group_fd), passed_on);
}

/**
 * request_find_cgroup() - get hold of the cgroup, if the event is to be of one
 * @r: the call, which is not to be passed on.
 *
 * Return: 0, or a negative errno.
 */
int request_find_cgroup(struct request *r)
{
	return request_is_of_cgroup(r) ? request_take_cgroup(r, get(r, r->pid)) : 0;
}
