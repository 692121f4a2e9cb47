// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of tracepoints. In attr.config a tracepoint has a number, as for
 * perf_event_open(2), which the kernel's tracing gives it; the driver wants its name.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

static const char *const roots[] = {
	"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events",
};

static bool has_id(const char *root, const char *system, const char *name, uint64_t id)
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
	return n == 1 && found == id;
}

static bool find_in_system(const char *root, const char *system, uint64_t id,
			   char *name, size_t size)
{
	struct dirent *entry;
	bool found = false;
	char path[400];
	DIR *dir;

	if (system[0] == '.')
		return false;
	snprintf(path, sizeof(path), "%s/%s", root, system);
	dir = opendir(path);
	if (!dir)
		return false;
	while (!found && (entry = readdir(dir))) {
		found = has_id(root, system, entry->d_name, id);
		if (found)
			snprintf(name, size, "%s:%s", system, entry->d_name);
	}
	closedir(dir);
	return found;
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
	struct dirent *entry;
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(roots) && !found; i++) {
		DIR *dir = opendir(roots[i]);

		while (dir && !found && (entry = readdir(dir)))
			found = find_in_system(roots[i], entry->d_name, id, name, size);
		if (dir)
			closedir(dir);
	}
	return found;
}
