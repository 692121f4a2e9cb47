// SPDX-License-Identifier: GPL-2.0-only
/*
 * The open counters of "pmuctl stat": enabled together, read group by group or CPU by
 * CPU, and added up, since the start or since the last mark.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmuctl_list.h>

#include "counters.h"

/* No group is larger: no PMU has as many counters. */
#define MEMBERS_MAX 64

/* ------------------------------------------------------------- on and off */

int counters_enable(const struct counters *c)
{
	return event_set_enable(&c->set);
}

int counters_disable(const struct counters *c)
{
	return event_set_disable(&c->set);
}

/* ------------------------------------------------------------------- read */

static void slot_store(struct counters *c, size_t event, size_t slot,
		       const struct pmuctl_reading *reading)
{
	c->now[event * c->nr_slots + slot] = (struct count){
		.value = reading->value,
		.enabled = reading->time_enabled,
		.running = reading->time_running,
	};
}

/* All members that @leader has on this target, of one instant */
static int read_group(struct counters *c, size_t leader, size_t target)
{
	struct pmuctl_event *handle = *event_set_handle(&c->set, leader, target);
	struct pmuctl_reading readings[MEMBERS_MAX];
	int at = 0, got;

	if (!(c->set.events[leader].attr.read_format & PERF_FORMAT_GROUP)) {
		got = pmuctl_event_read(handle, readings);
		if (got == 0)
			slot_store(c, leader, target, readings);
		return got;
	}
	got = pmuctl_group_read(handle, readings, MEMBERS_MAX);
	for (size_t event = leader; event < c->set.nr_events && at < got; event++)
		if (c->set.events[event].leader == leader &&
		    *event_set_handle(&c->set, event, target))
			slot_store(c, event, target, &readings[at++]);
	return got < 0 ? got : 0;
}

/* How many are read with @leader on this target */
static size_t count_members(const struct counters *c, size_t leader, size_t target)
{
	size_t n = 0;

	for (size_t event = leader; event < c->set.nr_events; event++)
		n += c->set.events[event].leader == leader &&
		     *event_set_handle(&c->set, event, target);
	return n;
}

static void store_members(struct counters *c, size_t leader, size_t target,
			  const struct pmuctl_list_reading *from)
{
	int at = 0;

	for (size_t event = leader; event < c->set.nr_events && at < from->got; event++)
		if (c->set.events[event].leader == leader &&
		    *event_set_handle(&c->set, event, target))
			slot_store(c, event, target, &from->readings[at++]);
}

/* All that is read of all targets, each with room at @readings: how many entries */
static size_t fill_list(const struct counters *c, struct pmuctl_list_reading *list,
			struct pmuctl_reading *readings)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->set.nr_events * c->set.targets.count; i++) {
		size_t event = i / c->set.targets.count, target = i % c->set.targets.count;

		if (c->set.events[event].leader != event || !c->set.handles[i])
			continue;
		list[nr] = (struct pmuctl_list_reading){
			.event = c->set.handles[i],
			.readings = readings,
			.max = count_members(c, event, target),
		};
		readings += list[nr++].max;
	}
	return nr;
}

static void store_list(struct counters *c, const struct pmuctl_list_reading *list)
{
	for (size_t i = 0; i < c->set.nr_events * c->set.targets.count; i++) {
		size_t event = i / c->set.targets.count, target = i % c->set.targets.count;

		if (c->set.events[event].leader == event && c->set.handles[i])
			store_members(c, event, target, list++);
	}
}

/* As read_targets(), in one call; a refusal is found again by that, which tells of it. */
static int read_at_once(struct counters *c)
{
	size_t all = c->set.nr_events * c->set.targets.count, nr;
	struct pmuctl_list_reading *list = calloc(all, sizeof(*list));
	struct pmuctl_reading *readings = calloc(all, sizeof(*readings));
	int ret = -ENOMEM;

	if (list && readings) {
		nr = fill_list(c, list, readings);
		ret = nr ? pmuctl_list_read(c->set.dev, list, nr) : 0;
		if (ret == 0)
			store_list(c, list);
	}
	free(list);
	free(readings);
	return ret;
}

static int read_targets(struct counters *c)
{
	for (size_t event = 0; event < c->set.nr_events; event++) {
		if (c->set.events[event].leader != event)
			continue;
		for (size_t target = 0; target < c->set.targets.count; target++) {
			struct pmuctl_event *handle =
				*event_set_handle(&c->set, event, target);
			int ret = handle ? read_group(c, event, target) : 0;

			/* In error state it has counted nothing since. */
			if (ret == 0 || ret == -ENODATA)
				continue;
			return event_set_say(&c->set, event, handle, "read", ret);
		}
	}
	return 0;
}

static void cpus_store(struct counters *c, size_t event,
		       const struct pmuctl_cpu_count *cpus)
{
	for (size_t slot = 0; slot < c->nr_slots; slot++) {
		struct place *place = &c->places[slot];

		c->now[event * c->nr_slots + slot] = (struct count){
			.value = cpus[slot].value,
			.enabled = cpus[slot].time_enabled,
			.running = cpus[slot].time_running,
		};
		place->cpu = (int)cpus[slot].cpu;
		place->is_present = cpus[slot].online || cpus[slot].time_enabled;
	}
}

int counters_read_cpus(struct counters *c)
{
	struct pmuctl_cpu_count *cpus = calloc(c->nr_slots, sizeof(*cpus));
	int ret = 0;

	if (!cpus)
		return -ENOMEM;
	for (size_t event = 0; event < c->set.nr_events && ret >= 0; event++) {
		struct pmuctl_event *handle = *event_set_handle(&c->set, event, 0);

		if (!handle)
			continue;
		ret = pmuctl_event_read_cpus(handle, cpus, c->nr_slots);
		if (ret < 0)
			event_set_say(&c->set, event, handle, "read", ret);
		else
			cpus_store(c, event, cpus);
	}
	free(cpus);
	return ret < 0 ? ret : 0;
}

/* ----------------------------------------------------------------- add up */

static void row_add(struct stat_row *row, const struct count *now,
		    const struct count *before, bool is_raw)
{
	const struct pmuctl_reading difference = {
		.value = now->value - before->value,
		.time_enabled = now->enabled - before->enabled,
		.time_running = now->running - before->running,
	};

	row->value += is_raw ? difference.value : pmuctl_reading_estimate(&difference);
	row->enabled += difference.time_enabled;
	row->running += difference.time_running;
}

static void rows_clear(struct counters *c)
{
	for (size_t i = 0; i < c->set.nr_events * c->nr_cells; i++) {
		struct stat_row *row = &c->rows[i];

		row->value = 0;
		row->enabled = 0;
		row->running = 0;
	}
}

/* CPUs come and go. */
static void cells_judge(struct counters *c)
{
	for (size_t slot = 0; slot < c->nr_slots; slot++) {
		struct cell *cell = &c->cells[c->cell_of[slot]];

		if (cell->cpu != ROW_ALL_TARGETS)
			cell->cpu = c->places[slot].cpu;
	}
}

/* An event for one type of CPU is not open on others. */
static bool is_open(const struct counters *c, size_t event, size_t slot)
{
	return c->places[slot].is_present &&
	       (counters_are_by_cpu(c) || !c->is_supported[event] ||
		*event_set_handle(&c->set, event, slot));
}

static void row_judge(const struct counters *c, struct stat_row *row, bool is_supported)
{
	row->state = row->running ? ROW_COUNTED : ROW_NOT_COUNTED;
	if (!is_supported)
		row->state = ROW_NOT_SUPPORTED;
	if (!row->cpus)
		row->state = ROW_ABSENT;
	if (c->options->aggregate == AGGREGATE_THREAD)
		row->cpus = 0;
}

static void rows_judge(struct counters *c)
{
	cells_judge(c);
	for (size_t event = 0; event < c->set.nr_events; event++) {
		struct stat_row *rows = &c->rows[event * c->nr_cells];

		for (size_t i = 0; i < c->nr_cells; i++) {
			rows[i].cpu = c->cells[i].cpu;
			rows[i].cpus = 0;
		}
		for (size_t slot = 0; slot < c->nr_slots; slot++)
			rows[c->cell_of[slot]].cpus += is_open(c, event, slot);
		for (size_t i = 0; i < c->nr_cells; i++)
			row_judge(c, &rows[i], c->is_supported[event]);
	}
}

/**
 * counters_read() - add up what was counted since the last mark
 * @c: the counters.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int counters_read(struct counters *c)
{
	bool by_cpu = counters_are_by_cpu(c);
	int ret = by_cpu ? counters_read_cpus(c) : read_at_once(c);

	if (ret < 0 && !by_cpu)
		ret = read_targets(c);
	if (ret < 0)
		return ret;
	rows_clear(c);
	for (size_t event = 0; event < c->set.nr_events; event++) {
		for (size_t slot = 0; slot < c->nr_slots; slot++) {
			size_t cell = c->cell_of[slot];
			size_t at = event * c->nr_slots + slot;

			row_add(&c->rows[event * c->nr_cells + cell], &c->now[at],
				&c->before[at], c->options->no_scale);
		}
	}
	rows_judge(c);
	return 0;
}

static void put_time(struct counters *c, size_t event, uint64_t ns, bool is_known)
{
	bool is_first = true;

	for (size_t cell = 0; cell < c->nr_cells; cell++) {
		struct stat_row *row = &c->rows[event * c->nr_cells + cell];

		if (row->state == ROW_ABSENT)
			continue;
		row->state = !is_first ? ROW_ABSENT : is_known ? ROW_COUNTED : ROW_NOT_COUNTED;
		row->value = ns;
		row->enabled = is_known ? ns : 0;
		row->running = row->enabled;
		is_first = false;
	}
}

/**
 * counters_put_times() - give the events that are times their values, once each
 * @c: the counters, which were read.
 * @times: the values.
 */
void counters_put_times(struct counters *c, const struct stat_times *times)
{
	for (size_t event = 0; event < c->set.nr_events; event++) {
		switch (event_time_find(c->set.events[event].name)) {
		case EVENT_TIME_DURATION:
			put_time(c, event, times->duration, true);
			break;
		case EVENT_TIME_USER:
			put_time(c, event, times->user, times->has_usage);
			break;
		case EVENT_TIME_SYSTEM:
			put_time(c, event, times->system, times->has_usage);
			break;
		case EVENT_TIME_NONE:
			break;
		}
	}
}

/**
 * counters_mark() - let the next results be the differences from those of now
 * @c: the counters, which were read.
 */
void counters_mark(struct counters *c)
{
	memcpy(c->before, c->now, c->set.nr_events * c->nr_slots * sizeof(*c->now));
}

/**
 * counters_forget_mark() - let the next results be those since the start
 * @c: the counters.
 */
void counters_forget_mark(struct counters *c)
{
	memset(c->before, 0, c->set.nr_events * c->nr_slots * sizeof(*c->before));
}

/* ----------------------------------------------------------------- queries */

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

	for (size_t target = 0; target < c->set.targets.count; target++) {
		for (size_t event = 0; event < c->set.nr_events; event++) {
			struct pmuctl_event *handle =
				*event_set_handle(&c->set, event, target);

			if (!handle)
				continue;
			if (found < max)
				fds[found] = pmuctl_event_fd(handle);
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
	*count = c->set.nr_events * c->nr_cells;
	return c->rows;
}
