// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything at once on two CPUs: threads that open, enable, disable, reset, read and
 * close events on tasks that fork, execute, move and end, while the counters overflow.
 * What comes of it: no complaint of the kernel, which the laboratory looks for, and
 * counts that are exact all the while.
 */
#include "busy.h"
#include "pmu.h"

#include <sys/mman.h>

#define SECONDS		12	/* at least, and until all have got round often enough */
#define OBSERVERS	3
#define VICTIMS		4
#define N		100000ull
#define HEADROOM	"/sys/module/pmuctl/parameters/counter_headroom"
#define EXEC_PROGRAM	"/pmuctl/tests/prog/count-exec"

static volatile bool stop;
/* For all events of observers and the one whose count is checked, on one task */
static bool enough_counters;
static unsigned long done[OBSERVERS];

static void set_headroom(const char *text)
{
	AUTO_CLOSE int fd = open(HEADROOM, O_WRONLY | O_CLOEXEC);

	cr_assert(fd >= 0 && write(fd, text, strlen(text)) > 0, "%s: %m", HEADROOM);
}

static void no_headroom(void)
{
	set_headroom("0");
}

TestSuite(count_races, .init = no_headroom, .fini = no_headroom);

/* What a victim does until it ends: loop, fork, move, execute */
static void victim(unsigned int seed)
{
	char *argv[] = { "x", "x", "x", NULL };
	unsigned int i;
	pid_t child;

	for (i = 0; i < 3 + seed % 4; i++) {
		user_loop(1 + seed % 7 * 3000);
		pin_here((seed >> i) & 1);
		if ((seed + i) % 3 == 0) {
			child = fork();
			if (!child) {
				user_loop(1000);
				_exit(0);
			}
			waitpid(child, NULL, 0);
		}
	}
	if (seed % 2)
		execv(EXEC_PROGRAM, argv);
	if (seed % 5 == 0)
		kill(getpid(), SIGKILL);
	_exit(0);
}

/* Keeps the victims coming, without threads of its own. */
static pid_t start_keeper(pid_t *shared)
{
	pid_t keeper = fork_child(), ended;
	unsigned int seed = 0, i;

	if (keeper)
		return keeper;
	for (;;) {
		for (i = 0; i < VICTIMS; i++) {
			if (shared[i])
				continue;
			shared[i] = fork_child();
			if (!shared[i])
				victim(seed);
			seed++;
		}
		ended = waitpid(-1, NULL, 0);
		for (i = 0; i < VICTIMS; i++)
			if (shared[i] == ended)
				shared[i] = 0;
	}
}

/*
 * One turn with an event; every outcome is right that a task may cause by ending, and one
 * on which many have opened events may be short of counters.
 */
static void use_event(int fd, unsigned int seed)
{
	struct counts last = { 0 }, c;
	unsigned int i;

	for (i = 0; i < 6; i++) {
		switch ((seed >> i) % 4) {
		case 0:
			event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
			break;
		case 1:
			event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
			break;
		case 2:
			event_ioctl(fd, PERF_EVENT_IOC_RESET);
			last.value = 0;
			break;
		}
		c = event_read(fd);
		cr_assert_geq(c.value, last.value);
		cr_assert_geq(c.enabled, last.enabled);
		cr_assert_geq(c.running, last.running);
		cr_assert_geq(c.enabled, c.running);
		if (enough_counters)
			cr_assert_eq(c.enabled, c.running);
		last = c;
	}
}

/*
 * Each observer has one event of a CPU at most, so that a counter is always left for
 * the task whose count is checked.
 */
static int open_some(unsigned int seed, const pid_t *targets, bool cpu_too)
{
	struct perf_event_attr attr = user_attr(seed % 3 ? PERF_COUNT_HW_INSTRUCTIONS :
						PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	pid_t pid = __atomic_load_n(&targets[seed % VICTIMS], __ATOMIC_RELAXED);

	attr.disabled = seed % 2;
	attr.enable_on_exec = seed / 2 % 2;
	attr.exclude_idle = seed / 4 % 2;
	switch (cpu_too ? seed % 7 : 1 + seed % 6) {
	case 0:
		return event_try(attr, -1, seed / 7 % 2);
	case 1:
		return event_try(attr);
	case 2:
		return event_try(attr, pid, seed / 7 % 2);
	default:
		return event_try(attr, pid);
	}
}

struct observer {
	pthread_t thread;
	unsigned int number;
	const pid_t *targets;
};

static void *observe(void *arg)
{
	struct observer *o = arg;
	unsigned int seed = o->number * 1000003;
	int fd, another;

	while (!stop) {
		seed = seed * 1103515245 + 12345;
		fd = open_some(seed >> 8, o->targets, true);
		another = open_some(seed >> 11, o->targets, false);
		cr_assert(fd >= 0 || fd == -ESRCH || fd == -EBUSY, "%s: %s",
			  strerror(-fd), event_why.sentence);
		if (fd >= 0)
			use_event(fd, seed >> 5);
		if (another >= 0) {
			use_event(another, seed >> 6);
			close(another);
		}
		if (fd >= 0)
			close(fd);
		done[o->number]++;
	}
	return NULL;
}

static bool all_got_round(unsigned int rounds)
{
	bool all = rounds > 5;
	unsigned int i;

	for (i = 0; i < OBSERVERS; i++)
		all &= __atomic_load_n(&done[i], __ATOMIC_RELAXED) > 50;
	return all;
}

Test(count_races, everything_at_once)
{
	static const char *const headrooms[] = { "0", "2000", "0", "20000" };
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + SECONDS * 1000000000ull;
	struct observer observer[OBSERVERS];
	unsigned int i, rounds = 0;
	pid_t *shared, keeper;
	struct busy b;

	enough_counters = pmu_general() > 2 * OBSERVERS;
	shared = mmap(NULL, VICTIMS * sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq((void *)shared, MAP_FAILED);
	keeper = start_keeper(shared);
	for (i = 0; i < OBSERVERS; i++) {
		observer[i] = (struct observer){ .number = i, .targets = shared };
		cr_assert_eq(pthread_create(&observer[i].thread, NULL, observe,
					    &observer[i]), 0);
	}
	while (clock_ns(CLOCK_MONOTONIC) < end || !all_got_round(rounds)) {
		set_headroom(headrooms[rounds % 4]);
		busy_start(&b, 20 * N, rounds % 3 ? (int)(rounds % 2) : -1);
		b.go = true;
		busy_check(&b);
		rounds++;
	}
	stop = true;
	for (i = 0; i < OBSERVERS; i++)
		pthread_join(observer[i].thread, NULL);
	kill(keeper, SIGKILL);
	waitpid(keeper, NULL, 0);

	set_headroom("0");
	busy_start(&b, 10 * N, -1);
	b.go = true;
	busy_check(&b);
}

/* ---- The first two events of a task ---- */

#define FIRSTS		300

static struct first {
	pid_t target;
	unsigned int waiting;	/* for each other */
	int fd[2];
} first;

/* Both at the same time, from both CPUs */
static void *open_first(void *arg)
{
	const long me = (long)arg;
	struct perf_event_attr attr = instructions_u();

	pin_here((int)me);
	attr.disabled = 0;
	__atomic_sub_fetch(&first.waiting, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&first.waiting, __ATOMIC_ACQUIRE))
		;
	first.fd[me] = event_try(attr, first.target);
	return NULL;
}

Test(count_races, two_who_are_the_first_to_count_a_task)
{
	for (unsigned int i = 0; i < FIRSTS; i++) {
		pthread_t threads[2];
		int go[2];
		char byte;

		cr_assert_eq(pipe2(go, O_CLOEXEC), 0);
		first.target = fork_child();
		if (!first.target) {
			if (read(go[0], &byte, 1) == 1)
				user_loop(1000);
			_exit(0);
		}
		wait_asleep(first.target);
		first.waiting = 2;
		for (long me = 0; me < 2; me++)
			cr_assert_eq(pthread_create(&threads[me], NULL, open_first, (void *)me), 0);
		for (int me = 0; me < 2; me++)
			pthread_join(threads[me], NULL);
		cr_assert_eq(write(go[1], "x", 1), 1);
		cr_assert_eq(waitpid(first.target, NULL, 0), first.target);
		for (int me = 0; me < 2; me++)
			cr_assert_geq(first.fd[me], 0, "%s", strerror(-first.fd[me]));
		cr_assert_geq(event_value(first.fd[0]), 2000);
		cr_assert_eq(event_value(first.fd[0]), event_value(first.fd[1]));
		for (int me = 0; me < 2; me++) {
			close(first.fd[me]);
			close(go[me]);
		}
	}
}
