// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of tracepoints. In attr.config a tracepoint has a number, as for
 * perf_event_open(2), which the kernel's tracing gives it; the driver wants its name.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The kernel has 16 bits for them. */
#define ID_MAX			UINT16_MAX
#define TRACEPOINT_SYSTEM_MAX	128

static const char *const roots[] = {
	"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events",
};

static bool read_id(const char *root, const char *system, const char *name, uint64_t *id)
{
	unsigned long long found = 0;
	char path[600];
	FILE *file;
	int n;

	if (name[0] == '.')
		return false;
	snprintf(path, sizeof(path), "%s/%s/%s/id", root, system, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	n = fscanf(file, "%llu", &found);
	fclose(file);
	*id = found;
	return n == 1;
}

/*
 * All of them, by their numbers, as they were when one was looked for last. Finding out takes
 * thousands of files, and a list of events may have hundreds.
 */
static pthread_mutex_t known_mutex = PTHREAD_MUTEX_INITIALIZER;
static char **known;
static size_t known_count;

static void remember(uint64_t id, const char *system, const char *name)
{
	char **grown, *text = NULL;

	if (id > ID_MAX)
		return;
	if (id >= known_count) {
		grown = reallocarray(known, id + 1, sizeof(*known));
		if (!grown)
			return;
		memset(grown + known_count, 0, (id + 1 - known_count) * sizeof(*grown));
		known = grown;
		known_count = id + 1;
	}
	if (asprintf(&text, "%s:%s", system, name) < 0)
		return;
	free(known[id]);
	known[id] = text;
}

static void read_system(const char *root, const char *system)
{
	struct dirent *entry;
	char path[400];
	uint64_t id;
	DIR *dir;

	if (system[0] == '.')
		return;
	snprintf(path, sizeof(path), "%s/%s", root, system);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (read_id(root, system, entry->d_name, &id))
			remember(id, system, entry->d_name);
	closedir(dir);
}

static void read_all(void)
{
	struct dirent *entry;

	for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
		DIR *dir = opendir(roots[i]);

		if (!dir)
			continue;
		while ((entry = readdir(dir)))
			read_system(roots[i], entry->d_name);
		closedir(dir);
		return;
	}
}

/* Is what was known of that number still so? */
static bool is_known(uint64_t id)
{
	const char *text = id < known_count ? known[id] : NULL;
	char system[TRACEPOINT_SYSTEM_MAX];
	size_t length;
	uint64_t now;

	length = text ? strcspn(text, ":") : 0;
	if (!length || length >= sizeof(system))
		return false;
	memcpy(system, text, length);
	system[length] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(roots); i++)
		if (read_id(roots[i], system, text + length + 1, &now))
			return now == id;
	return false;
}

/**
 * pmuctl_tracepoint_name() - the name of a tracepoint
 * @id: its number.
 * @name: is filled, "system:name".
 * @size: bytes there.
 *
 * Return: false if there is none of that number, or the caller may not look.
 */
bool pmuctl_tracepoint_name(uint64_t id, char *name, size_t size)
{
	bool found;

	pthread_mutex_lock(&known_mutex);
	found = is_known(id);
	if (!found) {
		read_all();
		found = is_known(id);
	}
	if (found)
		snprintf(name, size, "%s", known[id]);
	pthread_mutex_unlock(&known_mutex);
	return found;
}
