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
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stat.h"

/* We began with SIGINT ignored, as a script's commands with "&" do: so does our command. */
static bool is_deaf;

/**
 * signals_block() - receive signals through a descriptor from now on
 * @before: the mask that was in force, for the command.
 *
 * Return: the descriptor, or a negative errno.
 */
int signals_block(sigset_t *before)
{
	struct sigaction before_us;
	sigset_t set;
	int fd;

	is_deaf = sigaction(SIGINT, NULL, &before_us) == 0 && before_us.sa_handler == SIG_IGN;
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

/**
 * signal_block() - receive another signal through a descriptor of its own from now on
 * @signal: the signal.
 *
 * Return: the descriptor, -1 with errno set.
 */
int signal_block(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
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

	prctl(PR_SET_NAME, CHILD_COMM);
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
 * child_run() - let it become the command; says why not
 * @child: the process; its pid is 0 afterwards if the command could not be executed.
 * @name: of the command.
 *
 * Return: 0 or an exit status.
 */
int child_run(struct child *child, const char *name)
{
	int error = child_go(child);

	if (!error)
		return 0;
	say_error("cannot run '%s': %s", name, strerror(error));
	child->pid = 0;
	return error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
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
 * on the terminal by itself; what was sent to us alone is passed on, in a way that it hears.
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
			kill(child, number == SIGINT && is_deaf ? SIGTERM : number);
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

/**
 * timer_open() - a descriptor that can be read when a time is over
 * @milliseconds: the time.
 * @again: and then each time that it is over again.
 *
 * Return: the descriptor, or a negative errno, of which the user has been told.
 */
int timer_open(unsigned int milliseconds, bool again)
{
	const struct timespec time = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000L,
	};
	const struct itimerspec timer = { again ? time : (struct timespec){ 0 }, time };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	int error;

	if (fd >= 0 && timerfd_settime(fd, 0, &timer, NULL) == 0)
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	return say_cannot_wait(error);
}

/* However often a time was over meanwhile, what is to be done is done once. */
static int source_handle(const struct run_source *source)
{
	uint64_t missed;

	if (source->is_timer && read(source->fd, &missed, sizeof(missed)) != (ssize_t)sizeof(missed))
		return RUN_GO_ON;
	return source->call(source->arg);
}

/* Returns RUN_GO_ON, RUN_END, or what failed. */
static int sources_handle(const struct run_source *sources, size_t count,
			  struct pollfd *polls)
{
	int result = RUN_GO_ON;

	for (size_t i = 0; i < count; i++) {
		int next = polls[i].fd >= 0 && polls[i].revents ?
			   source_handle(&sources[i]) : RUN_GO_ON;

		if (next < 0 || next == RUN_NO_MORE)
			polls[i].fd = -1;
		if (next < 0 || (next == RUN_END && !result))
			result = next;
	}
	return result;
}

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

/* All that is waited for: signals, then sources, then targets */
struct waiting {
	pid_t child;
	struct pollfd *polls;
	const struct run_source *sources;
	size_t nr_sources;
	int *fds;
	size_t nr_fds;
};

static int wait_loop(const struct waiting *w, struct run_end *end)
{
	struct pollfd *targets = w->polls + 1 + w->nr_sources;
	size_t alive = w->nr_fds;
	int failure = 0;

	/* It may have ended before its signal was asked for. */
	while (!(w->child && child_reap(w->child, end))) {
		int next;

		if (!w->child && (!alive || failure))
			break;
		if (poll(w->polls, 1 + w->nr_sources + w->nr_fds, -1) < 0) {
			if (errno == EINTR)
				continue;
			return say_cannot_wait(errno);
		}
		if (w->polls[0].revents && signals_handle(w->polls[0].fd, w->child, end))
			break;
		next = sources_handle(w->sources, w->nr_sources, w->polls + 1);
		if (next < 0)	/* the command goes on all the same */
			failure = next;
		if (next == RUN_END && !w->child)
			break;
		if (next == RUN_END)
			kill(w->child, SIGTERM);
		alive -= targets_gone(targets, w->fds, w->nr_fds);
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
 * @sources: what to do meanwhile.
 * @nr_sources: how many.
 * @end: how it ended.
 *
 * It ends with the command if there is one; else with the last target, with
 * SIGINT, SIGTERM, SIGQUIT, SIGHUP, or when a source says so.
 *
 * Return: 0, or a negative errno, of which the user has been told.
 */
int run_wait(int signals, pid_t child, int *fds, size_t nr_fds,
	     const struct run_source *sources, size_t nr_sources, struct run_end *end)
{
	struct waiting w = {
		.child = child, .sources = sources, .nr_sources = nr_sources,
		.fds = fds, .nr_fds = nr_fds,
	};
	int ret;

	w.polls = calloc(1 + nr_sources + nr_fds, sizeof(*w.polls));
	if (!w.polls)
		return say_cannot_wait(ENOMEM);
	memset(end, 0, sizeof(*end));
	w.polls[0] = (struct pollfd){ .fd = signals, .events = POLLIN };
	for (size_t i = 0; i < nr_sources; i++)
		w.polls[1 + i] = (struct pollfd){ .fd = sources[i].fd, .events = POLLIN };
	for (size_t i = 0; i < nr_fds; i++)
		w.polls[1 + nr_sources + i] = (struct pollfd){ .fd = child ? -1 : fds[i] };
	ret = wait_loop(&w, end);
	signals_drain(signals, end);
	free(w.polls);
	return ret;
}
