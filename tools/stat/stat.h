/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl stat": what its parts share. stat.c understands the command line, open.c opens the
 * events, cells.c says which readings are added up, count.c reads them, run.c starts the command
 * and waits, control.c obeys others meanwhile, metrics.c finds ratios, print.c and
 * metric_only.c write the results. exporter.c is "pmuctl exporter", which counts as this does.
 */
#ifndef PMUCTL_TOOL_STAT_H
#define PMUCTL_TOOL_STAT_H

#include <limits.h>
#include <signal.h>
#include <stdio.h>

#include "evlist/measure.h"
#include "metric/metric.h"
#include "progress.h"

enum row_state {
	ROW_COUNTED,
	ROW_NOT_COUNTED,	/* it never had a counter */
	ROW_NOT_SUPPORTED,	/* this CPU has no such event */
	ROW_ABSENT,		/* of a CPU that was never there: not printed */
};

/* stat_row.cpu of a row that is not of a single CPU */
#define ROW_ALL_TARGETS (-1)

/* What a row is of */
enum stat_aggregate {
	AGGREGATE_ALL,		/* all targets */
	AGGREGATE_CPU,
	AGGREGATE_CORE,		/* all hyperthreads of a core, and so on */
	AGGREGATE_DIE,
	AGGREGATE_SOCKET,
	AGGREGATE_NODE,
	AGGREGATE_THREAD,
};

/**
 * struct stat_row - the result of one event, over all targets or on one CPU
 * @name: as the user wrote it.
 * @attr: what was counted.
 * @leader: number of the event that leads its group: its own if it has none.
 * @cpu: on which CPU, or ROW_ALL_TARGETS.
 * @where: on which core, die, socket or node, or of which thread; NULL if it is of neither.
 * @cpus: of how many CPUs, if @where is not NULL; 0 of a thread.
 * @cgroup: of which cgroup's tasks; NULL: of all.
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
	char *where;
	unsigned int cpus;
	const char *cgroup;
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
 * @aggregate: what each row is of.
 * @elapsed: seconds of wall clock since measuring began.
 * @duration: seconds in which these counts came: of an interval, its own; else @elapsed.
 * @runs: of how many runs these are the means; 0 if nothing was repeated.
 * @elapsed_deviation: standard error of the mean @elapsed, in seconds.
 * @times: seconds that each of the @runs took, if that is to be told.
 * @is_interval: these are the counts of an interval, which ended at @elapsed.
 * @is_summary: these are the counts of all intervals together.
 * @has_heading: it is the first one of a page.
 * @has_cgroups: there is a column for these.
 * @plain_numbers: without separators of thousands.
 * @metrics: that were asked for, or NULL.
 * @has_usage: if @user and @system are known.
 * @user: seconds of CPU time in user space.
 * @system: seconds in the kernel.
 */
struct stat_result {
	const char *what;
	const struct stat_row *rows;
	size_t count;
	enum stat_aggregate aggregate;
	double elapsed;
	double duration;
	unsigned int runs;
	double elapsed_deviation;
	const double *times;
	bool is_interval;
	bool is_summary;
	bool has_heading;
	bool has_cgroups;
	bool plain_numbers;
	const struct metric_choice *metrics;
	bool has_usage;
	double user;
	double system;
};

/* stat_options.delay: measuring does not begin by itself. */
#define DELAY_FOREVER UINT_MAX

/**
 * struct stat_options - what the command line asks for
 * @measure: which events, and whom to count.
 * @nr_asked: how many of the events the user has named, the first ones; what this CPU lacks
 *	of the others is not worth a message.
 * @metrics_text: all -M, with commas between; NULL: none.
 * @metrics: the same, found.
 * @nothing: no events, only the time.
 * @details: how often more events were asked for: 0 to 3.
 * @aggregate: what a row is of.
 * @interval: print every so many milliseconds, 0 at the end only.
 * @interval_count: end after so many of these; 0: do not.
 * @summary: what they have counted altogether, too.
 * @table: how long each of repeated runs took, too.
 * @delay: milliseconds until measuring begins, or DELAY_FOREVER.
 * @timeout: end after so many milliseconds; 0: do not.
 * @control: where commands come from, as it was typed; NULL: from nowhere.
 * @plain_numbers: without separators of thousands.
 * @metric_only: no counts, only what is computed of them.
 * @repeat: run the command so many times; 0 and 1 are the same.
 * @separator: of the CSV output, NULL for none.
 * @json: JSON output.
 * @openmetrics: output for monitoring.
 * @output: file to write to, NULL for stderr.
 * @append: to its end.
 * @quiet: the counts are not printed.
 * @no_scale: counts of events that took turns are those that were counted, not estimates.
 * @log_fd: the descriptor to write to instead; 0 none.
 * @pre: a command of the shell before each run, NULL: none.
 * @post: and after it.
 * @sync: have disks written to before each run.
 */
struct stat_options {
	struct measure measure;
	size_t nr_asked;
	char *metrics_text;
	struct metric_choice metrics;
	bool nothing;
	unsigned int details;
	enum stat_aggregate aggregate;
	unsigned int interval;
	unsigned int interval_count;
	bool summary;
	bool table;
	unsigned int delay;
	unsigned int timeout;
	const char *control;
	bool plain_numbers;
	bool metric_only;
	unsigned int repeat;
	const char *separator;
	bool json;
	bool openmetrics;
	const char *output;
	bool append;
	bool quiet;
	bool no_scale;
	unsigned int log_fd;
	const char *pre;
	const char *post;
	bool sync;
};

/* stat.c */
int stat_apply(void *arg, int option);
int stat_prepare(struct stat_options *options, struct pmuctl_device **dev);
void stat_options_free(struct stat_options *options);

/* open.c, cells.c, count.c: counters are the events on all targets. */
struct counters;

int counters_open(struct pmuctl_device *dev, const struct stat_options *options,
		  pid_t child, struct counters **counters);
void counters_close(struct counters *counters);
int counters_enable(const struct counters *counters);
int counters_disable(const struct counters *counters);
int counters_read(struct counters *counters);

/**
 * struct stat_times - what was not counted
 * @duration: nanoseconds in which the counts came.
 * @user: nanoseconds of CPU time of the command in user space, and
 * @system: in the kernel,
 * @has_usage: if they are known.
 */
struct stat_times {
	uint64_t duration;
	uint64_t user;
	uint64_t system;
	bool has_usage;
};

void counters_put_times(struct counters *counters, const struct stat_times *times);
void counters_mark(struct counters *counters);
void counters_forget_mark(struct counters *counters);
size_t counters_fds(const struct counters *counters, int *fds, size_t max);
const struct stat_row *counters_rows(const struct counters *counters,
				     size_t *count);

/* measure.c */
double stat_now(void);
int stat_measure(struct pmuctl_device *dev, const struct stat_options *options,
		 FILE *out);

/* run.c */

/* What a command is called until its exec, as perf's are "perf-exec" */
#define CHILD_COMM "pmuctl-exec"

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
int signal_block(int signal);
int child_start(struct child *child, char **argv, const sigset_t *before);
int child_go(struct child *child);
int child_run(struct child *child, const char *name);
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

/* What a run_source returns, or a negative errno, of which the user has been told: the same as
 * RUN_NO_MORE, and without a command the end.
 */
enum run_next {
	RUN_GO_ON,
	RUN_NO_MORE,	/* it will tell nothing any more */
	RUN_END,	/* the measurement is to end, and the command */
};

/**
 * struct run_source - something that is to be done meanwhile
 * @fd: can be read when it is time; owned by who has it.
 * @is_timer: it is a timerfd, which is read before @call.
 * @call: does it; returns one of enum run_next or a negative errno.
 * @arg: for @call.
 */
struct run_source {
	int fd;
	bool is_timer;
	int (*call)(void *arg);
	void *arg;
};

int timer_open(unsigned int milliseconds, bool again);
int run_wait(int signals, pid_t child, int *fds, size_t nr_fds,
	     const struct run_source *sources, size_t nr_sources, struct run_end *end);

/* control.c */

/**
 * struct control - commands that come from outside, a line each
 * @commands: where they come from, -1 if that is closed.
 * @answers: where an answer goes, -1: nowhere.
 * @are_ours: both were opened by us.
 * @line: what has come of a command.
 * @length: its bytes.
 * @is_too_long: what comes up to its end is left out.
 */
struct control {
	int commands;
	int answers;
	bool are_ours;
	char line[256];
	size_t length;
	bool is_too_long;
};

/* Returns 0 or a negative errno, of which the user has been told. */
typedef int (*control_call)(void *arg);

/**
 * struct control_calls - what does what the commands say
 * @enable: what is measured.
 * @disable: it.
 * @snapshot: of traces; NULL: there is no such command.
 * @arg: for them.
 */
struct control_calls {
	control_call enable;
	control_call disable;
	control_call snapshot;
	void *arg;
};

extern const char *const control_words[];

int control_open(struct control *control, const char *text);
void control_close(struct control *control);
int control_read(struct control *control, const struct control_calls *calls);

/* repeat.c */

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

/* metrics.c */

/**
 * struct row_note - a number that is shown beside a count
 * @value: the number.
 * @is_percentage: it is one in percent.
 * @unit: what it is: "insn per cycle", or the name of a metric.
 * @is_metric: @unit is the name of a metric.
 */
struct row_note {
	double value;
	bool is_percentage;
	const char *unit;
	bool is_metric;
};

bool row_note(const struct stat_result *result, const struct stat_row *row, size_t number,
	      struct row_note *note);
bool result_metric(const struct stat_result *result, const struct stat_row *like,
		   size_t number, double *value);
bool row_is_clock(const struct stat_row *row);
bool row_is_time(const struct stat_row *row);
bool row_same_cgroup(const struct stat_row *a, const struct stat_row *b);
bool row_same_place(const struct stat_row *a, const struct stat_row *b);

/* print.c */
void print_text(FILE *out, const struct stat_result *result);
void print_csv(FILE *out, const struct stat_result *result, const char *separator);
void print_headline(FILE *out, const struct stat_result *result);
void print_times(FILE *out, const struct stat_result *result);
void print_where(FILE *out, const struct stat_result *result, const struct stat_row *row,
		 const char *separator);
void print_column(FILE *out, const char *text, const char *separator);
void print_where_heading(FILE *out, const struct stat_result *result, const char *separator);
int print_metric_only(FILE *out, const struct stat_result *result, const char *separator);
int print_json(FILE *out, const struct stat_result *result);
void print_openmetrics(FILE *out, const struct stat_result *result);
void format_thousands(uint64_t value, char *buffer, size_t size);

#endif /* PMUCTL_TOOL_STAT_H */
