/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of which one allocation, or one copy from or to user space, fails: for tests in
 * a kernel with fault injection (the laboratory's debug kernel).
 */
#ifndef TESTS_VM_FAULTS_H
#define TESTS_VM_FAULTS_H

#include "raw.h"

#include <criterion/criterion.h>
#include <sys/rseq.h>

#define FAULTS_DIR	"/sys/kernel/debug/"
#define FAULTS_MAX	2000	/* no call of ours has that many places to fail */

#define FAULTS_NO_MEMORY \
	"the kernel has no memory left for the event: close other events or free memory"

/* Where a fault was: none, an allocation, a copy from or to user space */
enum fault { NONE, MEMORY, COPY };

void faults_configure(const char *path, const char *text);

/* Any allocation may fail, and the kernel log tells in one line which one did. */
void faults_set_up(void);

/* Make the nth thing that can fail in @call fail; what @call returned, and what it was. */
int with_fault(unsigned int nth, int (*call)(void *arg), void *arg,
	       enum fault *fault);

/*
 * The same, but in what the kernel's workers do for the call, as far as there are any already; who
 * else they work for may be hit instead.
 */
int with_worker_fault(unsigned int nth, int (*call)(void *arg), void *arg,
		      enum fault *fault);

/*
 * Is it over, as nothing was left to fail some times in a row? The kernel's own checks
 * allocate something now and then, so a call has not as many places each time.
 */
#define FAULTS_NONE	5

bool faults_over(enum fault fault);

/* Nothing is open, nobody has the PMU, and no descriptor is in use but @nr_fds. */
void faults_left_nothing(int nr_fds, unsigned int nth);

#endif /* TESTS_VM_FAULTS_H */
