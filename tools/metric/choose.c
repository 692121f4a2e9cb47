// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which metrics a machine has, which of them are asked for, and the list of events that they
 * need.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "metric/metric.h"

static bool is_of(const struct metric_core *core, const struct metric_machine *machine)
{
	const struct cpu_model *cpu = &machine->model;

	if (!core->models || machine->is_hybrid || strcmp(core->vendor, cpu->vendor) != 0)
		return false;
	for (const struct metric_model *model = core->models; model->family; model++)
		if (model->family == cpu->family && cpu->model >= model->first &&
		    cpu->model <= model->last)
			return true;
	return false;
}

/**
 * metric_core_of() - the core that a machine has
 * @machine: the machine.
 *
 * Return: the core, or NULL if nothing is known of it; also of hybrid processors, on which a
 * formula would have to be that of the core where the events were counted.
 */
const struct metric_core *metric_core_of(const struct metric_machine *machine)
{
	for (const struct metric_core *core = metric_cores; core->metrics; core++)
		if (is_of(core, machine))
			return core;
	return NULL;
}

/* ------------------------------------------------------------------ choose */

static int add(struct metric_choice *choice, const struct metric_core *core,
	       const struct metric *metric)
{
	const struct metric **list;
	const struct metric_core **cores;

	for (size_t i = 0; i < choice->count; i++)
		if (choice->list[i] == metric)
			return 0;
	list = realloc(choice->list, (choice->count + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	choice->list = list;
	cores = realloc(choice->cores, (choice->count + 1) * sizeof(*cores));
	if (!cores)
		return -ENOMEM;
	choice->cores = cores;
	list[choice->count] = metric;
	cores[choice->count++] = core;
	return 0;
}

/* perf's older names, and Intel's and AMD's names of one thing */
static bool is_named(const struct metric *metric, const char *name)
{
	if (!strcasecmp(name, "IPC"))
		name = "insn_per_cycle";
	else if (!strcasecmp(name, "CPI"))
		name = "cycles_per_insn";
	return !strcmp(metric->name, name) || !strcmp(metric->group, name) ||
	       (!strcmp(metric->group, "PipelineL1") && !strcmp(name, "TopdownL1"));
}

/* Returns how many there are of that name, or -ENOMEM. */
static int add_named(struct metric_choice *choice, const struct metric_core *core,
		     const char *name)
{
	int found = 0;

	for (const struct metric *metric = core->metrics; metric->name; metric++) {
		if (!is_named(metric, name))
			continue;
		if (add(choice, core, metric) < 0)
			return -ENOMEM;
		found++;
	}
	return found;
}

static int choose_one(const struct metric_core *own, const char *name,
		      struct metric_choice *choice)
{
	int found = add_named(choice, &metric_cores[0], name);

	if (found == 0 && own)
		found = add_named(choice, own, name);
	return found > 0 ? 0 : found < 0 ? found : -ENOENT;
}

/**
 * metric_choose() - find metrics by their names
 * @machine: whose.
 * @names: of metrics and of groups, with commas between.
 * @choice: the result, to be freed by metric_choice_free() in any case.
 * @unknown: where in @names what is not found begins.
 *
 * Return: 0, -ENOENT or -ENOMEM.
 */
int metric_choose(const struct metric_machine *machine, const char *names,
		  struct metric_choice *choice, const char **unknown)
{
	const struct metric_core *own = metric_core_of(machine);

	*choice = (struct metric_choice){ .smt_on = machine->smt_on };
	for (;;) {
		size_t length = strcspn(names, ",");
		char *name = strndup(names, length);
		int ret = name ? choose_one(own, name, choice) : -ENOMEM;

		free(name);
		*unknown = names;
		if (ret < 0)
			return ret;
		if (!names[length])
			return 0;
		names += length + 1;
	}
}

/**
 * metric_choice_free() - free a choice
 * @choice: from metric_choose().
 */
void metric_choice_free(struct metric_choice *choice)
{
	free(choice->list);
	free(choice->cores);
	*choice = (struct metric_choice){ .count = 0 };
}

/* ------------------------------------------------------------------ events */

/* More than a formula, or the formulas of a group, can have */
#define EVENTS_MAX 64

/**
 * struct need - the events of a group of metrics
 * @core: whose names they are.
 * @events: each once.
 * @count: how many.
 * @before: names that other groups have already.
 * @nr_before: how many.
 */
struct need {
	const struct metric_core *core;
	const struct metric_event *events[EVENTS_MAX];
	size_t count;
	const struct metric_event *before[EVENTS_MAX];
	size_t nr_before;
};

static const struct metric_event *find_event(const struct metric_core *core, const char *name)
{
	for (const struct metric_event *event = core->events; event->name; event++)
		if (!strcmp(event->name, name))
			return event;
	return NULL;
}

static bool has(const struct metric_event *const *events, size_t count,
		const struct metric_event *event)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(events[i]->name, event->name))
			return true;
	return false;
}

/* A visit of metric_names() */
static void need_event(void *arg, const char *name)
{
	struct need *need = arg;
	const struct metric_event *event = find_event(need->core, name);

	if (event && need->count < EVENTS_MAX && !has(need->events, need->count, event) &&
	    !has(need->before, need->nr_before, event))
		need->events[need->count++] = event;
}

static size_t general_counters(const struct need *need, bool has_fixed)
{
	size_t count = 0;

	for (size_t i = 0; i < need->count; i++)
		count += !has_fixed || (strcmp(need->events[i]->name, "cycles") != 0 &&
					strcmp(need->events[i]->name, "instructions") != 0);
	return count;
}

/* What fits is one group, as only what was counted at the same time can be compared. */
static void print_need(const struct need *need, const struct metric_room *room, FILE *out)
{
	bool fits = need->count > 1 &&
		    general_counters(need, room->has_fixed) <= room->general;

	if (ftell(out) > 0 && need->count)
		fputc(',', out);
	for (size_t i = 0; i < need->count; i++) {
		const struct metric_event *event = need->events[i];

		fputs(i ? "," : fits ? "{" : "", out);
		if (event->terms)
			fprintf(out, "cpu/%s,name=%s/", event->terms, event->name);
		else
			fputs(event->name, out);
	}
	if (fits)
		fputc('}', out);
}

static bool group_is_new(const struct metric_choice *choice, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (!strcmp(choice->list[i]->group, choice->list[number]->group))
			return false;
	return true;
}

/**
 * metric_events_print() - the list of events that metrics need
 * @choice: the metrics.
 * @room: what can be counted at the same time.
 * @out: where to; a comma comes first if something is there already.
 *
 * The events of the metrics of a group are a group of events if there are counters for all
 * of them. What several groups need is in the first one only.
 *
 * Return: 0, or -EINVAL for a formula that is none.
 */
int metric_events_print(const struct metric_choice *choice, const struct metric_room *room,
			FILE *out)
{
	struct need need = { .count = 0 };

	for (size_t i = 0; i < choice->count; i++) {
		if (!group_is_new(choice, i))
			continue;
		need.core = choice->cores[i];
		need.count = 0;
		for (size_t j = i; j < choice->count; j++)
			if (!strcmp(choice->list[i]->group, choice->list[j]->group) &&
			    metric_names(choice->list[j]->formula, choice->smt_on, need_event,
					 &need) < 0)
				return -EINVAL;
		print_need(&need, room, out);
		for (size_t j = 0; j < need.count && need.nr_before < EVENTS_MAX; j++)
			need.before[need.nr_before++] = need.events[j];
	}
	return 0;
}

struct first_name {
	char *name;
	size_t size;
	bool found;
};

static void keep_first(void *arg, const char *name)
{
	struct first_name *first = arg;

	if (!first->found)
		snprintf(first->name, first->size, "%s", name);
	first->found = true;
}

/**
 * metric_first_event() - the event beside which a metric is printed
 * @choice: the metrics.
 * @number: which of them.
 * @name: where to write the event's name.
 * @size: bytes there.
 *
 * Return: @name; empty for a formula without events.
 */
const char *metric_first_event(const struct metric_choice *choice, size_t number, char *name,
			       size_t size)
{
	struct first_name first = { .name = name, .size = size };

	name[0] = '\0';
	metric_names(choice->list[number]->formula, choice->smt_on, keep_first, &first);
	return name;
}
