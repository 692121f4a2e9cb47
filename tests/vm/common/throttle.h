/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of memory that a cgroup makes its user wait for: who has more than memory.high is
 * put to sleep for up to two seconds in the middle of an allocation, again and again. Any user may
 * have such a cgroup.
 */
#ifndef VM_THROTTLE_H
#define VM_THROTTLE_H

#include "bound.h"

#include <sys/mount.h>
#include <sys/stat.h>

#define CGROUPS		"/tmp/attack-throttle"
#define CGROUP		CGROUPS "/slow"
#define TRIES		5
/* Enough for somebody who allocates them to be put to sleep several times */
#define PAGES_SLOW	512

void cgroup_make(void);
void cgroup_remove(void);

/* A user in that cgroup, who does something again and again after he has prepared it elsewhere */
pid_t slow_start(void (*prepare)(void), void (*func)(void));

/* He may always be about to wake up: so several times. Has he slept all the while once? */
bool others_go_on(pid_t user, const char *function, void (*others)(void));

#endif /* VM_THROTTLE_H */
