// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of things in "pmuctl trace": start the command, open events and rings, then read them
 * and print the calls until the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "chains.h"
#include "faults.h"
#include "run.h"

/* Milliseconds from one look at the rings to the next, unless one is half full before */
#define INTERVAL	100u

/* Where things are in the kernel's records of both events: behind the fields that all have */
enum {
	NUMBER_AT	= 8,
	ARGS_AT		= 16,
	RESULT_AT	= 16,
	ENTER_SIZE	= ARGS_AT + SYSCALL_ARGS * 8,
	EXIT_SIZE	= RESULT_AT + 8,
};

/**
 * struct session - what is done for one command line
 * @options: the command line.
 * @signals: from signals_block().
 * @child: the command, its pid is 0 if there is none.
 * @recording: events and rings.
 * @file: a recording of these events without records.
 * @path: its name.
 * @samples: it, fed with what is in the rings.
 * @records: that were read and not looked at yet.
 * @rings: tells when there is something in them.
 * @timer: of looks at the rings.
 * @untold: samples without what the tracepoints tell.
 * @lost: how many were said to be lost.
 * @damaged: times that something was in a ring that is no record.
 */
struct session {
	struct calls_options *options;
	int signals;
	struct child child;
	struct recording *recording;
	int file;
	char path[32];
	struct samples_options input;
	struct samples *samples;
	struct perfdata_buffer records;
	struct rings_watch rings;
	int timer;
	uint64_t untold;
	uint64_t lost;
	uint64_t damaged;
};

/* ------------------------------------------------------------------ records */

static uint64_t raw_word(const struct perffile_sample *sample, size_t at)
{
	return perffile_word(sample->raw + at);
}

/* Below a line that was written since, when there were @written, who called */
static int take_chain(struct session *s, const struct perffile_record *record, uint64_t written)
{
	struct calls *calls = &s->options->calls;

	if (s->options->record.callgraph == CALLGRAPH_NONE || calls->written == written)
		return 0;
	return chain_print(calls->out, s->samples, record, s->options->max_stack);
}

static int take_fault(struct session *s, const struct perffile_record *record)
{
	struct thread *thread = tasks_thread(s->samples->tasks, record->pid, record->tid);
	struct calls *calls = &s->options->calls;
	uint64_t written = calls->written;
	struct call_fault fault = {
		.tid = record->tid, .comm = thread ? thread->comm : "", .time = record->time,
		.is_major = record->event->attr.config == PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	};
	int ret;

	if (calls->lines && !calls_are_enough(calls))
		fault_describe(s->samples, record, thread, &fault);
	ret = calls_fault(calls, &fault);
	return ret < 0 ? ret : take_chain(s, record, written);
}

static int take_sample(struct session *s, const struct perffile_record *record)
{
	const struct perffile_sample *sample = &record->sample;
	struct calls *calls = &s->options->calls;
	struct thread *thread = tasks_thread(s->samples->tasks, record->pid, record->tid);
	uint64_t written = calls->written;
	struct call_event event = {
		.tid = record->tid, .comm = thread ? thread->comm : "", .time = record->time,
	};
	int ret;

	/* What we do ourselves has no end. */
	if (record->pid == getpid() || !record->event)
		return 0;
	if (s->options->left_out.count && filter_ranges_have(&s->options->left_out, record->tid))
		return 0;
	if (record->event->attr.type == PERF_TYPE_SOFTWARE)
		return take_fault(s, record);
	if (sample->raw_size < (record->event == s->samples->file->events ? ENTER_SIZE : EXIT_SIZE)) {
		s->untold++;
		return 0;
	}
	event.number = raw_word(sample, NUMBER_AT);
	if (record->event != s->samples->file->events) {
		event.result = (int64_t)raw_word(sample, RESULT_AT);
		ret = calls_exit(calls, &event);
		return ret < 0 ? ret : take_chain(s, record, written);
	}
	for (size_t i = 0; i < SYSCALL_ARGS; i++)
		event.args[i] = raw_word(sample, ARGS_AT + 8 * i);
	return calls_enter(calls, &event);
}

static int take_record(struct session *s, const struct perffile_record *record)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return take_sample(s, record);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		s->lost += record->lost;
		calls_lost(&s->options->calls, record->lost);
		break;
	case PERF_RECORD_EXIT:
		calls_task_ended(&s->options->calls, (int32_t)record->task.tid);
		break;
	}
	return 0;
}

/* Hands on what was read; says what is wrong. */
static int take_records(struct session *s)
{
	struct perffile_error error;
	struct perffile_record record;
	int ret, taken = 0;

	if (s->records.failed)
		ret = -ENOMEM;
	else
		ret = perffile_feed(s->samples->file, s->records.bytes, s->records.size, &error);
	s->records.size = 0;
	if (ret < 0) {
		say_error("cannot read the rings: %s",
			  ret == -ENOMEM ? pmuctl_strerror(ret) : error.text);
		return ret;
	}
	while (taken == 0 && (ret = samples_next(s->samples, &record)) > 0)
		taken = take_record(s, &record);
	if (taken < 0)
		say_error("%s", pmuctl_strerror(taken));
	if (ret >= 0 && fflush(s->options->calls.out)) {
		ret = -errno;
		say_error("cannot write: %s", strerror(-ret));
	}
	return taken < 0 ? taken : ret;
}

static int read_rings(struct session *s)
{
	s->damaged += recording_take(s->recording, &s->records);
	return take_records(s);
}

/* What is left when nothing is recorded any more: nothing is held back the second time. */
static int read_rest(struct session *s)
{
	size_t before;
	int ret;

	do {
		s->damaged += recording_take(s->recording, &s->records);
		before = s->records.size;
		ret = take_records(s);
	} while (ret == 0 && before);
	return ret;
}

/* -------------------------------------------------------------------- rings */

static int rings_watch(struct session *s)
{
	int ret = rings_watch_open(&s->rings, s->recording);

	if (ret < 0)
		return ret;
	s->timer = timer_open(INTERVAL, true);
	return s->timer < 0 ? s->timer : 0;
}

/* Returns a run_next. */
static int rings_gone(struct session *s)
{
	rings_watch_forget(&s->rings);
	/* A command may have ended with its first thread, and others of it be there. */
	return s->rings.alive || s->child.pid ? RUN_GO_ON : RUN_END;
}

static int rings_ready(void *arg)
{
	struct session *s = arg;
	int ret = read_rings(s);

	return ret < 0 ? ret : calls_are_enough(&s->options->calls) ? RUN_END : rings_gone(s);
}

/* Memory does not grow with the time that it runs. */
static int timer_ready(void *arg)
{
	struct session *s = arg;
	int ret = read_rings(s);

	tasks_forget(s->samples->tasks);
	return ret == 0 && calls_are_enough(&s->options->calls) ? RUN_END : ret;
}

/* -------------------------------------------------------------------- order */

static int session_open(struct session *s, struct pmuctl_device *dev)
{
	int ret = recording_open(dev, &s->options->record, s->child.pid, &s->recording);

	if (ret == 0)
		ret = recording_to_memory(s->recording, "pmuctl-trace", &s->file, s->path,
					  sizeof(s->path));
	if (ret < 0)
		return ret;
	s->input = (struct samples_options){ .path = s->path, .root = "" };
	ret = samples_open(&s->samples, &s->input);
	if (ret == 0)
		s->samples->path = "the rings";
	return ret;
}

/* The names of tasks that are there already */
static int describe(struct session *s)
{
	struct synth synth = {
		.trailer = recording_trailer(s->recording),
		.data = s->options->faults || s->options->record.callgraph == CALLGRAPH_DWARF,
	};

	synth_targets(&synth, &s->options->record.measure, s->child.pid, false);
	s->records.failed = synth.buffer.failed;
	perfdata_put(&s->records, synth.buffer.bytes, synth.buffer.size);
	perfdata_buffer_free(&synth.buffer);
	return take_records(s);
}

static int begin(struct session *s)
{
	int ret = describe(s);

	if (ret < 0)
		return ret;
	ret = rings_watch(s);
	if (ret < 0) {
		say_error("cannot wait for the rings: %s", strerror(-ret));
		return ret;
	}
	if (s->options->record.measure.kind != TARGET_COMMAND)
		ret = event_set_enable(&s->recording->set);
	return ret;
}

static int wait_for_end(struct session *s, struct run_end *end)
{
	const struct run_source sources[] = {
		{ .fd = s->rings.fd, .call = rings_ready, .arg = s },
		{ .fd = s->timer, .is_timer = true, .call = timer_ready, .arg = s },
	};
	/* It never tells anything: the rings say when all targets are gone. */
	int never = eventfd(0, EFD_CLOEXEC), ret;

	if (never < 0)
		return -errno;
	ret = run_wait(s->signals, s->child.pid, &never, 1, sources, ARRAY_LEN(sources), end);
	close(never);
	return ret;
}

/* What makes the result less than the whole truth */
static void say_missing(const struct session *s)
{
	uint64_t lost = recording_lost(s->recording);

	if (lost < s->lost)
		lost = s->lost;
	if (lost)
		say_error("%" PRIu64 " beginnings or ends of calls were lost, as the rings were full: make them larger with -m, or trace less with -e",
			  lost);
	if (s->untold)
		say_error("%" PRIu64 " calls are not told, as you may not see what they are", s->untold);
	if (s->damaged)
		say_error("something that is no record was in the rings, %" PRIu64 " times",
			  s->damaged);
}

static int trace_all(struct session *s)
{
	struct run_end end = { .status = STATUS_FAILED };
	int ret = begin(s);

	if (ret < 0) {
		if (s->child.pid)
			child_cancel(&s->child);
		return STATUS_FAILED;
	}
	if (s->child.pid)
		ret = child_run(&s->child, s->options->record.measure.argv[0]);
	if (ret)
		return ret;
	ret = wait_for_end(s, &end);
	if (calls_are_enough(&s->options->calls) && end.status == STATUS_SIGNAL + SIGTERM)
		end.status = STATUS_OK;
	event_set_disable(&s->recording->set);
	if (ret == 0)
		ret = read_rest(s);
	if (ret == 0 && s->options->calls.summary)
		summary_print(&s->options->calls);
	say_missing(s);
	/* Ctrl-C is how one leaves it. */
	if (!s->child.pid && end.interrupted == SIGINT)
		end.status = STATUS_OK;
	return ret < 0 && !end.status ? STATUS_FAILED : end.status;
}

static int open_output(struct calls_options *options)
{
	options->calls.out = stderr;
	if (!options->output)
		return 0;
	options->calls.out = fopen(options->output, "we");
	if (options->calls.out)
		return 0;
	say_error("cannot write to '%s': %s", options->output, strerror(errno));
	return -errno;
}

static int close_output(struct calls_options *options, int status)
{
	FILE *out = options->calls.out;

	if (!out || out == stderr || fclose(out) == 0)
		return status;
	say_error("cannot write to '%s': %s", options->output, strerror(errno));
	return status ? status : STATUS_FAILED;
}

static void session_close(struct session *s)
{
	if (s->samples)
		samples_close(s->samples);
	perfdata_buffer_free(&s->records);
	recording_close(s->recording);
	for (size_t i = 0; i < 3; i++) {
		int fd = i == 0 ? s->file : i == 1 ? s->rings.fd : s->timer;

		if (fd >= 0)
			close(fd);
	}
}

/**
 * calls_run() - do what the command line asks for
 * @dev: the driver.
 * @options: the command line.
 *
 * Return: the exit status.
 */
int calls_run(struct pmuctl_device *dev, struct calls_options *options)
{
	struct session s = { .options = options, .file = -1, .rings.fd = -1, .timer = -1 };
	const struct measure *measure = &options->record.measure;
	int status = STATUS_FAILED, ret = 0;
	sigset_t mask;

	if (open_output(options) < 0)
		return STATUS_FAILED;
	s.signals = signals_block(&mask);
	if (s.signals < 0) {
		say_error("cannot handle signals: %s", strerror(-s.signals));
		return close_output(options, STATUS_FAILED);
	}
	if (measure->argv)
		ret = child_start(&s.child, measure->argv, &mask);
	if (ret < 0) {
		say_error("cannot start '%s': %s", measure->argv[0], strerror(-ret));
		s.child.pid = 0;
	} else if (session_open(&s, dev) == 0) {
		status = trace_all(&s);
	} else if (s.child.pid) {
		child_cancel(&s.child);
	}
	session_close(&s);
	close(s.signals);
	return close_output(options, status);
}
