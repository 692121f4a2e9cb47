// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ordinary user has one page fault wake and signal as many as he may have: interrupts do so in
 * a share of the time, and a worker the others. By the clock, in a guest whose time goes with its
 * instructions: what a fault takes with all of it is little more than without.
 */
#include "bound.h"
#include "perm.h"
#include "sampling.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>

#define EVENTS		512	/* of one task, that sample each fault */
#define PROCESSES	200	/* of the group that is signalled */
#define RINGS		8
/* What 512 samples and their interrupts take, and twice what interrupts may wake in a row */
#define FAULT_NS_MAX	1000000

#define WATCHERS	64	/* of each event that has a limit */

/* B, whom others must leave alone */
#define OTHER_USER	2000
#define OTHER_FAULTS	500

enum work { SIGNALS, WAKES, LIMITS };

static const char *const works[] = { "signals", "wakes", "limits" };

static struct perf_event_attr each_fault(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	attr.sample_period = 1;
	attr.wakeup_events = 1;
	return attr;
}

/* A group of which this process is one, and which does not mind being signalled */
static void make_group(void)
{
	signal(SIGIO, SIG_IGN);
	die_if(setpgid(0, 0), "setpgid");
	for (unsigned int i = 0; i < PROCESSES; i++)
		raw_sleeper();
}

static void have_signalled(int fd)
{
	die_if(fcntl(fd, F_SETOWN, -getpid()), "F_SETOWN");
	die_if(fcntl(fd, F_SETFL, O_ASYNC), "O_ASYNC");
}

/* It ends with its next overflow, of which all are told that watch it. */
static void have_watched(int fd)
{
	struct epoll_event none = { .events = EPOLLIN };

	for (unsigned int i = 0; i < WATCHERS; i++) {
		int watch = epoll_create1(0);

		die_if(watch < 0 || epoll_ctl(watch, EPOLL_CTL_ADD, fd, &none), "epoll");
	}
}

static int fds[EVENTS];

static void open_all(enum work work)
{
	const struct perf_event_attr attr = each_fault();
	int first = -1;
	struct ring ring;

	for (unsigned int i = 0; i < EVENTS; i++) {
		bool leads = i % (EVENTS / RINGS) == 0;
		int fd = fds[i] = event_try(attr);

		die_if(fd < 0, "open");
		if (work == SIGNALS) {
			have_signalled(fd);
		} else if (work == LIMITS) {
			have_watched(fd);
		} else if (leads) {
			first = fd;
			die_if(ring_try_map(&ring, fd, 1, PROT_READ), "mmap");
		} else {
			die_if(ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, first), "output");
		}
	}
}

static void enable_all(enum work work)
{
	if (work != LIMITS)
		die_if(ioctl(raw_device(), PMUCTL_IOC_TASK_ENABLE), "enable");
	for (unsigned int i = 0; work == LIMITS && i < EVENTS; i++)
		die_if(ioctl(fds[i], PERF_EVENT_IOC_REFRESH, 1), "REFRESH");
}

/* How long a fault takes, in ns, by the slower of two: our own code may be what faults at first. */
static uint64_t fault_ns(enum work work)
{
	volatile char *fresh = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t longest = 0;

	die_if(fresh == MAP_FAILED, "mmap");
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t begin, took;

		enable_all(work);
		begin = clock_ns(CLOCK_MONOTONIC);
		fresh[i * PAGE] = 1;
		took = clock_ns(CLOCK_MONOTONIC) - begin;
		if (took > longest)
			longest = took;
	}
	die_if(ioctl(raw_device(), PMUCTL_IOC_TASK_DISABLE), "disable");
	return longest;
}

static uint64_t measure(enum work work)
{
	const struct rlimit files = { EVENTS * (WATCHERS + 2), EVENTS * (WATCHERS + 2) };
	uint64_t ns = 0;
	int link[2];
	pid_t user;

	cr_assert_eq(pipe(link), 0);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	user = fork_child();
	if (!user) {
		become_ordinary();
		if (work == SIGNALS)
			make_group();
		open_all(work);
		ns = fault_ns(work);
		die_if(write(link[1], &ns, sizeof(ns)) != sizeof(ns), "write");
		pause();
	}
	close(link[1]);
	cr_assert_eq(read(link[0], &ns, sizeof(ns)), (ssize_t)sizeof(ns), "the user has ended");
	kill(-user, SIGKILL);
	raw_reap(user);
	printf("%s: a fault took %lu ns\n", works[work], ns);
	return ns;
}

Test(attack_signals, to_a_group_of_many_for_each_of_many_events)
{
	cr_assert_leq(measure(SIGNALS), FAULT_NS_MAX);
}

Test(attack_signals, wakes_of_full_buffers_for_each_of_many_events)
{
	cr_assert_leq(measure(WAKES), FAULT_NS_MAX);
}

Test(attack_signals, who_waits_for_each_of_many_limits)
{
	cr_assert_leq(measure(LIMITS), FAULT_NS_MAX);
}

/* ---- One that takes long ---- */

#define POLLS	8
#define ENTRIES	60000
#define WATCHED_MS	3000

static int watched;

/* It waits for the same again and again, and what comes wakes it never. */
static void *wait_often(void *unused)
{
	struct pollfd *entries = calloc(ENTRIES, sizeof(*entries));

	(void)unused;
	die_if(!entries, "calloc");
	for (unsigned int i = 0; i < ENTRIES; i++)
		entries[i].fd = watched;
	poll(entries, ENTRIES, -1);
	return NULL;
}

struct took {
	uint64_t sum, longest;	/* in ns */
};

/* Faults for WATCHED_MS */
static void take_faults(struct took *took)
{
	volatile char *fresh = mmap(NULL, WATCHED_MS * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + WATCHED_MS * 1000000ull;

	die_if(fresh == MAP_FAILED, "mmap");
	for (unsigned int i = 0; i < WATCHED_MS && clock_ns(CLOCK_MONOTONIC) < end; i++) {
		uint64_t begin = clock_ns(CLOCK_MONOTONIC), one;

		fresh[i * PAGE] = 1;
		one = clock_ns(CLOCK_MONOTONIC) - begin;
		took->sum += one;
		if (one > took->longest)
			took->longest = one;
		usleep(500);
	}
}

/*
 * Waking all who wait for one event may take long; then nobody is for ten times as long. Two of the
 * eleven are the interrupts' and the worker's, which may run in a fault's stead, once more each at
 * the beginning.
 */
Test(attack_signals, one_of_many_waiters_is_paid_for)
{
	struct took *took = perm_shared(sizeof(*took));
	pthread_t thread;
	pid_t user = fork_child();

	if (!user) {
		become_ordinary();
		signal(SIGIO, SIG_IGN);
		watched = event_try(each_fault());
		die_if(watched < 0 || fcntl(watched, F_SETOWN, getpid()) ||
		       fcntl(watched, F_SETFL, O_ASYNC), "open");
		for (unsigned int i = 0; i < POLLS; i++)
			die_if(pthread_create(&thread, NULL, wait_often, NULL), "thread");
		usleep(500000);
		die_if(ioctl(watched, PERF_EVENT_IOC_ENABLE, 0), "enable");
		take_faults(took);
		_exit(0);
	}
	perm_join(user);
	printf("faults took %lu ns of %u ms, one %lu ns\n", took->sum, WATCHED_MS, took->longest);
	cr_assert_gt(took->longest, 20000000);
	cr_assert_leq(took->sum, WATCHED_MS * 1000000ull * 2 / 11 + 2 * took->longest);
}

/* ---- Others ---- */

static volatile unsigned int got;

static void count_signal(int number)
{
	(void)number;
	got++;
}

/* A page each millisecond, and a signal for each */
static unsigned int signals_of_another(void)
{
	volatile char *fresh = mmap(NULL, OTHER_FAULTS * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd;

	die_if(fresh == MAP_FAILED || setuid(OTHER_USER), "begin");
	signal(SIGRTMIN, count_signal);
	raise(SIGRTMIN);
	fd = event_try(each_fault());
	die_if(fd < 0 || fcntl(fd, F_SETOWN, getpid()) || fcntl(fd, F_SETSIG, SIGRTMIN) ||
	       fcntl(fd, F_SETFL, O_ASYNC), "open");
	usleep(1000);
	got = 0;
	die_if(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "enable");
	for (unsigned int i = 0; i < OTHER_FAULTS; i++) {
		fresh[i * PAGE] = 1;
		usleep(1000);
	}
	die_if(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), "disable");
	return got;
}

/* It faults again and again, and many are signalled for that. */
static pid_t start_signalling(void)
{
	pid_t user = fork_child();

	if (user)
		return user;
	become_ordinary();
	make_group();
	open_all(SIGNALS);
	die_if(ioctl(raw_device(), PMUCTL_IOC_TASK_ENABLE), "enable");
	for (;;) {
		volatile char *fresh = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		*fresh = 1;
		munmap((void *)fresh, PAGE);
		usleep(500);
	}
}

/* What one has used of his share another does not lack. */
Test(attack_signals, another_user_gets_each_of_his)
{
	unsigned int *n = perm_shared(sizeof(*n));
	pid_t user = start_signalling(), other;

	sleep_ms(200);
	other = fork_child();
	if (!other) {
		*n = signals_of_another();
		_exit(0);
	}
	perm_join(other);
	kill(-user, SIGKILL);
	raw_reap(user);
	cr_assert_geq(*n, OTHER_FAULTS);
}
