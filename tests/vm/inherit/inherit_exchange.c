// SPDX-License-Identifier: GPL-2.0-only
/*
 * What tasks with the same inherited events count together, while these are exchanged at each
 * switch from one to another: on two CPUs, by tasks that go from one to the other, that begin and end,
 * execute programs and are killed, while others read, open and close events. A game is
 * played twice, with loops of different length: the difference of what is counted is known to the
 * instruction.
 */
#include "family.h"
#include "module.h"
#include "records.h"

#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define EVENTS		4
#define PLAYERS		6
#define SHORT		100ull
#define LONG		700ull
#define HEADROOM	"/sys/module/pmuctl/parameters/counter_headroom"
#define COPY		"/tmp/exchange-exec"

/**
 * struct game - one way to play
 * @group: the events are one.
 * @forks: each of how many turns makes a child, that loops too.
 * @exec: it is then a program, of which nothing is counted, as
 * @gains: it has more rights; or else its events end with an exec.
 * @reads: they are read meanwhile.
 * @disturbs: other events of the players are opened and closed meanwhile.
 * @closes: all events but the first one are closed meanwhile.
 * @kills: who has the first events is killed meanwhile.
 * @headroom: of the counters, if not 0.
 */
struct game {
	bool group;
	unsigned int forks;
	bool exec;
	bool gains;
	bool reads;
	bool disturbs;
	bool closes;
	bool kills;
	long headroom;
};

/**
 * struct board - what all tasks of a game share
 * @turns: how many each player has taken.
 * @pid: of each.
 */
struct board {
	volatile uint64_t turns[PLAYERS];
	volatile pid_t pid[PLAYERS];
};

/* Turns of the second pair; the first takes half of it, the third three halves. */
static unsigned int turns_each;

/* Who has given up root's rights cannot see which kernel it is. */
static void begin(void)
{
	sampling_init();
	turns_each = is_stress() ? 1000 : is_debug_kernel() ? 30 : 40;
}

TestSuite(inherit_exchange, .init = begin, .fini = sampling_fini);

/* ---- The players: all that they execute depends on nothing but the game and the loops ---- */

/* Pairs play for different times, so some end while others go on. */
static unsigned int turns_of(unsigned int player)
{
	return turns_each / 2 * (player / 2 + 1);
}

/* What is executed in the game with longer loops has more to do, but that is the program alone. */
static void play_child(const struct game *g, uint64_t rounds)
{
	static char *args[][8] = {
		{ COPY },
		{ COPY, COPY, COPY, COPY, COPY, COPY, COPY },
	}, *none[1];

	user_loop(rounds);
	if (!g->exec)
		_exit(0);
	execve(COPY, args[rounds / LONG], none);
	_exit(1);
}

static void make_child(const struct game *g, uint64_t rounds)
{
	pid_t child = fork();
	int status;

	if (!child)
		play_child(g, rounds);
	if (waitpid(child, &status, 0) != child || status)
		_exit(2);
}

static void play(const struct game *g, struct board *board, unsigned int i,
		 uint64_t rounds, int in, int out)
{
	char byte;

	for (unsigned int turn = 0; turn < turns_of(i); turn++) {
		if (read(in, &byte, 1) != 1)
			_exit(1);
		user_loop(rounds);
		if (turn % (i + 3) == 0)
			pin_here((turn / (i + 3) + i / 2) % 2);
		if (g->forks && turn % g->forks == 0)
			make_child(g, rounds);
		board->turns[i] = turn + 1;
		if (write(out, &byte, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* Who has the first events: begins when he is told, and makes the players. */
static void lead(const struct game *g, struct board *board, uint64_t rounds, int start)
{
	int pipes[PLAYERS][2], status;
	char byte;

	if (g->gains && raw_become(RAW_USER))
		_exit(3);
	for (int i = 0; i < PLAYERS; i++)
		if (pipe(pipes[i]))
			_exit(4);
	if (read(start, &byte, 1) != 1)
		_exit(5);
	for (int i = 0; i < PLAYERS; i++) {
		pid_t pid = fork();

		if (!pid)
			play(g, board, i, rounds, pipes[i][0], pipes[i ^ 1][1]);
		board->pid[i] = pid;
	}
	for (int i = 0; i < PLAYERS; i += 2)
		if (write(pipes[i][1], &byte, 1) != 1)
			_exit(6);
	while (g->kills)
		pause();
	for (int i = 0; i < PLAYERS; i++)
		if (waitpid(board->pid[i], &status, 0) != board->pid[i] || status)
			_exit(7);
	_exit(0);
}

/* How many loops there are in a game */
static uint64_t loops_of(const struct game *g)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < PLAYERS; i++) {
		n += turns_of(i);
		if (g->forks)
			n += (turns_of(i) + g->forks - 1) / g->forks;
	}
	return n;
}

/* ---- What is done meanwhile ---- */

static uint64_t all_turns(const struct board *board)
{
	uint64_t n = 0;

	for (int i = 0; i < PLAYERS; i++)
		n += board->turns[i];
	return n;
}

static void wait_for_turns(const struct board *board, uint64_t n)
{
	while (all_turns(board) < n)
		usleep(200);
}

/* A count never goes back. */
static void look(const int *fd, uint64_t *last)
{
	for (int i = 0; i < EVENTS; i++) {
		uint64_t value = event_value(fd[i]);

		cr_assert_geq(value, last[i], "%lu after %lu", value, last[i]);
		last[i] = value;
	}
}

/* It is not exchanged, and so is none of that task's meanwhile; it needs no counter. */
static void disturb(const struct board *board, unsigned int i)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	int fd;

	fd = event_try(attr, board->pid[i % PLAYERS]);
	if (fd < 0)
		return; /* it has ended */
	usleep(300);
	close(fd);
}

static void meddle(const struct game *g, const struct board *board, pid_t leader, int *fd)
{
	uint64_t last[EVENTS] = { 0 };
	unsigned int n = 0;
	siginfo_t info;

	wait_for_turns(board, turns_each);
	if (g->closes) {
		for (int i = EVENTS; --i; fd[i] = -1) {
			wait_for_turns(board, turns_each * (EVENTS + 1 - i));
			close(fd[i]);
		}
	}
	if (g->kills)
		raw_reap(leader);
	while (g->reads || g->disturbs) {
		info.si_pid = 0;
		cr_assert_eq(waitid(P_PID, leader, &info, WEXITED | WNOHANG | WNOWAIT), 0);
		if (info.si_pid)
			break;
		if (g->reads)
			look(fd, last);
		if (g->disturbs)
			disturb(board, n++);
		usleep(500);
	}
}

/* ---- A game ---- */

static struct perf_event_attr attr_of(const struct game *g, int i)
{
	struct perf_event_attr attr = inherited(i % 2 ? branches_u() : instructions_u());

	attr.remove_on_exec = g->exec && !g->gains;
	return attr;
}

static void open_events(const struct game *g, pid_t pid, int *fd)
{
	for (int i = 0; i < EVENTS; i++) {
		fd[i] = event_try(attr_of(g, i), pid, .group = g->group && i ? fd[0] : -1);
		cr_assert_geq(fd[i], 0, "%s: %s", strerror(-fd[i]), event_why.sentence);
	}
}

/* All have ended, those too whose parent was killed; without errors, but for that one */
static void reap_all(pid_t leader)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, 0)) > 0)
		cr_assert_eq(status, 0, "%s ended with %#x",
			     pid == leader ? "the leader" : "a player", status);
	cr_assert_eq(errno, ECHILD, "%m");
}

static void check_times(const int *fd, uint64_t begin)
{
	uint64_t passed = clock_ns(CLOCK_MONOTONIC) - begin;

	for (int i = 0; i < EVENTS; i++) {
		struct counts c;

		if (fd[i] < 0)
			continue;
		c = event_read(fd[i]);
		cr_expect_gt(c.enabled, 0);
		cr_expect_eq(c.running, c.enabled, "%lu of %lu", c.running, c.enabled);
		cr_expect_leq(c.enabled, 2 * passed + passed / 100, "%lu in %lu", c.enabled,
			      passed);
	}
}

struct values {
	uint64_t of[EVENTS];
};

static struct values play_game(const struct game *g, uint64_t rounds)
{
	struct board *board = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	struct values v = { 0 };
	int start[2], fd[EVENTS];
	pid_t leader;

	cr_assert(board != MAP_FAILED);
	cr_assert_eq(pipe(start), 0);
	leader = fork_child();
	if (!leader)
		lead(g, board, rounds, start[0]);
	wait_asleep(leader);
	open_events(g, leader, fd);
	cr_assert_eq(write(start[1], "x", 1), 1);
	meddle(g, board, leader, fd);
	reap_all(leader);
	for (int i = 0; i < EVENTS; i++)
		if (fd[i] >= 0)
			v.of[i] = event_value(fd[i]);
	check_times(fd, begin);
	for (int i = EVENTS; i--;)
		if (fd[i] >= 0)
			close(fd[i]);
	close(start[0]);
	close(start[1]);
	munmap(board, PAGE);
	return v;
}

static void check_values(const struct game *g, const struct values *few,
			 const struct values *many)
{
	uint64_t rounds = loops_of(g) * (LONG - SHORT);

	for (int i = 0; i < (g->closes ? 1 : EVENTS); i++) {
		uint64_t want = rounds * (i % 2 ? LOOP_BRANCHES : LOOP_INSTRUCTIONS);

		cr_expect_eq(many->of[i] - few->of[i], want, "event %d: %lu - %lu is %ld too many",
			     i, many->of[i], few->of[i],
			     (long)(many->of[i] - few->of[i] - want));
		cr_expect_eq(few->of[i], few->of[i % 2], "%lu, %lu", few->of[i], few->of[i % 2]);
		cr_expect_eq(many->of[i], many->of[i % 2], "%lu, %lu", many->of[i], many->of[i % 2]);
	}
}

static void check_game(struct game g)
{
	cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	raw_write_number(HEADROOM, g.headroom);
	play_game(&g, SHORT); /* what is done the first time only */
	for (int round = 0; round < (is_stress() ? 5 : 2); round++) {
		struct values few = play_game(&g, SHORT), many = play_game(&g, LONG);

		check_values(&g, &few, &many);
	}
	raw_write_number(HEADROOM, 0);
	cr_expect_eq(module_info().hw_events, 0);
}

Test(inherit_exchange, of_tasks_that_wander)
{
	check_game((struct game) { 0 });
}

Test(inherit_exchange, of_a_group)
{
	check_game((struct game) { .group = true });
}

Test(inherit_exchange, while_they_are_read)
{
	check_game((struct game) { .reads = true });
}

Test(inherit_exchange, of_a_group_while_it_is_read)
{
	check_game((struct game) { .group = true, .reads = true });
}

Test(inherit_exchange, with_children_that_come_and_go)
{
	check_game((struct game) { .forks = 3, .reads = true });
}

Test(inherit_exchange, while_other_events_come_and_go)
{
	check_game((struct game) { .disturbs = true, .forks = 7, .reads = true });
}

Test(inherit_exchange, while_some_are_closed)
{
	check_game((struct game) { .closes = true });
}

Test(inherit_exchange, while_some_of_a_group_are_closed)
{
	check_game((struct game) { .closes = true, .group = true, .forks = 5 });
}

Test(inherit_exchange, of_those_whose_parent_is_killed)
{
	check_game((struct game) { .kills = true, .forks = 5 });
}

Test(inherit_exchange, with_overflows)
{
	check_game((struct game) { .headroom = 1000, .forks = 7 });
	check_game((struct game) { .headroom = 1000, .group = true, .reads = true });
}

Test(inherit_exchange, with_events_that_end_with_an_exec)
{
	cr_assert_eq(system("cp " EXEC_PROGRAM " " COPY), 0);
	check_game((struct game) { .forks = 4, .exec = true });
	unlink(COPY);
}

Test(inherit_exchange, with_an_exec_that_gains_rights)
{
	cr_assert_eq(system("cp " EXEC_PROGRAM " " COPY), 0);
	cr_assert_eq(chmod(COPY, 04755), 0);
	check_game((struct game) { .forks = 4, .exec = true, .gains = true });
	unlink(COPY);
}

/* ---- Who ends, and sleeps then ---- */

#define SPIN	20000000ull

/*
 * The first process of a namespace, for whose end it waits: after what tells of the end of a task,
 * and where the other child, which has the same events, runs.
 */
static pid_t end_while(uint64_t rounds)
{
	pid_t spinning = fork_child(), first;

	if (!spinning) {
		user_loop(rounds);
		_exit(0);
	}
	first = syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
	if (!first) {
		if (!fork())
			for (;;)
				pause();
		_exit(0);
	}
	cr_assert_gt(first, 0, "%m");
	cr_assert_eq(waitpid(first, NULL, 0), first);
	return spinning;
}

static uint64_t counted_while_others_end(uint64_t rounds)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t value;
	int fd;

	attr.inherit = 1;
	fd = event_open(attr);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 5; i++)
		cr_assert_gt(waitpid(end_while(rounds), NULL, 0), 0);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	value = event_value(fd);
	close(fd);
	return value;
}

/* His events have ended by then: nobody gets them for their own, or a whole loop is missing. */
Test(inherit_exchange, with_one_that_sleeps_when_it_has_ended)
{
	uint64_t once, twice;

	pin_here(1);
	once = counted_while_others_end(SPIN);
	twice = counted_while_others_end(2 * SPIN);
	/* Beside the loops a few thousand: of the first fork, say. */
	cr_expect_lt(llabs((long long)(twice - once - 5 * LOOP_INSTRUCTIONS * SPIN)), SPIN / 100,
		     "%lu and %lu", once, twice);
}
