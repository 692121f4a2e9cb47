/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which samples of a recording are looked at, for all commands that read one: perf's
 * filters by command, process, thread, CPU, time, file, function and caller.
 */
#ifndef PMUCTL_TOOL_FILTER_H
#define PMUCTL_TOOL_FILTER_H

#include <regex.h>

#include "command.h"
#include "symbols/samples.h"

/**
 * struct filter_range - a part of the numbers that are wanted
 * @first: the first one.
 * @last: the last one.
 */
struct filter_range {
	uint64_t first;
	uint64_t last;
};

/**
 * struct filter_ranges - numbers that are wanted
 * @list: owned; NULL: all.
 * @count: how many.
 */
struct filter_ranges {
	struct filter_range *list;
	size_t count;
};

/**
 * struct filter - which samples are wanted; zeroes: all
 * @comms: commands, with commas between, or NULL.
 * @dsos: likewise files, by path or name.
 * @symbols: likewise functions.
 * @pids: processes.
 * @tids: threads.
 * @cpus: CPUs.
 * @time: as it was given, or NULL.
 * @times: of that, what filter_start() understood.
 * @comm: this command, whole, with commas that may be in it, or NULL.
 * @symbol_part: only rows whose function has this in its name, or NULL.
 * @dso_row: only rows of the file with this name, as rows have it, or NULL.
 * @has_parent: only samples of which a caller matches @parent.
 * @parent: the expression, for the key "parent".
 * @parent_set: it is there, and to be freed.
 * @relative: percentages are of what is left, not of all.
 * @hide_kernel: no samples in the kernel.
 * @hide_user: none in user space.
 * @hide_unresolved: none of which no function is known.
 */
struct filter {
	const char *comms;
	const char *dsos;
	const char *symbols;
	struct filter_ranges pids;
	struct filter_ranges tids;
	struct filter_ranges cpus;
	const char *time;
	struct filter_ranges times;
	const char *comm;
	const char *symbol_part;
	const char *dso_row;
	bool has_parent;
	regex_t parent;
	bool parent_set;
	bool relative;
	bool hide_kernel;
	bool hide_user;
	bool hide_unresolved;
};

int filter_numbers(const struct command *command, struct filter_ranges *ranges,
		   const char *what, const char *text);
bool filter_ranges_have(const struct filter_ranges *ranges, int64_t number);
int filter_parent(const struct command *command, struct filter *filter, const char *text);
int filter_start(struct filter *filter, const struct samples *samples);
bool filter_skips(const struct filter *filter, const struct perffile_record *record);
bool filter_has(const struct filter *filter, struct samples *samples,
		const struct perffile_record *record, const struct thread *thread);
const char *filter_parent_of(const struct filter *filter, struct samples *samples,
			     bool outermost_first);
bool filter_list_has(const char *list, const char *word);
void filter_free(struct filter *filter);

/* times.c */
int times_parse(struct filter_ranges *times, const char *text, uint64_t first, uint64_t last);

#endif /* PMUCTL_TOOL_FILTER_H */
