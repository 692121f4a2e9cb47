// SPDX-License-Identifier: GPL-2.0-only
/* libs: -lipt */
/*
 * Traces that are inherited: what a task starts is traced with it, a buffer for each CPU, and the
 * traces of both CPUs decode to just what the PMU counts of all. For --cpu intel-pt.
 */
#include "aux_busy.h"
#include "aux_code.h"
#include "aux_family.h"

#include <pthread.h>
#include <time.h>

TestSuite(aux_inherit, .timeout = 600);

#define CHILDREN	6

/* ---- What it starts ---- */

static int count_all(pid_t pid, uint64_t config)
{
	union raw_attr a = aux_inherited(raw_attr(PERF_TYPE_HARDWARE, config));

	a.attr.disabled = 0;
	return event_open(a, pid);
}

static __attribute__((noinline, aligned(16))) void hundred_rounds(void)
{
	user_loop(100);
}

static void *wander(void *unused)
{
	(void)unused;
	for (int i = 0; i < 40; i++) {
		family_go_to(i % FAMILY_CPUS);
		hundred_rounds();
		user_loop(200);
	}
	return NULL;
}

/* Processes, threads of theirs, programs, and theirs; on both CPUs, in each other's way */
static void family(void)
{
	pthread_t thread;

	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid < 0)
			_exit(2);
		if (pid)
			continue;
		family_go_to(i % FAMILY_CPUS);
		if (fork() == 0) {
			wander(NULL);
			execl(TRACED, TRACED, "1", "2", "3", NULL);
			_exit(3);
		}
		if (pthread_create(&thread, NULL, wander, NULL))
			_exit(4);
		user_loop(5000);
		pthread_join(thread, NULL);
		wait(NULL);
		_exit(0);
	}
	user_loop(1000);
	while (wait(NULL) > 0)
		continue;
}

Test(aux_inherit, all_that_a_task_starts)
{
	pid_t pid = family_start(family);
	int instructions = count_all(pid, PERF_COUNT_HW_INSTRUCTIONS);
	int branches = count_all(pid, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	uint64_t decoded = 0, jumps = 0;
	struct trace t[FAMILY_CPUS];

	decode_self();
	add_program(decode_image, TRACED);
	family_traces(t, pid);
	family_run(pid);
	for (int cpu = 0; cpu < FAMILY_CPUS; cpu++) {
		struct decoded d;

		trace_records(&t[cpu]);
		d = trace_decode(t[cpu].aux, t[cpu].bytes);
		cr_assert_eq(d.errors, 0, "CPU %d: %s", cpu, d.error);
		cr_assert_eq(t[cpu].truncated, 0);
		cr_assert_leq(t[cpu].starts, 1);
		cr_assert_eq(t[cpu].bytes, t[cpu].page->aux_head);
		cr_assert_eq(raw_read(t[cpu].fd), t[cpu].bytes, "CPU %d", cpu);
		cr_assert_gt(t[cpu].records, CHILDREN);
		decoded += d.instructions;
		jumps += d.branches;
		trace_close(&t[cpu]);
	}
	cr_assert_eq(decoded, raw_read(instructions), "%lu of %lu", decoded,
		     raw_read(instructions));
	cr_assert_eq(jumps, raw_read(branches));
}

/* ---- Threads that are there already ---- */

static pthread_barrier_t all_there;

static void *late_loop(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&all_there);
	user_loop(100000);
	pthread_barrier_wait(&all_there);
	return NULL;
}

Test(aux_inherit, all_threads_of_a_process)
{
	union raw_attr a = aux_inherited(trace_attr());
	struct trace t = { .fd = -1 };
	pthread_t thread;

	pthread_barrier_init(&all_there, NULL, 2);
	trace_pin(0, 0);
	cr_assert_eq(pthread_create(&thread, NULL, late_loop, NULL), 0);
	t.fd = event_open(a, getpid(), 0, .flags = PMUCTL_OPEN_PROCESS);
	cr_assert_eq(trace_try_map(&t, FAMILY_PAGES, PROT_READ | PROT_WRITE), 0);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	pthread_barrier_wait(&all_there);
	pthread_barrier_wait(&all_there);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	pthread_join(thread, NULL);
	decode_self();
	trace_records(&t);
	cr_assert_gt(trace_decode(t.aux, t.bytes).instructions, 200000);
	cr_assert_eq(raw_read(t.fd), t.bytes);
	trace_close(&t);
}

/* ---- Pauses ---- */

#define NUMBER_RESUMES	__NR_getpriority

/* One child resumes its trace, and the next one does not, again and again. */
static void some_resume(void)
{
	family_go_to(0);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (!pid) {
			if (i % 2)
				syscall(NUMBER_RESUMES, 0, 0);
			for (int k = 0; k < 20; k++) {
				hundred_rounds();
				sched_yield();
			}
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		continue;
}

Test(aux_inherit, each_task_is_paused_by_itself)
{
	union raw_attr a = aux_inherited(trace_with_action(trace_attr(), PMUCTL_AUX_START_PAUSED));
	union raw_attr resume = aux_inherited(raw_attr(PERF_TYPE_TRACEPOINT, 0));
	pid_t pid = family_start(some_resume);
	struct pmuctl_aux_status status;
	struct decoded d;
	struct trace t;
	char filter[20];
	int fd;

	a.attr.disabled = 0;
	resume.attr.disabled = 0;
	resume.attr.exclude_kernel = 0;
	resume.attr.sample_period = 1;
	resume = trace_with_action(resume, PMUCTL_AUX_RESUME);
	trace_open(&t, &a, pid, 0, FAMILY_PAGES, PROT_READ | PROT_WRITE);
	fd = event_open(resume, pid, 0, .group = t.fd, .tracepoint = "raw_syscalls:sys_enter");
	snprintf(filter, sizeof(filter), "id == %d", NUMBER_RESUMES);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter), 0);
	t.watched = pid;
	family_run(pid);
	trace_records(&t);
	status = trace_status(t.fd);
	cr_assert_eq(status.resumes, CHILDREN / 2);
	cr_assert_eq(t.watched_bytes, 0, "the parent never resumed");
	decode_self();
	decode_from = (uintptr_t)hundred_rounds;
	decode_to = decode_from + 0xf;
	d = trace_decode(t.aux, t.bytes);
	cr_assert_eq(d.errors, 0, "%s", d.error);
	/* Half of the children, 20 times 100 rounds of two instructions and one or two more */
	cr_assert_geq(d.inside, CHILDREN / 2 * 20 * 201);
	cr_assert_leq(d.inside, CHILDREN / 2 * 20 * 203);
	close(fd);
	trace_close(&t);
}

/* ---- Address filters ---- */

Test(aux_inherit, addresses_are_for_all)
{
	pid_t pid = family_start(family);
	struct trace t[FAMILY_CPUS];
	char filter[60];

	decode_self();
	add_program(decode_image, TRACED);
	family_traces(t, pid);
	decode_from = (uintptr_t)hundred_rounds;
	decode_to = decode_from + 0xf;
	decode_filtered = true;
	snprintf(filter, sizeof(filter), "filter %#lx/0x10", decode_from);
	for (int cpu = 0; cpu < FAMILY_CPUS; cpu++)
		cr_assert_eq(ioctl(t[cpu].fd, PERF_EVENT_IOC_SET_FILTER, filter), 0);
	family_run(pid);
	for (int cpu = 0; cpu < FAMILY_CPUS; cpu++) {
		struct decoded d;

		trace_records(&t[cpu]);
		d = trace_decode(t[cpu].aux, t[cpu].bytes);
		cr_assert_eq(d.errors, 0, "CPU %d: %s", cpu, d.error);
		cr_assert_eq(d.instructions, d.inside);
		cr_assert_gt(d.inside, 0);
		trace_close(&t[cpu]);
	}
}

/* ---- A buffer that comes and goes while others write to it ---- */

static void restless(void)
{
	for (;;) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			wander(NULL);
			_exit(0);
		}
		user_loop(500);
		waitpid(pid, NULL, 0);
	}
}

Test(aux_inherit, buffers_that_come_and_go)
{
	pid_t pid = traced_task_start(restless);
	union raw_attr a = aux_inherited(trace_attr());
	uint64_t bytes = 0;

	a.attr.disabled = 0;
	for (int round = 0; round < 60; round++) {
		struct trace t[FAMILY_CPUS] = { 0 };

		for (int cpu = 0; cpu < FAMILY_CPUS; cpu++)
			trace_open(&t[cpu], &a, pid, cpu, 16, PROT_READ | PROT_WRITE);
		for (int i = 0; i < 5; i++) {
			nap();
			for (int cpu = 0; cpu < FAMILY_CPUS; cpu++) {
				bytes += head_of(&t[cpu]) - t[cpu].page->aux_tail;
				t[cpu].page->aux_tail = head_of(&t[cpu]);
			}
		}
		for (int cpu = 0; cpu < FAMILY_CPUS; cpu++) {
			/* Once with the mapping first, once with the descriptor */
			if (round % 2)
				trace_close(&t[cpu]);
			else
				close(t[cpu].fd);
		}
		if (round % 2)
			continue;
		for (int cpu = 0; cpu < FAMILY_CPUS; cpu++) {
			nap();
			munmap((void *)t[cpu].aux, t[cpu].size);
			munmap(t[cpu].page, (1 + trace_ring_pages) * TRACE_PAGE);
		}
	}
	traced_task_end(pid);
	cr_assert_gt(bytes, 0);
}

static void set_online(int cpu, bool online)
{
	char path[60];
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	cr_assert_eq(write(fd, online ? "1" : "0", 1), 1);
	close(fd);
}

Test(aux_inherit, a_cpu_that_goes)
{
	pid_t pid = traced_task_start(restless);
	union raw_attr a = aux_inherited(trace_attr());
	struct trace t;
	uint64_t before;

	a.attr.disabled = 0;
	for (int round = 0; round < 6; round++) {
		trace_open(&t, &a, pid, 1, 16, PROT_READ | PROT_WRITE);
		nap();
		set_online(1, false);
		if (round % 2)
			trace_close(&t);
		set_online(1, true);
		if (round % 2)
			continue;
		before = t.page->aux_tail = head_of(&t);
		for (int i = 0; i < 5000 && head_of(&t) == before; i++)
			nap();
		cr_assert_gt(head_of(&t), before, "nothing is traced since it came back");
		trace_close(&t);
	}
	traced_task_end(pid);
}

/* ---- One trace of a task at a time ---- */

static pid_t *told_pid;

static void share_pid(void)
{
	told_pid = mmap(NULL, TRACE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(told_pid, MAP_FAILED);
}

static pid_t wait_for_pid(void)
{
	while (!__atomic_load_n(told_pid, __ATOMIC_ACQUIRE))
		nap();
	return *told_pid;
}

/* A parent of one that goes on for ever */
static void has_one_child(void)
{
	pid_t pid;

	family_go_to(0);
	while (!*told_pid)
		usleep(1000);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			user_loop(1000);
			usleep(500);
		}
	}
	__atomic_store_n(told_pid, pid, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

/* A sibling gets its children later than its leader: of a task that somebody traces, none. */
Test(aux_inherit, a_sibling_does_not_take_a_trace_away)
{
	union raw_attr dummy = aux_inherited(raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY));
	union raw_attr all = aux_inherited(trace_attr()), one = trace_attr();
	uint64_t before;
	struct trace t;
	pid_t parent;
	int leader;

	share_pid();
	parent = traced_task_start(has_one_child);
	leader = event_open(dummy, parent, 0);
	*told_pid = 1;
	while (wait_for_pid() == 1)
		nap();
	one.attr.disabled = 0;
	one.attr.enable_on_exec = 0;
	trace_open(&t, &one, *told_pid, 0, 64, PROT_READ | PROT_WRITE);
	check_refused(OPEN(all, parent, 0, .group = leader), EBUSY, PMUCTL_WHY_AUX_BUSY, "attr.type",
		      "another event of pmuctl already traces a task that is to inherit this, and a CPU can write only one trace at a time: close that event first");
	for (int i = 0; i < 50 && !head_of(&t); i++)
		nap();
	before = head_of(&t);
	cr_assert_gt(before, 0);
	trace_close(&t);
	close(event_open(all, parent, 0, .group = leader));
	traced_task_end(parent);
}

static void forks_for_ever(void)
{
	family_go_to(0);
	for (;;) {
		pid_t pid = fork();

		if (!pid) {
			usleep(3000);
			_exit(0);
		}
		__atomic_store_n(told_pid, pid, __ATOMIC_RELEASE);
		waitpid(pid, NULL, 0);
	}
}

static volatile bool is_over;

/* Gets the CPU at any moment of a fork there, for 2 ms. */
static void *comes_between(void *unused)
{
	const struct sched_param first = { .sched_priority = 10 };
	unsigned int seed = 7;

	(void)unused;
	family_go_to(0);
	sched_setscheduler(0, SCHED_FIFO, &first);
	while (!is_over) {
		struct timespec begin, now;

		usleep(500 + rand_r(&seed) % 4000);
		clock_gettime(CLOCK_MONOTONIC, &begin);
		do {
			clock_gettime(CLOCK_MONOTONIC, &now);
		} while (1000000000L * (now.tv_sec - begin.tv_sec) + now.tv_nsec - begin.tv_nsec <
			 2000000);
	}
	return NULL;
}

/* How many groups a task has */
static unsigned int groups_of(pid_t pid)
{
	FILE *file = fopen("/sys/kernel/debug/pmuctl/contexts", "re");
	char line[400], name[40];
	bool is_here = false;
	unsigned int n = 0;

	cr_assert_not_null(file);
	snprintf(name, sizeof(name), "task %d (", pid);
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "task ", 5))
			is_here = !strncmp(line, name, strlen(name));
		n += is_here && strstr(line, "flexible");
	}
	fclose(file);
	return n;
}

/* Its number is there before it has inherited anything. */
Test(aux_inherit, a_task_that_is_being_made_has_one_trace)
{
	union raw_attr all = aux_inherited(trace_attr()), one = trace_attr();
	time_t until = time(NULL) + 8;
	unsigned int opened = 0;
	pthread_t thread;
	pid_t pid;
	int fd;

	share_pid();
	one.attr.enable_on_exec = 0;
	family_go_to(1);
	pid = traced_task_start(forks_for_ever);
	event_open(all, pid, 0);
	cr_assert_eq(pthread_create(&thread, NULL, comes_between, NULL), 0);
	while (time(NULL) < until) {
		pid_t next = wait_for_pid() + 1;

		fd = raw_open(&one, next, 0, 0, NULL);
		if (fd < 0)
			continue;
		opened++;
		usleep(2500);
		cr_expect_leq(groups_of(next), 1, "task %d has two traces", next);
		close(fd);
	}
	is_over = true;
	pthread_join(thread, NULL);
	traced_task_end(pid);
	fprintf(stderr, "%u tasks were traced before they ran\n", opened);
}

/* ---- A buffer that is full ---- */

/* One child fills it, and the next finds it so. */
static void fill(void)
{
	family_go_to(0);
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (!pid) {
			user_loop(i ? 2000 : 300000);
			_exit(0);
		}
		*told_pid = pid;
		waitpid(pid, NULL, 0);
	}
}

Test(aux_inherit, each_task_without_room_is_told)
{
	union raw_attr a = aux_inherited(trace_attr());
	pid_t pid;
	struct trace t;

	share_pid();
	pid = family_start(fill);
	a.attr.disabled = 0;
	trace_open(&t, &a, pid, 0, 1, PROT_READ | PROT_WRITE);
	family_run(pid);
	t.watched = *told_pid;
	trace_records(&t);
	cr_assert_gt(t.watched_records, 0);
	cr_assert_eq(t.watched_bytes, 0);
	cr_assert_gt(t.truncated, 1);
	trace_close(&t);
}
