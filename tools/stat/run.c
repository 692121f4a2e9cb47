// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starting the measured command and waiting: for its end, for the end of what is
 * counted, or for a signal. The command starts without any capability, so that a
 * pmuctl that was given one does not hand it on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stat.h"

/**
 * signals_block() - receive signals through a descriptor from now on
 * @before: the mask that was in force, for the command.
 *
 * Return: the descriptor, or a negative errno.
 */
int signals_block(sigset_t *before)
{
	sigset_t set;
	int fd;

	/* If it was ignored, the command's status would be lost. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, before) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* How SIGPIPE was for us, and has to be for each command: we ignore it from the first one on. */
static struct sigaction pipe_before;
static bool pipe_is_ignored;

/**
 * pipe_ignore() - have write() tell that nobody reads a pipe any more, not SIGPIPE
 */
void pipe_ignore(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	if (!pipe_is_ignored)
		sigaction(SIGPIPE, &ignore, &pipe_before);
	pipe_is_ignored = true;
}

/* How many descriptors we were allowed, and each command has to be: we may need more. */
static struct rlimit descriptors_before;
static bool descriptors_are_allowed;

/**
 * descriptors_allow() - have as many descriptors as can be: one for each event and target
 */
void descriptors_allow(void)
{
	struct rlimit limit;

	if (descriptors_are_allowed || getrlimit(RLIMIT_NOFILE, &descriptors_before) < 0)
		return;
	descriptors_are_allowed = true;
	limit = descriptors_before;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* The child: waits for the word, then becomes the command. */
static _Noreturn void child_main(int go, int failure, char **argv,
				 const sigset_t *before)
{
	ssize_t written;
	char byte;
	int error;

	error = -capabilities_drop();
	if (!error) {
		if (read(go, &byte, 1) != 1)
			_exit(STATUS_FAILED);
		if (pipe_is_ignored)
			sigaction(SIGPIPE, &pipe_before, NULL);
		if (descriptors_are_allowed)
			setrlimit(RLIMIT_NOFILE, &descriptors_before);
		sigprocmask(SIG_SETMASK, before, NULL);
		execvp(argv[0], argv);
		error = errno;
	}
	written = write(failure, &error, sizeof(error));
	_exit(written < 0 || error != ENOENT ? STATUS_NOT_EXECUTABLE :
					       STATUS_NOT_FOUND);
}

/**
 * child_start() - make the process that will be the command
 * @child: filled.
 * @argv: the command.
 * @before: its signal mask.
 *
 * Return: 0 or a negative errno.
 */
int child_start(struct child *child, char **argv, const sigset_t *before)
{
	int go[2], failure[2];
	int ret;

	if (pipe2(go, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(failure, O_CLOEXEC) < 0) {
		ret = -errno;
		goto err_close_go;
	}
	child->pid = fork();
	if (child->pid < 0) {
		ret = -errno;
		goto err_close_failure;
	}
	if (child->pid == 0) {
		close(go[1]);
		close(failure[0]);
		if (child->prints_errors)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		child_main(go[0], failure[1], argv, before);
	}
	close(go[0]);
	close(failure[1]);
	child->go = go[1];
	child->failure = failure[0];
	return 0;

err_close_failure:
	close(failure[0]);
	close(failure[1]);
err_close_go:
	close(go[0]);
	close(go[1]);
	return ret;
}

/**
 * child_go() - let it become the command
 * @child: the process.
 *
 * Return: 0, or a positive errno if the command could not be executed; the process
 * is ended and waited for then.
 */
int child_go(struct child *child)
{
	ssize_t got;
	int error = 0;

	/* It may be dead already; how, its status tells. */
	pipe_ignore();
	got = write(child->go, "", 1);
	do {
		got = read(child->failure, &error, sizeof(error));
	} while (got < 0 && errno == EINTR);
	close(child->go);
	close(child->failure);
	if (got != (ssize_t)sizeof(error))
		return 0;
	waitpid(child->pid, NULL, 0);
	return error;
}

/**
 * child_cancel() - end it before it has become the command
 * @child: the process.
 */
void child_cancel(struct child *child)
{
	close(child->go);
	close(child->failure);
	waitpid(child->pid, NULL, 0);
}

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

/* Has the command ended? Then with what status? */
static bool child_reap(pid_t child, struct run_end *end)
{
	struct rusage usage;
	int status;

	if (wait4(child, &status, WNOHANG, &usage) != child)
		return false;
	end->status = WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) :
					    WEXITSTATUS(status);
	end->has_usage = true;
	end->user = seconds(&usage.ru_utime);
	end->system = seconds(&usage.ru_stime);
	return true;
}

/*
 * One signal; returns whether it ends the measurement. A command got what was typed
 * on the terminal by itself; what was sent to us alone is passed on.
 */
static bool signal_handle(const struct signalfd_siginfo *info, pid_t child,
			  struct run_end *end)
{
	int number = (int)info->ssi_signo;

	if (number == SIGCHLD)
		return child > 0 && child_reap(child, end);
	end->interrupted = number;
	if (child > 0) {
		if (info->ssi_code <= 0)
			kill(child, number);
		return false;
	}
	end->status = STATUS_SIGNAL + number;
	return true;
}

static bool signals_handle(int signals, pid_t child, struct run_end *end)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (signal_handle(&info, child, end))
			return true;
	return false;
}

static int say_cannot_wait(int error)
{
	say_error("cannot wait for the end: %s", strerror(error));
	return -error;
}

/* A descriptor that can be read at each tick; -1 if there are none. */
static int tick_open(const struct run_tick *tick, int *fd)
{
	const struct timespec period = {
		.tv_sec = tick->milliseconds / 1000,
		.tv_nsec = tick->milliseconds % 1000 * 1000000L,
	};
	const struct itimerspec timer = { period, period };

	*fd = -1;
	if (!tick->milliseconds)
		return 0;
	*fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (*fd < 0 || timerfd_settime(*fd, 0, &timer, NULL) < 0)
		return say_cannot_wait(errno);
	return 0;
}

/* However many were missed, it is done once. */
static int tick_handle(const struct run_tick *tick, int fd)
{
	uint64_t missed;

	if (read(fd, &missed, sizeof(missed)) != (ssize_t)sizeof(missed))
		return 0;
	return tick->call(tick->arg);
}

enum { POLL_SIGNALS, POLL_TICK, POLL_FDS };

/* Takes note of the targets that are gone; returns how many. */
static size_t targets_gone(struct pollfd *polls, int *fds, size_t nr_fds)
{
	size_t gone = 0;

	for (size_t i = 0; i < nr_fds; i++) {
		if (polls[i].fd >= 0 && polls[i].revents) {
			polls[i].fd = -1;
			fds[i] = -1;
			gone++;
		}
	}
	return gone;
}

static int wait_loop(struct pollfd *polls, pid_t child, int *fds, size_t nr_fds,
		     const struct run_tick *tick, struct run_end *end)
{
	size_t alive = nr_fds;
	int failure = 0;

	/* It may have ended before its signal was asked for. */
	while (!(child && child_reap(child, end))) {
		if (!child && (!alive || failure))
			break;
		if (poll(polls, POLL_FDS + nr_fds, -1) < 0) {
			if (errno == EINTR)
				continue;
			return say_cannot_wait(errno);
		}
		if (polls[POLL_SIGNALS].revents &&
		    signals_handle(polls[POLL_SIGNALS].fd, child, end))
			break;
		if (polls[POLL_TICK].revents)
			failure = tick_handle(tick, polls[POLL_TICK].fd);
		if (failure)	/* the command goes on all the same */
			polls[POLL_TICK].fd = -1;
		alive -= targets_gone(polls + POLL_FDS, fds, nr_fds);
	}
	return failure;
}

/* What came together with the end counts for what is done next. */
static void signals_drain(int signals, struct run_end *end)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			end->interrupted = (int)info.ssi_signo;
}

/**
 * run_wait() - wait until there is nothing more to measure
 * @signals: from signals_block().
 * @child: the command, or 0.
 * @fds: with no command: descriptors that hang up when a target is gone; those
 *	that did are set to -1.
 * @nr_fds: how many.
 * @tick: what to do meanwhile.
 * @end: how it ended.
 *
 * It ends with the command if there is one; else with the last target, or with
 * SIGINT, SIGTERM, SIGQUIT, SIGHUP.
 *
 * Return: 0, or a negative errno, of which the user has been told.
 */
int run_wait(int signals, pid_t child, int *fds, size_t nr_fds,
	     const struct run_tick *tick, struct run_end *end)
{
	struct pollfd *polls = calloc(nr_fds + POLL_FDS, sizeof(*polls));
	int timer, ret;

	if (!polls)
		return say_cannot_wait(ENOMEM);
	memset(end, 0, sizeof(*end));
	ret = tick_open(tick, &timer);
	polls[POLL_SIGNALS] = (struct pollfd){ .fd = signals, .events = POLLIN };
	polls[POLL_TICK] = (struct pollfd){ .fd = timer, .events = POLLIN };
	for (size_t i = 0; i < nr_fds; i++)
		polls[POLL_FDS + i] = (struct pollfd){ .fd = child ? -1 : fds[i] };
	if (ret == 0)
		ret = wait_loop(polls, child, fds, nr_fds, tick, end);
	signals_drain(signals, end);
	if (timer >= 0)
		close(timer);
	free(polls);
	return ret;
}
