/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of the counters of "pmuctl stat", for open.c, cells.c and count.c.
 */
#ifndef PMUCTL_TOOL_COUNTERS_H
#define PMUCTL_TOOL_COUNTERS_H

#include "stat.h"

/**
 * struct count - a reading, or the difference of two
 * @value: as the driver has it, not scaled.
 * @enabled: nanoseconds.
 * @running: nanoseconds.
 */
struct count {
	uint64_t value;
	uint64_t enabled;
	uint64_t running;
};

/**
 * struct place - where a slot was counted
 * @cpu: the CPU, if rows are for single CPUs.
 * @is_present: it is online, or has been while something was counted.
 */
struct place {
	int cpu;
	bool is_present;
};

/**
 * struct cell - whose readings are added up to one row of each event
 * @name: the core, thread, ...; NULL if it needs none.
 * @cpu: if it is a single CPU, else ROW_ALL_TARGETS.
 */
struct cell {
	char *name;
	int cpu;
};

/**
 * struct counters - events times targets, and what they have counted
 * @set: events and targets.
 * @options: what was asked for.
 * @is_supported: of each event: this CPU has it.
 * @each_cpu: of all CPUs each is a target of its own, as not all can count everything.
 * @nr_slots: readings of each event: one for each target, or where one target
 *	stands for all CPUs and they are asked for one by one, for each CPU.
 * @places: of the slots.
 * @cell_of: of each slot, the number of its cell.
 * @cells: rows of each event.
 * @now: nr_events * nr_slots, event by event: what was read last.
 * @before: the same, of the last mark.
 * @rows: nr_events * nr_cells, event by event.
 * @nr_cells: how many.
 */
struct counters {
	struct event_set set;
	const struct stat_options *options;
	bool *is_supported;
	bool each_cpu;
	size_t nr_slots;
	struct place *places;
	size_t *cell_of;
	struct cell *cells;
	struct count *now;
	struct count *before;
	struct stat_row *rows;
	size_t nr_cells;
};

/* Is each CPU read by itself, from events that are of all? */
bool counters_are_by_cpu(const struct counters *c);

/* count.c: reads them, and tells which CPU each slot is of. */
int counters_read_cpus(struct counters *c);

/* cells.c */
int cells_make(struct counters *c);
void cells_free(struct counters *c);

#endif /* PMUCTL_TOOL_COUNTERS_H */
