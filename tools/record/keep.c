// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of recorded programs, where perf keeps its own and finds ours: the file is
 * ~/.debug/PATH/ID/elf, and ~/.debug/.build-id/ID's first byte/the rest leads to its folder.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "record.h"

#define COPY_MAX	(1l << 30)	/* bytes of a program that is copied */
#define PIECE		(16l << 20)	/* after which signals are looked at */

/* A folder that nobody else may write to; -1: it is not, errno being 0, or cannot be opened. */
static int open_own(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat stat;

	if (fd < 0)
		return -1;
	if (fstat(fd, &stat) == 0 && stat.st_uid == geteuid() && !(stat.st_mode & 022))
		return fd;
	close(fd);
	errno = 0;
	return -1;
}

/**
 * keep_open() - the folder of copies
 *
 * Return: its descriptor; -ENOENT if there is no home, or others may write to that or to the
 * folder: with their links in it, a privileged recorder would write wherever they like; or
 * another negative errno.
 */
int keep_open(void)
{
	const char *home = getenv("HOME");
	int fd, copies, error;

	fd = home && *home ? open_own(AT_FDCWD, home) : -1;
	if (fd < 0)
		return -ENOENT;
	mkdirat(fd, ".debug", 0755);
	copies = open_own(fd, ".debug");
	error = errno ? errno : ENOENT;
	close(fd);
	return copies < 0 ? -error : copies;
}

/* A folder of @folder, which is made if it is not there. No link is followed. */
static int enter(int folder, const char *name)
{
	if (mkdirat(folder, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	folder = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return folder < 0 ? -errno : folder;
}

/* The same, and all folders on the way; @path is changed meanwhile. */
static int enter_all(int copies, char *path)
{
	int folder = dup(copies), next;
	char *part, *at = NULL;

	for (part = strtok_r(path, "/", &at); part && folder >= 0; part = strtok_r(NULL, "/", &at)) {
		next = enter(folder, part);
		close(folder);
		folder = next;
	}
	return folder;
}

/* Whoever asks us to end waits for no copy. */
static bool end_is_wanted(void)
{
	sigset_t waiting;

	return sigpending(&waiting) == 0 && (sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGTERM) ||
					     sigismember(&waiting, SIGHUP) || sigismember(&waiting, SIGQUIT));
}

static int copy_bytes(int to, int from, off_t left)
{
	if (lseek(from, 0, SEEK_SET) < 0)
		return -errno;
	while (left > 0) {
		size_t piece = (size_t)(left < PIECE ? left : PIECE);
		/* The first shares blocks where the file system can, and not with all of them. */
		ssize_t copied = copy_file_range(from, NULL, to, NULL, piece, 0);

		if (copied < 0)
			copied = sendfile(to, from, NULL, piece);
		if (copied <= 0)
			return copied ? -errno : -EIO; /* it has become shorter */
		left -= copied;
		if (end_is_wanted())
			return -EINTR;
	}
	return 0;
}

/* A twentieth of the file system stays free. */
static int check_room(int folder, off_t size)
{
	struct statvfs system;
	uint64_t unit;

	if (size > COPY_MAX)
		return -EFBIG;
	if (fstatvfs(folder, &system) < 0)
		return -errno;
	unit = system.f_frsize ? system.f_frsize : system.f_bsize;
	if (!system.f_blocks)
		return 0; /* in memory, and nobody counts */
	return system.f_bavail * unit < (uint64_t)size + system.f_blocks / 20 * unit ? -ENOSPC : 0;
}

/*
 * Whoever reads @folder finds all of the file there, or none of it; and nothing of it stays there
 * if we are killed, where the file system has files without a name.
 */
static int copy_file(int folder, int from)
{
	char part[32], name[32] = ".";
	struct stat stat;
	int to, ret;

	if (fstat(from, &stat) < 0)
		return -errno;
	ret = check_room(folder, stat.st_size);
	if (ret < 0)
		return ret;
	snprintf(part, sizeof(part), "elf.%d", getpid());
	to = openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, stat.st_mode & 0755);
	if (to < 0) {
		snprintf(name, sizeof(name), "%s", part);
		to = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, stat.st_mode & 0755);
	}
	if (to < 0)
		return -errno;
	ret = copy_bytes(to, from, stat.st_size);
	if (ret == 0 && *name == '.') {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", to);
		if (linkat(AT_FDCWD, name, folder, "elf", AT_SYMLINK_FOLLOW) < 0 && errno != EEXIST)
			ret = -errno;
	} else if (ret == 0 && renameat(folder, name, folder, "elf") < 0) {
		ret = -errno;
	}
	close(to);
	unlinkat(folder, part, 0);
	return ret;
}

/* The kernel's paths are so, but for those of what is not in our tree of folders. */
static bool is_path(const char *path)
{
	if (*path != '/' || !strcmp(path, "/.build-id") || !strncmp(path, "/.build-id/", strlen("/.build-id/")))
		return false; /* nobody's program takes the place of a link */
	for (; *path; path += 1 + strcspn(path + 1, "/")) {
		size_t length = strcspn(path + 1, "/");

		if (!length || (path[1] == '.' && (length == 1 || (length == 2 && path[2] == '.'))))
			return false;
	}
	return true;
}

/* Let ~/.debug/.build-id/xx/yyy lead to the folder. */
static int add_link(int copies, const char *hex, const char *folder)
{
	char *path, *target;
	int links, ret;

	if (asprintf(&path, ".build-id/%.2s", hex) < 0)
		return -ENOMEM;
	links = enter_all(copies, path);
	free(path);
	if (links < 0)
		return links;
	ret = asprintf(&target, "../../%s", folder) < 0 ? -ENOMEM : 0;
	if (ret == 0) {
		unlinkat(links, hex + 2, 0); /* if there is one, it leads nowhere */
		if (symlinkat(target, links, hex + 2) < 0 && errno != EEXIST)
			ret = -errno;
		free(target);
	}
	close(links);
	return ret;
}

/**
 * keep_copy() - copy a program to where it is found by its build id
 * @copies: the folder, of keep_open().
 * @fd: the program.
 * @path: what it is called.
 * @id: its build id.
 *
 * Return: 0, also if it is there already, or is nothing that has a place; -EFBIG: it is larger than
 * 1 GiB; -ENOSPC: less than a twentieth of the file system would be left; -EINTR if a signal that
 * ends us waits; or another negative errno. Then nothing is left of it.
 */
int keep_copy(int copies, int fd, const char *path, const struct dso_build_id *id)
{
	char hex[2 * PERFFILE_BUILD_ID_MAX + 1], link[sizeof(".build-id/xx//elf") + sizeof(hex)];
	char *folder, *parts;
	int place, ret;

	if (id->size < 2 || !is_path(path))
		return 0;
	for (unsigned int i = 0; i < id->size; i++)
		snprintf(hex + (size_t)2 * i, 3, "%02x", id->bytes[i]);
	snprintf(link, sizeof(link), ".build-id/%.2s/%s/elf", hex, hex + 2);
	if (faccessat(copies, link, F_OK, 0) == 0)
		return 0;
	if (asprintf(&folder, "%s/%s", path + 1, hex) < 0)
		return -ENOMEM;
	parts = strdup(folder);
	place = parts ? enter_all(copies, parts) : -ENOMEM;
	ret = place < 0 ? place : copy_file(place, fd);
	if (place >= 0)
		close(place);
	if (ret == 0)
		ret = add_link(copies, hex, folder);
	free(parts);
	free(folder);
	return ret;
}
