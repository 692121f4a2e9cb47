// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening what "pmuctl record" records from: every event on every target, and one ring
 * for each target, which all its events write to. What to do when something is refused
 * is decided here.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record.h"

static struct pmuctl_event **handle_of(const struct recording *r, size_t event,
				       size_t target)
{
	return &r->handles[event * r->targets.count + target];
}

/* Names and reasons in one line; what has no explanation has an errno. */
static int say_handle_refusal(const struct recording *r, size_t event,
			      struct pmuctl_event *handle, const char *what, int error)
{
	struct pmuctl_explanation why;
	char text[sizeof(why.field) + sizeof(why.sentence) + 4];

	if (pmuctl_event_explain(handle, &why) < 0 || (int)why.error != -error)
		snprintf(text, sizeof(text), "%s", pmuctl_strerror(error));
	else
		pmuctl_explanation_format(&why, text, sizeof(text));
	say_error("cannot %s '%s': %s", what, r->names[event], text);
	return error;
}

/* ---------------------------------------------------------------- targets */

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
	if (!dir) {
		ret = -errno;
		say_error("cannot list the threads of process %d: %s", pid,
			  ret == -ENOENT ? "there is no such process" :
					   strerror(-ret));
		return ret == -ENOENT ? -ESRCH : ret;
	}
	while (ret == 0 && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			ret = target_add(targets, atoi(entry->d_name));
	closedir(dir);
	return ret;
}

/* A CPU that is offline has nothing to sample. */
static int targets_add_online(struct int_list *targets)
{
	struct int_list online = { .count = 0 };
	FILE *file = fopen("/sys/devices/system/cpu/online", "re");
	char text[4096] = "";
	size_t position;
	int ret = -ENOENT;

	if (file && fgets(text, sizeof(text), file)) {
		text[strcspn(text, "\n")] = '\0';
		ret = int_list_parse(text, true, &online, &position);
	}
	if (file)
		fclose(file);
	if (ret < 0) {
		say_error("cannot find out which CPUs are online: /sys must be mounted");
		int_list_free(&online);
		return ret;
	}
	*targets = online;
	return 0;
}

static int targets_make(struct recording *r, pid_t child)
{
	const struct record_options *options = r->options;
	int ret = 0;

	if (options->kind == TARGET_COMMAND)
		return target_add(&r->targets, child);
	if (options->kind == TARGET_ALL_CPUS)
		return targets_add_online(&r->targets);
	for (size_t i = 0; i < options->ids.count && ret == 0; i++) {
		if (options->kind == TARGET_PROCESS)
			ret = targets_add_process(&r->targets,
						  options->ids.list[i]);
		else
			ret = target_add(&r->targets, options->ids.list[i]);
	}
	return ret;
}

/* ----------------------------------------------------------------- events */

static bool of_cpus(const struct recording *r)
{
	return r->options->kind == TARGET_CPU ||
	       r->options->kind == TARGET_ALL_CPUS;
}

static void attr_prepare(const struct recording *r, size_t event)
{
	const struct record_options *options = r->options;
	struct perf_event_attr *attr = &r->events[event].attr;
	bool leads = r->events[event].leader == event;

	attr->disabled = leads;
	attr->enable_on_exec = leads && options->kind == TARGET_COMMAND &&
			       !options->delay;
	attr->freq = options->frequency != 0;
	if (options->frequency)
		attr->sample_freq = options->frequency;
	else
		attr->sample_period = options->period;
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
			    PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_PERIOD;
	if (of_cpus(r))
		attr->sample_type |= PERF_SAMPLE_CPU;
	if (options->callchains)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	attr->sample_id_all = 1;
	attr->exclude_callchain_kernel = options->callchains &&
					 attr->exclude_kernel;
	if (event)
		return;
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
}

static int events_make(struct recording *r)
{
	const struct pmuctl_events *list = r->options->events;
	size_t count = pmuctl_events_count(list);

	r->events = calloc(count, sizeof(*r->events));
	r->names = calloc(count, sizeof(*r->names));
	if (!r->events || !r->names)
		return -ENOMEM;
	r->nr_events = count;
	for (size_t i = 0; i < count; i++) {
		r->names[i] = strdup(pmuctl_events_name(list, i));
		if (!r->names[i])
			return -ENOMEM;
		r->events[i].attr = *pmuctl_events_attr(list, i);
		r->events[i].leader = pmuctl_events_leader(list, i);
		r->events[i].name = r->names[i];
		attr_prepare(r, i);
	}
	return 0;
}

/* ------------------------------------------------------------------- open */

/* The user asked for nothing in particular: then user space only will do. */
static bool fall_back_to_user(struct recording *r, size_t event,
			      const struct pmuctl_explanation *why)
{
	struct perf_event_attr *attr = &r->events[event].attr;
	char *name;

	if (!r->options->default_events || of_cpus(r) ||
	    why->code != PMUCTL_WHY_PERM_KERNEL || attr->exclude_kernel)
		return false;
	if (asprintf(&name, "%s:u", r->names[event]) < 0)
		return false;
	free(r->names[event]);
	r->names[event] = name;
	r->events[event].name = name;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->exclude_callchain_kernel = r->options->callchains;
	return true;
}

/* Samples are worth something without what goes with them, where a kernel lacks it. */
static bool do_without(struct recording *r, size_t event,
		       const struct pmuctl_explanation *why)
{
	struct perf_event_attr *attr = &r->events[event].attr;
	const char *what;

	if (!strncmp(why->field, "attr.mmap", 9) && attr->mmap) {
		attr->mmap = 0;
		attr->mmap2 = 0;
		what = "what is loaded later will have no symbols";
	} else if (!strncmp(why->field, "attr.comm", 9) && attr->comm) {
		attr->comm = 0;
		attr->comm_exec = 0;
		what = "names of tasks may be missing";
	} else if (!strcmp(why->field, "attr.task") && attr->task) {
		attr->task = 0;
		what = "new tasks will have no symbols";
	} else {
		return false;
	}
	say_error("%s: %s", what, why->sentence);
	return true;
}

static int open_one(struct recording *r, size_t event, size_t target)
{
	int id = r->targets.list[target];
	size_t first = r->events[event].leader;
	struct pmuctl_event *leader = NULL;

	/* Its first event is gone, or its leader: the thread has ended meanwhile. */
	if (event && !*handle_of(r, 0, target))
		return -ESRCH;
	if (first != event) {
		leader = *handle_of(r, first, target);
		if (!leader)
			return -ESRCH;
	}
	return pmuctl_event_open_group(r->dev, &r->events[event].attr,
				       of_cpus(r) ? -1 : id, of_cpus(r) ? id : -1,
				       0, leader, handle_of(r, event, target));
}

/* Threads of a process may end at any time, others should be there. */
static bool may_be_gone(const struct recording *r, size_t event, size_t target)
{
	return r->options->kind == TARGET_PROCESS &&
	       (event || r->events[event].nr_ids ||
		target + 1 < r->targets.count);
}

static int open_event(struct recording *r, size_t index)
{
	struct perfdata_event *event = &r->events[index];
	uint64_t *ids = &r->ids[index * r->targets.count];
	struct pmuctl_explanation why;
	int ret;

	event->ids = ids;
	for (size_t target = 0; target < r->targets.count; target++) {
		do {
			ret = open_one(r, index, target);
			pmuctl_device_explain(r->dev, &why);
		} while (ret < 0 && (fall_back_to_user(r, index, &why) ||
				     do_without(r, index, &why)));
		if (ret == -ESRCH && may_be_gone(r, index, target))
			continue;
		if (ret < 0) {
			say_refusal(event->name, &why);
			return ret;
		}
		ret = pmuctl_event_id(*handle_of(r, index, target),
				      &ids[event->nr_ids]);
		if (ret < 0)
			return say_handle_refusal(r, index,
						  *handle_of(r, index, target),
						  "get the id of", ret);
		event->nr_ids++;
	}
	return 0;
}

static int say_no_ring(const struct recording *r, struct pmuctl_event *handle,
		       int error)
{
	if (error != -EPERM)
		return say_handle_refusal(r, 0, handle, "map the ring of", error);
	say_error("cannot lock %u pages of memory for each of %zu rings: ask for less with -m, or raise 'ulimit -l'",
		  r->options->pages, r->targets.count);
	return error;
}

/* The first event of a target has the ring, the others write to it. */
static int open_ring(struct recording *r, size_t target)
{
	struct pmuctl_event *first = *handle_of(r, 0, target);
	int ret;

	if (!first)
		return 0;
	ret = pmuctl_ring_open(first, r->options->pages, &r->rings[target]);
	if (ret < 0)
		return say_no_ring(r, first, ret);
	for (size_t event = 1; event < r->nr_events; event++) {
		struct pmuctl_event *handle = *handle_of(r, event, target);

		if (!handle)
			continue;
		ret = pmuctl_event_set_output(handle, first);
		if (ret < 0)
			return say_handle_refusal(r, event, handle,
						  "choose the ring of", ret);
	}
	return 0;
}

/* Many threads or CPUs take many descriptors. The command has its own limit already. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int open_all(struct recording *r)
{
	int ret = 0;

	allow_descriptors();

	r->handles = calloc(r->nr_events * r->targets.count, sizeof(*r->handles));
	r->ids = calloc(r->nr_events * r->targets.count, sizeof(*r->ids));
	r->rings = calloc(r->targets.count, sizeof(struct pmuctl_ring *));
	if (!r->handles || !r->ids || !r->rings)
		return -ENOMEM;
	for (size_t event = 0; event < r->nr_events && ret == 0; event++)
		ret = open_event(r, event);
	for (size_t target = 0; target < r->targets.count && ret == 0; target++)
		ret = open_ring(r, target);
	return ret;
}

/**
 * recording_open() - open all events on all targets, disabled, and the rings
 * @dev: where.
 * @options: which events, which targets.
 * @child: the command that was started, if the target is that.
 * @recording: the result.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int recording_open(struct pmuctl_device *dev, const struct record_options *options,
		   pid_t child, struct recording **recording)
{
	struct recording *r = calloc(1, sizeof(*r));
	int ret = -ENOMEM;

	if (!r)
		goto out;
	r->dev = dev;
	r->options = options;
	ret = targets_make(r, child);
	if (ret == 0)
		ret = events_make(r);
	if (ret == 0)
		ret = open_all(r);
out:
	if (ret == -ENOMEM)
		say_error("%s", pmuctl_strerror(ret));
	if (ret < 0)
		recording_close(r);
	else
		*recording = r;
	return ret;
}

/**
 * recording_close() - close all
 * @r: the recording or NULL.
 */
void recording_close(struct recording *r)
{
	if (!r)
		return;
	for (size_t i = 0; r->rings && i < r->targets.count; i++)
		pmuctl_ring_close(r->rings[i]);
	for (size_t i = 0; r->handles && i < r->nr_events * r->targets.count; i++)
		pmuctl_event_close(r->handles[i]);
	for (size_t i = 0; r->names && i < r->nr_events; i++)
		free(r->names[i]);
	int_list_free(&r->targets);
	free(r->handles);
	free(r->ids);
	free(r->rings);
	free(r->events);
	free(r->names);
	free(r);
}

/* ---------------------------------------------------------------- control */

/**
 * recording_enable() - start to sample
 * @r: the recording.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int recording_enable(struct recording *r)
{
	for (size_t event = 0; event < r->nr_events; event++) {
		if (r->events[event].leader != event)
			continue;
		for (size_t target = 0; target < r->targets.count; target++) {
			struct pmuctl_event *handle = *handle_of(r, event, target);
			int ret = handle ? pmuctl_event_enable(handle) : 0;

			if (ret < 0)
				return say_handle_refusal(r, event, handle,
							  "enable", ret);
		}
	}
	return 0;
}

/**
 * recording_disable() - stop to sample
 * @r: the recording.
 */
void recording_disable(struct recording *r)
{
	for (size_t i = 0; i < r->nr_events * r->targets.count; i++)
		if (r->handles[i])
			pmuctl_event_disable(r->handles[i]);
}

/**
 * recording_lost() - how many samples were lost
 * @r: the recording, disabled.
 *
 * Return: that number as the events have it; what the rings say may be less, as what is
 * lost at the very end is not told any more.
 */
uint64_t recording_lost(const struct recording *r)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < r->nr_events * r->targets.count; i++) {
		struct pmuctl_reading reading;

		if (r->handles[i] && pmuctl_event_read(r->handles[i], &reading) == 0)
			lost += reading.lost;
	}
	return lost;
}

/**
 * recording_tells_maps() - are there records of what programs map?
 * @r: the recording.
 *
 * Return: false if the kernel lacks what it takes.
 */
bool recording_tells_maps(const struct recording *r)
{
	return r->events[0].attr.mmap;
}

/**
 * recording_trailer() - what is at the end of each record that is no sample
 * @r: the recording.
 *
 * Return: its size in bytes.
 */
size_t recording_trailer(const struct recording *r)
{
	const uint64_t fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
				PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	return 8 * (size_t)__builtin_popcountll(r->events[0].attr.sample_type &
						fields);
}
