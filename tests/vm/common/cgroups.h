/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cgroups for the tests of their events: a hierarchy of cgroup2 of the test's own, in which perf's
 * controller is as soon as another one is enabled.
 */
#ifndef VM_CGROUPS_H
#define VM_CGROUPS_H

#include "loops.h"

#define CGROUP_ROOT	"/tmp/cgroups"

/* Mount the hierarchy, and enable a controller; unmount it when the test has ended. */
void cgroups_begin(void);
void cgroups_end(void);

/* Make one: its path, below the root ("a", "a/b"); and a descriptor of its directory. */
void cgroup_add(const char *path);
void cgroup_del(const char *path);
int cgroup_fd(const char *path);

/* Put a task, and all its threads, into one; "" is the root. */
void cgroup_put(const char *path, pid_t pid);

/**
 * struct counting - who opens the events of a test
 * @name: for messages.
 * @try: an event of a cgroup on a CPU: a descriptor, or -errno.
 */
struct counting {
	const char *name;
	int (*try)(const struct perf_event_attr *attr, int cgroup, int cpu, int group);
};

extern const struct counting counting_ours, counting_perfs;

/* An event of the cgroup with this path */
int cgroup_event(const struct counting *by, const struct perf_event_attr *attr,
		 const char *path, int cpu);

#endif /* VM_CGROUPS_H */
