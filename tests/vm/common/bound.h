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

void set_limit(const char *limit, long max);
void set_default_limits(void);

/* ---- In the user's process ---- */

void die(const char *what);
void die_if(bool failed, const char *what);
void tell(int link, pid_t pid);
void await(int link);
struct perf_event_attr dummy(void);
void open_many(struct perf_event_attr attr, pid_t pid, unsigned int flags,
	       unsigned int n);

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

void become_ordinary(void);
void attack(const struct attack *a, int link);

/* ---- In the test's ---- */

/*
 * A process that attacks, on the CPU of its caller; hear() tells whose work it does, let_go() has it
 * do that, hear() says that it is done, and attack_end() ends it.
 */
pid_t attack_start(const struct attack *a, int *link);
void attack_end(pid_t user, int link);

pid_t hear(int link);
void let_go(int link);

/* Calls of functions by other CPUs that a CPU has had */
uint64_t calls_of_cpu(int cpu);

/*
 * Not each of @loops called the CPU, which had @calls meanwhile: there are others, but fewer. In
 * a kernel that checks itself there are more, by the time that it takes: none are expected.
 */
void expect_calls_of_others(const char *what, uint64_t calls, unsigned int loops);

#endif /* VM_BOUND_H */
