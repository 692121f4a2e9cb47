/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl annotate": what its parts share. annotate.c understands the command line and reads the
 * samples, sites.c sorts them by function and instruction, branches.c adds what branch stacks tell,
 * counts.c counts instructions of a trace instead, code.c finds the code and takes it apart, source.c
 * the lines of source that it comes from, print.c shows all that.
 */
#ifndef PMUCTL_TOOL_ANNOTATE_H
#define PMUCTL_TOOL_ANNOTATE_H

#include "command.h"
#include "report/filter.h"
#include "symbols/samples.h"

/* Longer functions are shown up to here. */
#define ANNOTATE_CODE_MAX (1U << 20)

/**
 * struct annotate_site - what was at one address: samples, and ranges of code between two branches
 * @offset: from the first byte of the function.
 * @period: of the samples; of a trace, how often it was executed.
 * @samples: how many; of a trace, the same.
 * @begins: ranges that begin here.
 * @ends: that end here.
 * @entry: branches that led here.
 * @taken: that went on elsewhere.
 * @predicted: of these, rightly.
 * @mispredicted: wrongly.
 * @coverage: ranges that have it.
 * @joined: the coverage of the next branch from here on.
 */
struct annotate_site {
	uint64_t offset;
	uint64_t period;
	uint64_t samples;
	uint64_t begins;
	uint64_t ends;
	uint64_t entry;
	uint64_t taken;
	uint64_t predicted;
	uint64_t mispredicted;
	uint64_t coverage;
	uint64_t joined;
};

/**
 * struct annotate_function - a function that was hit while an event was counted
 * @next: in its bucket.
 * @event: the event.
 * @place: of one of its samples.
 * @period: of all.
 * @samples: how many.
 * @sites: by offset, after sites_finish().
 * @site_count: how many.
 * @site_room: for so many.
 * @blocks: while a trace is decoded, how often its instructions were executed.
 * @block_count: how many of these there may be.
 */
struct annotate_function {
	struct annotate_function *next;
	const struct perffile_event *event;
	struct place place;
	uint64_t period;
	uint64_t samples;
	struct annotate_site *sites;
	size_t site_count;
	size_t site_room;
	uint64_t **blocks;
	size_t block_count;
};

#define ANNOTATE_BUCKETS 4096

/**
 * struct annotate - the command
 * @input: the file and its surroundings.
 * @filter: which samples.
 * @trace: of the trace, not of samples.
 * @symbol: only this function, or NULL.
 * @event: only this event, or NULL.
 * @limit: percentage that a function must have.
 * @intel: Intel's syntax, else AT&T's.
 * @counts: numbers of samples too.
 * @no_source: only code.
 * @lines: first which lines of source have which share; and the line behind each instruction.
 * @full_paths: of programs and sources, not only their names.
 * @quiet: do not tell what is missing.
 * @json: print that.
 * @samples: the recording.
 * @buckets: functions.
 * @count: how many.
 * @totals: for each event of the file, the period of all its samples.
 */
struct annotate {
	struct samples_options input;
	struct filter filter;
	bool trace;
	const char *symbol;
	const char *event;
	double limit;
	bool intel;
	bool counts;
	bool no_source;
	bool lines;
	bool full_paths;
	bool quiet;
	bool json;
	struct samples *samples;
	struct annotate_function *buckets[ANNOTATE_BUCKETS];
	size_t count;
	uint64_t *totals;
};

/* sites.c */
int sites_find(struct annotate *annotate, const struct perffile_event *event,
	       const struct place *place, struct annotate_function **function);
struct annotate_site *sites_new(struct annotate_function *function, uint64_t offset);
void sites_join(struct annotate_site *site, const struct annotate_site *more);
int sites_add(struct annotate *annotate, const struct perffile_record *record);
int sites_finish(struct annotate *annotate, struct annotate_function ***list);
void sites_free(struct annotate *annotate);

/* counts.c */
bool counts_are_all(const struct samples *samples);
int counts_read(struct annotate *annotate);
void counts_forget(struct annotate_function *function);

/* branches.c */
int annotate_add_branches(struct annotate *annotate, const struct perffile_record *record,
			  const struct thread *thread);
void branches_finish(struct annotate_function *function);

/**
 * struct annotate_instruction - an instruction of a function
 * @address: in the terms of its binary; in the kernel, where it was.
 * @offset: from the first byte of the function.
 * @size: bytes.
 * @text: its mnemonic and operands.
 * @target: where it jumps to or whom it calls, or NULL.
 * @target_offset: how far behind @target's first byte.
 * @part: what was at it.
 * @file: its source, or NULL if that is unknown.
 * @line: its number there.
 */
struct annotate_instruction {
	uint64_t address;
	uint64_t offset;
	size_t size;
	char text[256];
	const char *target;
	uint64_t target_offset;
	struct annotate_site part;
	const char *file;
	int line;
};

typedef void (*annotate_visit)(void *arg, const struct annotate_instruction *instruction);

/* code.c */
struct annotate_code;

struct annotate_code *code_new(struct annotate *annotate);
void code_free(struct annotate_code *code);
bool code_visit(struct annotate_code *code, const struct annotate_function *function,
		annotate_visit visit, void *arg, const char **problem);

/* source.c */
struct source;

bool source_is_64_bit(const struct binary *binary, uint64_t address);
struct source *source_new(const char *root);
void source_free(struct source *source);
const char *source_line(struct source *source, const char *file, int line);

/* print.c */
int annotate_print(struct annotate *annotate, struct annotate_function *const *list,
		   size_t count);

static inline double annotate_percent(uint64_t part, uint64_t of)
{
	return of ? 100.0 * (double)part / (double)of : 0;
}

static inline uint64_t annotate_total(const struct annotate *annotate,
				      const struct annotate_function *function)
{
	return annotate->totals[function->event - annotate->samples->file->events];
}

/* Do samples have all the branches before them, so that what is between them was executed? */
static inline bool annotate_has_branches(const struct perffile_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK &&
	       event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_ANY &&
	       !(event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

#endif /* PMUCTL_TOOL_ANNOTATE_H */
