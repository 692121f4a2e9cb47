// SPDX-License-Identifier: GPL-2.0-only
/*
 * attr.remove_on_exec: an exec ends the event of the task, or the child of an event that is
 * inherited. And groups in the records of attr.inherit_stat, which perf refuses to inherit.
 */
#include "family.h"
#include "refusal.h"
#include "records.h"

#include <poll.h>

#define N	10000ull

static struct perf_event_attr removed(struct perf_event_attr attr)
{
	attr.remove_on_exec = 1;
	return attr;
}

/**
 * struct program - a process that executes another program when it is told to
 * @pid: of it.
 * @go: it goes on when this is written to.
 */
struct program {
	pid_t pid;
	int go;
};

/* With @steps > 0 count-exec and so many arguments, else a program that never ends */
static struct program program_start(unsigned int steps)
{
	static char *args[16], *sleeper[] = { "sleep", "1000000", NULL };
	struct program p;
	int go[2];
	char c;

	for (unsigned int i = 0; i < steps; i++)
		args[i] = EXEC_PROGRAM;
	cr_assert_eq(pipe2(go, O_CLOEXEC), 0);
	p.go = go[1];
	p.pid = fork_child();
	if (p.pid)
		return p;
	if (read(go[0], &c, 1) != 1)
		_exit(1);
	user_loop(N);
	if (steps)
		execv(EXEC_PROGRAM, args);
	else
		execv("/bin/sleep", sleeper);
	_exit(1);
}

static void program_go(const struct program *p)
{
	cr_assert_eq(write(p->go, "x", 1), 1);
}

/* What such an event counts of a program of so many steps */
static uint64_t count_program(struct perf_event_attr attr, unsigned int steps)
{
	struct program p = program_start(steps);
	uint64_t value;
	int fd;

	wait_asleep(p.pid);
	fd = event_open(attr, p.pid);
	program_go(&p);
	reap(p.pid);
	value = event_value(fd);
	close(fd);
	close(p.go);
	return value;
}

Test(inherit_exec, what_comes_after_the_exec_is_not_counted)
{
	uint64_t all, before;

	count_program(instructions_u(), 1);
	all = count_program(instructions_u(), 1);
	cr_expect_eq(count_program(instructions_u(), 9), all + 8 * 2000);
	before = count_program(removed(instructions_u()), 1);
	cr_expect_eq(count_program(removed(instructions_u()), 9), before);
	cr_expect_gt(before, N * LOOP_INSTRUCTIONS);
	cr_expect_eq(before + 2004, all, "%lu of %lu", before, all);
}

Test(inherit_exec, an_exec_of_a_child_ends_it_for_that_child)
{
	struct pair p = pair_open(removed(inherited(instructions_u())));
	uint64_t none, one, loop;

	cost(&p, by_vfork_and_exec, 1, 1);
	cost(&p, by_fork, 1, 1);
	none = cost(&p, by_fork, 0, 1);
	one = cost(&p, by_vfork_and_exec, 1, 1) - none;
	cr_expect_gt(one, 0, "it counts until its exec");
	cr_expect_eq(cost(&p, by_vfork_and_exec, 5, 9) - none, 5 * one);
	loop = cost(&p, by_fork, 1, 1);
	cr_expect_eq(cost(&p, by_fork, 1, N + 1) - loop, N * LOOP_INSTRUCTIONS,
		     "the others go on");
	pair_close(&p);
}

static bool hangs_up(int fd, int ms)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, ms) == 1 && (p.revents & POLLHUP);
}

/* The task lives on; the event is over, and cannot be enabled any more. */
Test(inherit_exec, the_descriptor_hangs_up)
{
	struct perf_event_attr attr = removed(instructions_u());
	struct program p = program_start(0);
	struct counts before, after;
	int fd;

	wait_asleep(p.pid);
	fd = event_open(attr, p.pid);
	cr_expect_not(hangs_up(fd, 0));
	program_go(&p);
	cr_expect(hangs_up(fd, -1));
	before = event_read(fd);
	wait_asleep(p.pid);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	after = event_read(fd);
	cr_expect_eq(before.value, after.value);
	cr_expect_eq(before.enabled, after.enabled);
	cr_expect_gt(before.value, N * LOOP_INSTRUCTIONS);
	event_ioctl(fd, PERF_EVENT_IOC_RESET);
	cr_expect_eq(event_value(fd), 0);
	raw_reap(p.pid);
	close(fd);
	close(p.go);
}

/* The siblings of a leader that goes are single events; that of a leader that stays goes. */
Test(inherit_exec, the_others_of_a_group_stay)
{
	for (int which = 0; which < 2; which++) {
		struct perf_event_attr stays = instructions_u();
		struct program p = program_start(9);
		int fd[2];

		wait_asleep(p.pid);
		fd[0] = event_try(which ? stays : removed(stays), p.pid);
		fd[1] = event_try(which ? removed(stays) : stays, p.pid, .group = fd[0]);
		cr_assert(fd[0] >= 0 && fd[1] >= 0, "%s", event_why.sentence);
		program_go(&p);
		reap(p.pid);
		cr_expect_eq(event_value(fd[!which]) - event_value(fd[which]), 9 * 2000 + 4,
			     "%d: %lu, %lu", which, event_value(fd[0]), event_value(fd[1]));
		close(fd[0]);
		close(fd[1]);
		close(p.go);
	}
}

/* A process that only waits, and a child of it that executes a shell, which is busy for good */
static pid_t start_busy(int *go)
{
	int pipes[2];
	pid_t pid;
	char c;

	cr_assert_eq(pipe2(pipes, O_CLOEXEC), 0);
	*go = pipes[1];
	pid = fork_child();
	if (pid)
		return pid;
	if (read(pipes[0], &c, 1) == 1 && !fork_child())
		execl("/bin/sh", "sh", "-c", "while :; do :; done", NULL);
	pause();
	_exit(1);
}

/* The exec has taken one member out of the child's group, and the other is switched as ever. */
static void check_switched(bool first_goes, bool asks_first)
{
	struct perf_event_attr attr = inherited(instructions_u());
	int first, second, stays, asked, go;
	uint64_t value;
	pid_t pid = start_busy(&go);

	first = event_open(first_goes ? removed(attr) : attr, pid);
	second = event_open(first_goes ? attr : removed(attr), pid, .group = first);
	stays = first_goes ? second : first;
	asked = asks_first ? first : second;
	cr_assert_eq(write(go, "x", 1), 1);
	while (event_value(stays) < 10000000)
		usleep(1000);
	cr_assert_eq(ioctl(asked, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), 0);
	value = event_value(stays);
	usleep(100000);
	cr_assert_eq(event_value(stays), value, "%d %d: it was not disabled", first_goes, asks_first);
	cr_assert_eq(ioctl(asked, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), 0);
	for (int i = 0; i < 60000 && event_value(stays) == value; i++)
		usleep(1000);
	cr_assert_gt(event_value(stays), value, "%d %d: it was not enabled", first_goes, asks_first);
	raw_reap(pid);
	close(first);
	close(second);
	close(go);
}

Test(inherit_exec, a_group_is_switched_of_which_a_child_has_a_part)
{
	for (int i = 0; i < 4; i++)
		check_switched(i & 1, i & 2);
}

Test(inherit_exec, enabled_and_removed_is_refused)
{
	union raw_attr a = { .attr = removed(instructions_u()) };

	a.attr.enable_on_exec = 1;
	check_refused(OPEN(a), EINVAL, PMUCTL_WHY_EXEC_BOTH, "attr.remove_on_exec",
		      "an exec cannot both enable an event and remove it: clear attr.enable_on_exec or attr.remove_on_exec");
}

/* ---- Records of groups ---- */

Test(inherit_exec, a_group_is_told_as_one)
{
	struct perf_event_attr attr = inherited(sampling_attr(0));
	struct perf_event_header *header;
	unsigned int n = 0;
	int fd[2];
	struct ring r;

	attr.disabled = 0;
	attr.inherit_stat = 1;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	fd[0] = event_open(attr);
	ring_map(&r, fd[0], 8);
	attr.inherit_stat = 0;
	fd[1] = event_open(attr, .group = fd[0]);
	by_fork(N);
	by_fork(N);
	while ((header = ring_next(&r))) {
		struct cursor c = { (uint64_t *)header + 2,
				    (uint64_t *)header + header->size / 8 };
		struct sample_read read;

		cr_assert_eq(header->type, PERF_RECORD_READ);
		take_read(&c, attr.read_format, &read);
		cr_expect_eq(c.at, c.end);
		cr_assert_eq(read.nr, 2);
		cr_expect_eq(read.each[0].value, read.each[1].value);
		cr_expect_geq(read.each[0].value, N * LOOP_INSTRUCTIONS);
		cr_expect_eq(read.each[0].id, event_id(fd[0]));
		cr_expect_eq(read.each[1].id, event_id(fd[1]));
		n++;
	}
	cr_expect_eq(n, 2);
	ring_unmap(&r);
}
