// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl run": the command line, and the process that was started as pmuctl: it does nothing
 * but wait for the command's end, hands on what signals it gets, and ends as the command did.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "options.h"
#include "run.h"

enum {
	OPTION_EXPLAIN = OPTION_NO_LETTER,
	OPTION_STRICT,
	OPTION_PRELOAD,
};

static const struct cli_option run_options[] = {
	{ OPTION_EXPLAIN, "explain", .help = "tell on stderr why a call was refused" },
	{ OPTION_STRICT, "strict",
	  .help = "refuse what pmuctl does not have, instead of passing it on to the kernel's perf" },
	{ OPTION_PRELOAD, "preload",
	  .help = "take the calls by a library that COMMAND loads, not by seccomp" },
	{ 0 },
};

/* What is sent to us is meant for the command. */
static const int handed_on[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH,
};

static int signals_take(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_LEN(handed_on); i++)
		sigaddset(&set, handed_on[i]);
	if (sigprocmask(SIG_BLOCK, &set, before) < 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* What was typed on the terminal the command has got by itself. */
static void hand_on(int signals, int command)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_code <= 0)
			syscall(SYS_pidfd_send_signal, command, info.ssi_signo, NULL, 0);
}

/* Returns the command's exit status, which the server tells. */
static int wait_for_command(int server, int signals, int command)
{
	struct pollfd polls[] = {
		{ .fd = server, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	int status;

	for (;;) {
		if (poll(polls, ARRAY_LEN(polls), -1) < 0 && errno != EINTR)
			return STATUS_FAILED;
		if (polls[1].revents)
			hand_on(signals, command);
		if (!polls[0].revents)
			continue;
		if (read(server, &status, sizeof(status)) == (ssize_t)sizeof(status))
			return status;
		say_error("the process that answers the command's calls has gone");
		return STATUS_FAILED;
	}
}

/* The server tells the command's process id first, and waits until we have hold of it. */
static int follow(int server, int signals)
{
	int status, command;
	pid_t pid;

	if (read(server, &pid, sizeof(pid)) != (ssize_t)sizeof(pid))
		return STATUS_FAILED; /* it has said why */
	command = (int)syscall(SYS_pidfd_open, pid, 0);
	if (command < 0 || write(server, "", 1) != 1) {
		say_error("cannot wait for the command: %s", strerror(errno));
		return STATUS_FAILED;
	}
	status = wait_for_command(server, signals, command);
	close(command);
	return status;
}

static int run(const struct run_options *options)
{
	int sockets[2], signals, status;
	sigset_t before;
	pid_t server;

	/* If it was ignored, the command's status would be lost. */
	signal(SIGCHLD, SIG_DFL);
	signals = signals_take(&before);
	if (signals < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0) {
		say_error("cannot start: %s", strerror(errno));
		return STATUS_FAILED;
	}
	server = fork();
	if (server < 0) {
		say_error("cannot start: %s", strerror(errno));
		return STATUS_FAILED;
	}
	if (server == 0) {
		close(signals);
		close(sockets[0]);
		server_main(options, sockets[1], &before);
	}
	close(sockets[1]);
	status = follow(sockets[0], signals);
	close(sockets[0]);
	close(signals);
	return status;
}

/* Nothing is to be started where nothing can be answered. */
static int check_device(void)
{
	struct pmuctl_explanation why;
	struct pmuctl_device *dev;

	if (pmuctl_device_open(NULL, &why, &dev) < 0) {
		say_error("%s", why.sentence);
		return STATUS_FAILED;
	}
	pmuctl_device_close(dev);
	return STATUS_OK;
}

/* An option_apply */
static int take_option(void *arg, int value)
{
	struct run_options *options = arg;

	if (value == OPTION_EXPLAIN)
		options->explain = true;
	if (value == OPTION_STRICT)
		options->strict = true;
	if (value == OPTION_PRELOAD)
		options->preload = true;
	return STATUS_OK;
}

static int run_run(int argc, char **argv)
{
	struct run_options options = { 0 };
	int status = options_parse(&command_run, argc, argv, take_option, &options);

	if (status)
		return status;
	if (optind >= argc)
		return say_usage(&command_run, "there is no command");
	options.argv = argv + optind;
	status = -capabilities_drop();
	if (status) {
		say_error("cannot drop capabilities: %s", strerror(status));
		return STATUS_FAILED;
	}
	status = check_device();
	if (status)
		return status;
	return options.preload ? preloaded_exec(&options) : run(&options);
}

const struct command command_run = {
	.name = "run",
	.run = run_run,
	.summary = "run a program that was made for perf_event_open(2)",
	.operands = "[--] COMMAND [ARGUMENTS]",
	.about =
"Runs COMMAND, which uses perf_event_open(2), on pmuctl: the events that it opens, and that all "
"that it starts opens, are pmuctl's, as far as there are such; other types are the kernel's "
"own. COMMAND needs no change, whatever it is written in.",
	.options = { run_options },
	.notes =
"The exit status is COMMAND's own, 128 plus the signal that ended it, 127 if it is not found, "
"126 if it cannot be executed; 1 if pmuctl is not there, 2 for wrong options.",
	.starts_command = true,
};
