// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whom an event counts: the caller, another thread or process, a task on one CPU only,
 * all that runs on one CPU; how descriptors are shared; and what is left when the
 * target has gone.
 */
#include "loops.h"

#include <poll.h>
#include <sys/socket.h>

#define N	100000ull

Test(count_targets, another_thread)
{
	struct perf_event_attr instructions = instructions_u();
	struct perf_event_attr branches = branches_u();
	struct worker w;
	int fd, fd_branches;

	worker_start(&w, true);
	fd = event_open(instructions, w.tid);
	fd_branches = event_open(branches, w.tid);
	cr_expect_eq(worker_count_loop(&w, fd, N), LOOP_INSTRUCTIONS * N);
	cr_expect_eq(worker_count_loop(&w, fd_branches, N), LOOP_BRANCHES * N);
	user_loop(N);
	cr_expect_eq(worker_count_loop(&w, fd, N), LOOP_INSTRUCTIONS * N,
		     "what others do does not count");
	worker_end(&w);
}

Test(count_targets, another_process)
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	int fd;

	worker_start(&w, false);
	fd = event_open(attr, w.tid);
	cr_expect_eq(worker_count_loop(&w, fd, N), LOOP_INSTRUCTIONS * N);
	worker_end(&w);
}

Test(count_targets, self_is_the_opening_thread_alone)
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	uint64_t before, after;
	int fd;

	fd = event_open(attr);
	worker_start(&w, true);
	before = event_value(fd);
	worker_run(&w, 100 * N);
	after = event_value(fd);
	cr_expect_lt(after - before, 100 * N * LOOP_INSTRUCTIONS);
	worker_end(&w);
}

Test(count_targets, task_that_sleeps_now)
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	struct counts c;
	int fd;

	worker_start(&w, false);
	wait_asleep(w.tid);
	fd = event_open(attr, w.tid);
	sleep_ms(20);
	c = event_read(fd);
	cr_expect_eq(c.value, 0);
	cr_expect_eq(c.enabled, 0, "it has not run since");
	cr_expect_eq(worker_count_loop(&w, fd, N), LOOP_INSTRUCTIONS * N);
	worker_end(&w);
}

/* A child that loops for ever on a CPU of its own: it is never switched out. */
static pid_t start_endless(int cpu)
{
	int ends[2];
	pid_t child;
	char byte;

	cr_assert_eq(pipe(ends), 0);
	child = fork_child();
	if (!child) {
		pin_here(cpu);
		if (write(ends[1], "x", 1) == 1)
			for (;;)
				user_loop(N);
		_exit(1);
	}
	cr_assert_eq(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	close(ends[1]);
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

Test(count_targets, task_that_runs_now_is_counted_at_once)
{
	struct perf_event_attr attr = instructions_u();
	struct counts a, b;
	pid_t child;
	int fd;

	pin_here(0);
	child = start_endless(1);
	fd = event_open(attr, child);
	a = event_read(fd);
	do	/* The host may keep CPU 1 waiting. */
		b = event_read(fd);
	while (b.value == a.value || b.enabled == a.enabled);
	cr_expect_gt(b.value, a.value);
	cr_expect_gt(b.enabled, a.enabled);

	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	a = event_read(fd);
	user_loop(10 * N);
	b = event_read(fd);
	cr_expect_eq(b.value, a.value);
	cr_expect_eq(b.enabled, a.enabled);
	end_child(child);
}

Test(count_targets, task_on_one_cpu_only)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t around, value;
	struct worker w;
	struct counts c;
	int fd;

	worker_start(&w, false);
	fd = event_open(attr, w.tid, 1);
	pin_task(w.tid, 0);
	cr_expect_eq(worker_count(&w, fd, N), 0);
	pin_task(w.tid, 1);
	around = worker_count(&w, fd, 1);
	value = worker_count(&w, fd, N + 1);
	cr_expect_eq(value - around, LOOP_INSTRUCTIONS * N);
	pin_task(w.tid, 0);
	cr_expect_eq(worker_count(&w, fd, N), 0);
	c = event_read(fd);
	cr_expect_gt(c.running, 0);
	cr_expect_gt(c.enabled, c.running);
	worker_end(&w);
}

/*
 * What a CPU's event counts while the worker loops: with that of others who run there for
 * a moment, so the least of several times.
 */
static uint64_t least_count(struct worker *w, int fd, uint64_t n, uint64_t enough)
{
	uint64_t least = -1, count;
	unsigned int i;

	for (i = 0; i < 10 && least >= enough; i++) {
		count = worker_count(w, fd, n);
		least = count < least ? count : least;
	}
	return least;
}

/* The two halves of a task that changes between the CPUs make the whole. */
Test(count_targets, events_for_each_cpu_add_up_to_that_for_any)
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	unsigned int i;
	int fd[3];

	worker_start(&w, false);
	for (i = 0; i < 3; i++)
		fd[i] = event_open(attr, w.tid, (int)i - 1);
	for (i = 0; i < 20; i++) {
		pin_task(w.tid, i % 2);
		worker_run(&w, N);
	}
	cr_expect_gt(event_value(fd[1]), 9 * N);
	cr_expect_gt(event_value(fd[2]), 9 * N);
	cr_expect_eq(event_value(fd[0]), event_value(fd[1]) + event_value(fd[2]));
	worker_end(&w);
}

Test(count_targets, one_cpu_counts_all_tasks_there_and_none_elsewhere)
{
	struct perf_event_attr attr = instructions_u();
	struct worker here[2], there;
	uint64_t count;
	unsigned int i;
	int fd;

	pin_here(0);
	for (i = 0; i < 2; i++) {
		worker_start(&here[i], false);
		pin_task(here[i].tid, 1);
		worker_run(&here[i], 1);
	}
	worker_start(&there, false);
	pin_task(there.tid, 0);
	fd = event_open(attr, -1, 1);

	count = least_count(&there, fd, 100 * N, 10 * N);
	cr_expect_lt(count, 10 * N, "of CPU 0: %lu", count);
	for (i = 0; i < 2; i++) {
		count = least_count(&here[i], fd, 100 * N, 101 * N * LOOP_INSTRUCTIONS);
		cr_expect_geq(count, 100 * N * LOOP_INSTRUCTIONS);
		cr_expect_lt(count, 101 * N * LOOP_INSTRUCTIONS, "%lu", count);
	}
	for (i = 0; i < 2; i++)
		worker_end(&here[i]);
	worker_end(&there);
}

/* An event of the CPU and one of a task that is alone there see the same loop. */
Test(count_targets, cpu_and_task_together)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t around[2], count[2];
	int fd[2], own[2];
	struct worker w;
	unsigned int i;

	pin_here(0);
	worker_start(&w, false);
	pin_task(w.tid, 1);
	fd[0] = event_open(attr, w.tid);
	fd[1] = event_open(attr, -1, 1);
	own[1] = event_open(attr, -1, 0);
	own[0] = event_open(attr);
	for (i = 0; i < 2; i++)
		around[i] = event_value(fd[i]);
	worker_run(&w, 100 * N);
	for (i = 0; i < 2; i++)
		count[i] = event_value(fd[i]) - around[i];
	cr_expect_geq(count[0], 100 * N * LOOP_INSTRUCTIONS);
	cr_expect_geq(count[1], count[0], "the CPU's has all of the task's");
	count[0] = event_value(own[0]);
	cr_expect_gt(event_value(own[1]), count[0]);
	worker_end(&w);
}

/* Count CPU 1 for a while, with and without its idle task: times and values */
static void count_idle_cpu(int fd, int fd_exclude, struct counts *with,
			   struct counts *without)
{
	struct counts with_after, without_after;

	*with = event_read(fd);
	*without = event_read(fd_exclude);
	sleep_ms(300);
	/* Inside of the others' time, so that it cannot see what they do not. */
	without_after = event_read(fd_exclude);
	with_after = event_read(fd);
	cr_expect_eq(without_after.enabled, without_after.running);
	with->enabled = with_after.enabled - with->enabled;
	with->value = with_after.value - with->value;
	without->enabled = without_after.enabled - without->enabled;
	without->value = without_after.value - without->value;
}

/*
 * CPU 1 has next to nothing to do: most of the time is the idle task's, unless the host
 * stops it in another's.
 */
Test(count_targets, exclude_idle_leaves_out_the_idle_task)
{
	struct perf_event_attr attr =
		event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	struct counts with, without;
	int fd, fd_exclude, tries = 0;

	pin_here(0);
	fd = event_open(attr, -1, 1);
	attr.exclude_idle = 1;
	fd_exclude = event_open(attr, -1, 1);
	do {
		count_idle_cpu(fd, fd_exclude, &with, &without);
		cr_expect_gt(with.enabled, 290000000);
	} while (without.enabled >= with.enabled / 2 && ++tries < 10);
	cr_expect_lt(without.enabled, with.enabled / 2, "%lu of %lu ns",
		     without.enabled, with.enabled);
	cr_expect_lt(without.value, with.value);
}

Test(count_targets, exclude_idle_counts_every_task)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t count;
	struct worker w;
	int fd;

	pin_here(0);
	worker_start(&w, false);
	pin_task(w.tid, 1);
	worker_run(&w, 1);
	attr.exclude_idle = 1;
	fd = event_open(attr, -1, 1);
	count = least_count(&w, fd, 100 * N, 101 * N * LOOP_INSTRUCTIONS);
	cr_expect_geq(count, 100 * N * LOOP_INSTRUCTIONS);
	cr_expect_lt(count, 101 * N * LOOP_INSTRUCTIONS, "%lu", count);
	worker_end(&w);
}

/* ---- Observers ---- */

Test(count_targets, two_observers_of_one_task_see_the_same)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t others = 0, ours;
	int status, fd, ends[2];
	struct worker w;
	pid_t other;
	char byte;

	worker_start(&w, false);
	cr_assert_eq(pipe(ends), 0);
	fd = event_open(attr, w.tid);
	other = fork_child();
	if (!other) {
		int mine = event_open(attr, w.tid);

		others = worker_count_loop(&w, mine, N);
		_exit(others != LOOP_INSTRUCTIONS * N ||
		      write(ends[1], "x", 1) != 1);
	}
	cr_assert_eq(read(ends[0], &byte, 1), 1);
	cr_assert_eq(waitpid(other, &status, 0), other);
	cr_expect_eq(status, 0);
	ours = worker_count_loop(&w, fd, N);
	cr_expect_eq(ours, LOOP_INSTRUCTIONS * N);
	worker_end(&w);
}

Test(count_targets, descriptor_works_in_a_child_and_outlives_the_opener)
{
	struct perf_event_attr attr = instructions_u();
	int status, channel[2], fd;
	struct worker w;
	pid_t opener;
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	char byte = 'x';
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	worker_start(&w, false);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, channel), 0);
	opener = fork_child();
	if (!opener) {
		fd = event_open(attr, w.tid);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(header), &fd, sizeof(fd));
		_exit(sendmsg(channel[1], &message, 0) != 1);
	}
	cr_assert_eq(waitpid(opener, &status, 0), opener);
	cr_assert_eq(status, 0);
	cr_assert_eq(recvmsg(channel[0], &message, 0), 1);
	cr_assert_eq(header->cmsg_type, SCM_RIGHTS);
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	cr_expect_eq(worker_count_loop(&w, fd, N), LOOP_INSTRUCTIONS * N);

	opener = fork_child();
	if (!opener)
		_exit(worker_count_loop(&w, fd, N) != LOOP_INSTRUCTIONS * N);
	cr_assert_eq(waitpid(opener, &status, 0), opener);
	cr_expect_eq(status, 0, "the child of a fork counts with it");
	worker_end(&w);
}

/* What each CPU has counted goes; the times stay, and it counts on. */
Test(count_targets, one_of_all_cpus_is_reset)
{
	struct perf_event_attr attr = instructions_u();
	struct counts before, after;
	int fd;

	attr.disabled = 1;
	fd = event_open(attr, -1, -1);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int cpu = 0; cpu < get_nprocs(); cpu++) {
		pin_here(cpu);
		user_loop(N);
	}
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	before = event_read(fd);
	cr_assert_geq(before.value, N * LOOP_INSTRUCTIONS * get_nprocs());
	event_ioctl(fd, PERF_EVENT_IOC_RESET);
	after = event_read(fd);
	cr_expect_eq(after.value, 0);
	cr_expect_eq(after.enabled, before.enabled);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	user_loop(N);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_expect_geq(event_value(fd), N * LOOP_INSTRUCTIONS);
}

/* ---- The end of the target ---- */

static void check_ended(int fd, const struct counts *before)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct counts after;

	cr_expect_eq(poll(&p, 1, -1), 1);
	cr_expect_eq(p.revents, POLLHUP, "revents %#x", p.revents);
	after = event_read(fd);
	cr_expect_geq(after.value, before->value);
	cr_expect_lt(after.value, before->value + 5000);
	cr_expect_geq(after.enabled, before->enabled);

	/* Nothing happens to it any more. */
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	user_loop(N);
	cr_expect_eq(event_value(fd), after.value);
	event_ioctl(fd, PERF_EVENT_IOC_RESET);
	cr_expect_eq(event_value(fd), 0);
	cr_expect_eq(event_read(fd).enabled, after.enabled);
}

Test(count_targets, value_stays_and_poll_hangs_up_when_the_task_has_ended)
{
	struct perf_event_attr attr = instructions_u();
	struct pollfd p = { .events = POLLIN };
	struct counts c;
	struct worker w;
	int is_thread;

	for (is_thread = 0; is_thread < 2; is_thread++) {
		worker_start(&w, is_thread);
		p.fd = event_open(attr, w.tid);
		worker_run(&w, N);
		cr_expect_eq(poll(&p, 1, 0), 0, "it lives");
		c = event_read(p.fd);
		cr_expect_gt(c.value, N * LOOP_INSTRUCTIONS);
		worker_end(&w);
		check_ended(p.fd, &c);
		close(p.fd);
	}
}

Test(count_targets, poll_that_waits_wakes_when_the_task_is_killed)
{
	struct perf_event_attr attr = instructions_u();
	struct pollfd p = { .events = POLLIN };
	pid_t child, killer;

	child = start_endless(1);
	p.fd = event_open(attr, child);
	killer = fork_child();
	if (!killer) {
		while (event_value(p.fd) <= N)
			usleep(1000);
		sleep_ms(100); /* until the other one waits, most of the times */
		_exit(kill(child, SIGKILL));
	}
	cr_expect_eq(poll(&p, 1, -1), 1);
	cr_expect_eq(p.revents, POLLHUP);
	cr_expect_gt(event_value(p.fd), N);
	waitpid(child, NULL, 0);
	waitpid(killer, NULL, 0);
	cr_expect_eq(event_try(attr, child), -ESRCH);
}

Test(count_targets, zombie_cannot_be_opened)
{
	struct perf_event_attr attr = instructions_u();
	siginfo_t info;
	pid_t child = fork_child();

	if (!child)
		_exit(0);
	cr_assert_eq(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
	cr_expect_eq(event_try(attr, child), -ESRCH);
	cr_expect_eq(event_why.code, PMUCTL_WHY_TASK_EXITING, "%s",
		     event_why.sentence);
	waitpid(child, NULL, 0);
}
