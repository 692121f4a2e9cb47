// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of "pmuctl stat": every event on every target, opened together,
 * enabled together, and added up. What to do when one is refused is decided here.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

/**
 * struct counters - events times targets
 * @dev: where they are opened.
 * @options: what was asked for.
 * @rows: the events and their results.
 * @nr_rows: how many.
 * @targets: pids, thread ids or CPUs.
 * @handles: nr_rows * targets.count, row by row; NULL where nothing is open.
 */
struct counters {
	struct pmuctl_device *dev;
	const struct stat_options *options;
	struct stat_row *rows;
	size_t nr_rows;
	struct int_list targets;
	struct pmuctl_event **handles;
};

static struct pmuctl_event **handle_at(struct counters *c, size_t row,
				       size_t target)
{
	return &c->handles[row * c->targets.count + target];
}

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
	for (size_t i = 0; i < options->ids.count && ret == 0; i++) {
		int id = options->ids.list[i];

		if (options->kind == TARGET_PROCESS)
			ret = targets_add_process(&c->targets, id);
		else
			ret = target_add(&c->targets, id);
	}
	return ret;
}

/* ------------------------------------------------------------------- open */

static int open_one(struct counters *c, size_t row, size_t target)
{
	enum target_kind kind = c->options->kind;
	int id = c->targets.list[target];

	return pmuctl_event_open(c->dev, &c->rows[row].attr,
				 kind == TARGET_CPU ? -1 : id,
				 kind == TARGET_CPU ? id : -1, 0,
				 handle_at(c, row, target));
}

/* The user asked for nothing in particular: then user space only will do. */
static bool fall_back_to_user(struct counters *c, struct stat_row *row,
			      const struct pmuctl_explanation *why)
{
	char *name;

	if (!c->options->default_events || c->options->kind == TARGET_CPU ||
	    why->code != PMUCTL_WHY_PERM_KERNEL || row->attr.exclude_kernel)
		return false;
	if (asprintf(&name, "%s:u", row->name) < 0)
		return false;
	free(row->name);
	row->name = name;
	row->attr.exclude_kernel = 1;
	row->attr.exclude_hv = 1;
	return true;
}

static int open_row(struct counters *c, size_t index)
{
	struct stat_row *row = &c->rows[index];
	struct pmuctl_explanation why;
	size_t opened = 0;

	for (size_t target = 0; target < c->targets.count; target++) {
		int ret = open_one(c, index, target);

		if (ret == 0) {
			opened++;
			continue;
		}
		pmuctl_device_explain(c->dev, &why);
		if (fall_back_to_user(c, row, &why)) {
			target--;	/* once: the level has changed */
			continue;
		}
		/* A thread of a living process may end at any time. */
		if (ret == -ESRCH && c->options->kind == TARGET_PROCESS &&
		    (opened || target + 1 < c->targets.count))
			continue;
		say_refusal(row->name, &why);
		if (why.code != PMUCTL_WHY_EVENT_NOT_HERE)
			return ret;
		row->state = ROW_NOT_SUPPORTED;
		return 0;
	}
	return 0;
}

static int rows_make(struct counters *c)
{
	const struct pmuctl_events *events = c->options->events;
	size_t count = pmuctl_events_count(events);

	c->rows = calloc(count, sizeof(*c->rows));
	if (!c->rows)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct stat_row *row = &c->rows[i];

		row->attr = *pmuctl_events_attr(events, i);
		row->attr.disabled = 1;
		row->attr.enable_on_exec = c->options->kind == TARGET_COMMAND;
		row->attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
					PERF_FORMAT_TOTAL_TIME_RUNNING;
		row->name = strdup(pmuctl_events_name(events, i));
		if (!row->name)
			return -ENOMEM;
		c->nr_rows++;
	}
	return 0;
}

static int open_all(struct counters *c)
{
	size_t supported = 0;

	for (size_t row = 0; row < c->nr_rows; row++) {
		int ret = open_row(c, row);

		if (ret < 0)
			return ret;
		supported += c->rows[row].state != ROW_NOT_SUPPORTED;
	}
	return supported ? 0 : -ENOENT;
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
	if (ret < 0)
		goto out;
	ret = rows_make(c);
	if (ret < 0)
		goto out;
	ret = -ENOMEM;
	c->handles = calloc(c->nr_rows * c->targets.count, sizeof(*c->handles));
	if (c->handles)
		ret = open_all(c);
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
	for (size_t i = 0; c->handles && i < c->nr_rows * c->targets.count; i++)
		pmuctl_event_close(c->handles[i]);
	for (size_t i = 0; i < c->nr_rows; i++)
		free(c->rows[i].name);
	int_list_free(&c->targets);
	free(c->handles);
	free(c->rows);
	free(c);
}

/* ------------------------------------------------------------------- use */

/* Says why a call on an open event was refused. */
static void say_event_refusal(struct stat_row *row, struct pmuctl_event *event,
			      const char *what, int error)
{
	struct pmuctl_explanation why;
	char text[sizeof(why.field) + sizeof(why.sentence) + 4];

	if (pmuctl_event_explain(event, &why) < 0 ||
	    why.error != (unsigned int)-error)
		snprintf(text, sizeof(text), "%s", pmuctl_strerror(error));
	else
		pmuctl_explanation_format(&why, text, sizeof(text));
	say_error("cannot %s '%s': %s", what, row->name, text);
}

static int each_event(struct counters *c, const char *what,
		      int (*call)(struct pmuctl_event *event))
{
	for (size_t row = 0; row < c->nr_rows; row++) {
		for (size_t target = 0; target < c->targets.count; target++) {
			struct pmuctl_event *event = *handle_at(c, row, target);
			int ret = event ? call(event) : 0;

			/* A target that has ended has simply counted less. */
			if (ret == 0 || ret == -ESRCH)
				continue;
			say_event_refusal(&c->rows[row], event, what, ret);
			return ret;
		}
	}
	return 0;
}

/**
 * counters_enable() - start all
 * @c: the counters.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int counters_enable(struct counters *c)
{
	return each_event(c, "enable", pmuctl_event_enable);
}

/**
 * counters_disable() - stop all
 * @c: the counters.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int counters_disable(struct counters *c)
{
	return each_event(c, "disable", pmuctl_event_disable);
}

/**
 * counters_read() - add up what was counted
 * @c: the counters.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int counters_read(struct counters *c)
{
	for (size_t index = 0; index < c->nr_rows; index++) {
		struct stat_row *row = &c->rows[index];

		row->value = 0;
		row->enabled = 0;
		row->running = 0;
		if (row->state == ROW_NOT_SUPPORTED)
			continue;
		for (size_t target = 0; target < c->targets.count; target++) {
			struct pmuctl_event *event = *handle_at(c, index, target);
			struct pmuctl_reading reading;
			int ret = event ? pmuctl_event_read(event, &reading) : 0;

			if (ret < 0 && ret != -ENODATA) {
				say_event_refusal(row, event, "read", ret);
				return ret;
			}
			if (!event || ret < 0)
				continue;
			row->value += pmuctl_reading_estimate(&reading);
			row->enabled += reading.time_enabled;
			row->running += reading.time_running;
		}
		row->state = row->running ? ROW_COUNTED : ROW_NOT_COUNTED;
	}
	return 0;
}

/**
 * counters_fds() - descriptors that tell when the targets are gone
 * @c: the counters.
 * @fds: filled with one for each target, NULL to count only.
 * @max: room there.
 *
 * Return: how many there are.
 */
size_t counters_fds(const struct counters *c, int *fds, size_t max)
{
	size_t found = 0;

	for (size_t target = 0; target < c->targets.count; target++) {
		for (size_t row = 0; row < c->nr_rows; row++) {
			struct pmuctl_event *event =
				c->handles[row * c->targets.count + target];

			if (!event)
				continue;
			if (found < max)
				fds[found] = pmuctl_event_fd(event);
			found++;
			break;
		}
	}
	return found;
}

/**
 * counters_rows() - the results
 * @c: the counters, which own them.
 * @count: how many.
 */
const struct stat_row *counters_rows(const struct counters *c, size_t *count)
{
	*count = c->nr_rows;
	return c->rows;
}
