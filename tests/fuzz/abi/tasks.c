// SPDX-License-Identifier: GPL-2.0-only
/*
 * What counted tasks do: run, fault, fork, exec, end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

#define STRAYS	8

/* This process' children that stay until it ends, or cleans up */
static pid_t strays[STRAYS];

void task_spin(int64_t n)
{
	volatile int64_t i;

	for (i = 0; i < (n & 63) * 1000; i++)
		;
}

void tasks_clean(void)
{
	int i;

	for (i = 0; i < STRAYS; i++) {
		if (!strays[i])
			continue;
		kill(strays[i], SIGKILL);
		waitpid(strays[i], NULL, 0);
		strays[i] = 0;
	}
}

static int64_t fault(int64_t n)
{
	size_t size = (1 + (n & 63)) * 4096, at;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	for (at = 0; at < size; at += 4096)
		p[at] = 1;
	return munmap(p, size) ? -errno : 0;
}

static int64_t map_code(int64_t n)
{
	int fd = open(n & 1 ? PATH_SUID : PATH_SELF, O_RDONLY | O_CLOEXEC);
	void *p;

	if (fd < 0)
		return -errno;
	p = mmap(NULL, 8192, PROT_READ | (n & 2 ? 0 : PROT_EXEC), MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return -errno;
	return munmap(p, 8192) ? -errno : 0;
}

static void *thread(void *arg)
{
	task_spin((intptr_t)arg);
	return NULL;
}

static int64_t start_thread(int64_t n)
{
	pthread_t id;
	int err = pthread_create(&id, NULL, thread, (void *)(intptr_t)n);

	if (err)
		return -err;
	pthread_join(id, NULL);
	return 0;
}

static int64_t start_task(int64_t n)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid) {
		task_spin(n);
		_exit(0);
	}
	return waitpid(pid, NULL, 0) < 0 ? -errno : 0;
}

static int64_t start_stray(int64_t n)
{
	pid_t parent = getpid(), pid;
	int i;

	for (i = 0; i < STRAYS && strays[i]; i++)
		;
	if (i == STRAYS)
		return -EAGAIN;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		task_spin(n);
		while (getppid() == parent)
			pause();
		_exit(0);
	}
	strays[i] = pid;
	return pid;
}

static int64_t start_program(void)
{
	char *args[] = { PATH_SELF, "--nothing", NULL };
	pid_t pid = vfork();

	if (pid < 0)
		return -errno;
	if (!pid) {
		execv(args[0], args);
		_exit(1);
	}
	return waitpid(pid, NULL, 0) < 0 ? -errno : 0;
}

/* Only children do: the same program again, which goes on where this call was. */
static int64_t exec(struct worker *worker, const char *path)
{
	char index[2] = { '0' + (worker->runner - shared->runner) };
	char who[2] = { '0' + worker->who };
	char *args[] = { (char *)path, "--child", index, who, NULL };

	if (worker->who < C0)
		return -ENOSYS;
	execv(path, args);
	return -errno;
}

static int64_t end(struct worker *worker)
{
	if (worker->who == T0)
		return -ENOSYS;
	if (worker->who >= C0)
		_exit(0);
	worker_leave(worker);
	pthread_exit(NULL);
}

static int64_t change_name(int64_t n)
{
	char name[] = "abi-0";

	name[4] += n & 7;
	return prctl(PR_SET_NAME, name) ? -errno : 0;
}

int64_t task_work(struct worker *worker, enum work what, int64_t n)
{
	switch (what) {
	case WORK_SPIN:
		task_spin(n);
		return 0;
	case WORK_FAULT:
		return fault(n);
	case WORK_YIELD:
		return sched_yield();
	case WORK_SLEEP:
		return usleep((n & 15) * 100);
	case WORK_COMM:
		return change_name(n);
	case WORK_MAP_CODE:
		return map_code(n);
	case WORK_THREAD:
		return start_thread(n);
	case WORK_FORK:
		return start_task(n);
	case WORK_FORK_STAYS:
		return start_stray(n);
	case WORK_VFORK:
		return start_program();
	case WORK_SIGNAL:
		return raise(SIGUSR1);
	case WORK_EXEC:
		return exec(worker, PATH_SELF);
	case WORK_EXEC_SUID:
		return exec(worker, PATH_SUID);
	case WORK_EXEC_UNREADABLE:
		return exec(worker, PATH_UNREADABLE);
	case WORK_EXIT:
		return end(worker);
	case WORK_DROP:
		return worker->who < C0 ? -ENOSYS : setuid(1000) ? -errno : 0;
	}
	return -ENOSYS;
}
