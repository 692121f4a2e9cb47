// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters by whatever the kernel's record of a hit has, beside those of perf: the same is counted,
 * and the same is understood.
 */
#include "bound.h"
#include "perm.h"
#include "tracepoint.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define CALLS	100ull

static void init(void)
{
	sampling_init();
	tracepoint_mount();
	tracepoint_not_preempted();
}

TestSuite(trace_filter, .init = init, .fini = sampling_fini);

/* Told with records, as perf's tools open them */
static struct perf_event_attr record_attr(void)
{
	struct perf_event_attr attr = tracepoint_attr();

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	attr.inherit = 1;
	return attr;
}

/* ---- The same is counted ---- */

static void calls(void)
{
	prctl(PR_SET_NAME, "one");
	syscall_loop(CALLS);
	prctl(PR_SET_NAME, "another");
	syscall_loop(2 * CALLS);
	for (int i = 0; i < 7; i++)
		syscall(__NR_read, -1 - i, NULL, i);
}

/* Some programs begin, and end; each is waited for. */
static void programs(void)
{
	static const char *const names[] = { "/bin/true", "/bin/false", "/bin/true" };
	pid_t child;

	prctl(PR_SET_NAME, "waiter");
	for (size_t i = 0; i < RAW_ARRAY_SIZE(names); i++) {
		child = fork();
		if (!child) {
			execl(names[i], names[i], NULL);
			_exit(99);
		}
		waitpid(child, NULL, 0);
	}
}

static void signals(void)
{
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	for (int i = 0; i < 5; i++) {
		raise(SIGUSR1);
		kill(getpid(), SIGUSR2);
		kill(getpid(), SIGUSR2);
	}
}

/* Another is woken, who waits for as long as that takes. */
static void wake(void)
{
	int ends[2];
	pid_t child;
	char c = 0;

	cr_assert_eq(pipe(ends), 0);
	prctl(PR_SET_NAME, "waiter");
	child = fork();
	if (!child) {
		prctl(PR_SET_NAME, "waker");
		wait_asleep(getppid());
		_exit(write(ends[1], &c, 1) != 1);
	}
	cr_assert_eq(read(ends[0], &c, 1), 1);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	close(ends[0]);
	close(ends[1]);
}

#define ANY	UINT64_MAX

/* @count: how often it passes, ANY if that is not known but is more than 0 */
static const struct {
	const char *event, *filter;
	void (*work)(void);
	uint64_t count;
} counted[] = {
	{ "raw_syscalls:sys_enter", "id == 110", calls, 3 * CALLS },
	{ "raw_syscalls:sys_enter", "id == 110 && comm == \"one\"", calls, CALLS },
	{ "raw_syscalls:sys_enter", "id == 110 && !(comm == 'one')", calls, 2 * CALLS },
	{ "raw_syscalls:sys_enter", "id == 0156 && comm ~ \"an*er\"", calls, 2 * CALLS },
	{ "raw_syscalls:sys_enter", "id == 0x6e && comm ~ \"!o*\"", calls, 2 * CALLS },
	{ "raw_syscalls:sys_enter", "id == 110 && common_pid == 0", calls, 0 },
	{ "raw_syscalls:sys_enter", "id == 110 && common_type == 0", calls, 0 },
	{ "raw_syscalls:sys_enter", "id == 110 && common_preempt_count < 200", calls, 3 * CALLS },
	{ "raw_syscalls:sys_enter", "id == 110 && cpu >= 0 && CPU < 64", calls, 3 * CALLS },
	{ "raw_syscalls:sys_exit", "ret == -9", calls, 7 },
	{ "raw_syscalls:sys_exit", "ret < 0 && ret >= -9 && id != 110", calls, 7 },
	{ "syscalls:sys_enter_read", "count > 2 && fd & 1", calls, 2 },
	{ "syscalls:sys_exit_read", "ret == -9 || ret == 1", calls, 7 },
	{ "sched:sched_process_exec", "filename == \"/bin/true\"", programs, 2 },
	{ "sched:sched_process_exec", "filename ~ \"*e\" && old_pid > 1", programs, 3 },
	{ "sched:sched_process_exec", "!filename ~ \"*true\"", programs, 1 },
	/* Its own field, not the name of who runs */
	{ "sched:sched_waking", "comm == \"waiter\" && prio < 140", wake, ANY },
	{ "sched:sched_waking", "comm == \"waiter\" && COMM == \"waker\"", wake, ANY },
	{ "sched:sched_switch", "prev_comm == \"waiter\" && next_comm != \"waiter\"", programs, ANY },
	{ "sched:sched_process_fork", "parent_comm != \"true\" && child_pid > 0", programs, 3 },
	{ "task:task_rename", "newcomm == \"true\"", programs, 2 },
	{ "task:task_rename", "newcomm ~ \"an*\" && oom_score_adj == 0", calls, 1 },
	{ "signal:signal_generate", "sig == 10", signals, 5 },
	{ "signal:signal_generate", "sig == 12 && comm != \"init\" && errno == 0", signals, 10 },
};

static void expect_filtered(struct perf_event_attr attr, const char *event, const char *filter,
			    void (*work)(void), uint64_t count)
{
	struct tracepoint_pair pair = tracepoint_pair_open(attr, event, 0);
	uint64_t ours, perfs;

	cr_assert_eq(tracepoint_filter(pair.perfs, filter), 0, "%s: %s", event, filter);
	cr_assert_eq(tracepoint_filter(pair.ours, filter), 0, "%s: %s: %s", event, filter,
		     event_why.sentence);
	tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_ENABLE);
	work();
	tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_DISABLE);
	ours = sampling_value(pair.ours);
	perfs = sampling_value(pair.perfs);
	cr_expect_eq(ours, perfs, "%s: %s: %lu, perf's %lu", event, filter, ours, perfs);
	if (count != ANY)
		cr_expect_eq(ours, count, "%s: %s: %lu", event, filter, ours);
	else
		cr_expect_gt(ours, 0, "%s: %s", event, filter);
	close(pair.ours);
	close(pair.perfs);
}

Test(trace_filter, counts_what_perfs_does)
{
	for (size_t i = 0; i < RAW_ARRAY_SIZE(counted); i++)
		expect_filtered(record_attr(), counted[i].event, counted[i].filter, counted[i].work,
				counted[i].count);
}

/* As perf trace asks for some system calls, and for all but its own */
Test(trace_filter, may_be_as_long_as_perfs)
{
	static char text[4096];
	size_t n = 0;

	for (int id = 1000; n < sizeof(text) - 60; id++)
		n += sprintf(text + n, "id == %d || ", id);
	sprintf(text + n, "id == %d && common_pid != 1", __NR_getppid);
	expect_filtered(record_attr(), "raw_syscalls:sys_enter", text, calls, 3 * CALLS);
}

/* ---- The same is understood ---- */

enum whose { BOTH, OURS, PERFS };

static const struct {
	const char *event, *filter;
	enum whose only;
} asked[] = {
	{ "sched:sched_switch", "prev_comm == \"a\"", BOTH },
	{ "sched:sched_switch", "prev_comm == 'a' && next_pid != 0 || prev_prio > 100", BOTH },
	{ "sched:sched_switch", "prev_comm < \"a\"", BOTH },
	{ "sched:sched_switch", "prev_comm & 1", BOTH },
	{ "sched:sched_switch", "prev_comm == a", BOTH },
	{ "sched:sched_switch", "prev_comm == 1", BOTH },
	{ "sched:sched_switch", "prev_comm == \"a", BOTH },
	{ "sched:sched_switch", "prev_pid ~ \"1*\"", BOTH },
	{ "sched:sched_switch", "prev_pid == \"1\"", BOTH },
	{ "sched:sched_switch", "prev_pid == 09", BOTH },
	{ "sched:sched_switch", "prev_pid == 0x", BOTH },
	{ "sched:sched_switch", "prev_pid == -1", BOTH },
	{ "sched:sched_switch", "prev_pid", BOTH },
	{ "sched:sched_switch", "prev_pid ==", BOTH },
	{ "sched:sched_switch", "(prev_pid == 1", BOTH },
	{ "sched:sched_switch", "prev_pid == 1)", BOTH },
	/* It ends where it should not. */
	{ "sched:sched_switch", "prev_pid == 1 &&", PERFS },
	{ "sched:sched_switch", "prev_pid == 1 & next_pid == 2", BOTH },
	{ "sched:sched_switch", "nonesuch == 1", BOTH },
	{ "sched:sched_switch", "common_flags == 0 && common_preempt_count == 0", BOTH },
	{ "sched:sched_switch", "!(prev_pid == 1) && !next_pid == 2", BOTH },
	{ "sched:sched_switch", "((((prev_pid == 1))))", BOTH },
	{ "sched:sched_switch", "COMM == \"x\" || comm ~ \"y?\" || CPU == 1 || cpu & 3", BOTH },
	{ "sched:sched_process_exec", "filename ~ \"*/sh\"", BOTH },
	{ "sched:sched_process_exec", "filename == 1", BOTH },
	/* An array, of which the kernel compares whatever a function of another type makes of it */
	{ "raw_syscalls:sys_enter", "args == 1", PERFS },
	{ "raw_syscalls:sys_enter", "id == 1", BOTH },
	/* By their number, which is ours alone */
	{ "raw_syscalls:sys_enter", "arg1 == 1", OURS },
	{ "syscalls:sys_enter_openat", "filename > 0x1000 && dfd == 3 && __syscall_nr == 257", BOTH },
};

Test(trace_filter, understands_what_perf_does)
{
	for (size_t i = 0; i < RAW_ARRAY_SIZE(asked); i++) {
		struct tracepoint_pair pair = tracepoint_pair_open(record_attr(), asked[i].event, 0);
		int ours = tracepoint_filter(pair.ours, asked[i].filter);
		int perfs = tracepoint_filter(pair.perfs, asked[i].filter);

		/* Some of perf's errors are no errno. */
		cr_expect_eq(!ours, asked[i].only ? asked[i].only == OURS : !perfs, "%s: %d, perf's %d",
			     asked[i].filter, ours, perfs);
		cr_expect(!ours || ours == -EINVAL, "%s: %d", asked[i].filter, ours);
		close(pair.ours);
		close(pair.perfs);
	}
}

/* ---- Without records ---- */

/* Names are those of a table then, and what is known of who runs. */
Test(trace_filter, by_names_of_tasks_without_records)
{
	expect_filtered(tracepoint_attr(), "raw_syscalls:sys_enter", "id == 110 && comm == 'one'", calls,
			CALLS);
	expect_filtered(tracepoint_attr(), "signal:signal_generate", "sig == 10 && comm ~ '*'", signals, 5);
	expect_filtered(tracepoint_attr(), "raw_syscalls:sys_enter", "id == 110 && common_pid == 0", calls,
			0);
}

Test(trace_filter, a_child_shares_it)
{
	struct perf_event_attr attr = record_attr();
	int fd = event_open(attr, .tracepoint = "raw_syscalls:sys_enter");
	pid_t child;

	cr_assert_eq(tracepoint_filter(fd, "id == 110 && comm == 'child'"), 0);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	child = fork();
	if (!child) {
		prctl(PR_SET_NAME, "child");
		syscall_loop(CALLS);
		_exit(0);
	}
	cr_assert_eq(waitpid(child, NULL, 0), child);
	syscall_loop(CALLS);
	cr_expect_eq(sampling_value(fd), CALLS, "%lu", sampling_value(fd));
}

/* ---- Where there is no record ---- */

/* Somebody who is on CPU 1 as soon as it is there */
static pid_t fork_pusher(void)
{
	cpu_set_t set;
	pid_t pid = fork_child();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Who brings the CPU up, and takes it down, is before it. */
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ });
	CPU_ZERO(&set);
	CPU_SET(1, &set);
	for (;;)
		sched_setaffinity(0, sizeof(set), &set);
}

static int open_filtered(struct perf_event_attr attr, pid_t pid, int group, const char *filter)
{
	int fd = event_open(attr, pid, .group = group, .tracepoint = "raw_syscalls:sys_enter");

	cr_assert_eq(tracepoint_filter(fd, filter), 0);
	return fd;
}

/* On a CPU that comes back there is none for a moment: nobody knows, so it is lost. */
Test(trace_filter, without_a_record_a_hit_is_lost, .fini = all_online)
{
	struct perf_event_attr attr = record_attr();
	struct {
		uint64_t nr;
		struct {
			uint64_t value;
			uint64_t lost;
		} of[3];
	} told;
	pid_t pusher = fork_pusher();
	int fd;

	attr.inherit = 0;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_LOST;
	fd = open_filtered(attr, pusher, -1, "");
	attr.disabled = 0;
	open_filtered(attr, pusher, fd, "id == 99999");
	open_filtered(attr, pusher, fd, "id != 99999");
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 10; i++) {
		set_online(1, false);
		set_online(1, true);
	}
	kill(pusher, SIGKILL);
	raw_reap(pusher);
	cr_assert_eq(read(fd, &told, sizeof(told)), sizeof(told));
	cr_expect_eq(told.of[1].value, 0);
	cr_expect_eq(told.of[2].value + told.of[2].lost, told.of[0].value);
	cr_expect_eq(told.of[1].lost, told.of[2].lost);
	printf("%lu hits, %lu without a record\n", told.of[0].value, told.of[1].lost);
}

/* ---- Who may ---- */

/* An ordinary user is told records of his own system calls: he asserts nothing, but ends. */
static void as_an_ordinary_user(void)
{
	struct perf_event_attr attr = record_attr();
	uint64_t count = 0;
	int fd;

	attr.exclude_kernel = 1;
	become_ordinary();
	fd = event_try(attr, .tracepoint = "syscalls:sys_enter_getppid");
	die_if(fd < 0, "open");
	die_if(tracepoint_filter(fd, "comm == 'one'"), "filter");
	die_if(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "enable");
	calls();
	die_if(read(fd, &count, sizeof(count)) != sizeof(count), "read");
	die_if(count != CALLS, "count");
	_exit(0);
}

Test(trace_filter, an_ordinary_user, .fini = perm_default_level)
{
	pid_t child;
	int status;

	perm_set_level(2);
	child = fork_child();
	if (!child)
		as_an_ordinary_user();
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(status, 0);
}
