// SPDX-License-Identifier: GPL-2.0-only
/*
 * The targets of a set of events: CPUs, processes, the threads that these have now.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "targets.h"

bool targets_are_threads(const struct measure *measure)
{
	return measure->kind == TARGET_PROCESS &&
	       (measure->no_inherit || measure->by_thread);
}

static int target_add(struct int_list *targets, int id)
{
	int *list = reallocarray(targets->list, targets->count + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	targets->list = list;
	list[targets->count++] = id;
	return 0;
}

static int targets_add_process(struct int_list *targets, int pid)
{
	struct dirent *entry;
	char path[64];
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir && errno == ENOENT) {
		say_error("there is no process %d", pid);
		return -ESRCH;
	}
	if (!dir) {
		ret = -errno;
		say_error("cannot list the threads of process %d in %s: %s", pid,
			  path, strerror(-ret));
		return ret;
	}
	while (ret == 0 && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			ret = target_add(targets, atoi(entry->d_name));
	closedir(dir);
	return ret;
}

/* Each CPU that is online */
static int targets_add_cpus(struct int_list *targets)
{
	FILE *file = fopen("/sys/devices/system/cpu/online", "re");
	char text[4096] = "";
	size_t position;
	int ret = -ENOENT;

	if (file && fgets(text, sizeof(text), file)) {
		text[strcspn(text, "\n")] = '\0';
		ret = int_list_parse(text, true, targets, &position);
	}
	if (file)
		fclose(file);
	if (ret < 0)
		say_error("cannot find out which CPUs are online: /sys must be mounted");
	return ret;
}

static int make_once(struct event_set *set, pid_t child, bool each_cpu)
{
	const struct measure *measure = set->measure;
	int ret = 0;

	if (measure->kind == TARGET_COMMAND)
		return target_add(&set->targets, child);
	if (measure->kind == TARGET_ALL_CPUS)
		return each_cpu ? targets_add_cpus(&set->targets) :
				  target_add(&set->targets, -1);
	for (size_t i = 0; i < measure->ids.count && ret == 0; i++) {
		int id = measure->ids.list[i];

		if (targets_are_threads(measure))
			ret = targets_add_process(&set->targets, id);
		else
			ret = target_add(&set->targets, id);
	}
	return ret;
}

/* Each target once for each CPU, in the order of those */
static int repeat_for_cpus(struct event_set *set)
{
	struct int_list once = set->targets;
	int ret = targets_add_cpus(&set->cpus);

	set->targets = (struct int_list){ 0 };
	for (size_t i = 0; i < once.count * set->cpus.count && ret == 0; i++)
		ret = target_add(&set->targets, once.list[i / set->cpus.count]);
	int_list_free(&once);
	return ret;
}

int targets_make(struct event_set *set, pid_t child, bool each_cpu)
{
	int ret = make_once(set, child, each_cpu);

	return ret == 0 && set->measure->on_each_cpu ? repeat_for_cpus(set) : ret;
}

/**
 * event_set_cpu() - on which CPU the events of a target are
 * @set: the events.
 * @target: number of the target.
 *
 * Return: the CPU, -1: on any.
 */
int event_set_cpu(const struct event_set *set, size_t target)
{
	if (measure_is_of_cpus(set->measure))
		return set->targets.list[target];
	return set->cpus.count ? set->cpus.list[target % set->cpus.count] : -1;
}
