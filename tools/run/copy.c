// SPDX-License-Identifier: GPL-2.0-only
/*
 * The attr, from the caller's memory: copied once, as its threads may change it meanwhile.
 * Sizes are dealt with as perf does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>

#include "request.h"

static int read_memory(const struct request *r, uint64_t address, void *to, size_t size)
{
	struct iovec here = { to, size };
	struct iovec there = { (void *)(uintptr_t)address, size };

	if (process_vm_readv(r->caller.tid, &here, 1, &there, 1, 0) == (ssize_t)size)
		return 0;
	return errno == EPERM ? -EPERM : -EFAULT;
}

static int cannot_read(struct request *r, int error)
{
	if (error == -EPERM)
		return request_refuse(r, EACCES, "attr", "the memory of the caller may not be read: it is protected (prctl(2), PR_SET_DUMPABLE), or ptrace is restricted");
	return request_refuse(r, EFAULT, "attr", "the attr is at an address that cannot be read");
}

static int refuse_size(struct request *r, uint32_t size)
{
	r->attr.size = PMUCTL_ATTR_SIZE;
	request_tell_size(r, r->caller.tid);
	return request_refuse(r, E2BIG, "attr.size", "%u is no size of struct perf_event_attr: it is from %u to %u",
			      size, PERF_ATTR_SIZE_VER0, REQUEST_ATTR_MAX);
}

/**
 * request_copy() - copy the attr
 * @r: the call.
 *
 * Return: 0 or a negative errno.
 */
int request_copy(struct request *r)
{
	uint32_t size;
	int ret;

	ret = read_memory(r, r->address + offsetof(struct perf_event_attr, size), &size,
			  sizeof(size));
	if (ret < 0)
		return cannot_read(r, ret);
	if (!request_is_valid(r))
		return -ESRCH;
	if (!size)
		size = PERF_ATTR_SIZE_VER0;
	if (size < PERF_ATTR_SIZE_VER0 || size > REQUEST_ATTR_MAX)
		return refuse_size(r, size);
	ret = read_memory(r, r->address, r->bytes, size);
	if (ret < 0)
		return cannot_read(r, ret);
	r->attr.size = size;
	/* It was the caller's memory if the caller still waits. */
	return request_is_valid(r) ? 0 : -ESRCH;
}

/**
 * request_tell_size() - tell the caller which size is known: that in our copy now
 * @r: the call.
 * @caller: the caller's number where this is called.
 *
 * If that memory cannot be written, the caller does without, as with perf.
 */
void request_tell_size(const struct request *r, pid_t caller)
{
	const uint64_t address = r->address + offsetof(struct perf_event_attr, size);
	struct iovec here = { (void *)&r->attr.size, sizeof(r->attr.size) };
	struct iovec there = { (void *)(uintptr_t)address, sizeof(r->attr.size) };
	ssize_t written = process_vm_writev(caller, &here, 1, &there, 1, 0);

	(void)written;
}
