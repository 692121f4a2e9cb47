// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl run --preload": the command, with the library that takes its calls.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

#define LIBRARY	"libpmuctl-perf.so"

/* Beside the command, as it was built, or where it was installed */
static const char *find_library(char *path, size_t size)
{
	const char *named = getenv(RUN_ENV_LIBRARY);
	ssize_t length = readlink("/proc/self/exe", path, size - sizeof(LIBRARY));
	char *slash;

	if (named)
		return named;
	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash) {
		strcpy(slash + 1, LIBRARY);
		if (access(path, R_OK) == 0)
			return path;
	}
	return PMUCTL_LIBDIR "/" LIBRARY;
}

/* Before what is to be loaded already */
static int set_preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char *all;
	int ret;

	if (asprintf(&all, "%s%s%s", library, others ? ":" : "", others ? others : "") < 0)
		return -1;
	ret = setenv("LD_PRELOAD", all, 1);
	free(all);
	return ret;
}

static int set(const char *name, bool is)
{
	return is ? setenv(name, "1", 1) : unsetenv(name);
}

/**
 * preloaded_exec() - become the command
 * @options: of the command line.
 *
 * Return: an exit status, if it cannot be done.
 */
int preloaded_exec(const struct run_options *options)
{
	char path[4096];
	const char *library = find_library(path, sizeof(path));

	if (access(library, R_OK) < 0) {
		say_error("%s cannot be loaded: %s", library, strerror(errno));
		return STATUS_FAILED;
	}
	if (set_preload(library) < 0 || set(RUN_ENV_EXPLAIN, options->explain) < 0 ||
	    set(RUN_ENV_STRICT, options->strict) < 0) {
		say_error("cannot start: %s", strerror(errno));
		return STATUS_FAILED;
	}
	execvp(options->argv[0], options->argv);
	say_error("cannot execute '%s': %s", options->argv[0], strerror(errno));
	return errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}
