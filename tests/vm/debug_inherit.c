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

/*
 * What children count in each round: their loop, nothing if there was no memory, or no child.
 * The sum is right whenever the module does not say that something lacks.
 */
static void check_calls(int (*call)(void *arg), struct perf_event_attr attr, int group)
{
	int fd[2] = { group_open(attr, -1) };
	unsigned int lacking = 0, failed = 0, nth;
	enum fault fault = MEMORY;

	fd[1] = group_open(attr, group ? fd[0] : -1);
	for (nth = 1; fault != NONE && nth < FAULTS_MAX; nth++) {
		uint64_t before[2] = { event_value(fd[0]), event_value(fd[1]) };
		uint32_t lacked = not_inherited();
		int ret = with_fault(nth, call, NULL, &fault);
		unsigned int counted = 0;

		for (int i = 0; i < 2; i++)
			counted += event_value(fd[i]) - before[i] >= N * LOOP_INSTRUCTIONS;
		lacked = not_inherited() - lacked;
		failed += ret < 0;
		lacking += lacked > 0;
		if (ret)
			cr_assert_eq(counted, 0, "fault %u: %d, but counted", nth, ret);
		else if (lacked)
			cr_assert_lt(counted, 2, "fault %u", nth);
		else
			cr_assert_eq(counted, 2, "fault %u: %u counted, and none lacks", nth,
				     counted);
	}
	cr_assert_lt(nth, FAULTS_MAX);
	cr_expect_gt(failed, 0, "no fork failed");
	/* Forks do not allocate the same each time, so one of ours may be skipped. */
	cr_expect_geq(lacking, 1, "it was never told");
	close(fd[1]);
	close(fd[0]);
	cr_expect_eq(raw_info().hw_events, 0);
	printf("%u places: %u failed, %u were not counted\n", nth - 2, failed, lacking);
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
