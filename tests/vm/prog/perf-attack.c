// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program may try against who answers its calls of perf_event_open(2) for it. Static.
 * Says "held" for each attack that came to nothing, else what came of it.
 *
 * usage: perf-attack WHAT
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE(array)	(sizeof(array) / sizeof((array)[0]))

static struct perf_event_attr instructions(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE, .size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS, .disabled = 1, .exclude_kernel = 1,
	};
}

static int open_event(const void *attr, int group, unsigned long flags)
{
	long fd = syscall(__NR_perf_event_open, attr, 0, -1, group, flags);

	return fd < 0 ? -errno : (int)fd;
}

static void held(const char *what, int ok)
{
	printf("%s: %s\n", what, ok ? "held" : "LOST");
}

/* Does it count in user mode only? Between the two calls only these are in user mode. */
static int counts_user_only(int fd)
{
	uint64_t value = 0;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 100; i++)
		syscall(__NR_getppid);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	return read(fd, &value, sizeof(value)) == sizeof(value) && value < 5000;
}

/* ---- The attr changes while it is looked at ---- */

/* Behind it zeros: the kernel's size, which a refusal tells, may be more than ours. */
static union {
	struct perf_event_attr attr;
	char room[8192];
} changing;
static volatile int stop;

static void *change(void *arg)
{
	uint64_t *flags = (uint64_t *)&changing + 5;
	volatile uint32_t *size = &changing.attr.size;
	const uint64_t user = *flags;

	(void)arg;
	while (!stop) {
		__atomic_store_n(flags, user & ~(1ull << 5), __ATOMIC_RELAXED);
		*size = 32;
		__atomic_store_n(flags, user, __ATOMIC_RELAXED);
		*size = 5000;
		*size = sizeof(changing.attr);
	}
	return NULL;
}

static void changed_attr(void)
{
	int opened = 0, refused = 0, other = 0, kernel = 0;
	pthread_t thread;

	changing.attr = instructions();
	pthread_create(&thread, NULL, change, NULL);
	for (int i = 0; i < 120; i++) {
		int fd = open_event(&changing, -1, 0);

		opened += fd >= 0;
		refused += fd == -EACCES;
		other += fd < 0 && fd != -EACCES && fd != -E2BIG;
		if (fd < 0)
			continue;
		kernel += !counts_user_only(fd);
		close(fd);
	}
	stop = 1;
	pthread_join(thread, NULL);
	fprintf(stderr, "%d opened, %d refused, %d else\n", opened, refused, other);
	held("changed attr", !kernel && !other);
}

/* ---- Callers that are killed while they wait, and those that others replace ---- */

static void killed(void)
{
	struct perf_event_attr attr = instructions();

	for (int i = 0; i < 60; i++) {
		pid_t child = fork();

		if (!child)
			for (;;)
				close(open_event(&attr, -1, 0));
		usleep(i * 200);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	held("killed callers", open_event(&attr, -1, 0) >= 0);
}

/* ---- Signals ---- */

#define SIGNALS_A_CALL	5

static volatile int signals, to_come;

static void signal_soon(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){ .it_value.tv_usec = 300 }, NULL);
}

/* A call that is made again each time comes to its end however slow the machine is. */
static void on_signal(int number)
{
	(void)number;
	signals++;
	if (--to_come > 0)
		signal_soon();
}

static void signalled(void)
{
	struct perf_event_attr attr = instructions();
	int lost = 0, interrupted = 0;

	for (int restart = 0; restart < 2; restart++) {
		struct sigaction action = {
			.sa_handler = on_signal, .sa_flags = restart ? SA_RESTART : 0,
		};

		sigaction(SIGALRM, &action, NULL);
		for (int i = 0; i < 100; i++) {
			int fd;

			to_come = SIGNALS_A_CALL;
			signal_soon();
			fd = open_event(&attr, -1, 0);
			setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
			interrupted += fd == -EINTR;
			lost += fd < 0 && (fd != -EINTR || restart);
			/* one event each, and its number is the next */
			lost += fd >= 0 && fd != 3;
			if (fd >= 0)
				close(fd);
		}
	}
	fprintf(stderr, "%d signals, %d calls interrupted\n", signals, interrupted);
	held("signals", !lost && signals > 10);
}

/* ---- Very many ---- */

static void many(void)
{
	const struct rlimit limit = { 100, 100 };
	struct perf_event_attr attr = instructions();
	int fd, n = 0;

	setrlimit(RLIMIT_NOFILE, &limit);
	while ((fd = open_event(&attr, -1, 0)) >= 0)
		n++;
	held("many events", fd == -EMFILE && n == 97);
}

static void *open_some(void *arg)
{
	struct perf_event_attr attr = instructions();
	long failed = 0;

	(void)arg;
	for (int i = 0; i < 10; i++) {
		int fd = open_event(&attr, -1, PERF_FLAG_FD_CLOEXEC);

		failed += fd < 0;
		close(fd);
	}
	return (void *)failed;
}

static void threads(void)
{
	pthread_t thread[20];
	long failed = 0;
	void *some;

	for (size_t i = 0; i < SIZE(thread); i++)
		pthread_create(&thread[i], NULL, open_some, NULL);
	for (size_t i = 0; i < SIZE(thread); i++) {
		pthread_join(thread[i], &some);
		failed += (long)some;
	}
	held("many threads", !failed);
}

/* ---- Groups that are none ---- */

static void forged(void)
{
	struct perf_event_attr attr = instructions();
	int dir = open("/tmp", O_RDONLY | O_DIRECTORY), lost = 0, file, leader;

	file = openat(dir, "anon_inode:[pmuctl_event]", O_CREAT | O_RDWR, 0600);
	unlinkat(dir, "anon_inode:[pmuctl_event]", 0);
	lost += open_event(&attr, file, 0) != -EBADF;
	lost += open_event(&attr, memfd_create("[pmuctl_event]", 0), 0) != -EBADF;
	lost += open_event(&attr, open("/dev/pmuctl", O_RDWR), 0) != -EBADF;
	leader = open_event(&attr, -1, 0);
	close(leader);
	lost += open_event(&attr, leader, 0) != -EBADF;
	held("forged groups", !lost);
}

/* ---- A thread that has other rights than its process ---- */

static void *as_user(void *arg)
{
	struct perf_event_attr attr = instructions();

	(void)arg;
	attr.exclude_kernel = 0;
	syscall(__NR_setresgid, 1000, 1000, 1000);
	syscall(__NR_setresuid, 1000, 1000, 1000);
	return (void *)(long)open_event(&attr, -1, 0);
}

static void thread_rights(void)
{
	struct perf_event_attr attr = instructions();
	pthread_t thread;
	void *fd;

	attr.exclude_kernel = 0;
	pthread_create(&thread, NULL, as_user, NULL);
	pthread_join(thread, &fd);
	held("rights of a thread", (long)fd == -EACCES && open_event(&attr, -1, 0) >= 0);
}

/* ---- Memory that does not answer ---- */

static int open_stuck_memory(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(__NR_userfaultfd, O_CLOEXEC);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	range.range.start = (uintptr_t)page;
	range.range.len = 4096;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &range) < 0)
		exit(3);
	return open_event(page, -1, 0);
}

static void stuck(void)
{
	struct perf_event_attr attr = instructions();
	pid_t child[5];
	int failed = 0;

	for (size_t i = 0; i < SIZE(child); i++) {
		child[i] = fork();
		if (!child[i])
			_exit(open_stuck_memory() ? 1 : 2);
	}
	for (int i = 0; i < 20; i++)
		failed += open_event(&attr, -1, 0) < 0;
	for (size_t i = 0; i < SIZE(child); i++) {
		failed += waitpid(child[i], NULL, WNOHANG) != 0;
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
	held("stuck callers", !failed);
}

/* ---- Those who answer ---- */

static void tell_taken(pid_t pid, int fd, int got)
{
	char path[32], file[128] = "", name[32] = "";
	int from;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", got);
	if (readlink(path, file, sizeof(file) - 1) < 0)
		perror(path);
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	from = open(path, O_RDONLY);
	if (from < 0 || read(from, name, sizeof(name) - 1) < 0)
		perror(path);
	close(from);
	printf("took %d (%s) of %d (%s)\n", fd, file, pid, name);
}

/* Returns how many descriptors of a process could be taken. */
static int take_from(pid_t pid)
{
	int process = (int)syscall(__NR_pidfd_open, pid, 0), taken = 0;

	for (int fd = 3; process >= 0 && fd < 10; fd++) {
		int got = (int)syscall(__NR_pidfd_getfd, process, fd, 0);

		if (got < 0)
			continue;
		taken++;
		tell_taken(pid, fd, got);
		close(got);
	}
	if (process >= 0)
		close(process);
	return taken;
}

/* proc(5), /proc/PID/stat; 0 if it has gone */
static pid_t parent_of(pid_t pid)
{
	char path[32];
	pid_t parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %*c %d", &parent) != 1)
		parent = 0;
	fclose(file);
	return parent;
}

/* Of the parent, and of every process but those of ours while they answer; init's are strangers. */
static void take_all(void)
{
	struct perf_event_attr attr = instructions();
	pid_t child = fork();
	int taken = 0;

	if (!child)
		for (;;)
			close(open_event(&attr, -1, 0));
	for (int round = 0; round < 40; round++) {
		DIR *processes = opendir("/proc");
		struct dirent *entry;

		while (processes && (entry = readdir(processes))) {
			pid_t pid = atoi(entry->d_name);

			if (pid > 0 && pid != getpid() && pid != child && parent_of(pid) != 1)
				taken += take_from(pid);
		}
		closedir(processes);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	held("descriptors of others", !taken);
}

static void take_parents(void)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", getppid());
	fd = open(path, O_RDWR);
	held("descriptors of the parent", !take_from(getppid()) && fd < 0);
}

static void undumpable(void)
{
	struct perf_event_attr attr = instructions();
	int fd;

	prctl(PR_SET_DUMPABLE, 0);
	fd = open_event(&attr, -1, 0);
	held("undumpable", fd == -EACCES || fd >= 0);
	printf("undumpable: %s\n", fd < 0 ? "refused" : "opened");
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{ "changed", changed_attr }, { "killed", killed }, { "signalled", signalled },
	{ "many", many }, { "threads", threads }, { "forged", forged },
	{ "thread-rights", thread_rights }, { "stuck", stuck }, { "take", take_all },
	{ "take-parents", take_parents }, { "undumpable", undumpable },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++)
		for (size_t mode = 0; mode < SIZE(modes); mode++)
			if (!strcmp(argv[i], modes[mode].name))
				modes[mode].run();
	return 0;
}
