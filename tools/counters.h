/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of the counters of "pmuctl stat", for stat_open.c and stat_count.c.
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
 * struct counters - events times targets
 * @dev: where they are opened.
 * @options: what was asked for.
 * @events: what to count; the results are in @rows.
 * @nr_events: how many.
 * @targets: pids, thread ids or CPUs; for all CPUs at once a single -1.
 * @handles: nr_events * targets.count, event by event; NULL where nothing is open.
 * @nr_slots: readings of each event: one for each target, or where one target
 *	stands for all CPUs and they are asked for one by one, for each CPU.
 * @places: of the slots.
 * @now: nr_events * nr_slots, event by event: what was read last.
 * @before: the same, of the last mark.
 * @rows: nr_events * nr_cells, event by event.
 * @nr_cells: rows of each event: as many as slots, or one for their sum.
 */
struct counters {
	struct pmuctl_device *dev;
	const struct stat_options *options;
	struct stat_row *events;
	size_t nr_events;
	struct int_list targets;
	struct pmuctl_event **handles;
	size_t nr_slots;
	struct place *places;
	struct count *now;
	struct count *before;
	struct stat_row *rows;
	size_t nr_cells;
};

struct pmuctl_event **counters_handle(const struct counters *c, size_t event,
				      size_t target);
void counters_say_refusal(const struct counters *c, size_t event,
			  struct pmuctl_event *handle, const char *what, int error);

#endif /* PMUCTL_TOOL_COUNTERS_H */
