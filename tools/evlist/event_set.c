// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events on targets: every event on every target, in its group, opened and switched in one
 * call, or one by one. Threads may end meanwhile; other refusals are the caller's to judge.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmuctl_builder.h>
#include <pmuctl_list.h>
#include <pmuctl_trace.h>

#include "measure.h"
#include "targets.h"

/**
 * event_set_handle() - where the handle of an event on a target is kept
 * @set: the events.
 * @event: number of the event.
 * @target: number of the target.
 */
struct pmuctl_event **event_set_handle(const struct event_set *set, size_t event,
				       size_t target)
{
	return &set->handles[event * set->targets.count + target];
}

/**
 * event_set_say() - say why a call on an open event was refused
 * @set: the events.
 * @event: number of the event.
 * @handle: its handle.
 * @what: what was to be done.
 * @error: the negative errno.
 *
 * Return: @error.
 */
int event_set_say(const struct event_set *set, size_t event,
		  struct pmuctl_event *handle, const char *what, int error)
{
	struct pmuctl_explanation why;
	char text[sizeof(why.field) + sizeof(why.sentence) + 4];

	if (pmuctl_event_explain(handle, &why) < 0 ||
	    why.error != (unsigned int)-error)
		snprintf(text, sizeof(text), "%s", pmuctl_strerror(error));
	else
		pmuctl_explanation_format(&why, text, sizeof(text));
	say_error("cannot %s '%s': %s", what, set->events[event].name, text);
	return error;
}

/* ----------------------------------------------------------------- events */

/* Events of one cgroup share the descriptor of its directory. */
static int event_cgroup(struct event_set *set, struct set_event *event)
{
	for (size_t i = 0; i < set->nr_events; i++) {
		const char *other = set->events[i].cgroup;

		if (other && !strcmp(other, event->cgroup)) {
			event->cgroup_fd = set->events[i].cgroup_fd;
			return 0;
		}
	}
	event->cgroup_fd = cgroup_open(event->cgroup);
	return event->cgroup_fd < 0 ? event->cgroup_fd : 0;
}

/* The next event, which is number @number of those that were given; of a cgroup, or NULL */
static int event_make(struct event_set *set, size_t number, const char *cgroup)
{
	const struct pmuctl_events *list = set->measure->events;
	struct set_event *event = &set->events[set->nr_events];
	int ret;

	event->attr = *pmuctl_events_attr(list, number);
	event->leader = set->nr_events - number + pmuctl_events_leader(list, number);
	event->filter = pmuctl_events_filter(list, number);
	event->traces = pmuctl_events_trace(list, number);
	event->is_weak = pmuctl_events_weak(list, number);
	event->sample_read = event->attr.sample_type & PERF_SAMPLE_READ;
	event->attr.sample_type = 0;
	event->number = number;
	event->cgroup = cgroup;
	if (cgroup) {
		ret = event_cgroup(set, event);
		if (ret < 0)
			return ret;
	}
	set->nr_events++;
	event->name = strdup(pmuctl_events_name(list, number));
	return event->name ? event_filter_prepare(set, event) : -ENOMEM;
}

/* It counts nothing, so that there is no harm in having it beside the others. */
static int teller_make(struct event_set *set)
{
	struct set_event *event = &set->events[set->nr_events];

	event->attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .size = sizeof(event->attr),
	};
	event->leader = set->nr_events++;
	event->name = strdup("dummy");
	return event->name ? 0 : -ENOMEM;
}

/* All events once, or once for each cgroup */
static int events_make(struct event_set *set)
{
	const struct cgroup_names *cgroups = &set->measure->cgroups;
	const struct pmuctl_events *list = set->measure->events;
	size_t count = list ? pmuctl_events_count(list) : 0;
	size_t times = cgroups->each ? cgroups->count : 1;
	int ret = 0;

	set->events = calloc(count * times + 1 + set->measure->teller, sizeof(*set->events));
	if (!set->events)
		return -ENOMEM;
	for (size_t i = 0; i < count * times && ret == 0; i++)
		ret = event_make(set, i % count, cgroups->each ? cgroups->list[i / count] :
				 cgroup_of_event(set->measure, i));
	if (ret == 0 && set->measure->teller)
		ret = teller_make(set);
	return ret;
}

/* A descriptor that several events share is closed with the first. */
static void close_cgroup(const struct event_set *set, size_t event)
{
	if (!set->events[event].cgroup)
		return;
	for (size_t i = 0; i < event; i++)
		if (set->events[i].cgroup &&
		    set->events[i].cgroup_fd == set->events[event].cgroup_fd)
			return;
	close(set->events[event].cgroup_fd);
}

/**
 * event_set_init() - find out the events and their targets, without opening anything
 * @set: all zero; to be closed with event_set_close(), also after an error.
 * @dev: where to open them.
 * @measure: which events, which targets.
 * @child: the command that was started, if the target is that.
 * @each_cpu: all CPUs are targets of their own, not one for all.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int event_set_init(struct event_set *set, struct pmuctl_device *dev,
		   const struct measure *measure, pid_t child, bool each_cpu)
{
	int ret;

	set->dev = dev;
	set->measure = measure;
	ret = targets_make(set, child, each_cpu);
	if (ret == 0)
		ret = events_make(set);
	if (ret == 0) {
		set->is_gone = calloc(set->targets.count, sizeof(*set->is_gone));
		set->handles = calloc(set->nr_events * set->targets.count + 1,
				      sizeof(*set->handles));
		if (!set->is_gone || !set->handles)
			ret = -ENOMEM;
	}
	if (ret == -ENOMEM)
		say_error("%s", pmuctl_strerror(ret));
	return ret;
}

/**
 * event_set_prepare() - how an event is switched, and whom it follows
 * @set: the events.
 * @event: number of the event; to be called again if it becomes a leader.
 * @by_exec: counting begins when the command does.
 */
void event_set_prepare(struct event_set *set, size_t event, bool by_exec)
{
	struct perf_event_attr *attr = &set->events[event].attr;
	/* The leader switches the whole group; the others are ready. */
	bool leads = set->events[event].leader == event;

	attr->disabled = leads;
	attr->enable_on_exec = leads && by_exec;
	attr->inherit = !set->measure->no_inherit && !measure_is_of_cpus(set->measure);
	/* Tracepoints are in the kernel, whoever passes them: nothing of them would be left. */
	if (!set->measure->only || attr->type == PERF_TYPE_TRACEPOINT)
		return;
	attr->exclude_user = set->measure->only == 'k';
	attr->exclude_kernel = set->measure->only == 'u';
	attr->exclude_hv = set->measure->only == 'u';
}

/* ------------------------------------------------------------------- open */

/* What the library is asked for, but for the leader */
static struct pmuctl_list_entry entry_of(const struct event_set *set, size_t event, size_t target)
{
	const struct measure *measure = set->measure;
	bool of_cpus = measure_is_of_cpus(measure);
	bool of_process = measure->kind == TARGET_PROCESS && !targets_are_threads(measure);
	const struct set_event *of = &set->events[event];
	int id = set->targets.list[target];

	return (struct pmuctl_list_entry){
		.attr = &set->events[event].attr,
		.pid = of->cgroup ? of->cgroup_fd : of_cpus ? -1 : id,
		.cpu = event_set_cpu(set, target),
		.flags = of->cgroup ? PERF_FLAG_PID_CGROUP : of_process ? PMUCTL_OPEN_PROCESS : 0,
	};
}

static int open_one(struct event_set *set, size_t event, size_t target)
{
	struct pmuctl_list_entry entry = entry_of(set, event, target);
	size_t leader = set->events[event].leader;

	return pmuctl_event_open_group(set->dev, entry.attr, entry.pid, entry.cpu, entry.flags,
				       leader == event ? NULL :
				       *event_set_handle(set, leader, target),
				       event_set_handle(set, event, target));
}

/* Entries in the order of the handles, so that a leader comes before its siblings */
static int open_list(struct event_set *set, struct pmuctl_list_entry *list)
{
	const size_t nr_targets = set->targets.count;
	int ret;

	for (size_t i = 0; i < set->nr_events * nr_targets; i++) {
		size_t event = i / nr_targets, target = i % nr_targets;
		size_t leader = set->events[event].leader;

		list[i] = entry_of(set, event, target);
		if (leader == event)
			continue;
		list[i].flags |= PMUCTL_OPEN_GROUP_ENTRY;
		list[i].leader_entry = (int)(leader * nr_targets + target);
	}
	ret = pmuctl_list_open(set->dev, list, set->nr_events * nr_targets);
	for (size_t i = 0; i < set->nr_events * nr_targets && ret == 0; i++)
		set->handles[i] = list[i].event;
	return ret;
}

static int set_filters(const struct event_set *set)
{
	struct pmuctl_explanation why;
	int ret = 0;

	for (size_t event = 0; event < set->nr_events && ret == 0; event++)
		for (size_t target = 0; target < set->targets.count && ret == 0; target++)
			ret = event_filter_set(set, event, *event_set_handle(set, event, target), &why);
	return ret;
}

static void close_handles_of(struct event_set *set, size_t event)
{
	for (size_t target = 0; target < set->targets.count; target++) {
		struct pmuctl_event **handle = event_set_handle(set, event, target);

		pmuctl_event_close(*handle);
		*handle = NULL;
	}
}

static void close_handles(struct event_set *set)
{
	for (size_t event = 0; set->handles && event < set->nr_events; event++)
		close_handles_of(set, event);
}

/* As in perf it opens, and counts nothing: who types it does not mean that. */
static bool is_of_no_level(const struct set_event *event)
{
	return event->attr.exclude_user && event->attr.exclude_kernel;
}

/**
 * event_set_open_at_once() - open all events on all targets in one call
 * @set: the events, none of which is open.
 *
 * Return: are all open? If not, none is: event_set_open() finds out which is refused, and opens
 * the others.
 */
bool event_set_open_at_once(struct event_set *set)
{
	size_t nr = set->nr_events * set->targets.count;
	struct pmuctl_list_entry *list;
	int ret;

	if (nr > PMUCTL_LIST_MAX)
		return false;
	for (size_t i = 0; i < set->nr_events; i++)
		if (is_of_no_level(&set->events[i]))
			return false;
	list = calloc(nr, sizeof(*list));
	ret = list ? open_list(set, list) : -ENOMEM;
	free(list);
	if (ret == 0)
		ret = set_filters(set);
	if (ret < 0)
		close_handles(set);
	return ret == 0;
}

/* The user asked for nothing in particular: then user space only will do. */
static bool fall_back_to_user(struct event_set *set, struct set_event *event,
			      const struct pmuctl_explanation *why)
{
	char *name;

	if (set->measure->events_text || measure_is_of_cpus(set->measure) ||
	    why->code != PMUCTL_WHY_PERM_KERNEL || event->attr.exclude_kernel)
		return false;
	if (asprintf(&name, "%s:u", event->name) < 0)
		return false;
	free(event->name);
	event->name = name;
	event->attr.exclude_kernel = 1;
	event->attr.exclude_hv = 1;
	if (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
		event->attr.exclude_callchain_kernel = 1;
	return true;
}

/* Of a process threads may end at any time, others should be there. */
static bool may_be_gone(const struct event_set *set, size_t event, size_t target)
{
	if (!targets_are_threads(set->measure))
		return event && set->measure->kind == TARGET_PROCESS;
	if (event || target + 1 < set->targets.count)
		return true;
	for (size_t i = 0; i < target; i++)
		if (!set->is_gone[i])
			return true;
	return false;
}

static int refuse_no_level(struct pmuctl_explanation *why)
{
	*why = (struct pmuctl_explanation){
		.size = sizeof(*why),
		.error = EINVAL,
		.code = PMUCTL_WHY_BUILDER_LEVELS,
		.field = "attr.exclude_kernel",
		.sentence = "user space and the kernel are both left out, so nothing could ever be counted: add u or k to its modifiers",
	};
	return -EINVAL;
}

/* On some CPUs of a hybrid processor the whole group is not open, as they cannot count it. */
static bool is_without_leader(const struct event_set *set, size_t event, size_t target)
{
	size_t leader = set->events[event].leader;

	return leader != event && !*event_set_handle(set, leader, target);
}

/* Of several CPUs others may count it; those of a group must be the same for all its members. */
static bool may_be_elsewhere(const struct event_set *set, size_t event,
			     const struct pmuctl_explanation *why)
{
	return why->code == PMUCTL_WHY_EVENT_OTHER_CPUS && measure_is_of_cpus(set->measure) &&
	       set->targets.count > 1 && set->events[event].leader == event;
}

static bool is_anywhere(const struct event_set *set, size_t event)
{
	for (size_t target = 0; target < set->targets.count; target++)
		if (*event_set_handle(set, event, target))
			return true;
	return false;
}

static int open_on_target(struct event_set *set, size_t event, size_t target, event_amend amend,
			  struct pmuctl_explanation *why)
{
	int ret;

	do {
		ret = open_one(set, event, target);
		if (ret < 0)
			pmuctl_device_explain(set->dev, why);
	} while (ret < 0 && (fall_back_to_user(set, &set->events[event], why) ||
			     (amend && amend(set, event, why))));
	return ret < 0 ? ret :
	       event_filter_set(set, event, *event_set_handle(set, event, target), why);
}

/**
 * event_set_open() - open an event on all targets
 * @set: the events; those before are open.
 * @event: number of the event.
 * @amend: asked for what to do if it is refused, NULL if that is final.
 * @why: filled if it is refused.
 *
 * CPUs of a type that cannot count it are left out, as long as there are others.
 *
 * Return: 0 or a negative errno.
 */
int event_set_open(struct event_set *set, size_t event, event_amend amend,
		   struct pmuctl_explanation *why)
{
	size_t elsewhere = 0;
	int ret = 0;

	if (is_of_no_level(&set->events[event]))
		return refuse_no_level(why);
	for (size_t target = 0; target < set->targets.count; target++) {
		if (set->is_gone[target] || is_without_leader(set, event, target))
			continue;
		ret = open_on_target(set, event, target, amend, why);
		if (ret == -ESRCH && may_be_gone(set, event, target))
			set->is_gone[target] = true;
		else if (ret < 0 && may_be_elsewhere(set, event, why))
			elsewhere++;
		else if (ret < 0)
			return ret;
	}
	return elsewhere && !is_anywhere(set, event) ? -(int)why->error : 0;
}

/**
 * event_set_leave_group() - let each event of a weak group be by itself, and close what is open
 * @set: the events.
 * @event: one of the group, in which it is refused.
 * @first: the first of the group: all from there on are to be prepared and opened anew.
 *
 * Return: false if it is in no such group.
 */
bool event_set_leave_group(struct event_set *set, size_t event, size_t *first)
{
	*first = set->events[event].leader;
	if (*first == event || !set->events[event].is_weak)
		return false;
	for (size_t i = *first; i < set->nr_events && set->events[i].leader == *first; i++) {
		close_handles_of(set, i);
		set->events[i].leader = i;
	}
	return true;
}

/**
 * event_set_close() - close all
 * @set: the events.
 */
void event_set_close(struct event_set *set)
{
	close_handles(set);
	for (size_t i = 0; i < set->nr_events; i++)
		close_cgroup(set, i);
	for (size_t i = 0; i < set->nr_events; i++)
		free(set->events[i].name);
	int_list_free(&set->targets);
	int_list_free(&set->cpus);
	free(set->is_gone);
	free(set->handles);
	free(set->events);
}

/* ------------------------------------------------------------- on and off */

/* With those that it leads */
static bool is_switched(const struct event_set *set, size_t event)
{
	return set->events[event].leader == event && !set->events[event].stays_on;
}

static int each_leader(const struct event_set *set, const char *what,
		       int (*call)(struct pmuctl_event *event))
{
	for (size_t event = 0; event < set->nr_events; event++) {
		if (!is_switched(set, event))
			continue;
		for (size_t target = 0; target < set->targets.count; target++) {
			struct pmuctl_event *handle =
				*event_set_handle(set, event, target);
			int ret = handle ? call(handle) : 0;

			/* A target that has ended has simply done less. */
			if (ret < 0 && ret != -ESRCH)
				return event_set_say(set, event, handle, what, ret);
		}
	}
	return 0;
}

/* What each_leader() does, in one call; a refusal is found again by that, which tells of it. */
static int all_leaders(const struct event_set *set,
		       int (*call)(struct pmuctl_device *dev, struct pmuctl_event *const *events,
				   size_t nr))
{
	size_t nr_targets = set->targets.count, nr = 0;
	struct pmuctl_event **events = calloc(set->nr_events * nr_targets, sizeof(*events));
	int ret;

	if (!events)
		return -ENOMEM;
	for (size_t i = 0; i < set->nr_events * nr_targets; i++)
		if (is_switched(set, i / nr_targets) && set->handles[i])
			events[nr++] = set->handles[i];
	ret = nr ? call(set->dev, events, nr) : 0;
	free(events);
	return ret;
}

/**
 * event_set_enable() - start all
 * @set: the events.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int event_set_enable(const struct event_set *set)
{
	return all_leaders(set, pmuctl_list_enable) == 0 ? 0 :
	       each_leader(set, "enable", pmuctl_event_enable);
}

/**
 * event_set_disable() - stop all
 * @set: the events.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int event_set_disable(const struct event_set *set)
{
	return all_leaders(set, pmuctl_list_disable) == 0 ? 0 :
	       each_leader(set, "disable", pmuctl_event_disable);
}
