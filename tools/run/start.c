// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command's process, until it is the command: it has itself filtered, hands over the
 * descriptor at which the kernel asks, and waits until that has arrived.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "handover.h"
#include "run.h"

/* Is this file executed with other rights than its caller's? */
static bool gains_rights(const char *path)
{
	struct stat file;

	if (stat(path, &file) < 0 || !S_ISREG(file.st_mode))
		return false;
	return file.st_mode & (S_ISUID | S_ISGID) ||
		getxattr(path, "security.capability", NULL, 0) > 0;
}

/* As execvp() finds it; the caller frees it. NULL if there is none. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH");
	char *found = NULL;

	if (strchr(name, '/'))
		return strdup(name);
	if (!path)
		path = "/bin:/usr/bin";
	for (;;) {
		int length = (int)strcspn(path, ":");

		if (asprintf(&found, "%.*s/%s", length, length ? path : ".", name) < 0)
			return NULL;
		if (access(found, X_OK) == 0)
			return found;
		free(found);
		if (!path[length])
			return NULL;
		path += length + 1;
	}
}

/* It would fail later, with a message that says nothing about us. */
static void tell_lost_rights(const char *name)
{
	char *path;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return;
	path = find_program(name);
	if (path && gains_rights(path))
		say_error("'%s' is set-user-id or has capabilities, which it does not get here, nor does what it starts: only root can start it so by pmuctl run",
			  name);
	free(path);
}

static void say_not_filtered(int error)
{
	if (error == EBUSY)
		say_error("somebody answers for calls of this process already (another pmuctl run, or the manager of a container): start it outside of that");
	else if (error == EINVAL)
		say_error("this kernel's seccomp has no user notification that signals wait for: try --preload");
	else
		say_error("calls cannot be taken: %s", strerror(error));
}

/**
 * start_command() - become the command
 * @options: which.
 * @server: a socket to who will answer.
 * @mask: the signal mask that it gets.
 */
_Noreturn void start_command(const struct run_options *options, int server,
			     const sigset_t *mask)
{
	char **argv = options->argv;
	int listener = filter_install();
	char go;

	if (listener < 0)
		say_not_filtered(-listener);
	if (listener < 0 || handover_send(server, "", 1, listener) < 0 ||
	    read(server, &go, 1) != 1)
		_exit(STATUS_FAILED);
	close(listener);
	close(server);
	tell_lost_rights(argv[0]);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	say_error("cannot execute '%s': %s", argv[0], strerror(errno));
	_exit(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
}

/**
 * start_listen() - get the descriptor at which the kernel asks
 * @command: a socket to the command's process.
 *
 * Return: the descriptor, or -1 if that has ended, having said why.
 */
int start_listen(int command)
{
	char byte;
	int fd = -1;

	return handover_receive(command, &byte, 1, &fd) == 1 ? fd : -1;
}
