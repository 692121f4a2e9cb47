// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refusals of the target: pids and CPUs that are not there, tasks that are ending, and what
 * the call itself may not ask for.
 */
#include "loops.h"
#include "refusal.h"

#include <limits.h>

Test(refuse_target, pids_that_are_no_target)
{
	static const int pids[] = { -2, -3, -1000, INT_MIN };
	union raw_attr a = raw_instructions();

	for (size_t i = 0; i < RAW_ARRAY_SIZE(pids); i++) {
		check_refused(OPEN(a, pids[i]), ESRCH, PMUCTL_WHY_PID_INVALID, "pid",
			      "pid %d is not a target: use 0 for the calling task, a thread id, or -1 with a cpu",
			      pids[i]);
		check_refused(OPEN(a, pids[i], 0), ESRCH, PMUCTL_WHY_PID_INVALID, "pid",
			      "pid %d is not a target: use 0 for the calling task, a thread id, or -1 with a cpu",
			      pids[i]);
	}
}

Test(refuse_target, tasks_that_do_not_exist)
{
	union raw_attr a = raw_instructions();
	pid_t pid = raw_sleeper();
	int pids[] = { INT_MAX, 4194304, 4194305, pid };

	raw_reap(pid);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(pids); i++)
		check_refused(OPEN(a, pids[i]), ESRCH, PMUCTL_WHY_NO_SUCH_TASK, "pid",
			      "no task has the id %d in your pid namespace: it may have ended",
			      pids[i]);
}

static pid_t zombie(uid_t uid)
{
	pid_t pid = fork();
	siginfo_t info;

	if (!pid)
		_exit(raw_become(uid) ? 1 : 0);
	cr_assert_eq(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

Test(refuse_target, tasks_that_are_exiting)
{
	union raw_attr a = raw_instructions();
	pid_t pid = zombie(0);

	check_refused(OPEN(a, pid), ESRCH, PMUCTL_WHY_TASK_EXITING, "pid",
		      "task %d is exiting: there is nothing left to count", pid);
	check_refused(OPEN(a, pid, 0), ESRCH, PMUCTL_WHY_TASK_EXITING, "pid",
		      "task %d is exiting: there is nothing left to count", pid);
	waitpid(pid, NULL, 0);
}

/* An ordinary user learns the same of a task of his own. */
Test(refuse_target, users_tasks_that_are_exiting)
{
	union raw_attr a = raw_instructions();
	struct pmuctl_explanation why;
	pid_t caller = fork(), pid;
	int status;

	if (!caller) {
		siginfo_t info;

		if (raw_become(RAW_USER))
			_exit(100);
		pid = fork();
		if (!pid)
			_exit(0);
		waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
		raw_open(&a, pid, -1, 0, &why);
		_exit(why.code);
	}
	waitpid(caller, &status, 0);
	cr_assert(WIFEXITED(status));
	cr_assert_eq(WEXITSTATUS(status), PMUCTL_WHY_TASK_EXITING, "code %d",
		     WEXITSTATUS(status));
}

#define ROUNDS		240
#define SPIN		300

/* A task of this user that ends after a while, by itself */
static pid_t ends_soon(unsigned int round)
{
	pid_t pid = fork();

	if (!pid) {
		for (volatile unsigned int i = 0; i < SPIN * (round % 60); i++)
			;
		_exit(0);
	}
	return pid;
}

/* What is said in the end to somebody who opens it again and again: 0 if it is right */
static int open_until_it_ends(pid_t pid)
{
	union raw_attr a = { .attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(a.attr),
				       .config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1 } };
	struct pmuctl_explanation why;
	char named[16];
	int fd;

	while ((fd = raw_open(&a, pid, -1, 0, &why)) >= 0)
		close(fd);
	/* By the number that it had, also if it has been reaped meanwhile. */
	snprintf(named, sizeof(named), " %d ", pid);
	if (fd == -ESRCH && strstr(why.sentence, named))
		return 0;
	fprintf(stderr, "%d: %s\n", fd, why.sentence);
	return why.code;
}

/* While somebody may look into a task he is not told that he may not because it ends. */
Test(refuse_target, users_tasks_that_end_meanwhile)
{
	pid_t caller = fork();
	int status;

	if (!caller) {
		if (raw_become(RAW_USER) || prctl(PR_SET_DUMPABLE, 1))
			_exit(100);
		for (unsigned int i = 0; i < ROUNDS; i++) {
			pid_t pid;
			int code;

			signal(SIGCHLD, i % 2 ? SIG_IGN : SIG_DFL);
			pid = ends_soon(i);
			code = open_until_it_ends(pid);
			if (code)
				_exit(code);
			waitpid(pid, NULL, 0);
		}
		_exit(0);
	}
	cr_assert_eq(waitpid(caller, &status, 0), caller);
	cr_assert_eq(status, 0, "status %#x", status);
}

/* ---- CPUs ---- */

Test(refuse_target, cpus_that_do_not_exist)
{
	long last = raw_read_number("/sys/devices/system/cpu/possible");
	int cpus[] = { -2, -3, INT_MIN, last + 1, 4096, 8192, INT_MAX };
	union raw_attr a = raw_instructions();

	for (size_t i = 0; i < RAW_ARRAY_SIZE(cpus); i++) {
		check_refused(OPEN(a, 0, cpus[i]), EINVAL, PMUCTL_WHY_CPU_INVALID, "cpu",
			      "cpu %d does not exist: this machine has the CPUs 0 to %ld, and -1 means any",
			      cpus[i], last);
		check_refused(OPEN(a, -1, cpus[i]), EINVAL, PMUCTL_WHY_CPU_INVALID, "cpu",
			      "cpu %d does not exist: this machine has the CPUs 0 to %ld, and -1 means any",
			      cpus[i], last);
	}
}

Test(refuse_target, cpus_that_are_offline, .fini = all_online)
{
	union raw_attr a = raw_instructions();

	set_online(1, false);
	check_refusals(
		{ "all tasks there", OPEN(a, -1, 1), ENODEV, PMUCTL_WHY_CPU_OFFLINE, "cpu",
		  "cpu 1 is offline: bring it online (/sys/devices/system/cpu/cpu1/online) or choose another" },
		{ "a task there", OPEN(a, 0, 1), ENODEV, PMUCTL_WHY_CPU_OFFLINE, "cpu",
		  "cpu 1 is offline: bring it online (/sys/devices/system/cpu/cpu1/online) or choose another" }
	);
	close(event_open(a, -1, 0));
	close(event_open(a));
	set_online(1, true);
	close(event_open(a, -1, 1));
	close(event_open(a, 0, 1));
}

/* ---- Flags and groups ---- */

Test(refuse_target, flags_that_nobody_knows)
{
	union raw_attr a = raw_instructions();

	for (int bit = 4; bit < 32; bit++) {
		if (1U << bit == PMUCTL_OPEN_PROCESS)
			continue;
		check_refused(OPEN(a, .flags = 1U << bit), EINVAL, PMUCTL_WHY_FLAGS_UNKNOWN,
			      "flags",
			      "flags 0x%x has bits that this module does not know: only 0x1000f may be set",
			      1U << bit);
	}
}

/* The rules of joining are in group_rules.c. */
Test(refuse_target, group_descriptors_that_are_no_events)
{
	union raw_attr a = raw_instructions();
	int fds[] = { raw_device(), 0, 1000000, -2, INT_MIN, INT_MAX };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(fds); i++)
		check_refused(OPEN(a, .group = fds[i]), EBADF, PMUCTL_WHY_GROUP_FD, "group_fd",
			      "group_fd %d is not an event of pmuctl: pass the descriptor of the group's leader, or -1",
			      fds[i]);
}

/* ---- Numbers of a pid namespace ---- */

/* In a new namespace: an id from outside, one from inside, and a count. */
static int in_namespace(pid_t outside)
{
	union raw_attr a = raw_instructions();
	struct pmuctl_explanation why;
	pid_t inside;
	int fd;

	if (getpid() != 1)
		return 1;
	if (raw_open(&a, outside, -1, 0, &why) != -ESRCH ||
	    why.code != PMUCTL_WHY_NO_SUCH_TASK)
		return 2;
	inside = fork();
	if (!inside) {
		raise(SIGSTOP);
		user_loop(100000);
		_exit(0);
	}
	waitpid(inside, NULL, WUNTRACED);
	a.attr.disabled = 0;
	fd = raw_open(&a, inside, -1, 0, &why);
	if (fd < 0)
		return 3;
	kill(inside, SIGCONT);
	waitpid(inside, NULL, 0);
	if (raw_read(fd) < 200000)
		return 4;
	/* Its own number in there, too. */
	fd = raw_open(&a, 1, -1, 0, &why);
	if (fd < 0)
		return 5;
	user_loop(1000);
	return raw_read(fd) >= 2000 ? 0 : 6;
}

Test(refuse_target, ids_are_those_of_the_callers_namespace)
{
	pid_t outside = raw_sleeper(), maker = fork(), init;
	int status;

	if (!maker) {
		if (unshare(CLONE_NEWPID))
			_exit(100);
		init = fork();
		if (!init)
			_exit(in_namespace(outside));
		waitpid(init, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 101);
	}
	waitpid(maker, &status, 0);
	raw_reap(outside);
	cr_assert(WIFEXITED(status));
	cr_assert_eq(WEXITSTATUS(status), 0, "step %d", WEXITSTATUS(status));
}
