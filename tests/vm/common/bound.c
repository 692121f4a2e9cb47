// SPDX-License-Identifier: GPL-2.0-only
#include "bound.h"

/* ---- Limits ---- */

void set_limit(const char *limit, long max)
{
	cr_assert_eq(raw_write_number(limit, max), 0);
}

void set_default_limits(void)
{
	set_limit(PER_CONTEXT, PER_CONTEXT_DEFAULT);
	set_limit(PER_USER, PER_USER_DEFAULT);
}

/* ---- In the user's process ---- */

void die(const char *what)
{
	fprintf(stderr, "%s: %m: %s\n", what, event_why.sentence);
	_exit(1);
}

void die_if(bool failed, const char *what)
{
	if (failed)
		die(what);
}

void tell(int link, pid_t pid)
{
	die_if(write(link, &pid, sizeof(pid)) != sizeof(pid), "write");
}

void await(int link)
{
	pid_t pid;

	die_if(read(link, &pid, sizeof(pid)) != sizeof(pid), "read");
}

struct perf_event_attr dummy(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	attr.exclude_kernel = 1;
	return attr;
}

void open_many(struct perf_event_attr attr, pid_t pid, unsigned int flags,
	       unsigned int n)
{
	while (n--)
		die_if(event_try(attr, pid, .flags = flags) < 0, "open");
}

void become_ordinary(void)
{
	struct rlimit files = { 65536, 65536 };

	die_if(setrlimit(RLIMIT_NOFILE, &files), "setrlimit");
	die_if(setrlimit(RLIMIT_NPROC, &files), "setrlimit");
	die_if(raw_become(RAW_USER), "setresuid");
	die_if(prctl(PR_SET_DUMPABLE, 1), "prctl");
}

void attack(const struct attack *a, int link)
{
	become_ordinary();
	tell(link, a->prepare(a->n));
	await(link);
	a->work();
	tell(link, 0);
	await(link);
	_exit(0);
}

/* ---- In the test's ---- */

pid_t attack_start(const struct attack *a, int *link)
{
	int ends[2];
	pid_t user;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	user = fork_child();
	if (!user)
		attack(a, ends[1]);
	close(ends[1]);
	*link = ends[0];
	return user;
}

void attack_end(pid_t user, int link)
{
	let_go(link);
	raw_reap(user);
	close(link);
}

pid_t hear(int link)
{
	pid_t pid;

	cr_assert_eq(read(link, &pid, sizeof(pid)), (ssize_t)sizeof(pid), "the user has ended");
	return pid;
}

void let_go(int link)
{
	pid_t pid = 0;

	cr_assert_eq(write(link, &pid, sizeof(pid)), (ssize_t)sizeof(pid));
}

uint64_t calls_of_cpu(int cpu)
{
	FILE *f = fopen("/proc/interrupts", "re");
	char line[512], *at;
	uint64_t n = 0;

	cr_assert_not_null(f, "%m");
	while (fgets(line, sizeof(line), f)) {
		at = strstr(line, "CAL:");
		if (!at)
			continue;
		at += strlen("CAL:");
		for (int i = 0; i <= cpu; i++)
			n = strtoull(at, &at, 10);
	}
	fclose(f);
	return n;
}

void expect_calls_of_others(const char *what, uint64_t calls, unsigned int loops)
{
	printf("%s, %u times: %lu calls of another CPU\n", what, loops, calls);
	if (!is_slow_kernel())
		cr_expect_lt(calls, loops / 2, "%s: %lu calls", what, calls);
}
