// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of recorded programs, where perf keeps its own and finds ours: the file is
 * ~/.debug/PATH/ID/elf, and ~/.debug/.build-id/ID's first byte/the rest leads to its folder.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"

/**
 * keep_open() - the folder of copies
 *
 * Return: its descriptor; -ENOENT if there is no home, or it is somebody else's: with that
 * user's links in it, a privileged recorder would write wherever he likes; or another
 * negative errno.
 */
int keep_open(void)
{
	const char *home = getenv("HOME");
	struct stat stat;
	int fd, copies;

	if (!home || !*home)
		return -ENOENT;
	fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat) < 0 || stat.st_uid != geteuid()) {
		close(fd);
		return -ENOENT;
	}
	mkdirat(fd, ".debug", 0755);
	copies = openat(fd, ".debug", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(fd);
	return copies < 0 ? -errno : copies;
}

/* Make the folders on the way to @path, and itself. */
static int make_folders(int copies, char *path)
{
	for (char *slash = path; slash; *slash = '/') {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (mkdirat(copies, path, 0755) < 0 && errno != EEXIST)
			return -errno;
		if (!slash)
			return 0;
	}
	return 0;
}

static int copy_bytes(int to, int from, off_t left)
{
	if (lseek(from, 0, SEEK_SET) < 0)
		return -errno;
	while (left > 0) {
		/* The first shares blocks where the file system can, and not with all of them. */
		ssize_t copied = copy_file_range(from, NULL, to, NULL, (size_t)left, 0);

		if (copied < 0)
			copied = sendfile(to, from, NULL, (size_t)left);
		if (copied <= 0)
			return copied ? -errno : -EIO; /* it has become shorter */
		left -= copied;
	}
	return 0;
}

/* Whoever reads @folder finds all of the file there, or none of it. */
static int copy_file(int copies, const char *folder, int from)
{
	char path[PATH_MAX], part[PATH_MAX];
	struct stat stat;
	int to, ret;

	if (snprintf(part, sizeof(part), "%s/elf.%d", folder, getpid()) >= (int)sizeof(part))
		return -ENAMETOOLONG;
	snprintf(path, sizeof(path), "%s/elf", folder);
	if (fstat(from, &stat) < 0)
		return -errno;
	to = openat(copies, part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    stat.st_mode & 0755);
	if (to < 0)
		return -errno;
	ret = copy_bytes(to, from, stat.st_size);
	if (close(to) < 0 && ret == 0)
		ret = -errno;
	if (ret == 0 && renameat(copies, part, copies, path) < 0)
		ret = -errno;
	if (ret < 0)
		unlinkat(copies, part, 0);
	return ret;
}

/**
 * keep_copy() - copy a program to where it is found by its build id
 * @copies: the folder, of keep_open().
 * @fd: the program.
 * @path: what it is called.
 * @id: its build id.
 *
 * Return: 0, also if it is there already; or a negative errno, and nothing is left of it.
 */
int keep_copy(int copies, int fd, const char *path, const struct dso_build_id *id)
{
	char hex[2 * PERFFILE_BUILD_ID_MAX + 1], link[sizeof(".build-id/xx/") + sizeof(hex)];
	char folder[PATH_MAX], target[PATH_MAX + 8];
	int ret;

	/* Nobody's program takes the place of a link. */
	if (!strncmp(path, "/.build-id/", strlen("/.build-id/")))
		return 0;
	for (unsigned int i = 0; i < id->size; i++)
		snprintf(hex + (size_t)2 * i, 3, "%02x", id->bytes[i]);
	snprintf(link, sizeof(link), ".build-id/%.2s/%s", hex, hex + 2);
	if (faccessat(copies, link, F_OK, 0) == 0)
		return 0;
	if (snprintf(folder, sizeof(folder), "%s/%s", path + 1, hex) >= (int)sizeof(folder))
		return -ENAMETOOLONG;
	ret = make_folders(copies, folder);
	if (ret == 0)
		ret = copy_file(copies, folder, fd);
	if (ret < 0)
		return ret;
	snprintf(target, sizeof(target), "../../%s", folder);
	link[sizeof(".build-id/xx") - 1] = '\0';
	ret = make_folders(copies, link);
	link[sizeof(".build-id/xx") - 1] = '/';
	if (ret == 0)
		unlinkat(copies, link, 0); /* it leads nowhere, as faccessat() said */
	if (ret == 0 && symlinkat(target, copies, link) < 0 && errno != EEXIST)
		ret = -errno;
	return ret;
}
