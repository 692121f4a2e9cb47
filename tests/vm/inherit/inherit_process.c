// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of a process (PMUCTL_OPEN_PROCESS): all the threads that it has, and what they
 * start. The threads loop on demand, so what each must add is known.
 */
#include "family.h"
#include "refusal.h"

#include <limits.h>
#include <poll.h>
#include <linux/futex.h>
#include <sys/mman.h>

#define N		10000ull
#define THREADS		4

static int process_try(struct perf_event_attr attr, pid_t pid, int group_fd)
{
	return event_try(attr, pid, .group = group_fd, .flags = PMUCTL_OPEN_PROCESS);
}

static int process_open(struct perf_event_attr attr, pid_t pid, int group_fd)
{
	int fd = process_try(attr, pid, group_fd);

	cr_assert_geq(fd, 0, "%s: %s", strerror(-fd), event_why.sentence);
	return fd;
}

/* ---- Threads of this process ---- */

/* Each of the workers adds what it executes, once. */
static void check_each(struct worker *w, int n, int fd)
{
	for (int i = 0; i < n; i++)
		cr_expect_eq(worker_count_loop(&w[i], fd, N + i),
			     (N + i) * LOOP_INSTRUCTIONS, "worker %d", i);
}

/* This thread counts too: it is what remains when nobody else does anything. */
static uint64_t count_others(struct worker *w, int n, int fd, int own, uint64_t rounds)
{
	uint64_t all = event_value(fd), mine = event_value(own);

	for (int i = 0; i < n; i++)
		worker_run(&w[i], rounds);
	all = event_value(fd) - all;
	return all - (event_value(own) - mine);
}

static void check_others(struct worker *w, int n, int fd, int own)
{
	uint64_t one;

	count_others(w, n, fd, own, 1);
	one = count_others(w, n, fd, own, 1);
	cr_expect_eq(count_others(w, n, fd, own, N + 1) - one,
		     n * N * LOOP_INSTRUCTIONS);
}

Test(inherit_process, threads_that_were_there_and_those_that_come)
{
	int own = event_open(instructions_u()), fd;
	struct worker w[THREADS];

	for (int i = 0; i < THREADS / 2; i++)
		worker_start(&w[i], true);
	fd = process_open(inherited(instructions_u()), 0, -1);
	check_others(w, THREADS / 2, fd, own);
	for (int i = THREADS / 2; i < THREADS; i++)
		worker_start(&w[i], true);
	check_others(w, THREADS, fd, own);
	for (int i = 0; i < THREADS; i++)
		worker_end(&w[i]);
	check_others(w, 0, fd, own);
}

/* ---- Threads of another process ---- */

/**
 * struct target - another process with threads, in shared memory
 * @pid: of the process.
 * @tid: of its threads that loop.
 * @orders: each one's pipe.
 * @n: how many there are.
 */
struct target {
	pid_t pid;
	volatile pid_t tid[THREADS];
	int orders[THREADS][2];
	volatile unsigned int n;
};

static void *target_thread(void *arg)
{
	int *orders = arg;

	worker_work(orders[0]);
	return NULL;
}

struct start {
	struct target *t;
	int i;
};

static void *tell_and_work(void *arg)
{
	struct start *s = arg;

	s->t->tid[s->i] = gettid();
	__atomic_add_fetch(&s->t->n, 1, __ATOMIC_RELEASE);
	return target_thread(s->t->orders[s->i]);
}

static struct target *target_start(void (*rest)(struct target *t))
{
	struct target *t = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static struct start start[THREADS];
	pthread_t thread;
	pid_t pid;

	cr_assert(t != MAP_FAILED);
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pipe2(t->orders[i], O_CLOEXEC), 0);
	pid = fork_child();
	if (!pid) {
		for (int i = 0; i < THREADS; i++) {
			start[i] = (struct start){ t, i };
			if (pthread_create(&thread, NULL, tell_and_work, &start[i]))
				_exit(1);
		}
		rest(t);
		_exit(0);
	}
	t->pid = pid;
	while (__atomic_load_n(&t->n, __ATOMIC_ACQUIRE) < THREADS)
		usleep(1000);
	return t;
}

static struct worker target_worker(const struct target *t, int i)
{
	struct worker w = { .tid = t->tid[i], .orders = t->orders[i][1] };

	return w;
}

static void target_end(struct target *t)
{
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	for (int i = 0; i < THREADS; i++) {
		close(t->orders[i][0]);
		close(t->orders[i][1]);
	}
	munmap(t, 4096);
}

static void sleep_on(struct target *t)
{
	(void)t;
	for (;;)
		pause();
}

/* Any of its threads names the process. */
Test(inherit_process, all_threads_of_another_process)
{
	struct target *t = target_start(sleep_on);
	struct worker w[THREADS];
	int by_pid, by_tid;

	by_pid = process_open(inherited(instructions_u()), t->pid, -1);
	by_tid = process_open(inherited(instructions_u()), t->tid[2], -1);
	for (int i = 0; i < THREADS; i++) {
		w[i] = target_worker(t, i);
		worker_run(&w[i], 1);
	}
	check_each(w, THREADS, by_pid);
	check_each(w, THREADS, by_tid);
	target_end(t);
	cr_expect_eq(event_value(by_pid), event_value(by_tid));
}

static void leave(struct target *t)
{
	(void)t;
	pthread_exit(NULL);
}

static bool hangs_up(int fd, int ms)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, ms) == 1 && (p.revents & POLLHUP);
}

/* The first thread has ended, the process has not. */
Test(inherit_process, without_its_first_thread)
{
	struct target *t = target_start(leave);
	struct worker w[THREADS];
	int fd;

	while (task_state(t->pid) != 'Z')
		usleep(1000);
	fd = process_open(inherited(instructions_u()), t->pid, -1);
	for (int i = 0; i < THREADS; i++) {
		w[i] = target_worker(t, i);
		worker_run(&w[i], 1);
	}
	check_each(w, THREADS, fd);
	for (int i = 0; i < THREADS; i++) {
		uint64_t zero = 0;

		cr_expect_not(hangs_up(fd, 0), "%d threads have ended", i);
		cr_assert_eq(write(w[i].orders, &zero, sizeof(zero)),
			     (ssize_t)sizeof(zero));
		while (i < THREADS - 1 && task_state(w[i].tid))
			usleep(1000);
	}
	cr_expect(hangs_up(fd, -1));
	target_end(t);
}

/* ---- What comes while it is being opened ---- */

#define CROWD		24
#define OPENS		40
#define LOOPED		(10 * N)
/* What all threads together may execute beside: less than one loops */
#define BESIDE		(LOOPED * LOOP_INSTRUCTIONS / 2)

/**
 * struct crowd - threads that make others until they are many, and loop when told to
 * @tickets: how many were asked for.
 * @born: how many began.
 * @go: loop.
 * @done: how many have.
 * @end: when this is the number of the round they end.
 * @gone: how many have.
 */
static struct crowd {
	unsigned int tickets, born, go, done, end, gone;
} crowd;

static void *crowd_thread(void *arg);

static void crowd_multiply(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (__atomic_fetch_add(&crowd.tickets, 1, __ATOMIC_RELAXED) >= CROWD)
		return;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	if (pthread_create(&thread, &attr, crowd_thread, NULL))
		abort();
	pthread_attr_destroy(&attr);
}

static void crowd_wait(const unsigned int *what, unsigned int n)
{
	unsigned int now;

	while ((now = __atomic_load_n(what, __ATOMIC_ACQUIRE)) < n)
		syscall(SYS_futex, what, FUTEX_WAIT, now, NULL, NULL, 0);
}

static void crowd_tell(unsigned int *what)
{
	__atomic_add_fetch(what, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, what, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void *crowd_thread(void *arg)
{
	crowd_tell(&crowd.born);
	crowd_multiply();
	crowd_multiply();
	crowd_wait(&crowd.go, 1);
	user_loop(LOOPED);
	crowd_tell(&crowd.done);
	crowd_wait(&crowd.end, 1);
	crowd_tell(&crowd.gone);
	return arg;
}

/*
 * Threads begin while the event is opened: each is counted, and once. What this thread does
 * is not known, but is taken off.
 */
Test(inherit_process, threads_that_begin_meanwhile_are_counted_once)
{
	struct perf_event_attr attr = inherited(instructions_u());
	int own = event_open(instructions_u()), fd[2];
	uint64_t all[2], mine;

	for (unsigned int i = 0; i < OPENS; i++) {
		memset(&crowd, 0, sizeof(crowd));
		crowd_multiply();
		crowd_wait(&crowd.born, 1 + i * CROWD / OPENS);
		fd[0] = process_open(attr, 0, -1);
		fd[1] = process_open(attr, 0, fd[0]);
		crowd_wait(&crowd.born, CROWD);
		event_ioctl(fd[0], PERF_EVENT_IOC_RESET);
		event_ioctl(fd[1], PERF_EVENT_IOC_RESET);
		mine = event_value(own);
		crowd_tell(&crowd.go);
		crowd_wait(&crowd.done, CROWD);
		mine = event_value(own) - mine;
		for (int k = 0; k < 2; k++) {
			all[k] = event_value(fd[k]) - mine;
			cr_assert_geq(all[k], CROWD * LOOPED * LOOP_INSTRUCTIONS,
				      "event %d of open %u: %lu", k, i, all[k]);
			cr_assert_leq(all[k], CROWD * LOOPED * LOOP_INSTRUCTIONS + BESIDE,
				      "event %d of open %u: %lu", k, i, all[k]);
		}
		crowd_tell(&crowd.end);
		crowd_wait(&crowd.gone, CROWD);
		close(fd[1]);
		close(fd[0]);
	}
}

/* ---- Groups ---- */

static void read_pair(int leader, uint64_t value[2])
{
	uint64_t words[3];

	cr_assert_eq(read(leader, words, sizeof(words)), (ssize_t)sizeof(words), "%m");
	cr_assert_eq(words[0], 2);
	memcpy(value, words + 1, 2 * sizeof(*value));
}

/*
 * Between its two events a thread and a process begin: they have the group like those that
 * were there before.
 */
static void check_late_sibling(unsigned int flags)
{
	struct perf_event_attr attr = inherited(instructions_u());
	struct worker w[THREADS];
	uint64_t before[2], after[2];
	int leader, sibling;

	attr.read_format = PERF_FORMAT_GROUP;
	if (flags)
		worker_start(&w[0], true);
	leader = event_try(attr, .flags = flags);
	if (!flags)
		worker_start(&w[0], true);
	worker_start(&w[1], true);
	worker_start(&w[2], false);
	sibling = event_try(attr, .group = leader, .flags = flags);
	cr_assert(leader >= 0 && sibling >= 0, "%s", event_why.sentence);
	worker_start(&w[3], true);
	for (int i = 0; i < THREADS; i++) {
		read_pair(leader, before);
		worker_run(&w[i], N);
		read_pair(leader, after);
		cr_expect_geq(after[1] - before[1], N * LOOP_INSTRUCTIONS, "worker %d", i);
		cr_expect_eq(after[1] - before[1], after[0] - before[0], "worker %d", i);
	}
	for (int i = 0; i < THREADS; i++)
		worker_end(&w[i]);
	read_pair(leader, before);
	cr_expect_gt(before[1], THREADS * N * LOOP_INSTRUCTIONS);
	close(leader);
	close(sibling);
}

Test(inherit_process, a_sibling_is_wherever_its_leader_is)
{
	check_late_sibling(PMUCTL_OPEN_PROCESS);
}

Test(inherit_process, a_sibling_is_wherever_its_leader_is_of_one_task)
{
	check_late_sibling(0);
}

/* ---- What is refused ---- */

Test(inherit_process, refusals)
{
	union raw_attr a = { .attr = inherited(instructions_u()) }, alone = a;
	int process = process_open(inherited(instructions_u()), 0, -1);
	int task = event_open(inherited(instructions_u()));

	alone.attr.inherit = 0;
	check_refusals(
		{ "no process", OPEN(a, -1, 0, .flags = PMUCTL_OPEN_PROCESS), EINVAL,
		  PMUCTL_WHY_PROCESS_PID, "pid",
		  "pid -1 with PMUCTL_OPEN_PROCESS is no process: give the id of one, or 0 for the calling one" },
		{ "not inherited", OPEN(alone, .flags = PMUCTL_OPEN_PROCESS), EINVAL,
		  PMUCTL_WHY_PROCESS_INHERIT, "attr.inherit",
		  "PMUCTL_OPEN_PROCESS counts what a process starts too: set attr.inherit, and attr.inherit_thread for its threads alone" },
		{ "a task in a process' group", OPEN(a, .group = process), EINVAL,
		  PMUCTL_WHY_SIBLING_PROCESS, "flags",
		  "a group counts a process or a single task: set PMUCTL_OPEN_PROCESS as it was for its leader" },
		{ "a process in a task's group",
		  OPEN(a, .group = task, .flags = PMUCTL_OPEN_PROCESS), EINVAL,
		  PMUCTL_WHY_SIBLING_PROCESS, "flags",
		  "a group counts a process or a single task: set PMUCTL_OPEN_PROCESS as it was for its leader" }
	);
}

static void *become_another(void *other)
{
	/* The library would do so for all threads. */
	if (syscall(SYS_setresuid, (uid_t)(uintptr_t)other, (uid_t)(uintptr_t)other,
		    (uid_t)(uintptr_t)other) || prctl(PR_SET_DUMPABLE, 1))
		abort();
	for (;;)
		pause();
}

/* One thread is another user's: that one's rights are needed too. */
static void mix_users(struct target *t)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, become_another, (void *)(uintptr_t)RAW_OTHER_USER))
		abort();
	t->n++;
	become_another((void *)(uintptr_t)RAW_USER);
}

static void stay_together(struct target *t)
{
	if (raw_become(RAW_USER) || prctl(PR_SET_DUMPABLE, 1))
		abort();
	t->n++;
	sleep_on(t);
}

static int open_as_user(struct target *t)
{
	while (t->n == THREADS || task_state(t->pid) != 'S')
		usleep(1000);
	cr_assert_eq(raw_become(RAW_USER), 0);
	return process_try(inherited(instructions_u()), t->pid, -1);
}

Test(inherit_process, of_a_process_all_of_whose_threads_are_the_users)
{
	struct target *t = target_start(stay_together);
	int fd = open_as_user(t);

	cr_expect_geq(fd, 0, "%s", event_why.sentence);
	target_end(t);
}

Test(inherit_process, of_a_process_with_a_thread_of_another_user)
{
	struct target *t = target_start(mix_users);

	cr_expect_eq(open_as_user(t), -EACCES);
	cr_expect_eq(event_why.code, PMUCTL_WHY_PERM_TASK);
	target_end(t);
}
