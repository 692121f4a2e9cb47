// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that a cgroup makes its user wait for: who has more than memory.high is put to sleep for up
 * to two seconds in the middle of an allocation, again and again. Any user may have such a cgroup.
 * Nobody else waits for him: whoever is seen asleep there still is when others have done the same.
 */
#include "bound.h"
#include "perm.h"
#include "sampling.h"

#include <sys/mount.h>
#include <sys/stat.h>

#define CGROUPS		"/tmp/attack-throttle"
#define CGROUP		CGROUPS "/slow"
/* Enough to be put to sleep several times */
#define PAGES		512
#define TRIES		5
/* With an event for each he is put to sleep, too */
#define THREADS		2000

static void cgroup_make(void)
{
	mkdir(CGROUPS, 0755);
	cr_assert_eq(mount("none", CGROUPS, "cgroup2", 0, NULL), 0, "%m");
	cr_assert_eq(raw_write_file(CGROUPS "/cgroup.subtree_control", "+memory"), 0);
	cr_assert_eq(mkdir(CGROUP, 0755), 0, "%m");
	cr_assert_eq(raw_write_file(CGROUP "/memory.high", "4096"), 0);
	cr_assert_eq(raw_write_number("/sys/module/pmuctl/parameters/mlock_kb", 16384), 0);
}

static void cgroup_remove(void)
{
	raw_write_number("/sys/module/pmuctl/parameters/mlock_kb", 516);
	while (rmdir(CGROUP) && errno == EBUSY)
		usleep(1000);
	umount2(CGROUPS, MNT_DETACH);
	rmdir(CGROUPS);
}

TestSuite(attack_throttle, .init = cgroup_make, .fini = cgroup_remove);

static struct perf_event_attr user_faults(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	attr.sample_period = 1000;
	return attr;
}

/* A user in that cgroup, who does something again and again after he has prepared it elsewhere */
static pid_t slow_start(void (*prepare)(void), void (*func)(void))
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

/* He may always be about to wake up: so several times. Has he slept all the while once? */
static bool others_go_on(pid_t user, const char *function, void (*others)(void))
{
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

/* ---- Buffers ---- */

static void map_large(void)
{
	struct perf_event_attr attr = user_faults();
	int fd = event_try(&attr, 0, -1);
	struct ring ring;

	die_if(fd < 0, "open");
	die_if(ring_try_map(&ring, fd, PAGES, PROT_READ | PROT_WRITE) != 0, "mmap");
	munmap(ring.page, ring.length);
	close(fd);
}

static void map_small(void)
{
	struct perf_event_attr attr = user_faults();
	int fd = event_open(&attr, 0, -1);
	struct ring ring;

	ring_map(&ring, fd, 1);
	ring_unmap(&ring);
	close(fd);
}

Test(attack_throttle, nobody_waits_for_a_buffer_of_somebody_else)
{
	pid_t user = slow_start(NULL, map_large);

	cr_expect(others_go_on(user, "ring_alloc", map_small));
	raw_reap(user);
}

/* ---- Events of processes ---- */

static void *asleep(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void start_threads(void)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	for (int i = 0; i < THREADS; i++)
		die_if(pthread_create(&thread, &small, asleep, NULL) != 0, "pthread_create");
}

static void count_process(void)
{
	struct perf_event_attr attr = dummy();
	int fd;

	attr.inherit = 1;
	fd = event_try_in_group(&attr, 0, -1, -1, PMUCTL_OPEN_PROCESS);
	die_if(fd < 0, "open");
	close(fd);
}

static void count_itself(void)
{
	struct perf_event_attr attr = dummy();

	close(event_open(&attr, 0, -1));
}

Test(attack_throttle, nobody_waits_for_an_event_of_somebody_elses_process)
{
	pid_t user = slow_start(start_threads, count_process);

	cr_expect(others_go_on(user, "pmuctl_event_blank", count_itself));
	raw_reap(user);
}
