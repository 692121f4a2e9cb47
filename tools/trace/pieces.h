/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pieces of traces in a recording, by the buffer that they are of and by their places in it.
 */
#ifndef PMUCTL_TOOL_TRACE_PIECES_H
#define PMUCTL_TOOL_TRACE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perffile/perffile.h"

/**
 * struct placed - a piece among those of its buffer
 * @piece: it.
 * @furthest: of this one and those before, the one that has the last byte.
 */
struct placed {
	const struct perffile_trace *piece;
	const struct perffile_trace *furthest;
};

/**
 * struct trace_buffer - the trace of one buffer
 * @first: the first of its pieces in the file.
 * @placed: all of them, by their places in the trace.
 * @count: how many.
 * @size: bytes that they have together.
 */
struct trace_buffer {
	const struct perffile_trace *first;
	const struct placed *placed;
	size_t count;
	uint64_t size;
};

/**
 * struct trace_pieces - all of a recording
 * @placed: by buffer and place.
 * @buffers: in the order of their first pieces.
 * @buffer_count: how many.
 * @owners: of each piece, in the order of the file: number of its buffer.
 */
struct trace_pieces {
	struct placed *placed;
	struct trace_buffer *buffers;
	size_t buffer_count;
	size_t *owners;
};

int trace_pieces_sort(struct trace_pieces *pieces, const struct perffile_traces *traces);
void trace_pieces_free(struct trace_pieces *pieces);
uint64_t trace_buffer_copy(const struct trace_buffer *buffer, uint64_t at, uint64_t size,
			   uint8_t *to);

#endif /* PMUCTL_TOOL_TRACE_PIECES_H */
