// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nothing is left of events that are closed, in whatever order events, tasks and
 * openers come to their end: neither memory, nor the PMU, nor a reason to stay loaded.
 */
#include "module.h"
#include "pmu.h"

#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>

#define ROUNDS		10000
#define TASKS		1000
/*
 * What the slab caches may grow during @ROUNDS rounds, in KiB: they keep some empty
 * slabs, and others use them too. One leaked object of 64 bytes a round is 640.
 */
#define SLAB_KB_MAX	400
/* The same for all memory; a task_struct a round is 40,000 and more. */
#define FREE_KB_MAX	4096
/* What a cache may show more in use: see check_objects() */
#define OBJECTS_MAX	200

static void raise_limit(void)
{
	struct rlimit limit = { 8192, 8192 };

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0, "%m");
}

TestSuite(load_leaks, .init = raise_limit);

/* Objects of a slab cache that are in use */
static long slab_objects(const char *cache)
{
	FILE *f = fopen("/proc/slabinfo", "re");
	char line[512], name[64];
	long used, found = -1;

	cr_assert_not_null(f);
	while (found < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %ld", name, &used) == 2 && !strcmp(name, cache))
			found = used;
	fclose(f);
	cr_assert(found >= 0, "no slab cache %s", cache);
	return found;
}

/* Let CPUs give back the free objects that they keep, which would count as used. */
static void shrink_cache(const char *cache)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/shrink", cache);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0, "%s: %m", path);
	cr_assert_eq(write(fd, "1", 1), 1, "%s: %m", path);
	close(fd);
}

static long open_files(void)
{
	FILE *f = fopen("/proc/sys/fs/file-nr", "re");
	long n;

	cr_assert_not_null(f);
	cr_assert_eq(fscanf(f, "%ld", &n), 1);
	fclose(f);
	return n;
}

struct memory {
	long slab;	/* KiB */
	long free;	/* KiB */
	long events;
	long tasks;
	long files;
};

/* What is freed by RCU needs a moment. */
static struct memory measure(void)
{
	struct memory m;

	sleep_ms(300);
	m.slab = meminfo("Slab");
	m.free = free_memory();
	shrink_cache("pmuctl_event");
	shrink_cache("task_struct");
	m.events = slab_objects("pmuctl_event");
	m.tasks = slab_objects("task_struct");
	m.files = open_files();
	return m;
}

/* How often to measure: grace periods take longer when much is to be freed. */
#define TRIES	200

/*
 * The slab that a CPU is at counts with its free objects, so some growth is no leak; a
 * leak is 300 objects or more. An event holds its context, and a
 * context its task, so of these three the tasks tell most.
 */
static void check_objects(const struct memory *before, const char *what)
{
	struct memory after = measure();
	unsigned int i;

	for (i = 0; i < TRIES && (after.tasks - before->tasks >= OBJECTS_MAX ||
				  after.events - before->events >= OBJECTS_MAX ||
				  after.files - before->files >= OBJECTS_MAX); i++)
		after = measure();
	cr_expect_lt(after.events - before->events, OBJECTS_MAX, "%s: %+ld events",
		     what, after.events - before->events);
	cr_expect_lt(after.tasks - before->tasks, OBJECTS_MAX, "%s: %+ld tasks",
		     what, after.tasks - before->tasks);
	cr_expect_lt(after.files - before->files, OBJECTS_MAX, "%s: %+ld files",
		     what, after.files - before->files);
	cr_expect_eq(module_info().hw_events, 0);
	cr_expect_eq(module_settled_info().pmu_owner, PMUCTL_OWNER_NOBODY);
}

/* For rounds of the same task: no memory of any kind may go. */
static void check_memory(const struct memory *before, const char *what)
{
	struct memory after = measure();
	unsigned int i;

	for (i = 0; i < TRIES && (after.slab - before->slab >= SLAB_KB_MAX ||
				  before->free - after.free >= FREE_KB_MAX); i++)
		after = measure();
	cr_expect_lt(after.slab - before->slab, SLAB_KB_MAX, "%s: slabs %+ld KiB",
		     what, after.slab - before->slab);
	cr_expect_lt(before->free - after.free, FREE_KB_MAX, "%s: memory %+ld KiB",
		     what, after.free - before->free);
	check_objects(before, what);
}

/* An event each, with @pages pages of it mapped, if any */
static void open_and_close(unsigned int rounds, pid_t pid, int cpu, size_t pages)
{
	struct perf_event_attr attr = instructions_u();
	int device = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC), fd;
	struct pmuctl_open request = {
		.size = sizeof(request), .attr = (uintptr_t)&attr,
		.pid = pid, .cpu = cpu, .group_fd = -1,
	};
	void *map;

	while (rounds--) {
		fd = ioctl(device, PMUCTL_IOC_OPEN, &request);
		cr_assert(fd >= 0, "%u to go: %m", rounds);
		if (pages) {
			map = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			cr_assert_neq(map, MAP_FAILED, "%u to go: %m", rounds);
			munmap(map, pages * 4096);
		}
		close(fd);
	}
	close(device);
}

static void check_rounds(pid_t pid, int cpu, size_t pages, const char *what)
{
	struct memory before;

	open_and_close(ROUNDS / 10, pid, cpu, pages); /* what is allocated once */
	before = measure();
	open_and_close(ROUNDS, pid, cpu, pages);
	check_memory(&before, what);
}

Test(load_leaks, ten_thousand_rounds_on_self)
{
	check_rounds(0, -1, 0, "self");
}

Test(load_leaks, ten_thousand_rounds_on_another_task)
{
	struct worker w;

	worker_start(&w, false);
	check_rounds(w.tid, -1, 0, "another task");
	worker_end(&w);
}

Test(load_leaks, ten_thousand_rounds_on_a_cpu)
{
	check_rounds(-1, 1, 0, "CPU 1");
}

Test(load_leaks, ten_thousand_mapped_pages)
{
	check_rounds(0, -1, 1, "page of an event");
}

static void open_inherited(unsigned int rounds)
{
	struct perf_event_attr attr = instructions_u();

	attr.inherit = 1;
	while (rounds--)
		close(event_open(attr));
}

Test(load_leaks, ten_thousand_that_are_inherited)
{
	struct memory before;

	open_inherited(ROUNDS / 10);
	before = measure();
	open_inherited(ROUNDS);
	check_memory(&before, "inherited");
}

/* Which this CPU keeps then: there is no less of it. */
Test(load_leaks, what_was_freed_is_free)
{
	struct memory before = measure();

	for (int i = 0; i < 8; i++) {
		const size_t size = (i + 1) * 8ul << 20;
		void *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		cr_assert_neq(map, MAP_FAILED);
		munmap(map, size);
		cr_expect_lt(labs(before.free - free_memory()), FREE_KB_MAX, "%ld of %ld KiB",
			     free_memory(), before.free);
	}
}

Test(load_leaks, ten_thousand_mapped_rings)
{
	check_rounds(0, -1, 1 + 4, "ring");
}

Test(load_leaks, ten_thousand_refusals)
{
	const char *name;
	struct perf_event_attr attr = user_attr(pmu_missing_event(&name));
	struct perf_event_attr fine = instructions_u();
	struct memory before = { 0 };
	unsigned int i;

	for (i = 0; i < ROUNDS + ROUNDS / 10; i++) {
		if (i == ROUNDS / 10)
			before = measure();
		switch (i % 3) {
		case 0:
			cr_assert_eq(event_try(attr), -ENOENT);
			break;
		case 1:
			cr_assert_eq(event_try(fine, 0x3fffff), -ESRCH);
			break;
		case 2:
			cr_assert_eq(event_try(fine, -2), -ESRCH);
			break;
		}
	}
	check_memory(&before, "refusals");
}

/* Events live on when their tasks have ended. */
static void outlive(unsigned int tasks, int *fd)
{
	struct perf_event_attr attr = instructions_u();
	unsigned int i;
	int ends[2];
	pid_t child;
	char byte;

	for (i = 0; i < tasks; i++) {
		cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
		child = fork_child();
		if (!child)
			_exit(read(ends[0], &byte, 1) != 1);
		fd[i] = event_open(attr, child);
		cr_assert_eq(write(ends[1], "x", 1), 1);
		cr_assert_eq(waitpid(child, NULL, 0), child);
		close(ends[0]);
		close(ends[1]);
	}
	for (i = 0; i < tasks; i++) {
		cr_assert_gt(event_value(fd[i]), 0);
		close(fd[i]);
	}
}

Test(load_leaks, a_thousand_tasks_that_end_before_their_events)
{
	static int fd[TASKS];
	struct memory before;

	outlive(TASKS / 10, fd);
	before = measure();
	outlive(TASKS, fd);
	check_objects(&before, "dead tasks");
}

/* Openers end, by themselves or killed, with events open on a task that lives on. */
static void end_openers(unsigned int n, pid_t target)
{
	struct perf_event_attr attr = instructions_u();
	unsigned int i;
	pid_t child;

	for (i = 0; i < n; i++) {
		child = fork_child();
		if (!child) {
			event_open(attr, target);
			event_open(attr);
			event_open(attr, -1, i % 2);
			if (i % 2)
				kill(getpid(), SIGKILL);
			_exit(0);
		}
		cr_assert_eq(waitpid(child, NULL, 0), child);
	}
}

Test(load_leaks, a_thousand_openers_that_end_before_their_target)
{
	struct perf_event_attr attr = instructions_u();
	struct memory before;
	struct worker w;
	int fd;

	worker_start(&w, false);
	end_openers(TASKS / 10, w.tid);
	before = measure();
	end_openers(TASKS, w.tid);
	check_objects(&before, "dead openers");
	fd = event_open(attr, w.tid);
	cr_expect_eq(worker_count_loop(&w, fd, 1000), 2000);
	close(fd);
	worker_end(&w);
}

Test(load_leaks, killed_opener_gives_the_pmu_back)
{
	struct perf_event_attr attr = instructions_u();
	int ends[2], i, fd;
	pid_t opener;
	char byte;

	cr_assert_eq(pipe(ends), 0);
	opener = fork_child();
	if (!opener) {
		for (i = 0; i < 5; i++)
			event_open(attr, i % 2 ? 0 : -1, i % 2 ? -1 : 0);
		if (write(ends[1], "x", 1) == 1)
			for (;;)
				user_loop(1000000);
		_exit(1);
	}
	cr_assert_eq(read(ends[0], &byte, 1), 1);
	cr_expect_eq(module_info().hw_events, 5);
	cr_expect_eq(perf_try(&attr, 0, -1), -EBUSY);
	kill(opener, SIGKILL);
	cr_assert_eq(waitpid(opener, NULL, 0), opener);
	cr_expect_eq(module_info().hw_events, 0);
	fd = perf_try(&attr, 0, -1);
	cr_expect(fd >= 0, "perf: %s", strerror(-fd));
	close(fd);
}

/* All at once: a task with events on it is killed together with its opener. */
Test(load_leaks, group_of_processes_killed_at_once)
{
	struct perf_event_attr attr = instructions_u();
	struct memory before = { 0 };
	unsigned int round;
	pid_t opener, target;

	for (round = 0; round < 320; round++) {
		if (round == 20)
			before = measure();
		opener = fork_child();
		if (!opener) {
			setpgid(0, 0);
			target = fork_child();
			if (!target)
				for (;;)
					user_loop(1000);
			event_open(attr, target);
			event_open(attr);
			kill(0, SIGKILL);
		}
		cr_assert_eq(waitpid(opener, NULL, 0), opener);
	}
	check_objects(&before, "killed groups");
}

static void *pause_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* An event of a process with a second thread, whose context nobody has otherwise */
static void count_processes(unsigned int n)
{
	struct perf_event_attr attr = instructions_u();
	pthread_t thread;
	int ready[2], fd;
	pid_t child;
	char byte;

	attr.inherit = 1;
	while (n--) {
		cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
		child = fork_child();
		if (!child) {
			if (pthread_create(&thread, NULL, pause_for_ever, NULL) || write(ready[1], "x", 1) != 1)
				_exit(1);
			pause_for_ever(NULL);
		}
		cr_assert_eq(read(ready[0], &byte, 1), 1);
		fd = event_open(attr, child, .flags = PMUCTL_OPEN_PROCESS);
		raw_reap(child);
		close(fd);
		close(ready[0]);
		close(ready[1]);
	}
}

Test(load_leaks, processes_that_end_before_their_events)
{
	struct memory before;

	count_processes(TASKS / 10);
	before = measure();
	count_processes(TASKS * 3 / 10);
	check_objects(&before, "processes");
}

/* Who joins a leader that an exec has ended is refused when all else is there already. */
static void refuse_joins(unsigned int n)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	char *const args[] = { "sleep", "1000", NULL };
	int go[2], leader;
	pid_t child;
	char byte;

	attr.remove_on_exec = 1;
	while (n--) {
		struct pollfd ended = { .events = 0 };

		cr_assert_eq(pipe2(go, O_CLOEXEC), 0);
		child = fork_child();
		if (!child) {
			if (read(go[0], &byte, 1) == 1)
				execv("/bin/sleep", args);
			_exit(1);
		}
		leader = event_open(attr, child);
		cr_assert_eq(write(go[1], "x", 1), 1);
		ended.fd = leader;
		cr_assert_eq(poll(&ended, 1, -1), 1);
		cr_assert_eq(event_try(attr, child, .group = leader), -ESRCH);
		raw_reap(child);
		close(leader);
		close(go[0]);
		close(go[1]);
	}
}

Test(load_leaks, joins_that_are_refused)
{
	struct memory before;

	refuse_joins(TASKS / 50);
	before = measure();
	refuse_joins(TASKS * 3 / 10);
	check_objects(&before, "refused joins");
}
