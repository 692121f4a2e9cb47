// SPDX-License-Identifier: GPL-2.0-only
#include "throttle.h"

void cgroup_make(void)
{
	mkdir(CGROUPS, 0755);
	cr_assert_eq(mount("none", CGROUPS, "cgroup2", 0, NULL), 0, "%m");
	cr_assert_eq(raw_write_file(CGROUPS "/cgroup.subtree_control", "+memory"), 0);
	cr_assert_eq(mkdir(CGROUP, 0755), 0, "%m");
	cr_assert_eq(raw_write_file(CGROUP "/memory.high", "4096"), 0);
	cr_assert_eq(raw_write_number("/sys/module/pmuctl/parameters/mlock_kb", 16384), 0);
}

void cgroup_remove(void)
{
	raw_write_number("/sys/module/pmuctl/parameters/mlock_kb", 516);
	while (rmdir(CGROUP) && errno == EBUSY)
		usleep(1000);
	umount2(CGROUPS, MNT_DETACH);
	rmdir(CGROUPS);
}

pid_t slow_start(void (*prepare)(void), void (*func)(void))
{
	char text[16];
	int link[2];
	pid_t user;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link), 0);
	user = fork_child();
	if (!user) {
		become_ordinary();
		if (prepare)
			prepare();
		tell(link[1], 0);
		await(link[1]);
		for (;;)
			func();
	}
	close(link[1]);
	hear(link[0]);
	snprintf(text, sizeof(text), "%d", user);
	cr_assert_eq(raw_write_file(CGROUP "/cgroup.procs", text), 0);
	let_go(link[0]);
	return user;
}

/* Is the task asleep in an allocation of @function of the module? */
static bool sleeps_in(pid_t tid, const char *function)
{
	char path[64], text[4096] = "";
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stack", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0, "%s: %m", path);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 && strstr(text, "mem_cgroup_handle_over_high") && strstr(text, function);
}

bool others_go_on(pid_t user, const char *function, void (*others)(void))
{
	/* There he sleeps on his way back to user mode only, and holds nothing then. */
	if (raw_kernel_before(5, 18)) {
		for (int i = 0; i < TRIES; i++)
			others();
		return true;
	}
	for (int i = 0; i < TRIES; i++) {
		unsigned long switches;

		do {
			cr_assert_eq(waitpid(user, NULL, WNOHANG), 0, "the user has ended");
			switches = task_switches(user);
		} while (!sleeps_in(user, function));
		others();
		if (sleeps_in(user, function) && task_switches(user) == switches)
			return true;
	}
	return false;
}
