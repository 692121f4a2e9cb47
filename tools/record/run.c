// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of things in "pmuctl record": start the command, open events, rings and file,
 * record until the end, and finish the file, whatever ended it. The steps themselves are
 * in the other record_*.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "record.h"
#include "symbols/names.h"
#include "symbols/symbols.h"

/**
 * struct session - what is done for one command line
 * @options: what was asked for.
 * @signals: from signals_block().
 * @snapshots: descriptor of the signals that ask for snapshots of traces, or -1.
 * @child: the command, its pid is 0 if there is none.
 * @recording: events and rings.
 * @parts: the files that it goes to, one after the other,
 * @output: the last of them.
 * @before: what was recorded into earlier ones.
 * @file: what is written.
 * @compressor: of it, or NULL.
 * @dsos: files that programs have mapped; NULL if their build ids are not wanted.
 * @reader: copies the records.
 * @progress: tells what goes on.
 * @control: commands that come meanwhile.
 * @switches: descriptor of the signals that ask for another file, or -1.
 * @is_over: one of them has ended it.
 */
struct session {
	const struct record_options *options;
	int signals;
	int snapshots;
	struct child child;
	struct recording *recording;
	struct parts parts;
	struct output output;
	struct record_totals before;
	struct perfdata *file;
	struct compressor *compressor;
	struct dsos *dsos;
	struct reader *reader;
	struct progress progress;
	struct control control;
	int switches;
	bool is_over;
};

static int say_cannot_write(const struct session *s, int error)
{
	say_error("cannot write to '%s': %s", s->output.name ? s->output.name : s->options->output,
		  strerror(-error));
	return error;
}

/* ------------------------------------------------------------------- file */

static int file_open(struct session *s)
{
	const char *name = parts_next(&s->parts, s->options);
	int ret = name ? output_open(&s->output, name, s->options->kcore, s->signals) : -ENOMEM;
	int (*create)(int fd, const struct perfdata_event *events, size_t nr_events,
		      struct perfdata **file);

	if (ret < 0)
		return name ? ret : say_cannot_write(s, ret);
	create = s->output.is_stream ? perfdata_create_stream : perfdata_create;
	ret = create(s->output.fd, s->recording->events, s->recording->set.nr_events, &s->file);
	if (ret == 0 && s->options->compression)
		ret = compressor_new(s->options->compression, &s->compressor);
	if (s->compressor)
		compressor_describe(s->compressor, s->file);
	if (ret == 0)
		formats_put(s->file, s->recording->events, s->recording->set.nr_events);
	if (ret == 0)
		ret = perfdata_begin_records(s->file);
	if (!s->options->no_build_ids)
		s->dsos = dsos_new();
	return ret < 0 ? say_cannot_write(s, ret) : 0;
}

/* Returns 0 or a negative errno. */
static int file_close(struct session *s)
{
	int ret;

	dsos_free(s->dsos);
	perfdata_free(s->file);
	compressor_free(s->compressor);
	s->dsos = NULL;
	s->file = NULL;
	s->compressor = NULL;
	ret = output_close(&s->output);
	s->output = (struct output){ .fd = -1 };
	return ret;
}

/* --------------------------------------------------- what was there before */

enum before { KERNEL, COMMAND, TASKS };

/* Writes what was there before: the kernel, the command before its exec, or the tasks. */
static int describe(struct session *s, enum before what)
{
	struct synth synth = {
		.trailer = recording_trailer(s->recording),
		.dsos = s->dsos,
		.data = s->options->callgraph == CALLGRAPH_DWARF,
	};
	const struct measure *measure = &s->options->measure;
	int ret;

	if (what == COMMAND)
		synth_command(&synth, s->child.pid);
	else if (what == TASKS)
		/* They may have started others meanwhile, which are sampled too. */
		synth_targets(&synth, measure, s->child.pid,
			      (s->options->delay || s->parts.count > 1) && !measure->no_inherit);
	else if (synth_kernel(&synth) < 0 && recording_samples_kernel(s->recording))
		say_error("kernel symbols will be missing: %s", kernel_hidden_now());
	if (what == KERNEL && s->options->cgroups)
		synth_cgroups(&synth);
	ret = perfdata_write_buffer(s->file, &synth.buffer);
	perfdata_buffer_free(&synth.buffer);
	return ret < 0 ? say_cannot_write(s, ret) : 0;
}

/*
 * What tasks map while they are described is told twice, not never. Nothing is sampled meanwhile: it
 * would be us, and nobody reads the rings yet.
 */
static int describe_tasks(struct session *s)
{
	int ret = recording_tell(s->recording);

	return ret < 0 ? ret : describe(s, TASKS);
}

/* After a delay */
static int begin(void *arg)
{
	struct session *s = arg;
	int ret = describe_tasks(s);

	return ret < 0 ? ret : event_set_enable(&s->recording->set);
}

/* ---------------------------------------------------------------- recording */

/* What is known before there are records; returns 0 or a negative errno. */
static int describe_all(struct session *s, bool by_exec)
{
	int ret = traces_describe(s->recording, s->file);

	if (ret < 0)
		say_cannot_write(s, ret);
	else
		ret = describe(s, KERNEL);
	if (ret == 0 && by_exec)
		ret = describe(s, COMMAND);
	/* The hooks of all events are in the code by now. */
	if (ret == 0 && s->options->kcore)
		ret = kcore_copy(s->output.temporary);
	if (ret == 0 && !by_exec && !s->options->delay)
		ret = describe_tasks(s);
	return ret;
}

/* Samples are read from the first one on: returns 0, an exit status, or a negative errno. */
static int start(struct session *s)
{
	bool by_exec = s->options->measure.kind == TARGET_COMMAND && !s->options->delay;
	/* Without records of maps, better what it has mapped right after its start than nothing */
	bool late = s->options->delay || (by_exec && !recording_tells_maps(s->recording));
	int ret = describe_all(s, by_exec);

	if (ret == 0 && !late)
		reader_start(s->reader, 0, NULL, NULL);
	if (ret == 0 && !late && !by_exec)
		ret = event_set_enable(&s->recording->set);
	if (ret < 0) {
		if (s->child.pid)
			child_cancel(&s->child);
		return ret;
	}
	if (s->child.pid)
		ret = child_run(&s->child, s->options->measure.argv[0]);
	if (ret)
		return ret;
	output_keep(&s->output);
	if (!late)
		return 0;
	if (by_exec && describe(s, TASKS) < 0)
		reader_fail(s->reader, -EIO);
	reader_start(s->reader, s->options->delay, begin, s);
	return 0;
}

/* ------------------------------------------------------------------- result */

/* The rings do not tell what was lost last: nothing came after that. */
static int put_lost(struct session *s)
{
	const struct perf_event_header header = { .type = PERF_RECORD_LOST_SAMPLES };
	struct synth synth = { .trailer = recording_trailer(s->recording) };
	uint64_t lost = recording_lost(s->recording);
	uint64_t told = s->before.lost + reader_totals(s->reader)->lost;
	int ret;

	if (lost <= told)
		return 0;
	lost -= told;
	synth_record(&synth, header, &lost, sizeof(lost), NULL);
	ret = perfdata_write_buffer(s->file, &synth.buffer);
	perfdata_buffer_free(&synth.buffer);
	return ret;
}

static void say_compression(const struct compressor *compressor)
{
	uint64_t before, after;

	compressor_totals(compressor, &before, &after);
	fprintf(stderr, "pmuctl: compressed %.3f MB to %.3f MB\n", (double)before / 1e6,
		(double)after / 1e6);
}

static void say_wrote(const struct session *s)
{
	const struct record_totals *totals = reader_totals(s->reader);

	fprintf(stderr, "pmuctl: wrote %llu samples to %s, %.3f MB; woken up %llu times\n",
		(unsigned long long)totals->samples, s->output.name,
		(double)perfdata_size(s->file) / 1e6,
		(unsigned long long)totals->wakeups);
}

/* What was recorded into this file is added to what was before. */
static void add_totals(struct session *s)
{
	const struct record_totals *totals = reader_totals(s->reader);

	s->before.lost += totals->lost;
	s->before.throttled += totals->throttled;
	s->before.damaged += totals->damaged;
	s->before.truncated += totals->truncated;
	s->before.traced += totals->traced;
}

static void say_totals(struct session *s)
{
	const struct record_totals *totals = &s->before;
	uint64_t lost = recording_lost(s->recording);

	add_totals(s);
	if (lost < totals->lost)
		lost = totals->lost;
	/* Who cannot write does not read any more: that has been told. */
	if (lost && s->options->overwrite && !reader_has_failed(s->reader))
		say_error("%llu records were lost: some while the newest samples were copied, or the rings of what tells of tasks were full",
			  (unsigned long long)lost);
	else if (lost && !reader_has_failed(s->reader))
		say_error("%llu records were lost: the rings were full; make them larger with -m, or sample less often with -F or -c",
			  (unsigned long long)lost);
	if (totals->throttled)
		say_error("events were throttled %llu times, as they came too often: sample less often with -F or -c",
			  (unsigned long long)totals->throttled);
	if (totals->damaged)
		say_error("%llu times a ring had something that is no record, which was dropped",
			  (unsigned long long)totals->damaged);
	if (totals->truncated && !s->options->snapshot)
		say_error("the trace was cut off %llu times, as its buffer was full: make it larger with -m ,PAGES, or trace less",
			  (unsigned long long)totals->truncated);
	if (s->options->quiet)
		return;
	if (s->compressor)
		say_compression(s->compressor);
	if (totals->traced)
		fprintf(stderr, "pmuctl: traced %.3f MB\n", (double)totals->traced / 1e6);
	say_wrote(s);
}

/* A recording is whole without them. */
static void keep_programs(const struct record_options *options, const struct dsos *dsos)
{
	char name[256];
	const char *path;
	int error;

	if (!dsos || options->no_copies)
		return;
	error = dsos_keep(dsos, options->all_copies || !measure_is_of_cpus(&options->measure), &path);
	snprintf(name, sizeof(name), "%s", path);
	names_clean(name, strlen(name));
	if (error < 0)
		say_error("%s could not be copied to ~/.debug, where reports look for programs that have gone: %s; -N copies none",
			  name, strerror(-error));
}

/* What the file has besides records */
static int file_finish(struct session *s)
{
	if (s->options->kcore)
		perfdata_put_u64(perfdata_feature(s->file, PERFFILE_DIR_FORMAT), 0);
	if (s->compressor)
		compressor_describe(s->compressor, s->file);
	info_put(s->file, s->options->line, reader_totals(s->reader));
	if (s->dsos)
		dsos_put(s->dsos, perfdata_feature(s->file, PERFFILE_BUILD_ID));
	return perfdata_finish(s->file);
}

/* Even if not all could be written, what was is of use. */
static int finish(struct session *s)
{
	int stopped, ret, finished;

	if (!s->file)
		return -EIO; /* the next file could not be begun, as has been told */
	stopped = reader_stop(s->reader);
	ret = put_lost(s);
	finished = file_finish(s);
	keep_programs(s->options, s->dsos);
	if (ret == 0)
		ret = finished;
	if (ret < 0 && !stopped)
		say_cannot_write(s, ret);
	say_totals(s);
	parts_trim(&s->parts, s->options, true);
	return stopped < 0 ? stopped : ret;
}

/* ---------------------------------------------------------- the next file */

/* The file is complete, and closed; @before: gets the programs that it is about. */
static int end_part(struct session *s, struct dsos **before)
{
	int ret = reader_pause(s->reader), finished = file_finish(s), closed;

	if (ret == 0 && finished < 0)
		ret = say_cannot_write(s, finished);
	if (ret == 0 && !s->options->quiet)
		say_wrote(s);
	add_totals(s);
	*before = s->dsos;
	s->dsos = NULL;
	closed = file_close(s);
	if (ret == 0 && closed < 0)
		ret = say_cannot_write(s, closed);
	return ret;
}

/*
 * Each file can be read alone. Nothing is lost meanwhile as long as the rings have room; a task that
 * begins between the two is told of, as the records come before it is described.
 */
static int next_part(struct session *s, struct dsos **before)
{
	int ret = end_part(s, before);

	if (ret == 0)
		ret = file_open(s);
	if (ret == 0) {
		ret = traces_describe(s->recording, s->file);
		if (ret < 0)
			say_cannot_write(s, ret);
	}
	if (ret == 0)
		ret = describe(s, KERNEL);
	if (ret == 0)
		ret = describe(s, TASKS);
	if (ret < 0) {
		file_close(s);
		return ret;
	}
	output_keep(&s->output);
	parts_trim(&s->parts, s->options, false);
	reader_resume(s->reader, s->file, s->compressor, s->dsos);
	return 0;
}

/* Programs are copied while the next file is recorded already. */
static int switch_file(struct session *s)
{
	struct dsos *before = NULL;
	int ret = next_part(s, &before);

	if (ret < 0)
		reader_fail(s->reader, ret); /* it has no file */
	keep_programs(s->options, before);
	dsos_free(before);
	return ret;
}

static int switch_came(void *arg)
{
	struct session *s = arg;
	struct signalfd_siginfo info;

	if (read(s->switches, &info, sizeof(info)) < 0 || reader_is_late(s->reader) ||
	    reader_has_failed(s->reader))
		return 0;
	return switch_file(s);
}

/* -------------------------------------------------------------- until the end */

static int tick(void *arg)
{
	struct session *s = arg;

	if (reader_has_failed(s->reader))
		return -EIO;
	if (s->options->max_size && perfdata_size(s->file) >= s->options->max_size) {
		if (!s->options->quiet && !s->is_over)
			fprintf(stderr, "pmuctl: it ends, as --max-size has been written\n");
		s->is_over = true;
		return RUN_END;
	}
	if (s->options->switches_output && !reader_is_late(s->reader) &&
	    parts_are_due(&s->parts, s->options, perfdata_size(s->file)))
		return switch_file(s);
	progress_show(&s->progress, "recording: %llu samples so far, end it with Ctrl-C",
		      (unsigned long long)reader_samples(s->reader));
	return 0;
}

/* The first time it waits until all is described that is there. */
static int enable(void *arg)
{
	struct session *s = arg;
	int ret = reader_begin(s->reader);

	return ret < 0 ? ret : event_set_enable(&s->recording->set);
}

static int disable(void *arg)
{
	struct session *s = arg;

	return event_set_disable(&s->recording->set);
}

static int take_snapshot(void *arg)
{
	struct session *s = arg;

	if (s->options->snapshot)
		return reader_snapshot(s->reader);
	if (!s->options->switches_output)
		say_error("--control: 'snapshot' is for -S, of traces, and for --switch-output");
	else if (!reader_is_late(s->reader))
		return switch_file(s);
	return 0;
}

static int command_came(void *arg)
{
	struct session *s = arg;
	const struct control_calls calls = {
		.enable = enable, .disable = disable,
		.snapshot = take_snapshot, .arg = s,
	};
	int next = control_read(&s->control, &calls);

	if (next == RUN_NO_MORE && reader_is_late(s->reader) &&
	    s->options->delay == DELAY_FOREVER)
		say_error("--control has ended before it said 'enable': nothing is recorded");
	s->is_over |= next == RUN_END;
	return next;
}

static int wait_for_end(struct session *s, struct run_end *end)
{
	struct run_source sources[] = {
		{ .is_timer = true, .call = tick, .arg = s },
		{ .fd = s->control.commands, .call = command_came, .arg = s },
		{ .fd = s->switches, .call = switch_came, .arg = s },
	};
	int alive = reader_alive_fd(s->reader), ret;

	sources[0].fd = timer_open(s->options->max_size || s->options->switch_size ? 50 : 1000,
				   true);
	if (sources[0].fd < 0)
		return sources[0].fd;
	if (!s->options->quiet && !s->child.pid)
		progress_init(&s->progress, stderr, false);
	ret = run_wait(s->signals, s->child.pid, &alive, 1, sources, ARRAY_LEN(sources), end);
	close(sources[0].fd);
	progress_clear(&s->progress);
	/* As it was asked for */
	if (s->is_over && end->status == STATUS_SIGNAL + SIGTERM)
		end->status = STATUS_OK;
	return ret;
}

/* Returns the exit status. */
static int record_all(struct session *s)
{
	struct run_end end = { .status = STATUS_FAILED };
	int ret = start(s);

	if (ret == 0) {
		ret = wait_for_end(s, &end);
		recording_disable(s->recording);
		if (finish(s) < 0)
			ret = -EIO;
	}
	if (ret > 0)
		return ret;
	return ret < 0 && !end.status ? STATUS_FAILED : end.status;
}

static int session_open(struct session *s, struct pmuctl_device *dev,
			const sigset_t *mask)
{
	const struct record_options *options = s->options;
	int ret;

	if (options->measure.argv) {
		/* Our output is the recording: what the command prints is not. */
		s->child.prints_errors = !strcmp(options->output, "-");
		ret = child_start(&s->child, options->measure.argv, mask);
		if (ret < 0) {
			say_error("cannot start '%s': %s", options->measure.argv[0],
				  strerror(-ret));
			s->child.pid = 0;
			return ret;
		}
	}
	ret = recording_open(dev, options, s->child.pid, &s->recording);
	if (ret == 0)
		ret = file_open(s);
	if (ret < 0)
		return ret;
	ret = reader_new(s->recording, s->file, s->compressor, s->dsos, s->snapshots, &s->reader);
	if (ret < 0)
		say_error("%s", pmuctl_strerror(ret));
	return ret;
}

/**
 * record_run() - do what the command line asks for
 * @dev: the driver.
 * @options: the command line.
 *
 * Return: the exit status.
 */
int record_run(struct pmuctl_device *dev, const struct record_options *options)
{
	struct session s = {
		.options = options, .output.fd = -1, .snapshots = -1, .switches = -1,
	};
	int status = STATUS_FAILED, asked, ret;
	sigset_t mask;

	s.signals = signals_block(&mask);
	if (s.signals < 0) {
		say_error("cannot handle signals: %s", strerror(-s.signals));
		return STATUS_FAILED;
	}
	/* That nobody reads what we write any more, write() says. */
	pipe_ignore();
	asked = signal_block(SIGUSR2);
	if (options->snapshot)
		s.snapshots = asked;
	else if (options->switches_output)
		s.switches = asked;
	else
		close(asked); /* who sends it all the same does not end us */
	if (control_open(&s.control, options->control) == 0 && session_open(&s, dev, &mask) == 0)
		status = record_all(&s);
	else if (s.child.pid)
		child_cancel(&s.child);
	reader_free(s.reader);
	ret = file_close(&s);
	recording_close(s.recording);
	if (ret < 0 && status == STATUS_OK) {
		say_cannot_write(&s, ret);
		status = STATUS_FAILED;
	}
	parts_free(&s.parts);
	control_close(&s.control);
	close(s.signals);
	if (s.snapshots >= 0)
		close(s.snapshots);
	if (s.switches >= 0)
		close(s.switches);
	return status;
}
