// SPDX-License-Identifier: GPL-2.0-only
/*
 * "--control" of "pmuctl stat" and "pmuctl record": lines that come from another program meanwhile,
 * as those of perf-stat(1) and perf-record(1): "enable", "disable", "snapshot", "ping", "stop". Each
 * that was obeyed is answered by "ack".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stat.h"

const char *const control_words[] = { "fd:N", "fd:N,N", "fifo:FILE", "fifo:FILE,FILE", NULL };

static int say_no_control(const char *text)
{
	say_error("'%s' is not for --control: it is fd:N, fd:N,N, fifo:FILE or fifo:FILE,FILE",
		  text);
	return -EINVAL;
}

/* "3" or "3,4": descriptors that we were given */
static int open_numbers(struct control *control, const char *text, const char *whole)
{
	char *end;
	long number = strtol(text, &end, 10);
	long answers = -1;

	if (end == text || number < 0 || number > INT_MAX)
		return say_no_control(whole);
	if (*end == ',') {
		text = end + 1;
		answers = strtol(text, &end, 10);
		if (end == text || answers < 0 || answers > INT_MAX)
			return say_no_control(whole);
	}
	if (*end)
		return say_no_control(whole);
	if (fcntl((int)number, F_GETFD) < 0 || (answers >= 0 && fcntl((int)answers, F_GETFD) < 0)) {
		say_error("--control %s: there is no such descriptor", whole);
		return -EBADF;
	}
	control->commands = (int)number;
	control->answers = (int)answers;
	/* They are ours now: what is measured does not get them. */
	fcntl(control->commands, F_SETFD, FD_CLOEXEC);
	if (control->answers >= 0)
		fcntl(control->answers, F_SETFD, FD_CLOEXEC);
	fcntl(control->commands, F_SETFL, fcntl(control->commands, F_GETFL) | O_NONBLOCK);
	return 0;
}

/* Also for writing: there is no end of it then when one who writes goes. */
static int open_fifo(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	struct stat about;

	if (fd >= 0 && fstat(fd, &about) == 0 && S_ISFIFO(about.st_mode))
		return fd;
	if (fd >= 0) {
		say_error("'%s' of --control is no FIFO: mkfifo(1) makes one", path);
		close(fd);
		return -EINVAL;
	}
	say_error("cannot open '%s' for --control: %s", path, strerror(errno));
	return -errno;
}

static int open_fifos(struct control *control, const char *text, const char *whole)
{
	char *paths, *comma;
	int ret = 0;

	if (!*text || *text == ',')
		return say_no_control(whole);
	paths = strdup(text);
	if (!paths)
		return -ENOMEM;
	comma = strchr(paths, ',');
	if (comma)
		*comma = '\0';
	control->are_ours = true;
	control->commands = open_fifo(paths);
	if (control->commands >= 0 && comma)
		control->answers = open_fifo(comma + 1);
	if (control->commands < 0 || (comma && control->answers < 0))
		ret = -ENOENT;
	free(paths);
	return ret;
}

/**
 * control_open() - begin to listen
 * @control: the commands; to be closed with control_close(), also after an error.
 * @text: of the command line: fd:N[,N] or fifo:FILE[,FILE]; NULL: there will be none.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int control_open(struct control *control, const char *text)
{
	*control = (struct control){ .commands = -1, .answers = -1 };
	if (!text)
		return 0;
	/* Who does not listen misses the answer. */
	pipe_ignore();
	if (!strncmp(text, "fd:", 3))
		return open_numbers(control, text + 3, text);
	if (!strncmp(text, "fifo:", 5))
		return open_fifos(control, text + 5, text);
	return say_no_control(text);
}

void control_close(struct control *control)
{
	if (control->are_ours && control->commands >= 0)
		close(control->commands);
	if (control->are_ours && control->answers >= 0)
		close(control->answers);
	control->commands = -1;
	control->answers = -1;
}

static control_call find_call(const struct control_calls *calls, const char *command)
{
	if (!strcmp(command, "enable"))
		return calls->enable;
	if (!strcmp(command, "disable"))
		return calls->disable;
	return !strcmp(command, "snapshot") ? calls->snapshot : NULL;
}

/* Returns one of enum run_next, or a negative errno, of which the user has been told. */
static int obey(struct control *control, const struct control_calls *calls, const char *command)
{
	static const char answer[] = "ack\n";
	control_call call = find_call(calls, command);
	int next = RUN_GO_ON;

	if (call) {
		next = call(calls->arg);
	} else if (!strcmp(command, "stop")) {
		next = RUN_END;
	} else if (strcmp(command, "ping") != 0) {
		say_error("--control: '%s' is not one of enable, disable, %sping and stop", command,
			  calls->snapshot ? "snapshot, " : "");
		return RUN_GO_ON;
	}
	if (next >= 0 && control->answers >= 0 &&
	    write(control->answers, answer, sizeof(answer) - 1) < 0)
		return next;
	return next;
}

/* The whole lines of what has come; the rest waits for its end. */
static int obey_lines(struct control *control, const struct control_calls *calls)
{
	char *line = control->line, *end;
	int next = RUN_GO_ON;

	if (control->is_too_long) {
		end = memchr(line, '\n', control->length);
		line = end ? end + 1 : line + control->length;
		control->length -= (size_t)(line - control->line);
		control->is_too_long = !end;
	}

	while (next == RUN_GO_ON && (end = memchr(line, '\n', control->length)) != NULL) {
		*end = '\0';
		control->length -= (size_t)(end + 1 - line);
		next = obey(control, calls, line);
		line = end + 1;
	}
	memmove(control->line, line, control->length);
	if (control->length == sizeof(control->line)) {
		say_error("--control: a line has more than %zu characters: it is left out",
			  sizeof(control->line));
		control->length = 0;
		control->is_too_long = true;
	}
	return next;
}

/**
 * control_read() - obey what has come
 * @control: the commands.
 * @calls: what does it.
 *
 * Return: one of enum run_next, or a negative errno, of which the user has been told.
 */
int control_read(struct control *control, const struct control_calls *calls)
{
	ssize_t got = read(control->commands, control->line + control->length,
			   sizeof(control->line) - control->length);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return RUN_GO_ON;
	if (got <= 0)
		return RUN_NO_MORE;
	control->length += (size_t)got;
	return obey_lines(control, calls);
}
