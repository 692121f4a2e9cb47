// SPDX-License-Identifier: GPL-2.0-only
/*
 * How large a group may become in a child, by an ordinary user, at the default level. What an exec
 * has taken from the parent's group is still in the children's: there has to be room in these too
 * for whoever joins. A sample with PERF_FORMAT_GROUP tells of each member, in memory for so many.
 */
#include "family.h"
#include "perm.h"
#include "sampling.h"

#include <poll.h>
#include <pthread.h>

#define GROUP_MAX	64
#define SENTENCE	"its group already has 64 events, and no group of which samples tell all values has more: open it in another group"
#define PAGES		128

/**
 * struct family - a process that forks and executes another program when it is told to
 * @pid: of it.
 * @child: which touches new memory when it is told to.
 * @go: it does so when this is written to.
 * @touch: the child touches a page with each byte, and tells it.
 * @touched: that.
 */
struct family {
	pid_t pid, child;
	int go, touch, touched;
};

static void touch_pages(int orders, int done)
{
	char c;

	while (read(orders, &c, 1) == 1) {
		volatile char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		*page = 1;
		if (write(done, &c, 1) != 1)
			break;
	}
	_exit(0);
}

static void run_parent(int go, int touch, int touched, int child_pid)
{
	static char *args[] = { "sleep", "1000000", NULL };
	pid_t child;
	char c;

	if (perm_become(PERM_USER) || read(go, &c, 1) != 1)
		_exit(1);
	child = fork();
	if (!child)
		touch_pages(touch, touched);
	if (child < 0 || write(child_pid, &child, sizeof(child)) != sizeof(child))
		_exit(1);
	execv("/bin/sleep", args);
	_exit(1);
}

/* The process, before it has forked */
static struct family family_start(int child_pid[2])
{
	int go[2], touch[2], touched[2];
	struct family f;

	cr_assert_eq(pipe2(go, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(touch, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(touched, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(child_pid, O_CLOEXEC), 0);
	f.pid = fork_child();
	if (!f.pid)
		run_parent(go[0], touch[0], touched[1], child_pid[1]);
	f.go = go[1];
	f.touch = touch[1];
	f.touched = touched[0];
	return f;
}

static void family_fork(struct family *f, int child_pid)
{
	cr_assert_eq(write(f->go, "x", 1), 1);
	cr_assert_eq(read(child_pid, &f->child, sizeof(f->child)), (ssize_t)sizeof(f->child));
}

static void family_touch(const struct family *f)
{
	char c;

	cr_assert_eq(write(f->touch, "x", 1), 1);
	cr_assert_eq(read(f->touched, &c, 1), 1);
}

static struct perf_event_attr user_only(uint64_t config)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, config);

	attr.exclude_kernel = 1;
	return inherited(attr);
}

static int join(struct perf_event_attr attr, pid_t pid, int leader)
{
	int fd = event_try(attr, pid, .group = leader);

	cr_assert_geq(fd, 0, "%s: %s", strerror(-fd), event_why.sentence);
	return fd;
}

static void wait_hung_up(int fd)
{
	struct pollfd p = { .fd = fd };

	cr_assert_eq(poll(&p, 1, -1), 1);
	cr_assert(p.revents & POLLHUP);
}

/* The members of which the last sample tells */
static uint64_t sampled_members(struct ring *r)
{
	struct perf_event_header *header;
	uint64_t n = 0;

	while ((header = ring_next(r)))
		if (header->type == PERF_RECORD_SAMPLE)
			n = *(uint64_t *)(header + 1);
	return n;
}

Test(attack_group, a_childs_group_has_room_for_who_joins)
{
	struct perf_event_attr leads = user_only(PERF_COUNT_SW_PAGE_FAULTS);
	struct perf_event_attr stays = user_only(PERF_COUNT_SW_DUMMY), leaves = stays;
	int leader, sibling[GROUP_MAX], child_pid[2];
	struct family f;
	struct ring ring;

	cr_assert_eq(perm_become(PERM_USER), 0);
	leads.sample_period = 1;
	leads.sample_type = PERF_SAMPLE_READ;
	leads.read_format = PERF_FORMAT_GROUP;
	leaves.remove_on_exec = 1;
	f = family_start(child_pid);
	wait_asleep(f.pid);
	leader = join(leads, f.pid, -1);
	ring_map(&ring, leader, PAGES);
	for (int i = 1; i < GROUP_MAX; i++)
		sibling[i] = join(leaves, f.pid, leader);
	family_fork(&f, child_pid[0]);
	wait_hung_up(sibling[1]);
	wait_asleep(f.pid);

	/* The parent's has room, the child's has not. */
	check_refused(OPEN(stays, f.pid, .group = leader), E2BIG, PMUCTL_WHY_GROUP_LONG, "group_fd", "%s", SENTENCE);
	sampled_members(&ring);
	family_touch(&f);
	cr_expect_eq(sampled_members(&ring), GROUP_MAX);
	/* Of an event that is closed there are no children. */
	close(sibling[1]);
	sibling[1] = join(stays, f.pid, leader);
	check_refused(OPEN(stays, f.pid, .group = leader), E2BIG, PMUCTL_WHY_GROUP_LONG, "group_fd", "%s", SENTENCE);
	family_touch(&f);
	cr_expect_eq(sampled_members(&ring), GROUP_MAX);
	raw_reap(f.child);
	raw_reap(f.pid);
}

/* ---- Groups of all CPUs ---- */

#define MEMBERS		12	/* more than a read has room for on the stack */
#define ROUNDS		(is_debug_kernel() ? 100 : 500)

/*
 * A group is read CPU by CPU: who has joined on one may not have been there on the one before.
 * Nothing is counted, so each value is 0. Where memory is not cleared when it is allocated
 * (init_on_alloc=0), and what is freed is overwritten (slub_debug=P), others were seen.
 */
Test(attack_group, who_joins_while_a_group_of_all_cpus_is_read_has_counted_nothing)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	struct group_read group;
	int leader, status;
	pid_t other;

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
	leader = join(attr, -1, -1);
	for (int i = 1; i < MEMBERS; i++)
		join(attr, -1, leader);
	other = fork_child();
	if (!other) {
		pin_here(1);
		for (int i = 0; i < ROUNDS; i++)
			close(join(attr, -1, leader));
		_exit(0);
	}
	pin_here(0);
	do {
		cr_assert_gt(read(leader, &group, sizeof(group)), 0, "%m");
		for (uint64_t i = 0; i < group.nr; i++)
			cr_assert_eq(group.each[i].value, 0, "member %lu of %lu: %#lx", i,
				     group.nr, group.each[i].value);
	} while (!waitpid(other, &status, WNOHANG));
	cr_assert_eq(status, 0);
}

#define COUNTERS	40

static void *close_all(void *fds)
{
	pin_here(1);
	for (int i = 0; i < COUNTERS; i++)
		close(((int *)fds)[i]);
	return fds;
}

/* Likewise who leaves: what its parts have counted is nobody else's. */
Test(attack_group, who_is_closed_while_a_group_of_all_cpus_is_read_gives_no_other_its_count)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	struct perf_event_attr clock = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	int leader, last, fds[COUNTERS];
	struct group_read group;
	pthread_t thread;
	uint64_t id;

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
	clock.read_format = attr.read_format;
	pin_here(0);
	for (int round = 0; round < 60; round++) {
		leader = join(attr, -1, -1);
		for (int i = 0; i < COUNTERS; i++)
			fds[i] = join(clock, -1, leader);
		last = join(attr, -1, leader);
		id = event_id(last);
		cr_assert_eq(pthread_create(&thread, NULL, close_all, fds), 0);
		do {
			cr_assert_gt(read(leader, &group, sizeof(group)), 0, "%m");
			for (uint64_t i = 0; i < group.nr; i++)
				cr_assert(group.each[i].id != id || !group.each[i].value,
					  "member %lu of %lu: %lu", i, group.nr, group.each[i].value);
		} while (group.nr > 2);
		pthread_join(thread, NULL);
		close(last);
		close(leader);
	}
}
