// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening the counters of "pmuctl stat", and room for what they count. What to do when
 * an event is refused is decided here.
 */
#include <errno.h>
#include <stdlib.h>

#include "counters.h"

/* ------------------------------------------------------------------- open */

static void attr_prepare(struct counters *c, size_t event)
{
	struct event_set *set = &c->set;
	struct perf_event_attr *attr = &set->events[event].attr;

	bool by_exec = c->options->measure.kind == TARGET_COMMAND && !c->options->delay;

	event_set_prepare(set, event, by_exec);
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			    PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (event_set_is_grouped(set, event))
		attr->read_format |= PERF_FORMAT_GROUP;
}

/* The leader is not supported: the next of the group takes its place. */
static void leader_pass_on(struct counters *c, size_t event)
{
	struct set_event *events = c->set.events;

	if (!event_set_leads(&c->set, event))
		return;
	events[event + 1].attr.pinned = events[event].attr.pinned;
	events[event + 1].attr.exclusive = events[event].attr.exclusive;
	for (size_t i = event + 1;
	     i < c->set.nr_events && events[i].leader == event; i++)
		events[i].leader = event + 1;
	attr_prepare(c, event + 1);
}

/* What nobody has asked for by name may be missing for any reason that lies in the CPU. */
static bool may_be_missing(const struct counters *c, size_t event,
			   const struct pmuctl_explanation *why)
{
	return why->code == PMUCTL_WHY_EVENT_NOT_HERE ||
	       (c->set.events[event].number >= c->options->nr_asked &&
		why->code != PMUCTL_WHY_CGROUP_NONE &&
		(why->error == ENOENT || why->error == EOPNOTSUPP));
}

/* A weak group is refused as a whole: where to begin anew; @event if it is none. */
static size_t break_group(struct counters *c, size_t event, const struct pmuctl_explanation *why)
{
	size_t first;

	if (why->code != PMUCTL_WHY_GROUP_TOO_BIG ||
	    !event_set_leave_group(&c->set, event, &first))
		return event;
	for (size_t i = first; i < c->set.nr_events; i++)
		attr_prepare(c, i);
	return first;
}

/* On a hybrid processor: what cannot be opened for all CPUs at once, but on some? */
static bool is_of_some_cpus(const struct counters *c, const struct pmuctl_explanation *why)
{
	return why->code == PMUCTL_WHY_EVENT_OTHER_CPUS && !c->each_cpu &&
	       c->options->measure.kind == TARGET_ALL_CPUS;
}

/*
 * Returns 0 or a negative errno; whether any is supported is in c->is_supported. -EAGAIN: each CPU
 * must be a target of its own.
 */
static int open_one_by_one(struct counters *c)
{
	for (size_t event = 0; event < c->set.nr_events; event++) {
		struct pmuctl_explanation why;
		int ret = event_set_open(&c->set, event, NULL, &why);
		size_t again = ret < 0 ? break_group(c, event, &why) : event;

		if (again != event) {
			event = again - 1;
			continue;
		}
		c->is_supported[event] = ret == 0;
		if (ret == 0)
			continue;
		if (is_of_some_cpus(c, &why))
			return -EAGAIN;
		if (c->set.events[event].number < c->options->nr_asked || !may_be_missing(c, event, &why))
			say_refusal(c->set.events[event].name, &why);
		if (!may_be_missing(c, event, &why))
			return ret;
		leader_pass_on(c, event);
	}
	return 0;
}

static int open_all(struct counters *c)
{
	bool at_once;
	int ret;

	descriptors_allow();
	for (size_t event = 0; event < c->set.nr_events; event++)
		attr_prepare(c, event);
	at_once = event_set_open_at_once(&c->set);
	for (size_t event = 0; at_once && event < c->set.nr_events; event++)
		c->is_supported[event] = true;
	ret = at_once ? 0 : open_one_by_one(c);
	for (size_t event = 0; event < c->set.nr_events; event++)
		if (c->is_supported[event])
			return ret;
	if (ret < 0 || c->options->nothing)
		return ret;
	if (!c->options->nr_asked)
		say_error("this CPU can count none of these events: 'pmuctl doctor' tells why");
	return -ENOENT;
}

/* ---------------------------------------------------------------- results */

/* How many CPUs an event of all of them has, or a negative errno */
static int count_cpus(struct counters *c)
{
	for (size_t event = 0; event < c->set.nr_events; event++) {
		struct pmuctl_event *handle = *event_set_handle(&c->set, event, 0);
		int ret = handle ? pmuctl_event_read_cpus(handle, NULL, 0) : 0;

		if (ret < 0)
			event_set_say(&c->set, event, handle, "read", ret);
		if (ret)
			return ret;
	}
	return 0;
}

static int rows_make(struct counters *c)
{
	if (cells_make(c) < 0)
		return -ENOMEM;
	c->rows = calloc(c->set.nr_events * c->nr_cells + 1, sizeof(*c->rows));
	if (!c->rows)
		return -ENOMEM;
	for (size_t i = 0; i < c->set.nr_events * c->nr_cells; i++) {
		const struct set_event *event = &c->set.events[i / c->nr_cells];

		c->rows[i] = (struct stat_row){
			.name = event->name,
			.attr = event->attr,
			.leader = event->leader,
			.cpu = c->cells[i % c->nr_cells].cpu,
			.where = c->cells[i % c->nr_cells].name,
			.cgroup = event->cgroup,
		};
	}
	return 0;
}

bool counters_are_by_cpu(const struct counters *c)
{
	return c->options->measure.kind == TARGET_ALL_CPUS && !c->each_cpu &&
	       c->options->aggregate != AGGREGATE_ALL;
}

static int slots_make(struct counters *c)
{
	size_t nr_targets = c->set.targets.count;

	c->nr_slots = nr_targets;
	if (counters_are_by_cpu(c)) {
		int ret = count_cpus(c);

		if (ret < 0)
			return ret;
		c->nr_slots = (size_t)ret;
	}
	c->places = calloc(c->nr_slots, sizeof(*c->places));
	c->now = calloc(c->set.nr_events * c->nr_slots + 1, sizeof(*c->now));
	c->before = calloc(c->set.nr_events * c->nr_slots + 1, sizeof(*c->before));
	if (!c->places || !c->now || !c->before)
		return -ENOMEM;
	for (size_t slot = 0; slot < c->nr_slots; slot++) {
		bool by_target = !counters_are_by_cpu(c);

		c->places[slot].cpu = by_target ? c->set.targets.list[slot] :
						  (int)slot;
		c->places[slot].is_present = !by_target || !c->set.is_gone[slot];
	}
	if (counters_are_by_cpu(c)) {
		int ret = counters_read_cpus(c);

		if (ret < 0)
			return ret;
	}
	return rows_make(c);
}

static int counters_make(struct counters *c)
{
	int ret;

	c->is_supported = calloc(c->set.nr_events + 1, sizeof(*c->is_supported));
	ret = c->is_supported ? open_all(c) : -ENOMEM;
	if (ret == 0)
		ret = slots_make(c);
	if (ret == -ENOMEM)
		say_error("%s", pmuctl_strerror(ret));
	return ret;
}

static int open_counters(struct pmuctl_device *dev, const struct stat_options *options,
			 pid_t child, bool each_cpu, struct counters **counters)
{
	struct counters *c = calloc(1, sizeof(*c));
	int ret;

	if (!c) {
		say_error("%s", pmuctl_strerror(ENOMEM));
		return -ENOMEM;
	}
	c->options = options;
	c->each_cpu = each_cpu;
	ret = event_set_init(&c->set, dev, &options->measure, child, each_cpu);
	if (ret == 0)
		ret = counters_make(c);
	if (ret < 0)
		counters_close(c);
	else
		*counters = c;
	return ret;
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
	int ret = open_counters(dev, options, child, false, counters);

	return ret == -EAGAIN ? open_counters(dev, options, child, true, counters) : ret;
}

/**
 * counters_close() - close all
 * @c: the counters or NULL.
 */
void counters_close(struct counters *c)
{
	if (!c)
		return;
	event_set_close(&c->set);
	cells_free(c);
	free(c->is_supported);
	free(c->places);
	free(c->now);
	free(c->before);
	free(c->rows);
	free(c);
}
