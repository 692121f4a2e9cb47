// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process takes the rights of another thread: its namespaces, user, groups and capabilities.
 * Whether it has them then is not for this file to say: who asked for it compares.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "caller.h"

enum { REAL, EFFECTIVE, SAVED, OF_FILES, IDS };

static int enter(const struct caller *caller, const char *which, int type)
{
	char path[40];
	int fd, ret;

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", caller->tid, which);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = setns(fd, type) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* Numbers of a line; returns how many, at most @room. */
static size_t numbers(const char *line, unsigned int *list, size_t room)
{
	size_t n = 0;
	char *end;

	for (; n < room; line = end) {
		unsigned long number = strtoul(line, &end, 10);

		if (end == line)
			break;
		list[n++] = (unsigned int)number;
	}
	return n;
}

static int take_groups(const char *line)
{
	const size_t room = strlen(line) / 2 + 1;
	gid_t *groups = calloc(room, sizeof(*groups));
	int ret;

	if (!groups)
		return -ENOMEM;
	ret = setgroups(numbers(line, groups, room), groups) < 0 ? -errno : 0;
	free(groups);
	return ret;
}

static int take_ids(const struct caller *now)
{
	unsigned int uid[IDS], gid[IDS];

	if (numbers(now->rights[CALLER_UID], uid, IDS) != IDS ||
	    numbers(now->rights[CALLER_GID], gid, IDS) != IDS)
		return -EINVAL;
	if (setresgid(gid[REAL], gid[EFFECTIVE], gid[SAVED]) < 0)
		return -errno;
	setfsgid(gid[OF_FILES]);
	if (setresuid(uid[REAL], uid[EFFECTIVE], uid[SAVED]) < 0)
		return -errno;
	if (uid[OF_FILES] != uid[EFFECTIVE])
		setfsuid(uid[OF_FILES]);
	return 0;
}

static int take_capabilities(const struct caller *caller)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	uint64_t permitted = strtoull(caller->rights[CALLER_PERMITTED], NULL, 16);
	uint64_t effective = strtoull(caller->rights[CALLER_EFFECTIVE], NULL, 16);

	for (int i = 0; i < 2; i++) {
		data[i].permitted = (uint32_t)(permitted >> 32 * i);
		data[i].effective = (uint32_t)(effective >> 32 * i);
	}
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

static bool differs(const struct caller *one, const struct caller *other, unsigned int right)
{
	return strcmp(one->rights[right], other->rights[right]) != 0;
}

/* Within the caller's user namespace, ids are those that it has there. */
static int take_user(const struct caller *caller, const struct caller *self)
{
	struct caller now;
	int ret = caller_read(caller->tid, &now);

	if (ret == 0)
		ret = prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 ? -errno : 0;
	if (ret == 0 && differs(caller, self, CALLER_GROUPS))
		ret = take_groups(now.rights[CALLER_GROUPS]);
	if (ret == 0 && (differs(caller, self, CALLER_UID) || differs(caller, self, CALLER_GID)))
		ret = take_ids(&now);
	caller_free(&now);
	return ret ? ret : take_capabilities(caller);
}

/**
 * caller_become() - take a thread's rights
 * @caller: the thread.
 * @self: this process, as it is.
 *
 * The pid namespace is that of what this process starts afterwards.
 *
 * Return: 0 or a negative errno; then it may have some of them.
 */
int caller_become(const struct caller *caller, const struct caller *self)
{
	int ret = 0;

	if (caller->user_namespace != self->user_namespace)
		ret = enter(caller, "user", CLONE_NEWUSER);
	if (ret == 0 && caller->pid_namespace != self->pid_namespace)
		ret = enter(caller, "pid", CLONE_NEWPID);
	return ret ? ret : take_user(caller, self);
}
