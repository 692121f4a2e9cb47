// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bounded work: an ordinary user opens as many events as he is allowed, and does what makes the
 * kernel go through all of them. What that costs is counted in the kernel's own instructions, not
 * in time: four times the events may cost about four times as much, where each of them
 * looking at all others would cost sixteen times as much.
 */
#include "bound.h"
#include "family.h"

#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define FEW	1000
#define MANY	(4 * FEW)

/* What many may cost in relation to few: more than 4 for interrupts that come between, less than
 * half of 16.
 */
#define RATIO_MAX	6.0

/*
 * Interrupts, what is freed in them, and what the first of several does, are extra: of so many
 * measures of something short the least is right.
 */
#define LEAST_OF	20

static struct perf_event_attr instructions_k(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_HARDWARE,
						 PERF_COUNT_HW_INSTRUCTIONS);

	attr.exclude_user = 1;
	return attr;
}

/* How many instructions the kernel needs for the work of an attack */
static uint64_t cost_of(const struct attack *a)
{
	struct perf_event_attr attr = instructions_k();
	int link, fd;
	uint64_t cost;
	pid_t user;

	user = attack_start(a, &link);
	fd = event_open(attr, hear(link));
	let_go(link);
	hear(link);
	cost = event_value(fd);
	close(fd);
	attack_end(user, link);
	return cost;
}

static void check_linear(const char *name, struct attack a)
{
	uint64_t few, many;

	a.n = FEW;
	few = cost_of(&a);
	a.n = MANY;
	many = cost_of(&a);
	printf("%s: %u events %lu instructions, %u events %lu\n", name, FEW, few, MANY, many);
	cr_assert_lt(many, RATIO_MAX * few, "%s: %lu instructions with %u events, %lu with %u",
		     name, few, FEW, many, MANY);
}

/* ---- Attacks, where the limit of events of a task allows as many as that ---- */

static void allow_many(void)
{
	set_limit(PER_CONTEXT, MANY);
}

TestSuite(attack_bound, .init = allow_many, .fini = set_default_limits);

static struct {
	pid_t pid;
	int go;
} program;

/* A program that waits until it is told to execute another, and its events, half of which end */
static pid_t prepare_exec(unsigned int n)
{
	struct perf_event_attr stays = dummy(), goes = dummy();
	char *args[] = { EXEC_PROGRAM, NULL };
	int go[2];
	char c;

	goes.remove_on_exec = 1;
	die_if(pipe2(go, O_CLOEXEC), "pipe");
	program.go = go[1];
	program.pid = fork_child();
	if (!program.pid) {
		if (read(go[0], &c, 1) == 1)
			execv(EXEC_PROGRAM, args);
		_exit(1);
	}
	for (unsigned int i = 0; i < n / 2; i++) {
		open_many(stays, program.pid, 0, 1);
		open_many(goes, program.pid, 0, 1);
	}
	return program.pid;
}

static void work_exec(void)
{
	int status;

	die_if(write(program.go, "x", 1) != 1, "write");
	die_if(waitpid(program.pid, &status, 0) != program.pid || status, "the program");
}

Test(attack_bound, an_exec_looks_at_each_event_once)
{
	check_linear("exec", (struct attack){ prepare_exec, work_exec, 0 });
}

static pid_t prepare_fork(unsigned int n)
{
	open_many(inherited(dummy()), 0, 0, n);
	return getpid();
}

static void work_fork(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	die_if(waitpid(pid, &status, 0) != pid || status, "fork");
}

Test(attack_bound, a_fork_looks_for_none_of_its_events)
{
	check_linear("fork", (struct attack){ prepare_fork, work_fork, 0 });
}

static pid_t prepare_sampling(unsigned int n)
{
	struct perf_event_attr attr = inherited(dummy());

	attr.sample_period = 1000;
	open_many(attr, 0, 0, n);
	return getpid();
}

Test(attack_bound, a_fork_looks_for_none_of_its_events_that_sample)
{
	check_linear("fork, sampling", (struct attack){ prepare_sampling, work_fork, 0 });
}

static pid_t prepare_thread(unsigned int n)
{
	open_many(inherited(dummy()), 0, PMUCTL_OPEN_PROCESS, n);
	return getpid();
}

static void work_thread(void)
{
	pthread_t thread;

	die_if(pthread_create(&thread, NULL, loop_thread, (void *)1) ||
	       pthread_join(thread, NULL), "thread");
}

Test(attack_bound, a_thread_looks_for_none_of_the_events_of_its_process)
{
	check_linear("thread", (struct attack){ prepare_thread, work_thread, 0 });
}

static int group_of_all;

/* The user's task, a group of half of @n events that are inherited, and a child that has them */
static pid_t prepare_group(unsigned int n)
{
	struct perf_event_attr attr = inherited(dummy());

	group_of_all = event_try(attr);
	die_if(group_of_all < 0, "open");
	for (unsigned int i = 1; i < n / 2; i++)
		die_if(event_try(attr, .group = group_of_all) < 0, "open");
	fork_child() ?: pause();
	return getpid();
}

static void work_reset(void)
{
	die_if(ioctl(group_of_all, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP), "reset");
}

Test(attack_bound, a_group_is_reset_in_one_walk)
{
	check_linear("reset of a group", (struct attack){ prepare_group, work_reset, 0 });
}

static void work_switch(void)
{
	die_if(ioctl(group_of_all, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), "disable");
	die_if(ioctl(group_of_all, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), "enable");
}

Test(attack_bound, a_group_is_switched_in_one_walk)
{
	check_linear("disabling and enabling a group",
		     (struct attack){ prepare_group, work_switch, 0 });
}

/* ---- The page of an event that has ended ---- */

#define MAP_PROGRAM	"/pmuctl/tests/prog/map-page"

static void order(int link, char what)
{
	char done;

	cr_assert_eq(write(link, &what, 1), 1);
	cr_assert_eq(read(link, &done, 1), 1, "the program has ended");
	cr_assert_eq(done, what);
}

/*
 * What the kernel does for the program, by each of its switches: one or two of them are an order,
 * as the scheduler likes.
 */
static uint64_t cost_of_switch(int counter, int switches, int link)
{
	uint64_t least = UINT64_MAX, cost, number;

	for (int i = 0; i < LEAST_OF; i++) {
		cost = event_value(counter);
		number = event_value(switches);
		for (int k = 0; k < 10; k++)
			order(link, 'x');
		cost = event_value(counter) - cost;
		number = event_value(switches) - number;
		if (number && cost / number < least)
			least = cost / number;
	}
	return least;
}

/*
 * A program that has an event which ended when it was executed; its page has nothing to tell.
 * @maps: it was mapped before, too.
 */
static pid_t start_mapper(int link, bool maps)
{
	struct perf_event_attr attr = instructions_u();
	char text[16], *args[] = { MAP_PROGRAM, text, NULL };
	pid_t pid = fork_child();
	int fd;

	if (pid)
		return pid;
	become_ordinary();
	attr.remove_on_exec = 1;
	fd = event_try(attr);
	die_if(fd < 0, "open");
	die_if(maps && mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED, "mmap");
	snprintf(text, sizeof(text), "%d", fd);
	die_if(fcntl(fd, F_SETFD, 0) || dup2(link, STDIN_FILENO) < 0 ||
	       dup2(link, STDOUT_FILENO) < 0, "dup");
	execv(MAP_PROGRAM, args);
	die("exec");
	return 0;
}

/*
 * While a page is kept up to date, each switch goes through all events of the task for that: it
 * would cost three quarters more.
 */
Test(attack_bound, the_page_of_an_ended_event_costs_nothing)
{
	struct perf_event_attr kernel = instructions_k(), none = dummy();
	struct rlimit files = { 2 * MANY, 2 * MANY };
	uint64_t before, after;
	int link[2], fd, switches;
	pid_t program;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link), 0);
	pin_here(0);
	program = start_mapper(link[1], false);
	order(link[0], 'x');
	none.disabled = 1;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	for (int i = 0; i < MANY / 2; i++)
		event_open(none, program);
	fd = event_open(kernel, program);
	switches = event_open(event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES),
			      program);
	before = cost_of_switch(fd, switches, link[0]);
	order(link[0], 'm');
	after = cost_of_switch(fd, switches, link[0]);
	printf("a switch: %lu instructions, with the page of an ended event %lu\n", before, after);
	cr_expect_lt(after, before + before / 3);
	raw_reap(program);
}

/* It tells of no counter, which is somebody else's by then, whoever had it mapped before. */
Test(attack_bound, the_page_of_an_ended_event_has_no_counter)
{
	int link[2];

	for (int maps = 0; maps < 2; maps++) {
		pid_t program;

		cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link), 0);
		program = start_mapper(link[1], maps);
		close(link[1]);
		order(link[0], 'x');
		order(link[0], 'm');
		order(link[0], 'i');
		raw_reap(program);
	}
}

/* ---- What others have ---- */

static int own_device;

static pid_t prepare_own(unsigned int n)
{
	own_device = raw_device();
	open_many(dummy(), 0, 0, n);
	return getpid();
}

static void work_switch_own(void)
{
	for (int i = 0; i < 20; i++)
		die_if(ioctl(own_device, i % 2 ? PMUCTL_IOC_TASK_ENABLE : PMUCTL_IOC_TASK_DISABLE),
		       "switch");
}

static uint64_t least_cost_of(const struct attack *a)
{
	uint64_t least = UINT64_MAX, cost;

	for (int i = 0; i < LEAST_OF; i++) {
		cost = cost_of(a);
		if (cost < least)
			least = cost;
	}
	return least;
}

/* To enable what one has opened costs the same whatever others have open. */
Test(attack_bound, what_others_have_open_costs_nothing)
{
	struct attack mine = { prepare_own, work_switch_own, 1 };
	struct attack others = { prepare_own, work_switch_own, MANY };
	uint64_t alone, beside;
	int link[2];
	pid_t other;

	alone = least_cost_of(&mine);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link), 0);
	other = fork_child();
	if (!other)
		attack(&others, link[1]);
	hear(link[0]);
	beside = least_cost_of(&mine);
	raw_reap(other);
	printf("switching one's own: alone %lu instructions, beside %u events %lu\n", alone, MANY,
	       beside);
	cr_assert_lt(beside, 3 * alone);
}

/* ---- Memory ---- */

#define CGROUPS		"/tmp/attack_bound"
#define CGROUP		CGROUPS "/user"
#define BYTES_EACH	500	/* at least, of an event */

static long charged(void)
{
	return raw_read_number(CGROUP "/memory.current");
}

static pid_t held;

static void work_held_fork(void)
{
	held = fork_child();
	if (!held)
		raw_wait();
}

/* In the cgroup: before he has prepared himself, after that, and when he has done his work */
static void charge(struct attack a, long got[3])
{
	char text[16];
	int link[2];
	pid_t user;

	mkdir(CGROUPS, 0755);
	cr_assert_eq(mount("none", CGROUPS, "cgroup2", 0, NULL), 0, "%m");
	cr_assert_eq(raw_write_file(CGROUPS "/cgroup.subtree_control", "+memory"), 0);
	cr_assert_eq(mkdir(CGROUP, 0755), 0, "%m");
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link), 0);
	user = fork_child();
	if (!user) {
		await(link[1]);
		attack(&a, link[1]);
	}
	snprintf(text, sizeof(text), "%d", user);
	cr_assert_eq(raw_write_file(CGROUP "/cgroup.procs", text), 0);
	for (int i = 0; i < 3; i++) {
		got[i] = charged();
		if (i == 2)
			break;
		let_go(link[0]);
		hear(link[0]);
	}
	raw_reap(user);
	while (rmdir(CGROUP) && errno == EBUSY)
		usleep(1000);
	umount2(CGROUPS, MNT_DETACH);
	rmdir(CGROUPS);
}

/* What a user opens, and what his children inherit, is his cgroup's. */
Test(attack_bound, memory_is_charged_to_the_cgroup)
{
	struct attack a = { prepare_fork, work_held_fork, MANY };
	long got[3];

	charge(a, got);
	printf("charged: %ld, with %u events %ld, with those of a child %ld\n", got[0], MANY,
	       got[1], got[2]);
	cr_expect_geq(got[1] - got[0], (long)MANY * BYTES_EACH);
	cr_expect_geq(got[2] - got[1], (long)MANY * BYTES_EACH);
}

#define UNPRIVILEGED	"/proc/sys/vm/unprivileged_userfaultfd"
#define MEMBERS		500
#define READERS		64
/* At least, of a member: its value, id and times, and what is made of those for the user */
#define BYTES_READ	48
/* What a cgroup may have been charged with before, on each CPU: pages */
#define AHEAD		64

static struct {
	int leader, uffd;
	uint8_t *pages;
	pthread_barrier_t go;
} readers;

static void *read_to_page(void *page)
{
	pthread_barrier_wait(&readers.go);
	read(readers.leader, page, 4 * 4096);
	return page;
}

/* Whoever writes there waits for ever. */
static void make_pages(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	readers.pages = mmap(NULL, READERS * 4 * 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	die_if(readers.pages == MAP_FAILED, "mmap");
	area.range.start = (uintptr_t)readers.pages;
	area.range.len = READERS * 4 * 4096;
	readers.uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	die_if(readers.uffd < 0, "userfaultfd");
	die_if(ioctl(readers.uffd, UFFDIO_API, &api), "UFFDIO_API");
	die_if(ioctl(readers.uffd, UFFDIO_REGISTER, &area), "UFFDIO_REGISTER");
}

static pid_t prepare_readers(unsigned int n)
{
	struct perf_event_attr attr = dummy();
	pthread_t thread;

	attr.read_format = PERF_FORMAT_GROUP;
	readers.leader = event_try(attr);
	for (unsigned int i = 1; i < MEMBERS; i++)
		die_if(event_try(attr, .group = readers.leader) < 0, "open");
	make_pages();
	pthread_barrier_init(&readers.go, NULL, n + 1);
	for (unsigned int i = 0; i < n; i++)
		die_if(pthread_create(&thread, NULL, read_to_page, readers.pages + i * 4 * 4096),
		       "pthread_create");
	sleep_ms(100); /* they wait, and have what they need for that */
	return getpid();
}

static void work_readers(void)
{
	struct uffd_msg message;

	pthread_barrier_wait(&readers.go);
	for (unsigned int n = 0; n < READERS; n++)
		die_if(read(readers.uffd, &message, sizeof(message)) != sizeof(message), "fault");
}

/* What is there while the group is read, for as long as the user likes, is his cgroup's too. */
Test(attack_bound, memory_of_a_read_is_charged_to_the_cgroup)
{
	struct attack a = { prepare_readers, work_readers, READERS };
	long before = raw_read_number(UNPRIVILEGED), got[3];

	cr_assert_eq(raw_write_number(UNPRIVILEGED, 1), 0);
	charge(a, got);
	cr_assert_eq(raw_write_number(UNPRIVILEGED, before), 0);
	printf("charged: %ld, with %u reads %ld\n", got[1], READERS, got[2]);
	cr_expect_geq(got[2] - got[1],
		      (long)READERS * MEMBERS * BYTES_READ - sysconf(_SC_NPROCESSORS_CONF) * AHEAD * 4096);
}
