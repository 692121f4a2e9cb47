// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's builder on the driver: what is built counts what was said, its function is
 * called for each overflow, and what is refused is explained.
 */
#include "sampling.h"

#include <pmuctl_builder.h>

#define ROUNDS	20000
#define PERIOD	997ull

static struct pmuctl_device *dev;
static struct pmuctl_builder *builder;

static void begin(void)
{
	sampling_init();
	cr_assert_eq(pmuctl_device_open(NULL, NULL, &dev), 0);
	cr_assert_eq(pmuctl_builder_new(&builder), 0);
}

static void end(void)
{
	pmuctl_builder_free(builder);
	pmuctl_device_close(dev);
	sampling_fini();
}

TestSuite(lib_builder, .init = begin, .fini = end);

static struct pmuctl_event *build(void)
{
	struct pmuctl_explanation why = { .size = 0 };
	struct pmuctl_event *event;

	cr_assert_eq(pmuctl_builder_open(builder, dev, &why, &event), 0, "%s: %s",
		     why.field, why.sentence);
	return event;
}

static uint64_t value_of(struct pmuctl_event *event)
{
	struct pmuctl_reading reading;

	cr_assert_eq(pmuctl_event_read(event, &reading), 0);
	return reading.value;
}

/* ---- Counting ---- */

Test(lib_builder, counts_to_the_instruction)
{
	struct pmuctl_event *event;

	pmuctl_builder_name(builder, "instructions:u");
	pmuctl_builder_disabled(builder, 1);
	event = build();
	bracket(pmuctl_event_fd(event), ROUNDS);
	cr_expect_eq(value_of(event), bracket_instructions(ROUNDS));
	pmuctl_event_close(event);
}

/* The same builder, again and changed */
Test(lib_builder, opens_as_often_as_it_is_told)
{
	struct pmuctl_event *one, *two, *branches;

	pmuctl_builder_name(builder, "instructions:u");
	pmuctl_builder_disabled(builder, 1);
	one = build();
	two = build();
	pmuctl_builder_name(builder, "branches:u");
	branches = build();
	bracket(pmuctl_event_fd(one), ROUNDS);
	bracket(pmuctl_event_fd(two), 2 * ROUNDS);
	bracket(pmuctl_event_fd(branches), ROUNDS);
	cr_expect_eq(value_of(one), bracket_instructions(ROUNDS));
	cr_expect_eq(value_of(two), bracket_instructions(2 * ROUNDS));
	cr_expect_lt(value_of(branches), bracket_instructions(ROUNDS));
	cr_expect_geq(value_of(branches), ROUNDS);
	pmuctl_event_close(one);
	pmuctl_event_close(two);
	pmuctl_event_close(branches);
}

Test(lib_builder, counts_a_task_or_a_cpu)
{
	struct pmuctl_event *task, *here, *there, *all;
	struct worker w;

	worker_start(&w, false);
	pin_task(w.tid, 1);
	pmuctl_builder_name(builder, "instructions:u");
	pmuctl_builder_task(builder, w.tid);
	task = build();
	pmuctl_builder_cpu(builder, 0);
	there = build();
	pmuctl_builder_task(builder, -1);
	pmuctl_builder_cpu(builder, 1);
	here = build();
	pmuctl_builder_cpu(builder, -1);
	all = build();
	worker_run(&w, ROUNDS);
	cr_expect_geq(value_of(task), LOOP_INSTRUCTIONS * ROUNDS);
	cr_expect_geq(value_of(here), LOOP_INSTRUCTIONS * ROUNDS);
	cr_expect_geq(value_of(all), LOOP_INSTRUCTIONS * ROUNDS);
	cr_expect_eq(value_of(there), 0);
	worker_end(&w);
	pmuctl_event_close(task);
	pmuctl_event_close(here);
	pmuctl_event_close(there);
	pmuctl_event_close(all);
}

Test(lib_builder, counts_children)
{
	struct pmuctl_event *event;
	pid_t child;

	pmuctl_builder_name(builder, "instructions:u");
	pmuctl_builder_inherit(builder, 1);
	event = build();
	child = fork_child();
	if (!child) {
		user_loop(100 * ROUNDS);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	cr_expect_geq(value_of(event), LOOP_INSTRUCTIONS * 100 * ROUNDS);
	pmuctl_event_close(event);
}

/* ---- Overflows ---- */

struct told {
	struct pmuctl_event *event;
	uint64_t calls;
	uint64_t sum;
	uint64_t lost;
	uint64_t rounds;
	uint64_t last;
	bool check_ip;
};

static void tell(struct pmuctl_event *event, const struct pmuctl_overflow *o, void *arg)
{
	struct told *told = arg;

	told->event = event;
	told->calls++;
	told->sum += o->period;
	told->lost += o->lost;
	cr_expect_eq(o->pid, (uint32_t)getpid());
	cr_expect_eq(o->tid, (uint32_t)gettid());
	cr_expect_eq(o->cpu, 0);
	cr_expect_gt(o->time, told->last);
	cr_expect_eq(o->record->type, PERF_RECORD_SAMPLE);
	cr_expect_eq(o->reserved, 0);
	told->last = o->time;
	if (told->check_ip)
		cr_expect_eq(o->ip, block_ip(told->calls * PERIOD, told->rounds));
}

Test(lib_builder, calls_for_each_overflow)
{
	struct told told = { .rounds = ROUNDS, .check_ip = true };
	struct pmuctl_event *event;

	pin_here(0);
	pmuctl_builder_name(builder, "instructions:u");
	pmuctl_builder_disabled(builder, 1);
	pmuctl_builder_frequency(builder, 1000);
	pmuctl_builder_period(builder, PERIOD);
	pmuctl_builder_callback(builder, tell, &told);
	event = build();
	cr_expect_eq(pmuctl_event_dispatch(event), 0);
	block_run(pmuctl_event_fd(event), ROUNDS);
	cr_expect_eq(pmuctl_event_dispatch(event), BLOCK_LENGTH(ROUNDS) / PERIOD);
	cr_expect_eq(told.calls, BLOCK_LENGTH(ROUNDS) / PERIOD);
	cr_expect_eq(told.sum, told.calls * PERIOD);
	cr_expect_eq(told.lost, 0);
	cr_expect_eq(told.event, event);
	cr_expect_eq(pmuctl_event_dispatch(event), 0);
	pmuctl_event_close(event);
}

/* All the fields that may come before those that are told */
Test(lib_builder, finds_its_fields_among_others)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	struct told told = { .rounds = ROUNDS, .check_ip = true };
	struct pmuctl_event *event;

	pin_here(0);
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_READ |
			   PERF_SAMPLE_CALLCHAIN;
	pmuctl_builder_attr(builder, &attr);
	pmuctl_builder_pages(builder, 64);
	pmuctl_builder_callback(builder, tell, &told);
	event = build();
	block_run(pmuctl_event_fd(event), ROUNDS);
	cr_expect_eq(pmuctl_event_dispatch(event), BLOCK_LENGTH(ROUNDS) / PERIOD);
	cr_expect_eq(told.sum, told.calls * PERIOD);
	pmuctl_event_close(event);
}

/* A small ring: what finds no room is told by the call that comes next. */
Test(lib_builder, tells_what_was_lost)
{
	struct told told = { .rounds = ROUNDS };
	struct pmuctl_event *event;
	uint64_t all;

	pin_here(0);
	pmuctl_builder_name(builder, "instructions:u");
	pmuctl_builder_disabled(builder, 1);
	pmuctl_builder_period(builder, 499);
	pmuctl_builder_callback(builder, tell, &told);
	pmuctl_builder_pages(builder, 1);
	event = build();
	block_run(pmuctl_event_fd(event), ROUNDS);
	pmuctl_event_dispatch(event);
	cr_expect_lt(told.calls, BLOCK_LENGTH(ROUNDS) / 499);
	cr_expect_eq(told.lost, 0);
	block_run(pmuctl_event_fd(event), 200);
	pmuctl_event_dispatch(event);
	all = (BLOCK_LENGTH(ROUNDS) + BLOCK_LENGTH(200)) / 499;
	cr_expect_gt(told.lost, 0);
	cr_expect_eq(told.calls + told.lost, all, "%lu + %lu, not %lu", told.calls,
		     told.lost, all);
	pmuctl_event_close(event);
}

/* By frequency; poll() tells of the first. */
Test(lib_builder, is_told_by_poll)
{
	struct told told = { .rounds = ROUNDS };
	struct pmuctl_event *event;
	struct pollfd poller = { .events = POLLIN };

	pin_here(0);
	pmuctl_builder_name(builder, "instructions:u");
	pmuctl_builder_period(builder, 1000);
	pmuctl_builder_frequency(builder, 1000);
	pmuctl_builder_callback(builder, tell, &told);
	event = build();
	poller.fd = pmuctl_event_fd(event);
	while (told.calls < 20) {
		user_loop(ROUNDS);
		cr_assert_geq(poll(&poller, 1, 0), 0);
		if (poller.revents & POLLIN)
			cr_assert_geq(pmuctl_event_dispatch(event), 0);
	}
	pmuctl_event_close(event);
}

static void stop(struct pmuctl_event *event, const struct pmuctl_overflow *o, void *arg)
{
	(void)o;
	++*(int *)arg;
	cr_expect_eq(pmuctl_event_disable(event), 0);
}

/* The function may do that. */
Test(lib_builder, can_be_disabled_by_its_function)
{
	struct pmuctl_event *event;
	uint64_t value;
	int calls = 0;

	pmuctl_builder_name(builder, "instructions:u");
	pmuctl_builder_period(builder, 1000);
	pmuctl_builder_callback(builder, stop, &calls);
	event = build();
	while (!calls) {
		user_loop(ROUNDS);
		cr_assert_geq(pmuctl_event_dispatch(event), 0);
	}
	value = value_of(event);
	user_loop(ROUNDS);
	cr_expect_eq(value_of(event), value);
	pmuctl_event_close(event);
}

/* ---- Refusals ---- */

Test(lib_builder, says_what_the_driver_says)
{
	struct pmuctl_explanation why;
	struct pmuctl_event *event;

	pmuctl_builder_name(builder, "instructions");
	pmuctl_builder_cpu(builder, 1000);
	cr_expect_eq(pmuctl_builder_open(builder, dev, &why, &event), -EINVAL);
	cr_expect_eq(why.code, PMUCTL_WHY_CPU_INVALID);
	cr_expect_null(event);
	cr_expect_eq(pmuctl_builder_open(builder, dev, NULL, &event), -EINVAL);
}

Test(lib_builder, says_what_is_wrong_before_it_asks_the_driver)
{
	struct pmuctl_explanation why;
	struct pmuctl_event *event;
	struct told told;

	pmuctl_builder_name(builder, "instructions");
	pmuctl_builder_callback(builder, tell, &told);
	cr_expect_eq(pmuctl_builder_open(builder, dev, &why, &event), -EINVAL);
	cr_expect_eq(why.code, PMUCTL_WHY_BUILDER_CALLBACK);
	cr_expect_null(event);
}

/* The ring is more than there is: no event stays behind. */
Test(lib_builder, says_that_the_ring_is_too_large)
{
	struct pmuctl_explanation why;
	struct pmuctl_event *event;
	struct told told;
	int fds = raw_count_fds();

	pmuctl_builder_name(builder, "instructions:u");
	pmuctl_builder_period(builder, 1000);
	pmuctl_builder_callback(builder, tell, &told);
	pmuctl_builder_pages(builder, 1ul << 40);
	cr_expect_lt(pmuctl_builder_open(builder, dev, &why, &event), 0);
	cr_expect_gt(why.error, 0);
	cr_expect_gt(strlen(why.sentence), 0);
	cr_expect_null(event);
	cr_expect_eq(raw_count_fds(), fds);
}
