// SPDX-License-Identifier: GPL-2.0-only
/*
 * Joining a group, and the ends of events: by an ordinary user, at the default level. What an
 * exec has ended takes nobody in; and whoever joins, reads or forks while what he uses is ended
 * on the other CPU finds it whole, or is refused.
 *
 * Some of these windows are a few instructions long, and nobody hits them for sure: those tests
 * are a fixed number of rounds, and what they would do is a report of the kernel. With
 * slub_debug=FZP a use of freed memory is one at once.
 */
#include "family.h"
#include "perm.h"

#include <poll.h>
#include <sys/stat.h>

#define ENDED		"the event of group_fd has ended with an exec of its task (remove_on_exec, or a program with more rights): open a new leader"

/* Of rounds: that kernel takes long, and finds more in each. */
static unsigned int rounds_of(unsigned int n)
{
	return is_debug_kernel() ? n / 10 : n;
}

static void become_user(void)
{
	cr_assert_eq(perm_become(PERM_USER), 0);
}

static struct perf_event_attr dummy(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	attr.exclude_kernel = 1;
	return attr;
}

static struct perf_event_attr removed(struct perf_event_attr attr)
{
	attr.remove_on_exec = 1;
	return attr;
}

static int join(struct perf_event_attr attr, pid_t pid, int leader)
{
	int fd = event_try(attr, pid, .group = leader);

	cr_assert_geq(fd, 0, "%s: %s", strerror(-fd), event_why.sentence);
	return fd;
}

static void check_ended(struct perf_event_attr attr, pid_t pid, int leader)
{
	check_refused(OPEN(attr, pid, .group = leader), ESRCH, PMUCTL_WHY_GROUP_ENDED, "group_fd", "%s", ENDED);
}

/* ---- After an exec ---- */

/**
 * struct target - a process that executes another program when it is told to
 * @pid: of it.
 * @go: it goes on when this is written to.
 */
struct target {
	pid_t pid;
	int go;
};

static struct target target_start(const char *path, char *const *args)
{
	struct target t;
	int go[2];
	char c;

	cr_assert_eq(pipe2(go, O_CLOEXEC), 0);
	t.go = go[1];
	t.pid = fork_child();
	if (!t.pid) {
		pin_here(1);
		if (perm_become(PERM_USER))
			_exit(1);
		if (read(go[0], &c, 1) == 1)
			execv(path, args);
		_exit(1);
	}
	close(go[0]);
	wait_asleep(t.pid);
	return t;
}

static void target_go(const struct target *t)
{
	cr_assert_eq(write(t->go, "x", 1), 1);
}

static void target_end(const struct target *t)
{
	raw_reap(t->pid);
	close(t->go);
}

/* Until its event is over */
static void wait_hung_up(int fd)
{
	struct pollfd p = { .fd = fd };

	cr_assert_eq(poll(&p, 1, -1), 1);
	cr_assert(p.revents & POLLHUP);
}

static struct target sleeper_start(const char *path)
{
	static char *args[] = { "sleep", "1000000", NULL };

	return target_start(path, args);
}

Test(attack_join, a_leader_that_an_exec_ended_takes_nobody)
{
	struct target t;
	int fd;

	become_user();
	for (int soft = 0; soft < 2; soft++) {
		struct perf_event_attr attr = soft ? dummy() : instructions_u();

		t = sleeper_start("/bin/sleep");
		fd = join(removed(attr), t.pid, -1);
		target_go(&t);
		wait_hung_up(fd);
		check_ended(attr, t.pid, fd);
		check_ended(removed(attr), t.pid, fd);
		check_ended(dummy(), t.pid, fd);
		/* Not because of the task */
		close(join(attr, t.pid, -1));
		close(fd);
		target_end(&t);
	}
	cr_expect_eq(raw_info().hw_events, 0);
}

/* A sibling that was ended leads nobody; its leader still does, and who was its group's does. */
Test(attack_join, who_an_exec_leaves_is_joined)
{
	struct target t;
	int leader, sibling, next;

	become_user();
	for (int which = 0; which < 2; which++) {
		struct perf_event_attr stays = instructions_u();

		t = sleeper_start("/bin/sleep");
		leader = join(which ? removed(stays) : stays, t.pid, -1);
		sibling = join(which ? stays : removed(stays), t.pid, leader);
		target_go(&t);
		wait_hung_up(which ? leader : sibling);
		check_ended(stays, t.pid, which ? leader : sibling);
		next = join(stays, t.pid, which ? sibling : leader);
		check_refused(OPEN(stays, t.pid, .group = next), EINVAL,
			      PMUCTL_WHY_GROUP_NOT_LEADER, "group_fd",
			      "group_fd is itself a member of a group: pass the descriptor of that group's leader");
		close(next);
		close(leader);
		close(sibling);
		target_end(&t);
	}
}

/* Its whole context has ended, the task has another: only root may still open for it. */
Test(attack_join, what_an_exec_that_gains_rights_ended_takes_nobody)
{
	static const char path[] = "/tmp/attack-join-sleep";
	struct target t;
	int fd;

	cr_assert_eq(system("cp /bin/busybox /tmp/attack-join-sleep"), 0);
	cr_assert_eq(chmod(path, 04755), 0);
	t = sleeper_start(path);
	fd = join(instructions_u(), t.pid, -1);
	target_go(&t);
	wait_hung_up(fd);
	check_ended(instructions_u(), t.pid, fd);
	check_ended(dummy(), t.pid, fd);
	close(join(instructions_u(), t.pid, -1));
	close(fd);
	target_end(&t);
	unlink(path);
}

/* ---- At the time of an exec ---- */

#define STORM		40
#define MOST		64

/*
 * The largest group, of which an exec ends the leader, its siblings, or all, and somebody who
 * wants to join: its members are counted, until it is refused because they are too many.
 */
static void exec_while_joining(bool leader, bool siblings)
{
	static char *args[] = { EXEC_PROGRAM, NULL };
	struct target t = target_start(EXEC_PROGRAM, args);
	int fd[MOST], more;

	fd[0] = join(leader ? removed(dummy()) : dummy(), t.pid, -1);
	for (int i = 1; i < MOST; i++)
		fd[i] = join(siblings ? removed(dummy()) : dummy(), t.pid, fd[0]);
	target_go(&t);
	do {
		more = event_try(dummy(), t.pid, .group = fd[0]);
		if (more >= 0)
			close(more);
	} while (more >= 0 || event_why.code == PMUCTL_WHY_GROUP_LONG);
	/* Between two looks at it the task may end, and then nobody may look into it. */
	cr_assert(more == -ESRCH || more == -EACCES, "%d: %s", more, event_why.sentence);
	for (int i = 0; i < MOST; i++)
		close(fd[i]);
	reap(t.pid);
	close(t.go);
}

static void execs_while_joining(void)
{
	pin_here(0);
	for (unsigned int round = 0; round < rounds_of(STORM); round++)
		exec_while_joining(round % 3 != 1, round % 3 != 0);
}

Test(attack_join, joining_while_an_exec_ends_the_group)
{
	become_user();
	execs_while_joining();
}

/* Whom no ptrace check holds up until the exec is over: that is more often in its midst. */
Test(attack_join, root_joins_while_an_exec_ends_the_group)
{
	execs_while_joining();
}

/* ---- At the time of a close ---- */

/**
 * struct rounds - two threads, one on each CPU, that do something at the same time
 * @fd: what they do it to: the leader, and a sibling if there is one.
 * @begun: number of the round that the first has begun, and
 * @done: that the second has ended.
 */
struct rounds {
	int fd[2];
	unsigned int begun;
	unsigned int done;
};

static void wait_for(const unsigned int *number, unsigned int round)
{
	while (__atomic_load_n(number, __ATOMIC_ACQUIRE) != round)
		; /* both run: each has its CPU */
}

static void tell(unsigned int *number, unsigned int round)
{
	__atomic_store_n(number, round, __ATOMIC_RELEASE);
}

#define CLOSES		500

static void *close_leaders(void *arg)
{
	struct rounds *r = arg;

	pin_here(1);
	for (unsigned int i = 1; i <= rounds_of(CLOSES); i++) {
		wait_for(&r->begun, i);
		for (volatile unsigned int n = 0; n < i % 50 * 20; n++)
			;
		close(r->fd[0]);
		tell(&r->done, i);
	}
	return NULL;
}

static void rounds_run(struct rounds *r, void (*round)(struct rounds *r, unsigned int i))
{
	pthread_t thread;

	pin_here(0);
	become_user();
	cr_assert_eq(pthread_create(&thread, NULL, close_leaders, r), 0);
	for (unsigned int i = 1; i <= rounds_of(CLOSES); i++)
		round(r, i);
	pthread_join(thread, NULL);
	cr_expect_eq(raw_info().hw_events, 0);
}

/* Joined before the close, or not at all; then it is an event of its own. */
static void join_round(struct rounds *r, unsigned int i)
{
	int fd;

	r->fd[0] = event_open(dummy());
	tell(&r->begun, i);
	fd = event_try(instructions_u(), .group = r->fd[0]);
	wait_for(&r->done, i);
	if (fd < 0) {
		cr_assert_eq(fd, -EBADF, "%d: %s", fd, event_why.sentence);
		cr_assert_eq(event_why.code, PMUCTL_WHY_GROUP_FD);
		return;
	}
	cr_assert_gt(event_value(fd), 0);
	close(event_open(dummy(), .group = fd));
	close(fd);
}

Test(attack_join, joining_a_leader_that_is_being_closed)
{
	struct rounds r = { .begun = 0 };

	rounds_run(&r, join_round);
}

Test(attack_join, joining_a_leader_that_is_closed)
{
	int fd;

	become_user();
	fd = event_open(dummy());
	close(fd);
	cr_assert_eq(event_try(dummy(), .group = fd), -EBADF);
	cr_assert_eq(event_why.code, PMUCTL_WHY_GROUP_FD);
}

/* Reads of a group, through a sibling, find both of it or the sibling alone. */
static void read_round(struct rounds *r, unsigned int i)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t id[2], read_of[1 + 2 * 2];
	ssize_t size;

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	r->fd[0] = event_open(attr);
	r->fd[1] = event_open(attr, .group = r->fd[0]);
	id[0] = event_id(r->fd[0]);
	id[1] = event_id(r->fd[1]);
	tell(&r->begun, i);
	do {
		size = read(r->fd[1], read_of, sizeof(read_of));
		cr_assert_gt(size, 0, "%m");
		cr_assert(read_of[0] == 1 || read_of[0] == 2, "%lu", read_of[0]);
		cr_assert_eq(size, 8 + 16 * (ssize_t)read_of[0]);
		cr_assert_eq(read_of[2], id[2 - read_of[0]]);
		if (read_of[0] == 2)
			cr_assert_eq(read_of[4], id[1]);
	} while (read_of[0] == 2);
	wait_for(&r->done, i);
	close(r->fd[1]);
}

Test(attack_join, reading_a_group_whose_leader_is_being_closed)
{
	struct rounds r = { .begun = 0 };

	rounds_run(&r, read_round);
}

/* ---- At the time of a fork ---- */

#define CLOSINGS	60
#define FAMILY		4

/* Until the other end of @fd is closed */
static void fork_on(int fd)
{
	struct pollfd p = { .fd = fd };

	while (!poll(&p, 1, 0)) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			_exit(1);
	}
	_exit(0);
}

/* Events that are inherited, opened and closed while their task makes children */
Test(attack_join, closing_while_a_child_is_made)
{
	int fd[FAMILY], end[2], n, i;
	unsigned int round;
	pid_t pid;

	pin_here(0);
	become_user();
	cr_assert_eq(pipe2(end, O_CLOEXEC), 0);
	pid = fork_child();
	if (!pid) {
		pin_here(1);
		close(end[1]);
		fork_on(end[0]);
	}
	close(end[0]);
	for (round = 0; round < rounds_of(CLOSINGS); round++) {
		for (n = 0; n < FAMILY; n++) {
			fd[n] = event_try(inherited(n % 2 ? dummy() : instructions_u()), pid,
					  .group = n ? fd[0] : -1);
			cr_assert_geq(fd[n], 0, "%d: %s", fd[n], event_why.sentence);
		}
		for (i = 0; i < n; i++)
			close(fd[i]);
	}
	close(end[1]);
	reap(pid);
	cr_expect_eq(raw_info().hw_events, 0);
}

/* ---- At the time at which a context goes ---- */

#define EXECS		60

/*
 * An exec ends the only event of its task, and so its context, which is loaded. Who opens another
 * one meanwhile makes a new context, for a task that runs on and may not be switched for long. So
 * when it has been killed, it must have been counted. By root, whom no ptrace check holds up until
 * the exec is over.
 */
static void open_while_the_last_goes(unsigned int round)
{
	static char *args[] = { "sh", "-c", "while :; do :; done", NULL };
	struct perf_event_attr attr = instructions_u();
	int root = event_open(removed(inherited(dummy()))), fd;
	struct target t = target_start("/bin/sh", args);

	target_go(&t);
	for (volatile unsigned int n = 0; n < round * 400; n++)
		;
	fd = join(attr, t.pid, -1);
	raw_reap(t.pid);
	cr_assert_gt(event_read(fd).enabled, 0, "round %u", round);
	close(fd);
	close(root);
	close(t.go);
}

Test(attack_join, opening_while_an_exec_ends_the_last_event)
{
	pin_here(0);
	for (unsigned int round = 0; round < rounds_of(EXECS); round++)
		open_while_the_last_goes(round);
}
