/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of counting: a thread that is busy without a pause while its
 * instructions are counted, so that others can disturb it meanwhile.
 */
#ifndef VM_BUSY_H
#define VM_BUSY_H

#include "loops.h"

/**
 * struct busy - a thread that executes one bracket() when it is told to
 * @thread: the thread.
 * @tid: its id.
 * @fd: its event of user instructions, opened by itself, disabled.
 * @rounds: of the loop.
 * @cpu: it stays on this CPU; -1: on any.
 * @go: set it to let it begin.
 * @done: the bracket is closed; the thread still lives, so that it can be moved.
 * @leave: it may end now.
 */
struct busy {
	pthread_t thread;
	pid_t tid;
	int fd;
	uint64_t rounds;
	int cpu;
	volatile bool go;
	volatile bool done;
	volatile bool leave;
};

/* The observer sees between ENABLE and DISABLE exactly the bracket. */
static void *busy_thread(void *arg)
{
	struct perf_event_attr attr = instructions_u();
	struct busy *b = arg;

	if (b->cpu >= 0)
		pin_here(b->cpu);
	attr.disabled = 1;
	b->fd = event_open(&attr, 0, -1);
	__atomic_store_n(&b->tid, gettid(), __ATOMIC_RELEASE);
	while (!b->go)
		usleep(1000);
	bracket(b->fd, b->rounds);
	b->done = true;
	while (!b->leave)
		usleep(1000);
	return NULL;
}

static inline void busy_start(struct busy *b, uint64_t rounds, int cpu)
{
	memset(b, 0, sizeof(*b));
	b->rounds = rounds;
	b->cpu = cpu;
	cr_assert_eq(pthread_create(&b->thread, NULL, busy_thread, b), 0);
	while (!__atomic_load_n(&b->tid, __ATOMIC_ACQUIRE))
		usleep(1000);
}

static inline void busy_check(struct busy *b)
{
	b->leave = true;
	pthread_join(b->thread, NULL);
	cr_expect_eq(event_value(b->fd), bracket_instructions(b->rounds),
		     "%ld too many",
		     (long)(event_value(b->fd) - bracket_instructions(b->rounds)));
	close(b->fd);
}

#endif /* VM_BUSY_H */
