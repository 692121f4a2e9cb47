// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readers that are killed at any moment: when they are gone nothing of theirs is left,
 * neither memory, nor their user's part of the allowance, nor events. With
 * SAMPLING_STRESS a thousand of them.
 */
#include "memory.h"
#include "module.h"

TestSuite(ring_kill, .init = allow_users, .fini = forbid_users, .timeout = 3000);

#define RING_PAGES	32
#define EVENTS		4

static void *sampled(void *arg)
{
	(void)arg;
	for (;;)
		user_loop(100000);
	return NULL;
}

/* All that a profiler does, over and over, until it is killed */
static void profile(void)
{
	struct perf_event_attr attr = sampling_attr(5000);
	struct rlimit locked = { 1000 * PAGE, 1000 * PAGE };
	struct tally t = { 0 };
	struct ring r[EVENTS];
	pthread_t thread;
	int fd[EVENTS];

	if (setrlimit(RLIMIT_MEMLOCK, &locked) || raw_become(RAW_USER) ||
	    pthread_create(&thread, NULL, sampled, NULL))
		_exit(1);
	for (;;) {
		for (int i = 0; i < EVENTS; i++) {
			fd[i] = event_open(attr);
			if (i != 2)
				ring_map(&r[i], fd[i], RING_PAGES);
			else
				ioctl(fd[2], PERF_EVENT_IOC_SET_OUTPUT, (long)fd[0]);
			event_ioctl(fd[i], PERF_EVENT_IOC_ENABLE);
		}
		user_loop(100000);
		for (int i = 0; i < EVENTS; i++) {
			if (i != 2) {
				tally_ring(&attr, &r[i], &t);
				ring_unmap(&r[i]);
			}
			close(fd[i]);
		}
	}
}

static void kill_one(unsigned int *seed)
{
	int status, ready[2];
	pid_t child;
	char byte;

	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	child = fork_child();
	if (!child) {
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		profile();
	}
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	usleep(rand_r(seed) % 20000);
	kill(child, SIGKILL);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%#x", status);
	close(ready[0]);
	close(ready[1]);
}

/* Of a thousand, a ring's descriptor alone is 200 KiB, one ring of each 128 MiB. */
#define SLAB_KB_MAX	400
#define FREE_KB_MAX	3000

struct memory {
	long slab, free;
};

static struct memory measure(void)
{
	raw_write_file("/proc/sys/vm/drop_caches", "3");
	return (struct memory){ meminfo("Slab"), free_memory() };
}

static bool has_grown(const struct memory *before, const struct memory *after)
{
	return after->slab - before->slab >= SLAB_KB_MAX ||
		before->free - after->free >= FREE_KB_MAX;
}

/* What is freed with a delay has come back when this returns, if it ever does. */
static struct memory measure_later(const struct memory *before)
{
	struct memory after = measure();

	for (int i = 0; i < 100 && has_grown(before, &after); i++) {
		sleep_ms(100);
		after = measure();
	}
	return after;
}

Test(ring_kill, nothing_is_left_of_killed_readers)
{
	int times = is_stress() ? 1000 : 50;
	struct memory before, after;
	unsigned int seed = 1;

	for (int i = 0; i < 10; i++) /* what is allocated once */
		kill_one(&seed);
	sleep_ms(500);
	/* The kernel keeps pages for itself now and then; a leak shows each time. */
	for (int tries = 0; tries < 5; tries++) {
		before = measure();
		for (int i = 0; i < times; i++)
			kill_one(&seed);
		after = measure_later(&before);
		if (!has_grown(&before, &after))
			break;
	}
	cr_expect_lt(after.slab - before.slab, SLAB_KB_MAX, "slabs %+ld KiB",
		     after.slab - before.slab);
	cr_expect_lt(before.free - after.free, FREE_KB_MAX, "memory %+ld KiB",
		     after.free - before.free);
	check_given_back(50 * PAGE, free_pages() + 50, "killed readers");
	if (!is_witness())
		cr_expect_eq(module_info().hw_events, 0);
}
