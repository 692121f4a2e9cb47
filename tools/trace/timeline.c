// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of a trace with the times between which they ran, as JSON that Perfetto, Chrome and
 * speedscope show: "Trace Event Format", an event where a call begins and one where it ends.
 *
 * A trace has a time now and then. What comes between two of them is spread by the number of
 * instructions. A trace without times, as of Branch Trace Store, has a nanosecond for each step.
 *
 * Where a task comes from is not in the trace: what it returns to, but was not seen to be called
 * by, begins where it returns.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "report/filter.h"
#include "trace.h"

#define NS_PER_US	1000u
/* That many moments are kept for a time to come; then they are at the time before. */
#define MOMENTS_MAX	(1u << 20)
/* The longest call */
#define CALL_MAX	15u
/* What a return goes to is looked for in so many frames. */
#define SEARCH_MAX	1024u

enum frame_kind {
	FRAME_FUNCTION,
	FRAME_ENTRY,		/* of a system call or an interrupt */
	FRAME_UNTRACED,		/* what is not traced, as the kernel */
};

/**
 * struct frame - a call that has not returned
 * @function: that is called.
 * @back: where its return goes; 0 if that is not known.
 * @slack: or so many bytes behind that, as records of branches tell no sizes.
 * @kind: what it is.
 * @is_shown: it is in the output.
 * @is_chosen: it is one of those that were asked for.
 */
struct frame {
	struct trace_function function;
	uint64_t back;
	uint64_t slack;
	enum frame_kind kind;
	bool is_shown;
	bool is_chosen;
};

/**
 * struct moment - a call begins or ends
 * @name: of the function.
 * @file: that it is in.
 * @is_end: it ends; else it begins.
 * @step: number of the step, since the last time.
 */
struct moment {
	const char *name;
	const char *file;
	bool is_end;
	uint64_t step;
};

/**
 * struct lane - a thread
 * @pid: its process.
 * @tid: its own number.
 * @comm: its name.
 * @frames: calls that have not returned, the innermost last.
 * @depth: how many.
 * @room: for so many.
 * @chosen: how many of them were asked for.
 * @moments: whose times are not known yet.
 * @moment_count: how many.
 * @moment_room: for so many.
 * @tsc: the last time, 0 if there was none.
 * @steps: since then.
 * @clock: nanoseconds, up to which all is written.
 * @has_ended: it is not traced now: what is there was just after @tsc.
 */
struct lane {
	int32_t pid;
	int32_t tid;
	const char *comm;
	struct frame *frames;
	size_t depth;
	size_t room;
	size_t chosen;
	struct moment *moments;
	size_t moment_count;
	size_t moment_room;
	uint64_t tsc;
	uint64_t steps;
	uint64_t clock;
	bool has_ended;
};

/**
 * struct timeline - what is written
 * @source: what it is made of.
 * @out: where to.
 * @lanes: of tsearch().
 * @list: likewise, as a list.
 * @lane_count: how many.
 * @last: that of the last step.
 * @calls: that were written.
 * @has_times: the trace has.
 */
struct timeline {
	struct timeline_source source;
	FILE *out;
	void *lanes;
	struct lane **list;
	size_t lane_count;
	struct lane *last;
	uint64_t calls;
	bool has_times;
};

/* ------------------------------------------------------------------ output */

static void write_moment(struct timeline *t, const struct lane *lane, const struct moment *moment,
			 uint64_t ns)
{
	fprintf(t->out, "{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d,\"ts\":%" PRIu64 ".%03u,\"name\":",
		moment->is_end ? 'E' : 'B', lane->pid, lane->tid, ns / NS_PER_US,
		(unsigned int)(ns % NS_PER_US));
	/* Of an end, too: speedscope finds what it ends by that. */
	export_json_string(t->out, moment->name);
	if (!moment->is_end) {
		fputs(",\"cat\":", t->out);
		export_json_string(t->out, moment->file);
		t->calls++;
	}
	fputs("},\n", t->out);
}

/* Where step @step of @steps is between two times */
static uint64_t between(const struct lane *lane, uint64_t step, uint64_t end)
{
	uint64_t length = end - lane->clock;

	if (lane->has_ended)
		return lane->clock + (step < length ? step : length);
	return lane->clock + (uint64_t)((double)length * (double)step / (double)(lane->steps + 1));
}

/* Write what is waiting: it is all before @end, in nanoseconds. */
static void write_moments(struct timeline *t, struct lane *lane, uint64_t end)
{
	if (end < lane->clock)
		end = lane->clock;
	for (size_t i = 0; i < lane->moment_count; i++)
		write_moment(t, lane, &lane->moments[i], between(lane, lane->moments[i].step, end));
	lane->moment_count = 0;
	lane->steps = 0;
	lane->clock = end;
}

/* It is later. Steps before the first time are at that. */
static void take_time(struct timeline *t, struct lane *lane, uint64_t tsc)
{
	uint64_t time = t->source.time(t->source.arg, tsc);

	if (!lane->tsc)
		lane->clock = time;
	write_moments(t, lane, time);
	lane->tsc = tsc;
	t->has_times = true;
}

static int add_moment(struct timeline *t, struct lane *lane,
		      const struct trace_function *function, bool is_end)
{
	if (lane->moment_count == MOMENTS_MAX)
		write_moments(t, lane, lane->tsc ? lane->clock : lane->clock + lane->steps);
	if (lane->moment_count == lane->moment_room) {
		size_t room = lane->moment_room ? lane->moment_room * 2 : 64;
		struct moment *moments = reallocarray(lane->moments, room, sizeof(*moments));

		if (!moments)
			return -ENOMEM;
		lane->moments = moments;
		lane->moment_room = room;
	}
	lane->moments[lane->moment_count++] = (struct moment){
		.name = function->name,
		.file = function->file,
		.is_end = is_end,
		.step = lane->steps,
	};
	return 0;
}

/* ------------------------------------------------------------------- calls */

static int push(struct timeline *t, struct lane *lane, struct frame frame)
{
	const char *symbols = t->source.symbols;

	if (lane->depth == lane->room) {
		size_t room = lane->room ? lane->room * 2 : 64;
		struct frame *frames = reallocarray(lane->frames, room, sizeof(*frames));

		if (!frames)
			return -ENOMEM;
		lane->frames = frames;
		lane->room = room;
	}
	frame.is_chosen = !symbols || filter_list_has(symbols, frame.function.name);
	lane->chosen += frame.is_chosen;
	frame.is_shown = lane->chosen;
	lane->frames[lane->depth++] = frame;
	return frame.is_shown ? add_moment(t, lane, &frame.function, false) : 0;
}

/* A frame that the step, a call, comes back from */
static struct frame frame_of(const struct trace_step *step)
{
	return (struct frame){
		.back = step->from + step->size, .slack = step->size ? 0 : CALL_MAX,
	};
}

static int push_function(struct timeline *t, struct lane *lane, const struct trace_step *step,
			 uint64_t ip, struct frame frame)
{
	t->source.find(t->source.arg, step->thread, ip, &frame.function);
	return push(t, lane, frame);
}

/* What is not traced has a name of its own. */
static int push_untraced(struct timeline *t, struct lane *lane, const char *name,
			 struct frame frame)
{
	frame.function = (struct trace_function){ .name = name, .file = "" };
	frame.kind = FRAME_UNTRACED;
	return push(t, lane, frame);
}

/* End calls until @depth are left. */
static int pop(struct timeline *t, struct lane *lane, size_t depth)
{
	int ret = 0;

	while (ret == 0 && lane->depth > depth) {
		const struct frame *frame = &lane->frames[--lane->depth];

		lane->chosen -= frame->is_chosen;
		if (frame->is_shown)
			ret = add_moment(t, lane, &frame->function, true);
	}
	return ret;
}

/* The innermost call goes on in the function at @ip, as by a jump at its end. */
static int replace(struct timeline *t, struct lane *lane, const struct trace_step *step, uint64_t ip)
{
	struct frame frame = { 0 };
	int ret = 0;

	if (lane->depth) {
		frame.back = lane->frames[lane->depth - 1].back;
		frame.slack = lane->frames[lane->depth - 1].slack;
		ret = pop(t, lane, lane->depth - 1);
	}
	return ret ? ret : push_function(t, lane, step, ip, frame);
}

static bool is_in(const struct lane *lane, uint64_t ip)
{
	const struct frame *top = lane->depth ? &lane->frames[lane->depth - 1] : NULL;

	return top && ip >= top->function.start && ip < top->function.end;
}

/*
 * The number of frames up to the innermost of this function; 0: there is none. What has no symbol
 * is the same function as the last one there, but not as others.
 */
static size_t depth_of(const struct lane *lane, const struct trace_function *function)
{
	bool is_known = function->end > function->start + 1;
	size_t most = is_known ? SEARCH_MAX : 1;

	for (size_t i = lane->depth; i && lane->depth - i < most; i--)
		if (lane->frames[i - 1].function.name == function->name)
			return i;
	return 0;
}

static int take_return(struct timeline *t, struct lane *lane, const struct trace_step *step)
{
	const struct frame *top = lane->depth ? &lane->frames[lane->depth - 1] : NULL;
	int ret;

	if (!step->to)
		return top ? pop(t, lane, lane->depth - 1) : 0;
	for (size_t i = lane->depth; i && lane->depth - i < SEARCH_MAX; i--)
		if (step->to - lane->frames[i - 1].back <= lane->frames[i - 1].slack)
			return pop(t, lane, i - 1);
	/* To a caller from before the trace; or the address was changed, which makes it a jump. */
	if (!top || !top->back)
		return replace(t, lane, step, step->to);
	ret = pop(t, lane, lane->depth - 1);
	return ret || is_in(lane, step->to) ? ret : replace(t, lane, step, step->to);
}

static int take_jump(struct timeline *t, struct lane *lane, const struct trace_step *step)
{
	struct trace_function function;
	size_t depth;

	if (!step->to || is_in(lane, step->to))
		return 0;
	t->source.find(t->source.arg, step->thread, step->to, &function);
	depth = depth_of(lane, &function);
	if (depth && depth == lane->depth)
		return 0;
	/* Into the midst of one that has not returned: longjmp() */
	if (depth && step->to != function.start)
		return pop(t, lane, depth);
	return replace(t, lane, step, step->to);
}

/* Into the kernel */
static int take_entry(struct timeline *t, struct lane *lane, const struct trace_step *step)
{
	const char *name = step->kind == TRACE_SYSTEM_CALL ? "[system call]" : "[interrupt]";

	if (!step->to)
		return push_untraced(t, lane, name, (struct frame){ 0 });
	return push_function(t, lane, step, step->to, (struct frame){ .kind = FRAME_ENTRY });
}

/* The thread goes on at @to: where it was, or in a signal's handler. */
static int resume(struct timeline *t, struct lane *lane, const struct trace_step *step)
{
	struct frame frame = { 0 };
	size_t depth;

	t->source.find(t->source.arg, step->thread, step->to, &frame.function);
	depth = depth_of(lane, &frame.function);
	return depth ? pop(t, lane, depth) : push(t, lane, frame);
}

/* Back to what was before the last entry, or to what nobody knows */
static int take_exit(struct timeline *t, struct lane *lane, const struct trace_step *step)
{
	size_t depth = lane->depth;
	int ret;

	while (depth && lane->frames[depth - 1].kind != FRAME_ENTRY)
		depth--;
	ret = pop(t, lane, depth ? depth - 1 : 0);
	return ret || !step->to ? ret : resume(t, lane, step);
}

static int take_begin(struct timeline *t, struct lane *lane, const struct trace_step *step)
{
	int ret = 0;

	lane->has_ended = false;
	if (lane->depth && lane->frames[lane->depth - 1].kind == FRAME_UNTRACED)
		ret = pop(t, lane, lane->depth - 1);
	return ret || !step->to ? ret : resume(t, lane, step);
}

static int take_end(struct timeline *t, struct lane *lane)
{
	lane->has_ended = true;
	if (!lane->depth || lane->frames[lane->depth - 1].kind == FRAME_UNTRACED)
		return 0;
	return push_untraced(t, lane, "[not traced]", (struct frame){ 0 });
}

/* What was called or has returned meanwhile is not known. */
static int take_lost(struct timeline *t, struct lane *lane, const struct trace_step *step)
{
	int ret = pop(t, lane, 0);

	return ret || step->kind == TRACE_ERROR || !step->to ? ret :
	       replace(t, lane, step, step->to);
}

static bool is_kernel(uint64_t ip)
{
	return ip >> 63;
}

/* Back in user space: a trace of that alone may have the way into the kernel, and not out of it. */
static int leave_kernel(struct timeline *t, struct lane *lane, const struct trace_step *step)
{
	struct trace_step exit = *step;

	if (!step->from || is_kernel(step->from) || !lane->depth ||
	    !is_kernel(lane->frames[lane->depth - 1].function.start))
		return 0;
	exit.to = step->from;
	return take_exit(t, lane, &exit);
}

static int take(struct timeline *t, struct lane *lane, const struct trace_step *step)
{
	int ret = leave_kernel(t, lane, step);

	lane->steps++;
	if (ret)
		return ret;
	if (!lane->depth && step->from && step->kind != TRACE_END && step->kind != TRACE_ERROR)
		ret = push_function(t, lane, step, step->from, (struct frame){ 0 });
	if (ret)
		return ret;
	switch (step->kind) {
	case TRACE_CALL:
		if (step->to == step->from + step->size)
			return 0; /* asks where it is */
		return step->to ? push_function(t, lane, step, step->to, frame_of(step)) :
				  push_untraced(t, lane, "[not traced]", frame_of(step));
	case TRACE_RETURN:
		return take_return(t, lane, step);
	case TRACE_JUMP:
		return take_jump(t, lane, step);
	case TRACE_SYSTEM_CALL:
	case TRACE_INTERRUPT:
		return take_entry(t, lane, step);
	case TRACE_SYSTEM_RETURN:
		return take_exit(t, lane, step);
	case TRACE_BEGIN:
		return take_begin(t, lane, step);
	case TRACE_END:
		return take_end(t, lane);
	case TRACE_LOST:
	case TRACE_ERROR:
		return take_lost(t, lane, step);
	case TRACE_INSTRUCTION:
		break;
	}
	return 0;
}

/* ----------------------------------------------------------------- threads */

static int lane_compare(const void *left, const void *right)
{
	const struct lane *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static struct lane *add_lane(struct timeline *t, const struct lane *key)
{
	struct lane **list = reallocarray(t->list, t->lane_count + 1, sizeof(*list));
	struct lane *lane = list ? malloc(sizeof(*lane)) : NULL;

	if (list)
		t->list = list;
	if (!lane)
		return NULL;
	*lane = *key;
	if (!tsearch(lane, &t->lanes, lane_compare)) {
		free(lane);
		return NULL;
	}
	t->list[t->lane_count++] = lane;
	return lane;
}

static struct lane *lane_of(struct timeline *t, const struct thread *thread)
{
	struct lane key = { .pid = thread ? thread->pid : -1, .tid = thread ? thread->tid : -1 };
	struct lane **found;

	if (!t->last || lane_compare(t->last, &key) != 0) {
		found = tfind(&key, &t->lanes, lane_compare);
		t->last = found ? *found : add_lane(t, &key);
	}
	if (t->last)
		t->last->comm = thread ? thread->comm : "?"; /* may become another one */
	return t->last;
}

/**
 * timeline_new() - begin a timeline
 * @source: what it is made of; is copied.
 * @out: where it is written to; whoever has it looks for its errors.
 *
 * Return: to be freed with timeline_free(); NULL if there is no memory.
 */
struct timeline *timeline_new(const struct timeline_source *source, FILE *out)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->source = *source;
	t->out = out;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
	return t;
}

/**
 * timeline_step() - take a step of the trace
 * @t: the timeline.
 * @step: the step; those of a thread are in the order of time.
 *
 * Return: 0 or -ENOMEM.
 */
int timeline_step(struct timeline *t, const struct trace_step *step)
{
	struct lane *lane = lane_of(t, step->thread);

	if (!lane)
		return -ENOMEM;
	if (step->tsc && step->tsc != lane->tsc)
		take_time(t, lane, step->tsc);
	return take(t, lane, step);
}

static void write_name(const struct timeline *t, const struct lane *lane, const char *what,
		       const char *end)
{
	fprintf(t->out, "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"args\":{\"name\":",
		lane->pid, lane->tid, what);
	export_json_string(t->out, lane->comm);
	fprintf(t->out, "}}%s\n", end);
}

/**
 * timeline_end() - the trace is at its end: so are all calls, and the output
 * @t: the timeline.
 *
 * Return: 0 or -ENOMEM.
 */
int timeline_end(struct timeline *t)
{
	int ret = 0;

	for (size_t i = 0; i < t->lane_count && ret == 0; i++) {
		struct lane *lane = t->list[i];

		ret = pop(t, lane, 0);
		/* There is no later time: as if it had ended. */
		lane->has_ended = true;
		write_moments(t, lane, lane->clock + lane->steps);
	}
	for (size_t i = 0; i < t->lane_count; i++) {
		if (t->list[i]->pid == t->list[i]->tid)
			write_name(t, t->list[i], "process_name", ",");
		write_name(t, t->list[i], "thread_name", i + 1 < t->lane_count ? "," : "");
	}
	fputs("]}\n", t->out);
	return ret;
}

bool timeline_has_times(const struct timeline *t)
{
	return t->has_times;
}

uint64_t timeline_calls(const struct timeline *t)
{
	return t->calls;
}

static void nothing(void *lane)
{
	(void)lane;
}

/**
 * timeline_free() - free a timeline
 * @t: it, or NULL.
 */
void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	tdestroy(t->lanes, nothing);
	for (size_t i = 0; i < t->lane_count; i++) {
		free(t->list[i]->frames);
		free(t->list[i]->moments);
		free(t->list[i]);
	}
	free(t->list);
	free(t);
}
