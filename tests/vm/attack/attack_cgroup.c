// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cgroups that are made and removed, and tasks that move between them, while events of them are
 * opened, counted with, read and closed, on all CPUs: nothing is left behind, and no cgroup is
 * kept that nobody has an event of.
 */
#include "cgroups.h"
#include "hooks.h"

#include <linux/aio_abi.h>
#include <sys/stat.h>
#include <sys/syscall.h>

TestSuite(attack_cgroup, .init = cgroups_begin, .fini = cgroups_end, .timeout = 600);

/* Events that are opened */
#define OPENS	600

/* Cgroups that are removed and still there, as somebody has a reference */
static long dying(void)
{
	char line[128];
	long n = -1;
	FILE *f = fopen(CGROUP_ROOT "/cgroup.stat", "re");

	cr_assert_not_null(f, "%m");
	while (fgets(line, sizeof(line), f))
		sscanf(line, "nr_dying_descendants %ld", &n);
	fclose(f);
	return n;
}

static void write_pid(const char *path, pid_t pid)
{
	raw_write_number(path, pid);
}

/* Switches, computes a little, and moves itself to and fro. */
static pid_t start_mover(int cpu)
{
	pid_t pid = fork_child();

	if (pid)
		return pid;
	pin_here(cpu);
	for (unsigned int i = 0;; i++) {
		write_pid(i & 1 ? CGROUP_ROOT "/x/cgroup.procs" : CGROUP_ROOT "/y/cgroup.procs", 0);
		user_loop(1000);
		sched_yield();
		if (i % 8 == 0)
			write_pid(CGROUP_ROOT "/cgroup.procs", 0);
	}
}

/* Makes and removes them, as far as they are empty. */
static pid_t start_maker(void)
{
	pid_t pid = fork_child();

	if (pid)
		return pid;
	for (;;) {
		mkdir(CGROUP_ROOT "/x", 0755);
		mkdir(CGROUP_ROOT "/y", 0755);
		usleep(2000);
		rmdir(CGROUP_ROOT "/x");
		rmdir(CGROUP_ROOT "/y");
	}
}

static int try_one(const char *path, unsigned int i, int cpu)
{
	AUTO_CLOSE int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct perf_event_attr attr = i % 3 ? instructions_u() :
		event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	int fd;

	if (directory < 0)
		return -1;
	attr.exclude_idle = i % 5 == 0;
	attr.pinned = i % 7 == 0;
	fd = event_try(attr, directory, cpu, .flags = PERF_FLAG_PID_CGROUP);
	cr_assert(fd >= 0 || fd == -ENOENT || fd == -EBADF, "%s: %s", strerror(-fd),
		  event_why.sentence);
	return fd;
}

#define EVENTS	24

Test(attack_cgroup, that_come_and_go)
{
	int fd[EVENTS];
	pid_t movers[4], maker;
	unsigned int opened = 0;

	memset(fd, -1, sizeof(fd));
	for (int i = 0; i < 4; i++)
		movers[i] = start_mover(i & 1);
	maker = start_maker();
	for (unsigned int i = 0; opened < OPENS; i++) {
		int *at = &fd[i % EVENTS];

		if (*at >= 0) {
			event_value(*at);
			close(*at);
		}
		*at = try_one(i & 2 ? CGROUP_ROOT "/x" : CGROUP_ROOT "/y", i, (int)(i % 3) - 1);
		opened += *at >= 0;
		if (*at < 0)
			sched_yield();
	}
	kill(maker, SIGKILL);
	waitpid(maker, NULL, 0);
	for (int i = 0; i < 4; i++) {
		kill(movers[i], SIGKILL);
		waitpid(movers[i], NULL, 0);
	}
	for (int i = 0; i < EVENTS; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	while (dying())
		usleep(10000);
}

/*
 * Moves himself to a cgroup that is his, and in the same call waits for a pipe that nobody writes
 * to: he does not get back to user space.
 */
static void move_and_stay(const char *path)
{
	char zero[] = "0\n", byte;
	struct iocb move = { .aio_lio_opcode = IOCB_CMD_PWRITE, .aio_nbytes = 2,
			     .aio_buf = (uintptr_t)zero };
	struct iocb wait = { .aio_lio_opcode = IOCB_CMD_PREAD, .aio_nbytes = 1,
			     .aio_buf = (uintptr_t)&byte };
	struct iocb *both[] = { &move, &wait };
	aio_context_t context = 0;
	int ends[2];

	if (setuid(1000) || pipe(ends) || syscall(SYS_io_setup, 2, &context))
		_exit(1);
	move.aio_fildes = open(path, O_WRONLY | O_CLOEXEC);
	wait.aio_fildes = ends[0];
	syscall(SYS_io_submit, context, 2, both);
	_exit(2);
}

/* Times that a hook is dropped and set again; it lingers for a second. */
#define DROPS	3

Test(attack_cgroup, nobody_waits_for_who_has_moved)
{
	struct perf_event_attr attr = instructions_u();
	char text[64];
	pid_t pid;
	int fd;

	cgroup_add("u");
	cgroup_add("u/a");
	cgroup_add("u/b");
	cr_assert_eq(chown(CGROUP_ROOT "/u/cgroup.procs", 1000, 1000), 0);
	cr_assert_eq(chown(CGROUP_ROOT "/u/b/cgroup.procs", 1000, 1000), 0);
	fd = cgroup_event(&counting_ours, &attr, "u", 0);
	pid = fork_child();
	if (!pid) {
		write_pid(CGROUP_ROOT "/u/a/cgroup.procs", 0);
		move_and_stay(CGROUP_ROOT "/u/b/cgroup.procs");
	}
	do {
		FILE *f = fopen(CGROUP_ROOT "/u/b/cgroup.procs", "re");

		text[0] = '\0';
		cr_assert_not_null(f, "%m");
		fgets(text, sizeof(text), f);
		fclose(f);
		usleep(10000);
		cr_assert_eq(waitpid(pid, NULL, WNOHANG), 0, "he came back");
	} while (strtol(text, NULL, 10) != pid);
	close(fd);
	for (int i = 0; i < DROPS; i++) {
		sleep(2);
		close(cgroup_event(&counting_ours, &attr, "u", 0));
		close(event_open(attr));
	}
	cr_assert_eq(waitpid(pid, NULL, WNOHANG), 0, "he came back");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	cgroup_del("u/a");
	cgroup_del("u/b");
	cgroup_del("u");
}

/* Who looks at moves between cgroups costs all that move: that ends with the last event of one. */
Test(attack_cgroup, nobody_looks_at_moves_any_more)
{
	const struct perf_event_attr attr = instructions_u();

	cgroup_add("a");
	close(cgroup_event(&counting_ours, &attr, "a", 0));
	hooks_wait_for_none();
	cgroup_del("a");
}
