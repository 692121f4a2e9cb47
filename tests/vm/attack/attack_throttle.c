// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user whose cgroup puts him to sleep in the middle of an allocation: nobody else waits for him.
 * Whoever is seen asleep there still is when others have done the same.
 */
#include "perm.h"
#include "sampling.h"
#include "throttle.h"

/* With an event for each he is put to sleep, too */
#define THREADS		2000

TestSuite(attack_throttle, .init = cgroup_make, .fini = cgroup_remove);

/* ---- Buffers ---- */

static struct perf_event_attr user_faults(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	attr.sample_period = 1000;
	return attr;
}

static void map_large(void)
{
	struct perf_event_attr attr = user_faults();
	AUTO_CLOSE int fd = event_try(attr);
	struct ring ring;

	die_if(fd < 0, "open");
	die_if(ring_try_map(&ring, fd, PAGES_SLOW, PROT_READ | PROT_WRITE) != 0, "mmap");
	munmap(ring.page, ring.length);
}

static void map_small(void)
{
	struct perf_event_attr attr = user_faults();
	AUTO_CLOSE int fd = event_open(attr);
	struct ring ring;

	ring_map(&ring, fd, 1);
	ring_unmap(&ring);
}

Test(attack_throttle, nobody_waits_for_a_buffer_of_somebody_else)
{
	pid_t user = slow_start(NULL, map_large);

	cr_expect(others_go_on(user, "ring_alloc", map_small));
	raw_reap(user);
}

/* ---- Events of processes ---- */

static void *asleep(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void start_threads(void)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	for (int i = 0; i < THREADS; i++)
		die_if(pthread_create(&thread, &small, asleep, NULL) != 0, "pthread_create");
}

static void count_process(void)
{
	struct perf_event_attr attr = dummy();
	int fd;

	attr.inherit = 1;
	fd = event_try(attr, .flags = PMUCTL_OPEN_PROCESS);
	die_if(fd < 0, "open");
	close(fd);
}

static void count_itself(void)
{
	struct perf_event_attr attr = dummy();

	close(event_open(attr));
}

Test(attack_throttle, nobody_waits_for_an_event_of_somebody_elses_process)
{
	pid_t user = slow_start(start_threads, count_process);

	cr_expect(others_go_on(user, "pmuctl_event_blank", count_itself));
	raw_reap(user);
}
