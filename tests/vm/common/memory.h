/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of rings: how much memory a user may lock with them.
 */
#ifndef VM_MEMORY_H
#define VM_MEMORY_H

#include "records.h"

#include <sys/resource.h>

void set_paranoid(long level);

/* As long as a user has a process the kernel remembers what he has locked: what is not
 * given back shows.
 */
pid_t user_stays(void);

/* Any rate, and level 1, with a process of the user's; and as it was */
void allow_users(void);
void forbid_users(void);

/* Become @uid, and map rings until it is refused: how many pages, negative on failure */
#define TAKE_PAGES	(1 + 8)
#define RINGS_MAX	4000

long take_all(uid_t uid, rlim_t locked_bytes);

enum end { EXITS, IS_KILLED, EXECS };

/* A child that holds all it can get, until it is told to end */
struct holder {
	pid_t pid;
	int tell;
	long taken;
};

void hold(uid_t uid, rlim_t locked_bytes, enum end end, const int *up,
	  const int *down);
struct holder holder_start(uid_t uid, rlim_t locked_bytes, enum end end);
long holder_end(struct holder *h, enum end end);
long child_takes_all(uid_t uid, rlim_t locked_bytes, enum end end);

/* Without a limit of locked memory, the free allowance: 516 KiB for each CPU, in pages */
long free_pages(void);

/* No more rings than fit, and not one less */
void check_taken(long taken, long allowed, const char *what);

/* Memory is freed a moment after its process is gone. */
void check_given_back(rlim_t locked_bytes, long allowed, const char *what);

/* What is free without what the kernel keeps to be quicker, in KiB */
long free_kib(void);

/* Pages that a pipe takes, and pipes: with them somebody holds 512 KiB. */
#define PIPE_PAGES	16
#define PIPES		8

/*
 * How many KiB less are free while each of PIPES pipes has what @give, called with its writing end,
 * has given it; the least of some tries, as the kernel keeps pages for itself now and then.
 */
long kept_in_pipes(void (*give)(int to, pid_t pid), pid_t pid);

#endif /* VM_MEMORY_H */
