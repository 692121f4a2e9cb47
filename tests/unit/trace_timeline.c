// SPDX-License-Identifier: GPL-2.0-only
/* sources: tools/trace/timeline.c $(READER) $(SYMBOLS) $(REPORT) */
/* libs: -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap */
/*
 * The timeline of a trace: which calls began and ended when, whatever way they ended.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/trace/trace.h"

/* Functions have 0x100 bytes: that of 0x1000 is "b", of 0x1100 "c"; the kernel's are "K", and so on. */
#define KERNEL	0xffffffff81000000ULL

static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
static const char *const kernels[] = { "K", "L" };

static char *text;
static size_t size;
static FILE *out;
static struct timeline *timeline;
static struct thread threads[2] = {
	{ .pid = 70, .tid = 70, .comm = "main \"1\"" }, { .pid = 70, .tid = 71, .comm = "worker" },
};
static struct thread *thread;
static uint64_t tsc;

static void find(void *arg, const struct thread *whose, uint64_t ip, struct trace_function *function)
{
	(void)arg;
	(void)whose;
	*function = (struct trace_function){ .file = "file", .start = ip & ~0xffULL };
	function->end = function->start + 0x100;
	if (ip >= KERNEL)
		function->name = kernels[ip >> 8 & 1];
	else if (ip >= 0x9000)
		*function = (struct trace_function){ "[lib]", "lib", ip, ip + 1 };
	else
		function->name = names[ip >> 8 & 7];
}

/* A tick of the time stamp counter is 10 ns. */
static uint64_t time_of(void *arg, uint64_t at)
{
	(void)arg;
	return at * 10;
}

static void begin(const char *symbols)
{
	const struct timeline_source source = { .symbols = symbols, .find = find, .time = time_of };

	out = open_memstream(&text, &size);
	timeline = timeline_new(&source, out);
	thread = &threads[0];
	tsc = 100;
}

static void step(enum trace_step_kind kind, uint64_t from, uint64_t to, uint8_t bytes)
{
	struct trace_step s = {
		.kind = kind, .thread = thread, .from = from, .to = to, .size = bytes, .tsc = tsc,
	};

	cr_assert_eq(timeline_step(timeline, &s), 0);
}

static void call(uint64_t from, uint64_t to)
{
	step(TRACE_CALL, from, to, 5);
}

static void ret(uint64_t from, uint64_t to)
{
	step(TRACE_RETURN, from, to, 1);
}

/* What is written, to be given back */
static json_t *finish(void)
{
	json_t *json;

	cr_assert_eq(timeline_end(timeline), 0);
	timeline_free(timeline);
	fclose(out);
	json = json_loads(text, 0, NULL);
	cr_assert_not_null(json, "%s", text);
	free(text);
	text = NULL;
	return json;
}

/* Deeper than any test calls */
#define DEPTH_MAX	64

/*
 * As "a(b(c)d)"; those of thread 71 are behind a ';'. Times of a thread never go back, and each end
 * has the name of what it ends, by which some viewers find that.
 */
static void end(const char *want)
{
	char got[2][512] = { "", "" }, all[1025];
	const char *open[2][DEPTH_MAX];
	size_t depth[2] = { 0, 0 };
	double last[2] = { 0, 0 };
	json_t *json = finish(), *event;
	size_t i;

	json_array_foreach(json_object_get(json, "traceEvents"), i, event) {
		const char *kind = json_string_value(json_object_get(event, "ph"));
		const char *name = json_string_value(json_object_get(event, "name"));
		size_t lane = (size_t)json_integer_value(json_object_get(event, "tid")) - 70;
		double ts = json_real_value(json_object_get(event, "ts"));

		if (*kind == 'M')
			continue;
		cr_assert_geq(ts, last[lane]);
		last[lane] = ts;
		if (*kind == 'B') {
			cr_assert_lt(depth[lane], DEPTH_MAX);
			open[lane][depth[lane]++] = name;
			strcat(got[lane], name);
			strcat(got[lane], "(");
		} else {
			cr_assert_gt(depth[lane], 0);
			cr_assert_not_null(name);
			cr_assert_str_eq(name, open[lane][--depth[lane]]);
			strcat(got[lane], ")");
		}
	}
	sprintf(all, "%s%s%s", got[0], *got[1] ? ";" : "", got[1]);
	cr_assert_str_eq(all, want);
	json_decref(json);
}

Test(trace_timeline, calls_within_calls)
{
	begin(NULL);
	step(TRACE_BEGIN, 0, 0x10, 0);
	call(0x10, 0x100);
	call(0x110, 0x200);
	ret(0x220, 0x115);
	ret(0x130, 0x15);
	call(0x20, 0x300);
	ret(0x310, 0x25);
	end("a(b(c())d())");
}

Test(trace_timeline, a_jump_at_the_end_is_a_call_that_returns_farther)
{
	begin(NULL);
	step(TRACE_BEGIN, 0, 0x10, 0);
	call(0x10, 0x100);
	step(TRACE_JUMP, 0x110, 0x120, 2);	/* a loop */
	step(TRACE_JUMP, 0x120, 0x200, 5);
	ret(0x220, 0x15);
	call(0x20, 0x100);
	end("a(b()c()b())");
}

Test(trace_timeline, a_long_jump_ends_what_it_leaves)
{
	begin(NULL);
	step(TRACE_BEGIN, 0, 0x10, 0);
	call(0x10, 0x100);
	call(0x110, 0x200);
	call(0x210, 0x300);
	step(TRACE_JUMP, 0x310, 0x30, 2);
	call(0x40, 0x400);
	end("a(b(c(d()))e())");
}

Test(trace_timeline, a_return_to_who_called_before_the_trace)
{
	begin(NULL);
	step(TRACE_BEGIN, 0, 0x210, 0);
	ret(0x220, 0x110);
	call(0x120, 0x300);
	ret(0x310, 0x125);
	ret(0x130, 0x10);
	end("c()b(d())a()");
}

/* Its address was changed, as a retpoline does. */
Test(trace_timeline, a_return_that_is_a_jump)
{
	begin(NULL);
	step(TRACE_BEGIN, 0, 0x10, 0);
	call(0x10, 0x100);
	call(0x110, 0x120);
	ret(0x130, 0x200);
	ret(0x210, 0x15);
	call(0x20, 0x300);
	end("a(b(b())c()d())");
}

/* It asks where it is. */
Test(trace_timeline, a_call_of_what_follows_is_none)
{
	begin(NULL);
	step(TRACE_BEGIN, 0, 0x10, 0);
	call(0x10, 0x15);
	call(0x20, 0x100);
	ret(0x110, 0x25);
	end("a(b())");
}

Test(trace_timeline, what_is_not_traced_is_told)
{
	begin(NULL);
	step(TRACE_BEGIN, 0, 0x10, 0);
	step(TRACE_SYSTEM_CALL, 0x10, 0, 2);
	step(TRACE_END, 0, 0, 0);
	step(TRACE_BEGIN, 0, 0x12, 0);
	step(TRACE_END, 0x20, 0, 0);		/* preempted */
	step(TRACE_BEGIN, 0, 0x20, 0);
	call(0x30, 0x100);
	end("a([system call]()[not traced]()b())");
}

Test(trace_timeline, a_handler_of_a_signal_runs_above_what_was_interrupted)
{
	begin(NULL);
	step(TRACE_BEGIN, 0, 0x110, 0);
	step(TRACE_END, 0x120, 0, 0);
	step(TRACE_BEGIN, 0, 0x200, 0);		/* the handler */
	ret(0x210, 0x300);			/* the restorer */
	step(TRACE_SYSTEM_CALL, 0x310, 0, 2);
	step(TRACE_END, 0, 0, 0);
	step(TRACE_BEGIN, 0, 0x120, 0);
	call(0x130, 0x400);
	end("b([not traced]()c()d([system call]())e())");
}

Test(trace_timeline, the_kernel_is_between_its_entry_and_exit)
{
	begin(NULL);
	step(TRACE_BEGIN, 0, 0x10, 0);
	step(TRACE_SYSTEM_CALL, 0x10, KERNEL, 2);
	call(KERNEL + 0x10, KERNEL + 0x100);
	step(TRACE_INTERRUPT, KERNEL + 0x120, KERNEL, 0);
	step(TRACE_SYSTEM_RETURN, KERNEL + 0x50, KERNEL + 0x120, 2);
	step(TRACE_SYSTEM_RETURN, KERNEL + 0x150, 0x12, 3);
	call(0x20, 0x100);
	end("a(K(L(K()))b())");
}

Test(trace_timeline, the_kernel_alone)
{
	begin(NULL);
	step(TRACE_BEGIN, 0, KERNEL, 0);
	call(KERNEL + 0x10, KERNEL + 0x100);
	step(TRACE_SYSTEM_RETURN, KERNEL + 0x150, 0, 3);
	step(TRACE_END, 0, 0, 0);
	step(TRACE_BEGIN, 0, KERNEL, 0);
	end("K(L())K()");
}

/* Branch Trace Store of user mode has the branch into the kernel, and none out of it. */
Test(trace_timeline, the_way_into_the_kernel_alone)
{
	begin(NULL);
	step(TRACE_JUMP, 0x10, 0x20, 0);
	step(TRACE_SYSTEM_CALL, 0x30, KERNEL, 0);
	step(TRACE_CALL, 0x40, 0x100, 0);
	step(TRACE_INTERRUPT, 0x110, KERNEL, 0);
	step(TRACE_JUMP, 0x210, 0x220, 0);	/* in a signal's handler */
	step(TRACE_SYSTEM_CALL, 0x230, KERNEL, 0);
	step(TRACE_RETURN, 0x120, 0x45, 0);
	end("a(K()b(K()c(K())))");
}

/* Whether it returned meanwhile is not known. */
Test(trace_timeline, what_was_lost_ends_all)
{
	begin(NULL);
	step(TRACE_BEGIN, 0, 0x10, 0);
	call(0x10, 0x100);
	step(TRACE_LOST, 0, 0x310, 0);
	ret(0x320, 0x110);
	step(TRACE_ERROR, 0x120, 0, 0);
	step(TRACE_INSTRUCTION, 0x410, 0, 3);
	end("a(b())d()b()e()");
}

Test(trace_timeline, code_without_symbols_is_one_function_for_each_call)
{
	begin(NULL);
	step(TRACE_BEGIN, 0, 0x10, 0);
	call(0x10, 0x9010);
	step(TRACE_JUMP, 0x9020, 0x9040, 2);
	call(0x9050, 0x9100);
	step(TRACE_SYSTEM_CALL, 0x9110, 0, 2);
	step(TRACE_END, 0, 0, 0);
	step(TRACE_BEGIN, 0, 0x9112, 0);
	ret(0x9120, 0x9055);
	ret(0x9060, 0x15);
	end("a([lib]([lib]([system call]())))");
}

Test(trace_timeline, each_thread_has_its_own)
{
	begin(NULL);
	step(TRACE_BEGIN, 0, 0x10, 0);
	thread = &threads[1];
	step(TRACE_BEGIN, 0, 0x210, 0);
	thread = &threads[0];
	call(0x10, 0x100);
	thread = &threads[1];
	call(0x220, 0x300);
	thread = &threads[0];
	ret(0x110, 0x15);
	end("a(b());c(d())");
}

Test(trace_timeline, only_what_is_asked_for)
{
	begin("c,e");
	step(TRACE_BEGIN, 0, 0x10, 0);
	call(0x10, 0x100);
	call(0x110, 0x200);
	call(0x210, 0x300);
	call(0x310, 0x200);
	ret(0x220, 0x315);
	ret(0x320, 0x215);
	ret(0x230, 0x115);
	call(0x120, 0x400);
	end("c(d(c()))e()");
}

/* Records of branches tell no sizes of calls, and no times. */
Test(trace_timeline, without_sizes_and_times)
{
	begin(NULL);
	tsc = 0;
	step(TRACE_BEGIN, 0, 0x10, 0);
	step(TRACE_CALL, 0x10, 0x100, 0);
	step(TRACE_CALL, 0x110, 0x200, 0);
	step(TRACE_RETURN, 0x210, 0x115, 0);
	step(TRACE_RETURN, 0x120, 0x12, 0);
	cr_assert(!timeline_has_times(timeline));
	end("a(b(c()))");
}

/* The times of the beginnings and ends, in nanoseconds */
static size_t times(uint64_t *ns)
{
	json_t *json = finish(), *event;
	size_t i, n = 0;

	json_array_foreach(json_object_get(json, "traceEvents"), i, event)
		if (json_object_get(event, "ts"))
			ns[n++] = (uint64_t)(1000 * json_real_value(json_object_get(event, "ts")) + 0.5);
	json_decref(json);
	return n;
}

Test(trace_timeline, steps_are_spread_between_times)
{
	uint64_t ns[16];

	begin(NULL);
	step(TRACE_BEGIN, 0, 0x10, 0);		/* at 100: 1000 ns */
	for (uint64_t i = 0; i < 4; i++)
		step(TRACE_INSTRUCTION, 0x10, 0, 3);
	call(0x10, 0x100);
	for (uint64_t i = 0; i < 3; i++)
		step(TRACE_INSTRUCTION, 0x110, 0, 3);
	tsc = 110;				/* ten steps later */
	ret(0x110, 0x15);
	cr_assert_eq(times(ns), 4);
	cr_assert_eq(ns[0], 1010);
	cr_assert_eq(ns[1], 1060);
	cr_assert_eq(ns[2], 1101);
	cr_assert_eq(ns[3], 1101);
}

/* A wait is not the time of what came before it. */
Test(trace_timeline, steps_before_a_wait_are_not_spread_over_it)
{
	uint64_t ns[16];

	begin(NULL);
	step(TRACE_BEGIN, 0, 0x10, 0);
	call(0x10, 0x100);
	step(TRACE_SYSTEM_CALL, 0x110, 0, 2);
	step(TRACE_END, 0, 0, 0);
	tsc = 100000;
	step(TRACE_BEGIN, 0, 0x112, 0);
	cr_assert_eq(times(ns), 6);
	cr_assert_eq(ns[0], 1001);
	cr_assert_eq(ns[1], 1002);
	cr_assert_eq(ns[2], 1003);
	cr_assert_geq(ns[3], 1000000);
}
