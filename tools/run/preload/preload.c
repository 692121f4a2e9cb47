// SPDX-License-Identifier: GPL-2.0-only
/*
 * libpmuctl-perf.so, a library that is loaded into a program before its own (LD_PRELOAD), for
 * "pmuctl run --preload": it takes the calls of perf_event_open(2) that the program makes by
 * syscall(3), as there is no other function for it, and PR_TASK_PERF_EVENTS_* of prctl(2).
 * What it does is done by the thread that calls, with its rights; all other calls go on to the
 * kernel as they are.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../request.h"

#define EXPORTED	__attribute__((visibility("default")))
#define ARGUMENTS	6

static struct run_shared shared;

static long raw_call(long number, const long *a)
{
	register long r10 asm("r10") = a[3];
	register long r8 asm("r8") = a[4];
	register long r9 asm("r9") = a[5];
	long ret;

	asm volatile("syscall" : "=a" (ret)
		     : "a" (number), "D" (a[0]), "S" (a[1]), "d" (a[2]), "r" (r10), "r" (r8),
		       "r" (r9)
		     : "rcx", "r11", "memory");
	return ret;
}

static long result(long ret)
{
	if (ret >= 0 || ret < -4095)
		return ret;
	errno = (int)-ret;
	return -1;
}

/**
 * request_is_valid() - does the caller still wait? It is this thread.
 * @r: the call.
 */
bool request_is_valid(const struct request *r)
{
	(void)r;
	return true;
}

/* Our own descriptor of the caller's event, as who answers from outside has it */
static int find_group(struct request *r, bool passed_on)
{
	if (r->group_fd == -1)
		return 0;
	return request_take_group(r, fcntl(r->group_fd, F_DUPFD_CLOEXEC, 0), passed_on);
}

static int handle(struct request *r)
{
	int ret = request_check_flags(r), type;

	if (ret == 0)
		ret = request_copy(r);
	if (ret < 0)
		return ret;
	type = request_find_type(r);
	ret = type < 0 ? type : find_group(r, type == REQUEST_PASS_ON);
	if (ret < 0 || type == REQUEST_PASS_ON)
		return ret < 0 ? ret : type;
	ret = request_check_target(r);
	if (request_is_of_cgroup(r))
		r->cgroup = r->pid;
	return request_settle(r, ret ? ret : request_open_here(r, r->caller.tid, 0));
}

/* As perf's, its number is the lowest that is free: the device had that while it was opened. */
static int move_down(int fd, unsigned long flags)
{
	int low = fcntl(fd, flags & PERF_FLAG_FD_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);

	if (low < 0 || low > fd) {
		if (low >= 0)
			close(low);
		return fd;
	}
	close(fd);
	return low;
}

/* What pmuctl run was asked for is in the environment, which children inherit. */
static long open_event(const long *a)
{
	const struct run_options options = {
		.explain = getenv(RUN_ENV_EXPLAIN), .strict = getenv(RUN_ENV_STRICT),
	};
	struct request r = {
		.options = &options, .shared = &shared, .group = -1, .cgroup = -1,
		.caller = { .tid = gettid(), .process = getpid() },
		.address = (uint64_t)a[0], .pid = (int)a[1], .cpu = (int)a[2],
		.group_fd = (int)a[3], .flags = (unsigned long)a[4],
	};
	int before = errno, ret = handle(&r);

	if (r.group >= 0)
		close(r.group);
	if (ret < 0 && options.explain && r.why.error)
		request_explain(&r);
	errno = before;
	if (ret == REQUEST_PASS_ON)
		return raw_call(SYS_perf_event_open, a);
	return ret < 0 ? ret : move_down(ret, r.flags);
}

static void control(unsigned long request)
{
	int before = errno, device = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (device >= 0) {
		ioctl(device, request);
		close(device);
	}
	errno = before;
}

static void control_if_asked(int option)
{
	if (option == PR_TASK_PERF_EVENTS_ENABLE)
		control(PMUCTL_IOC_TASK_ENABLE);
	if (option == PR_TASK_PERF_EVENTS_DISABLE)
		control(PMUCTL_IOC_TASK_DISABLE);
}

static void take_arguments(long *a, va_list list, unsigned int from)
{
	for (unsigned int i = from; i < ARGUMENTS; i++)
		a[i] = va_arg(list, long);
}

EXPORTED long syscall(long number, ...)
{
	long a[ARGUMENTS];
	va_list list;

	va_start(list, number);
	take_arguments(a, list, 0);
	va_end(list);
	if (number == SYS_perf_event_open)
		return result(open_event(a));
	if (number == SYS_prctl)
		control_if_asked((int)a[0]);
	return result(raw_call(number, a));
}

EXPORTED int prctl(int option, ...)
{
	long a[ARGUMENTS] = { option };
	va_list list;

	va_start(list, option);
	take_arguments(a, list, 1);
	va_end(list);
	control_if_asked(option);
	return (int)result(raw_call(SYS_prctl, a));
}
