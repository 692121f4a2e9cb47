/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fixture of tests that open events: one opener for all, and descriptors that close by
 * themselves.
 *
 *	int fd = event_open(instructions_u());			of this task, on any CPU
 *	AUTO_CLOSE int other = event_open(attr, pid, cpu, .group = fd);
 *
 * What a test does not close its end does: each is a process of its own, and the kernel closes
 * all that it has open, before the next one begins. So a test closes nothing at its end, and
 * says nothing about descriptors that are not its subject. What must be closed before, as a
 * helper or a round of a loop opens it for itself, is AUTO_CLOSE: that is to the end of its
 * block. close() is for what a test is about: that it happens there, and in this order.
 *
 * raw_open() is below: it opens with exactly the flags that it is given, asserts nothing, and
 * is for tests of the ABI itself, for programs without Criterion, and for other processes
 * than the test's. What is refused, and how, is checked by refusal.h.
 */
#ifndef VM_EVENT_H
#define VM_EVENT_H

#include "raw.h"

#include <criterion/criterion.h>

/* The values of struct event_target that are not named */
#pragma GCC diagnostic ignored "-Woverride-init"

/* A variable's descriptor is open until the end of the block; -errno and -1 are none. */
#define AUTO_CLOSE	__attribute__((cleanup(close_descriptor)))

void close_descriptor(const int *fd);

/**
 * struct event_target - what an event is opened for
 * @flags: of the open, besides PERF_FLAG_FD_CLOEXEC.
 * @tracepoint: its name, if the event is one.
 * @group: the leader's descriptor; -1: it is alone.
 * @pid: a task; 0: this one, -1: whatever runs on the CPU.
 * @cpu: where it counts; -1: on any.
 *
 * The last two come as in perf_event_open(2), without a name; the others by name.
 */
struct event_target {
	unsigned int flags;
	const char *tracepoint;
	int group;
	pid_t pid;
	int cpu;
};

#define EVENT_TARGET(...)	((struct event_target){ .cpu = -1, .group = -1, ##__VA_ARGS__ })

static inline const void *attr_itself(const void *attr)
{
	return attr;
}

static inline const void *attr_pointed_to(const void *pointer)
{
	return *(const void *const *)pointer;
}

/* The address of an attr: it may be given as a structure, or by a pointer to one. */
#define ATTR_OF(attr)	_Generic((attr),				\
	struct perf_event_attr: attr_itself,				\
	union raw_attr: attr_itself,					\
	default: attr_pointed_to)((typeof(attr)[]){ attr })

/* The refusal of the last open of this thread */
extern __thread struct pmuctl_explanation event_why;

/* Is this a run of the kernel's own perf? Then that opens the events. */
bool is_witness(void);

/* Returns a descriptor, or -errno with event_why filled if it is ours. The device is not left open. */
#define event_try(attr, ...)	event_try_for(ATTR_OF(attr), EVENT_TARGET(__VA_ARGS__))

/* The same, but a refusal ends the test. */
#define event_open(attr, ...)	event_open_for(ATTR_OF(attr), EVENT_TARGET(__VA_ARGS__))

int event_try_for(const void *attr, struct event_target target);
int event_open_for(const void *attr, struct event_target target);

#endif /* VM_EVENT_H */
