// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a recording is kept that cannot be mapped as it is: one that comes through a pipe,
 * or what its compressed records have in them. It is a file without a name in TMPDIR, so
 * that the memory that it takes can be had back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perffile.h"

#define COPY_SIZE 65536

/* The tool may have capabilities that its user has not. */
static const char *spool_folder(void)
{
	const char *folder = secure_getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

/**
 * perffile_spool_failed() - say that nothing can be written there
 * @error: filled; errno says why.
 *
 * Return: -EBADMSG.
 */
int perffile_spool_failed(struct perffile_error *error)
{
	return perffile_fail(error, "it cannot be copied to '%s': %s (the variable TMPDIR may name another directory)",
			     spool_folder(), strerror(errno));
}

/**
 * perffile_spool_new() - make a place
 * @error: why not.
 *
 * Return: a file to write to, to be given to perffile_spool_map(), or NULL.
 */
FILE *perffile_spool_new(struct perffile_error *error)
{
	FILE *spool = NULL;
	char *path;
	int fd;

	if (asprintf(&path, "%s/pmuctl.XXXXXX", spool_folder()) < 0) {
		perffile_no_memory(error);
		return NULL;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0) {
		unlink(path);
		spool = fdopen(fd, "w+");
	}
	free(path);
	if (spool)
		return spool;
	perffile_spool_failed(error);
	if (fd >= 0)
		close(fd);
	return NULL;
}

/**
 * perffile_spool_map() - all that was written
 * @spool: closed, whatever is returned.
 * @data: set; to be unmapped unless @size is 0.
 * @size: set to the number of bytes.
 * @error: why not.
 *
 * Return: 0, -EBADMSG.
 */
int perffile_spool_map(FILE *spool, const void **data, size_t *size,
		       struct perffile_error *error)
{
	struct stat about;
	int ret = 0;

	*data = "";
	*size = 0;
	if (fflush(spool) || fstat(fileno(spool), &about) < 0) {
		ret = perffile_spool_failed(error);
	} else if (about.st_size) {
		*size = (size_t)about.st_size;
		*data = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fileno(spool), 0);
		if (*data == MAP_FAILED)
			ret = perffile_spool_failed(error);
	}
	fclose(spool);
	return ret;
}

/**
 * perffile_spool_copy() - all that comes from a pipe
 * @fd: of the pipe; it may be set not to wait.
 * @data: set; to be unmapped unless @size is 0.
 * @size: set to the number of bytes.
 * @error: why not.
 *
 * Return: 0, -EBADMSG.
 */
int perffile_spool_copy(int fd, const void **data, size_t *size,
			struct perffile_error *error)
{
	FILE *spool = perffile_spool_new(error);
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	char bytes[COPY_SIZE];
	ssize_t got;

	if (!spool)
		return -EBADMSG;
	while ((got = read(fd, bytes, sizeof(bytes)))) {
		if (got < 0 && errno == EAGAIN)
			poll(&wait, 1, -1);
		else if (got < 0 && errno != EINTR)
			break;
		else if (got > 0 && fwrite(bytes, (size_t)got, 1, spool) != 1)
			break;
	}
	if (got) {
		if (got < 0)
			perffile_fail(error, "%s", strerror(errno));
		else
			perffile_spool_failed(error);
		fclose(spool);
		return -EBADMSG;
	}
	return perffile_spool_map(spool, data, size, error);
}
