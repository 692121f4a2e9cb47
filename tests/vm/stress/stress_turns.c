// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything at once for 20 s (5 s where the clock counts instructions): four tasks
 * with eight groups of three events each, and groups on every CPU, all of which compete
 * for the same 4 general and 3 fixed counters. Each task cuts its work into short pieces of equal
 * length, and reads all its groups after each: a group that was running all the time of a piece has
 * counted all of it, one that never was has counted nothing, and one that had a part of its time
 * not more than the piece. That holds however long the host lets a CPU wait, while the guest's clock
 * goes on.
 *
 * Where the clock counts instructions a share of the time is a share of the work, and every
 * scaled value is within 3 % of what the tasks know they did. Each task's groups have half of its
 * time, two at once, and all as much of it: but for one turn, of some 300.
 */
#include "groups.h"
#include "raw.h"

#define TASKS	4
#define GROUPS	8
#define MEMBERS	3
#define CPUS_MAX 8
#define ROUND	100000ull	/* a piece: some tenths of a millisecond */
#define PIECES_MIN 4000
#define BOUND	0.03
/* Between two reads of a group there is a piece and what it takes to read the others. */
#define BETWEEN	(ROUND / 10)

static const unsigned int each[MEMBERS] = { LOOP_BRANCHES, LOOP_INSTRUCTIONS, LOOP_INSTRUCTIONS };

/* What a group's read gives */
struct group_counts {
	uint64_t nr, enabled, running;	/* times in ns */
	uint64_t value[MEMBERS];
};

/**
 * struct group_sum - what a group has counted in all pieces
 * @first: its counts before the first.
 * @last: its counts after the last.
 * @whole: pieces all of which it was running for.
 * @parts: pieces of which it was running for a part.
 */
struct group_sum {
	struct group_counts first, last;
	uint64_t whole, parts;
};

/**
 * struct task - one of the tasks, in memory that it shares with the test
 * @pid: its id.
 * @pieces: how many it has done.
 * @cpu_time: ns that it has run for, by the kernel's clock.
 * @wrong: pieces in which the times or the counts of a group cannot be.
 * @example: one of them.
 * @groups: its groups.
 */
struct task {
	pid_t pid;
	uint64_t pieces, cpu_time, wrong;
	char example[200];
	struct group_sum groups[GROUPS];
};

struct shared {
	uint32_t stop;
	struct task tasks[TASKS];
};

static int open_on(struct perf_event_attr attr, pid_t pid, int cpu, int leader)
{
	int fd;

	attr.read_format |= PERF_FORMAT_GROUP;
	fd = event_try(attr, pid, cpu, .group = leader);
	cr_assert_geq(fd, 0, "%s", event_why.sentence);
	return fd;
}

/* Branches need a general counter; the others have a fixed one, for one group at a time. */
static void open_groups(pid_t pid, int cpu, int *leader, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		leader[i] = open_on(branches_u(), pid, cpu, -1);
		open_on(instructions_u(), pid, cpu, leader[i]);
		open_on(user_attr(PERF_COUNT_HW_CPU_CYCLES), pid, cpu, leader[i]);
	}
}

static struct group_counts read_group(int fd)
{
	struct group_counts c;

	cr_assert_eq(read(fd, &c, sizeof(c)), (ssize_t)sizeof(c));
	return c;
}

static bool is_possible(const struct group_counts *piece, uint64_t elapsed)
{
	if (!piece->enabled || piece->running > piece->enabled || piece->enabled > elapsed)
		return false;
	for (int i = 0; i < MEMBERS; i++) {
		uint64_t least = piece->running == piece->enabled ? ROUND * each[i] : 0;
		uint64_t most = piece->running ? (ROUND + BETWEEN) * each[i] : 0;

		if (piece->value[i] < least || piece->value[i] > most)
			return false;
	}
	return true;
}

/* Another piece is done; it took @elapsed ns at most. */
static void add_piece(struct task *t, int group, struct group_counts now, uint64_t elapsed)
{
	struct group_sum *sum = &t->groups[group];
	struct group_counts piece = {
		.enabled = now.enabled - sum->last.enabled,
		.running = now.running - sum->last.running,
	};

	for (int i = 0; i < MEMBERS; i++)
		piece.value[i] = now.value[i] - sum->last.value[i];
	sum->last = now;
	sum->whole += piece.running == piece.enabled;
	sum->parts += piece.running && piece.running < piece.enabled;
	if (is_possible(&piece, elapsed))
		return;
	t->wrong++;
	snprintf(t->example, sizeof(t->example),
		 "group %d: %lu of %lu of %lu ns, %lu branches, %lu instructions, %lu cycles", group,
		 piece.running, piece.enabled, elapsed, piece.value[0], piece.value[1],
		 piece.value[2]);
}

static void run_task(struct task *t, const uint32_t *stop)
{
	uint64_t before_last, before, cpu_time;
	int leader[GROUPS], g;

	open_groups(0, -1, leader, GROUPS);
	raise(SIGSTOP);
	before_last = clock_ns(CLOCK_MONOTONIC);
	cpu_time = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (g = 0; g < GROUPS; g++)
		t->groups[g].first = t->groups[g].last = read_group(leader[g]);
	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		user_loop(ROUND);
		before = clock_ns(CLOCK_MONOTONIC);
		for (g = 0; g < GROUPS; g++) {
			struct group_counts c = read_group(leader[g]);

			add_piece(t, g, c, clock_ns(CLOCK_MONOTONIC) - before_last);
		}
		before_last = before;
		t->pieces++;
	}
	t->cpu_time = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_time;
	_exit(0);
}

static void check_scaled(const struct task *t, int task, int group)
{
	const struct group_sum *s = &t->groups[group];
	double share = (double)(s->last.running - s->first.running) /
		       (s->last.enabled - s->first.enabled);

	cr_expect(share > 0.118 && share < 0.132, "group %d of task %d: %.3f of the time", group,
		  task, share);
	for (int i = 0; i < MEMBERS; i++) {
		double truth = (double)t->pieces * ROUND * each[i];
		double scaled = (s->last.value[i] - s->first.value[i]) / share;

		cr_expect(scaled > truth * (1 - BOUND) && scaled < truth * (1 + BOUND),
			  "member %d of group %d of task %d: %.0f of %.0f (%.1f %% of the time)",
			  i, group, task, scaled, truth, 100 * share);
	}
}

static void check_group(const struct task *t, int task, int group)
{
	const struct group_sum *s = &t->groups[group];
	uint64_t enabled = s->last.enabled - s->first.enabled;

	cr_assert_gt(s->whole, 0, "group %d of task %d had no whole piece, parts of %lu", group,
		     task, s->parts);
	/* The scheduler's paths around our hooks, and the first and last piece */
	cr_expect(enabled > t->cpu_time * 0.9 && enabled < t->cpu_time * 1.1,
		  "group %d of task %d: %lu ns enabled, %lu ns on a CPU", group, task,
		  enabled, t->cpu_time);
}

static bool all_have_worked(const struct shared *shared)
{
	int t;

	for (t = 0; t < TASKS; t++)
		if (__atomic_load_n(&shared->tasks[t].pieces, __ATOMIC_RELAXED) <
		    PIECES_MIN)
			return false;
	return true;
}

static void let_them_run(struct shared *shared, unsigned int seconds)
{
	int t;

	for (t = 0; t < TASKS; t++)
		kill(shared->tasks[t].pid, SIGCONT);
	sleep(seconds);
	while (!all_have_worked(shared))
		sleep(1);
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	for (t = 0; t < TASKS; t++)
		waitpid(shared->tasks[t].pid, NULL, 0);
}

Test(stress_turns, counts_hold_while_all_compete)
{
	int cpu_leader[CPUS_MAX][GROUPS], cpus = sysconf(_SC_NPROCESSORS_ONLN), t, g;
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq((void *)shared, MAP_FAILED);
	cr_assert_leq(cpus, CPUS_MAX);
	for (t = 0; t < TASKS; t++) {
		pid_t pid = fork_child();

		if (!pid)
			run_task(&shared->tasks[t], &shared->stop);
		shared->tasks[t].pid = pid;
		waitpid(pid, NULL, WUNTRACED);
	}
	for (t = 0; t < cpus; t++)
		open_groups(-1, t, cpu_leader[t], 2);
	let_them_run(shared, cpus == 1 ? 5 : 20);

	for (t = 0; t < TASKS; t++) {
		cr_expect_eq(shared->tasks[t].wrong, 0, "%lu pieces that cannot be, %s",
			     shared->tasks[t].wrong, shared->tasks[t].example);
		for (g = 0; g < GROUPS; g++) {
			check_group(&shared->tasks[t], t, g);
			if (cpus == 1)
				check_scaled(&shared->tasks[t], t, g);
		}
	}
	for (t = 0; t < cpus; t++)
		for (g = 0; g < 2; g++)
			cr_expect_gt(read_group(cpu_leader[t][g]).running, 0);
}
