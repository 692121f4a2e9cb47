// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl script --trace": what was traced. The records are gone through in the order of
 * time, as they tell what programs had mapped; whenever an AUX record says that a piece of a
 * trace is complete, that is decoded. A snapshot is decoded when it was copied.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "trace.h"

#define NS_PER_SECOND 1000000000ULL

/**
 * struct function - a row of --trace=functions
 * @name: of the function.
 * @binary: it is in.
 * @instructions: that were executed there.
 * @calls: how often it was called.
 */
struct function {
	const char *name;
	const struct binary *binary;
	uint64_t instructions;
	uint64_t calls;
};

/**
 * struct tracing - what is decoded, and what came of it
 * @script: what to print.
 * @traces: of the file.
 * @config: attr.config of the event that traced.
 * @sample_type: what its records have behind them.
 * @code: of programs and kernel.
 * @when: of each snapshot: the AUX record, a place in the file, behind which it was taken.
 * @thread: of the piece that is being decoded.
 * @low: the function of the last instruction: its first address,
 * @high: and the one behind it.
 * @here: its row.
 * @functions: of tsearch().
 * @rows: likewise, as a list.
 * @row_count: how many.
 * @row_room: room there.
 * @bytes: of trace that was decoded.
 * @missing: bytes that AUX records tell of and that are not in the file.
 * @instructions: that were executed.
 * @branches: of any kind.
 * @calls: of functions.
 * @errors: places that could not be decoded.
 * @lost: times that the processor lost packets.
 * @truncated: times that a trace was cut off.
 */
struct tracing {
	const struct script *script;
	struct perffile_traces traces;
	uint64_t config;
	uint64_t sample_type;
	struct trace_code *code;
	uint64_t *when;
	const struct thread *thread;
	uint64_t low;
	uint64_t high;
	struct function *here;
	void *functions;
	struct function **rows;
	size_t row_count;
	size_t row_room;
	uint64_t bytes;
	uint64_t missing;
	uint64_t instructions;
	uint64_t branches;
	uint64_t calls;
	uint64_t errors;
	uint64_t lost;
	uint64_t truncated;
};

/* ---------------------------------------------------------------- functions */

static int function_compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return a->binary < b->binary ? -1 : a->binary > b->binary;
}

static struct function *function_of(struct tracing *t, const char *name,
				    const struct binary *binary)
{
	struct function key = { .name = name, .binary = binary }, *new, **found;

	found = tfind(&key, &t->functions, function_compare);
	if (found)
		return *found;
	if (t->row_count == t->row_room) {
		size_t room = t->row_room ? t->row_room * 2 : 64;
		struct function **rows = reallocarray(t->rows, room, sizeof(*rows));

		if (!rows)
			return NULL;
		t->rows = rows;
		t->row_room = room;
	}
	new = malloc(sizeof(*new));
	if (!new)
		return NULL;
	*new = key;
	if (!tsearch(new, &t->functions, function_compare)) {
		free(new);
		return NULL;
	}
	t->rows[t->row_count++] = new;
	return new;
}

static void place_of(const struct tracing *t, uint64_t ip, struct place *place)
{
	uint16_t mode = ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;

	tasks_place(t->script->samples->tasks, t->thread, mode, ip, false, place);
}

/* The row of the function that @ip is in; neighbours are found at once. */
static struct function *function_at(struct tracing *t, uint64_t ip)
{
	struct samples *samples = t->script->samples;
	struct place place;

	if (ip >= t->low && ip < t->high)
		return t->here;
	place_of(t, ip, &place);
	t->low = ip;
	t->high = ip + 1;
	if (place.symbol && place.address >= place.symbol->start &&
	    place.address < place.symbol->end) {
		t->low = ip - (place.address - place.symbol->start);
		t->high = t->low + (place.symbol->end - place.symbol->start);
	}
	t->here = function_of(t, samples_place_name(samples, &place), place.binary);
	return t->here;
}

/* -------------------------------------------------------------------- lines */

/* From the time stamp counter to the clock of the records */
static uint64_t time_of(const struct tracing *t, uint64_t tsc)
{
	const uint64_t *words = t->traces.words;
	uint64_t shift = words[PERFFILE_PT_TIME_SHIFT], mult = words[PERFFILE_PT_TIME_MULT];

	if (!words[PERFFILE_PT_HAS_TIME_ZERO] || shift > 32)
		return 0;
	return words[PERFFILE_PT_TIME_ZERO] + (tsc >> shift) * mult +
	       (((tsc & ((1ULL << shift) - 1)) * mult) >> shift);
}

static void print_whose(const struct tracing *t, uint64_t tsc)
{
	uint64_t time = tsc ? time_of(t, tsc) : 0;

	printf("%-16s %6d ", t->thread ? t->thread->comm : "?", t->thread ? t->thread->tid : -1);
	if (time)
		printf("%5" PRIu64 ".%09" PRIu64 ": ", (uint64_t)(time / NS_PER_SECOND),
		       (uint64_t)(time % NS_PER_SECOND));
}

static void print_place(const struct tracing *t, uint64_t ip)
{
	struct place place;

	if (!ip) {
		printf("(not traced)");
		return;
	}
	place_of(t, ip, &place);
	printf("%" PRIx64 " %s", ip, samples_place_name(t->script->samples, &place));
	if (place.symbol)
		printf("+%#" PRIx64, place.address - place.symbol->start);
	printf(" (%s)", place.binary->path);
}

static const char *const step_names[] = {
	[TRACE_INSTRUCTION] = "instruction",
	[TRACE_JUMP] = "jump",
	[TRACE_CALL] = "call",
	[TRACE_RETURN] = "return",
	[TRACE_SYSTEM_CALL] = "system call",
	[TRACE_SYSTEM_RETURN] = "system return",
	[TRACE_INTERRUPT] = "interrupt",
	[TRACE_BEGIN] = "begin",
	[TRACE_END] = "end",
	[TRACE_LOST] = "lost",
	[TRACE_ERROR] = "error",
};

static bool is_printed(const struct tracing *t, enum trace_step_kind kind)
{
	switch (kind) {
	case TRACE_ERROR:
	case TRACE_LOST:
		return true;
	case TRACE_INSTRUCTION:
		return t->script->trace == SCRIPT_TRACE_INSTRUCTIONS;
	case TRACE_CALL:
	case TRACE_RETURN:
		return t->script->trace == SCRIPT_TRACE_CALLS ||
		       t->script->trace == SCRIPT_TRACE_BRANCHES;
	default:
		return t->script->trace == SCRIPT_TRACE_BRANCHES;
	}
}

static void print_step(const struct tracing *t, const struct trace_step *step)
{
	print_whose(t, step->tsc);
	printf("%-13s ", step_names[step->kind]);
	switch (step->kind) {
	case TRACE_ERROR:
		printf("%s, at byte %" PRIu64 " of the piece", step->error, step->position);
		if (step->from) {
			printf(", behind ");
			print_place(t, step->from);
		}
		break;
	case TRACE_BEGIN:
	case TRACE_LOST:
		print_place(t, step->to);
		break;
	case TRACE_INSTRUCTION:
		print_place(t, step->from);
		break;
	default:
		print_place(t, step->from);
		printf(" => ");
		print_place(t, step->to);
		break;
	}
	putchar('\n');
}

/* A trace_visit */
static void step_take(void *arg, const struct trace_step *step)
{
	struct tracing *t = arg;
	bool by_function = t->script->trace == SCRIPT_TRACE_FUNCTIONS;
	struct function *row = NULL;

	t->branches += step->kind != TRACE_INSTRUCTION;
	switch (step->kind) {
	case TRACE_INSTRUCTION:
		t->instructions++;
		row = by_function ? function_at(t, step->from) : NULL;
		if (row)
			row->instructions++;
		break;
	case TRACE_CALL:
		t->calls++;
		row = by_function && step->to ? function_at(t, step->to) : NULL;
		if (row)
			row->calls++;
		break;
	case TRACE_LOST:
		t->lost++;
		break;
	case TRACE_ERROR:
		t->errors++;
		break;
	default:
		break;
	}
	if (is_printed(t, step->kind))
		print_step(t, step);
}

/* ------------------------------------------------------------------- pieces */

static int decode(struct tracing *t, const uint8_t *bytes, size_t size)
{
	const struct trace_piece piece = {
		.bytes = bytes,
		.size = size,
		.words = t->traces.words,
		.config = t->config,
		.code = t->code,
		.thread = t->thread,
		.visit = step_take,
		.arg = t,
	};

	t->low = 0;
	t->high = 0;
	t->bytes += size;
	trace_code_forget(t->code);
	return t->traces.whose == PERFFILE_TRACE_INTEL_BTS ? trace_branches(&piece) :
		trace_decode(&piece);
}

/* Is @piece of the buffer that the AUX record @record tells of? */
static bool is_of(const struct perffile_trace *piece, const struct perffile_record *record)
{
	if (piece->cpu >= 0)
		return record->fields & PERF_SAMPLE_CPU && record->cpu == (uint32_t)piece->cpu;
	return piece->tid == record->tid;
}

/* The bytes that an AUX record tells of may be in several pieces. */
static int decode_aux(struct tracing *t, const struct perffile_record *record)
{
	uint64_t at = record->aux.position, size = record->aux.size, room = 0, done = 0;
	uint8_t *bytes;
	int ret;

	for (size_t i = 0; i < t->traces.count; i++)
		room += is_of(&t->traces.pieces[i], record) ? t->traces.pieces[i].size : 0;
	if (size > room) {
		t->missing += size - room;
		size = room;
	}
	bytes = malloc(size ? size : 1);
	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; i < t->traces.count && done < size; i++) {
		const struct perffile_trace *piece = &t->traces.pieces[i];
		uint64_t into = at + done - piece->position, length;

		if (!is_of(piece, record) || at + done < piece->position || into >= piece->size)
			continue;
		length = piece->size - into < size - done ? piece->size - into : size - done;
		memcpy(bytes + done, piece->bytes + into, length);
		done += length;
	}
	t->missing += size - done;
	t->thread = record->tid < 0 ? NULL :
		    tasks_thread(t->script->samples->tasks, record->pid, record->tid);
	ret = decode(t, bytes, done);
	free(bytes);
	return ret;
}

/* Is this AUX record older than the snapshot? */
static bool is_before(const struct tracing *t, const struct perffile_record *record,
		      const struct perffile_trace *piece)
{
	return !t->traces.words[PERFFILE_PT_HAS_TIME_ZERO] ||
	       record->time <= time_of(t, piece->reference);
}

/* The task may have ended since: so each is decoded right behind its last AUX record. */
static int find_snapshots(struct tracing *t)
{
	struct perffile *file = t->script->samples->file;
	struct perffile_record record;
	struct perffile_error error;

	t->when = calloc(t->traces.count, sizeof(*t->when));
	if (!t->when)
		return -ENOMEM;
	while (perffile_next(file, &record, &error) > 0)
		for (size_t i = 0; record.type == PERF_RECORD_AUX && i < t->traces.count; i++)
			if (is_of(&t->traces.pieces[i], &record) &&
			    is_before(t, &record, &t->traces.pieces[i]))
				t->when[i] = record.offset;
	file->next = 0;
	return 0;
}

static int decode_snapshots(struct tracing *t, const struct perffile_record *record)
{
	int ret = 0;

	t->thread = record->tid < 0 ? NULL :
		    tasks_thread(t->script->samples->tasks, record->pid, record->tid);
	for (size_t i = 0; i < t->traces.count && ret == 0; i++)
		if (t->when[i] == record->offset)
			ret = decode(t, t->traces.pieces[i].bytes, t->traces.pieces[i].size);
	return ret;
}

static int records_take(struct tracing *t)
{
	bool snapshot = t->traces.snapshot;
	struct perffile_record record;
	int ret = snapshot ? find_snapshots(t) : 0;

	if (ret < 0)
		return ret;
	while ((ret = samples_next(t->script->samples, &record)) > 0) {
		if (record.type != PERF_RECORD_AUX)
			continue;
		t->truncated += !!(record.aux.flags & PERF_AUX_FLAG_TRUNCATED);
		ret = snapshot ? decode_snapshots(t, &record) : decode_aux(t, &record);
		if (ret < 0)
			return ret;
		if (ferror(stdout))
			return -EIO;
	}
	for (size_t i = 0; snapshot && i < t->traces.count; i++)
		t->missing += t->when[i] ? 0 : t->traces.pieces[i].size;
	return ret;
}

/* ------------------------------------------------------------------- result */

static int by_instructions(const void *left, const void *right)
{
	const struct function *a = *(struct function *const *)left;
	const struct function *b = *(struct function *const *)right;

	if (a->instructions != b->instructions)
		return a->instructions > b->instructions ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void print_functions(struct tracing *t)
{
	if (t->row_count)
		qsort(t->rows, t->row_count, sizeof(struct function *), by_instructions);
	printf("%16s %12s  %s\n", "instructions", "calls", "function");
	for (size_t i = 0; i < t->row_count; i++)
		printf("%16" PRIu64 " %12" PRIu64 "  %s (%s)\n", t->rows[i]->instructions,
		       t->rows[i]->calls, t->rows[i]->name, t->rows[i]->binary->path);
}

static void say_result(const struct tracing *t)
{
	bool branches = t->traces.whose == PERFFILE_TRACE_INTEL_BTS;

	say_error("%" PRIu64 " bytes of trace: %" PRIu64 " %s, %" PRIu64 " calls, %" PRIu64
		  " errors", t->bytes, branches ? t->branches : t->instructions,
		  branches ? "branches" : "instructions", t->calls, t->errors);
	if (t->missing)
		say_error("%" PRIu64 " bytes of trace are not in the file, or its records do not tell of them",
			  t->missing);
	if (t->lost)
		say_error("%" PRIu64 " times the processor lost packets: what it did then is not known",
			  t->lost);
	if (t->truncated)
		say_error("%" PRIu64 " times the trace was cut off, as its buffer was full: record with a larger one (-m ,PAGES)",
			  t->truncated);
}

static void nothing(void *row)
{
	(void)row;
}

static void tracing_free(struct tracing *t)
{
	tdestroy(t->functions, nothing);
	for (size_t i = 0; i < t->row_count; i++)
		free(t->rows[i]);
	free(t->rows);
	free(t->when);
	trace_code_free(t->code);
	perffile_traces_free(&t->traces);
}

/* Returns whether there is something that can be decoded; if not, says why. */
static bool can_decode(const struct tracing *t)
{
	const char *path = t->script->input.path;

	if (!t->traces.count || !t->traces.whose) {
		say_error("'%s' has no trace: record one with -e intel_pt//u", path);
		return false;
	}
	if (t->traces.whose == PERFFILE_TRACE_INTEL_BTS) {
		if (t->script->trace != SCRIPT_TRACE_INSTRUCTIONS)
			return true;
		say_error("the trace in '%s' has branches only: use --trace=branches, calls or functions",
			  path);
		return false;
	}
	if (t->traces.whose != PERFFILE_TRACE_INTEL_PT) {
		say_error("the trace in '%s' is none of Intel's: nothing else can be decoded",
			  path);
		return false;
	}
	if (!trace_can_decode()) {
		say_error("this pmuctl was built without libipt, which decodes traces: install libipt-dev and build it again, or use 'perf script --itrace'");
		return false;
	}
	return true;
}

static void find_config(struct tracing *t)
{
	const struct perffile *file = t->script->samples->file;

	for (size_t i = 0; i < file->event_count; i++)
		if (file->events[i].attr.type == t->traces.words[PERFFILE_PT_TYPE])
			t->config = file->events[i].attr.config;
}

/**
 * script_print_trace() - print what was traced
 * @script: how.
 *
 * Return: the exit status; that of failure also if not all could be decoded.
 */
int script_print_trace(const struct script *script)
{
	struct tracing t = { .script = script };
	int ret = perffile_traces_read(script->samples->file, &t.traces);

	if (ret == 0 && !can_decode(&t)) {
		tracing_free(&t);
		return STATUS_FAILED;
	}
	t.code = trace_code_new(script->samples);
	find_config(&t);
	if (ret == 0)
		ret = t.code ? records_take(&t) : -ENOMEM;
	if (ret == 0 && script->trace == SCRIPT_TRACE_FUNCTIONS)
		print_functions(&t);
	if (ret == 0 && fflush(stdout))
		ret = -EIO;
	if (ret == -ENOMEM || ret == -EIO)
		say_error("cannot print the trace: %s", strerror(-ret));
	say_result(&t);
	samples_warn(script->samples);
	if (t.errors || t.missing)
		ret = -EBADMSG;
	tracing_free(&t);
	return ret < 0 ? STATUS_FAILED : STATUS_OK;
}
