// SPDX-License-Identifier: GPL-2.0-only
/*
 * Families that are changed while their tasks begin and end on two CPUs: enabled, disabled,
 * reset, given another period, closed; and tasks that gain rights by an exec.
 */
#include "family.h"
#include "module.h"
#include "records.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#define N	100ull
#define FORKERS	4

TestSuite(inherit_race, .init = sampling_init, .fini = sampling_fini);

/**
 * struct forker - a process that makes children, one after the other, as many as may live
 * at a time
 * @pid: of it.
 * @made: how many there have been; shared.
 */
struct forker {
	pid_t pid;
	volatile uint64_t *made;
};

/* On both CPUs in turn; each third waits for nobody to wait for it. */
static void fork_on_and_on(volatile uint64_t *made)
{
	int room = 25;

	close_range(3, ~0u, 0);
	for (;;) {
		pid_t child = fork();

		if (!child) {
			pin_here(*made % 2);
			user_loop(N);
			_exit(0);
		}
		if (child > 0) {
			++*made;
			room--;
		}
		while (room < 20 && waitpid(-1, NULL, room ? WNOHANG : 0) > 0)
			room++;
	}
}

static void forkers_start(struct forker *f)
{
	volatile uint64_t *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert(shared != MAP_FAILED);
	for (int i = 0; i < FORKERS; i++) {
		f[i].made = shared + i;
		f[i].pid = fork_child();
		if (!f[i].pid)
			fork_on_and_on(f[i].made);
	}
}

static uint64_t made(const struct forker *f)
{
	uint64_t n = 0;

	for (int i = 0; i < FORKERS; i++)
		n += *f[i].made;
	return n;
}

static void wait_made(const struct forker *f, uint64_t n)
{
	uint64_t end = made(f) + n;

	while (made(f) < end)
		usleep(500);
}

static void forkers_end(struct forker *f)
{
	for (int i = 0; i < FORKERS; i++)
		raw_reap(f[i].pid);
}

/* ---- Enable, disable, reset ---- */

#define ROUNDS		(is_stress() ? 200 : 8)

#define ENDING		100
#define BEFORE		300000ull	/* instructions; many more than all need to end */

/* Counts, says so, and ends when that is allowed. */
static _Noreturn void count_and_end(int ready, int go)
{
	char none = 0;

	pin_here(1);
	user_loop(BEFORE / LOOP_INSTRUCTIONS);
	if (write(ready, &none, 1) == 1 && read(go, &none, 1) == 0)
		_exit(0);
	_exit(1);
}

/* Many children end while a reset walks over them; returns what is left. */
static uint64_t left_by_a_reset(int fd)
{
	int ready[2], go[2];
	char some;

	cr_assert_eq(pipe(ready), 0);
	cr_assert_eq(pipe(go), 0);
	for (int i = 0; i < ENDING; i++) {
		if (fork())
			continue;
		close(go[1]);
		count_and_end(ready[1], go[0]);
	}
	for (int i = 0; i < ENDING; i++)
		cr_assert_eq(read(ready[0], &some, 1), 1);
	close(go[1]);
	event_ioctl(fd, PERF_EVENT_IOC_RESET);
	for (int i = 0; i < ENDING; i++)
		cr_assert_gt(wait(NULL), 0);
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	return event_value(fd);
}

/* What they have counted before belongs to the past, whether the walk has come to them or not. */
Test(inherit_race, a_reset_takes_what_ends_meanwhile)
{
	uint64_t left;
	int fd = event_open(inherited(instructions_u()));

	pin_here(0);
	for (int i = 0; i < 20; i++) {
		left = left_by_a_reset(fd);
		cr_assert_lt(left, BEFORE, "%lu", left);
	}
	close(fd);
}

static void check_round(const int *fd, const struct forker *f, bool group)
{
	int all = group ? PERF_IOC_FLAG_GROUP : 0;
	uint64_t value[2];

	for (int i = 0; i < (group ? 1 : 2); i++)
		cr_assert_eq(ioctl(fd[i], PERF_EVENT_IOC_ENABLE, all), 0);
	wait_made(f, 20);
	for (int i = 0; i < (group ? 1 : 2); i++)
		cr_assert_eq(ioctl(fd[i], PERF_EVENT_IOC_DISABLE, all), 0);
	for (int i = 0; i < 2; i++) {
		value[i] = event_value(fd[i]);
		cr_assert_gt(value[i], 0);
	}
	if (group)
		cr_assert_eq(value[0], value[1], "%lu, %lu", value[0], value[1]);
	wait_made(f, 10);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(event_value(fd[i]), value[i], "it counts while disabled");
	for (int i = 0; i < 2; i++)
		event_ioctl(fd[i], PERF_EVENT_IOC_RESET);
	wait_made(f, 10);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(event_value(fd[i]), 0, "%lu after a reset", event_value(fd[i]));
}

static void check_rounds(bool group)
{
	struct perf_event_attr attr = disabled(inherited(instructions_u()));
	struct forker f[FORKERS];
	int fd[2];

	fd[0] = event_open(attr);
	fd[1] = event_open(attr, .group = group ? fd[0] : -1);
	forkers_start(f);
	for (int i = 0; i < ROUNDS; i++)
		check_round(fd, f, group);
	/* Closed while they go on. */
	event_ioctl(fd[0], PERF_EVENT_IOC_ENABLE);
	wait_made(f, 20);
	close(fd[0]);
	wait_made(f, 20);
	close(fd[1]);
	cr_expect_eq(module_info().hw_events, 0);
	wait_made(f, 20);
	forkers_end(f);
}

Test(inherit_race, enabled_disabled_and_reset)
{
	check_rounds(false);
}

Test(inherit_race, enabled_disabled_and_reset_as_a_group)
{
	check_rounds(true);
}

/* ---- Periods ---- */

#define PERIOD	503ull

/*
 * After a change of the period each sample has the new one, but those of periods that had
 * begun: at most one for each task that there was.
 */
Test(inherit_race, periods)
{
	struct perf_event_attr attr = inherited(sampling_attr(PERIOD));
	struct perf_event_header *header;
	uint64_t period = PERIOD;
	struct forker f[FORKERS];
	struct sample s;
	struct ring r;
	int fd;

	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;
	attr.disabled = 0;
	/* Not of this task, whose reading would be sampled. */
	forkers_start(f);
	fd = event_open(attr, f[0].pid);
	ring_map(&r, fd, 64);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t n = 0, end;

		period = PERIOD + i % 3 * 10;
		cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), 0);
		end = ring_head(&r);
		while (ring_next_before(&r, end))
			; /* of before */
		while (n < 20) {
			header = ring_next(&r);
			if (!header)
				usleep(500);
			if (!header || header->type != PERF_RECORD_SAMPLE)
				continue;
			take_sample(&attr, header, &s);
			cr_assert_eq(s.period, period, "sample %lu of round %d", n, i);
			n++;
		}
	}
	forkers_end(f);
	ring_unmap(&r);
}

Test(inherit_race, the_period_of_the_parent_itself)
{
	struct perf_event_attr attr = inherited(sampling_attr(PERIOD));
	struct perf_event_header *header;
	uint64_t period = 701, n = 0;
	struct sample s;
	struct ring r;
	int fd;

	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;
	fd = event_open(attr);
	ring_map(&r, fd, 16);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), 0);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (volatile uint64_t i = 0; i < 100 * period; i++)
		;
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	while ((header = ring_next(&r))) {
		if (header->type != PERF_RECORD_SAMPLE)
			continue;
		take_sample(&attr, header, &s);
		cr_assert_eq(s.period, period, "%lu", s.period);
		n++;
	}
	cr_expect_geq(n, 100, "%lu", n);
	ring_unmap(&r);
}

/* ---- The parent is killed ---- */

static void wait_none_open(void)
{
	while (module_info().hw_events)
		usleep(1000);
}

/* Who has the descriptor and the first event is killed; its children go on for a while. */
Test(inherit_race, the_opener_is_killed)
{
	volatile uint64_t *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 4; i++) {
		struct forker f = { .made = shared };
		pid_t opener = fork_child();

		if (!opener) {
			event_open(inherited(instructions_u()));
			*shared = 0;
			f.pid = fork_child();
			if (!f.pid)
				fork_on_and_on(shared);
			for (;;)
				pause();
		}
		while (*shared < 5u + i)
			usleep(500);
		raw_reap(opener);
		wait_none_open();
		*shared = 0;
	}
	munmap((void *)shared, PAGE);
}

/* ---- An exec that gains rights ---- */

#define COPY	"/tmp/count-exec"

/* What the program counts of an event of its parent when it is run from a file like that */
static uint64_t cost_of_copy(const struct pair *p, unsigned int steps)
{
	static char *args[16], *none[1];
	uint64_t before = of_children(p);
	pid_t child;

	for (unsigned int i = 0; i < 16; i++)
		args[i] = i < steps ? COPY : NULL;
	child = vfork();
	if (!child) {
		execve(COPY, args, none);
		_exit(1);
	}
	reap(child);
	return of_children(p) - before;
}

static void make_copy(uid_t owner, gid_t group, mode_t mode)
{
	cr_assert_eq(system("cp " EXEC_PROGRAM " " COPY), 0);
	cr_assert_eq(chown(COPY, owner, group), 0);
	cr_assert_eq(chmod(COPY, mode), 0);
}

/* In a user's process, as root gains nothing */
static void check_exec(bool counted)
{
	pid_t user = fork_child();

	if (!user) {
		struct pair p;
		uint64_t one, more;

		cr_assert_eq(raw_become(RAW_USER), 0);
		p = pair_open(inherited(instructions_u()));
		cost_of_copy(&p, 1);
		one = cost_of_copy(&p, 1);
		more = cost_of_copy(&p, 9) - one;
		pair_close(&p);
		_exit(more != (counted ? 8 * 2000 : 0));
	}
	reap(user);
}

Test(inherit_race, an_exec_that_gains_rights_is_not_counted)
{
	/* CAP_NET_RAW, permitted and effective: struct vfs_cap_data, version 2 */
	static const uint32_t caps[5] = { 0x02000001, 1 << 13 };

	make_copy(0, 0, 0755);
	check_exec(true);
	make_copy(0, 0, 04755);
	check_exec(false);
	make_copy(0, 0, 02755);
	check_exec(false);
	make_copy(0, 0, 0755);
	cr_assert_eq(setxattr(COPY, "security.capability", caps, sizeof(caps), 0), 0, "%m");
	check_exec(false);
	make_copy(0, 0, 0711); /* nobody may read it */
	check_exec(false);
	unlink(COPY);
}
