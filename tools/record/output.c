// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a recording goes: to a file without a name, or with a temporary one where there is no such
 * thing, until it is certain that there will be one, so that a slip of the finger does not cost what
 * was recorded before; then that is kept under another name, and the new one gets its own. So the
 * command that is measured sees nothing that goes away again. A recording with a copy of the
 * kernel's code is a directory, of which the names are known: nothing else is ever removed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"

/* Links that lead to links; more of them go round in a circle. */
#define LINKS_MAX 40

/* Milliseconds; how often a pipe is tried that nobody reads yet */
#define PIPE_INTERVAL 20

static const char *const directory_files[] = {
	"data", "kcore_dir/kcore", "kcore_dir/kallsyms", "kcore_dir/modules",
};

/* "FOLDER/NAME" as a new string; NULL without memory. */
static char *join(const char *folder, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

static int say_cannot_write(const struct output *output, int error)
{
	say_error("cannot write to '%s': %s", output->name, strerror(-error));
	return error;
}

/* What a link at @path leads to, as a new string; NULL with errno set. */
static char *link_target(const char *path)
{
	char text[PATH_MAX], *folder, *target;
	ssize_t length = readlink(path, text, sizeof(text) - 1);
	const char *slash = strrchr(path, '/');

	if (length < 0)
		return NULL;
	text[length] = '\0';
	if (*text == '/' || !slash)
		return strdup(text);
	folder = strndup(path, (size_t)(slash - path));
	target = folder ? join(folder, text) : NULL;
	free(folder);
	return target;
}

/* The recording is where a link leads to, whether that is there yet or not. */
static int follow_links(struct output *output)
{
	struct stat about;

	output->path = strdup(output->name);
	for (int i = 0; output->path; i++) {
		char *target;

		if (lstat(output->path, &about) < 0 || !S_ISLNK(about.st_mode))
			return 0;
		if (i == LINKS_MAX)
			return -ELOOP;
		target = link_target(output->path);
		free(output->path);
		output->path = target;
	}
	return -ENOMEM;
}

/* Is it a directory that was made for a recording? */
static bool is_recording(const char *path)
{
	bool found = true;

	for (size_t i = 0; i < 2 && found; i++) {
		char *inner = join(path, i ? "kcore_dir" : "data");

		found = inner && access(inner, F_OK) == 0;
		free(inner);
	}
	return found;
}

/*
 * What is there must be replaceable: nothing, a file, or such a directory. Returns 1 for what
 * is only written to.
 */
static int check_name(const struct output *output)
{
	struct stat about;

	if (!strcmp(output->name, "-"))
		return 1;
	if (stat(output->name, &about) < 0)
		return errno == ENOENT ? 0 : say_cannot_write(output, -errno);
	if (S_ISDIR(about.st_mode) && !is_recording(output->name)) {
		say_error("cannot write to '%s': it is a directory; give the name of a file with -o",
			  output->name);
		return -EISDIR;
	}
	return !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

/* A pipe is opened when somebody reads it, unless a signal asks us to end before. */
static int pipe_open(const struct output *output, int signals)
{
	struct pollfd wait = { .fd = signals, .events = POLLIN };
	int fd;

	while ((fd = open(output->name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) < 0) {
		struct stat about;

		if (errno != ENXIO || stat(output->name, &about) < 0 || !S_ISFIFO(about.st_mode))
			return -errno;
		if (poll(&wait, 1, PIPE_INTERVAL) > 0)
			return -EINTR;
	}
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

/* Not a file but what is there already, or our own output, which may be a file at its beginning */
static int stream_open(struct output *output, bool kcore, int signals)
{
	struct stat about;
	int fd;

	if (kcore) {
		say_error("cannot write to '%s': with --kcore it is a directory", output->name);
		return -ENOTDIR;
	}
	fd = strcmp(output->name, "-") ? pipe_open(output, signals) :
					 fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	if (fd == -1)
		fd = -errno;
	if (fd < 0)
		return say_cannot_write(output, fd);
	output->fd = fd;
	if (isatty(fd)) {
		say_error("cannot record to '%s': it is a terminal; give a file with -o FILE, or pipe it to 'perf report -i -'",
			  output->name);
		return -ENOTTY;
	}
	output->is_stream = fstat(fd, &about) < 0 || !S_ISREG(about.st_mode) || about.st_size ||
			    lseek(fd, 0, SEEK_CUR) || fcntl(fd, F_GETFL) & O_APPEND;
	return 0;
}

/* A file or such a directory; nothing is done if there is neither. */
static int remove_recording(const char *path)
{
	struct stat about;
	char *inner;

	if (lstat(path, &about) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISDIR(about.st_mode))
		return unlink(path) < 0 ? -errno : 0;
	for (size_t i = 0; i < ARRAY_LEN(directory_files); i++) {
		inner = join(path, directory_files[i]);
		if (inner)
			unlink(inner);
		free(inner);
	}
	inner = join(path, "kcore_dir");
	if (inner)
		rmdir(inner);
	free(inner);
	return rmdir(path) < 0 ? -errno : 0;
}

static int kcore_open(struct output *output)
{
	int fd = kcore_create(output->temporary);

	if (fd < 0)
		return say_cannot_write(output, fd);
	output->fd = fd;
	return 0;
}

/* In the directory of the recording; whoever has it as a descriptor can name it later. */
static int unnamed_open(const struct output *output)
{
	const char *slash = strrchr(output->path, '/');
	char *folder = slash ? strndup(output->path, (size_t)(slash - output->path) + 1) : strdup(".");
	int fd = -1;

	if (folder && access("/proc/self/fd", X_OK) == 0)
		fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	free(folder);
	return fd;
}

/* Returns 0 or a negative errno; then it has no name. */
static int give_name(struct output *output)
{
	char *last = output->temporary + strlen(output->temporary) - strlen("XXXXXX");
	char link[40];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", output->fd);
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(last, strlen("XXXXXX") + 1, "%06u", ((unsigned int)getpid() * 1000 + i) % 1000000);
		if (linkat(AT_FDCWD, link, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) == 0) {
			output->is_unnamed = false;
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return -errno;
}

/**
 * output_open() - make a place for a recording
 * @output: filled; to be given to output_close().
 * @name: of the file; or of the directory, if @kcore; "-" is our own output.
 * @kcore: it will have a copy of the kernel's code.
 * @signals: readable as soon as nobody wants to wait any more for who reads a pipe.
 *
 * What has that name stays there until output_keep().
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int output_open(struct output *output, const char *name, bool kcore, int signals)
{
	int ret;

	memset(output, 0, sizeof(*output));
	output->fd = -1;
	output->name = name;
	ret = check_name(output);
	if (ret)
		return ret < 0 ? ret : stream_open(output, kcore, signals);
	ret = follow_links(output);
	if (ret < 0)
		return say_cannot_write(output, ret);
	if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
		output->temporary = NULL;
		return say_cannot_write(output, -ENOMEM);
	}
	if (kcore)
		return mkdtemp(output->temporary) ? kcore_open(output) :
						    say_cannot_write(output, -errno);
	output->fd = unnamed_open(output);
	output->is_unnamed = output->fd >= 0;
	if (!output->is_unnamed)
		output->fd = mkostemp(output->temporary, O_CLOEXEC);
	return output->fd < 0 ? say_cannot_write(output, -errno) : 0;
}

/* Let nothing be in the way of what was recorded before; only what was recorded may go. */
static int make_room(const char *old)
{
	struct stat about;

	if (lstat(old, &about) < 0)
		return -errno;
	return S_ISDIR(about.st_mode) && !is_recording(old) ? -EISDIR : remove_recording(old);
}

/* What was recorded before gets another name; what has that is gone. */
static int keep_old(const struct output *output)
{
	struct stat about;
	char *old;
	int ret = 0;

	if (stat(output->path, &about) < 0)
		return errno == ENOENT ? 0 : -errno;
	/* An empty file is nobody's loss. */
	if (S_ISREG(about.st_mode) && !about.st_size)
		return unlink(output->path) < 0 ? -errno : 0;
	if (asprintf(&old, "%s.old", output->path) < 0)
		return -ENOMEM;
	/* In one step, unless one of them is a directory */
	if (rename(output->path, old) < 0) {
		ret = errno == EISDIR || errno == ENOTDIR || errno == ENOTEMPTY ||
		      errno == EEXIST ? make_room(old) : -errno;
		if (ret == 0 && rename(output->path, old) < 0)
			ret = -errno;
	}
	free(old);
	return ret;
}

/**
 * output_keep() - the recording takes its place, and what was there is kept as NAME.old
 * @output: that is open.
 *
 * If that is not possible the recording stays where it is, and the user has been told where.
 */
void output_keep(struct output *output)
{
	int ret;

	if (!output->temporary)
		return;
	ret = output->is_unnamed ? give_name(output) : 0;
	if (ret < 0) {
		say_error("cannot name the recording '%s': %s; it goes with this command",
			  output->path, strerror(-ret));
		return;
	}
	ret = keep_old(output);
	if (ret < 0)
		say_error("cannot rename '%s' to '%s.old': %s; the recording is in '%s'",
			  output->path, output->path, strerror(-ret), output->temporary);
	else if (rename(output->temporary, output->path) < 0)
		say_error("cannot rename '%s' to '%s': %s; the recording is in the former",
			  output->temporary, output->path, strerror(errno));
	free(output->temporary);
	output->temporary = NULL;
}

/**
 * output_close() - close it, and remove what was not kept
 * @output: that was opened, or not.
 *
 * Return: 0 or a negative errno.
 */
int output_close(struct output *output)
{
	int ret = 0;

	if (output->fd >= 0 && close(output->fd) < 0)
		ret = -errno;
	if (output->temporary && !output->is_unnamed)
		remove_recording(output->temporary);
	free(output->temporary);
	free(output->path);
	return ret;
}
