// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a call of perf_event_open(2) becomes, whoever answers it: a process that the kernel
 * asks, or a library in the caller's own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "request.h"
#include "symbols/names.h"

#define FLAGS_KNOWN \
	(PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC)

/**
 * request_refuse() - say why a call is refused
 * @r: the call.
 * @error: the errno, positive.
 * @field: what is wrong, or "".
 * @sentence: for people.
 *
 * Return: the negative errno.
 */
int request_refuse(struct request *r, int error, const char *field, const char *sentence, ...)
{
	va_list args;

	memset(&r->why, 0, sizeof(r->why));
	r->why.error = (uint32_t)error;
	snprintf(r->why.field, sizeof(r->why.field), "%s", field);
	va_start(args, sentence);
	vsnprintf(r->why.sentence, sizeof(r->why.sentence), sentence, args);
	va_end(args);
	return -error;
}

/**
 * request_check_flags() - are there flags that perf does not know?
 * @r: the call.
 *
 * Return: 0 or a negative errno.
 */
int request_check_flags(struct request *r)
{
	if (r->flags & ~(unsigned long)FLAGS_KNOWN)
		return request_refuse(r, EINVAL, "flags", "0x%lx has unknown bits: known are 0x%lx",
				      r->flags, (unsigned long)FLAGS_KNOWN);
	return 0;
}

/**
 * request_check_target() - is this a target for perf? All CPUs at once are for pmuctl alone.
 * @r: the call.
 *
 * Return: 0 or a negative errno.
 */
int request_check_target(struct request *r)
{
	if (request_is_of_cgroup(r) && r->cpu == -1)
		return request_refuse(r, EINVAL, "cpu", "with PERF_FLAG_PID_CGROUP it must be the number of a CPU, as for perf");
	if (r->pid == -1 && r->cpu == -1)
		return request_refuse(r, EINVAL, "cpu", "with pid -1 it must be the number of a CPU, as for perf");
	return 0;
}

/* ---- Cgroups ---- */

/* Is its pid a descriptor? */
bool request_is_of_cgroup(const struct request *r)
{
	return r->flags & PERF_FLAG_PID_CGROUP;
}

/**
 * request_take_cgroup() - take what was found as the cgroup of the event
 * @r: the call.
 * @fd: our descriptor of what @pid is one of; negative if there is none.
 *
 * Return: 0, or a negative errno.
 */
int request_take_cgroup(struct request *r, int fd)
{
	if (r->pid == -1)
		return request_refuse(r, EINVAL, "pid", "with PERF_FLAG_PID_CGROUP it must be a descriptor");
	r->cgroup = fd;
	return fd >= 0 ? 0 : request_refuse(r, EBADF, "pid",
		"with PERF_FLAG_PID_CGROUP it is a descriptor of a cgroup's directory, and %d is none",
		r->pid);
}

/* ---- Groups ---- */

/**
 * request_kind_at() - is a descriptor an event, and whose?
 * @directory: /proc/PID/fd, or AT_FDCWD.
 * @path: a name in it.
 *
 * No file of a file system has such a name: those begin with '/'.
 */
enum request_kind request_kind_at(int directory, const char *path)
{
	char name[64];
	ssize_t length = readlinkat(directory, path, name, sizeof(name) - 1);

	name[length > 0 ? length : 0] = '\0';
	if (!strcmp(name, "anon_inode:[pmuctl_event]"))
		return REQUEST_OURS;
	return strcmp(name, "anon_inode:[perf_event]") ? REQUEST_NO_EVENT : REQUEST_PERFS;
}

/**
 * request_kind() - the same of a descriptor of this process
 * @fd: the descriptor.
 */
enum request_kind request_kind(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return request_kind_at(AT_FDCWD, path);
}

/**
 * request_take_group() - take what was found at group_fd as the group of the event
 * @r: the call.
 * @fd: our descriptor of it, which is ours to close; negative if there is none.
 * @passed_on: the event is not ours.
 *
 * Return: 0, or a negative errno.
 */
int request_take_group(struct request *r, int fd, bool passed_on)
{
	enum request_kind kind;

	kind = fd < 0 ? REQUEST_NO_EVENT : request_kind(fd);
	if (passed_on) {
		if (fd >= 0)
			close(fd);
		return kind != REQUEST_OURS ? 0 : request_refuse(r, EINVAL, "group_fd",
			"events of type %u are counted by the kernel's perf, and cannot be in a group or share a buffer with those of pmuctl",
			r->attr.type);
	}
	if (kind == REQUEST_OURS) {
		r->group = fd;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	if (kind == REQUEST_PERFS)
		return request_refuse(r, EINVAL, "group_fd",
			"file descriptor %d is an event of the kernel's perf, with which one of pmuctl cannot be in a group or share a buffer",
			r->group_fd);
	return request_refuse(r, EBADF, "group_fd", "file descriptor %d is no event",
			      r->group_fd);
}

/* ---- Opening ---- */

/**
 * request_open_here() - open the event, with the rights of this process
 * @r: the call.
 * @caller: the caller's number here.
 * @flags: more of them.
 *
 * Return: a descriptor or a negative errno.
 */
int request_open_here(struct request *r, pid_t caller, unsigned int flags)
{
	struct pmuctl_open open_event = {
		.size = sizeof(open_event),
		.flags = (uint32_t)r->flags | flags,
		.attr = (uintptr_t)&r->attr,
		.pid = request_is_of_cgroup(r) ? r->cgroup : r->pid ? r->pid : caller,
		.cpu = r->cpu,
		.group_fd = r->group,
		.explanation = (uintptr_t)&r->why,
		.explanation_size = sizeof(r->why),
		.tracepoint = r->tracepoint[0] ? (uintptr_t)r->tracepoint : 0,
	};
	int device, fd;

	device = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (device < 0)
		return request_refuse(r, errno == EACCES || errno == EPERM ? EACCES : ENOENT, "",
				      PMUCTL_DEVICE " cannot be opened: %s", strerror(errno));
	fd = ioctl(device, PMUCTL_IOC_OPEN, &open_event);
	if (fd < 0)
		fd = -errno;
	close(device);
	/* The module has written the size that it knows. */
	if (fd == -E2BIG)
		request_tell_size(r, caller);
	return fd;
}

/* What the kernel has not as a tracepoint of that name, but as a probe, say, it counts itself. */
static bool is_for_the_kernel(const struct request *r, int ret)
{
	return ret == -ENOENT && r->why.code == PMUCTL_WHY_TRACEPOINT_UNKNOWN && r->group < 0;
}

/**
 * request_settle() - decide what becomes of a call whose event was opened, or was not
 * @r: the call.
 * @ret: a descriptor or a negative errno.
 *
 * Return: @ret, REQUEST_PASS_ON, or another negative errno.
 */
int request_settle(struct request *r, int ret)
{
	if (!is_for_the_kernel(r, ret))
		return ret;
	return r->options->strict ? request_refuse_strictly(r) : REQUEST_PASS_ON;
}

/**
 * request_explain() - tell on stderr who called, and why that is refused
 * @r: the call.
 */
void request_explain(const struct request *r)
{
	char text[sizeof(r->why.field) + sizeof(r->why.sentence) + 4], name[32] = "?";
	char path[32];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", r->caller.process);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, name, sizeof(name) - 1);
	if (length > 0)
		name[strcspn(name, "\n")] = '\0';
	names_clean(name, strlen(name));
	if (fd >= 0)
		close(fd);
	pmuctl_explanation_format(&r->why, text, sizeof(text));
	say_error("%s[%d]: type %u config 0x%llx: %s", name, r->caller.tid, r->attr.type,
		  (unsigned long long)r->attr.config, text);
}
