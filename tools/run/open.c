// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening the event, with the caller's rights: those of this process if they are the same;
 * else by a process that takes them. It begins when we have seen that it has just these, by
 * the same look into /proc as at the caller.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "handover.h"
#include "request.h"

/* What the process that opens says: first that it is ready, then what came of it */
struct outcome {
	pid_t pid;
	int error;
	uint32_t known_size;
	struct pmuctl_explanation why;
};

/* ---- With the rights of others ---- */

/* The process that has them: says so, and opens the event when it is told to. */
static _Noreturn void open_there(struct request *r, int socket)
{
	struct outcome outcome = { 0 };
	char go;
	int fd;

	if (read(socket, &go, 1) != 1)
		_exit(1);
	fd = request_open_here(r, r->caller.own_tid, PERF_FLAG_FD_CLOEXEC);
	outcome.error = fd < 0 ? -fd : 0;
	outcome.why = r->why;
	handover_send(socket, &outcome, sizeof(outcome), fd);
	_exit(0);
}

static bool is_same_user(const struct request *r)
{
	return !strcmp(r->caller.rights[CALLER_UID], r->self.rights[CALLER_UID]);
}

/* Nothing of what is others' comes along: where the kernel asks, above all. Returns the socket. */
static int leave_others(struct request *r, int socket)
{
	enum { SOCKET = STDERR_FILENO + 1, GROUP, CGROUP, END };
	int group = fcntl(r->group, F_DUPFD, END);
	int cgroup = fcntl(r->cgroup, F_DUPFD, END);

	socket = fcntl(socket, F_DUPFD, END);
	dup2(socket, SOCKET);
	syscall(SYS_close_range, GROUP, END - 1, 0);
	if (group >= 0)
		r->group = dup2(group, GROUP);
	if (cgroup >= 0)
		r->cgroup = dup2(cgroup, CGROUP);
	syscall(SYS_close_range, END, ~0U, 0);
	munmap(r->shared, sizeof(*r->shared));
	return SOCKET;
}

/*
 * Its pid namespace is that of its child. While others could do to this process what the
 * caller's user may, our environment is nobody's business, unless it is that user's anyway.
 */
static _Noreturn void become(struct request *r, int socket)
{
	struct outcome ready = { 0 };

	socket = leave_others(r, socket);
	ready.error = -caller_become(&r->caller, &r->self);
	if (!ready.error) {
		if (is_same_user(r))
			prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
		ready.pid = fork();
		if (ready.pid == 0)
			open_there(r, socket);
		if (ready.pid < 0)
			ready.error = errno;
	}
	handover_send(socket, &ready, sizeof(ready), -1);
	close(socket);
	waitpid(ready.pid, NULL, 0);
	_exit(0);
}

static int refuse_rights(struct request *r, const char *reason)
{
	return request_refuse(r, EACCES, "", "the caller has other rights than pmuctl run, which cannot take them: %s",
			      reason);
}

/* Has it become what the caller is? */
static bool is_like_caller(const struct request *r, pid_t pid)
{
	struct caller other;
	bool is = caller_read(pid, &other) == 0 && caller_is_like(&other, &r->caller);

	caller_free(&other);
	return is;
}

static int talk(struct request *r, int socket)
{
	struct outcome outcome;
	int fd;

	if (handover_receive(socket, &outcome, sizeof(outcome), &fd) != sizeof(outcome))
		return request_refuse(r, ENOMEM, "", "the process that should open the event has ended");
	if (outcome.error)
		return refuse_rights(r, strerror(outcome.error));
	if (!is_like_caller(r, outcome.pid))
		return refuse_rights(r, "a process with them is not allowed here");
	if (!request_is_valid(r))
		return -ESRCH;
	if (write(socket, "", 1) != 1 ||
	    handover_receive(socket, &outcome, sizeof(outcome), &fd) != sizeof(outcome))
		return request_refuse(r, ENOMEM, "", "the process that should open the event has ended");
	r->why = outcome.why;
	return outcome.error ? -outcome.error : fd;
}

static int open_as_caller(struct request *r)
{
	int sockets[2], ret;
	pid_t pid;

	if (strcmp(r->caller.label, r->self.label))
		return refuse_rights(r, "a security module confines it otherwise");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return request_refuse(r, ENOMEM, "", "%s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(sockets[0]);
		become(r, sockets[1]);
	}
	close(sockets[1]);
	ret = pid < 0 ? request_refuse(r, ENOMEM, "", "%s", strerror(errno)) :
			talk(r, sockets[0]);
	close(sockets[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return ret;
}

/**
 * request_open() - open the event
 * @r: the call.
 *
 * Return: a descriptor of this process, or a negative errno.
 */
int request_open(struct request *r)
{
	if (!caller_is_like(&r->caller, &r->self))
		return open_as_caller(r);
	return request_open_here(r, r->caller.tid, PERF_FLAG_FD_CLOEXEC);
}
