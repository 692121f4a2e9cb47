// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user whose cgroup puts him to sleep in the middle of an allocation: nobody else waits for him.
 * Whoever is seen asleep there still is when others have done the same.
 */
#include "perm.h"
#include "sampling.h"
#include "throttle.h"
#include "tracepoint.h"

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

/* ---- Contexts of tasks ---- */

#define PROBE		TRACEFS "/events/kprobes/pmuctl_held"
#define TRACE		TRACEFS "/trace"
#define OPENS		5

/* Each time at which a task's context is got, and may be made: who has the lock then, or 0 */
static void probe_set(void)
{
	tracepoint_mount();
	cr_assert_eq(raw_write_file(TRACEFS "/kprobe_events",
				    "p:pmuctl_held pmuctl_context_get_task held=@pmuctl_mutex:u64"),
		     0);
	cr_assert_eq(raw_write_file(PROBE "/enable", "1"), 0);
}

static void probe_clear(void)
{
	raw_write_file(PROBE "/enable", "0");
	raw_write_file(TRACEFS "/kprobe_events", "-:pmuctl_held");
}

/* The task may end when it has a context already, so that another one is to be made: not there. */
Test(attack_throttle, no_context_is_made_while_others_wait_to_open)
{
	unsigned int hits = 0;
	char line[512], *held;
	FILE *f;

	probe_set();
	for (int i = 0; i < OPENS; i++)
		count_itself();
	f = fopen(TRACE, "re");
	cr_assert(f, "%m");
	while (fgets(line, sizeof(line), f)) {
		held = strstr(line, "held=");
		if (!held)
			continue;
		hits++;
		cr_expect_eq(strtoull(held + 5, NULL, 0), 0, "%s", line);
	}
	fclose(f);
	probe_clear();
	cr_expect_geq(hits, OPENS);
}
