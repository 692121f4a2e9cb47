// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening the counters of "pmuctl stat": every event on every target, in its group.
 * What to do when one is refused is decided here.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"

/* ---------------------------------------------------------------- targets */

static int target_add(struct int_list *targets, int id)
{
	int *list = reallocarray(targets->list, targets->count + 1,
				 sizeof(*list));

	if (!list)
		return -ENOMEM;
	targets->list = list;
	list[targets->count++] = id;
	return 0;
}

static int targets_add_process(struct int_list *targets, int pid)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir && errno == ENOENT) {
		say_error("there is no process %d", pid);
		return -ESRCH;
	}
	if (!dir) {
		say_error("cannot list the threads of process %d in %s: %s", pid,
			  path, strerror(errno));
		return -errno;
	}
	while (ret == 0 && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			ret = target_add(targets, atoi(entry->d_name));
	closedir(dir);
	return ret;
}

static int targets_make(struct counters *c, pid_t child)
{
	const struct stat_options *options = c->options;
	int ret = 0;

	if (options->kind == TARGET_COMMAND)
		return target_add(&c->targets, child);
	if (options->kind == TARGET_ALL_CPUS)
		return target_add(&c->targets, -1);
	for (size_t i = 0; i < options->ids.count && ret == 0; i++) {
		int id = options->ids.list[i];

		if (options->kind == TARGET_PROCESS)
			ret = targets_add_process(&c->targets, id);
		else
			ret = target_add(&c->targets, id);
	}
	return ret;
}

/* ----------------------------------------------------------------- events */

static bool leads_a_group(const struct counters *c, size_t event)
{
	return c->events[event].leader == event && event + 1 < c->nr_events &&
	       c->events[event + 1].leader == event;
}

static bool is_in_group(const struct counters *c, size_t event)
{
	return c->events[event].leader != event || leads_a_group(c, event);
}

/* The leader switches the whole group; the others are ready. */
static void attr_prepare(struct counters *c, size_t event)
{
	struct perf_event_attr *attr = &c->events[event].attr;
	bool leads = c->events[event].leader == event;

	attr->disabled = leads;
	attr->enable_on_exec = leads && c->options->kind == TARGET_COMMAND;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			    PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (is_in_group(c, event))
		attr->read_format |= PERF_FORMAT_GROUP;
}

static int events_make(struct counters *c)
{
	const struct pmuctl_events *list = c->options->events;
	size_t count = pmuctl_events_count(list);

	c->events = calloc(count, sizeof(*c->events));
	if (!c->events)
		return -ENOMEM;
	for (; c->nr_events < count; c->nr_events++) {
		struct stat_row *event = &c->events[c->nr_events];

		event->attr = *pmuctl_events_attr(list, c->nr_events);
		event->leader = pmuctl_events_leader(list, c->nr_events);
		event->cpu = ROW_ALL_TARGETS;
		event->name = strdup(pmuctl_events_name(list, c->nr_events));
		if (!event->name)
			return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		attr_prepare(c, i);
	return 0;
}

/* The leader is not supported: the next of the group takes its place. */
static void leader_pass_on(struct counters *c, size_t event)
{
	struct stat_row *heir = &c->events[event + 1];
	const struct perf_event_attr *attr = &c->events[event].attr;

	if (!leads_a_group(c, event))
		return;
	heir->attr.pinned = attr->pinned;
	heir->attr.exclusive = attr->exclusive;
	for (size_t i = event + 1;
	     i < c->nr_events && c->events[i].leader == event; i++)
		c->events[i].leader = event + 1;
	attr_prepare(c, event + 1);
}

/* ------------------------------------------------------------------- open */

static int open_one(struct counters *c, size_t event, size_t target)
{
	enum target_kind kind = c->options->kind;
	bool of_cpus = kind == TARGET_CPU || kind == TARGET_ALL_CPUS;
	int id = c->targets.list[target];
	size_t first = c->events[event].leader;
	struct pmuctl_event *leader = NULL;

	if (first != event) {
		leader = *counters_handle(c, first, target);
		if (!leader)
			return -ESRCH;	/* it has ended meanwhile */
	}
	return pmuctl_event_open_group(c->dev, &c->events[event].attr,
				       of_cpus ? -1 : id, of_cpus ? id : -1, 0,
				       leader, counters_handle(c, event, target));
}

/* The user asked for nothing in particular: then user space only will do. */
static bool fall_back_to_user(struct counters *c, struct stat_row *event,
			      const struct pmuctl_explanation *why)
{
	char *name;

	if (!c->options->default_events || c->options->kind == TARGET_CPU ||
	    c->options->kind == TARGET_ALL_CPUS ||
	    why->code != PMUCTL_WHY_PERM_KERNEL || event->attr.exclude_kernel)
		return false;
	if (asprintf(&name, "%s:u", event->name) < 0)
		return false;
	free(event->name);
	event->name = name;
	event->attr.exclude_kernel = 1;
	event->attr.exclude_hv = 1;
	return true;
}

static int open_event(struct counters *c, size_t index)
{
	struct stat_row *event = &c->events[index];
	struct pmuctl_explanation why;
	size_t opened = 0;

	for (size_t target = 0; target < c->targets.count; target++) {
		int ret = open_one(c, index, target);

		if (ret == 0) {
			opened++;
			continue;
		}
		pmuctl_device_explain(c->dev, &why);
		if (fall_back_to_user(c, event, &why)) {
			target--;	/* once: the level has changed */
			continue;
		}
		/* A thread of a living process may end at any time. */
		if (ret == -ESRCH && c->options->kind == TARGET_PROCESS &&
		    (opened || target + 1 < c->targets.count))
			continue;
		say_refusal(event->name, &why);
		if (why.code != PMUCTL_WHY_EVENT_NOT_HERE)
			return ret;
		event->state = ROW_NOT_SUPPORTED;
		leader_pass_on(c, index);
		return 0;
	}
	return 0;
}

static int open_all(struct counters *c)
{
	size_t supported = 0;

	c->handles = calloc(c->nr_events * c->targets.count, sizeof(*c->handles));
	if (!c->handles)
		return -ENOMEM;
	for (size_t event = 0; event < c->nr_events; event++) {
		int ret = open_event(c, event);

		if (ret < 0)
			return ret;
		supported += c->events[event].state != ROW_NOT_SUPPORTED;
	}
	return supported ? 0 : -ENOENT;
}

/* ---------------------------------------------------------------- results */

/* How many CPUs an event of all of them has, or a negative errno */
static int count_cpus(struct counters *c)
{
	for (size_t event = 0; event < c->nr_events; event++) {
		struct pmuctl_event *handle = *counters_handle(c, event, 0);
		int ret = handle ? pmuctl_event_read_cpus(handle, NULL, 0) : 0;

		if (ret < 0)
			counters_say_refusal(c, event, handle, "read", ret);
		if (ret)
			return ret;
	}
	return 0;
}

static int rows_make(struct counters *c)
{
	c->nr_cells = c->options->per_cpu ? c->nr_slots : 1;
	c->rows = calloc(c->nr_events * c->nr_cells, sizeof(*c->rows));
	if (!c->rows)
		return -ENOMEM;
	for (size_t event = 0; event < c->nr_events; event++) {
		for (size_t cell = 0; cell < c->nr_cells; cell++) {
			struct stat_row *row =
				&c->rows[event * c->nr_cells + cell];

			*row = c->events[event];
			if (c->options->per_cpu)
				row->cpu = c->places[cell].cpu;
		}
	}
	return 0;
}

static int slots_make(struct counters *c)
{
	c->nr_slots = c->targets.count;
	if (c->options->kind == TARGET_ALL_CPUS && c->options->per_cpu) {
		int ret = count_cpus(c);

		if (ret < 0)
			return ret;
		c->nr_slots = (size_t)ret;
	}
	c->places = calloc(c->nr_slots, sizeof(*c->places));
	c->now = calloc(c->nr_events * c->nr_slots, sizeof(*c->now));
	c->before = calloc(c->nr_events * c->nr_slots, sizeof(*c->before));
	if (!c->places || !c->now || !c->before)
		return -ENOMEM;
	for (size_t slot = 0; slot < c->nr_slots; slot++) {
		bool by_target = c->nr_slots == c->targets.count;

		c->places[slot].cpu = by_target ? c->targets.list[slot] :
						  (int)slot;
		c->places[slot].is_present = true;
	}
	return rows_make(c);
}

/**
 * counters_open() - open all events on all targets, disabled
 * @dev: where.
 * @options: which events, which targets.
 * @child: the command that was started, if the target is that.
 * @counters: the result.
 *
 * An event that this CPU lacks is told and left out as long as there are others.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int counters_open(struct pmuctl_device *dev, const struct stat_options *options,
		  pid_t child, struct counters **counters)
{
	struct counters *c = calloc(1, sizeof(*c));
	int ret = -ENOMEM;

	if (!c)
		goto out;
	c->dev = dev;
	c->options = options;
	ret = targets_make(c, child);
	if (ret == 0)
		ret = events_make(c);
	if (ret == 0)
		ret = open_all(c);
	if (ret == 0)
		ret = slots_make(c);
out:
	if (ret == -ENOMEM)
		say_error("%s", pmuctl_strerror(ret));
	if (ret < 0)
		counters_close(c);
	else
		*counters = c;
	return ret;
}

/**
 * counters_close() - close all
 * @c: the counters or NULL.
 */
void counters_close(struct counters *c)
{
	if (!c)
		return;
	for (size_t i = 0; c->handles && i < c->nr_events * c->targets.count; i++)
		pmuctl_event_close(c->handles[i]);
	for (size_t i = 0; i < c->nr_events; i++)
		free(c->events[i].name);
	int_list_free(&c->targets);
	free(c->handles);
	free(c->events);
	free(c->places);
	free(c->now);
	free(c->before);
	free(c->rows);
	free(c);
}
