// SPDX-License-Identifier: GPL-2.0-only
/*
 * The traces in a perf.data file: what a decoder must know of the machine, and the pieces
 * of trace between the records. The records were looked through before
 * (perffile_records_check()): each is within the file, with what follows it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perffile.h"

/* Behind the words; without memory it is as good as none. */
static void read_filter(struct perffile_traces *traces, struct perffile_bytes bytes)
{
	uint64_t size = traces->words[PERFFILE_PT_FILTER_SIZE];

	free(traces->filter);
	traces->filter = NULL;
	if (bytes.failed || traces->whose != PERFFILE_TRACE_INTEL_PT || !size)
		return;
	if (size > (size_t)(bytes.end - bytes.at))
		size = (size_t)(bytes.end - bytes.at);
	traces->filter = strndup((const char *)bytes.at, size);
}

static void read_info(struct perffile_traces *traces, struct perffile_bytes bytes)
{
	traces->whose = perffile_take32(&bytes);
	perffile_take32(&bytes);
	for (size_t i = 0; i < PERFFILE_PT_WORDS; i++)
		traces->words[i] = perffile_take64(&bytes);
	traces->snapshot = traces->words[traces->whose == PERFFILE_TRACE_INTEL_BTS ?
					 PERFFILE_BTS_SNAPSHOT : PERFFILE_PT_SNAPSHOT];
	read_filter(traces, bytes);
}

static void read_piece(struct perffile_traces *traces, struct perffile_bytes bytes)
{
	struct perffile_trace *piece = &traces->pieces[traces->count++];

	piece->size = perffile_take64(&bytes);
	piece->position = perffile_take64(&bytes);
	piece->reference = perffile_take64(&bytes);
	piece->buffer = perffile_take32(&bytes);
	piece->tid = (int32_t)perffile_take32(&bytes);
	piece->cpu = (int32_t)perffile_take32(&bytes);
	piece->bytes = bytes.end;
}

/* Takes the record at @at apart; returns whether it is a piece. */
static bool take_record(const struct perffile *file, struct perffile_traces *traces, uint64_t at)
{
	struct perf_event_header header;
	struct perffile_bytes bytes;

	memcpy(&header, file->data + at, sizeof(header));
	bytes.at = file->data + at + sizeof(header);
	bytes.end = file->data + at + header.size;
	bytes.failed = false;
	if (traces && header.type == PERFFILE_AUXTRACE_INFO)
		read_info(traces, bytes);
	if (traces && header.type == PERFFILE_AUXTRACE)
		read_piece(traces, bytes);
	return header.type == PERFFILE_AUXTRACE;
}

/* By buffer; those of one are in the order of the file. */
static int by_buffer(const void *left, const void *right)
{
	const struct perffile_trace *a = *(struct perffile_trace *const *)left;
	const struct perffile_trace *b = *(struct perffile_trace *const *)right;

	if (a->buffer != b->buffer)
		return a->buffer < b->buffer ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Behind a piece is padding, to whole words; the next one of the buffer tells how much. */
static int cut_padding(struct perffile_traces *traces)
{
	struct perffile_trace **order = calloc(traces->count + 1, sizeof(struct perffile_trace *));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < traces->count; i++)
		order[i] = &traces->pieces[i];
	qsort(order, traces->count, sizeof(order[0]), by_buffer);
	for (size_t i = 0; i + 1 < traces->count; i++) {
		struct perffile_trace *piece = order[i], *next = order[i + 1];

		if (next->buffer == piece->buffer && next->position > piece->position &&
		    next->position - piece->position < piece->size)
			piece->size = next->position - piece->position;
	}
	free(order);
	return 0;
}

/**
 * perffile_traces_read() - find the traces
 * @file: the file.
 * @traces: filled; to be freed with perffile_traces_free().
 *
 * Return: 0 or -ENOMEM. A file without traces has a @count of 0.
 */
int perffile_traces_read(const struct perffile *file, struct perffile_traces *traces)
{
	size_t count = 0;
	uint64_t at;

	memset(traces, 0, sizeof(*traces));
	for (at = file->records; at < file->records_end; at = perffile_record_after(file, at))
		count += take_record(file, NULL, at);
	traces->pieces = calloc(count ? count : 1, sizeof(*traces->pieces));
	if (!traces->pieces)
		return -ENOMEM;
	for (at = file->records; at < file->records_end; at = perffile_record_after(file, at))
		take_record(file, traces, at);
	if (cut_padding(traces) == 0)
		return 0;
	perffile_traces_free(traces);
	memset(traces, 0, sizeof(*traces));
	return -ENOMEM;
}

/**
 * perffile_traces_free() - forget them
 * @traces: the traces.
 */
void perffile_traces_free(struct perffile_traces *traces)
{
	free(traces->pieces);
	free(traces->filter);
}
