// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library against the driver: open, enable, read, disable, reset, close; counts
 * of loops of known length to the instruction; who is counted and who is not.
 */
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <pmuctl.h>

#define ROUNDS 20000

static struct pmuctl_device *dev;

static void setup(void)
{
	struct pmuctl_explanation why;
	int ret = pmuctl_device_open(NULL, &why, &dev);

	cr_assert_eq(ret, 0, "%s", ret ? why.sentence : "");
}

static void teardown(void)
{
	pmuctl_device_close(dev);
}

TestSuite(lib_count, .init = setup, .fini = teardown);

/* Two instructions a round, one of them a branch */
static __attribute__((noinline)) void loop(uint64_t rounds)
{
	__asm__ volatile("1:\tdecq %0\n\t"
			 "jnz 1b"
			 : "+r" (rounds) : : "cc");
}

static struct pmuctl_event *open_for(const char *name, pid_t pid, int cpu)
{
	struct pmuctl_events *events;
	struct pmuctl_explanation why;
	struct perf_event_attr attr;
	struct pmuctl_event *event;
	int ret;

	cr_assert_eq(pmuctl_events_parse(name, NULL, NULL, NULL, &events), 0);
	attr = *pmuctl_events_attr(events, 0);
	pmuctl_events_free(events);
	attr.disabled = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
	ret = pmuctl_event_open(dev, &attr, pid, cpu, 0, &event);
	pmuctl_device_explain(dev, &why);
	cr_assert_eq(ret, 0, "%s: %s", name, why.sentence);
	return event;
}

static struct pmuctl_reading read_now(struct pmuctl_event *event)
{
	struct pmuctl_reading reading;

	cr_assert_eq(pmuctl_event_read(event, &reading), 0);
	return reading;
}

/* What one enabled stretch with a loop in it adds */
static uint64_t count_loop(struct pmuctl_event *event, uint64_t rounds)
{
	uint64_t before = read_now(event).value;

	cr_assert_eq(pmuctl_event_enable(event), 0);
	loop(rounds);
	cr_assert_eq(pmuctl_event_disable(event), 0);
	return read_now(event).value - before;
}

static void check_difference(const char *name, uint64_t each_round)
{
	struct pmuctl_event *event = open_for(name, 0, -1);
	uint64_t once, twice;

	count_loop(event, 10);		/* binds what is bound lazily */
	once = count_loop(event, ROUNDS);
	twice = count_loop(event, 2 * ROUNDS);
	cr_assert_eq(twice - once, each_round * ROUNDS, "%s: %llu and %llu", name,
		     (unsigned long long)once, (unsigned long long)twice);
	cr_assert_geq(once, each_round * ROUNDS);
	cr_assert_lt(once, each_round * ROUNDS + 1000);
	pmuctl_event_close(event);
}

Test(lib_count, instructions_of_a_loop_are_exact)
{
	check_difference("instructions:u", 2);
}

Test(lib_count, branches_of_a_loop_are_exact)
{
	check_difference("branches:u", 1);
}

Test(lib_count, raw_and_field_events_count_the_same)
{
	check_difference("r00c0:u", 2);
	check_difference(raw_cpu_is_intel() ? "cpu/event=0xc4,umask=0/u" :
					      "cpu/event=0xc2,umask=0/u", 1);
}

Test(lib_count, kernel_is_not_charged_with_a_loop_in_user_space)
{
	struct pmuctl_event *event = open_for("instructions:k", 0, -1);
	uint64_t once = count_loop(event, ROUNDS);

	cr_assert_gt(once, 0);
	pmuctl_event_close(event);
}

Test(lib_count, disabled_event_stands_still)
{
	struct pmuctl_event *event = open_for("instructions:u", 0, -1);
	struct pmuctl_reading first = read_now(event), second;

	cr_assert_eq(first.value, 0);
	cr_assert_eq(first.time_enabled, 0);
	loop(ROUNDS);
	cr_assert_eq(read_now(event).value, 0);
	count_loop(event, ROUNDS);
	first = read_now(event);
	loop(ROUNDS);
	second = read_now(event);
	cr_assert_eq(first.value, second.value);
	cr_assert_eq(first.time_enabled, second.time_enabled);
	pmuctl_event_close(event);
}

Test(lib_count, reading_while_it_counts_grows)
{
	struct pmuctl_event *event = open_for("instructions:u", 0, -1);
	struct pmuctl_reading last = { .value = 0 };

	cr_assert_eq(pmuctl_event_enable(event), 0);
	for (int i = 0; i < 100; i++) {
		struct pmuctl_reading now;

		loop(100);
		now = read_now(event);
		cr_assert_geq(now.value, last.value + 200);
		cr_assert_gt(now.time_enabled, last.time_enabled);
		last = now;
	}
	pmuctl_event_close(event);
}

Test(lib_count, reset_clears_the_count_and_leaves_the_times)
{
	struct pmuctl_event *event = open_for("instructions:u", 0, -1);
	struct pmuctl_reading before, after;

	count_loop(event, ROUNDS);
	before = read_now(event);
	cr_assert_eq(pmuctl_event_reset(event), 0);
	after = read_now(event);
	cr_assert_eq(after.value, 0);
	cr_assert_eq(after.time_enabled, before.time_enabled);
	cr_assert_eq(after.time_running, before.time_running);
	pmuctl_event_close(event);
}

Test(lib_count, what_has_a_counter_runs_all_the_time)
{
	struct pmuctl_event *event = open_for("instructions:u", 0, -1);
	struct pmuctl_reading reading;

	count_loop(event, ROUNDS);
	reading = read_now(event);
	cr_assert_gt(reading.time_enabled, 0);
	cr_assert_eq(reading.time_enabled, reading.time_running);
	cr_assert_eq(pmuctl_reading_estimate(&reading), reading.value);
	pmuctl_event_close(event);
}

Test(lib_count, ids_differ)
{
	struct pmuctl_event *a = open_for("instructions:u", 0, -1);
	struct pmuctl_event *b = open_for("instructions:u", 0, -1);
	uint64_t id_a, id_b;

	cr_assert_eq(pmuctl_event_id(a, &id_a), 0);
	cr_assert_eq(pmuctl_event_id(b, &id_b), 0);
	cr_assert_neq(id_a, id_b);
	cr_assert_eq(read_now(a).id, id_a);
	cr_assert_eq(read_now(b).id, id_b);
	pmuctl_event_close(a);
	pmuctl_event_close(b);
}

Test(lib_count, every_read_format_is_understood)
{
	for (uint64_t format = 0; format < 32; format++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_HARDWARE,
			.config = PERF_COUNT_HW_INSTRUCTIONS,
			.exclude_kernel = 1,
			.read_format = format & ~(uint64_t)PERF_FORMAT_GROUP,
		};
		struct pmuctl_reading reading;
		struct pmuctl_event *event;
		uint64_t id;

		cr_assert_eq(pmuctl_event_open(dev, &attr, 0, -1, 0, &event), 0);
		cr_assert_eq(pmuctl_event_id(event, &id), 0);
		reading = read_now(event);
		cr_assert_gt(reading.value, 0);
		cr_assert_eq(!!reading.time_enabled,
			     !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED));
		cr_assert_eq(!!reading.time_running,
			     !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING));
		cr_assert_eq(reading.id, format & PERF_FORMAT_ID ? id : 0);
		cr_assert_eq(reading.lost, 0);
		pmuctl_event_close(event);
	}
}

Test(lib_count, descriptors_are_closed_by_exec)
{
	struct pmuctl_event *event = open_for("instructions:u", 0, -1);

	cr_assert(fcntl(pmuctl_event_fd(event), F_GETFD) & FD_CLOEXEC);
	cr_assert(fcntl(pmuctl_device_fd(dev), F_GETFD) & FD_CLOEXEC);
	pmuctl_event_close(event);
}

Test(lib_count, events_outlive_their_device)
{
	struct pmuctl_event *event = open_for("instructions:u", 0, -1);

	pmuctl_device_close(dev);
	dev = NULL;
	cr_assert_geq(count_loop(event, ROUNDS), 2 * ROUNDS);
	pmuctl_event_close(event);
}

Test(lib_count, child_reads_the_count_of_its_parent)
{
	struct pmuctl_event *event = open_for("instructions:u", 0, -1);
	uint64_t counted = count_loop(event, ROUNDS);
	int status;
	pid_t child;

	child = fork();
	if (child == 0) {
		struct pmuctl_reading reading;

		/* Enabled or not, a child's instructions are not the parent's. */
		pmuctl_event_enable(event);
		loop(ROUNDS);
		pmuctl_event_disable(event);
		_exit(pmuctl_event_read(event, &reading) == 0 &&
		      reading.value >= counted &&
		      reading.value < counted + 2 * ROUNDS ? 0 : 1);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	pmuctl_event_close(event);
}

Test(lib_count, another_task_is_counted_and_its_end_is_told)
{
	struct pollfd wait;
	struct pmuctl_event *event;
	int go[2];
	pid_t child;
	char byte;

	cr_assert_eq(pipe(go), 0);
	child = fork();
	if (child == 0) {
		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		loop(ROUNDS);
		_exit(0);
	}
	event = open_for("instructions:u", child, -1);
	cr_assert_eq(pmuctl_event_enable(event), 0);
	wait = (struct pollfd){ .fd = pmuctl_event_fd(event) };
	cr_assert_eq(poll(&wait, 1, 0), 0);
	cr_assert_eq(write(go[1], "", 1), 1);
	cr_assert_eq(poll(&wait, 1, -1), 1);
	cr_assert(wait.revents & POLLHUP);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	cr_assert_geq(read_now(event).value, 2 * ROUNDS);
	cr_assert_lt(read_now(event).value, 2 * ROUNDS + 100000);
	pmuctl_event_close(event);
}

/* ----------------------------------------------------------------- threads */

static void *thread_counts_itself(void *arg)
{
	struct pmuctl_event *event = open_for("instructions:u", 0, -1);
	uint64_t rounds = *(uint64_t *)arg, once, twice;

	count_loop(event, 10);
	once = count_loop(event, rounds);
	twice = count_loop(event, 2 * rounds);
	pmuctl_event_close(event);
	*(uint64_t *)arg = twice - once;
	return NULL;
}

Test(lib_count, threads_count_themselves_through_one_device)
{
	uint64_t rounds[4] = { 1000, 20000, 300000, 50 };
	uint64_t expected[4];
	pthread_t threads[4];

	for (int i = 0; i < 4; i++) {
		expected[i] = 2 * rounds[i];
		cr_assert_eq(pthread_create(&threads[i], NULL, thread_counts_itself,
					    &rounds[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		cr_assert_eq(pthread_join(threads[i], NULL), 0);
		cr_assert_eq(rounds[i], expected[i]);
	}
}

static void *thread_reads(void *arg)
{
	uint64_t last = 0;

	for (int i = 0; i < 200; i++) {
		struct pmuctl_reading reading;

		cr_expect_eq(pmuctl_event_read(arg, &reading), 0);
		cr_expect_geq(reading.value, last);
		last = reading.value;
	}
	return NULL;
}

Test(lib_count, many_threads_read_one_event)
{
	struct pmuctl_event *event = open_for("instructions:u", 0, -1);
	pthread_t threads[3];

	cr_assert_eq(pmuctl_event_enable(event), 0);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, thread_reads,
					    event), 0);
	loop(ROUNDS);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(pthread_join(threads[i], NULL), 0);
	cr_assert_geq(read_now(event).value, 2 * ROUNDS);
	pmuctl_event_close(event);
}

Test(lib_count, a_whole_cpu_counts_more_than_the_task)
{
	struct pmuctl_event *cpu = open_for("instructions", -1, 0);
	struct pmuctl_reading reading;

	cr_assert_eq(pmuctl_event_enable(cpu), 0);
	usleep(50000);
	cr_assert_eq(pmuctl_event_disable(cpu), 0);
	reading = read_now(cpu);
	cr_assert_gt(reading.value, 0);
	cr_assert_geq(reading.time_enabled, 50000000);
	pmuctl_event_close(cpu);
}
