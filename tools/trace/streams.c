// SPDX-License-Identifier: GPL-2.0-only
/*
 * The traces of a recording, one stream of bytes for each buffer, decoded together with its
 * records. What a trace leads through depends on which task the CPU has, and on what that has
 * mapped, and both change while it goes on: so before a record that tells of a change is
 * followed, all streams are decoded up to its time. A trace without time stamps is decoded
 * piece by piece, each when the record comes that says that it is complete.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

#define PSB_SIZE 16

/**
 * struct span - what an AUX record tells of, or a snapshot
 * @position: of its first byte in the whole trace of the buffer.
 * @size: bytes.
 * @snapshot: number of the piece; of a snapshot only.
 * @pid: process of the task that it ended with, -1 if nobody knows.
 * @tid: that task.
 * @record: the record, its place in the file.
 */
struct span {
	uint64_t position;
	uint64_t size;
	size_t snapshot;
	int32_t pid;
	int32_t tid;
	uint64_t record;
};

/**
 * struct stream - the trace of one buffer
 * @run: that it is of.
 * @buffer: its number.
 * @cpu: that was traced, or -1.
 * @tid: or the task.
 * @spans: in the order of time.
 * @span_count: how many.
 * @span_room: room there.
 * @first: the first span of those that are being decoded,
 * @next: and the one behind the last of them.
 * @told: spans whose record has come.
 * @bytes: of them, a copy.
 * @decoder: at work on these; or NULL.
 * @has_switches: the records tell who has the CPU.
 * @thread: whose is what comes next.
 */
struct stream {
	struct trace_run *run;
	uint32_t buffer;
	int32_t cpu;
	int32_t tid;
	struct span *spans;
	size_t span_count;
	size_t span_room;
	size_t first;
	size_t next;
	size_t told;
	uint8_t *bytes;
	struct trace_decoder *decoder;
	bool has_switches;
	const struct thread *thread;
};

struct streams {
	struct trace_run *run;
	struct stream *list;
	size_t count;
	bool is_timed;
};

/* -------------------------------------------------------------------- clock */

/**
 * trace_time() - from the time stamp counter to the clock of the records
 * @traces: of the file.
 * @tsc: the time stamp.
 *
 * Return: nanoseconds, 0 if the file does not tell how.
 */
uint64_t trace_time(const struct perffile_traces *traces, uint64_t tsc)
{
	const uint64_t *words = traces->words;
	uint64_t shift = words[PERFFILE_PT_TIME_SHIFT], mult = words[PERFFILE_PT_TIME_MULT];

	if (!words[PERFFILE_PT_HAS_TIME_ZERO] || shift >= 32)
		return 0;
	return words[PERFFILE_PT_TIME_ZERO] + (tsc >> shift) * mult +
	       (((tsc & ((1ULL << shift) - 1)) * mult) >> shift);
}

/* The first time stamp that is not before @time. Where the clock began later than the counter,
 * what there is to be added wraps.
 */
static uint64_t tsc_at(const struct perffile_traces *traces, uint64_t time)
{
	const uint64_t *words = traces->words;
	uint64_t shift = words[PERFFILE_PT_TIME_SHIFT], mult = words[PERFFILE_PT_TIME_MULT];
	uint64_t since = time - words[PERFFILE_PT_TIME_ZERO];

	return ((since / mult) << shift) + (((since % mult) << shift) + mult - 1) / mult;
}

/* Are they records of Branch Trace Store? Those have no time stamps, and each is by itself. */
static bool is_branches(const struct trace_run *run)
{
	return run->traces->whose == PERFFILE_TRACE_INTEL_BTS;
}

/* Do the trace's time stamps mean something? */
static bool has_clock(const struct trace_run *run)
{
	const uint64_t *words = run->traces->words;

	return !is_branches(run) && words[PERFFILE_PT_HAS_TIME_ZERO] &&
	       words[PERFFILE_PT_TIME_MULT] &&
	       words[PERFFILE_PT_TIME_MULT] <= UINT32_MAX &&
	       words[PERFFILE_PT_TIME_SHIFT] < 32 && run->config & words[PERFFILE_PT_TSC];
}

/* -------------------------------------------------------------------- spans */

static struct stream *stream_of(const struct streams *streams,
				const struct perffile_record *record)
{
	for (size_t i = 0; i < streams->count; i++) {
		struct stream *stream = &streams->list[i];

		if (stream->cpu < 0 ? stream->tid == record->tid :
		    record->fields & PERF_SAMPLE_CPU && record->cpu == (uint32_t)stream->cpu)
			return stream;
	}
	return NULL;
}

static struct stream *stream_by_buffer(const struct streams *streams, uint32_t buffer)
{
	for (size_t i = 0; i < streams->count; i++)
		if (streams->list[i].buffer == buffer)
			return &streams->list[i];
	return NULL;
}

static int streams_find(struct streams *streams)
{
	const struct perffile_traces *traces = streams->run->traces;

	streams->list = calloc(traces->count, sizeof(*streams->list));
	if (!streams->list)
		return -ENOMEM;
	for (size_t i = 0; i < traces->count; i++) {
		const struct perffile_trace *piece = &traces->pieces[i];

		if (stream_by_buffer(streams, piece->buffer))
			continue;
		streams->list[streams->count++] = (struct stream){
			.run = streams->run,
			.buffer = piece->buffer,
			.cpu = piece->cpu,
			.tid = piece->tid,
		};
	}
	return 0;
}

static int span_add(struct stream *stream, const struct span *span)
{
	if (stream->span_count == stream->span_room) {
		size_t room = stream->span_room ? stream->span_room * 2 : 64;
		struct span *spans = reallocarray(stream->spans, room, sizeof(*spans));

		if (!spans)
			return -ENOMEM;
		stream->spans = spans;
		stream->span_room = room;
	}
	stream->spans[stream->span_count++] = *span;
	return 0;
}

/* Was this AUX record written before the snapshot was taken? */
static bool is_before(const struct trace_run *run, const struct perffile_record *record,
		      const struct perffile_trace *piece)
{
	return !run->traces->words[PERFFILE_PT_HAS_TIME_ZERO] ||
	       record->time <= trace_time(run->traces, piece->reference);
}

/* Whose the snapshots are, the last record before each tells. */
static void snapshots_see(struct streams *streams, struct span *spans,
			  const struct perffile_record *record)
{
	const struct perffile_traces *traces = streams->run->traces;
	struct stream *stream = stream_of(streams, record);

	for (size_t i = 0; i < traces->count; i++) {
		const struct perffile_trace *piece = &traces->pieces[i];

		if (stream && piece->buffer == stream->buffer &&
		    is_before(streams->run, record, piece))
			spans[i] = (struct span){ piece->position, piece->size, i,
						  record->pid, record->tid, record->offset };
	}
}

static int snapshots_add(struct streams *streams, const struct span *spans)
{
	const struct perffile_traces *traces = streams->run->traces;
	int ret = 0;

	for (size_t i = 0; i < traces->count && ret == 0; i++) {
		if (spans[i].record)
			ret = span_add(stream_by_buffer(streams, traces->pieces[i].buffer),
				       &spans[i]);
		else
			streams->run->missing += traces->pieces[i].size;
	}
	return ret;
}

/*
 * Does it tell whose the trace is from now on? A snapshot may have parts of several tasks, each of
 * which tells when it comes; of other traces the AUX records tell whose each part is.
 */
static bool is_switch(const struct streams *streams, const struct perffile_record *record)
{
	return record->type == PERF_RECORD_SWITCH_CPU_WIDE ||
	       (record->type == PERF_RECORD_SWITCH && streams->run->traces->snapshot);
}

/* The first switch tells who had the CPU before. */
static void switch_see(struct streams *streams, const struct perffile_record *record)
{
	struct tasks *tasks = streams->run->samples->tasks;
	struct stream *stream = stream_of(streams, record);
	bool is_out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;

	if (!stream || stream->has_switches || stream->cpu < 0)
		return;
	stream->has_switches = true;
	stream->thread = is_out || record->type == PERF_RECORD_SWITCH ?
				 tasks_thread(tasks, record->pid, record->tid) :
				 tasks_thread(tasks, (int32_t)record->other.pid,
					      (int32_t)record->other.tid);
}

static int aux_see(struct streams *streams, const struct perffile_record *record,
		   struct span *snapshots)
{
	const struct span span = { record->aux.position, record->aux.size, 0, record->pid,
				   record->tid, record->offset };
	struct stream *stream = stream_of(streams, record);

	streams->is_timed = streams->is_timed && record->fields & PERF_SAMPLE_TIME;
	streams->run->truncated += !!(record->aux.flags & PERF_AUX_FLAG_TRUNCATED);
	if (snapshots) {
		snapshots_see(streams, snapshots, record);
		return 0;
	}
	if (!stream)
		streams->run->missing += record->aux.size;
	return stream && span.size ? span_add(stream, &span) : 0;
}

/* Go through the records once, for what they tell of the traces. */
static int spans_find(struct streams *streams)
{
	struct perffile *file = streams->run->samples->file;
	const struct perffile_traces *traces = streams->run->traces;
	struct span *snapshots = NULL;
	struct perffile_record record;
	struct perffile_error error;
	int ret = 0;

	if (traces->snapshot) {
		snapshots = calloc(traces->count, sizeof(*snapshots));
		if (!snapshots)
			return -ENOMEM;
	}
	while (ret == 0 && perffile_next(file, &record, &error) > 0) {
		if (record.type == PERF_RECORD_AUX)
			ret = aux_see(streams, &record, snapshots);
		else if (is_switch(streams, &record))
			switch_see(streams, &record);
	}
	perffile_rewind(file);
	if (snapshots && ret == 0)
		ret = snapshots_add(streams, snapshots);
	free(snapshots);
	return ret;
}

/* -------------------------------------------------------------------- bytes */

/* Bytes of the buffer from @at on, which may be in several pieces; returns how many. */
static uint64_t gather(const struct stream *stream, uint64_t at, uint64_t size, uint8_t *to)
{
	const struct perffile_traces *traces = stream->run->traces;
	uint64_t done = 0;

	for (size_t i = 0; i < traces->count && done < size; i++) {
		const struct perffile_trace *piece = &traces->pieces[i];
		uint64_t into = at + done - piece->position, length;

		if (piece->buffer != stream->buffer || at + done < piece->position ||
		    into >= piece->size)
			continue;
		length = piece->size - into < size - done ? piece->size - into : size - done;
		memcpy(to + done, piece->bytes + into, length);
		done += length;
	}
	return done;
}

/* A trace can be decoded from a PSB packet on. */
static bool begins_anew(const struct stream *stream, const struct span *span)
{
	uint8_t bytes[PSB_SIZE];

	if (stream->run->traces->snapshot || is_branches(stream->run))
		return true;
	if (gather(stream, span->position, PSB_SIZE, bytes) < PSB_SIZE)
		return false;
	for (size_t i = 0; i < PSB_SIZE; i++)
		if (bytes[i] != (i % 2 ? 0x82 : 0x02))
			return false;
	return true;
}

/* The end of the spans that have to be decoded in one piece with the next one */
static size_t chunk_end(const struct stream *stream)
{
	size_t end = stream->next + 1;

	while (end < stream->span_count && !begins_anew(stream, &stream->spans[end]))
		end++;
	return end;
}

/* The bytes that the file has of all pieces: what its records say cannot be more. */
static uint64_t bytes_of(const struct stream *stream)
{
	const struct perffile_traces *traces = stream->run->traces;
	uint64_t size = 0;

	for (size_t i = 0; i < traces->count; i++)
		size += traces->pieces[i].buffer == stream->buffer ? traces->pieces[i].size : 0;
	return size;
}

static uint64_t chunk_copy(struct stream *stream, uint64_t room)
{
	const struct trace_run *run = stream->run;
	uint64_t done = 0;

	for (size_t i = stream->first; i < stream->next; i++) {
		struct span *span = &stream->spans[i];
		uint64_t got, want = span->size < room - done ? span->size : room - done;

		if (run->traces->snapshot) {
			memcpy(stream->bytes, run->traces->pieces[span->snapshot].bytes, want);
			got = want;
		} else {
			got = gather(stream, span->position, want, stream->bytes + done);
		}
		stream->run->missing += span->size - got;
		/* From now on: where it ends in the copy */
		done += got;
		span->size = done;
	}
	return done;
}

/* ------------------------------------------------------------------ decoding */

/* A trace_read_code */
static int stream_read(void *arg, uint64_t ip, uint8_t *to, size_t size)
{
	const struct stream *stream = arg;

	return trace_code_read(stream->run->code, stream->thread, ip, to, size);
}

/* Of a task's event, the trace is that of the task which its record names. */
static void find_thread(struct stream *stream, uint64_t position)
{
	size_t i = stream->first;

	if (stream->has_switches)
		return;
	while (i + 1 < stream->next && stream->spans[i].size <= position)
		i++;
	stream->thread = stream->spans[i].tid < 0 ? NULL :
			 tasks_thread(stream->run->samples->tasks, stream->spans[i].pid,
				      stream->spans[i].tid);
}

/* A trace_find_ranges */
static unsigned int stream_find_ranges(void *arg, uint64_t position, struct trace_range *ranges)
{
	struct stream *stream = arg;

	find_thread(stream, position);
	return trace_filter_ranges(stream->run->traces->filter, stream->thread, ranges);
}

/* A trace_visit */
static void stream_visit(void *arg, const struct trace_step *step)
{
	struct stream *stream = arg;
	struct trace_step whose = *step;

	if (step->kind == TRACE_BEGIN)
		find_thread(stream, step->position);
	whose.thread = stream->thread;
	stream->run->visit(stream->run->arg, &whose);
}

/* Begin with the next piece; one of Branch Trace Store is decoded at once. */
static int chunk_open(struct stream *stream)
{
	struct trace_run *run = stream->run;
	struct trace_piece piece = {
		.words = run->traces->words,
		.config = run->config,
		.read = stream_read,
		.find_ranges = run->traces->filter ? stream_find_ranges : NULL,
		.visit = stream_visit,
		.arg = stream,
	};
	uint64_t size = 0, room = bytes_of(stream);

	stream->first = stream->next;
	stream->next = chunk_end(stream);
	for (size_t i = stream->first; i < stream->next && size < room; i++)
		size += stream->spans[i].size < room ? stream->spans[i].size : room;
	if (size > room)
		size = room;
	stream->bytes = malloc(size ? size : 1);
	if (!stream->bytes)
		return -ENOMEM;
	piece.size = chunk_copy(stream, size);
	piece.bytes = stream->bytes;
	run->bytes += piece.size;
	find_thread(stream, 0);
	if (is_branches(run)) {
		trace_branches(&piece);
		return 0;
	}
	stream->decoder = trace_decoder_new(&piece);
	return stream->decoder ? 0 : -ENOMEM;
}

static void chunk_close(struct stream *stream)
{
	trace_decoder_free(stream->decoder);
	free(stream->bytes);
	stream->decoder = NULL;
	stream->bytes = NULL;
}

/* Decode what was before a time. */
static int stream_run(struct stream *stream, uint64_t until)
{
	int ret = 0;

	while (stream->decoder || stream->next < stream->span_count) {
		if (!stream->decoder)
			ret = chunk_open(stream);
		if (ret < 0)
			return ret;
		if (stream->decoder && trace_decoder_run(stream->decoder, until))
			return 0;
		chunk_close(stream);
	}
	return 0;
}

/* Decode the pieces that are complete with this record. */
static int stream_run_told(struct stream *stream, const struct perffile_record *record)
{
	int ret;

	while (stream->told < stream->span_count &&
	       stream->spans[stream->told].record == record->offset)
		stream->told++;
	while (stream->next < stream->told && chunk_end(stream) <= stream->told) {
		ret = chunk_open(stream);
		if (ret < 0)
			return ret;
		if (stream->decoder)
			trace_decoder_run(stream->decoder, TRACE_END_OF_TIME);
		chunk_close(stream);
	}
	return 0;
}

static int streams_run(const struct streams *streams, uint64_t until)
{
	int ret = 0;

	for (size_t i = 0; i < streams->count && ret == 0; i++)
		ret = stream_run(&streams->list[i], until);
	return ret;
}

/* ------------------------------------------------------------------ records */

/* May addresses, or who has the CPU, mean something else from this record on? */
static bool is_change(const struct streams *streams, const struct perffile_record *record)
{
	switch (record->type) {
	case PERF_RECORD_COMM:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return true;
	}
	return is_switch(streams, record);
}

static void switch_take(struct streams *streams, const struct perffile_record *record)
{
	struct tasks *tasks = streams->run->samples->tasks;
	struct stream *stream = stream_of(streams, record);
	bool is_out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;

	if (!stream || stream->cpu < 0)
		return;
	if (!is_out)
		stream->thread = tasks_thread(tasks, record->pid, record->tid);
	else if (record->type == PERF_RECORD_SWITCH_CPU_WIDE)
		stream->thread = tasks_thread(tasks, (int32_t)record->other.pid,
					      (int32_t)record->other.tid);
}

static int record_take(struct streams *streams, const struct perffile_record *record)
{
	struct trace_run *run = streams->run;
	int ret = 0;

	if (streams->is_timed && record->time && is_change(streams, record))
		ret = streams_run(streams, tsc_at(run->traces, record->time));
	if (ret == 0)
		ret = samples_follow(run->samples, record);
	if (ret < 0)
		return ret;
	if (is_switch(streams, record))
		switch_take(streams, record);
	else if (is_change(streams, record))
		trace_code_forget(run->code);
	for (size_t i = 0; i < streams->count && !streams->is_timed && ret == 0; i++)
		if (record->type == PERF_RECORD_AUX)
			ret = stream_run_told(&streams->list[i], record);
	return ret;
}

static int records_take(struct streams *streams)
{
	struct perffile_record record;
	int ret;

	while ((ret = samples_read(streams->run->samples, &record)) > 0) {
		ret = record_take(streams, &record);
		if (ret < 0)
			return ret;
		if (ferror(stdout))
			return -EIO;
	}
	return ret < 0 ? ret : streams_run(streams, TRACE_END_OF_TIME);
}

/**
 * trace_run() - decode all traces of a recording
 * @run: which, and whom to tell; the results are filled.
 *
 * Return: 0, or a negative error number.
 */
int trace_run(struct trace_run *run)
{
	struct streams streams = { .run = run, .is_timed = has_clock(run) };
	int ret = streams_find(&streams);

	if (ret == 0)
		ret = spans_find(&streams);
	if (ret == 0)
		ret = records_take(&streams);
	for (size_t i = 0; i < streams.count; i++) {
		chunk_close(&streams.list[i]);
		free(streams.list[i].spans);
	}
	free(streams.list);
	return ret;
}
