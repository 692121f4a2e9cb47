// SPDX-License-Identifier: GPL-2.0-only
/*
 * The server: the parent of the command, which takes the kernel's questions about calls. Each
 * is answered by a process of its own, so that one that has to wait, as the memory of its
 * caller may have it do, keeps nobody else waiting; and so that nothing is left of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

/* A call that a process is answering */
struct answering {
	pid_t pid;
	uint64_t id;
};

/**
 * struct server - what the server knows
 * @options: of the command line.
 * @shared: what the processes that answer have in common.
 * @listener: where the kernel asks; -1 once there is nobody left who could call.
 * @parent: a socket to who waits for the command's end; -1 once told.
 * @command: its process id; 0 when it has ended.
 * @call: room for a question, of @call_size bytes.
 * @call_size: what the kernel wants.
 * @answering: the processes that are under way.
 * @count: how many.
 * @room: for how many there is room.
 */
struct server {
	const struct run_options *options;
	struct run_shared *shared;
	int listener;
	int parent;
	pid_t command;
	struct seccomp_notif *call;
	size_t call_size;
	struct answering *answering;
	size_t count, room;
};

static void refuse(const struct server *s, uint64_t id, int error)
{
	struct seccomp_notif_resp answer = { .id = id, .error = -error };

	ioctl(s->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* ---- Questions ---- */

static bool have_room(struct server *s)
{
	const size_t room = s->room ? 2 * s->room : 16;
	struct answering *more;

	if (s->count < s->room)
		return true;
	more = realloc(s->answering, room * sizeof(*more));
	if (!more)
		return false;
	s->answering = more;
	s->room = room;
	return true;
}

static void take_call(struct server *s)
{
	pid_t pid;

	memset(s->call, 0, s->call_size);
	/* Who called may have gone meanwhile. */
	if (ioctl(s->listener, SECCOMP_IOCTL_NOTIF_RECV, s->call) < 0)
		return;
	if (!have_room(s)) {
		refuse(s, s->call->id, ENOMEM);
		return;
	}
	pid = fork();
	if (pid == 0) {
		request_serve(s->options, s->shared, s->listener, s->call);
		_exit(0);
	}
	if (pid < 0) {
		refuse(s, s->call->id, ENOMEM);
		return;
	}
	s->answering[s->count++] = (struct answering){ pid, s->call->id };
}

/* ---- Processes that have ended ---- */

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* What was killed has answered nothing. */
static void answered(struct server *s, size_t i, int status)
{
	if (status)
		refuse(s, s->answering[i].id, ENOMEM);
	s->answering[i] = s->answering[--s->count];
}

/* Children are the command, those that answer, and what has lost its parent. */
static void reap(struct server *s)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == s->command) {
			status = exit_status(status);
			send(s->parent, &status, sizeof(status), MSG_NOSIGNAL);
			close(s->parent);
			s->command = 0;
			continue;
		}
		for (size_t i = 0; i < s->count; i++) {
			if (s->answering[i].pid == pid) {
				answered(s, i, status);
				break;
			}
		}
	}
}

/* ---- All of it ---- */

/* Without a descriptor that somebody may wait for the end of, and away from the terminal */
static void leave(const struct run_options *options)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	if (chdir("/") < 0 || null < 0)
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (!options->explain)
		dup2(null, STDERR_FILENO);
	close(null);
}

static void serve(struct server *s, int signals)
{
	struct signalfd_siginfo info;

	while (s->command || s->listener >= 0 || s->count) {
		struct pollfd polls[] = {
			{ .fd = signals, .events = POLLIN },
			{ .fd = s->listener, .events = POLLIN },
		};

		if (poll(polls, ARRAY_LEN(polls), -1) < 0)
			continue;
		if (polls[0].revents) {
			while (read(signals, &info, sizeof(info)) > 0)
				;
			reap(s);
		}
		if (polls[1].revents & POLLIN) {
			take_call(s);
		} else if (polls[1].revents) {
			close(s->listener);
			s->listener = -1;
		}
	}
}

/* Returns the command's process, of which @socket is the other end, or -1. */
static pid_t fork_command(const struct run_options *options, const sigset_t *mask, int parent,
			  int *socket)
{
	int sockets[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		close(parent);
		close(sockets[0]);
		start_command(options, sockets[1], mask);
	}
	close(sockets[1]);
	*socket = sockets[0];
	return pid;
}

/* Room for the kernel's questions, of which newer kernels may have longer ones, and for more */
static bool have_memory(struct server *s)
{
	struct seccomp_notif_sizes sizes;

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return false;
	s->call_size = sizes.seccomp_notif > sizeof(*s->call) ? sizes.seccomp_notif :
							       sizeof(*s->call);
	s->call = calloc(1, s->call_size);
	s->shared = mmap(NULL, sizeof(*s->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return s->call && s->shared != MAP_FAILED;
}

/* The command's process is there, and waits; its parent gets hold of it before it may go on. */
static bool start(struct server *s, int command)
{
	char go;

	s->listener = start_listen(command);
	return s->listener >= 0 &&
		write(s->parent, &s->command, sizeof(s->command)) == sizeof(s->command) &&
		read(s->parent, &go, 1) == 1 && write(command, &go, 1) == 1;
}

/**
 * server_main() - start the command and serve it
 * @options: of the command line.
 * @parent: a socket to who waits for it: it gets the command's process id, answers with a
 *	byte, and gets the command's exit status.
 * @mask: the signal mask that the command gets.
 */
_Noreturn void server_main(const struct run_options *options, int parent,
			   const sigset_t *mask)
{
	struct server s = { .options = options, .listener = -1, .parent = parent };
	sigset_t all, child;
	int command, signals;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (signals < 0 || !have_memory(&s)) {
		say_error("calls cannot be taken: %s", strerror(errno));
		_exit(STATUS_FAILED);
	}
	s.command = fork_command(options, mask, parent, &command);
	if (s.command < 0) {
		say_error("cannot start the command: %s", strerror(errno));
		_exit(STATUS_FAILED);
	}
	/* Nobody looks into who answers for others, nor takes his descriptors. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (!start(&s, command))
		_exit(STATUS_FAILED);
	close(command);
	leave(options);
	serve(&s, signals);
	_exit(STATUS_OK);
}
