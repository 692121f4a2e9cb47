// SPDX-License-Identifier: GPL-2.0-only
#include "aux_busy.h"

pid_t traced_task_start(void (*code)(void))
{
	pid_t pid = raw_task(code);

	cr_assert_geq(pid, 0);
	return pid;
}

void traced_task_end(pid_t pid)
{
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

uint64_t head_of(const struct trace *t)
{
	return __atomic_load_n(&t->page->aux_head, __ATOMIC_ACQUIRE);
}

/* Open, map and read a trace of @pid again and again; a byte tells of each. */
static void trace_until_killed(const union raw_attr *attr, pid_t pid, size_t pages,
			       int ready)
{
	struct trace t;

	for (;;) {
		t.fd = raw_open(attr, pid, -1, 0, NULL);
		if (t.fd < 0)
			_exit(1);
		if (trace_try_map(&t, pages, PROT_READ | PROT_WRITE))
			_exit(2);
		if (write(ready, "", 1) != 1)
			_exit(3);
		for (int i = 0; i < 10; i++)
			t.page->aux_tail = head_of(&t);
		trace_close(&t);
	}
}

void trace_kill_reader(const union raw_attr *attr, pid_t pid, size_t pages,
		       unsigned int *seed)
{
	int status, ready[2];
	pid_t child;
	char byte;

	cr_assert_eq(pipe(ready), 0);
	child = fork();
	cr_assert_geq(child, 0);
	if (!child)
		trace_until_killed(attr, pid, pages, ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	usleep(rand_r(seed) % 20000);
	kill(child, SIGKILL);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status), "%#x", status);
	close(ready[0]);
	close(ready[1]);
}

int trace_open_trigger(const char *name, uint32_t action, uint64_t period,
		       int leader, const char *filter)
{
	union raw_attr a = raw_attr(PERF_TYPE_TRACEPOINT, 0);
	int fd;

	a.attr.exclude_kernel = 0;
	a.attr.sample_period = period;
	a = trace_with_action(a, action);
	fd = event_open(a, .group = leader, .tracepoint = name);
	if (filter)
		cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter), 0);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	return fd;
}
