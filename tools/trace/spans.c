// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the records of a recording tell of its traces: which parts of each stream are complete, and
 * whose they are.
 */
#include <errno.h>
#include <stdlib.h>

#include "perffile/order.h"
#include "streams.h"

/* Of a CPU, or of a task, whose numbers are anything */
static uint64_t key_of(int32_t cpu, int32_t tid)
{
	return cpu < 0 ? (uint32_t)tid : (uint32_t)cpu | 1ULL << 32;
}

static int by_key(const void *left, const void *right)
{
	const struct stream *a = *(struct stream *const *)left;
	const struct stream *b = *(struct stream *const *)right;
	uint64_t mine = key_of(a->cpu, a->tid), other = key_of(b->cpu, b->tid);

	if (mine != other)
		return mine < other ? -1 : 1;
	return a < b ? -1 : a > b;
}

static struct stream *stream_with(const struct streams *streams, uint64_t key)
{
	size_t low = 0, high = streams->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct stream *stream = streams->by_key[middle];

		if (key_of(stream->cpu, stream->tid) < key)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == streams->count ||
	    key_of(streams->by_key[low]->cpu, streams->by_key[low]->tid) != key)
		return NULL;
	return streams->by_key[low];
}

/**
 * stream_of() - of which trace does a record tell?
 * @streams: all of them.
 * @record: the record.
 *
 * Return: the first of its task or CPU, NULL if there is none.
 */
struct stream *stream_of(const struct streams *streams, const struct perffile_record *record)
{
	bool has_cpu = record->fields & PERF_SAMPLE_CPU && record->cpu <= INT32_MAX;
	struct stream *of_task = stream_with(streams, key_of(-1, record->tid));
	struct stream *of_cpu = !has_cpu ? NULL :
				stream_with(streams, key_of((int32_t)record->cpu, 0));

	if (!of_task || !of_cpu)
		return of_task ? of_task : of_cpu;
	return of_task < of_cpu ? of_task : of_cpu;
}

/**
 * streams_find() - find the traces of a recording
 * @streams: the run is set; to be freed with streams_free(), also if it fails.
 *
 * Return: 0 or -ENOMEM.
 */
int streams_find(struct streams *streams)
{
	int ret = trace_pieces_sort(&streams->pieces, streams->run->traces);
	size_t count = streams->pieces.buffer_count;

	if (ret < 0)
		return ret;
	streams->list = calloc(count ? count : 1, sizeof(*streams->list));
	streams->by_key = calloc(count ? count : 1, sizeof(struct stream *));
	streams->live = calloc(count ? count : 1, sizeof(struct stream *));
	if (!streams->list || !streams->by_key || !streams->live)
		return -ENOMEM;
	for (; streams->count < count; streams->count++) {
		struct stream *stream = &streams->list[streams->count];

		stream->run = streams->run;
		stream->buffer = &streams->pieces.buffers[streams->count];
		stream->cpu = stream->buffer->first->cpu;
		stream->tid = stream->buffer->first->tid;
		streams->by_key[streams->count] = stream;
		streams->live[streams->count] = stream;
	}
	streams->live_count = count;
	qsort(streams->by_key, count, sizeof(struct stream *), by_key);
	return 0;
}

/**
 * streams_free() - forget them
 * @streams: the streams; none of them is being decoded.
 */
void streams_free(struct streams *streams)
{
	for (size_t i = 0; i < streams->count; i++) {
		free(streams->list[i].spans);
		free(streams->list[i].tellers);
	}
	free(streams->list);
	free(streams->by_key);
	free(streams->live);
	trace_pieces_free(&streams->pieces);
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

static int teller_add(struct stream *stream, const struct perffile_record *record)
{
	if (stream->teller_count == stream->teller_room) {
		size_t room = stream->teller_room ? stream->teller_room * 2 : 4;
		struct teller *tellers = reallocarray(stream->tellers, room, sizeof(*tellers));

		if (!tellers)
			return -ENOMEM;
		stream->tellers = tellers;
		stream->teller_room = room;
	}
	stream->tellers[stream->teller_count++] = (struct teller){
		record->time, record->pid, record->tid, record->offset,
	};
	return 0;
}

/* So that times go up only: a record is not later than this if one from it on is not. */
static void tellers_finish(struct stream *stream)
{
	for (size_t i = stream->teller_count; i-- > 1;)
		if (stream->tellers[i].time < stream->tellers[i - 1].time)
			stream->tellers[i - 1].time = stream->tellers[i].time;
}

/* The last AUX record that was written before the snapshot was taken, NULL if there is none */
static const struct teller *teller_of(const struct stream *stream,
				      const struct perffile_trace *piece)
{
	const struct perffile_traces *traces = stream->run->traces;
	uint64_t time = traces->words[PERFFILE_PT_HAS_TIME_ZERO] ?
			trace_time(traces, piece->reference) : UINT64_MAX;
	size_t low = 0, high = stream->teller_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (stream->tellers[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &stream->tellers[low - 1] : NULL;
}

/* Whose the snapshots are, the last record before each tells. */
static int snapshots_add(struct streams *streams)
{
	const struct perffile_traces *traces = streams->run->traces;
	int ret = 0;

	for (size_t i = 0; i < streams->count; i++)
		tellers_finish(&streams->list[i]);
	for (size_t i = 0; i < traces->count && ret == 0; i++) {
		const struct perffile_trace *piece = &traces->pieces[i];
		struct stream *stream = &streams->list[streams->pieces.owners[i]];
		const struct teller *teller = teller_of(stream, piece);
		struct span span = { piece->position, piece->size, i, -1, -1, 0 };

		if (!teller) {
			streams->run->missing += piece->size;
			continue;
		}
		span.pid = teller->pid;
		span.tid = teller->tid;
		span.record = teller->record;
		ret = span_add(stream, &span);
	}
	return ret;
}

/**
 * streams_is_switch() - does a record tell whose the trace is from now on?
 * @streams: all of them.
 * @record: the record.
 *
 * A snapshot may have parts of several tasks, each of which tells when it comes; of other traces the
 * AUX records tell whose each part is.
 *
 * Return: whether it does.
 */
bool streams_is_switch(const struct streams *streams, const struct perffile_record *record)
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

static int aux_see(struct streams *streams, const struct perffile_record *record)
{
	const struct span span = { record->aux.position, record->aux.size, 0, record->pid,
				   record->tid, record->offset };
	struct stream *stream = stream_of(streams, record);

	streams->is_timed = streams->is_timed && record->fields & PERF_SAMPLE_TIME;
	streams->run->truncated += !!(record->aux.flags & PERF_AUX_FLAG_TRUNCATED);
	if (streams->run->traces->snapshot)
		return stream ? teller_add(stream, record) : 0;
	if (!stream)
		streams->run->missing += record->aux.size;
	return stream && span.size ? span_add(stream, &span) : 0;
}

/**
 * spans_find() - go through the records once, for what they tell of the traces
 * @streams: the traces; their spans are filled.
 *
 * Return: 0 or -ENOMEM.
 */
int spans_find(struct streams *streams)
{
	struct perffile *file = streams->run->samples->file;
	struct perffile_record record;
	struct perffile_error error;
	int ret = 0;

	while (ret == 0 && perffile_next(file, &record, &error) > 0) {
		if (record.type == PERF_RECORD_AUX)
			ret = aux_see(streams, &record);
		else if (streams_is_switch(streams, &record))
			switch_see(streams, &record);
	}
	perffile_rewind(file);
	return ret == 0 && streams->run->traces->snapshot ? snapshots_add(streams) : ret;
}
