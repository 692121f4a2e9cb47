// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints by name, for event lists and for "pmuctl list": what the kernel's tracing says
 * there is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "tracepoint/tracefs.h"

static const char *const roots[] = {
	"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
};

/* 0 if we may see tracepoints, -EACCES if they are root's, -ENOENT if tracefs is not mounted */
static int look_at_events(void)
{
	for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
		char path[400];

		snprintf(path, sizeof(path), "%s/events", roots[i]);
		if (access(path, X_OK) == 0)
			return 0;
		if (errno == EACCES)
			return -EACCES;
	}
	return -ENOENT;
}

/**
 * trace_names_are_hidden() - may a name that nothing has be that of a tracepoint all the same?
 * @name: the name.
 * @sentence: filled with what to do, if so.
 * @size: bytes there.
 *
 * Return: 0 if not, -EACCES if tracepoints are root's to see, -ENOENT without tracefs.
 */
int trace_names_are_hidden(const char *name, char *sentence, size_t size)
{
	int ret = look_at_events();

	if (ret == -EACCES)
		snprintf(sentence, size,
			 "'%.64s' is no event of this CPU, and tracepoints are root's to see: run pmuctl as root, or 'mount -o remount,mode=755 %s'",
			 name, roots[0]);
	else if (ret == -ENOENT)
		snprintf(sentence, size,
			 "'%.64s' is no event of this CPU, and of tracepoints nobody tells: 'mount -t tracefs none %s' as root",
			 name, roots[0]);
	return ret;
}

/**
 * trace_name_is_made_up() - has the kernel's tracing made this one itself, without a tracepoint?
 * @name: of an event, "system:name".
 */
bool trace_name_is_made_up(const char *name)
{
	return !strncmp(name, "ftrace:", 7) || !strncmp(name, "eprobes:", 8) ||
	       !strncmp(name, "synthetic:", 10);
}

/* What cannot be had, with what can */
static int refuse_made_up(const char *name, char *sentence, size_t size)
{
	snprintf(sentence, size,
		 "'%.64s' is no tracepoint but an event of the kernel's tracing itself: 'perf record' has it",
		 name);
	return -EINVAL;
}

/**
 * trace_name_resolve() - a pmuctl_name_fn: tracepoints, and what the CPU's maker calls events
 * @arg: handed on.
 * @name: such as "sched:sched_switch".
 * @attr: type and config are set.
 * @sentence: why not.
 * @size: bytes there.
 *
 * Return: as cpu_name_resolve(); -EACCES if it may be a tracepoint that we may not see.
 */
int trace_name_resolve(void *arg, const char *name, struct perf_event_attr *attr,
		       char *sentence, size_t size)
{
	const char *colon = strchr(name, ':');
	unsigned long long id;
	char path[300];
	FILE *file = NULL;
	int n, ret, hidden;

	if (colon && !strchr(name, '/')) {
		snprintf(path, sizeof(path), "events/%.*s/%.100s/id",
			 (int)(colon - name), name, colon + 1);
		file = tracefs_open(path);
	}
	if (!file) {
		ret = cpu_name_resolve(arg, name, attr, sentence, size);
		hidden = ret == -ENOENT && colon ? trace_names_are_hidden(name, sentence, size) : 0;
		return hidden ? hidden : ret;
	}
	n = fscanf(file, "%llu", &id);
	fclose(file);
	if (n != 1)
		return -ENOENT;
	if (trace_name_is_made_up(name))
		return refuse_made_up(name, sentence, size);
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = id;
	return 0;
}

/**
 * trace_names_visit() - list tracepoints
 * @visit: called for each; the name is valid during the call only.
 * @arg: handed to it.
 *
 * Return: 0, or -errno if the kernel's tracing cannot be looked at.
 */
int trace_names_visit(void (*visit)(void *arg, const char *name), void *arg)
{
	FILE *file = tracefs_open("available_events");
	char line[200];

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!trace_name_is_made_up(line))
			visit(arg, line);
	}
	fclose(file);
	return 0;
}
