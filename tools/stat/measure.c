// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of things in "pmuctl stat": open, start, wait, read, print; once, or again
 * and again, or with the counts of each interval. The steps themselves are in
 * open.c, count.c, run.c, repeat.c and print.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stat.h"

/* A heading comes again after so many intervals. */
#define INTERVALS_OF_A_PAGE	25
/* Runs that take less, in seconds, are not told of. */
#define LONG			1.0

/**
 * struct session - what is done for one command line
 * @dev: the driver.
 * @options: what was asked for.
 * @out: where the results go.
 * @what: end of the headline.
 * @signals: from signals_block().
 * @mask: the signal mask of the command.
 * @progress: tells what goes on.
 * @repeats: runs so far, NULL if there is only one.
 * @begin: when the first run was started, in seconds.
 * @control: what comes from outside.
 * @counters: of the run.
 * @start: when measuring began.
 * @shown: when the last interval ended.
 * @intervals: how many were printed.
 * @has_begun: something was printed.
 * @is_over: the time that was asked for is.
 */
struct session {
	struct pmuctl_device *dev;
	const struct stat_options *options;
	FILE *out;
	char *what;
	int signals;
	sigset_t mask;
	struct progress progress;
	struct repeats *repeats;
	double begin;
	struct control control;

	struct counters *counters;
	double start;
	double shown;
	unsigned int intervals;
	bool has_begun;
	bool is_over;
};

/* stat_now() - seconds of a clock that nobody sets */
double stat_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The end of the headline, to be freed. */
static char *describe(const struct stat_options *options)
{
	static const char *const formats[] = {
		[TARGET_PROCESS] = "process id '%s'",
		[TARGET_THREAD] = "thread id '%s'",
		[TARGET_CPU] = "CPU(s) '%s'",
	};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (options->measure.kind == TARGET_ALL_CPUS) {
		fputs("'system wide'", out);
	} else if (options->measure.kind != TARGET_COMMAND) {
		fprintf(out, formats[options->measure.kind], options->measure.ids_text);
	} else {
		for (char **word = options->measure.argv; *word; word++)
			fprintf(out, "%s%s", word == options->measure.argv ? "'" : " ",
				*word);
		fputc('\'', out);
	}
	fclose(out);
	return text;
}

/* ------------------------------------------------------------------ print */

static int result_print(struct session *s, const struct stat_result *result)
{
	const struct stat_options *options = s->options;
	time_t started = time(NULL) - (time_t)result->elapsed;

	if (options->output && !options->json && !options->openmetrics && !s->has_begun)
		fprintf(s->out, "# started on %s\n", ctime(&started));
	s->has_begun = true;
	if (options->json)
		return print_json(s->out, result);
	if (options->metric_only)
		return print_metric_only(s->out, result, options->separator);
	if (options->openmetrics)
		print_openmetrics(s->out, result);
	else if (options->separator)
		print_csv(s->out, result, options->separator);
	else
		print_text(s->out, result);
	return 0;
}

/* Who does not read what is written lets nobody wait for ever. */
static void ends_let(int how)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(how, &ends, NULL);
}

/* Returns 0 or a negative errno, of which the user has been told. */
static int result_write(struct session *s, struct stat_result *result)
{
	int ret;

	progress_clear(&s->progress);
	result->what = s->what;
	result->aggregate = s->options->aggregate;
	result->plain_numbers = s->options->plain_numbers;
	result->metrics = s->options->metrics.count ? &s->options->metrics : NULL;
	result->has_cgroups = s->options->measure.cgroups.count;
	ends_let(SIG_UNBLOCK);
	errno = 0;
	ret = result_print(s, result);
	if (fflush(s->out) != 0 || ferror(s->out))
		ret = errno ? -errno : -EIO;
	ends_let(SIG_BLOCK);
	if (ret < 0)
		say_error("cannot write the counts to %s: %s",
			  s->options->output ? s->options->output :
			  s->options->log_fd ? "the descriptor of --log-fd" : "stderr",
			  strerror(-ret));
	return ret;
}

static uint64_t nanoseconds(double seconds)
{
	return (uint64_t)(seconds * 1e9 + 0.5);
}

/* The counts since the last interval */
static int interval_write(struct session *s)
{
	struct stat_result result = {
		.is_interval = true,
		.has_heading = s->options->separator ? !s->intervals :
			       s->intervals % INTERVALS_OF_A_PAGE == 0,
	};
	int ret = counters_read(s->counters);

	result.elapsed = stat_now() - s->start;
	result.duration = result.elapsed - s->shown;
	s->shown = result.elapsed;
	if (ret < 0)
		return ret;
	counters_put_times(s->counters, &(struct stat_times){
		.duration = nanoseconds(result.duration) });
	result.rows = counters_rows(s->counters, &result.count);
	counters_mark(s->counters);
	s->intervals++;
	return result_write(s, &result);
}

/* ------------------------------------------------------------------ a run */

static int time_is_up(void *arg)
{
	struct session *s = arg;

	s->is_over = true;
	return RUN_END;
}

/* The end of an interval; of the last one the measurement ends, which prints it. */
static int tick(void *arg)
{
	struct session *s = arg;

	if (!s->options->interval) {
		progress_show(&s->progress, "counting for %.0f s, Ctrl-C ends it",
			      stat_now() - s->start);
		return RUN_GO_ON;
	}
	if (s->intervals + 1 == s->options->interval_count)
		return time_is_up(s);
	return interval_write(s);
}

/* The delay is over. */
static int begin_measuring(void *arg)
{
	struct session *s = arg;

	s->start = stat_now();
	return counters_enable(s->counters);
}

static int enable(void *arg)
{
	return counters_enable(arg);
}

static int disable(void *arg)
{
	return counters_disable(arg);
}

static int command_came(void *arg)
{
	struct session *s = arg;
	const struct control_calls calls = {
		.enable = enable, .disable = disable, .arg = s->counters,
	};

	int next = control_read(&s->control, &calls);

	s->is_over |= next == RUN_END;
	return next;
}

enum { SOURCE_TICK, SOURCE_DELAY, SOURCE_TIMEOUT, SOURCE_CONTROL, NR_SOURCES };

/* Timers that are not needed stay -1. Returns 0 or a negative errno, of which was told. */
static int sources_open(struct session *s, bool alone, struct run_source *sources)
{
	const struct stat_options *options = s->options;
	/* Nobody else tells that something goes on. */
	unsigned int period = options->interval ? options->interval :
			      alone && s->progress.out ? 1000 : 0;
	unsigned int delay = options->delay == DELAY_FOREVER ? 0 : options->delay;
	const unsigned int times[] = { period, delay, options->timeout };

	for (size_t i = 0; i < NR_SOURCES; i++)
		sources[i] = (struct run_source){ .fd = -1, .is_timer = true, .arg = s };
	sources[SOURCE_TICK].call = tick;
	sources[SOURCE_DELAY].call = begin_measuring;
	sources[SOURCE_TIMEOUT].call = time_is_up;
	sources[SOURCE_CONTROL].call = command_came;
	sources[SOURCE_CONTROL].fd = s->control.commands;
	sources[SOURCE_CONTROL].is_timer = false;
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		if (!times[i])
			continue;
		sources[i].fd = timer_open(times[i], i == SOURCE_TICK);
		if (sources[i].fd < 0)
			return sources[i].fd;
	}
	return 0;
}

static void sources_close(const struct run_source *sources)
{
	for (size_t i = 0; i < SOURCE_CONTROL; i++)
		if (sources[i].fd >= 0)
			close(sources[i].fd);
}

static int run_wait_and_tick(struct session *s, pid_t child, struct run_end *end)
{
	size_t nr_fds = counters_fds(s->counters, NULL, 0);
	int *fds = calloc(nr_fds + 1, sizeof(*fds));
	struct run_source sources[NR_SOURCES];
	int ret;

	if (!fds) {
		say_error("%s", pmuctl_strerror(ENOMEM));
		return -ENOMEM;
	}
	counters_fds(s->counters, fds, nr_fds);
	ret = sources_open(s, !child, sources);
	if (ret == 0)
		ret = run_wait(s->signals, child, fds, nr_fds, sources, NR_SOURCES, end);
	sources_close(sources);
	free(fds);
	return ret;
}

/* The results of a run that has ended */
static int run_results(struct session *s, double elapsed, const struct run_end *end)
{
	struct stat_result result = { .elapsed = elapsed };
	struct stat_times times = {
		.duration = nanoseconds(elapsed),
		.user = nanoseconds(end->user),
		.system = nanoseconds(end->system),
		.has_usage = s->options->measure.kind == TARGET_COMMAND && end->has_usage,
	};
	int ret;

	if (s->options->interval) {
		ret = interval_write(s);
		if (ret < 0 || !s->options->summary)
			return ret;
		counters_forget_mark(s->counters);
		result.is_summary = true;
		result.elapsed = s->shown;
		times.duration = nanoseconds(s->shown);
	}
	ret = counters_read(s->counters);
	if (ret < 0)
		return ret;
	counters_put_times(s->counters, &times);
	result.rows = counters_rows(s->counters, &result.count);
	if (s->repeats) {
		ret = repeats_add(s->repeats, result.rows, result.count, elapsed);
		if (ret < 0)
			say_error("%s", pmuctl_strerror(ret));
		return ret;
	}
	result.has_usage = times.has_usage;
	result.user = end->user;
	result.system = end->system;
	return result_write(s, &result);
}

static int run_failed(const char *command, int error)
{
	say_error("cannot execute '%s': %s", command, strerror(error));
	if (error == ENOENT && (!strcmp(command, "record") || !strcmp(command, "report")))
		say_error("what 'perf stat record' keeps for 'perf stat report', -o FILE and -j or -x write as text");
	return error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

/*
 * Events are open; the command, if any, waits. Returns 0 if it was measured, its
 * status being in @end, or an exit status.
 */
static int run_measure(struct session *s, struct child *child, bool is_first,
		       struct run_end *end)
{
	bool attached = s->options->measure.kind != TARGET_COMMAND;
	bool by_hand = attached || s->options->delay;
	char **argv = s->options->measure.argv;
	double elapsed;
	int ret;

	s->shown = 0;
	if (attached && !s->options->delay && counters_enable(s->counters) < 0) {
		if (argv)
			child_cancel(child);
		return STATUS_FAILED;
	}
	s->start = stat_now();
	if (argv) {
		ret = child_go(child);
		if (ret)
			return run_failed(argv[0], ret);
	}
	ret = run_wait_and_tick(s, argv ? child->pid : 0, end);
	/* As it was asked for */
	if (s->is_over && end->status == STATUS_SIGNAL + SIGTERM)
		end->status = STATUS_OK;
	elapsed = stat_now() - s->start;
	if (ret == 0 && by_hand)
		ret = counters_disable(s->counters);
	/* A run that was cut off would spoil the mean of those that were not. */
	if (ret == 0 && (!end->interrupted || is_first || !s->repeats))
		ret = run_results(s, elapsed, end);
	return ret < 0 ? STATUS_FAILED : 0;
}

static int run(struct session *s, bool is_first, struct run_end *end)
{
	const struct stat_options *options = s->options;
	struct child child = { 0 };
	int status = STATUS_FAILED, ret = 0;

	s->counters = NULL;
	if (options->measure.argv)
		ret = child_start(&child, options->measure.argv, &s->mask);
	if (ret < 0)
		say_error("cannot start a process: %s", strerror(-ret));
	else if (counters_open(s->dev, options, child.pid, &s->counters) == 0)
		status = run_measure(s, &child, is_first, end);
	else if (options->measure.argv)
		child_cancel(&child);
	counters_close(s->counters);
	return status;
}

/* ------------------------------------------------------------- all the runs */

/*
 * A command of the shell that nothing is counted of; returns 0 or an exit status. A signal that
 * asks for the end is passed on to it, and is in @end.
 */
static int shell_run(struct session *s, const char *option, const char *command,
		     struct run_end *end)
{
	const char *const words[] = { "/bin/sh", "-c", command, NULL };
	struct child child = { 0 };
	/* Nobody changes them, as execv(3) does not. */
	int ret = child_start(&child, (char **)words, &s->mask);

	if (ret == 0)
		ret = -child_go(&child);
	if (ret < 0) {
		say_error("cannot run the command of %s: %s", option, strerror(-ret));
		return STATUS_FAILED;
	}
	if (run_wait(s->signals, child.pid, NULL, 0, NULL, 0, end) < 0)
		return STATUS_FAILED;
	if (end->interrupted)
		return STATUS_SIGNAL + end->interrupted;
	if (end->status > STATUS_SIGNAL)
		say_error("%s '%s' was ended by signal %d", option, command,
			  end->status - STATUS_SIGNAL);
	else if (end->status)
		say_error("%s '%s' ended with status %d", option, command, end->status);
	return end->status ? STATUS_FAILED : 0;
}

/*
 * A run with what comes before and after it. Returns 0 or an exit status; @is_done: it was
 * measured all the same.
 */
static int run_between(struct session *s, bool is_first, struct run_end *end, bool *is_done)
{
	const struct stat_options *options = s->options;
	struct run_end between = { 0 };
	int status = options->pre ? shell_run(s, "--pre", options->pre, &between) : 0;

	if (status)
		return status;
	if (options->sync)
		sync();
	status = run(s, is_first, end);
	*is_done = !status;
	if (!status && options->post && !end->interrupted)
		status = shell_run(s, "--post", options->post, &between);
	return status;
}

static int runs(struct session *s)
{
	unsigned int nr = s->options->repeat > 1 ? s->options->repeat : 1;
	struct stat_result result = { .elapsed = 0 };
	struct run_end end = { 0 };
	unsigned int done;
	int status = 0;

	if (nr > 1 && repeats_new(&s->repeats) < 0) {
		say_error("%s", pmuctl_strerror(ENOMEM));
		return STATUS_FAILED;
	}
	s->begin = stat_now();
	for (done = 0; done < nr && !status && !end.interrupted; done++) {
		bool is_done = false;

		if (done && stat_now() - s->begin >= LONG)
			progress_show(&s->progress, "run %u of %u", done + 1, nr);
		status = run_between(s, done == 0, &end, &is_done);
		/* Of what was measured before something failed the means are told. */
		if (status && !is_done && (!done || !s->repeats))
			return status;
	}
	if (s->repeats) {
		repeats_result(s->repeats, &result);
		if (!s->options->table)
			result.times = NULL;
		if (result_write(s, &result) < 0)
			return STATUS_FAILED;
	}
	if (status)
		return status;
	/* The command may have ended by itself just then. */
	return done < nr ? STATUS_SIGNAL + end.interrupted : end.status;
}

/**
 * stat_measure() - do what the command line asks for
 * @dev: the driver.
 * @options: the command line.
 * @out: where the results go.
 *
 * Return: the exit status.
 */
int stat_measure(struct pmuctl_device *dev, const struct stat_options *options,
		 FILE *out)
{
	struct session s = { .dev = dev, .options = options, .out = out };
	int status = STATUS_FAILED;

	/* A command that writes to the same terminal must not be overwritten. */
	progress_init(&s.progress, options->quiet ? out : stderr,
		      options->measure.argv && isatty(STDOUT_FILENO));
	s.what = describe(options);
	s.signals = signals_block(&s.mask);
	if (control_open(&s.control, options->control) < 0)
		status = STATUS_FAILED;
	else if (s.signals < 0)
		say_error("cannot receive signals: %s", strerror(-s.signals));
	else if (!s.what)
		say_error("%s", pmuctl_strerror(ENOMEM));
	else
		status = runs(&s);
	progress_clear(&s.progress);
	repeats_free(s.repeats);
	control_close(&s.control);
	free(s.what);
	if (s.signals >= 0)
		close(s.signals);
	return status;
}
