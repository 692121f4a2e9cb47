/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics: numbers that are computed of several counts. tables.c has them, with the events that
 * they need on each core; expression.c computes them; choose.c finds those that are asked for.
 */
#ifndef PMUCTL_TOOL_METRIC_H
#define PMUCTL_TOOL_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "command.h"

/**
 * struct metric_event - what a formula calls an event
 * @name: its name in the vendor's tables, or a generic event's.
 * @terms: what it is between the slashes of cpu/.../; NULL: @name is a name of a list of events.
 */
struct metric_event {
	const char *name;
	const char *terms;
};

/**
 * struct metric - a number that is computed of counts
 * @name: its name, perf's where perf has it.
 * @group: of metrics that are asked for together.
 * @unit: "%" or what it is so many of.
 * @formula: see metric_compute(), with the names of events.
 * @text: what it tells.
 */
struct metric {
	const char *name;
	const char *group;
	const char *unit;
	const char *formula;
	const char *text;
};

/**
 * struct metric_model - CPUs by CPUID
 * @family: with the extended one.
 * @first: the first model number.
 * @last: the last one.
 */
struct metric_model {
	unsigned int family;
	unsigned int first;
	unsigned int last;
};

/**
 * struct metric_core - the metrics of a core
 * @name: of the core; NULL: of every CPU.
 * @vendor: as CPUID has it; NULL: any.
 * @models: CPUs that have the core, up to one of zeroes; NULL: every CPU.
 * @events: up to one without a name.
 * @metrics: likewise.
 */
struct metric_core {
	const char *name;
	const char *vendor;
	const struct metric_model *models;
	const struct metric_event *events;
	const struct metric *metrics;
};

/* Room for the name of an event in a formula */
#define METRIC_NAME_SIZE 80

/* tables.c: up to one without metrics; the first one is of every CPU. */
extern const struct metric_core metric_cores[];

/* expression.c */

/**
 * struct metric_facts - what formulas know of the machine
 * @smt_on: its cores run several threads.
 * @count: gives the count of an event; false if there is none.
 * @arg: for @count.
 */
struct metric_facts {
	bool smt_on;
	bool (*count)(void *arg, const char *name, double *count);
	void *arg;
};

bool metric_compute(const char *formula, const struct metric_facts *facts, double *value);
int metric_names(const char *formula, bool smt_on,
		 void (*visit)(void *arg, const char *name), void *arg);

/* machine.c, choose.c */

/**
 * struct metric_machine - what the metrics of a machine depend on
 * @model: its CPU.
 * @is_hybrid: its cores are of several types.
 * @smt_on: its cores run several threads.
 */
struct metric_machine {
	struct cpu_model model;
	bool is_hybrid;
	bool smt_on;
};

void metric_machine_get(struct metric_machine *machine);

/**
 * struct metric_choice - the metrics that are asked for
 * @count: how many.
 * @list: the metrics.
 * @cores: of each, whose it is.
 * @smt_on: of the machine.
 */
struct metric_choice {
	size_t count;
	const struct metric **list;
	const struct metric_core **cores;
	bool smt_on;
};

/**
 * struct metric_room - the counters of a CPU
 * @general: of any event.
 * @has_fixed: cycles and instructions have their own.
 */
struct metric_room {
	unsigned int general;
	bool has_fixed;
};

const struct metric_core *metric_core_of(const struct metric_machine *machine);
int metric_choose(const struct metric_machine *machine, const char *names,
		  struct metric_choice *choice, const char **unknown);
void metric_choice_free(struct metric_choice *choice);
int metric_events_print(const struct metric_choice *choice, const struct metric_room *room,
			FILE *out);
const char *metric_first_event(const struct metric_choice *choice, size_t number, char *name,
			       size_t size);

#endif /* PMUCTL_TOOL_METRIC_H */
