// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl script --trace": what was traced, step by step, by function or as a timeline, and how
 * much of it could be decoded.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "trace/trace.h"

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
 * @run: decodes them.
 * @thread: of the last step.
 * @low: the function of the last instruction: its first address,
 * @high: and the one behind it.
 * @here: its row.
 * @timeline: of --trace=timeline, or NULL.
 * @status: what became of that.
 * @functions: of tsearch().
 * @rows: likewise, as a list.
 * @row_count: how many.
 * @row_room: room there.
 * @tally: what there was.
 */
struct tracing {
	const struct script *script;
	struct perffile_traces traces;
	struct trace_run run;
	const struct thread *thread;
	uint64_t low;
	uint64_t high;
	struct function *here;
	struct timeline *timeline;
	int status;
	void *functions;
	struct function **rows;
	size_t row_count;
	size_t row_room;
	struct trace_tally tally;
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

static void place_at(const struct samples *samples, const struct thread *thread, uint64_t ip,
		     struct place *place)
{
	uint16_t mode = ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;

	tasks_place(samples->tasks, thread, mode, ip, false, place);
}

static void place_of(const struct tracing *t, uint64_t ip, struct place *place)
{
	place_at(t->script->samples, t->thread, ip, place);
}

/* The addresses of the function at @ip, whose place is known; without a symbol, only @ip */
static void around(uint64_t ip, const struct place *place, uint64_t *start, uint64_t *end)
{
	const struct symbol *symbol = place->symbol;

	*start = ip;
	*end = ip + 1;
	if (symbol && place->address >= symbol->start && place->address < symbol->end) {
		*start = ip - (place->address - symbol->start);
		*end = *start + (symbol->end - symbol->start);
	}
}

/* Of struct timeline_source */
static void find_function(void *arg, const struct thread *thread, uint64_t ip,
			  struct trace_function *function)
{
	struct samples *samples = ((const struct tracing *)arg)->script->samples;
	struct place place;

	place_at(samples, thread, ip, &place);
	function->name = samples_frame_name(samples, &place);
	function->file = place.binary->name;
	around(ip, &place, &function->start, &function->end);
}

/* Likewise */
static uint64_t time_of(void *arg, uint64_t tsc)
{
	return trace_time(&((const struct tracing *)arg)->traces, tsc);
}

/* The row of the function that @ip is in; neighbours are found at once. */
static struct function *function_at(struct tracing *t, uint64_t ip)
{
	struct samples *samples = t->script->samples;
	struct place place;

	if (ip >= t->low && ip < t->high)
		return t->here;
	place_of(t, ip, &place);
	around(ip, &place, &t->low, &t->high);
	t->here = function_of(t, samples_place_name(samples, &place), place.binary);
	return t->here;
}

/* -------------------------------------------------------------------- lines */

static void print_whose(const struct tracing *t, uint64_t tsc)
{
	uint64_t time = tsc ? trace_time(&t->traces, tsc) : 0;

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
		return t->script->trace != SCRIPT_TRACE_TIMELINE;
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

	trace_count(&t->tally, step);
	if (t->thread != step->thread || step->kind == TRACE_BEGIN) {
		t->thread = step->thread;
		t->low = 0;
		t->high = 0;
	}
	switch (step->kind) {
	case TRACE_INSTRUCTION:
		row = by_function ? function_at(t, step->from) : NULL;
		if (row)
			row->instructions++;
		break;
	case TRACE_CALL:
		row = by_function && step->to ? function_at(t, step->to) : NULL;
		if (row)
			row->calls++;
		break;
	default:
		break;
	}
	if (t->timeline && t->status == 0)
		t->status = timeline_step(t->timeline, step);
	else if (is_printed(t, step->kind))
		print_step(t, step);
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

static void nothing(void *row)
{
	(void)row;
}

static void tracing_free(struct tracing *t)
{
	timeline_free(t->timeline);
	tdestroy(t->functions, nothing);
	for (size_t i = 0; i < t->row_count; i++)
		free(t->rows[i]);
	free(t->rows);
	trace_code_free(t->run.code);
	perffile_traces_free(&t->traces);
}

/* Returns whether there is something that can be decoded; if not, says why. */
static bool can_decode(const struct tracing *t)
{
	bool all = t->script->trace == SCRIPT_TRACE_INSTRUCTIONS;

	return trace_is_decodable(t->script->samples, &t->traces,
				  all ? "use --trace=branches, calls, functions or timeline" : NULL);
}

static int begin_timeline(struct tracing *t)
{
	const struct timeline_source source = {
		.symbols = t->script->filter.symbols, .find = find_function, .time = time_of,
		.arg = t,
	};

	if (t->script->trace != SCRIPT_TRACE_TIMELINE)
		return 0;
	t->timeline = timeline_new(&source, stdout);
	return t->timeline ? 0 : -ENOMEM;
}

static int end_timeline(const struct tracing *t)
{
	int ret = t->status;

	if (ret == 0)
		ret = timeline_end(t->timeline);
	if (!timeline_has_times(t->timeline))
		say_error("the trace has no times: in the timeline a nanosecond is an instruction, or a branch if there is nothing else");
	if (t->script->filter.symbols && !timeline_calls(t->timeline))
		say_error("no call of %s was traced", t->script->filter.symbols);
	return ret;
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
	const struct perffile_event *event;
	int ret = perffile_traces_read(script->samples->file, &t.traces);

	if (ret == 0 && !can_decode(&t)) {
		tracing_free(&t);
		return STATUS_FAILED;
	}
	event = trace_event(script->samples, &t.traces);
	t.run = (struct trace_run){
		.config = event ? event->attr.config : 0,
		.samples = script->samples,
		.traces = &t.traces,
		.code = trace_code_new(script->samples),
		.visit = step_take,
		.arg = &t,
	};
	if (ret == 0)
		ret = begin_timeline(&t);
	if (ret == 0)
		ret = t.run.code ? trace_run(&t.run) : -ENOMEM;
	if (ret == 0 && t.timeline)
		ret = end_timeline(&t);
	if (ret == 0 && script->trace == SCRIPT_TRACE_FUNCTIONS)
		print_functions(&t);
	if (ret == 0 && fflush(stdout))
		ret = -EIO;
	if (ret == -ENOMEM || ret == -EIO)
		say_error("cannot print the trace: %s", strerror(-ret));
	if (!trace_say_result(&t.run, &t.tally))
		ret = -EBADMSG;
	samples_warn(script->samples);
	tracing_free(&t);
	return ret < 0 ? STATUS_FAILED : STATUS_OK;
}
