// SPDX-License-Identifier: GPL-2.0-only
#include "family.h"

struct perf_event_attr inherited(struct perf_event_attr attr)
{
	attr.inherit = 1;
	return attr;
}

struct pair pair_open(struct perf_event_attr all)
{
	struct pair p = {
		.own = event_open(instructions_u()),
		.all = event_open(all),
	};

	return p;
}

void pair_close(const struct pair *p)
{
	close(p->all);
	close(p->own);
}

uint64_t of_children(const struct pair *p)
{
	uint64_t all = event_value(p->all);

	return all - event_value(p->own);
}

/* ---- Ways to make children ---- */

void reap(pid_t child)
{
	int status;

	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0, "a child ended with status %#x", status);
}

void by_fork(uint64_t rounds)
{
	pid_t child = fork();

	if (!child) {
		user_loop(rounds);
		_exit(0);
	}
	reap(child);
}

void by_fork_twice(uint64_t rounds)
{
	pid_t child = fork();

	if (!child) {
		by_fork(rounds);
		user_loop(rounds);
		_exit(0);
	}
	reap(child);
}

void *loop_thread(void *rounds)
{
	user_loop((uintptr_t)rounds);
	return NULL;
}

void by_thread(uint64_t rounds)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, loop_thread, (void *)rounds), 0);
	cr_assert_eq(pthread_join(thread, NULL), 0);
}

void by_vfork_and_exec(uint64_t rounds)
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

uint64_t cost(const struct pair *p, void (*make)(uint64_t), unsigned int n,
	      uint64_t rounds)
{
	uint64_t before = of_children(p);

	while (n--)
		make(rounds);
	return of_children(p) - before;
}
