// SPDX-License-Identifier: GPL-2.0-only
/*
 * A minute of everything at once (10 s where the clock counts instructions): four tasks
 * with eight groups of three events each, and groups on every CPU, all of which compete
 * for the same 4 general and 3 fixed counters.
 * Every scaled value must be within 3 % of what the tasks know they did, where the clock
 * counts instructions. With several CPUs the guest's clock goes on while the host lets a
 * CPU wait, so that a share of the time is not the same share of the work: 15 %.
 */
#include "groups.h"
#include "raw.h"

#define TASKS	4
#define GROUPS	8
#define CPUS_MAX 8
#define ROUND	100000ull

struct task {
	pid_t pid;
	int leader[GROUPS];
	int member[GROUPS][2];
	uint64_t *rounds;	/* shared with it */
};

static void run_task(uint64_t *rounds, const uint32_t *stop)
{
	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		user_loop(ROUND);
		*rounds += ROUND;
	}
	_exit(0);
}

static int open_on(struct perf_event_attr attr, pid_t pid, int cpu, int leader)
{
	int fd = group_try(attr, pid, cpu, leader, 0);

	cr_assert_geq(fd, 0, "%s", event_why.sentence);
	return fd;
}

/* Branches need a general counter; the others have a fixed one, for one group at a time. */
static void open_groups(pid_t pid, int cpu, int leader[GROUPS],
			int member[GROUPS][2], int n)
{
	int i;

	for (i = 0; i < n; i++) {
		leader[i] = open_on(branches_u(), pid, cpu, -1);
		member[i][0] = open_on(instructions_u(), pid, cpu, leader[i]);
		member[i][1] = open_on(user_attr(PERF_COUNT_HW_CPU_CYCLES), pid,
				       cpu, leader[i]);
	}
}

static double bound;

static void check_scaled(int fd, double truth, const char *what, int task, int group)
{
	struct counts c = event_read(fd);
	double scaled;

	cr_assert_gt(c.running, 0, "%s of task %d, group %d never ran", what, task,
		     group);
	scaled = (double)c.value * c.enabled / c.running;
	cr_expect(scaled > truth * (1 - bound) && scaled < truth * (1 + bound),
		  "%s of task %d, group %d: %.0f of %.0f (%.1f %% of the time)", what,
		  task, group, scaled, truth, 100.0 * c.running / c.enabled);
}

Test(stress, scaled_values_hold_while_all_compete, .timeout = 300)
{
	int cpu_leader[CPUS_MAX][GROUPS], cpu_member[CPUS_MAX][GROUPS][2];
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct task tasks[TASKS];
	uint64_t *shared;
	uint32_t *stop;
	int t, g;

	cr_assert_leq(cpus, CPUS_MAX);
	bound = cpus == 1 ? 0.03 : 0.15;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	cr_assert_neq(shared, MAP_FAILED);
	stop = (uint32_t *)(shared + 64);
	for (t = 0; t < TASKS; t++) {
		tasks[t].rounds = shared + 8 * t;
		tasks[t].pid = fork();
		cr_assert_geq(tasks[t].pid, 0);
		if (!tasks[t].pid) {
			raise(SIGSTOP);
			run_task(tasks[t].rounds, stop);
		}
		waitpid(tasks[t].pid, NULL, WUNTRACED);
		open_groups(tasks[t].pid, -1, tasks[t].leader, tasks[t].member,
			    GROUPS);
	}
	for (t = 0; t < cpus; t++)
		open_groups(-1, t, cpu_leader[t], cpu_member[t], 2);

	for (t = 0; t < TASKS; t++)
		kill(tasks[t].pid, SIGCONT);
	sleep(cpus == 1 ? 10 : 60);
	__atomic_store_n(stop, 1, __ATOMIC_RELAXED);
	for (t = 0; t < TASKS; t++)
		waitpid(tasks[t].pid, NULL, 0);

	for (t = 0; t < TASKS; t++) {
		double rounds = *tasks[t].rounds;

		for (g = 0; g < GROUPS; g++) {
			check_scaled(tasks[t].leader[g], rounds, "branches", t, g);
			check_scaled(tasks[t].member[g][0], 2 * rounds,
				     "instructions", t, g);
			check_scaled(tasks[t].member[g][1], 2 * rounds, "cycles", t,
				     g);
		}
	}
	for (t = 0; t < cpus; t++)
		for (g = 0; g < 2; g++)
			cr_expect_gt(event_read(cpu_leader[t][g]).running, 0);
}
