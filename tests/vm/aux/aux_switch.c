// SPDX-License-Identifier: GPL-2.0-only
/* libs: -lipt */
/*
 * Traces across switches, on two CPUs: tasks that are traced and tasks that are not take turns
 * and wander, and every trace decodes to just the instructions and branches that the PMU
 * counts with it. First one trace for each task, then one for each CPU, with whatever runs
 * there. For --cpu intel-pt.
 */
#include "aux_code.h"

#include <time.h>

TestSuite(aux_switch, .timeout = 1200);

#define CPUS		2
#define TASKS		4
#define ROUNDS		40	/* of the program; some 10,000 instructions each */
#define BUFFER_PAGES	512
#define RECORD_PAGES	256	/* more than a slow kernel fills between two looks */

/* ---- Whom to switch to ---- */

/* What this task has run, ns */
static long cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1000000000l * t.tv_sec + t.tv_nsec;
}

/* Wait for four times as long as it has run: a slow kernel must leave something to the others. */
static void give_way(long *since)
{
	long now = cpu_time(), ran = now - *since;
	long pause = ran < 50000 ? 200000 : ran < 100000000 ? 4 * ran : 400000000;

	*since = now;
	nanosleep(&(struct timespec){ .tv_nsec = pause }, NULL);
}

/* A task that runs for a moment, again and again, before all others, and is not traced itself */
static pid_t start_disturber(int cpu)
{
	const struct sched_param first = { .sched_priority = 1 };
	pid_t pid = fork();
	long since = 0;

	cr_assert_geq(pid, 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_TIMERSLACK, 1);
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		_exit(1);
	trace_pin(0, cpu);
	for (;;) {
		user_loop(500);
		give_way(&since);
	}
}

static const char *const *program(void)
{
	static const char *arguments[ROUNDS + 2] = { TRACED };

	for (int i = 1; i <= ROUNDS; i++)
		arguments[i] = "";
	return arguments;
}

/* ---- One trace for each task ---- */

struct task {
	struct traced child;
	struct trace trace;
	int instructions, branches;
	bool ended;
};

static void start(struct task *task)
{
	union raw_attr attr = trace_attr();

	attr.attr.context_switch = 1;
	trace_ring_pages = RECORD_PAGES;
	task->child = traced_start(program());
	task->ended = false;
	trace_open(&task->trace, &attr, task->child.pid, -1, BUFFER_PAGES,
		   PROT_READ | PROT_WRITE);
	task->instructions = trace_count(task->child.pid, PERF_COUNT_HW_INSTRUCTIONS);
	task->branches = trace_count(task->child.pid, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
}

static void check_counts(const struct trace *t, uint64_t instructions, uint64_t branches)
{
	struct decoded d = trace_decode(t->aux, t->bytes);

	cr_assert_eq(t->truncated, 0);
	cr_assert_eq(t->bytes, t->page->aux_head);
	cr_assert_eq(d.errors, 0, "%s", d.error);
	cr_assert_eq(d.instructions, instructions, "%lu instructions decoded, %lu counted",
		     d.instructions, instructions);
	cr_assert_eq(d.branches, branches, "%lu branches decoded, %lu counted", d.branches,
		     branches);
	cr_assert_gt(branches, 1000);
}

/* How often it was switched */
static unsigned int finish(struct task *task)
{
	struct trace *t = &task->trace;
	unsigned int pieces;

	trace_records(t);
	cr_assert_eq(t->starts, 1);
	cr_assert_eq(t->pid, (uint32_t)task->child.pid);
	check_counts(t, raw_read(task->instructions), raw_read(task->branches));
	pieces = t->records;
	trace_close(t);
	close(task->instructions);
	close(task->branches);
	return pieces;
}

/* Let all run, sent from CPU to CPU if they are to wander, up to the last one's end. */
static unsigned int run_tasks(struct task *tasks, unsigned int n, bool wander)
{
	unsigned int left = n, switches = 0, turn = 0;
	long since = cpu_time();

	for (unsigned int i = 0; i < n; i++)
		start(&tasks[i]);
	for (unsigned int i = 0; i < n; i++)
		traced_go(&tasks[i].child);
	for (; left; turn++) {
		for (unsigned int i = 0; i < n; i++) {
			struct task *task = &tasks[i];
			int status;

			if (task->ended)
				continue;
			trace_records(&task->trace);
			if (waitpid(task->child.pid, &status, WNOHANG)) {
				cr_assert_eq(status, 0, "%#x", status);
				task->ended = true;
				left--;
			} else if (wander) {
				trace_pin(task->child.pid, (turn + i) % CPUS);
			}
		}
		give_way(&since);
	}
	for (unsigned int i = 0; i < n; i++)
		switches += finish(&tasks[i]);
	return switches;
}

static void run_until_switched(unsigned int n, bool wander, unsigned int wanted)
{
	pid_t disturbers[CPUS];
	struct task tasks[TASKS];
	unsigned int switches = 0;

	for (int cpu = 0; cpu < CPUS; cpu++)
		disturbers[cpu] = start_disturber(cpu);
	while (switches < wanted)
		switches += run_tasks(tasks, n, wander);
	for (int cpu = 0; cpu < CPUS; cpu++)
		raw_reap(disturbers[cpu]);
	fprintf(stderr, "%u pieces of trace, each instruction and branch as counted\n", switches);
}

Test(aux_switch, one_traced_task_among_others)
{
	run_until_switched(1, false, 100);
}

Test(aux_switch, several_traced_tasks_in_turn)
{
	run_until_switched(TASKS, false, 200);
}

Test(aux_switch, several_traced_tasks_that_wander)
{
	run_until_switched(TASKS, true, 200);
}

/* ---- One trace for each CPU ---- */

/* The processes whose code is known: this test, and the tasks that it starts */
static pid_t known[2 * TASKS + 1];
static unsigned int nr_known;

#define PF_KTHREAD	0x00200000

/* Not by its maps, which are empty, too, once it has ended and nobody has waited for it yet. */
static bool is_kernel_thread(pid_t pid)
{
	char path[40], stat[512], *flags;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false; /* it has ended, and those do not */
	n = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	if (n <= 0)
		return false;
	stat[n] = '\0';
	flags = strrchr(stat, ')'); /* of its name */
	cr_assert_not_null(flags);
	for (int i = 0; i < 7 && flags; i++)
		flags = strchr(flags + 1, ' ');
	cr_assert_not_null(flags);
	return strtoul(flags, NULL, 10) & PF_KTHREAD;
}

/* Kernel threads have no code in user space; which they are does not change. */
static bool is_foreign(pid_t pid)
{
	static pid_t threads[64];
	pid_t *place = &threads[(uint32_t)pid % 64];

	for (unsigned int i = 0; i < nr_known; i++)
		if (known[i] == pid)
			return false;
	if (!pid || *place == pid)
		return false;
	if (!is_kernel_thread(pid))
		return true;
	*place = pid;
	return false;
}

struct cpu {
	struct trace trace;
	int instructions, branches;
};

static int open_sibling(uint64_t config, int cpu, int leader)
{
	union raw_attr attr = raw_attr(PERF_TYPE_HARDWARE, config);

	attr.attr.disabled = 0;
	return event_open(attr, -1, cpu, .group = leader);
}

static void open_cpu(struct cpu *c, int cpu)
{
	union raw_attr attr = trace_attr();

	attr.attr.enable_on_exec = 0;
	attr.attr.context_switch = 1;
	trace_ring_pages = RECORD_PAGES;
	trace_open(&c->trace, &attr, -1, cpu, 2 * BUFFER_PAGES, PROT_READ | PROT_WRITE);
	c->instructions = open_sibling(PERF_COUNT_HW_INSTRUCTIONS, cpu, c->trace.fd);
	c->branches = open_sibling(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, cpu, c->trace.fd);
}

/* The switches among them; 0 if a foreign process was there, whose code nobody knows */
static unsigned int close_cpu(struct cpu *c)
{
	struct trace *t = &c->trace;
	unsigned int switches;

	trace_records(t);
	if (!t->foreign)
		check_counts(t, raw_read(c->instructions), raw_read(c->branches));
	switches = t->foreign ? 0 : t->switches;
	close(c->instructions);
	close(c->branches);
	trace_close(t);
	return switches;
}

/* Trace both CPUs while tasks run there, half of them wandering. */
static unsigned int run_cpus(void)
{
	struct traced children[TASKS];
	struct cpu cpus[CPUS];
	unsigned int switches = 0;
	int ended = 0, status;
	long since;

	for (int i = 0; i < TASKS; i++) {
		children[i] = traced_start(program());
		trace_pin(children[i].pid, i % CPUS);
		known[nr_known++] = children[i].pid;
	}
	for (int cpu = 0; cpu < CPUS; cpu++)
		open_cpu(&cpus[cpu], cpu);
	for (int cpu = 0; cpu < CPUS; cpu++)
		cr_assert_eq(ioctl(cpus[cpu].trace.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	for (int i = 0; i < TASKS; i++)
		traced_go(&children[i]);
	since = cpu_time();
	/* The first one wanders. The records are read until all have ended. */
	for (int turn = 0; ended < TASKS; turn++) {
		if (waitpid(children[ended].pid, &status, WNOHANG)) {
			cr_assert_eq(status, 0, "%#x", status);
			ended++;
		} else if (!ended) {
			trace_pin(children[0].pid, turn % CPUS);
		}
		for (int cpu = 0; cpu < CPUS; cpu++)
			trace_records(&cpus[cpu].trace);
		give_way(&since);
	}
	for (int cpu = 0; cpu < CPUS; cpu++)
		cr_assert_eq(ioctl(cpus[cpu].trace.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	for (int cpu = 0; cpu < CPUS; cpu++)
		switches += close_cpu(&cpus[cpu]);
	nr_known -= TASKS;
	return switches;
}

Test(aux_switch, all_that_runs_on_a_cpu)
{
	pid_t disturbers[CPUS];
	unsigned int switches = 0;

	decode_self();
	add_program(decode_image, TRACED);
	trace_is_foreign = is_foreign;
	known[nr_known++] = getpid();
	for (int cpu = 0; cpu < CPUS; cpu++) {
		disturbers[cpu] = start_disturber(cpu);
		known[nr_known++] = disturbers[cpu];
	}
	while (switches < 400)
		switches += run_cpus();
	for (int cpu = 0; cpu < CPUS; cpu++)
		raw_reap(disturbers[cpu]);
	pt_image_free(decode_image);
	fprintf(stderr, "%u switches in traces of CPUs\n", switches);
}
