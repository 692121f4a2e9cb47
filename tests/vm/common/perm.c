// SPDX-License-Identifier: GPL-2.0-only
#include "perm.h"

const char *const perm_caller_names[PERM_CALLERS] = {
	"root", "a user", "a user with CAP_PERFMON", "a user with CAP_SYS_ADMIN",
	"a user with CAP_SYS_PTRACE",
};

int perm_keep_capability(int cap)
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

int perm_become_with(uid_t uid, int cap)
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

int perm_become(enum perm_caller caller)
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

int perm_perf_open(int pid, int cpu, bool kernel)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1, .exclude_kernel = !kernel };
	int fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, 0);

	return fd < 0 ? -errno : fd;
}

void perm_set_level(int level)
{
	cr_assert_eq(raw_write_number(RAW_PARANOID, level), 0);
	cr_assert_eq(raw_write_number(PERM_PERF_PARANOID, level), 0);
}

void perm_default_level(void)
{
	raw_write_number(RAW_PARANOID, 2);
	raw_write_number(PERM_PERF_PARANOID, 2);
}

void *perm_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(p, MAP_FAILED);
	return p;
}

void perm_join(pid_t pid)
{
	int status;

	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status), "signal %d", WTERMSIG(status));
	cr_assert_eq(WEXITSTATUS(status), 0, "it ended in step %d",
		     WEXITSTATUS(status));
}
