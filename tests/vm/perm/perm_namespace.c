// SPDX-License-Identifier: GPL-2.0-only
/*
 * Namespaces give nobody rights outside of them: what looks like /proc to the caller does
 * not matter, and root of a user namespace is an ordinary user.
 */
#include "perm.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* Become root of a new user namespace, with other new namespaces: 0 if it worked. */
static int enter_namespace(int flags)
{
	uid_t uid = getuid();
	char map[32];

	if (unshare(CLONE_NEWUSER | flags))
		return 1;
	snprintf(map, sizeof(map), "0 %u 1", uid);
	return raw_write_file("/proc/self/setgroups", "deny") ||
	       raw_write_file("/proc/self/uid_map", map) ||
	       raw_write_file("/proc/self/gid_map", map) || getuid() != 0;
}

/* An attacker: an ordinary user who is root of namespaces of his own. */
static int become_attacker(int flags)
{
	if (perm_become(PERM_USER))
		return 11;
	return enter_namespace(flags) ? 12 : 0;
}

static bool is_readable(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	fd = open(path, O_RDONLY);
	close(fd);
	return fd >= 0;
}

static bool is_refused(pid_t pid)
{
	union raw_attr a = raw_instructions();
	struct pmuctl_explanation why;

	return raw_open(&a, pid, -1, 0, &why) == -EACCES &&
	       why.code == PMUCTL_WHY_PERM_TASK;
}

static int bind_over_environ(pid_t victim)
{
	char path[64];
	int step = become_attacker(CLONE_NEWNS);

	if (step)
		return step;
	if (is_readable(victim) || !is_refused(victim))
		return 1;
	snprintf(path, sizeof(path), "/proc/%d/environ", victim);
	if (mount("/dev/null", path, NULL, MS_BIND, NULL))
		return 2;
	if (!is_readable(victim))
		return 3;
	return is_refused(victim) ? 0 : 4;
}

static int mount_over_proc(pid_t victim)
{
	char path[64];
	int step = become_attacker(CLONE_NEWNS);

	if (step)
		return step;
	if (mount("fake", "/proc", "tmpfs", 0, NULL))
		return 1;
	snprintf(path, sizeof(path), "/proc/%d", victim);
	if (mkdir(path, 0755))
		return 2;
	strcat(path, "/environ");
	close(open(path, O_WRONLY | O_CREAT, 0644));
	if (!is_readable(victim))
		return 3;
	return is_refused(victim) ? 0 : 4;
}

static int change_root(pid_t victim)
{
	char path[64];
	int step = become_attacker(CLONE_NEWNS);

	if (step)
		return step;
	if (mount("fake", "/mnt", "tmpfs", 0, NULL) || mkdir("/mnt/proc", 0755))
		return 1;
	snprintf(path, sizeof(path), "/mnt/proc/%d", victim);
	if (mkdir(path, 0755))
		return 2;
	strcat(path, "/environ");
	close(open(path, O_WRONLY | O_CREAT, 0644));
	if (chroot("/mnt") || chdir("/") || !is_readable(victim))
		return 3;
	return is_refused(victim) ? 0 : 4;
}

/*
 * The numbers of a pid namespace of the attacker's own: 1 is a task of his there, and root's
 * outside. Whoever mixed the two up would look at the wrong task's file.
 */
static int numbers_inside(pid_t victim)
{
	union raw_attr a = raw_instructions();
	struct pmuctl_explanation why;
	int step = become_attacker(CLONE_NEWPID | CLONE_NEWNS), status;
	pid_t init;

	if (step)
		return step;
	init = fork();
	if (!init) {
		if (mount("proc", "/proc", "proc", 0, NULL))
			_exit(1);
		/* Only what is in there has a number; the victim has none. */
		if (raw_open(&a, victim, -1, 0, &why) != -ESRCH)
			_exit(2);
		/* What has one is what is meant: this is the attacker's own. */
		_exit(raw_open(&a, 1, -1, 0, &why) < 0 ? 3 : 0);
	}
	waitpid(init, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 20;
}

static void attack(int (*how)(pid_t victim))
{
	pid_t victim = raw_sleeper(), pid;

	raw_device();
	pid = fork();
	if (!pid)
		_exit(how(victim));
	perm_join(pid);
	raw_reap(victim);
}

Test(perm_namespace, a_mount_over_the_file_does_not_help)
{
	attack(bind_over_environ);
}

Test(perm_namespace, a_mount_over_proc_does_not_help)
{
	attack(mount_over_proc);
}

Test(perm_namespace, another_root_directory_does_not_help)
{
	attack(change_root);
}

Test(perm_namespace, a_pid_namespace_does_not_help)
{
	attack(numbers_inside);
}

/* ---- Root of a user namespace ---- */

static int be_root_of_namespace(pid_t victim)
{
	union raw_attr a = raw_instructions();
	struct pmuctl_explanation why;
	int step = become_attacker(0);

	if (step)
		return step;
	if (raw_open(&a, 0, -1, 0, &why) < 0)
		return 1;
	if (raw_open(&a, -1, 0, 0, &why) != -EACCES ||
	    why.code != PMUCTL_WHY_PERM_CPU)
		return 2;
	if (!is_refused(victim))
		return 3;
	a.attr.exclude_kernel = 0;
	if (raw_open(&a, 0, -1, 0, &why) != -EACCES ||
	    why.code != PMUCTL_WHY_PERM_KERNEL)
		return 4;
	if (raw_write_file(RAW_PARANOID, "-1") != -EACCES)
		return 5;
	return 0;
}

Test(perm_namespace, its_root_is_an_ordinary_user)
{
	attack(be_root_of_namespace);
}

/*
 * A user's tasks in and out of a namespace of his: those within have no say over those
 * without, those without over those within. perf says the same.
 */
static int across_namespaces(pid_t outside)
{
	union raw_attr a = raw_instructions();
	pid_t within;
	int ours, perf;

	(void)outside;
	if (perm_become(PERM_USER))
		return 1;
	outside = raw_sleeper();
	within = fork();
	if (!within) {
		if (enter_namespace(0))
			_exit(2);
		ours = raw_open(&a, outside, -1, 0, NULL);
		perf = perm_perf_open(outside, -1, false);
		_exit(ours == -EACCES && perf == -EACCES ? 0 : 3);
	}
	if (waitpid(within, &ours, 0) != within || ours)
		return 4;
	within = fork();
	if (!within) {
		if (enter_namespace(0))
			_exit(2);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(within, NULL, WUNTRACED);
	ours = raw_open(&a, within, -1, 0, NULL);
	perf = perm_perf_open(within, -1, false);
	raw_reap(within);
	raw_reap(outside);
	return (ours < 0) == (perf < 0) ? 0 : 5;
}

Test(perm_namespace, tasks_across_a_namespace, .fini = perm_default_level)
{
	perm_set_level(2);
	attack(across_namespaces);
}

/* ---- Tasks within a pid namespace, counted from outside ---- */

/* The first task of a new pid namespace, which is task 1 in there, as user @uid. */
static pid_t first_of_namespace(uid_t uid)
{
	int report[2], ready[2];
	pid_t pid = 0, maker;
	char word;

	cr_assert_eq(pipe(report), 0);
	cr_assert_eq(pipe(ready), 0);
	maker = fork();
	if (!maker) {
		if (unshare(CLONE_NEWPID))
			_exit(1);
		pid = fork();
		if (!pid) {
			if (perm_become_with(uid, -1) || write(ready[1], "r", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
		_exit(write(report[1], &pid, sizeof(pid)) != sizeof(pid));
	}
	perm_join(maker);
	cr_assert_eq(read(report[0], &pid, sizeof(pid)), (ssize_t)sizeof(pid));
	close(ready[1]);
	cr_assert_eq(read(ready[0], &word, 1), 1, "it did not become user %u", uid);
	close(ready[0]);
	return pid;
}

static int count_from_outside(pid_t own, pid_t other)
{
	union raw_attr a = raw_instructions();

	if (perm_become(PERM_USER))
		return 1;
	if (raw_open(&a, own, -1, 0, NULL) < 0 || perm_perf_open(own, -1, false) < 0)
		return 2;
	if (!is_refused(other) || perm_perf_open(other, -1, false) != -EACCES)
		return 3;
	return 0;
}

Test(perm_namespace, tasks_within_have_their_number_outside, .fini = perm_default_level)
{
	pid_t own = first_of_namespace(RAW_USER), other = first_of_namespace(RAW_OTHER_USER);
	pid_t pid;

	perm_set_level(2);
	raw_device();
	pid = fork();
	if (!pid)
		_exit(count_from_outside(own, other));
	perm_join(pid);
	kill(own, SIGKILL);
	kill(other, SIGKILL);
}
