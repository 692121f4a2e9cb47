// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of cgroups: which of the events on the command line is of which, and where cgroups are
 * found. The options are those of perf's tools.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "measure.h"

/* ---- The options ---- */

static int add_name(struct cgroup_names *names, const char *text, size_t length)
{
	char **list = reallocarray(names->list, names->count + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	names->list = list;
	list[names->count] = strndup(text, length);
	if (!list[names->count])
		return -ENOMEM;
	names->count++;
	return 0;
}

/* "a,b,,c": an empty one stands for no cgroup. */
static int add_names(struct cgroup_names *names, const char *text)
{
	int ret = 0;

	for (;;) {
		size_t length = strcspn(text, ",");

		ret = add_name(names, text, length);
		if (ret < 0 || !text[length])
			return ret;
		text += length + 1;
	}
}

/**
 * cgroup_option() - understand -G or --for-each-cgroup
 * @measure: gets it.
 * @text: the names.
 * @each: all events are counted for each of these.
 *
 * Return: 0 or an exit status.
 */
int cgroup_option(struct measure *measure, const char *text, bool each)
{
	struct cgroup_names *names = &measure->cgroups;
	int ret;

	if (names->count && (each || names->each))
		return say_usage(measure->command,
				 "--for-each-cgroup can be given once, and not with -G");
	names->each = each;
	if (each && (!*text || strstr(text, ",,") || text[0] == ',' ||
		     text[strlen(text) - 1] == ','))
		return say_usage(measure->command, "a name in '%s' is empty", text);
	if (!each) {
		ret = measure->events_text ? events_text_count(measure->events_text, &names->nr_events) : 0;
		if (ret)
			return ret;
		if (!names->nr_events)
			return say_usage(measure->command,
					 "-G is about the events before it: give these first, with -e");
	}
	if (add_names(names, text) < 0) {
		say_error("%s", pmuctl_strerror(ENOMEM));
		return STATUS_FAILED;
	}
	if (!each && names->count > names->nr_events)
		return say_usage(measure->command,
				 "there are %zu cgroups for %zu events: give an event before each of them",
				 names->count, names->nr_events);
	return 0;
}

/**
 * cgroups_check() - do cgroups go with all else?
 * @measure: what was asked for.
 *
 * Return: what is wrong, or NULL.
 */
const char *cgroups_check(const struct measure *measure)
{
	if (measure->cgroups.count && !measure_is_of_cpus(measure))
		return "cgroups are counted on CPUs: -G and --for-each-cgroup need -a or -C";
	return NULL;
}

/**
 * cgroup_of_event() - the name of an event's cgroup
 * @measure: what was asked for.
 * @event: number of the event, as it was given.
 *
 * Return: the name, NULL if it is of none.
 */
const char *cgroup_of_event(const struct measure *measure, size_t event)
{
	const struct cgroup_names *names = &measure->cgroups;
	const char *name = NULL;

	/* A single one is for all events before it. */
	if (names->count == 1 && event < names->nr_events)
		name = names->list[0];
	else if (event < names->count)
		name = names->list[event];
	return name && *name ? name : NULL;
}

void cgroups_free(struct cgroup_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
}

/* ---- Their directories ---- */

/**
 * cgroup_hierarchy() - where perf's controller is mounted
 *
 * Return: the directory of cgroup v1's hierarchy of it, else cgroup2's, to be freed; NULL if neither is
 * there.
 */
char *cgroup_hierarchy(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char *found = NULL;
	struct mntent *m;

	while (mounts && (m = getmntent(mounts))) {
		bool first = !strcmp(m->mnt_type, "cgroup") && hasmntopt(m, "perf_event");

		if (!first && (found || strcmp(m->mnt_type, "cgroup2")))
			continue;
		free(found);
		found = strdup(m->mnt_dir);
		if (first || !found)
			break;
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

/**
 * cgroup_open() - open the directory of a cgroup
 * @name: its path, from the root of the hierarchy on.
 *
 * Return: a descriptor, or a negative errno, of which the user has been told.
 */
int cgroup_open(const char *name)
{
	char *hierarchy = cgroup_hierarchy(), *path = NULL;
	int fd, ret = 0;

	if (!hierarchy) {
		say_error("no cgroups are mounted: mount -t cgroup2 none /sys/fs/cgroup");
		return -ENOENT;
	}
	if (asprintf(&path, "%s/%s", hierarchy, name) < 0)
		path = NULL;
	fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd < 0) {
		ret = path ? -errno : -ENOMEM;
		say_error("cannot open the cgroup '%s', the directory %s: %s", name,
			  path ? path : hierarchy, strerror(-ret));
	}
	free(path);
	free(hierarchy);
	return fd < 0 ? ret : fd;
}
