/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decoding of traces: what the bytes that a processor wrote while it traced say of the way
 * that it went. code.c knows the code that was executed, decode.c is the
 * decoder of Processor Trace, which needs libipt, branches.c that of Branch Trace Store,
 * streams.c knows which task ran when, and in which order pieces are decoded; what
 * comes of it, script/trace.c prints, annotate/counts.c counts, or timeline.c makes calls with
 * durations of; result.c tells how much was decoded.
 */
#ifndef PMUCTL_TOOL_TRACE_H
#define PMUCTL_TOOL_TRACE_H

#include "symbols/samples.h"

/* ---- code.c */

struct trace_code;

struct trace_code *trace_code_new(struct samples *samples);
void trace_code_free(struct trace_code *code);
void trace_code_forget(struct trace_code *code);
int trace_code_read(struct trace_code *code, const struct thread *thread, uint64_t ip,
		    uint8_t *to, size_t size);

/* ---- decode.c */

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
 * @thread: whose, or NULL. Filled by streams.c.
 * @from: the instruction; of BEGIN, nothing.
 * @to: where it goes on; 0 if that was not traced.
 * @size: bytes of the instruction.
 * @tsc: when, by the time stamp counter; 0 if the trace does not tell.
 * @position: of BEGIN and ERROR: byte of the piece.
 * @error: and what is wrong.
 */
struct trace_step {
	enum trace_step_kind kind;
	const struct thread *thread;
	uint64_t from;
	uint64_t to;
	uint8_t size;
	uint64_t tsc;
	uint64_t position;
	const char *error;
};

/* Called for each step in order */
typedef void (*trace_visit)(void *arg, const struct trace_step *step);

/* What was traced at all: as many as the processor may have registers for */
#define TRACE_RANGES 4

/**
 * struct trace_range - addresses of an address filter
 * @from: the first.
 * @to: the last.
 * @stops: the trace stops there; else nothing but such ranges is traced.
 */
struct trace_range {
	uint64_t from;
	uint64_t to;
	bool stops;
};

/* Finds the ranges, now, of what is at a byte of the piece; returns how many there are. */
typedef unsigned int (*trace_find_ranges)(void *arg, uint64_t position,
					  struct trace_range *ranges);

/* Reads code; returns how many bytes there are, 0 if it is not known. */
typedef int (*trace_read_code)(void *arg, uint64_t ip, uint8_t *to, size_t size);

/**
 * struct trace_piece - a piece of trace that begins by itself
 * @bytes: it; must stay.
 * @size: how many bytes.
 * @words: enum perffile_intel_pt.
 * @config: attr.config of its event.
 * @cpuid: the model of the CPU, as in struct perffile_info, or NULL.
 * @read: the code.
 * @find_ranges: what the trace was restricted to; NULL: to nothing.
 * @visit: called for what it tells.
 * @arg: for these.
 */
struct trace_piece {
	const uint8_t *bytes;
	size_t size;
	const uint64_t *words;
	uint64_t config;
	const char *cpuid;
	trace_read_code read;
	trace_find_ranges find_ranges;
	trace_visit visit;
	void *arg;
};

/* Later than any time stamp */
#define TRACE_END_OF_TIME UINT64_MAX

struct trace_decoder;

bool trace_can_decode(void);
struct trace_decoder *trace_decoder_new(const struct trace_piece *piece);
bool trace_decoder_run(struct trace_decoder *decoder, uint64_t until);
void trace_decoder_free(struct trace_decoder *decoder);

/* ---- streams.c */

/**
 * struct trace_run - decode all traces of a recording
 * @samples: the recording, at its beginning.
 * @traces: its traces.
 * @config: attr.config of the event that traced.
 * @code: the code.
 * @visit: called for each step.
 * @arg: for @visit.
 * @bytes: result: of trace that was decoded.
 * @missing: bytes that AUX records tell of and that are not in the file.
 * @truncated: times that a trace was cut off.
 */
struct trace_run {
	struct samples *samples;
	const struct perffile_traces *traces;
	uint64_t config;
	struct trace_code *code;
	trace_visit visit;
	void *arg;
	uint64_t bytes;
	uint64_t missing;
	uint64_t truncated;
};

int trace_run(struct trace_run *run);
uint64_t trace_time(const struct perffile_traces *traces, uint64_t tsc);

/* ---- result.c */

/**
 * struct trace_tally - what there was in a trace
 * @instructions: that were executed.
 * @branches: of any kind.
 * @calls: of functions.
 * @errors: places that could not be decoded.
 * @lost: times that the processor lost packets.
 */
struct trace_tally {
	uint64_t instructions;
	uint64_t branches;
	uint64_t calls;
	uint64_t errors;
	uint64_t lost;
};

bool trace_is_decodable(const struct samples *samples, const struct perffile_traces *traces,
			const char *branches);
const struct perffile_event *trace_event(const struct samples *samples,
					 const struct perffile_traces *traces);
void trace_count(struct trace_tally *tally, const struct trace_step *step);
bool trace_say_result(const struct trace_run *run, const struct trace_tally *tally);

/* ---- filter.c */

unsigned int trace_filter_ranges(const char *filter, const struct thread *thread,
				 struct trace_range *ranges);

/* ---- timeline.c */

struct timeline;

/**
 * struct trace_function - a function that a trace comes to
 * @name: of it; those of the same have the same pointer.
 * @file: the name of what it is in.
 * @start: its first address.
 * @end: behind its last one.
 */
struct trace_function {
	const char *name;
	const char *file;
	uint64_t start;
	uint64_t end;
};

/**
 * struct timeline_source - what a timeline is made of
 * @symbols: only calls of these functions and what they call, with commas between; NULL: all.
 * @find: the function at an address of a thread.
 * @time: nanoseconds, of the time stamp counter.
 * @arg: for these.
 */
struct timeline_source {
	const char *symbols;
	void (*find)(void *arg, const struct thread *thread, uint64_t ip,
		     struct trace_function *function);
	uint64_t (*time)(void *arg, uint64_t tsc);
	void *arg;
};

struct timeline *timeline_new(const struct timeline_source *source, FILE *out);
int timeline_step(struct timeline *timeline, const struct trace_step *step);
int timeline_end(struct timeline *timeline);
bool timeline_has_times(const struct timeline *timeline);
uint64_t timeline_calls(const struct timeline *timeline);
void timeline_free(struct timeline *timeline);

/* ---- branches.c */

void trace_branches(const struct trace_piece *piece);

#endif /* PMUCTL_TOOL_TRACE_H */
