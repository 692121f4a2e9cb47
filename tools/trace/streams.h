/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What streams.c decodes, as spans.c has found it: the traces of a recording, one stream of bytes for
 * each buffer, and what the records tell of which part of it.
 */
#ifndef PMUCTL_TOOL_TRACE_STREAMS_H
#define PMUCTL_TOOL_TRACE_STREAMS_H

#include "pieces.h"
#include "trace.h"

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
 * struct teller - a record that may tell whose a snapshot is
 * @time: of the record; then the earliest of this one and those behind it.
 * @pid: process of its task, -1 if nobody knows.
 * @tid: that task.
 * @record: the record, its place in the file.
 */
struct teller {
	uint64_t time;
	int32_t pid;
	int32_t tid;
	uint64_t record;
};

/**
 * struct stream - the trace of one buffer
 * @run: that it is of.
 * @buffer: where its bytes are.
 * @cpu: that was traced, or -1.
 * @tid: or the task.
 * @tellers: AUX records of a recording with snapshots.
 * @teller_count: how many.
 * @teller_room: room there.
 * @spans: in the order of time.
 * @span_count: how many.
 * @span_room: room there.
 * @first: the first span of those that are being decoded,
 * @next: and the one behind the last of them.
 * @end: behind the last of the spans that go with @next, if that is known.
 * @told: spans whose record has come.
 * @bytes: of them, a copy.
 * @decoder: at work on these; or NULL.
 * @has_switches: the records tell who has the CPU.
 * @thread: whose is what comes next.
 */
struct stream {
	struct trace_run *run;
	const struct trace_buffer *buffer;
	int32_t cpu;
	int32_t tid;
	struct teller *tellers;
	size_t teller_count;
	size_t teller_room;
	struct span *spans;
	size_t span_count;
	size_t span_room;
	size_t first;
	size_t next;
	size_t end;
	size_t told;
	uint8_t *bytes;
	struct trace_decoder *decoder;
	bool has_switches;
	const struct thread *thread;
};

/**
 * struct streams - all of a recording
 * @run: that they are of.
 * @pieces: of their bytes.
 * @list: in the order of their first pieces.
 * @by_key: by the CPU or task that was traced; of equals, the first one first.
 * @count: how many.
 * @live: those that are not decoded up to their ends, in the same order.
 * @live_count: how many.
 * @is_timed: the trace has time stamps, and the records have times.
 */
struct streams {
	struct trace_run *run;
	struct trace_pieces pieces;
	struct stream *list;
	struct stream **by_key;
	size_t count;
	struct stream **live;
	size_t live_count;
	bool is_timed;
};

int streams_find(struct streams *streams);
void streams_free(struct streams *streams);
struct stream *stream_of(const struct streams *streams, const struct perffile_record *record);
bool streams_is_switch(const struct streams *streams, const struct perffile_record *record);
int spans_find(struct streams *streams);

#endif /* PMUCTL_TOOL_TRACE_STREAMS_H */
