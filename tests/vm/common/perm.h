/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for guest tests of permissions: the callers there are, and perf_event_open(2) as
 * a witness, with an event that needs no PMU.
 */
#ifndef TESTS_VM_PERM_H
#define TESTS_VM_PERM_H

#include "refusal.h"

#include <linux/capability.h>

#define PERM_PERF_PARANOID	"/proc/sys/kernel/perf_event_paranoid"

enum perm_caller {
	PERM_ROOT,
	PERM_USER,
	PERM_USER_PERFMON,	/* with CAP_PERFMON, and so on */
	PERM_USER_ADMIN,
	PERM_USER_PTRACE,
	PERM_CALLERS
};

extern const char *const perm_caller_names[PERM_CALLERS];

/* Leave this process one capability, or none (-1): 0, or -errno. */
int perm_keep_capability(int cap);

/* Become user @uid with one capability, or none (-1), and dumpable: 0, or -errno. */
int perm_become_with(uid_t uid, int cap);

int perm_become(enum perm_caller caller);

/* perf's answer to the same question: a descriptor, or -errno. */
int perm_perf_open(int pid, int cpu, bool kernel);

/* Set the level, ours and perf's. */
void perm_set_level(int level);

void perm_default_level(void);

/* Memory that children share with their parent, zero */
void *perm_shared(size_t size);

/* Wait for a child that must have ended with status 0. */
void perm_join(pid_t pid);

#endif /* TESTS_VM_PERM_H */
