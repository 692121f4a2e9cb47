// SPDX-License-Identifier: GPL-2.0-only
/*
 * Switches between two tasks that have the same inherited events: two children that pass a
 * byte to and fro. Each loops in its turn, so what each counts is known; and what is written to the
 * registers of the PMU meanwhile is counted by the kernel's own tracepoint.
 */
#include "family.h"
#include "module.h"
#include "records.h"

#include <sys/mount.h>
#include <sys/stat.h>

#define N	1000ull
#define TURNS	200ull
#define EVENTS	4
/* Where the players have their ends of pipes */
#define PLAYER_IN	100
#define PLAYER_OUT	101

TestSuite(inherit_switch, .init = sampling_init, .fini = sampling_fini);

/**
 * struct player - one of two that take turns
 * @pid: of it.
 * @turns: how many it has taken; shared.
 */
struct player {
	pid_t pid;
	volatile uint64_t *turns;
};

/* Until it is killed, or @turns are over; the first to play has one byte to begin with. */
static void play(int in, int out, uint64_t rounds, uint64_t turns,
		 volatile uint64_t *taken)
{
	char byte;

	for (uint64_t i = 0; i < turns; i++) {
		if (read(in, &byte, 1) != 1)
			_exit(1);
		user_loop(rounds);
		*taken = i + 1;
		if (write(out, &byte, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* Two that wait for go[1] to be written to; the second loops twice as long. */
static void players_start(struct player *p, const int *cpu, uint64_t turns, int go[2])
{
	volatile uint64_t *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int back[2];

	cr_assert(shared != MAP_FAILED);
	cr_assert_eq(pipe(go) | pipe(back), 0);
	for (int i = 0; i < 2; i++) {
		p[i].turns = shared + i;
		p[i].pid = fork_child();
		if (!p[i].pid) {
			pin_here(cpu[i]);
			/* An event lives while anybody has a descriptor. */
			dup2(i ? back[0] : go[0], PLAYER_IN);
			dup2(i ? go[1] : back[1], PLAYER_OUT);
			close_range(3, PLAYER_IN - 1, 0);
			close_range(PLAYER_OUT + 1, ~0u, 0);
			play(PLAYER_IN, PLAYER_OUT, (i + 1) * N, turns, shared + i);
		}
	}
	close(back[0]);
	close(back[1]);
}

static void players_go(const int go[2])
{
	cr_assert_eq(write(go[1], "x", 1), 1);
}

static void players_end(struct player *p, int go[2], bool by_force)
{
	for (int i = 0; i < 2; i++) {
		if (by_force)
			raw_reap(p[i].pid);
		else
			reap(p[i].pid);
	}
	close(go[0]);
	close(go[1]);
	munmap((void *)((uintptr_t)p[0].turns & -PAGE), PAGE);
}

static void wait_turns(const struct player *p, uint64_t n)
{
	uint64_t end = *p->turns + n;

	while (*p->turns < end)
		usleep(500);
}

/* Instructions, branches, and both once more; inherited */
static struct perf_event_attr attr_of(int i)
{
	return inherited(i % 2 ? branches_u() : instructions_u());
}

/* The same of the kernel too: those of one kind count alike */
static struct perf_event_attr whole_attr_of(int i)
{
	struct perf_event_attr attr = attr_of(i);

	attr.exclude_kernel = 0;
	return attr;
}

static void open_events(int *fd, bool group)
{
	for (int i = 0; i < EVENTS; i++)
		fd[i] = event_open(attr_of(i), .group = group && i ? fd[0] : -1);
}

static void close_events(const int *fd)
{
	for (int i = EVENTS; i--;)
		close(fd[i]);
}

/* ---- What is written to the PMU ---- */

#define TRACING		"/sys/kernel/tracing/"
/* Event selects, counters, fixed counters, their control, global control; AMD's: of cores, global
 * control, legacy ones
 */
#define PMU_REGISTERS	"(msr >= 0x186 && msr <= 0x18d) || (msr >= 0xc1 && msr <= 0xc8) || " \
			"(msr >= 0x4c1 && msr <= 0x4c8) || (msr >= 0x309 && msr <= 0x30c) || " \
			"msr == 0x38d || msr == 0x38f || " \
			"(msr >= 0xc0010200 && msr <= 0xc001020b) || msr == 0xc0000301 || " \
			"(msr >= 0xc0010000 && msr <= 0xc0010007)"

static void trace_set(const char *file, const char *text)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), TRACING "%s", file);
	err = raw_write_file(path, text);
	cr_assert_eq(err, 0, "%s: %s", path, strerror(-err));
}

static void trace_begin(void)
{
	int fd;

	if (access(TRACING "events", F_OK))
		cr_assert_eq(mount("tracefs", TRACING, "tracefs", 0, NULL), 0, "%m");
	trace_set("events/msr/write_msr/filter", PMU_REGISTERS);
	fd = open(TRACING "trace", O_WRONLY | O_TRUNC | O_CLOEXEC); /* that clears it */
	cr_assert_geq(fd, 0, "%m");
	close(fd);
	trace_set("events/msr/write_msr/enable", "1");
	trace_set("events/sched/sched_switch/enable", "1");
}

/**
 * struct trace - what CPU 1 has done since then
 * @writes: to registers of the PMU.
 * @switches: from one player to the other.
 * @disturbed: those of them with which something was written; the last one's lines are
 * @lines.
 */
struct trace {
	uint64_t writes, switches, disturbed;
	char lines[4096];
};

static int pid_after(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	cr_assert_not_null(at, "%s", line);
	return atoi(at + strlen(name));
}

/* What is written in a switch is told after it: our probe comes behind the kernel's. */
static struct trace trace_end(const struct player *p)
{
	struct trace t = { 0 };
	bool is_theirs = false; /* the last switch: what is before the first is of none */
	uint64_t before = 0;
	char line[512], since[4096] = "";
	FILE *f;

	trace_set("events/sched/sched_switch/enable", "0");
	trace_set("events/msr/write_msr/enable", "0");
	f = fopen(TRACING "per_cpu/cpu1/trace", "re");
	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f)) {
		int prev, next;

		if (*line == '#')
			continue;
		if (strlen(since) + strlen(line) < sizeof(since))
			strcat(since, line);
		if (strstr(line, "write_msr:")) {
			t.writes++;
			continue;
		}
		if (!strstr(line, "sched_switch:"))
			continue;
		if (is_theirs && t.writes != before) {
			t.disturbed++;
			memcpy(t.lines, since, sizeof(since));
		}
		prev = pid_after(line, " prev_pid=");
		next = pid_after(line, " next_pid=");
		is_theirs = (prev == p[0].pid && next == p[1].pid) ||
			    (prev == p[1].pid && next == p[0].pid);
		t.switches += is_theirs;
		snprintf(since, sizeof(since), "%s", line);
		before = t.writes;
	}
	fclose(f);
	return t;
}

/* One without events that CPU 1 runs now and then: switches from and to it do write. */
static pid_t start_another(void)
{
	pid_t pid = fork_child();

	if (!pid) {
		pin_here(1);
		for (;;)
			usleep(1000);
	}
	return pid;
}

static struct trace trace_of_a_game(bool group, bool one_has_more)
{
	static const int cpu[2] = { 1, 1 };
	struct player p[2];
	int fd[EVENTS], go[2], more = -1;
	struct perf_event_attr attr = instructions_u();
	struct trace t;
	pid_t another;

	pin_here(0);
	another = start_another();
	open_events(fd, group);
	players_start(p, cpu, ~0ull, go);
	if (one_has_more)
		more = event_open(attr, p[0].pid);
	players_go(go);
	wait_turns(&p[0], 10);
	trace_begin();
	wait_turns(&p[0], TURNS);
	t = trace_end(p);
	players_end(p, go, true);
	raw_reap(another);
	close_events(fd);
	if (one_has_more)
		close(more);
	return t;
}

/* The usual way is to write when the one's events go, and when the other's come. */
Test(inherit_switch, nothing_is_written_to_the_pmu)
{
	struct trace t = trace_of_a_game(false, true);

	cr_expect_geq(t.switches, TURNS);
	cr_expect_geq(t.disturbed, t.switches - 1, "%lu of %lu", t.disturbed, t.switches);
	for (int group = 0; group < 2; group++) {
		t = trace_of_a_game(group, false);
		cr_expect_geq(t.switches, TURNS);
		cr_expect_eq(t.disturbed, 0, "%lu of %lu:\n%s", t.disturbed, t.switches,
			     t.lines);
	}
}

/* ---- What is counted ---- */

struct values {
	uint64_t of[2][EVENTS];
};

/* What the records say that each of both has counted */
static void take_values(struct ring *r, const struct player *p, int event,
			struct values *v)
{
	struct perf_event_header *header;
	unsigned int n = 0;

	while ((header = ring_next(r))) {
		uint64_t *words = (uint64_t *)(header + 1);

		cr_assert_eq(header->type, PERF_RECORD_READ);
		for (int i = 0; i < 2; i++)
			if ((uint32_t)words[0] == (uint32_t)p[i].pid)
				v->of[i][event] = words[1];
		n++;
	}
	cr_expect_eq(n, 2);
}

/* A game of two on these CPUs */
static struct values values_of(struct perf_event_attr (*event)(int i), int cpu_0, int cpu_1,
			       bool group)
{
	const int cpu[2] = { cpu_0, cpu_1 };
	struct values v = { 0 };
	struct ring ring[EVENTS];
	struct player p[2];
	int fd[EVENTS], go[2];

	for (int i = 0; i < EVENTS; i++) {
		struct perf_event_attr attr = event(i);

		attr.inherit_stat = 1;
		attr.read_format = 0;
		fd[i] = event_open(attr, .group = group && i ? fd[0] : -1);
		ring_map(&ring[i], fd[i], 1);
	}
	players_start(p, cpu, TURNS, go);
	players_go(go);
	players_end(p, go, false);
	for (int i = 0; i < EVENTS; i++) {
		take_values(&ring[i], p, i, &v);
		ring_unmap(&ring[i]);
	}
	close_events(fd);
	return v;
}

static struct values values_of_a_game(int cpu_0, int cpu_1, bool group)
{
	return values_of(attr_of, cpu_0, cpu_1, group);
}

/* On two CPUs there is no switch from one to the other: what each counts there is right. */
static void check_values(bool group)
{
	struct values apart, together;

	values_of_a_game(0, 1, group); /* what is done the first time only */
	apart = values_of_a_game(0, 1, group);
	for (int round = 0; round < 3; round++) {
		together = values_of_a_game(1, 1, group);
		for (int i = 0; i < 2; i++)
			for (int k = 0; k < EVENTS; k++)
				cr_expect_eq(together.of[i][k], apart.of[i][k],
					     "player %d, event %d: %lu, %lu", i, k,
					     together.of[i][k], apart.of[i][k]);
	}
	cr_expect_gt(apart.of[0][0], TURNS * N * LOOP_INSTRUCTIONS);
	cr_expect_gt(apart.of[1][0], 2 * TURNS * N * LOOP_INSTRUCTIONS);
}

Test(inherit_switch, each_has_its_own_values)
{
	check_values(false);
}

Test(inherit_switch, each_has_its_own_values_of_a_group)
{
	check_values(true);
}

/*
 * A group that counts the kernel, too, counts the switches themselves. Its members begin and end at
 * the same instruction, so those of one kind have the same value.
 */
Test(inherit_switch, members_that_count_the_kernel_are_alike)
{
	for (int round = 0; round < 3; round++) {
		struct values v = values_of(whole_attr_of, 1, 1, true);

		for (int i = 0; i < 2; i++)
			for (int k = 0; k < 2; k++)
				cr_expect_eq(v.of[i][k], v.of[i][k + 2],
					     "player %d, events %d and %d: %lu, %lu", i, k, k + 2,
					     v.of[i][k], v.of[i][k + 2]);
	}
}

/* ---- Changes from another CPU meanwhile ---- */

#define CHANGES		(is_stress() ? 200 : 10)
#define TURN_MAX	(N * LOOP_INSTRUCTIONS + 400)

/* @own counts this task alone, which is taken off. */
static void check_switched(const int *fd, int own, const struct player *p, bool group)
{
	uint64_t value, mine = event_value(own), turns = *p->turns;
	int all = group ? PERF_IOC_FLAG_GROUP : 0;

	for (int i = 0; i < (group ? 1 : EVENTS); i++)
		cr_assert_eq(ioctl(fd[i], PERF_EVENT_IOC_ENABLE, all), 0);
	wait_turns(p, 8);
	for (int i = 0; i < (group ? 1 : EVENTS); i++)
		cr_assert_eq(ioctl(fd[i], PERF_EVENT_IOC_DISABLE, all), 0);
	value = event_value(fd[0]);
	turns = *p->turns - turns + 2;
	mine = event_value(own) - mine;
	cr_assert_geq(value, 7 * 3 * N * LOOP_INSTRUCTIONS);
	cr_assert_leq(value, mine + turns * 3 * TURN_MAX, "%lu in %lu turns", value, turns);
	wait_turns(p, 4);
	cr_assert_eq(event_value(fd[0]), value, "it counts while disabled");
	for (int i = 0; i < EVENTS; i++) {
		event_ioctl(fd[i], PERF_EVENT_IOC_RESET);
		cr_assert_eq(event_value(fd[i]), 0);
	}
	wait_turns(p, 4);
}

static void check_changes(bool group)
{
	static const int cpu[2] = { 1, 1 };
	int fd[EVENTS], go[2], own;
	struct player p[2];

	pin_here(0);
	own = event_open(instructions_u());
	for (int i = 0; i < EVENTS; i++)
		fd[i] = event_open(disabled(attr_of(i)), .group = group && i ? fd[0] : -1);
	players_start(p, cpu, ~0ull, go);
	players_go(go);
	for (int i = 0; i < CHANGES; i++)
		check_switched(fd, own, p, group);
	/* One after the other goes while they switch. */
	for (int i = 0; i < EVENTS; i++)
		event_ioctl(fd[i], PERF_EVENT_IOC_ENABLE);
	for (int i = EVENTS; i--;) {
		wait_turns(p, 8);
		close(fd[i]);
	}
	close(own);
	wait_turns(p, 8);
	cr_expect_eq(module_info().hw_events, 0);
	players_end(p, go, true);
}

Test(inherit_switch, changes_reach_both)
{
	check_changes(false);
}

Test(inherit_switch, changes_of_a_group_reach_both)
{
	check_changes(true);
}

/* ---- What a switch costs ---- */

#define TRIES		60
#define WINDOW		20ull	/* turns, between two timer ticks now and then */

/*
 * Instructions of the kernel for a turn: the fewest of some, as others run there now and then. The
 * turns are counted inside of the time in which the instructions are: what comes between can only
 * make a turn dearer.
 */
static double cost_of_turn(int meter, const struct player *p)
{
	double least = 1e9, cost;

	for (int i = 0; i < TRIES; i++) {
		uint64_t value = event_value(meter), turns = *p->turns;

		wait_turns(p, WINDOW);
		turns = *p->turns - turns;
		value = event_value(meter) - value;
		cost = (double)value / turns;
		if (cost < least)
			least = cost;
	}
	return least;
}

/* With so many events, before and after they are read */
static void measure_turns(int meter, int n, double cost[2])
{
	static const int cpu[2] = { 0, 0 };
	int fd[EVENTS], go[2];
	struct player p[2];

	for (int i = 0; i < n; i++)
		fd[i] = event_open(attr_of(i));
	players_start(p, cpu, ~0ull, go);
	players_go(go);
	wait_turns(p, TURNS);
	cost[0] = cost_of_turn(meter, p);
	for (int i = 0; i < n; i++)
		cr_assert_gt(event_value(fd[i]), 0);
	cost[1] = cost_of_turn(meter, p);
	players_end(p, go, true);
	for (int i = 0; i < n; i++)
		close(fd[i]);
	printf("%d events: %.0f instructions a turn, %.0f after a read\n", n, cost[0], cost[1]);
}

/*
 * All are exchanged at once, also after a read: of the two switches of a turn each may cost so
 * much more with the other events. It was four times that where the events were compared each time.
 */
#define MORE_MAX	150

Test(inherit_switch, costs_the_same_for_any_number)
{
	struct perf_event_attr attr = instructions_u();
	double one[2], all[2], more = 1e9;
	int meter;

	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	meter = event_open(attr, -1, 0);
	pin_here(1);
	/* On a machine with other work a measure may be off. */
	for (int i = 0; i < 5 && more > 2 * MORE_MAX; i++) {
		measure_turns(meter, 1, one);
		measure_turns(meter, EVENTS, all);
		more = all[0] - one[0];
		if (all[1] - one[1] > more)
			more = all[1] - one[1];
	}
	cr_expect_leq(more, 2 * MORE_MAX);
	close(meter);
}
