/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for guest tests of permissions: the callers there are, and perf_event_open(2) as
 * a witness, with an event that needs no PMU.
 */
#ifndef TESTS_VM_PERM_H
#define TESTS_VM_PERM_H

#include "raw_check.h"

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

static const char *const perm_caller_names[PERM_CALLERS] = {
	"root", "a user", "a user with CAP_PERFMON", "a user with CAP_SYS_ADMIN",
	"a user with CAP_SYS_PTRACE",
};

/* Leave this process one capability, or none (-1): 0, or -errno. */
static inline int perm_keep_capability(int cap)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (cap >= 0) {
		data[cap / 32].permitted = 1U << cap % 32;
		data[cap / 32].effective = 1U << cap % 32;
	}
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

/* Become user @uid with one capability, or none (-1), and dumpable: 0, or -errno. */
static inline int perm_become_with(uid_t uid, int cap)
{
	int err;

	if (prctl(PR_SET_KEEPCAPS, 1))
		return -errno;
	err = raw_become(uid);
	if (!err)
		err = perm_keep_capability(cap);
	if (!err && prctl(PR_SET_DUMPABLE, 1))
		err = -errno;
	return err;
}

static inline int perm_become(enum perm_caller caller)
{
	static const int capability[PERM_CALLERS] = {
		[PERM_USER] = -1, [PERM_USER_PERFMON] = CAP_PERFMON,
		[PERM_USER_ADMIN] = CAP_SYS_ADMIN,
		[PERM_USER_PTRACE] = CAP_SYS_PTRACE,
	};

	if (caller == PERM_ROOT)
		return 0;
	return perm_become_with(RAW_USER, capability[caller]);
}

/* perf's answer to the same question: a descriptor, or -errno. */
static inline int perm_perf_open(int pid, int cpu, bool kernel)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1, .exclude_kernel = !kernel };
	int fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, 0);

	return fd < 0 ? -errno : fd;
}

/* Set the level, ours and perf's. */
static inline void perm_set_level(int level)
{
	cr_assert_eq(raw_write_number(RAW_PARANOID, level), 0);
	cr_assert_eq(raw_write_number(PERM_PERF_PARANOID, level), 0);
}

static inline void perm_default_level(void)
{
	raw_write_number(RAW_PARANOID, 2);
	raw_write_number(PERM_PERF_PARANOID, 2);
}

/* Memory that children share with their parent, zero */
static inline void *perm_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(p, MAP_FAILED);
	return p;
}

/* Wait for a child that must have ended with status 0. */
static inline void perm_join(pid_t pid)
{
	int status;

	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status), "signal %d", WTERMSIG(status));
	cr_assert_eq(WEXITSTATUS(status), 0, "it ended in step %d",
		     WEXITSTATUS(status));
}

#endif /* TESTS_VM_PERM_H */
