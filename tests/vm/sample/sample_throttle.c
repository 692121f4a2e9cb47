// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that are throttled: between the two records that tell of it there are no samples,
 * whether their task runs on meanwhile or leaves the CPU and comes back.
 */
#include "records.h"

#define PERIOD	1000
#define TIMES	5

static void limit(void)
{
	set_max_rate(1);
}

TestSuite(sample_throttle, .init = limit, .fini = sampling_fini);

/**
 * struct told - what the records have said
 * @samples: how many there were, and likewise @throttled and @unthrottled.
 */
struct told {
	uint64_t samples, throttled, unthrottled;
};

static void look(struct ring *r, struct told *t)
{
	struct perf_event_header *header;

	while ((header = ring_next(r))) {
		switch (header->type) {
		case PERF_RECORD_SAMPLE:
			cr_assert_eq(t->throttled, t->unthrottled, "a sample while throttled");
			t->samples++;
			break;
		case PERF_RECORD_THROTTLE:
			cr_assert_eq(t->throttled, t->unthrottled);
			t->throttled++;
			break;
		case PERF_RECORD_UNTHROTTLE:
			cr_assert_eq(t->throttled, t->unthrottled + 1);
			t->unthrottled++;
			break;
		default:
			cr_assert_fail("a record of type %u", header->type);
		}
	}
}

static void check_throttled(void (*work)(void))
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	struct told t = { 0 };
	struct ring r;
	int fd;

	pin_here(0);
	fd = event_open(attr);
	ring_map(&r, fd, 8);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	while (t.unthrottled < TIMES) {
		work();
		look(&r, &t);
	}
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	look(&r, &t);
	cr_expect_geq(t.samples, t.throttled);
	ring_unmap(&r);
	close(fd);
}

static void loop(void)
{
	user_loop(10 * PERIOD);
}

Test(sample_throttle, of_a_task_that_runs)
{
	check_throttled(loop);
}

/* To somebody on the same CPU, and back, a hundred times: less than a tick each */
static int there[2], back[2];

static void play(void)
{
	char byte = 0;

	for (unsigned int i = 0; i < 100; i++) {
		user_loop(PERIOD);
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			cr_assert_fail("%m");
	}
}

static void answer(void)
{
	char byte;

	if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
		_exit(1);
}

Test(sample_throttle, of_a_task_that_leaves_and_comes_back)
{
	pid_t pid;

	cr_assert_eq(pipe(there) | pipe(back), 0);
	pin_here(0);
	pid = raw_task(answer);
	check_throttled(play);
	raw_reap(pid);
}
