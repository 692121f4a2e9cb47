// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event that joins an inherited group is given to the tasks that have its leader's already:
 * whoever of them has become nobody's to look into since, or not the opener's, is left out, and
 * the others are not.
 */
#include "family.h"
#include "perm.h"
#include "records.h"

#define TOUCHES		100

/**
 * struct member - a task of the family, which touches new memory when it is told to
 * @pid: of it.
 * @orders: it does so when this is written to.
 * @done: and tells it here.
 */
struct member {
	pid_t pid;
	int orders, done;
};

static void touch_page(void)
{
	volatile char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*page = 1;
}

static void obey(int orders, int done)
{
	char c;

	while (read(orders, &c, 1) == 1) {
		for (int i = 0; i < TOUCHES; i++)
			touch_page();
		if (write(done, &c, 1) != 1)
			break;
	}
	_exit(0);
}

static struct member member_start(bool dumpable)
{
	int orders[2], done[2];
	struct member m;
	char c;

	cr_assert_eq(pipe2(orders, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(done, O_CLOEXEC), 0);
	m.pid = fork_child();
	if (!m.pid) {
		if (prctl(PR_SET_DUMPABLE, dumpable) || write(done[1], "s", 1) != 1)
			_exit(1);
		obey(orders[0], done[1]);
	}
	m.orders = orders[1];
	m.done = done[0];
	cr_assert_eq(read(m.done, &c, 1), 1);
	return m;
}

static void member_touches(const struct member *m)
{
	char c;

	cr_assert_eq(write(m->orders, "t", 1), 1);
	cr_assert_eq(read(m->done, &c, 1), 1);
}

static struct perf_event_attr leads(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	attr.exclude_kernel = 1;
	return inherited(attr);
}

/* Each page that is touched, with the registers and the stack of who does it */
static struct perf_event_attr joins(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);

	attr.exclude_kernel = 1;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr.sample_regs_user = 1 << 7 | 1 << 8; /* SP and IP */
	attr.sample_stack_user = 64;
	attr.read_format = 0;
	return inherited(attr);
}

/* Samples of a task since the ring was last looked at, which holds all of one member's */
static unsigned int samples_of(struct ring *r, pid_t pid)
{
	struct perf_event_header *header;
	unsigned int n = 0;

	while ((header = ring_next(r))) {
		cr_assert_neq(header->type, PERF_RECORD_LOST);
		if (header->type == PERF_RECORD_SAMPLE)
			n += ((const uint32_t *)(header + 1))[1] == (uint32_t)pid;
	}
	return n;
}

/**
 * struct told - of how many touches somebody was told
 * @control: what an open for the secret one alone gives.
 * @secret: which may not be looked into.
 * @dumpable: which may.
 */
struct told {
	int control;
	unsigned int secret, dumpable;
};

static unsigned int touches_of(struct ring *r, const struct member *m)
{
	samples_of(r, m->pid);
	member_touches(m);
	return samples_of(r, m->pid);
}

/* A task opens the leader and forks; then it, or another one, opens the event that joins. */
static void join_family(enum perm_caller caller, bool foreign, struct told *told)
{
	struct member secret, dumpable;
	struct ring ring;
	pid_t opener = 0;
	int leader, fd;

	cr_assert_eq(perm_become(caller), 0);
	leader = event_open(leads());
	secret = member_start(false);
	dumpable = member_start(true);
	if (foreign)
		opener = fork_child();
	if (opener) {
		perm_join(opener);
		_exit(0);
	}
	told->control = event_try(joins(), secret.pid);
	fd = event_open(joins(), foreign ? getppid() : 0, .group = leader);
	ring_map(&ring, fd, 64);
	told->secret = touches_of(&ring, &secret);
	told->dumpable = touches_of(&ring, &dumpable);
	_exit(0);
}

static struct told tell(enum perm_caller caller, bool foreign)
{
	struct told *told = perm_shared(sizeof(*told));
	pid_t pid;

	pid = fork_child();
	if (!pid)
		join_family(caller, foreign, told);
	perm_join(pid);
	return *told;
}

static void prepare(void)
{
	perm_default_level();
	sampling_init();
}

TestSuite(attack_sibling, .init = prepare, .fini = sampling_fini);

static void check_left_out(bool foreign)
{
	struct told told = tell(PERM_USER, foreign);

	cr_assert_eq(told.control, -EACCES, "%d", told.control);
	cr_expect_eq(told.secret, 0, "%u", told.secret);
	cr_expect_geq(told.dumpable, TOUCHES, "%u", told.dumpable);
}

Test(attack_sibling, who_may_not_be_looked_into_is_left_out)
{
	check_left_out(false);
}

Test(attack_sibling, who_may_not_be_looked_into_is_left_out_for_another_task)
{
	check_left_out(true);
}

Test(attack_sibling, who_may_count_all_is_told_of_all)
{
	struct told told = tell(PERM_USER_PERFMON, false);

	cr_assert_geq(told.control, 0, "%d", told.control);
	cr_expect_geq(told.secret, TOUCHES, "%u", told.secret);
	cr_expect_geq(told.dumpable, TOUCHES, "%u", told.dumpable);
}
