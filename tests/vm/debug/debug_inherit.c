// SPDX-License-Identifier: GPL-2.0-only
/*
 * What comes of a fork in which an allocation fails, the first one, then only the second, and
 * so on. The kernel's own make the fork fail; ours do not: then the child is not counted, and that
 * is told. Nothing is left behind: kmemleak looks at the end of the run. Needs a kernel with
 * fault injection (the laboratory's debug kernel).
 */
#include "faults.h"
#include "family.h"

/* More than this task executes between two reads */
#define N	1000000ull

TestSuite(debug_inherit, .init = faults_set_up);

static uint32_t not_inherited(void)
{
	return raw_info().not_inherited;
}

/* The child loops; 0, or -errno of the fork. */
static int call_fork(void *arg)
{
	pid_t child = fork();

	(void)arg;
	if (!child) {
		user_loop(N);
		_exit(0);
	}
	if (child < 0)
		return -errno;
	reap(child);
	return 0;
}

static int call_thread(void *arg)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, loop_thread, (void *)N);

	(void)arg;
	if (err)
		return -err;
	return -pthread_join(thread, NULL);
}

/**
 * struct sweep - faults one after the other
 * @call: makes a child.
 * @fd: two events that it inherits.
 * @failed: how often there was no child.
 * @last_failed: with which fault that was last.
 * @lacking: how often the module said that a child lacked an event.
 */
struct sweep {
	int (*call)(void *arg);
	int fd[2];
	unsigned int failed, last_failed, lacking;
};

/*
 * What a child counts: its loop; nothing if there was no memory for it, or no child. The sum is
 * right whenever the module does not say that something lacks.
 */
static enum fault check_fault(struct sweep *s, unsigned int nth)
{
	uint64_t before[2] = { event_value(s->fd[0]), event_value(s->fd[1]) };
	uint32_t lacked = not_inherited();
	unsigned int counted = 0;
	enum fault fault;
	int ret = with_fault(nth, s->call, NULL, &fault);

	for (int i = 0; i < 2; i++)
		counted += event_value(s->fd[i]) - before[i] >= N * LOOP_INSTRUCTIONS;
	lacked = not_inherited() - lacked;
	s->lacking += lacked > 0;
	if (ret) {
		s->failed++;
		s->last_failed = nth;
		cr_assert_eq(counted, 0, "fault %u: %d, but counted", nth, ret);
	} else if (lacked) {
		cr_assert_lt(counted, 2, "fault %u", nth);
	} else {
		cr_assert_eq(counted, 2, "fault %u: %u counted, and none lacks", nth,
			     counted);
	}
	return fault;
}

#define NEAR	8	/* how much the number of allocations of a fork differs */
#define TRIES	200

static void check_calls(int (*call)(void *arg), struct perf_event_attr attr, bool group)
{
	struct sweep s = { .call = call };
	unsigned int nth = 1;

	s.fd[0] = event_open(attr);
	s.fd[1] = event_open(attr, .group = group ? s.fd[0] : -1);
	while (check_fault(&s, nth) != NONE && nth < FAULTS_MAX)
		nth++;
	cr_assert_lt(nth, FAULTS_MAX);
	cr_expect_gt(s.failed, 0, "no fork failed");
	/* Ours come after the kernel's own; counting on may have skipped them. */
	for (unsigned int i = 0; !s.lacking && i < TRIES; i++)
		check_fault(&s, s.last_failed + 1 + i % NEAR);
	cr_expect_gt(s.lacking, 0, "it was never told");
	close(s.fd[1]);
	close(s.fd[0]);
	cr_expect_eq(raw_info().hw_events, 0);
	printf("%u places: %u failed, %u were not counted\n", nth - 1, s.failed, s.lacking);
}

Test(debug_inherit, of_forks)
{
	check_calls(call_fork, inherited(instructions_u()), false);
}

Test(debug_inherit, of_forks_with_a_group)
{
	check_calls(call_fork, inherited(instructions_u()), true);
}

Test(debug_inherit, of_threads_of_an_event_that_samples)
{
	struct perf_event_attr attr = inherited(instructions_u());

	attr.sample_period = 1000000007;
	check_calls(call_thread, attr, false);
}
