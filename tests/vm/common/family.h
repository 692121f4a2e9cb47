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

struct perf_event_attr inherited(struct perf_event_attr attr);

/**
 * struct pair - two events of this task
 * @own: of this task alone.
 * @all: of its children too.
 */
struct pair {
	int own;
	int all;
};

struct pair pair_open(struct perf_event_attr all);
void pair_close(const struct pair *p);

/*
 * Only differences of what this gives mean something. What is between the two reads must be
 * the same code each time.
 */
uint64_t of_children(const struct pair *p);

/* ---- Ways to make children ---- */

void reap(pid_t child);
void by_fork(uint64_t rounds);

/* Two loops: its own and its child's */
void by_fork_twice(uint64_t rounds);

void *loop_thread(void *rounds);
void by_thread(uint64_t rounds);

/* @rounds arguments, the program's name among them */
void by_vfork_and_exec(uint64_t rounds);

/* What @n children count, and something that is the same for any number of them */
uint64_t cost(const struct pair *p, void (*make)(uint64_t), unsigned int n,
	      uint64_t rounds);

#endif /* VM_FAMILY_H */
