/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of limits, and of what is bounded by them: the limits, and processes of an
 * ordinary user, which assert nothing but end.
 */
#ifndef VM_BOUND_H
#define VM_BOUND_H

#include "loops.h"

#include <sys/resource.h>
#include <sys/socket.h>

#define PER_CONTEXT	"/sys/module/pmuctl/parameters/max_events_per_context"
#define PER_USER	"/sys/module/pmuctl/parameters/max_events_per_user"
#define PER_CONTEXT_DEFAULT	512
#define PER_USER_DEFAULT	16384

/* ---- Limits ---- */

static inline void set_limit(const char *limit, long max)
{
	cr_assert_eq(raw_write_number(limit, max), 0);
}

static inline void set_default_limits(void)
{
	set_limit(PER_CONTEXT, PER_CONTEXT_DEFAULT);
	set_limit(PER_USER, PER_USER_DEFAULT);
}

/* ---- In the user's process ---- */

static inline void die(const char *what)
{
	fprintf(stderr, "%s: %m: %s\n", what, event_why.sentence);
	_exit(1);
}

static inline void die_if(bool failed, const char *what)
{
	if (failed)
		die(what);
}

static inline void tell(int link, pid_t pid)
{
	die_if(write(link, &pid, sizeof(pid)) != sizeof(pid), "write");
}

static inline void await(int link)
{
	pid_t pid;

	die_if(read(link, &pid, sizeof(pid)) != sizeof(pid), "read");
}

static inline struct perf_event_attr dummy(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	attr.exclude_kernel = 1;
	return attr;
}

static inline void open_many(struct perf_event_attr attr, pid_t pid, unsigned int flags,
			     unsigned int n)
{
	while (n--)
		die_if(event_try_in_group(&attr, pid, -1, -1, flags) < 0, "open");
}

/**
 * struct attack - what a user does
 * @prepare: opens @n events; returns the task of which the work is counted.
 * @work: what is counted.
 * @n: how many.
 */
struct attack {
	pid_t (*prepare)(unsigned int n);
	void (*work)(void);
	unsigned int n;
};

static inline void become_ordinary(void)
{
	struct rlimit files = { 65536, 65536 };

	die_if(setrlimit(RLIMIT_NOFILE, &files), "setrlimit");
	die_if(setrlimit(RLIMIT_NPROC, &files), "setrlimit");
	die_if(raw_become(RAW_USER), "setresuid");
	die_if(prctl(PR_SET_DUMPABLE, 1), "prctl");
}

static inline void attack(const struct attack *a, int link)
{
	become_ordinary();
	tell(link, a->prepare(a->n));
	await(link);
	a->work();
	tell(link, 0);
	await(link);
	_exit(0);
}

/* ---- In the test's ---- */

static inline pid_t hear(int link)
{
	pid_t pid;

	cr_assert_eq(read(link, &pid, sizeof(pid)), (ssize_t)sizeof(pid), "the user has ended");
	return pid;
}

static inline void let_go(int link)
{
	pid_t pid = 0;

	cr_assert_eq(write(link, &pid, sizeof(pid)), (ssize_t)sizeof(pid));
}

#endif /* VM_BOUND_H */
