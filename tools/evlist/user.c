// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whoever runs for a user, as a list of processes: record -u, top -u.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "evlist/measure.h"

/* Returns whether there is such a user. */
static bool find_uid(const char *text, uid_t *uid)
{
	const struct passwd *user = getpwnam(text);
	unsigned long number;
	char *end;

	if (user) {
		*uid = user->pw_uid;
		return true;
	}
	if (!isdigit((unsigned char)*text))
		return false;
	number = strtoul(text, &end, 10);
	*uid = (uid_t)number;
	return !*end && number < (uid_t)-1;
}

/* Kernel threads have no program. */
static bool has_program(int proc, const char *pid)
{
	char path[64], first;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%.16s/cmdline", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, &first, 1);
	close(fd);
	return got == 1;
}

static bool is_of(int proc, const char *pid, uid_t uid)
{
	struct stat stat;

	return fstatat(proc, pid, &stat, 0) == 0 && stat.st_uid == uid && atoi(pid) != getpid() &&
	       has_program(proc, pid);
}

/* The processes of @uid, with commas between; NULL without memory */
static char *list_processes(DIR *proc, uid_t uid)
{
	const struct dirent *entry;
	char *list = NULL;
	size_t size;
	FILE *out = open_memstream(&list, &size);

	if (!out)
		return NULL;
	while ((entry = readdir(proc)))
		if (isdigit((unsigned char)*entry->d_name) && is_of(dirfd(proc), entry->d_name, uid))
			fprintf(out, "%s%s", ftell(out) ? "," : "", entry->d_name);
	if (fclose(out) == 0)
		return list;
	free(list);
	return NULL;
}

/**
 * measure_user() - measure the processes that a user has now, and what they start
 * @measure: gets them as targets.
 * @text: the user's name or number.
 *
 * A process is its effective user's, as its folder in /proc is; this one is left out.
 *
 * Return: 0 or an exit status.
 */
int measure_user(struct measure *measure, const char *text)
{
	char *list;
	uid_t uid;
	DIR *proc;
	int ret;

	if (!find_uid(text, &uid))
		return say_usage(measure->command, "-u %s: there is no such user", text);
	proc = opendir("/proc");
	list = proc ? list_processes(proc, uid) : NULL;
	if (proc)
		closedir(proc);
	if (!list) {
		say_error("the processes of %s cannot be listed: is /proc mounted?", text);
		return STATUS_FAILED;
	}
	if (*list) {
		ret = measure_processes(measure, list);
	} else {
		say_error("-u %s: no process of this user runs", text);
		ret = STATUS_FAILED;
	}
	free(list);
	return ret;
}
