// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of tracepoints, by the numbers that perf's programs have from tracefs. What was
 * found once is kept for the calls that follow; that a name still has this number is looked at
 * each time, as numbers of probes that were removed come again.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "request.h"

static const char *const places[] = {
	"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events",
};

/* Returns the number of system:event, or -1. */
static long number_of(const char *place, const char *system, const char *event)
{
	char path[600];
	long number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/%s/id", place, system, event);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

/* All events of a system; those whose names are too long are not known. */
static void keep_system(struct run_shared *shared, const char *place, const char *system)
{
	char path[300];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "%s/%s", place, system);
	directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		long number = entry->d_name[0] == '.' || entry->d_type != DT_DIR ? -1 :
			      number_of(place, system, entry->d_name);

		if (number >= 0 && number < RUN_TRACEPOINTS &&
		    strlen(system) + strlen(entry->d_name) + 2 <= RUN_TRACEPOINT_NAME)
			sprintf(shared->tracepoints[number], "%s:%s", system, entry->d_name);
	}
	if (directory)
		closedir(directory);
}

static bool keep_all(struct run_shared *shared, const char *place)
{
	DIR *directory = opendir(place);
	struct dirent *entry;

	if (!directory)
		return false;
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.' && entry->d_type == DT_DIR)
			keep_system(shared, place, entry->d_name);
	closedir(directory);
	return true;
}

/* The name that is kept, if it is still that of this number */
static bool is_kept(struct request *r, uint64_t number)
{
	char system[RUN_TRACEPOINT_NAME], *event;

	memcpy(system, r->shared->tracepoints[number], sizeof(system));
	system[sizeof(system) - 1] = '\0';
	event = strchr(system, ':');
	if (!event)
		return false;
	memcpy(r->tracepoint, system, sizeof(system));
	*event++ = '\0';
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (number_of(places[i], system, event) == (long)number)
			return true;
	r->tracepoint[0] = '\0';
	return false;
}

/**
 * request_name_tracepoint() - find the name of the tracepoint that attr.config is the number of
 * @r: the call.
 *
 * Return: whether there is one that we may know.
 */
bool request_name_tracepoint(struct request *r)
{
	const uint64_t number = r->attr.config;

	if (number >= RUN_TRACEPOINTS)
		return false;
	if (is_kept(r, number))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (keep_all(r->shared, places[i]))
			break;
	return is_kept(r, number);
}
