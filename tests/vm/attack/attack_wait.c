// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nobody waits for what an ordinary user does with thousands of children of an event. He does it
 * on one CPU, with this process beside him, which goes first whenever it can: it opens and closes
 * an event, or maps and unmaps a buffer, again and again. What the kernel does for the user meanwhile is what it waits for:
 * counted in instructions, it must be a small part of all that the kernel does for him.
 *
 * And nobody is woken by the end of a process that is not his to wait for.
 */
#include "bound.h"
#include "family.h"

#include <poll.h>
#include <sched.h>

#define CPU		0
#define TASKS		3000
#define PART		8		/* a small one is less than one of so many */
#define TRIES		10
#define LOOKS		4096
#define PAUSE_US	50

/* ---- The user ---- */

static pthread_barrier_t ready;
static int first, second;

static void *wait_for_ever(void *arg)
{
	pthread_barrier_wait(&ready);
	for (;;)
		pause();
	return arg;
}

static void make_threads(unsigned int n)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&ready, NULL, n + 1);
	while (n--) {
		errno = pthread_create(&thread, &small, wait_for_ever, NULL);
		die_if(errno, "thread");
	}
	pthread_barrier_wait(&ready);
}

static int open_inherited(int leader, unsigned int flags)
{
	struct perf_event_attr attr = inherited(dummy());
	int fd = event_try(attr, .group = leader, .flags = flags);

	die_if(fd < 0, "open");
	return fd;
}

static pid_t prepare_family(unsigned int n)
{
	first = open_inherited(-1, 0);
	second = open_inherited(first, 0);
	make_threads(n);
	return getpid();
}

static void work_close(void)
{
	close(second);
}

static void work_use(void)
{
	uint64_t words[8];

	die_if(read(first, words, sizeof(words)) <= 0, "read");
	die_if(ioctl(first, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), "disable");
	die_if(ioctl(first, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), "enable");
	die_if(ioctl(first, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP), "reset");
}

static void work_join(void)
{
	open_inherited(first, 0);
}

static pid_t prepare_threads(unsigned int n)
{
	make_threads(n);
	return getpid();
}

static void work_process(void)
{
	open_inherited(-1, PMUCTL_OPEN_PROCESS);
}

/* ---- Who would wait ---- */

/* Whoever can run before all others, does. */
static void go_first(bool first_of_all)
{
	struct sched_param param = { .sched_priority = first_of_all };

	cr_assert_eq(sched_setscheduler(0, first_of_all ? SCHED_FIFO : SCHED_OTHER, &param), 0,
		     "%m");
}

static bool has_finished(int link)
{
	char c;

	return recv(link, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

/**
 * struct wait - what was waited for
 * @longest: instructions that the kernel did for the user while something was done that others do.
 * @all: all that it did for him.
 * @between: how often that was in the midst of it.
 */
struct wait {
	uint64_t longest, all;
	unsigned int between;
};

static void open_and_close(void)
{
	struct perf_event_attr attr = dummy();

	close(event_open(attr));
}

#define BUFFER_SIZE	(2 * 4096)

static int mine;

static void map_and_unmap(void)
{
	void *map = mmap(NULL, BUFFER_SIZE, PROT_READ, MAP_SHARED, mine, 0);

	cr_assert_neq(map, MAP_FAILED, "%m");
	cr_assert_eq(munmap(map, BUFFER_SIZE), 0);
}

/* @counter: what the kernel does for the user, who was let go */
static struct wait do_meanwhile(void (*once)(void), int counter, int link)
{
	static uint64_t begin[LOOKS];
	struct wait wait = { .all = 0 };
	unsigned int n = 0;
	uint64_t end;

	while (!has_finished(link) && n < LOOKS) {
		usleep(PAUSE_US);
		begin[n] = event_value(counter);
		once();
		end = event_value(counter);
		if (end - begin[n] > wait.longest)
			wait.longest = end - begin[n];
		n++;
	}
	hear(link);
	wait.all = event_value(counter);
	while (n--)
		wait.between += begin[n] > wait.all / PART &&
			begin[n] < wait.all - wait.all / PART;
	return wait;
}

static struct wait wait_for(struct attack a, void (*once)(void))
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	struct wait wait;
	int link, fd;
	pid_t user;

	pin_here(CPU);
	user = attack_start(&a, &link);
	attr.exclude_user = 1;
	fd = event_open(attr, hear(link));
	go_first(true);
	let_go(link);
	wait = do_meanwhile(once, fd, link);
	go_first(false);
	close(fd);
	attack_end(user, link);
	return wait;
}

/*
 * What others have to wait for they wait for in each try, as they come in the midst of it many times.
 * Once in a while they wait for something else, a grace period or a page, and the user goes on.
 */
static void check_wait_of(const char *name, struct attack a, void (*once)(void))
{
	struct wait wait = { .between = 0 };

	for (int i = 0; i < TRIES && (!wait.between || wait.longest >= wait.all / PART); i++) {
		wait = wait_for(a, once);
		printf("%s: %lu instructions, of which others wait for %lu, %u came between\n",
		       name, wait.all, wait.longest, wait.between);
	}
	cr_assert_gt(wait.between, 0, "%s: nobody came between", name);
	cr_assert_lt(wait.longest, wait.all / PART,
		     "%s: others wait for %lu instructions of %lu", name, wait.longest, wait.all);
}

static void check_wait(const char *name, struct attack a)
{
	a.n = TASKS;
	check_wait_of(name, a, open_and_close);
}

Test(attack_wait, nobody_waits_for_a_close)
{
	check_wait("close", (struct attack){ prepare_family, work_close, 0 });
}

Test(attack_wait, nobody_waits_for_what_is_done_to_all_children)
{
	check_wait("read and control", (struct attack){ prepare_family, work_use, 0 });
}

Test(attack_wait, nobody_waits_for_one_that_joins_a_group)
{
	check_wait("join", (struct attack){ prepare_family, work_join, 0 });
}

Test(attack_wait, nobody_waits_for_the_event_of_a_process)
{
	check_wait("process", (struct attack){ prepare_threads, work_process, 0 });
}

/* ---- A buffer to which very many write ---- */

#define WRITERS		12000

static void *shared;

static pid_t prepare_buffer(unsigned int n)
{
	const unsigned int tasks = (n + PER_CONTEXT_DEFAULT - 1) / PER_CONTEXT_DEFAULT;
	struct perf_event_attr attr = dummy();
	pid_t sleeper[tasks];

	attr.disabled = 1;
	for (unsigned int i = 0; i < tasks; i++)
		sleeper[i] = raw_sleeper();
	first = event_try(attr);
	die_if(first < 0, "open");
	shared = mmap(NULL, BUFFER_SIZE, PROT_READ, MAP_SHARED, first, 0);
	die_if(shared == MAP_FAILED, "mmap");
	while (--n)
		die_if(event_try(attr, sleeper[n / PER_CONTEXT_DEFAULT], .group = first,
				 .flags = PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT) < 0, "open");
	return getpid();
}

static void work_buffer(void)
{
	die_if(munmap(shared, BUFFER_SIZE), "munmap");
}

Test(attack_wait, nobody_waits_for_a_buffer_to_go)
{
	struct perf_event_attr attr = dummy();

	mine = event_open(attr);
	check_wait_of("a buffer", (struct attack){ prepare_buffer, work_buffer, WRITERS },
		      map_and_unmap);
	close(mine);
}

/* ---- Who waits for the end of a process ---- */

#define ENDS		20

/* Wait until it is off its CPU, in poll(); returns how often it has been so by itself. */
static unsigned long waits_of(pid_t pid)
{
	static const char key[] = "voluntary_ctxt_switches:";
	unsigned long n = 0;
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	do {
		sleep_ms(1);
		f = fopen(path, "re");
		cr_assert(f && fgets(line, sizeof(line), f), "%s: %m", path);
		fclose(f);
	} while (atoi(line) != SYS_poll);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			n = strtoul(line + strlen(key), NULL, 10);
	cr_assert(f && n, "%s", path);
	fclose(f);
	return n;
}

Test(attack_wait, nobody_is_woken_by_the_end_of_others)
{
	struct pollfd p = { .fd = -1 };
	unsigned long before;
	pid_t user, other;
	int link[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link), 0);
	user = fork_child();
	if (!user) {
		become_ordinary();
		p.fd = open_inherited(-1, PMUCTL_OPEN_PROCESS);
		tell(link[1], 0);
		poll(&p, 1, -1);
		_exit(1);
	}
	hear(link[0]);
	before = waits_of(user);
	for (int i = 0; i < ENDS; i++) {
		other = fork();
		if (!other)
			_exit(0);
		reap(other);
	}
	cr_expect_eq(waits_of(user), before, "%lu more", waits_of(user) - before);
	raw_reap(user);
}
