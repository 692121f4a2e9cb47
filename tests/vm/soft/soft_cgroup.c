// SPDX-License-Identifier: GPL-2.0-only
/*
 * Software events and tracepoints of a cgroup, beside those of perf: both are open at once, and
 * count the same.
 */
#include "cgroups.h"
#include "perm.h"
#include "soft.h"

TestSuite(soft_cgroup, .init = cgroups_begin, .fini = cgroups_end);

#define ROUNDS	50

/* Faults, and is switched out, again and again; is stopped before that, and after it. */
static pid_t start_busy(const char *path, unsigned int pages)
{
	pid_t pid = fork_child();

	if (pid)
		return pid;
	pin_here(1);
	fresh_pages(1); /* maps the program, which the kernel counts as faults, and perf does not */
	cgroup_put(path, getpid());
	raise(SIGSTOP);
	for (int i = 0; i < ROUNDS; i++) {
		uint8_t *map = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		touch_pages(map, pages);
		munmap(map, pages * PAGE);
		usleep(100);
	}
	raise(SIGSTOP);
	_exit(0);
}

static void let_end(pid_t pid)
{
	kill(pid, SIGCONT);
	perm_join(pid);
}

/* What ours, the first, and perf's have counted. One that is stopped may not have left its CPU yet. */
static void read_both(const int fd[2], uint64_t value[2])
{
	do {
		value[0] = event_value(fd[0]);
		value[1] = event_value(fd[1]);
	} while (event_value(fd[0]) != value[0]);
}

/* What they count while tasks that are stopped run until they are stopped again */
static void count_both(const int fd[2], const pid_t *pids, unsigned int n, uint64_t count[2])
{
	uint64_t before[2];

	read_both(fd, before);
	for (unsigned int i = 0; i < n; i++)
		kill(pids[i], SIGCONT);
	for (unsigned int i = 0; i < n; i++)
		wait_stopped(pids[i]);
	read_both(fd, count);
	for (int i = 0; i < 2; i++) {
		count[i] -= before[i];
		close(fd[i]);
	}
	for (unsigned int i = 0; i < n; i++)
		let_end(pids[i]);
}

/* perf's event; where perf does not have it yet, one of ours again */
static int witness_open(const struct perf_event_attr *attr, const struct perf_event_attr *perfs,
			int target, int cpu, unsigned long flags)
{
	if (attr->config == PERF_COUNT_SW_CGROUP_SWITCHES && attr->type == PERF_TYPE_SOFTWARE &&
	    raw_kernel_before(5, 13))
		return event_open(*attr, target, cpu, .flags = flags);
	return flags ? counting_perfs.try(perfs, target, cpu, -1) : perf_try(perfs, target, cpu);
}

/* Two of each: perf's and ours */
static void compare(const struct perf_event_attr *attr, const char *name, const char *tracepoint,
		    uint64_t least)
{
	AUTO_CLOSE int directory = cgroup_fd("a");
	struct perf_event_attr perfs = *attr;
	uint64_t count[2];
	pid_t pids[2];
	int fd[2];

	if (tracepoint)
		perfs.config = raw_read_number("/sys/kernel/tracing/events/sched/sched_switch/id");
	fd[0] = event_open(*attr, directory, 1, .flags = PERF_FLAG_PID_CGROUP,
			   .tracepoint = tracepoint);
	fd[1] = witness_open(attr, &perfs, directory, 1, PERF_FLAG_PID_CGROUP);
	cr_assert(fd[1] >= 0, "%s: %s", name, strerror(-fd[1]));
	pids[0] = start_busy("a", 7);
	pids[1] = start_busy("b", 3);
	wait_stopped(pids[0]);
	wait_stopped(pids[1]);
	count_both(fd, pids, 2, count);
	cr_expect_eq(count[0], count[1], "%s: %lu of ours, %lu of perf's", name, count[0], count[1]);
	cr_expect_geq(count[0], least, "%s", name);
}

Test(soft_cgroup, count_as_perfs)
{
	static const struct {
		const char *name;
		uint64_t config;
		bool user;
		uint64_t least;
	} events[] = {
		{ "page-faults", PERF_COUNT_SW_PAGE_FAULTS, false, ROUNDS * 7 },
		{ "page-faults:u", PERF_COUNT_SW_PAGE_FAULTS, true, ROUNDS * 7 },
		{ "minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, false, ROUNDS * 7 },
		{ "major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, false, 0 },
		{ "context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, false, 1 },
		{ "cgroup-switches", PERF_COUNT_SW_CGROUP_SWITCHES, false, 1 },
		{ "cgroup-switches:u", PERF_COUNT_SW_CGROUP_SWITCHES, true, 0 },
	};

	cgroup_add("a");
	cgroup_add("b");
	pin_here(0);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(events); i++) {
		struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, events[i].config);

		attr.exclude_kernel = events[i].user;
		compare(&attr, events[i].name, NULL, events[i].least);
	}
}

Test(soft_cgroup, tracepoints_count_as_perfs)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_TRACEPOINT, 0);

	cgroup_add("a");
	cgroup_add("b");
	pin_here(0);
	compare(&attr, "sched:sched_switch", "sched:sched_switch", 1);
}

/* What ours and perf's counted of switches to other cgroups, of a task or a CPU, while a task went */
static void compare_cgroup_switches(pid_t target, int cpu, const char *path, uint64_t count[2])
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE,
						 PERF_COUNT_SW_CGROUP_SWITCHES);
	pid_t pid = start_busy(path, 1);
	int fd[2];

	wait_stopped(pid);
	fd[0] = event_open(attr, target ? target : pid, cpu);
	fd[1] = witness_open(&attr, &attr, target ? target : pid, cpu, 0);
	cr_assert_geq(fd[1], 0, "%s", strerror(-fd[1]));
	count_both(fd, &pid, 1, count);
}

/* The task goes for another one of the root, for which its CPU has the idle task at least. */
Test(soft_cgroup, switches_to_other_cgroups)
{
	static const struct {
		const char *name, *path;
		pid_t target;
		int cpu;
	} of[] = {
		{ "a task", "a", 0, -1 },
		{ "a task on a CPU", "a", 0, 1 },
		{ "a CPU", "a", -1, 1 },
		{ "a task that stays within one", "", 0, -1 },
	};
	uint64_t count[2];

	cgroup_add("a");
	pin_here(0);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(of); i++) {
		compare_cgroup_switches(of[i].target, of[i].cpu, of[i].path, count);
		cr_expect_eq(count[0], count[1], "of %s: %lu, perf's %lu", of[i].name, count[0],
			     count[1]);
		cr_expect_eq(count[0] > 0, *of[i].path != '\0', "of %s: %lu", of[i].name, count[0]);
	}
}

/* The clocks run while its tasks do: as long as the event itself. */
Test(soft_cgroup, clocks)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	struct counts c[2];
	struct worker w;
	int fd;

	cgroup_add("a");
	cgroup_add("b");
	fd = cgroup_event(&counting_ours, &attr, "a", 1);
	worker_start(&w, false);
	pin_task(w.tid, 1);
	cgroup_put("a", w.tid);
	worker_run(&w, 1000000);
	c[0] = event_read(fd);
	cr_expect_eq(c[0].value, c[0].running);
	cr_expect_gt(c[0].value, 0);
	cgroup_put("b", w.tid);
	worker_run(&w, 1000000);
	c[1] = event_read(fd);
	cr_expect_eq(c[1].value, c[0].value);
	worker_end(&w);
}
