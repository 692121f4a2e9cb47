/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decoding of traces: what the bytes that a processor wrote while it traced say of the way
 * that it went. trace_code.c knows the code that was executed, trace_decode.c is the
 * decoder of Processor Trace, which needs libipt, trace_branches.c that of Branch Trace Store;
 * what comes of it, script_trace.c prints.
 */
#ifndef PMUCTL_TOOL_TRACE_H
#define PMUCTL_TOOL_TRACE_H

#include "samples.h"

/* ---- trace_code.c */

struct trace_code;

struct trace_code *trace_code_new(struct samples *samples);
void trace_code_free(struct trace_code *code);
void trace_code_forget(struct trace_code *code);
int trace_code_read(struct trace_code *code, const struct thread *thread, uint64_t ip,
		    uint8_t *to, size_t size);

/* ---- trace_decode.c */

enum trace_step_kind {
	TRACE_INSTRUCTION,	/* one that was executed */
	TRACE_JUMP,		/* a branch that was taken */
	TRACE_CALL,
	TRACE_RETURN,
	TRACE_SYSTEM_CALL,	/* a far call: into the kernel */
	TRACE_SYSTEM_RETURN,
	TRACE_INTERRUPT,	/* an interrupt, a fault, anything that no instruction is */
	TRACE_BEGIN,		/* tracing begins here, or goes on */
	TRACE_END,		/* and stops */
	TRACE_LOST,		/* the processor lost packets */
	TRACE_ERROR,		/* what follows could not be decoded, up to the next start */
};

/**
 * struct trace_step - something that the trace tells
 * @kind: what.
 * @from: the instruction; of BEGIN, nothing.
 * @to: where it goes on; 0 if that was not traced.
 * @size: bytes of the instruction.
 * @tsc: when, by the time stamp counter; 0 if the trace does not tell.
 * @position: of an ERROR: byte of the piece.
 * @error: and what is wrong.
 */
struct trace_step {
	enum trace_step_kind kind;
	uint64_t from;
	uint64_t to;
	uint8_t size;
	uint64_t tsc;
	uint64_t position;
	const char *error;
};

/* Called for each step in order */
typedef void (*trace_visit)(void *arg, const struct trace_step *step);

/**
 * struct trace_piece - a piece of trace that begins by itself
 * @bytes: it.
 * @size: how many bytes.
 * @words: enum perffile_intel_pt.
 * @config: attr.config of its event.
 * @code: the code.
 * @thread: whose.
 * @visit: called for what it tells.
 * @arg: for @visit.
 */
struct trace_piece {
	const uint8_t *bytes;
	size_t size;
	const uint64_t *words;
	uint64_t config;
	struct trace_code *code;
	const struct thread *thread;
	trace_visit visit;
	void *arg;
};

bool trace_can_decode(void);
int trace_decode(const struct trace_piece *piece);

/* ---- trace_branches.c */

int trace_branches(const struct trace_piece *piece);

#endif /* PMUCTL_TOOL_TRACE_H */
