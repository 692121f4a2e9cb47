// SPDX-License-Identifier: GPL-2.0-only
#include "busy.h"

/* The observer sees between ENABLE and DISABLE exactly the bracket. */
static void *busy_thread(void *arg)
{
	struct perf_event_attr attr = instructions_u();
	struct busy *b = arg;

	if (b->cpu >= 0)
		pin_here(b->cpu);
	attr.disabled = 1;
	b->fd = event_open(attr);
	__atomic_store_n(&b->tid, gettid(), __ATOMIC_RELEASE);
	while (!b->go)
		usleep(1000);
	bracket(b->fd, b->rounds);
	b->done = true;
	while (!b->leave)
		usleep(1000);
	return NULL;
}

void busy_start(struct busy *b, uint64_t rounds, int cpu)
{
	memset(b, 0, sizeof(*b));
	b->rounds = rounds;
	b->cpu = cpu;
	cr_assert_eq(pthread_create(&b->thread, NULL, busy_thread, b), 0);
	while (!__atomic_load_n(&b->tid, __ATOMIC_ACQUIRE))
		usleep(1000);
}

void busy_check(struct busy *b)
{
	b->leave = true;
	pthread_join(b->thread, NULL);
	cr_expect_eq(event_value(b->fd), bracket_instructions(b->rounds),
		     "%ld too many",
		     (long)(event_value(b->fd) - bracket_instructions(b->rounds)));
	close(b->fd);
}
