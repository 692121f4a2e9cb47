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

void busy_start(struct busy *b, uint64_t rounds, int cpu);
void busy_check(struct busy *b);

#endif /* VM_BUSY_H */
