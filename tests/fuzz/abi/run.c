// SPDX-License-Identifier: GPL-2.0-only
/*
 * One program after the other: who makes which call, and when.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/futex.h>
#include <linux/pmuctl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "run.h"

#define ORDINARY_USER	1000
#define PATIENCE	10	/* seconds for a call of another worker */

static struct worker self;
static struct runner *runner;

/* ---- Waiting for each other ---- */

static void wait_for(uint32_t *word, uint32_t value)
{
	struct timespec time = { 0, 20000000 };

	syscall(SYS_futex, word, FUTEX_WAIT, value, &time, NULL, 0);
}

static void wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 100, NULL, NULL, 0);
}

static uint32_t look(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void finish(struct box *box)
{
	__atomic_store_n(&box->done, look(&box->posted), __ATOMIC_SEQ_CST);
	wake(&box->done);
}

/* ---- Making calls ---- */

/* This thread's own file, opened anew by a child that has inherited another's */
static int fault_file(void)
{
	static __thread pid_t of;
	static __thread int fd = -1;

	if (of != gettid()) {
		fd = open("/proc/thread-self/fail-nth", O_WRONLY | O_CLOEXEC);
		of = gettid();
	}
	return fd;
}

static void arm_fault(uint32_t nth)
{
	int fd = fault_file(), n;
	char text[16];

	n = snprintf(text, sizeof(text), "%u", nth);
	/* Being told to stop may be what fails. */
	if (fd >= 0 && pwrite(fd, text, n, 0) < 0 && !nth && pwrite(fd, text, n, 0) < 0)
		_exit(9);
}

static unsigned int loops_of(const struct call *call)
{
	unsigned int most = 64;

	if (call->op == OP_WORK && call->arg[WORK_WHAT] >= WORK_THREAD)
		most = 3;
	if (call->op == OP_ADMIN || call->op == OP_FORK)
		most = 2;
	return call->loop < most ? call->loop : most;
}

/*
 * The kernel cannot give up a probe when it finds no memory for that, warns, and leaves it: what
 * unloads the module is not told to fail. tests/vm/debug_load fails each step of a load.
 */
static bool may_fail(const struct call *call)
{
	return call->fail && !(call->op == OP_ADMIN && call->arg[ADMIN_WHAT] == ADMIN_RELOAD);
}

static int64_t make_call(struct worker *worker, const struct call *call)
{
	unsigned int i, n = loops_of(call);
	int64_t ret = 0;

	for (i = 0; i < n; i++) {
		if (may_fail(call))
			arm_fault(call->fail + i);
		ret = worker_call(worker, call);
		if (may_fail(call))
			arm_fault(0);
		__atomic_fetch_add(&worker->runner->calls, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&worker->runner->beat, 1, __ATOMIC_RELAXED);
		if (ret < 0)
			__atomic_fetch_add(&worker->runner->failed, 1, __ATOMIC_RELAXED);
	}
	cover_collect(worker->runner, worker->who);
	cover_reset(worker->who);
	return ret;
}

void worker_leave(struct worker *worker)
{
	struct box *box = &worker->runner->box[worker->who];

	cover_collect(worker->runner, worker->who);
	box->pid = 0;
	finish(box);
}

/* What threads and children do: the calls that they are given. */
static void serve(struct worker *worker)
{
	struct box *box = &worker->runner->box[worker->who];

	cover_start(worker->who);
	for (;;) {
		while (look(&box->posted) == look(&box->done))
			wait_for(&box->posted, look(&box->done));
		box->result = make_call(worker, &box->call);
		finish(box);
	}
}

static void *thread(void *arg)
{
	enum who who = (enum who)(intptr_t)arg;
	struct worker worker;

	worker_init(&worker, runner, who);
	runner->box[who].pid = syscall(SYS_gettid);
	serve(&worker);
	return NULL;
}

static void start_thread(enum who who)
{
	struct box *box = &runner->box[who];
	pthread_attr_t attr;
	pthread_t id;

	box->pid = 0;
	box->done = look(&box->posted);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&id, &attr, thread, (void *)(intptr_t)who))
		_exit(8);
	pthread_attr_destroy(&attr);
	while (!__atomic_load_n(&box->pid, __ATOMIC_SEQ_CST))
		usleep(100);
}

/* ---- Children ---- */

static void on_signal(int signal)
{
	(void)signal;
}

static void become_child(enum who who)
{
	struct worker worker;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	worker_init(&worker, runner, who);
	serve(&worker);
}

void child_after_exec(unsigned int index, enum who who)
{
	runner = &shared->runner[index];
	finish(&runner->box[who]);
	signal(SIGUSR1, on_signal);
	memory_init();
	become_child(who);
}

static int64_t call_fork(const struct call *call)
{
	unsigned int child = (uint64_t)call->arg[0] % CHILDREN;
	struct box *box = &runner->box[C0 + child];
	pid_t pid;

	if (box->pid)
		return -EEXIST;
	memcpy(runner->fd[1 + child], runner->fd[0], sizeof(runner->fd[0]));
	box->done = box->posted;
	box->stopped = false;
	pid = fork();
	if (!pid)
		become_child(C0 + child);
	if (pid < 0)
		return -errno;
	box->pid = pid;
	return pid;
}

static int64_t call_kill(const struct call *call)
{
	struct box *box = &runner->box[C0 + (uint64_t)call->arg[0] % CHILDREN];

	if (!box->pid)
		return -ESRCH;
	if (kill(box->pid, call->arg[1]))
		return -errno;
	if (call->arg[1] == SIGSTOP || call->arg[1] == SIGCONT)
		box->stopped = call->arg[1] == SIGSTOP;
	return 0;
}

/* Has this worker come to its end? A child is a zombie until the program has ended. */
static bool is_gone(enum who who)
{
	struct box *box = &runner->box[who];
	siginfo_t info = { 0 };

	if (!box->pid)
		return true;
	if (who < C0)
		return false;
	return waitid(P_PID, box->pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

static void bury(enum who who)
{
	struct box *box = &runner->box[who];

	if (!box->pid)
		return;
	kill(box->pid, SIGKILL);
	waitpid(box->pid, NULL, 0);
	box->pid = 0;
}

/* ---- Programs ---- */

/* Wait until a worker has made its call; false if it is not there to make one. */
static bool is_idle(enum who who)
{
	struct box *box = &runner->box[who];
	time_t end = time(NULL) + PATIENCE;
	uint32_t done;

	while ((done = look(&box->done)) != look(&box->posted)) {
		if (is_gone(who) || box->stopped)
			return false;
		if (time(NULL) > end) {
			if (who < C0)
				_exit(7); /* whoever started us has a look */
			return false;
		}
		wait_for(&box->done, done);
	}
	return !is_gone(who) && !box->stopped;
}

static int64_t give(const struct call *call)
{
	struct box *box = &runner->box[call->who];

	if (!is_idle(call->who))
		return -ESRCH;
	box->call = *call;
	__atomic_fetch_add(&box->posted, 1, __ATOMIC_SEQ_CST);
	wake(&box->posted);
	if (call->async)
		return 0;
	is_idle(call->who);
	return box->result;
}

static int64_t step(const struct call *call)
{
	if (call->op == OP_FORK || call->op == OP_KILL) {
		runner->calls++;
		return call->op == OP_FORK ? call_fork(call) : call_kill(call);
	}
	return call->who == T0 ? make_call(&self, call) : give(call);
}

static void tell_call(const struct program *program, unsigned int i, int64_t ret)
{
	struct program one = { .n = 1, .root = program->root, .call = { program->call[i] } };
	char text[1024], *line;

	program_print(&one, text, sizeof(text));
	line = strchr(text, '\n') + 1;
	line[strcspn(line, "\n")] = '\0';
	if (ret < 0)
		printf("%-60s # %s\n", line, strerrorname_np(-ret));
	else
		printf("%-60s # %lld\n", line, (long long)ret);
	fflush(stdout);
}

static void clean(void)
{
	enum who who;

	for (who = C0; who < WHOS; who++)
		bury(who);
	for (who = T1; who < C0; who++)
		is_idle(who);
	calls_clean(&self);
	for (who = T1; who < C0; who++)
		if (!runner->box[who].pid)
			start_thread(who);
	sched_setaffinity(0, sizeof(cpu_set_t), &(cpu_set_t){ { 255 } });
}

static void open_device(void)
{
	int fd = open(PMUCTL_DEVICE, O_RDWR);

	if (fd < 0)
		return;
	dup2(fd, FD_DEVICE_OPEN);
	close(fd);
}

void runner_run(const struct program *program, bool tell)
{
	unsigned int i;
	int64_t ret;

	runner->nr_fresh = 0;
	memset(runner->again, 0, sizeof(runner->again));
	/* Opened anew each time, so that the module may go meanwhile */
	open_device();
	lives_begin();
	for (i = 0; i < program->n; i++) {
		ret = step(&program->call[i]);
		lives_note(runner, &program->call[i], ret);
		if (tell)
			tell_call(program, i, ret);
	}
	clean();
	close(FD_DEVICE_OPEN);
}

static void become_ordinary(void)
{
	if (setgroups(0, NULL) || setgid(ORDINARY_USER) || setuid(ORDINARY_USER))
		_exit(8);
	/* Without that /proc/self is root's. */
	prctl(PR_SET_DUMPABLE, 1);
}

void runner_become(unsigned int index, bool root)
{
	struct box *box;
	enum who who;

	runner = &shared->runner[index];
	runner->root = root;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!root)
		become_ordinary();
	signal(SIGUSR1, on_signal);
	memory_init();
	memset(runner->fd, 0xff, sizeof(runner->fd));
	for (box = runner->box; box < runner->box + WHOS; box++)
		*box = (struct box){ 0 };
	worker_init(&self, runner, T0);
	runner->box[T0].pid = getpid();
	cover_start(T0);
	for (who = T1; who < C0; who++)
		start_thread(who);
}
