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

#include "streams.h"

#define PSB_SIZE 16

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

/* -------------------------------------------------------------------- bytes */

/* A trace can be decoded from a PSB packet on. */
static bool begins_anew(const struct stream *stream, const struct span *span)
{
	uint8_t bytes[PSB_SIZE];

	if (stream->run->traces->snapshot || is_branches(stream->run))
		return true;
	if (trace_buffer_copy(stream->buffer, span->position, PSB_SIZE, bytes) < PSB_SIZE)
		return false;
	for (size_t i = 0; i < PSB_SIZE; i++)
		if (bytes[i] != (i % 2 ? 0x82 : 0x02))
			return false;
	return true;
}

/* The end of the spans that have to be decoded in one piece with the next one; found once */
static size_t chunk_end(struct stream *stream)
{
	if (stream->end > stream->next)
		return stream->end;
	stream->end = stream->next + 1;
	while (stream->end < stream->span_count &&
	       !begins_anew(stream, &stream->spans[stream->end]))
		stream->end++;
	return stream->end;
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
			got = trace_buffer_copy(stream->buffer, span->position, want,
						stream->bytes + done);
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
		.cpuid = run->samples->file->info.cpuid,
		.read = stream_read,
		.find_ranges = run->traces->filter ? stream_find_ranges : NULL,
		.visit = stream_visit,
		.arg = stream,
	};
	uint64_t size = 0, room = stream->buffer->size;

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

static bool has_more(const struct stream *stream)
{
	return stream->decoder || stream->next < stream->span_count;
}

/* Decode what was before a time. */
static int stream_run(struct stream *stream, uint64_t until)
{
	int ret = 0;

	while (has_more(stream)) {
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

static int streams_run(struct streams *streams, uint64_t until)
{
	size_t live = 0;

	for (size_t i = 0; i < streams->live_count; i++) {
		int ret = stream_run(streams->live[i], until);

		if (ret < 0)
			return ret;
		if (has_more(streams->live[i]))
			streams->live[live++] = streams->live[i];
	}
	streams->live_count = live;
	return 0;
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
	return streams_is_switch(streams, record);
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
	struct stream *stream;
	int ret = 0;

	if (streams->is_timed && record->time && is_change(streams, record))
		ret = streams_run(streams, tsc_at(run->traces, record->time));
	if (ret == 0)
		ret = samples_follow(run->samples, record);
	if (ret < 0)
		return ret;
	if (streams_is_switch(streams, record))
		switch_take(streams, record);
	else if (is_change(streams, record))
		trace_code_forget(run->code);
	stream = streams->is_timed || record->type != PERF_RECORD_AUX ? NULL :
		 stream_of(streams, record);
	return stream && ret == 0 ? stream_run_told(stream, record) : ret;
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
	for (size_t i = 0; i < streams.count; i++)
		chunk_close(&streams.list[i]);
	streams_free(&streams);
	return ret;
}
