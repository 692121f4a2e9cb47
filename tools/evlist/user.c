// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whoever runs for a user, as a list of processes: record -u, top -u.
 */
#include <ctype.h>
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

/**
 * struct owned - processes of a user are listed
 * @uid: whose.
 * @out: gets them, with commas between.
 */
struct owned {
	uid_t uid;
	FILE *out;
};

/* Kernel threads have no program. */
static bool has_program(int pid)
{
	char path[64], first;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, &first, 1);
	close(fd);
	return got == 1;
}

static void add_owned(void *arg, int pid)
{
	const struct owned *owned = arg;
	struct stat stats;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &stats) == 0 && stats.st_uid == owned->uid && pid != getpid() && has_program(pid))
		fprintf(owned->out, "%s%d", ftell(owned->out) ? "," : "", pid);
}

/* NULL if there is no memory, or no /proc */
static char *list_processes(uid_t uid)
{
	char *list = NULL;
	size_t size;
	struct owned owned = { .uid = uid, .out = open_memstream(&list, &size) };
	bool read;

	if (!owned.out)
		return NULL;
	read = numbers_visit("/proc", add_owned, &owned);
	if (fclose(owned.out) == 0 && read)
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
	int ret;

	if (!find_uid(text, &uid))
		return say_usage(measure->command, "-u %s: there is no such user", text);
	list = list_processes(uid);
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
