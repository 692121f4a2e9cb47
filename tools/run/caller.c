// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a thread may do, as /proc tells it. A thread that waits in a system call cannot change
 * that, so it stays true as long as its call waits; and that it does is asked afterwards.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "caller.h"

static const char *const names[CALLER_RIGHTS] = {
	[CALLER_UID] = "Uid:", [CALLER_GID] = "Gid:", [CALLER_GROUPS] = "Groups:",
	[CALLER_PERMITTED] = "CapPrm:", [CALLER_EFFECTIVE] = "CapEff:",
};

static int take_line(struct caller *caller, const char *line)
{
	const char *last = strrchr(line, '\t');

	if (!strncmp(line, "Tgid:", 5))
		caller->process = atoi(line + 5);
	if (!strncmp(line, "NSpid:", 6) && last)
		caller->own_tid = atoi(last);
	for (unsigned int i = 0; i < CALLER_RIGHTS; i++) {
		if (strncmp(line, names[i], strlen(names[i])))
			continue;
		caller->rights[i] = strdup(line + strlen(names[i]));
		return caller->rights[i] ? 0 : -ENOMEM;
	}
	return 0;
}

static int read_status(struct caller *caller)
{
	char path[32], *line = NULL;
	size_t room = 0;
	FILE *file;
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", caller->tid);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	while (ret == 0 && getline(&line, &room, file) >= 0)
		ret = take_line(caller, line);
	free(line);
	fclose(file);
	for (unsigned int i = 0; ret == 0 && i < CALLER_RIGHTS; i++)
		if (!caller->rights[i])
			ret = -ESRCH;
	return ret == 0 && !caller->process ? -ESRCH : ret;
}

/* proc(5), /proc/PID/stat, field 22; the second field is a name that may have anything in it. */
static int read_start(struct caller *caller)
{
	char path[32], line[1024], *field;
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", caller->tid);
	file = fopen(path, "re");
	if (!file)
		return -ESRCH;
	length = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[length] = '\0';
	field = strrchr(line, ')');
	for (int i = 2; field && i < 22; i++)
		field = strchr(field + 1, ' ');
	if (!field)
		return -ESRCH;
	caller->start = strtoull(field, NULL, 10);
	return 0;
}

static int read_namespace(const struct caller *caller, const char *which, ino_t *number)
{
	struct stat file;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", caller->tid, which);
	if (stat(path, &file) < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	*number = file.st_ino;
	return 0;
}

/* Without a security module there is none. */
static void read_label(struct caller *caller)
{
	char path[40];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/attr/current", caller->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	length = read(fd, caller->label, sizeof(caller->label) - 1);
	caller->label[length > 0 ? length : 0] = '\0';
	close(fd);
}

/**
 * caller_read() - find out what a thread may do
 * @tid: which.
 * @caller: filled; caller_free() whatever comes of it.
 *
 * Return: 0, -ESRCH if it has gone, -EACCES if we may not look into it, -ENOMEM.
 */
int caller_read(pid_t tid, struct caller *caller)
{
	int ret;

	*caller = (struct caller){ .tid = tid };
	ret = read_status(caller);
	if (ret == 0)
		ret = read_start(caller);
	if (ret == 0)
		ret = read_namespace(caller, "user", &caller->user_namespace);
	if (ret == 0)
		ret = read_namespace(caller, "pid", &caller->pid_namespace);
	read_label(caller);
	return ret;
}

/**
 * caller_free() - forget it
 * @caller: from caller_read().
 */
void caller_free(struct caller *caller)
{
	for (unsigned int i = 0; i < CALLER_RIGHTS; i++)
		free(caller->rights[i]);
}

/**
 * caller_is_like() - may one thread do what the other may, no less and no more?
 * @one: from caller_read(), by the same process as
 * @other: likewise.
 */
bool caller_is_like(const struct caller *one, const struct caller *other)
{
	for (unsigned int i = 0; i < CALLER_RIGHTS; i++)
		if (strcmp(one->rights[i], other->rights[i]))
			return false;
	return !strcmp(one->label, other->label) &&
		one->user_namespace == other->user_namespace &&
		one->pid_namespace == other->pid_namespace;
}
