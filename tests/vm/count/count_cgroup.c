// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of a cgroup: they count what its tasks execute, and those of the cgroups below it, and
 * nothing else, exactly; whoever else runs on the CPU, and when a task moves. Each is tried with
 * the kernel's own perf too.
 */
#include "cgroups.h"

#define N	100000ull

TestSuite(count_cgroup, .init = cgroups_begin, .fini = cgroups_end);

/* A worker on a CPU, in a cgroup */
static void start_in(struct worker *w, const char *path, int cpu)
{
	worker_start(w, false);
	pin_task(w->tid, cpu);
	cgroup_put(path, w->tid);
}

/* As pmuctl counts it, and as perf does */
static void with_both(void (*test)(const struct counting *by))
{
	test(&counting_ours);
	test(&counting_perfs);
}

/* ---- Who counts ---- */

static void siblings(const struct counting *by)
{
	struct perf_event_attr attr = instructions_u();
	AUTO_CLOSE int a = cgroup_event(by, &attr, "a", 0);
	AUTO_CLOSE int b = cgroup_event(by, &attr, "b", 0);
	struct worker one, other;
	uint64_t before;

	start_in(&one, "a", 0);
	start_in(&other, "b", 0);
	cr_expect_eq(worker_count_loop(&one, a, N), LOOP_INSTRUCTIONS * N, "%s", by->name);
	cr_expect_eq(worker_count_loop(&other, b, N), LOOP_INSTRUCTIONS * N, "%s", by->name);
	before = event_value(a);
	worker_run(&other, N);
	cr_expect_eq(event_value(a), before, "%s", by->name);
	worker_end(&one);
	worker_end(&other);
}

Test(count_cgroup, each_of_two_siblings)
{
	cgroup_add("a");
	cgroup_add("b");
	with_both(siblings);
}

/* They share the CPU, and are switched by the scheduler. */
static void at_once(const struct counting *by)
{
	struct perf_event_attr attr = instructions_u();
	AUTO_CLOSE int a = cgroup_event(by, &attr, "a", 0);
	AUTO_CLOSE int b = cgroup_event(by, &attr, "b", 0);
	uint64_t n[] = { 1, 20 * N + 1 };
	struct worker one, other;
	struct counts c[3][2];

	start_in(&one, "a", 0);
	start_in(&other, "b", 0);
	c[0][0] = event_read(a);
	c[0][1] = event_read(b);
	for (int i = 0; i < 2; i++) {
		worker_order(&one, n[i]);
		worker_order(&other, 2 * n[i]);
		worker_wait(&one);
		worker_wait(&other);
		c[i + 1][0] = event_read(a);
		c[i + 1][1] = event_read(b);
	}
	for (int i = 0; i < 2; i++)
		cr_expect_eq(c[2][i].value - c[1][i].value - (c[1][i].value - c[0][i].value),
			     (i + 1) * (n[1] - n[0]) * LOOP_INSTRUCTIONS, "%s", by->name);
	worker_end(&one);
	worker_end(&other);
}

Test(count_cgroup, two_siblings_at_once)
{
	cgroup_add("a");
	cgroup_add("b");
	with_both(at_once);
}

static void nested(const struct counting *by)
{
	struct perf_event_attr attr = instructions_u();
	AUTO_CLOSE int above = cgroup_event(by, &attr, "p", 0);
	AUTO_CLOSE int a = cgroup_event(by, &attr, "p/a", 0);
	struct worker w[3];
	uint64_t before;

	start_in(&w[0], "p/a", 0);
	start_in(&w[1], "p/b", 0);
	start_in(&w[2], "", 0);
	cr_expect_eq(worker_count_loop(&w[0], above, N), LOOP_INSTRUCTIONS * N, "%s", by->name);
	cr_expect_eq(worker_count_loop(&w[1], above, N), LOOP_INSTRUCTIONS * N, "%s", by->name);
	cr_expect_eq(worker_count_loop(&w[0], a, N), LOOP_INSTRUCTIONS * N, "%s", by->name);
	before = event_value(a);
	worker_run(&w[1], N);
	cr_expect_eq(event_value(a), before, "%s", by->name);
	before = event_value(above);
	worker_run(&w[2], N);
	cr_expect_eq(event_value(above), before, "%s", by->name);
	for (int i = 0; i < 3; i++)
		worker_end(&w[i]);
}

Test(count_cgroup, those_below)
{
	cgroup_add("p");
	cgroup_add("p/a");
	cgroup_add("p/b");
	with_both(nested);
}

/* The root has all: what runs there is what an event of the CPU counts. */
static void root(const struct counting *by)
{
	struct perf_event_attr attr = instructions_u();
	AUTO_CLOSE int fd = cgroup_event(by, &attr, "", 1);
	AUTO_CLOSE int all = by == &counting_ours ? event_open(attr, -1, 1) :
						    perf_try(&attr, -1, 1);
	struct counts before, after;
	uint64_t of_all;
	struct worker w;

	start_in(&w, "a", 1);
	before = event_read(fd);
	worker_run(&w, N);
	/* Others may have run there, too. */
	cr_expect_geq(event_read(fd).value - before.value, LOOP_INSTRUCTIONS * N, "%s", by->name);
	pin_here(0);
	before = event_read(fd);
	of_all = event_read(all).enabled;
	sleep_ms(50);
	of_all = event_read(all).enabled - of_all;
	after = event_read(fd);
	cr_expect_geq(after.enabled - before.enabled, of_all, "%s: the idle task is in it",
		      by->name);
	worker_end(&w);
}

Test(count_cgroup, the_root)
{
	cgroup_add("a");
	with_both(root);
}

/* ---- Times ---- */

/* Enabled is the time for which tasks of the cgroup run. */
static void times(const struct counting *by)
{
	struct perf_event_attr attr = instructions_u();
	AUTO_CLOSE int fd = cgroup_event(by, &attr, "a", 0);
	struct counts c[3];
	struct worker one, other;
	uint64_t start;

	start_in(&one, "a", 0);
	start_in(&other, "b", 0);
	c[0] = event_read(fd);
	worker_run(&other, 10 * N);
	sleep_ms(20);
	/* It runs a little before and after what it is told to do, too. */
	start = clock_ns(CLOCK_MONOTONIC);
	c[1] = event_read(fd);
	worker_run(&one, 10 * N);
	c[2] = event_read(fd);
	start = clock_ns(CLOCK_MONOTONIC) - start;
	cr_expect_eq(c[1].enabled, c[0].enabled, "%s", by->name);
	cr_expect_eq(c[1].running, c[0].running, "%s", by->name);
	cr_expect_gt(c[2].enabled, c[1].enabled, "%s", by->name);
	cr_expect_leq(c[2].enabled - c[1].enabled, start, "%s", by->name);
	cr_expect_eq(c[2].enabled, c[2].running, "%s", by->name);
	worker_end(&one);
	worker_end(&other);
}

Test(count_cgroup, times_are_those_of_its_tasks)
{
	cgroup_add("a");
	cgroup_add("b");
	with_both(times);
}

/* ---- Tasks that move ---- */

struct runner {
	volatile int begin, done;
};

/* Runs on CPU 1, spins there, and loops when it is told to. */
static pid_t start_runner(struct runner *r)
{
	pid_t pid = fork_child();

	if (pid)
		return pid;
	pin_here(1);
	for (int k = 1;; k++) {
		while (r->begin < k)
			;
		user_loop(N);
		r->done = k;
	}
}

static void run_once(struct runner *r)
{
	int k = r->begin + 1;

	r->begin = k;
	while (r->done < k)
		;
}

/* When the move has been made, what its task executes counts there, and nowhere else. */
static void move_running(const struct counting *by)
{
	struct runner *r = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct perf_event_attr attr = instructions_u();
	AUTO_CLOSE int a = cgroup_event(by, &attr, "a", 1);
	AUTO_CLOSE int b = cgroup_event(by, &attr, "b", 1);
	uint64_t before;
	pid_t pid;

	pin_here(0);
	pid = start_runner(r);
	run_once(r);
	for (int i = 0; i < 200; i++) {
		cgroup_put(i % 2 ? "a" : "b", pid);
		before = event_value(i % 2 ? b : a);
		run_once(r);
		cr_assert_eq(event_value(i % 2 ? b : a), before, "%s: %d", by->name, i);
		cr_assert_geq(event_value(i % 2 ? a : b), (i / 2 + 1) * LOOP_INSTRUCTIONS * N,
			      "%s: %d", by->name, i);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(r, 4096);
}

Test(count_cgroup, a_task_that_moves_while_it_runs)
{
	cgroup_add("a");
	cgroup_add("b");
	with_both(move_running);
}

/* Of what it executes nothing is lost, nor counted twice. */
static void move_sum(const struct counting *by)
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	AUTO_CLOSE int a = cgroup_event(by, &attr, "a", 1);
	AUTO_CLOSE int b = cgroup_event(by, &attr, "b", 1);
	uint64_t of_task, of_both;
	int task;

	start_in(&w, "a", 1);
	pin_here(0);
	task = by == &counting_ours ? event_open(attr, w.tid) : perf_try(&attr, w.tid, -1);
	cr_assert(task >= 0, "%s", by->name);
	of_task = event_value(task);
	of_both = event_value(a) + event_value(b);
	for (int i = 0; i < 20; i++) {
		worker_order(&w, 20 * N);
		for (int k = 0; k < 20; k++)
			cgroup_put(k % 2 ? "a" : "b", w.tid);
		worker_wait(&w);
		cr_assert_eq(event_value(task) - of_task, event_value(a) + event_value(b) - of_both,
			     "%s: round %d", by->name, i);
	}
	close(task);
	worker_end(&w);
}

Test(count_cgroup, moves_lose_nothing)
{
	cgroup_add("a");
	cgroup_add("b");
	with_both(move_sum);
}

/* A thread of a process, in a threaded cgroup */
static void *looping_thread(void *arg)
{
	pin_here(1);
	__atomic_store_n((pid_t *)arg, gettid(), __ATOMIC_RELEASE);
	for (;;)
		user_loop(N);
	return NULL;
}

static void move_thread(const struct counting *by)
{
	struct perf_event_attr attr = instructions_u();
	AUTO_CLOSE int fd = cgroup_event(by, &attr, "t/a", 1);
	pid_t tid = 0, pid;
	uint64_t before;
	pthread_t thread;

	pid = fork_child();
	if (!pid) {
		volatile pid_t *shown = &tid;

		cgroup_put("t", getpid());
		pthread_create(&thread, NULL, looping_thread, &tid);
		while (!*shown)
			;
		raw_write_number(CGROUP_ROOT "/t/a/cgroup.threads", tid);
		pause();
	}
	while (event_value(fd) < N)
		usleep(1000);
	cgroup_put("", pid);
	before = event_value(fd);
	sleep_ms(20);
	cr_expect_eq(event_value(fd), before, "%s", by->name);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

Test(count_cgroup, threads_that_move)
{
	cgroup_add("t");
	cgroup_add("t/a");
	cr_assert_eq(raw_write_file(CGROUP_ROOT "/t/cgroup.type", "threaded"), 0);
	cr_assert_eq(raw_write_file(CGROUP_ROOT "/t/a/cgroup.type", "threaded"), 0);
	with_both(move_thread);
}

/* ---- Cgroups that go ---- */

static void removed(const struct counting *by)
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	uint64_t count;
	int fd;

	cgroup_add("a");
	fd = cgroup_event(by, &attr, "a", 0);
	start_in(&w, "a", 0);
	cr_expect_eq(worker_count_loop(&w, fd, N), LOOP_INSTRUCTIONS * N, "%s", by->name);
	cgroup_put("", w.tid);
	cgroup_del("a");
	count = event_value(fd);
	worker_run(&w, N);
	cr_expect_eq(event_value(fd), count, "%s", by->name);
	/* Another one of its name is another one. */
	cgroup_add("a");
	cgroup_put("a", w.tid);
	worker_run(&w, N);
	cr_expect_eq(event_value(fd), count, "%s", by->name);
	worker_end(&w);
	close(fd);
	cgroup_del("a");
}

Test(count_cgroup, one_that_is_removed)
{
	with_both(removed);
}

/* Its tasks end: those of the cgroup of a zombie */
static void ended(const struct counting *by)
{
	struct perf_event_attr attr = instructions_u();
	AUTO_CLOSE int fd = cgroup_event(by, &attr, "a", 0);
	struct worker w;

	start_in(&w, "a", 0);
	cr_expect_eq(worker_count_loop(&w, fd, N), LOOP_INSTRUCTIONS * N, "%s", by->name);
	worker_end(&w);
}

Test(count_cgroup, one_whose_tasks_end)
{
	cgroup_add("a");
	with_both(ended);
	cgroup_del("a");
}

/* ---- Groups, and more events than counters ---- */

static void group(const struct counting *by)
{
	struct perf_event_attr attr = instructions_u(), branches = branches_u();
	AUTO_CLOSE int directory = cgroup_fd("a"), other = cgroup_fd("b");
	AUTO_CLOSE int leader = by->try(&attr, directory, 0, -1);
	AUTO_CLOSE int sibling = by->try(&branches, directory, 0, leader);
	struct worker w;

	cr_assert(leader >= 0 && sibling >= 0, "%s", by->name);
	start_in(&w, "a", 0);
	cr_expect_eq(worker_count_loop(&w, leader, N), LOOP_INSTRUCTIONS * N, "%s", by->name);
	cr_expect_eq(worker_count_loop(&w, sibling, N), LOOP_BRANCHES * N, "%s", by->name);
	cr_expect_eq(by->try(&branches, other, 0, leader), -EINVAL, "%s", by->name);
	worker_end(&w);
}

Test(count_cgroup, groups)
{
	cgroup_add("a");
	cgroup_add("b");
	with_both(group);
}

#define MANY	12

/* Each sibling has so many events that all counters are taken twice: no one disturbs the other. */
Test(count_cgroup, each_cgroup_has_all_counters)
{
	struct perf_event_attr attr = branches_u();
	struct worker one, other;
	int a[4], b[4];

	cgroup_add("a");
	cgroup_add("b");
	attr.pinned = 1;
	for (int i = 0; i < 4; i++) {
		a[i] = cgroup_event(&counting_ours, &attr, "a", 0);
		b[i] = cgroup_event(&counting_ours, &attr, "b", 0);
	}
	start_in(&one, "a", 0);
	start_in(&other, "b", 0);
	worker_order(&other, 100 * N);
	for (int i = 0; i < 4; i++)
		cr_expect_eq(worker_count_loop(&one, a[i], N), LOOP_BRANCHES * N);
	worker_wait(&other);
	for (int i = 0; i < 4; i++)
		cr_expect_eq(worker_count_loop(&other, b[i], N), LOOP_BRANCHES * N);
	worker_end(&one);
	worker_end(&other);
}

static void multiplexed(const struct counting *by)
{
	struct perf_event_attr attr = branches_u();
	struct worker one, other;
	struct counts c;
	int fd[MANY];

	for (int i = 0; i < MANY; i++)
		fd[i] = cgroup_event(by, &attr, "a", 0);
	start_in(&one, "a", 0);
	start_in(&other, "b", 0);
	/* Until each has had its turn */
	for (int i = 0; i < MANY; i++) {
		while (!event_read(fd[i]).running) {
			worker_order(&other, N);
			worker_run(&one, 10 * N);
			worker_wait(&other);
		}
	}
	for (int i = 0; i < MANY; i++) {
		c = event_read(fd[i]);
		cr_expect_leq(c.running, c.enabled, "%s", by->name);
		close(fd[i]);
	}
	worker_end(&one);
	worker_end(&other);
}

Test(count_cgroup, more_events_than_counters)
{
	cgroup_add("a");
	cgroup_add("b");
	with_both(multiplexed);
}

/* ---- One descriptor for all CPUs ---- */

Test(count_cgroup, all_cpus)
{
	struct perf_event_attr attr = instructions_u();
	struct pmuctl_cpu_count each[2] = { };
	struct pmuctl_read_cpus cpus = {
		.size = sizeof(cpus), .nr = 2, .entry_size = sizeof(each[0]),
		.counts = (uintptr_t)each,
	};
	struct worker w[2];
	uint64_t before;
	int fd;

	cgroup_add("a");
	fd = cgroup_event(&counting_ours, &attr, "a", -1);
	start_in(&w[0], "a", 0);
	start_in(&w[1], "a", 1);
	for (int i = 0; i < 2; i++)
		cr_expect_eq(worker_count_loop(&w[i], fd, N), LOOP_INSTRUCTIONS * N);
	cr_assert_eq(ioctl(fd, PMUCTL_IOC_READ_CPUS, &cpus), 0, "%m");
	cr_expect_eq(each[0].value + each[1].value, event_value(fd));
	cr_expect_geq(each[1].value, LOOP_INSTRUCTIONS * N);
	cgroup_put("", w[0].tid);
	before = event_value(fd);
	worker_run(&w[0], N);
	cr_expect_eq(event_value(fd), before);
	/* Wherever it runs */
	pin_task(w[1].tid, 0);
	cr_expect_eq(worker_count_loop(&w[1], fd, N), LOOP_INSTRUCTIONS * N);
	for (int i = 0; i < 2; i++)
		worker_end(&w[i]);
	/* perf has no such event. */
	cr_expect_eq(counting_perfs.try(&attr, cgroup_fd("a"), -1, -1), -EINVAL);
}

static void bring_online(void)
{
	all_online();
	cgroups_end();
}

Test(count_cgroup, a_cpu_that_goes_and_comes_back, .fini = bring_online)
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	int fd;

	cgroup_add("a");
	fd = cgroup_event(&counting_ours, &attr, "a", -1);
	start_in(&w, "a", 1);
	cr_expect_eq(worker_count_loop(&w, fd, N), LOOP_INSTRUCTIONS * N);
	set_online(1, false);
	cr_expect_eq(worker_count_loop(&w, fd, N), LOOP_INSTRUCTIONS * N);
	set_online(1, true);
	pin_task(w.tid, 1);
	cr_expect_eq(worker_count_loop(&w, fd, N), LOOP_INSTRUCTIONS * N);
	worker_end(&w);
}
