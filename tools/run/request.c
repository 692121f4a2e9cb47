// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answering a call, by a process of its own. What it finds out about the caller holds only if
 * the caller still waits for the answer afterwards: numbers of tasks come again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "request.h"

/**
 * request_is_valid() - does the caller still wait for the answer?
 * @r: the call.
 */
bool request_is_valid(const struct request *r)
{
	return ioctl(r->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &r->call->id) == 0;
}

/* Negative numbers of 32-bit programs are such, too. */
static void take_arguments(struct request *r)
{
	const __u64 *args = r->call->data.args;

	r->address = args[0];
	r->pid = (int)args[1];
	r->cpu = (int)args[2];
	r->group_fd = (int)args[3];
	r->flags = args[4];
}

static int know_who(struct request *r)
{
	int ret = caller_read((pid_t)r->call->pid, &r->caller);

	if (ret == 0)
		ret = caller_read(getpid(), &r->self);
	if (!request_is_valid(r))
		return -ESRCH;
	return ret == 0 ? 0 : request_refuse(r, EACCES, "", "what the caller may do cannot be told: %s",
					     strerror(-ret));
}

/* Returns a descriptor, REQUEST_PASS_ON, or a negative errno. */
static int handle_open(struct request *r)
{
	int ret = request_check_flags(r), type;

	if (ret == 0)
		ret = know_who(r);
	if (ret == 0)
		ret = request_copy(r);
	if (ret < 0)
		return ret;
	type = request_find_type(r);
	ret = type < 0 ? type : request_find_group(r, type == REQUEST_PASS_ON);
	if (ret < 0 || type == REQUEST_PASS_ON)
		return ret < 0 ? ret : type;
	ret = request_check_target(r);
	if (ret == 0)
		ret = request_find_cgroup(r);
	return request_settle(r, ret ? ret : request_open(r));
}

static bool is_control(const struct request *r)
{
	const struct seccomp_data *data = &r->call->data;

	return data->arch == AUDIT_ARCH_I386 ? data->nr == FILTER_PRCTL_32 :
					       (data->nr & FILTER_NOT_X32) == FILTER_PRCTL_64;
}

static int handle(struct request *r)
{
	if (!is_control(r))
		return handle_open(r);
	return know_who(r) == 0 ? request_control(r) : REQUEST_PASS_ON;
}

/* ---- The answer ---- */

static void send_answer(const struct request *r, int error, unsigned int flags)
{
	struct seccomp_notif_resp answer = {
		.id = r->call->id, .error = error, .flags = flags,
	};

	ioctl(r->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* The caller may have no room for it, or be gone: then the event ends with us. */
static int send_descriptor(struct request *r, int fd)
{
	struct seccomp_notif_addfd add = {
		.id = r->call->id,
		.flags = SECCOMP_ADDFD_FLAG_SEND,
		.srcfd = (__u32)fd,
		.newfd_flags = r->flags & PERF_FLAG_FD_CLOEXEC ? O_CLOEXEC : 0,
	};

	request_keep_opener(r, fd);
	if (ioctl(r->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) >= 0 || errno == ENOENT)
		return 0;
	return request_refuse(r, errno, "", "the caller gets no descriptor: %s", strerror(errno));
}

/**
 * request_serve() - answer a call
 * @options: of the command line.
 * @shared: what was found for other calls.
 * @listener: where the kernel asks.
 * @call: its question.
 */
void request_serve(const struct run_options *options, struct run_shared *shared,
		   int listener, const struct seccomp_notif *call)
{
	static struct request r;
	int ret;

	r.options = options;
	r.shared = shared;
	r.listener = listener;
	r.call = call;
	r.group = -1;
	r.cgroup = -1;
	take_arguments(&r);
	ret = handle(&r);
	if (ret == REQUEST_PASS_ON) {
		send_answer(&r, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
		return;
	}
	if (ret >= 0)
		ret = send_descriptor(&r, ret);
	if (ret >= 0)
		return;
	if (options->explain && r.why.error)
		request_explain(&r);
	send_answer(&r, ret, 0);
}
