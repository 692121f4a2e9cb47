// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callers whose real, effective and saved ids differ, or whose capabilities are permitted
 * but not effective: the ptrace read check by real ids, as perf makes it. What perf says at
 * the same level is what is expected, with one exception: of the caller's capabilities only
 * those in effect count. So a caller with others may be refused a task that has the same
 * ones, which perf allows; the other way round would be a hole.
 */
#include "perm.h"

#include <sys/fsuid.h>

/* What a task is: ids, and capabilities */
struct who {
	const char *name;
	uid_t uid[3];		/* real, effective, saved */
	gid_t gid[3];
	uint64_t permitted, effective;
};

#define U	RAW_USER
#define O	RAW_OTHER_USER
#define NET	(1ULL << CAP_NET_RAW)
#define PTRACE	(1ULL << CAP_SYS_PTRACE)

static const struct who whos[] = {
	{ "a user", { U, U, U }, { U, U, U }, 0, 0 },
	{ "another user", { O, O, O }, { O, O, O }, 0, 0 },
	{ "effectively another", { U, O, O }, { U, U, U }, 0, 0 },
	{ "effectively another, with groups", { U, O, O }, { U, O, O }, 0, 0 },
	{ "really another", { O, U, U }, { O, U, U }, 0, 0 },
	{ "another before", { U, U, O }, { U, U, U }, 0, 0 },
	{ "of another group", { U, U, U }, { O, O, O }, 0, 0 },
	{ "effectively of another group", { U, U, U }, { U, O, U }, 0, 0 },
	{ "really of another group", { U, U, U }, { O, U, U }, 0, 0 },
	{ "root before", { U, U, 0 }, { U, U, U }, 0, 0 },
	{ "with a capability", { U, U, U }, { U, U, U }, NET, NET },
	{ "with a capability that is not in effect", { U, U, U }, { U, U, U }, NET, 0 },
	{ "with CAP_SYS_PTRACE", { U, U, U }, { U, U, U }, PTRACE, PTRACE },
	{ "another with CAP_SYS_PTRACE", { O, O, O }, { O, O, O }, PTRACE, PTRACE },
	{ "with CAP_SYS_PTRACE that is not in effect", { O, O, O }, { O, O, O }, PTRACE, 0 },
};

#define NR_WHOS	RAW_ARRAY_SIZE(whos)

static int become(const struct who *who)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .permitted = who->permitted, .effective = who->effective },
		{ .permitted = who->permitted >> 32, .effective = who->effective >> 32 },
	};

	return prctl(PR_SET_KEEPCAPS, 1) ||
	       setresgid(who->gid[0], who->gid[1], who->gid[2]) ||
	       setresuid(who->uid[0], who->uid[1], who->uid[2]) ||
	       syscall(SYS_capset, &header, data) || prctl(PR_SET_DUMPABLE, 1);
}

static pid_t start(const struct who *who)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (become(who))
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, WUNTRACED), pid);
	cr_assert(WIFSTOPPED(status), "no task that is %s", who->name);
	return pid;
}

struct answers {
	int ours[NR_WHOS], perf[NR_WHOS];
};

static int ask_all(const struct who *who, const pid_t *pids, struct answers *answers)
{
	union raw_attr a = raw_instructions();

	if (become(who))
		return 1;
	for (size_t i = 0; i < NR_WHOS; i++) {
		int fd = raw_open(&a, pids[i], -1, 0, NULL);

		answers->ours[i] = fd < 0 ? fd : 0;
		if (fd >= 0)
			close(fd);
		/* Whom it was asked for is who the caller is afterwards. */
		if (setfsuid(-1) != (int)who->uid[1] || setfsgid(-1) != (int)who->gid[1])
			return 2;
		fd = perm_perf_open(pids[i], -1, false);
		answers->perf[i] = fd < 0 ? fd : 0;
		if (fd >= 0)
			close(fd);
	}
	return 0;
}

static void check(const struct who *caller, const struct who *task, int ours, int perf)
{
	bool may_be_stricter = caller->permitted != caller->effective &&
			       task->permitted;

	if (may_be_stricter && ours == -EACCES)
		return;
	cr_expect_eq(ours, perf,
		     "a caller that is %s, a task that is %s: we say %d, perf says %d",
		     caller->name, task->name, ours, perf);
}

Test(perm_ids, every_caller_and_every_task, .fini = perm_default_level)
{
	struct answers *answers = perm_shared(sizeof(*answers));
	unsigned int allowed = 0;
	pid_t pids[NR_WHOS];

	raw_device();
	perm_set_level(2);
	for (size_t i = 0; i < NR_WHOS; i++)
		pids[i] = start(&whos[i]);
	for (size_t caller = 0; caller < NR_WHOS; caller++) {
		pid_t pid = fork();

		if (!pid)
			_exit(ask_all(&whos[caller], pids, answers));
		perm_join(pid);
		for (size_t i = 0; i < NR_WHOS; i++) {
			allowed += !answers->perf[i];
			check(&whos[caller], &whos[i], answers->ours[i],
			      answers->perf[i]);
		}
	}
	/* Both answers come up often enough to mean something. */
	cr_assert_gt(allowed, 40, "%u", allowed);
	cr_assert_lt(allowed, NR_WHOS * NR_WHOS * 2 / 3, "%u", allowed);
	for (size_t i = 0; i < NR_WHOS; i++)
		raw_reap(pids[i]);
}
