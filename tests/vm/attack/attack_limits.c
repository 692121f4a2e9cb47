// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many events there may be: of a task, and of a user, whatever he calls himself; what
 * is refused beyond that, with which words, and who is exempt.
 */
#include "bound.h"
#include "family.h"
#include "perm.h"

#include <sched.h>
#include <sys/mman.h>

#define FEW_ALLOWED	10
#define USER_SENTENCE							\
	"the user has %u events open and may have %u: close some, gain CAP_PERFMON, or raise " PER_USER
#define CONTEXT_SENTENCE						\
	"the %s may have %u events (a clock that samples is 4), as every switch goes through them: close some, gain CAP_PERFMON, or raise " PER_CONTEXT

TestSuite(attack_limits, .fini = set_default_limits);

Test(attack_limits, have_sensible_defaults)
{
	cr_assert_eq(raw_read_number(PER_CONTEXT), PER_CONTEXT_DEFAULT);
	cr_assert_eq(raw_read_number(PER_USER), PER_USER_DEFAULT);
	cr_assert_eq(raw_write_file(PER_CONTEXT, "many"), -EINVAL);
	cr_assert_eq(setresuid(-1, RAW_USER, -1), 0);
	cr_assert_eq(raw_write_number(PER_CONTEXT, 1), -EACCES);
	cr_assert_eq(raw_write_number(PER_USER, 1), -EACCES);
	cr_assert_eq(setresuid(-1, 0, -1), 0);
}

/* The children assert as tests do; what they say is on standard error. */
static void as_caller(void (*func)(void), enum perm_caller caller)
{
	pid_t pid = fork_child();

	if (!pid) {
		if (perm_become(caller))
			_exit(1);
		func();
		_exit(0);
	}
	perm_join(pid);
}

static int try_dummy(pid_t pid, int leader, unsigned int flags)
{
	struct perf_event_attr attr = flags & PMUCTL_OPEN_PROCESS ? inherited(dummy()) : dummy();

	return event_try(attr, pid, .group = leader, .flags = flags);
}

/* Exits, with a number that says which line was wrong. */
static void expect(bool right, int step)
{
	if (right)
		return;
	fprintf(stderr, "step %d: %s\n", step, event_why.sentence);
	_exit(step);
}

static void expect_refused(int ret, int error, uint32_t code, const char *field,
			   const char *sentence, int step)
{
	expect(ret == -error, step);
	expect(event_why.error == (uint32_t)error && event_why.code == code, step + 1);
	expect(!strcmp(event_why.field, field) && !strcmp(event_why.sentence, sentence), step + 2);
}

static void expect_context_full(int ret, int step)
{
	char sentence[256];

	snprintf(sentence, sizeof(sentence), CONTEXT_SENTENCE, "task", FEW_ALLOWED);
	expect_refused(ret, ENOSPC, PMUCTL_WHY_EVENTS_CONTEXT, "pid", sentence, step);
}

static void expect_user_full(int ret, int step)
{
	char sentence[256];

	snprintf(sentence, sizeof(sentence), USER_SENTENCE, FEW_ALLOWED, FEW_ALLOWED);
	expect_refused(ret, EMFILE, PMUCTL_WHY_EVENTS_USER, "", sentence, step);
}

/* As many as there may be; those that are refused for other reasons are not counted. */
static void fill(pid_t pid, int fd[FEW_ALLOWED], int step)
{
	struct perf_event_attr kernel = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	for (int i = 0; i < FEW_ALLOWED; i++) {
		expect(event_try(kernel, pid) == -EACCES, step);
		fd[i] = try_dummy(pid, -1, 0);
		expect(fd[i] >= 0, step + 1);
	}
}

static int try_clock(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);

	attr.exclude_kernel = 1;
	attr.sample_period = 1000000000;
	return event_try(attr);
}

static void fill_own_task(void)
{
	int fd[FEW_ALLOWED];

	fill(0, fd, 10);
	expect_context_full(try_dummy(0, -1, 0), 20);
	expect_context_full(try_dummy(0, fd[0], 0), 30);
	close(fd[1]);
	fd[1] = try_dummy(0, fd[0], 0);
	expect(fd[1] >= 0, 40);
	expect_context_full(try_dummy(0, -1, 0), 50);
	/* A clock that samples is more. */
	for (int i = 2; i < 5; i++) {
		expect(try_clock() == -ENOSPC, 51);
		close(fd[i]);
	}
	expect_context_full(try_clock(), 52);
	close(fd[5]);
	fd[5] = try_clock();
	expect(fd[5] >= 0, 55);
	expect_context_full(try_dummy(0, -1, 0), 56);
	/* Those of a leader are there after it. */
	close(fd[0]);
	fd[0] = try_dummy(0, -1, 0);
	expect(fd[0] >= 0, 60);
	expect_context_full(try_dummy(0, -1, 0), 70);
}

Test(attack_limits, a_task_gets_so_many_events)
{
	set_limit(PER_CONTEXT, FEW_ALLOWED);
	as_caller(fill_own_task, PERM_USER);
}

static pthread_barrier_t both;

static void *full_thread(void *arg)
{
	int fd[FEW_ALLOWED];

	fill(gettid(), fd, 10);
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);
	return arg;
}

/* An event of a process needs room in each of its threads. */
static void fill_thread(void)
{
	pthread_t thread;
	int before;

	pthread_barrier_init(&both, NULL, 2);
	expect(!pthread_create(&thread, NULL, full_thread, NULL), 1);
	pthread_barrier_wait(&both);
	before = raw_count_fds();
	expect_context_full(try_dummy(0, -1, PMUCTL_OPEN_PROCESS), 20);
	expect(raw_count_fds() == before, 30);
	expect(try_dummy(0, -1, 0) >= 0, 31);
	pthread_barrier_wait(&both);
	pthread_join(thread, NULL);
	expect(try_dummy(0, -1, PMUCTL_OPEN_PROCESS) >= 0, 32);
}

Test(attack_limits, all_threads_of_a_process_have_room)
{
	set_limit(PER_CONTEXT, FEW_ALLOWED);
	as_caller(fill_thread, PERM_USER);
}

static void open_more(void)
{
	for (int i = 0; i < 3 * FEW_ALLOWED; i++)
		expect(try_dummy(0, -1, 0) >= 0, 10);
}

Test(attack_limits, do_not_hold_for_who_has_the_capability)
{
	static const enum perm_caller callers[] = { PERM_ROOT, PERM_USER_PERFMON,
						    PERM_USER_ADMIN };
	pid_t pid;

	set_limit(PER_CONTEXT, FEW_ALLOWED);
	set_limit(PER_USER, FEW_ALLOWED);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(callers); i++)
		as_caller(open_more, callers[i]);
	pid = fork_child();
	if (!pid) {
		expect(!perm_become_with(RAW_USER, CAP_SYS_RESOURCE), 1);
		open_more();
		_exit(0);
	}
	perm_join(pid);
}

static void fill_user(void)
{
	int fd[FEW_ALLOWED];
	pid_t pid;

	fill(0, fd, 10);
	for (int i = 0; i < 100; i++)
		expect_user_full(try_dummy(0, -1, 0), 20);
	/* Another process of his, and events of that */
	pid = fork_child();
	if (!pid) {
		prctl(PR_SET_DUMPABLE, 1);
		expect_user_full(try_dummy(0, -1, 0), 30);
		raw_wait();
	}
	expect_user_full(try_dummy(pid, -1, 0), 40);
	/* It has the descriptors too. */
	close(fd[0]);
	expect_user_full(try_dummy(0, -1, 0), 50);
	raw_reap(pid);
	fd[0] = try_dummy(0, -1, 0);
	expect(fd[0] >= 0, 60);
	expect_user_full(try_dummy(0, -1, 0), 70);
}

Test(attack_limits, a_user_gets_so_many_events)
{
	pid_t pid;

	set_limit(PER_USER, FEW_ALLOWED);
	for (int i = 0; i < 3; i++)
		as_caller(fill_user, PERM_USER);
	/* One user's are not another's, nor those that he opened with a capability. */
	pid = fork_child();
	if (!pid) {
		expect(!perm_become(PERM_USER), 1);
		for (int i = 0; i < FEW_ALLOWED; i++)
			expect(try_dummy(0, -1, 0) >= 0, 2);
		raw_wait();
	}
	wait_asleep(pid);
	as_caller(open_more, PERM_USER_PERFMON);
	for (int i = 0; i < 2; i++) {
		pid_t other = fork_child();

		if (!other) {
			expect(!perm_become_with(i ? RAW_USER : RAW_OTHER_USER, -1), 1);
			if (i)
				expect_user_full(try_dummy(0, -1, 0), 10);
			else
				expect(try_dummy(0, -1, 0) >= 0, 20);
			_exit(0);
		}
		perm_join(other);
	}
	raw_reap(pid);
	as_caller(fill_user, PERM_USER);
}

/* A user namespace of his has many users, all of whom are he. */
Test(attack_limits, a_user_namespace_has_those_of_its_maker)
{
	char path[64];
	int link[2];
	pid_t pid;

	set_limit(PER_USER, FEW_ALLOWED);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link), 0);
	pid = fork_child();
	if (!pid) {
		expect(!perm_become(PERM_USER), 1);
		for (int i = 0; i < FEW_ALLOWED / 2; i++)
			expect(try_dummy(0, -1, 0) >= 0, 2);
		expect(!unshare(CLONE_NEWUSER), 3);
		prctl(PR_SET_DUMPABLE, 1);
		tell(link[1], 0);
		await(link[1]);
		for (uid_t uid = 1; uid <= FEW_ALLOWED / 2; uid++) {
			expect(!setresuid(uid, uid, 0), 4);
			expect(try_dummy(0, -1, 0) >= 0, 5);
			expect(!setresuid(0, 0, 0), 6);
		}
		expect_user_full(try_dummy(0, -1, 0), 10);
		expect(!setresuid(7, 7, 7), 7);
		expect_user_full(try_dummy(0, -1, 0), 20);
		_exit(0);
	}
	hear(link[0]);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	cr_assert_eq(raw_write_file(path, "0 100000 10\n"), 0);
	let_go(link[0]);
	perm_join(pid);
}

/* ---- What a new task gets of its parent's is among them ---- */

/**
 * struct hunt - for a task that is known by its number already, and has none of them yet
 * @next: the number of the next one.
 * @caught: in which events were opened before it had its parent's.
 * @judged: the one in which there was room for one more, those given back.
 * @full: or was not.
 */
struct hunt {
	pid_t next;
	pid_t caught;
	pid_t judged;
	bool full;
};

static struct hunt *hunt;

static pid_t look(const pid_t *pid)
{
	return __atomic_load_n(pid, __ATOMIC_ACQUIRE);
}

static void show(pid_t *pid, pid_t value)
{
	__atomic_store_n(pid, value, __ATOMIC_RELEASE);
}

/* Fills the next task; gives all of that back when it has its parent's, and asks for one more. */
static void hunter(void)
{
	int fd[FEW_ALLOWED];
	pid_t pid, last = 0;

	pin_here(1);
	for (;;) {
		int n = 0;

		pid = look(&hunt->next);
		if (!pid || pid == last)
			continue;
		fd[0] = try_dummy(pid, -1, 0);
		if (fd[0] == -ESRCH)
			continue;
		last = pid;
		if (fd[0] < 0)
			continue;
		do
			n++;
		while (n < FEW_ALLOWED && (fd[n] = try_dummy(pid, -1, 0)) >= 0);
		show(&hunt->caught, pid);
		while (look(&hunt->next) == pid)
			;
		while (n)
			close(fd[--n]);
		fd[0] = try_dummy(pid, -1, 0);
		hunt->full = fd[0] < 0;
		close(fd[0]);
		show(&hunt->judged, pid);
	}
}

/* The next one has the next number, unless somebody else has made a task meanwhile. */
static void make_tasks(void)
{
	pid_t pid, last = getpid();
	bool caught;

	pin_here(0);
	for (int i = 0; i < FEW_ALLOWED; i++)
		expect(event_try(inherited(dummy())) >= 0, 10);
	do {
		show(&hunt->next, last + 1);
		pid = fork();
		if (!pid)
			raw_wait();
		/* Who is not caught by now has its parent's. */
		sched_yield();
		caught = look(&hunt->caught) == pid;
		show(&hunt->next, 0);
		while (caught && look(&hunt->judged) != pid)
			sched_yield();
		raw_reap(pid);
		last = pid;
	} while (!caught);
	expect(!hunt->full, 20);
}

Test(attack_limits, a_new_task_is_counted_with_what_it_inherits)
{
	pid_t pid;

	hunt = mmap(NULL, sizeof(*hunt), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(hunt, MAP_FAILED);
	set_limit(PER_CONTEXT, FEW_ALLOWED);
	pid = fork_child();
	if (!pid) {
		expect(!perm_become(PERM_USER), 1);
		hunter();
	}
	for (int i = 0; i < 10; i++)
		as_caller(make_tasks, PERM_USER);
	raw_reap(pid);
	munmap(hunt, sizeof(*hunt));
}
