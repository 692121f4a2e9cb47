/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl script": what its parts share. script.c understands the command line and reads
 * the records, text.c and json.c print them, tracepoint.c has the
 * formats of tracepoints, trace.c prints traces.
 */
#ifndef PMUCTL_TOOL_SCRIPT_H
#define PMUCTL_TOOL_SCRIPT_H

#include "command.h"
#include "report/filter.h"
#include "symbols/samples.h"
#include "tracepoint/tracepoint.h"

enum script_field {
	FIELD_COMM	= 1 << 0,
	FIELD_PID	= 1 << 1,
	FIELD_TID	= 1 << 2,
	FIELD_CPU	= 1 << 3,
	FIELD_TIME	= 1 << 4,
	FIELD_PERIOD	= 1 << 5,
	FIELD_EVENT	= 1 << 6,
	FIELD_ADDR	= 1 << 7,
	FIELD_IP	= 1 << 8,
	FIELD_SYM	= 1 << 9,
	FIELD_SYMOFF	= 1 << 10,
	FIELD_DSO	= 1 << 11,
	FIELD_LINE	= 1 << 12,
	FIELD_WEIGHT	= 1 << 13,
	FIELD_PHYS	= 1 << 14,
	FIELD_ID	= 1 << 15,
	FIELD_TRACE	= 1 << 16,
	FIELD_BRSTACK	= 1 << 17,
	FIELD_IREGS	= 1 << 18,
	FIELD_UREGS	= 1 << 19,
};

#define FIELDS_DEFAULT (FIELD_COMM | FIELD_TID | FIELD_CPU | FIELD_TIME | FIELD_PERIOD | \
			FIELD_EVENT | FIELD_ADDR | FIELD_IP | FIELD_SYM | FIELD_SYMOFF | \
			FIELD_DSO | FIELD_TRACE)
#define FIELDS_OF_PLACE (FIELD_IP | FIELD_SYM | FIELD_SYMOFF | FIELD_DSO | FIELD_LINE)

/* What times are since */
enum script_time {
	SCRIPT_TIME_CLOCK,	/* the clock's beginning */
	SCRIPT_TIME_FIRST,	/* the first line */
	SCRIPT_TIME_LAST,	/* the line before */
};

/* What is printed of traces */
enum script_trace {
	SCRIPT_TRACE_NONE,
	SCRIPT_TRACE_CALLS,
	SCRIPT_TRACE_BRANCHES,
	SCRIPT_TRACE_INSTRUCTIONS,
	SCRIPT_TRACE_FUNCTIONS,
	SCRIPT_TRACE_TIMELINE,
};

/**
 * struct script - what is printed
 * @input: the file and its surroundings.
 * @event: only this event, or NULL.
 * @filter: only these samples.
 * @fields: FIELD_*
 * @asked_fields: those of them that were asked for by name.
 * @chose_fields: some were.
 * @time_since: what times are since,
 * @time_base: and when that was; 0: not yet.
 * @chains: call chains too.
 * @records: types of records beside samples, a bit each.
 * @json: an object a line.
 * @header: what the recording says of itself comes first, and
 * @header_only: that is all.
 * @dump: all records as bytes and in words, and nothing else.
 * @trace: of traces, and no samples then.
 * @samples: the recording.
 * @tracepoints: formats of what its tracepoints tell, or NULL.
 */
struct script {
	struct samples_options input;
	const char *event;
	struct filter filter;
	unsigned int fields;
	unsigned int asked_fields;
	bool chose_fields;
	enum script_time time_since;
	uint64_t time_base;
	bool chains;
	uint64_t records;
	bool json;
	bool header;
	bool header_only;
	bool dump;
	enum script_trace trace;
	struct samples *samples;
	struct tracepoints *tracepoints;
};

/**
 * struct script_branch - a branch before a sample, see struct perf_branch_entry
 * @from: where it was.
 * @to: where it went.
 * @flags: SCRIPT_BRANCH_*.
 * @cycles: since the branch before; 0: not known.
 * @type: perf's name of its kind; empty: not known.
 */
struct script_branch {
	uint64_t from, to;
	unsigned int flags, cycles;
	const char *type;
};

#define SCRIPT_BRANCH_MISPRED	(1U << 0)
#define SCRIPT_BRANCH_PREDICTED	(1U << 1)
#define SCRIPT_BRANCH_IN_TX	(1U << 2)
#define SCRIPT_BRANCH_ABORT	(1U << 3)

/* names.c */
size_t script_branch_count(const struct perffile_sample *sample);
struct script_branch script_branch(const struct perffile_sample *sample, size_t i);
const char *script_record_name(uint32_t type);
uint64_t script_time(struct script *script, const struct perffile_record *record);

/* text.c */
void script_print_sample(struct script *script, const struct perffile_record *record,
			 const struct thread *thread);
void script_print_record(struct script *script, const struct perffile_record *record,
			 const struct thread *thread);

/* json.c */
int script_print_json(struct script *script, const struct perffile_record *record,
		      const struct thread *thread);

/* tracepoint.c */
bool script_tracepoints_open(struct script *script);

/* trace.c */
int script_print_trace(const struct script *script);

#endif /* PMUCTL_TOOL_SCRIPT_H */
