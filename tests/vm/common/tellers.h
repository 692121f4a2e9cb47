/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Side-band records beside the kernel's own: an event of perf that counts nothing and an
 * event of ours are told of the same task, and must be told the same in the same order.
 * Times and the ids of the events differ, and so does nothing else.
 */
#ifndef VM_TELLERS_H
#define VM_TELLERS_H

#include "side.h"

/* One of the two, and its ring */
struct teller {
	const char *name;
	struct perf_event_attr attr;
	int fd;
	struct ring ring;
};

/* perf's, which is opened first, and ours: of @pid on @cpu, as event_open() has it */
void tellers_open(struct teller both[2], const struct perf_event_attr *attr, pid_t pid, int cpu);
void tellers_close(struct teller both[2]);

/**
 * tellers_run() - compare what both are told of a child that does something
 * @attr: of both.
 * @of: the task that they are of; 0: the child.
 * @cpu: their CPU, or -1.
 * @work: what the child does, on CPU 0; returns 0 if it succeeded.
 * @arg: its argument.
 *
 * Return: how many records there were.
 */
unsigned int tellers_run(const struct perf_event_attr *attr, pid_t of, int cpu,
			 int (*work)(void *), void *arg);

#endif /* VM_TELLERS_H */
