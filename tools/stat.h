/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl stat": what its parts share. stat.c understands the command line,
 * stat_count.c opens and reads the events, stat_run.c starts the command and waits,
 * stat_print.c writes the results.
 */
#ifndef PMUCTL_TOOL_STAT_H
#define PMUCTL_TOOL_STAT_H

#include <signal.h>
#include <stdio.h>

#include "command.h"

enum row_state {
	ROW_COUNTED,
	ROW_NOT_COUNTED,	/* it never had a counter */
	ROW_NOT_SUPPORTED,	/* this CPU has no such event */
};

/**
 * struct stat_row - the result of one event, over all targets
 * @name: as the user wrote it.
 * @attr: what was counted.
 * @state: whether there is a value at all.
 * @value: the count; an estimate if @running is less than @enabled.
 * @enabled: nanoseconds that it was enabled, summed over the targets.
 * @running: nanoseconds of these that it was counting.
 */
struct stat_row {
	char *name;
	struct perf_event_attr attr;
	enum row_state state;
	uint64_t value;
	uint64_t enabled;
	uint64_t running;
};

/**
 * struct stat_result - all that is printed
 * @what: "'gzip file'", "process id '12'": the end of the headline.
 * @rows: the events.
 * @count: how many.
 * @elapsed: seconds of wall clock.
 * @has_usage: if @user and @system are known.
 * @user: seconds of CPU time in user space.
 * @system: seconds in the kernel.
 */
struct stat_result {
	const char *what;
	const struct stat_row *rows;
	size_t count;
	double elapsed;
	bool has_usage;
	double user;
	double system;
};

enum target_kind {
	TARGET_COMMAND,		/* the command that is started */
	TARGET_PROCESS,		/* all threads of processes */
	TARGET_THREAD,
	TARGET_CPU,
};

/**
 * struct int_list - numbers from the command line
 * @count: how many.
 * @list: the numbers.
 */
struct int_list {
	size_t count;
	int *list;
};

/**
 * struct stat_options - what the command line asks for
 * @events: the events, parsed.
 * @default_events: they were not chosen by the user.
 * @kind: whom to count.
 * @ids: the pids, thread ids or CPUs of @kind.
 * @ids_text: the same as it was typed.
 * @separator: of the CSV output, NULL for none.
 * @json: JSON output.
 * @output: file to write to, NULL for stderr.
 * @append: to its end.
 * @argv: the command to start, NULL if there is none.
 */
struct stat_options {
	struct pmuctl_events *events;
	bool default_events;
	enum target_kind kind;
	struct int_list ids;
	const char *ids_text;
	const char *separator;
	bool json;
	const char *output;
	bool append;
	char **argv;
};

/* stat_count.c: counters are the events on all targets. */
struct counters;

int counters_open(struct pmuctl_device *dev, const struct stat_options *options,
		  pid_t child, struct counters **counters);
void counters_close(struct counters *counters);
int counters_enable(struct counters *counters);
int counters_disable(struct counters *counters);
int counters_read(struct counters *counters);
size_t counters_fds(const struct counters *counters, int *fds, size_t max);
const struct stat_row *counters_rows(const struct counters *counters,
				     size_t *count);

/* stat_run.c */

/**
 * struct child - the command that is started
 * @pid: of the process, which waits for a byte on @go before it becomes the command.
 * @go: write end of that pipe.
 * @failure: read end of the pipe that tells the errno of a failed exec.
 */
struct child {
	pid_t pid;
	int go;
	int failure;
};

int signals_block(sigset_t *before);
int child_start(struct child *child, char **argv, const sigset_t *before);
int child_go(struct child *child);
void child_cancel(struct child *child);

/**
 * struct run_end - how the measured time ended
 * @status: exit status for the tool.
 * @has_usage: @user and @system are those of the command.
 * @user: seconds.
 * @system: seconds.
 */
struct run_end {
	int status;
	bool has_usage;
	double user;
	double system;
};

int run_wait(int signals, pid_t child, int *fds, size_t nr_fds,
	     struct run_end *end);

/* stat_print.c */
void print_text(FILE *out, const struct stat_result *result);
void print_csv(FILE *out, const struct stat_result *result, const char *separator);
int print_json(FILE *out, const struct stat_result *result);
void format_thousands(uint64_t value, char *buffer, size_t size);
bool row_metric(const struct stat_result *result, const struct stat_row *row,
		double *value, const char **unit);

/* lists.c */
int int_list_parse(const char *text, bool ranges, struct int_list *list,
		   size_t *position);
void int_list_free(struct int_list *list);

#endif /* PMUCTL_TOOL_STAT_H */
