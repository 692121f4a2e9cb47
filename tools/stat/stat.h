/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl stat": what its parts share. stat.c understands the command line,
 * stat_open.c opens the events, stat_count.c reads them, stat_run.c starts the command and waits,
 * stat_print.c writes the results.
 */
#ifndef PMUCTL_TOOL_STAT_H
#define PMUCTL_TOOL_STAT_H

#include <signal.h>
#include <stdio.h>

#include "evlist/measure.h"

enum row_state {
	ROW_COUNTED,
	ROW_NOT_COUNTED,	/* it never had a counter */
	ROW_NOT_SUPPORTED,	/* this CPU has no such event */
	ROW_ABSENT,		/* of a CPU that was never there: not printed */
};

/* stat_row.cpu of a row that is not of a single CPU */
#define ROW_ALL_TARGETS (-1)

/**
 * struct stat_row - the result of one event, over all targets or on one CPU
 * @name: as the user wrote it.
 * @attr: what was counted.
 * @leader: number of the event that leads its group: its own if it has none.
 * @cpu: on which CPU, or ROW_ALL_TARGETS.
 * @state: whether there is a value at all.
 * @value: the count; an estimate if @running is less than @enabled.
 * @enabled: nanoseconds that it was enabled, summed over the targets.
 * @running: nanoseconds of these that it was counting.
 * @deviation: with repeats, the standard error of the mean @value, in percent of it.
 */
struct stat_row {
	char *name;
	struct perf_event_attr attr;
	size_t leader;
	int cpu;
	enum row_state state;
	uint64_t value;
	uint64_t enabled;
	uint64_t running;
	double deviation;
};

/**
 * struct stat_result - all that is printed
 * @what: "'gzip file'", "process id '12'": the end of the headline.
 * @rows: the events, each for all CPUs in turn.
 * @count: how many.
 * @elapsed: seconds of wall clock.
 * @runs: of how many runs these are the means; 0 if nothing was repeated.
 * @elapsed_deviation: standard error of the mean @elapsed, in seconds.
 * @is_interval: these are the counts of an interval, which ended at @elapsed.
 * @has_heading: it is the first one of a page.
 * @has_usage: if @user and @system are known.
 * @user: seconds of CPU time in user space.
 * @system: seconds in the kernel.
 */
struct stat_result {
	const char *what;
	const struct stat_row *rows;
	size_t count;
	double elapsed;
	unsigned int runs;
	double elapsed_deviation;
	bool is_interval;
	bool has_heading;
	bool has_usage;
	double user;
	double system;
};

/**
 * struct stat_options - what the command line asks for
 * @measure: which events, and whom to count.
 * @per_cpu: a row for each CPU.
 * @interval: print every so many milliseconds, 0 at the end only.
 * @repeat: run the command so many times; 0 and 1 are the same.
 * @separator: of the CSV output, NULL for none.
 * @json: JSON output.
 * @output: file to write to, NULL for stderr.
 * @append: to its end.
 */
struct stat_options {
	struct measure measure;
	bool per_cpu;
	unsigned int interval;
	unsigned int repeat;
	const char *separator;
	bool json;
	const char *output;
	bool append;
};

/* stat_open.c, stat_count.c: counters are the events on all targets. */
struct counters;

int counters_open(struct pmuctl_device *dev, const struct stat_options *options,
		  pid_t child, struct counters **counters);
void counters_close(struct counters *counters);
int counters_enable(const struct counters *counters);
int counters_disable(const struct counters *counters);
int counters_read(struct counters *counters);
void counters_mark(struct counters *counters);
size_t counters_fds(const struct counters *counters, int *fds, size_t max);
const struct stat_row *counters_rows(const struct counters *counters,
				     size_t *count);

/* stat_measure.c */
int stat_measure(struct pmuctl_device *dev, const struct stat_options *options,
		 FILE *out);

/* stat_run.c */

/**
 * struct child - the command that is started
 * @pid: of the process, which waits for a byte on @go before it becomes the command.
 * @go: write end of that pipe.
 * @failure: read end of the pipe that tells the errno of a failed exec.
 * @prints_errors: its standard output is its standard error output. Of the caller.
 */
struct child {
	pid_t pid;
	int go;
	int failure;
	bool prints_errors;
};

void pipe_ignore(void);
void descriptors_allow(void);
int signals_block(sigset_t *before);
int child_start(struct child *child, char **argv, const sigset_t *before);
int child_go(struct child *child);
void child_cancel(struct child *child);

/**
 * struct run_end - how the measured time ended
 * @status: exit status for the tool.
 * @interrupted: the signal that asked for the end, or 0.
 * @has_usage: @user and @system are those of the command.
 * @user: seconds.
 * @system: seconds.
 */
struct run_end {
	int status;
	int interrupted;
	bool has_usage;
	double user;
	double system;
};

/**
 * struct run_tick - what is to be done again and again meanwhile
 * @milliseconds: how often; 0 never.
 * @call: does it; returns 0, or, having told the user, a negative errno to stop that.
 * @arg: for @call.
 */
struct run_tick {
	unsigned int milliseconds;
	int (*call)(void *arg);
	void *arg;
};

int run_wait(int signals, pid_t child, int *fds, size_t nr_fds,
	     const struct run_tick *tick, struct run_end *end);

/* stat_repeat.c */

/**
 * struct mean - of numbers that come one by one
 * @count: how many there were.
 * @mean: of them.
 * @squares: sum of the squared differences from @mean.
 */
struct mean {
	unsigned int count;
	double mean;
	double squares;
};

void mean_add(struct mean *mean, double value);
double mean_error(const struct mean *mean);

struct repeats;

int repeats_new(struct repeats **repeats);
void repeats_free(struct repeats *repeats);
int repeats_add(struct repeats *repeats, const struct stat_row *rows, size_t count,
		double elapsed);
void repeats_result(struct repeats *repeats, struct stat_result *result);

/* progress.c */

/**
 * struct progress - a line that tells what goes on, on a terminal
 * @out: where to, NULL if it is none.
 * @whole_lines: others write there too.
 * @shown: there is a line to wipe.
 */
struct progress {
	FILE *out;
	bool whole_lines;
	bool shown;
};

void progress_init(struct progress *progress, FILE *out, bool shared);
void progress_show(struct progress *progress, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void progress_clear(struct progress *progress);

/* stat_print.c */
void print_text(FILE *out, const struct stat_result *result);
void print_csv(FILE *out, const struct stat_result *result, const char *separator);
int print_json(FILE *out, const struct stat_result *result);
void format_thousands(uint64_t value, char *buffer, size_t size);
bool row_metric(const struct stat_result *result, const struct stat_row *row,
		double *value, const char **unit);

#endif /* PMUCTL_TOOL_STAT_H */
