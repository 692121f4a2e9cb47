/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of inheritance: a pair of events that tells children from their parent, and
 * ways to make children.
 */
#ifndef VM_FAMILY_H
#define VM_FAMILY_H

#include "groups.h"
#include "raw.h"

#define EXEC_PROGRAM	"/pmuctl/tests/prog/count-exec"

static inline struct perf_event_attr inherited(struct perf_event_attr attr)
{
	attr.inherit = 1;
	return attr;
}

/**
 * struct pair - two events of this task
 * @own: of this task alone.
 * @all: of its children too.
 */
struct pair {
	int own;
	int all;
};

static inline struct pair pair_open(struct perf_event_attr all)
{
	struct pair p = {
		.own = group_open(instructions_u(), -1),
		.all = group_open(all, -1),
	};

	return p;
}

static inline void pair_close(const struct pair *p)
{
	close(p->all);
	close(p->own);
}

/*
 * Only differences of what this gives mean something. What is between the two reads must be
 * the same code each time.
 */
static __attribute__((noinline, unused)) uint64_t of_children(const struct pair *p)
{
	uint64_t all = event_value(p->all);

	return all - event_value(p->own);
}

/* ---- Ways to make children ---- */

static inline void reap(pid_t child)
{
	int status;

	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0, "a child ended with status %#x", status);
}

static inline void by_fork(uint64_t rounds)
{
	pid_t child = fork();

	if (!child) {
		user_loop(rounds);
		_exit(0);
	}
	reap(child);
}

/* Two loops: its own and its child's */
static inline void by_fork_twice(uint64_t rounds)
{
	pid_t child = fork();

	if (!child) {
		by_fork(rounds);
		user_loop(rounds);
		_exit(0);
	}
	reap(child);
}

static inline void *loop_thread(void *rounds)
{
	user_loop((uintptr_t)rounds);
	return NULL;
}

static inline void by_thread(uint64_t rounds)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, loop_thread, (void *)rounds), 0);
	cr_assert_eq(pthread_join(thread, NULL), 0);
}

/* @rounds arguments, the program's name among them */
static inline void by_vfork_and_exec(uint64_t rounds)
{
	static char *args[16], *none[1];
	pid_t child;

	cr_assert_lt(rounds, RAW_ARRAY_SIZE(args));
	for (uint64_t i = 0; i < RAW_ARRAY_SIZE(args); i++)
		args[i] = i < rounds ? EXEC_PROGRAM : NULL;
	child = vfork();
	if (!child) {
		execve(EXEC_PROGRAM, args, none);
		_exit(1);
	}
	reap(child);
}

/* What @n children count, and something that is the same for any number of them */
static __attribute__((noinline, unused)) uint64_t cost(const struct pair *p, void (*make)(uint64_t), unsigned int n,
		     uint64_t rounds)
{
	uint64_t before = of_children(p);

	while (n--)
		make(rounds);
	return of_children(p) - before;
}

#endif /* VM_FAMILY_H */
