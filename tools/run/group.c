// SPDX-License-Identifier: GPL-2.0-only
/*
 * The event that a call names by a descriptor of the caller: its group's leader, or whose
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

enum kind { OURS, PERFS, NO_EVENT };

/* No file of a file system has such a name: those begin with '/'. */
static enum kind kind_at(int directory, const char *path)
{
	char name[64];
	ssize_t length = readlinkat(directory, path, name, sizeof(name) - 1);

	name[length > 0 ? length : 0] = '\0';
	if (!strcmp(name, "anon_inode:[pmuctl_event]"))
		return OURS;
	return strcmp(name, "anon_inode:[perf_event]") ? NO_EVENT : PERFS;
}

static enum kind kind_of(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return kind_at(AT_FDCWD, path);
}

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

	if (kind_at(directory, number) != OURS)
		return -EBADF;
	fd = get(r, atoi(number));
	if (fd < 0 || kind_of(fd) == OURS)
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
	enum kind kind;
	int fd;

	if (r->group_fd == -1)
		return 0;
	fd = get(r, r->group_fd);
	kind = fd < 0 ? NO_EVENT : kind_of(fd);
	if (passed_on) {
		if (fd >= 0)
			close(fd);
		return kind != OURS ? 0 : request_refuse(r, EINVAL, "group_fd",
			"events of type %u are counted by the kernel's perf, and cannot be in a group or share a buffer with those of pmuctl",
			r->attr.type);
	}
	if (kind == OURS) {
		r->group = fd;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	if (kind == PERFS)
		return request_refuse(r, EINVAL, "group_fd",
			"file descriptor %d is an event of the kernel's perf, with which one of pmuctl cannot be in a group or share a buffer",
			r->group_fd);
	return request_refuse(r, EBADF, "group_fd", "file descriptor %d is no event",
			      r->group_fd);
}
