// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread that copies records from the rings to the file, and what it learns of them
 * on the way. Each time the kernel wakes it up, and once a second, it reads all rings once;
 * what is in a ring goes to the file as it is, in at most two writes.
 *
 * Nobody else may poll the events: a poll takes the news that there is something to read,
 * and who comes second learns nothing. So it is this thread that tells when all targets
 * are gone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

/* What is waited for besides rings, behind these. */
enum {
	POLL_STOP,
	POLL_SNAPSHOTS,
	POLL_NOW,
	NR_POLLS,
};

/* Milliseconds; how often rings are read that nobody tells of any more */
#define GONE_INTERVAL	50

/* And all others, however little they have: a killed recorder must not have lost more. */
#define IDLE_INTERVAL	1000

/**
 * struct reader - the thread, and what it works with
 * @recording: where the rings are.
 * @file: where records go.
 * @compressor: through which; NULL if they are not compressed.
 * @dsos: files that were mapped; NULL if nobody wants them.
 * @told: maps of files that are not the ones which their paths mean, once more, with
 *	their build ids.
 * @totals: what was recorded.
 * @samples: the same as in @totals, for other threads.
 * @error: what stopped it, an errno; for other threads too.
 * @stop: an eventfd that ends it.
 * @now: an eventfd that has it begin before the delay is over.
 * @begun: an eventfd that tells that it has begun, or will not.
 * @alive: a pipe: its write end is closed when the last target is gone.
 * @snapshots: a signalfd of the signals that ask for snapshots of traces, or -1.
 * @copied: an eventfd that tells that one is in the file, or will not be.
 * @polls: a ring each, then @stop, @snapshots and @now.
 * @interval: how long to wait for a ring, in milliseconds.
 * @thread: itself.
 * @is_running: it was started.
 * @has_begun: reader_begin() was called.
 * @is_late: it has not begun yet, as there is a delay; for other threads, too.
 * @delay: milliseconds before @begin is called.
 * @begin: starts to sample, called by the thread if there is a delay.
 * @arg: for @begin.
 */
struct reader {
	struct recording *recording;
	struct perfdata *file;
	struct compressor *compressor;
	struct dsos *dsos;
	struct perfdata_buffer told;
	struct record_totals totals;
	uint64_t samples;
	int error;
	int stop;
	int now;
	int begun;
	int alive[2];
	int snapshots;
	int copied;
	struct pollfd *polls;
	int interval;
	pthread_t thread;
	bool is_running;
	bool has_begun;
	bool is_late;
	unsigned int delay;
	int (*begin)(void *arg);
	void *arg;
};

/**
 * reader_fail() - stop reading
 * @reader: the reader.
 * @error: a negative errno, of which the user has been told.
 */
void reader_fail(struct reader *reader, int error)
{
	__atomic_store_n(&reader->error, -error, __ATOMIC_RELAXED);
}

bool reader_has_failed(const struct reader *reader)
{
	return __atomic_load_n(&reader->error, __ATOMIC_RELAXED);
}

uint64_t reader_samples(const struct reader *reader)
{
	return __atomic_load_n(&reader->samples, __ATOMIC_RELAXED);
}

/* A descriptor that hangs up when all targets are gone */
int reader_alive_fd(const struct reader *reader)
{
	return reader->alive[0];
}

const struct record_totals *reader_totals(const struct reader *reader)
{
	return &reader->totals;
}

/* ---------------------------------------------------------------- records */

static int write_records(struct reader *reader, const struct iovec *pieces, int count)
{
	return reader->compressor ?
	       compressor_write(reader->compressor, reader->file, pieces, count) :
	       perfdata_write(reader->file, pieces, count);
}

/* Only so much of some records had room in the file: @samples, and those that are in there */
static void forget_samples(struct reader *reader, uint64_t samples, uint64_t room,
			   const struct iovec *pieces, int count)
{
	uint64_t kept = 0;

	if (!reader->compressor)
		perfdata_whole(pieces, count, room, &kept);
	reader->totals.samples = samples + kept;
}

/* The newest samples of a target; returns 0 or a negative errno. */
static int samples_read(struct reader *reader, size_t target)
{
	uint64_t samples = reader->totals.samples, end = perfdata_end(reader->file);
	struct perfdata_buffer records = { 0 };
	const struct perf_event_header *record;
	struct iovec piece;
	int ret = overwritten_take(reader->recording, target, &records);

	if (ret == -EBADMSG) {
		reader->totals.damaged++;
		ret = 0;
	}
	if (records.failed)
		ret = -ENOMEM;
	for (size_t at = 0; ret == 0 && at < records.size; at += record->size) {
		record = (const void *)(records.bytes + at);
		record_note(record, &reader->totals, reader->dsos, &reader->told);
	}
	piece = (struct iovec){ .iov_base = records.bytes, .iov_len = records.size };
	if (ret == 0 && records.size) {
		ret = write_records(reader, &piece, 1);
		if (ret < 0)
			forget_samples(reader, samples, perfdata_end(reader->file) - end, &piece, 1);
	}
	perfdata_buffer_free(&records);
	return ret;
}

/* What is there now, but not more than the ring has room for: others wait too. */
static int ring_read(struct reader *reader, struct pmuctl_ring *ring, bool *any)
{
	size_t room = reader->recording->pages * (size_t)getpagesize();
	uint64_t samples = reader->totals.samples, end = perfdata_end(reader->file);
	const struct perf_event_header *record;
	struct iovec pieces[2];
	size_t bytes = 0;
	int ret = 1, count;

	while (ret > 0 && bytes < room) {
		ret = pmuctl_ring_next(ring, &record);
		if (ret > 0) {
			record_note(record, &reader->totals, reader->dsos, &reader->told);
			bytes += record->size;
		}
	}
	if (ret < 0) {
		/* Not even where a record ends is known: nothing of it is kept. */
		reader->totals.damaged++;
		pmuctl_ring_consume(ring);
		return 0;
	}
	if (!bytes)
		return 0;
	*any = true;
	count = pmuctl_ring_pieces(ring, pieces);
	ret = write_records(reader, pieces, count);
	if (ret < 0)
		forget_samples(reader, samples, perfdata_end(reader->file) - end, pieces, count);
	pmuctl_ring_consume(ring);
	if (ret == 0 && (reader->told.size || reader->told.failed))
		ret = perfdata_write_buffer(reader->file, &reader->told);
	return ret;
}

static void say_cannot_write(struct reader *reader, int error)
{
	say_error("cannot write to '%s': %s", reader->recording->options->output,
		  strerror(-error));
	reader_fail(reader, error);
}

/* All rings and traces once; returns whether there was something. */
static bool round_read(struct reader *reader)
{
	const struct recording *r = reader->recording;
	bool any = false;
	int ret = 0;

	for (size_t i = 0; i < r->set.targets.count && ret == 0; i++) {
		if (r->rings[i])
			ret = ring_read(reader, r->rings[i], &any);
		if (ret == 0 && !r->options->snapshot)
			ret = trace_read(r, reader->file, i, &any);
	}
	/* What is overwritten comes last, however old it is. */
	if (any && ret == 0 && !r->overwritten)
		ret = perfdata_finish_round(reader->file);
	__atomic_store_n(&reader->samples, reader->totals.samples,
			 __ATOMIC_RELAXED);
	if (ret < 0)
		say_cannot_write(reader, ret);
	return any;
}

/* All that is there now, at the end of a file */
static void all_read(struct reader *reader)
{
	const struct recording *r = reader->recording;
	int ret = 0;

	for (size_t i = 0; r->overwritten && i < r->set.targets.count && ret == 0; i++)
		ret = samples_read(reader, i);
	if (ret < 0)
		say_cannot_write(reader, ret);
	else
		round_read(reader);
}

/* Copies the ends of traces, if somebody has asked for that. */
static void snapshot_read(struct reader *reader)
{
	struct signalfd_siginfo info;
	bool asked = false;
	int ret;

	while (reader->snapshots >= 0 &&
	       read(reader->snapshots, &info, sizeof(info)) == (ssize_t)sizeof(info))
		asked = true;
	if (!asked)
		return;
	ret = traces_snapshot(reader->recording, reader->file, true);
	if (ret < 0)
		say_cannot_write(reader, ret);
	eventfd_write(reader->copied, 1);
}

/* ----------------------------------------------------------------- thread */

/*
 * Of targets that are gone, what is left is read; they must not wake us again. What they
 * have started may live on and write to their rings.
 */
static void note_gone(struct reader *reader)
{
	size_t rings = reader->recording->set.targets.count, alive = 0;

	for (size_t i = 0; i < rings; i++) {
		if (reader->polls[i].revents & ~POLLIN) {
			reader->polls[i].fd = -1;
			reader->interval = GONE_INTERVAL;
		}
		alive += reader->polls[i].fd >= 0;
	}
	if (alive || reader->alive[1] < 0)
		return;
	close(reader->alive[1]);
	reader->alive[1] = -1;
}

/* Waits for so many milliseconds; returns whether to go on. */
static bool wait_for_more(struct reader *reader, int timeout)
{
	size_t rings = reader->recording->set.targets.count;
	int ret = poll(reader->polls, rings + NR_POLLS, timeout);

	if (ret < 0)
		return errno == EINTR;
	if (ret)
		note_gone(reader);
	return !ret || !reader->polls[rings + POLL_STOP].revents;
}

/* Returns whether it is time to begin; not if we are stopped before. */
static bool wait_for_begin(struct reader *reader)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += reader->delay / 1000;
	end.tv_nsec += reader->delay % 1000 * 1000000L;
	for (;;) {
		long left;

		clock_gettime(CLOCK_MONOTONIC, &now);
		left = (end.tv_sec - now.tv_sec) * 1000 +
		       (end.tv_nsec - now.tv_nsec + 999999) / 1000000;
		if (left <= 0 || eventfd_read(reader->now, &(eventfd_t){ 0 }) == 0)
			return true;
		if (!wait_for_more(reader, left < INT_MAX ? (int)left : INT_MAX))
			return false;
	}
}

/* Returns whether there is something to record now. */
static bool begin_late(struct reader *reader)
{
	size_t rings = reader->recording->set.targets.count;
	bool begins = wait_for_begin(reader);
	int ret = begins ? reader->begin(reader->arg) : 0;

	reader->polls[rings + POLL_NOW].fd = -1;
	if (ret < 0)
		reader_fail(reader, ret);
	__atomic_store_n(&reader->is_late, false, __ATOMIC_RELAXED);
	eventfd_write(reader->begun, 1);
	return begins && ret == 0;
}

static void *reader_main(void *arg)
{
	struct reader *reader = arg;

	bool begins = !reader->delay || begin_late(reader);

	while (begins && wait_for_more(reader, reader->interval) && !reader_has_failed(reader)) {
		snapshot_read(reader);
		reader->totals.wakeups += round_read(reader);
	}
	/* Who waits for a snapshot gets none. */
	eventfd_write(reader->copied, 1);
	return NULL;
}

/**
 * reader_new() - make a reader
 * @recording: where the rings are; it must live as long as the reader.
 * @file: where to.
 * @compressor: through which, or NULL.
 * @dsos: filled with files that programs map; NULL if nobody wants them.
 * @snapshots: a signalfd of the signals that ask for snapshots of traces, or -1.
 * @reader: the result.
 *
 * Return: 0 or a negative errno.
 */
int reader_new(struct recording *recording, struct perfdata *file,
	       struct compressor *compressor, struct dsos *dsos, int snapshots, struct reader **reader)
{
	size_t rings = recording->set.targets.count;
	struct reader *new = calloc(1, sizeof(*new));
	int ret;

	if (!new)
		return -ENOMEM;
	new->interval = IDLE_INTERVAL;
	new->alive[0] = -1;
	new->alive[1] = -1;
	new->polls = calloc(rings + NR_POLLS, sizeof(*new->polls));
	new->stop = eventfd(0, EFD_CLOEXEC);
	new->now = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	new->begun = eventfd(0, EFD_CLOEXEC);
	new->copied = eventfd(0, EFD_CLOEXEC);
	if (!new->polls || new->stop < 0 || new->now < 0 || new->begun < 0 || new->copied < 0 ||
	    pipe2(new->alive, O_CLOEXEC) < 0) {
		ret = new->polls ? -errno : -ENOMEM;
		reader_free(new);
		return ret;
	}
	for (size_t i = 0; i < rings; i++) {
		struct pmuctl_event *event = recording_ring_event(recording, i);

		new->polls[i].fd = event ? pmuctl_event_fd(event) : -1;
		new->polls[i].events = POLLIN;
	}
	new->polls[rings + POLL_STOP] = (struct pollfd){ .fd = new->stop, .events = POLLIN };
	new->polls[rings + POLL_SNAPSHOTS] = (struct pollfd){ .fd = snapshots, .events = POLLIN };
	new->polls[rings + POLL_NOW] = (struct pollfd){ .fd = new->now, .events = POLLIN };
	new->snapshots = snapshots;
	new->recording = recording;
	new->file = file;
	new->compressor = compressor;
	new->dsos = dsos;
	*reader = new;
	return 0;
}

/*
 * As pthread_create(). The filter of --exclude-perf knows the thread by its name, which it has from
 * its first system call on: that of who makes it.
 */
static int start_thread(struct reader *reader)
{
	const bool is_named = reader->recording->options->measure.exclude_self;
	char before[16];
	int error;

	if (is_named && (prctl(PR_GET_NAME, before) < 0 || prctl(PR_SET_NAME, MEASURE_SELF) < 0))
		return errno;
	error = pthread_create(&reader->thread, NULL, reader_main, reader);
	if (is_named)
		prctl(PR_SET_NAME, before);
	return error;
}

/**
 * reader_start() - start to read
 * @reader: the reader. The caller keeps away from the file until reader_stop().
 * @delay: milliseconds before that.
 * @begin: called first after a delay; it may write to the file.
 * @arg: for @begin.
 *
 * If that is not possible it fails, as if it had been started.
 */
void reader_start(struct reader *reader, unsigned int delay,
		  int (*begin)(void *arg), void *arg)
{
	int error;

	reader->delay = delay;
	reader->is_late = delay;
	reader->begin = begin;
	reader->arg = arg;
	error = start_thread(reader);
	reader->is_running = !error;
	if (!error)
		return;
	say_error("cannot start the thread that records: %s", strerror(error));
	reader_fail(reader, -error);
}

/**
 * reader_begin() - do not wait for the end of the delay
 * @reader: the reader, which was started with one.
 *
 * Return: when it has begun: 0 or a negative errno, of which the user has been told. Another time
 * it does nothing.
 */
int reader_begin(struct reader *reader)
{
	if (reader->has_begun || !reader->delay)
		return 0;
	reader->has_begun = true;
	if (reader->is_running) {
		eventfd_write(reader->now, 1);
		eventfd_read(reader->begun, &(eventfd_t){ 0 });
	}
	return reader_has_failed(reader) ? -EIO : 0;
}

/**
 * reader_snapshot() - copy the ends of traces now
 * @reader: the reader, which takes snapshots.
 *
 * Return: when they are in the file, or cannot be any more: 0 or a negative errno.
 */
int reader_snapshot(struct reader *reader)
{
	eventfd_t before;

	if (!reader->is_running || reader_is_late(reader))
		return 0;
	/* Others may have asked, too. */
	eventfd_write(reader->copied, 1);
	eventfd_read(reader->copied, &before);
	/* It has said so, and says nothing more. */
	if (reader_has_failed(reader))
		return -EIO;
	if (kill(getpid(), SIGUSR2) < 0)
		return -errno;
	eventfd_read(reader->copied, &before);
	return reader_has_failed(reader) ? -EIO : 0;
}

bool reader_is_late(const struct reader *reader)
{
	return __atomic_load_n(&reader->is_late, __ATOMIC_RELAXED);
}

static void end_thread(struct reader *reader)
{
	if (!reader->is_running)
		return;
	eventfd_write(reader->stop, 1);
	pthread_join(reader->thread, NULL);
	eventfd_read(reader->stop, &(eventfd_t){ 0 });
	reader->is_running = false;
}

/**
 * reader_pause() - let it read what there is now, and leave the file alone
 * @reader: the reader, which is not late.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int reader_pause(struct reader *reader)
{
	end_thread(reader);
	if (!reader->error)
		all_read(reader);
	return -reader->error;
}

/**
 * reader_resume() - go on, with another file
 * @reader: the reader, which was paused.
 * @file: where records go from now on. What was counted begins anew, too.
 * @compressor: through which, or NULL.
 * @dsos: filled with files that programs map from now on; NULL if nobody wants them.
 */
void reader_resume(struct reader *reader, struct perfdata *file, struct compressor *compressor,
		   struct dsos *dsos)
{
	reader->file = file;
	reader->compressor = compressor;
	reader->dsos = dsos;
	memset(&reader->totals, 0, sizeof(reader->totals));
	reader_start(reader, 0, NULL, NULL);
}

/**
 * reader_stop() - end the thread, and read what is left
 * @reader: the reader; its events are disabled.
 *
 * Return: 0, or, having told the user, a negative errno if not all is in the file.
 */
int reader_stop(struct reader *reader)
{
	end_thread(reader);
	if (!reader->error && reader->recording->options->snapshot) {
		int ret = traces_snapshot(reader->recording, reader->file, false);

		if (ret < 0)
			say_cannot_write(reader, ret);
	}
	if (!reader->error)
		all_read(reader);
	while (!reader->error && round_read(reader))
		;
	return -reader->error;
}

void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	end_thread(reader);
	for (size_t i = 0; i < ARRAY_LEN(reader->alive); i++)
		if (reader->alive[i] >= 0)
			close(reader->alive[i]);
	if (reader->stop >= 0)
		close(reader->stop);
	if (reader->now >= 0)
		close(reader->now);
	if (reader->begun >= 0)
		close(reader->begun);
	if (reader->copied >= 0)
		close(reader->copied);
	perfdata_buffer_free(&reader->told);
	free(reader->polls);
	free(reader);
}
