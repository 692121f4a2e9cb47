// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ordinary user has the kernel wake whoever waits for many outputs of few buffers, each watched
 * by many: workers do so at nobody's cost, and interrupts while others wait for the CPU.
 */
#include "bound.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>

#define CONTEXT_MAX	450	/* outputs of events of one task */
#define TRIES		5
#define WOKEN_MS	20000	/* Who is not woken by then never is. */

/**
 * struct crowd - who waits for what
 * @buffers: rings, into which a clock writes ten thousand times a second.
 * @outputs: of each buffer.
 * @watchers: of each output.
 * @move: each output is taken from its buffer, and back to it, all the time.
 */
struct crowd {
	unsigned int buffers, outputs, watchers;
	bool move;
};

static void watch(const int *watchers, unsigned int n, int fd)
{
	struct epoll_event what = { .events = EPOLLIN | EPOLLET };

	for (unsigned int i = 0; i < n; i++)
		die_if(epoll_ctl(watchers[i], EPOLL_CTL_ADD, fd, &what), "epoll_ctl");
}

/* The task that the next outputs are of: no one task may have so many events. */
static pid_t next_task(unsigned int made)
{
	static pid_t task;

	if (made % CONTEXT_MAX == 0) {
		task = fork_child();
		if (!task) {
			close_range(0, ~0u, 0);
			for (;;)
				pause();
		}
	}
	return task;
}

/* The clocks, one for each buffer */
static int clocks[60];

/* Opens all of it, for a task; returns the last output. Nobody reads what comes. */
static int gather(const struct crowd *crowd, pid_t task)
{
	struct perf_event_attr clock = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	int *watchers = calloc(crowd->watchers + 1, sizeof(*watchers));
	int last = -1;

	clock.sample_period = 100000;
	clock.wakeup_events = 1;
	clock.exclude_kernel = 1;
	clock.disabled = 1;
	for (unsigned int i = 0; i < crowd->watchers; i++)
		watchers[i] = epoll_create1(0);
	for (unsigned int i = 0; i < crowd->buffers; i++) {
		int fd = event_try(clock, task);

		die_if(fd < 0, "the clock");
		clocks[i] = fd;
		die_if(mmap(NULL, 2 * 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED, "mmap");
		for (unsigned int j = 0; j < crowd->outputs; j++) {
			last = event_try(dummy(), next_task(i * crowd->outputs + j));
			die_if(last < 0, "an output");
			die_if(ioctl(last, PERF_EVENT_IOC_SET_OUTPUT, fd), "set_output");
			watch(watchers, crowd->watchers, last);
		}
	}
	return last;
}

static void go(const struct crowd *crowd)
{
	for (unsigned int i = 0; i < crowd->buffers; i++)
		die_if(ioctl(clocks[i], PERF_EVENT_IOC_ENABLE, 0), "enable");
}

/* Take the outputs of the first buffer from it, and back to it; @last is the last of all. */
static void move_outputs(const struct crowd *crowd, int last)
{
	for (int fd = last + 1 - (int)crowd->outputs; crowd->move && fd <= last; fd++) {
		ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, -1);
		ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, clocks[0]);
	}
}

/* The user's process on CPU 0, with all of it open: once it is let go it runs all the time. */
static pid_t start(const struct crowd *crowd, int *link)
{
	struct rlimit files = { 60000, 60000 };
	int pair[2], last;
	pid_t user;

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	user = fork_child();
	if (!user) {
		setpgid(0, 0);
		pin_here(0);
		become_ordinary();
		last = gather(crowd, 0);
		tell(pair[1], getpid());
		await(pair[1]);
		go(crowd);
		for (;;)
			move_outputs(crowd, last);
	}
	close(pair[1]);
	hear(pair[0]);
	*link = pair[0];
	return user;
}

static void stop(pid_t user, int link)
{
	kill(-user, SIGKILL);
	raw_reap(user);
	close(link);
}

/* ---- Workers ---- */

static bool is_worker(const char *pid)
{
	char path[64], name[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.16s/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return !strncmp(name, "kworker/u", 9);
}

/* ns for which all workers that are bound to no CPU have run */
static uint64_t workers_ran(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	uint64_t sum = 0, ns;
	char path[64];
	FILE *file;

	cr_assert_not_null(proc);
	while ((entry = readdir(proc))) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !is_worker(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/schedstat", entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fscanf(file, "%lu", &ns) == 1)
			sum += ns;
		fclose(file);
	}
	closedir(proc);
	return sum;
}

/* How long they run in that of three seconds, with a crowd */
static double share_of_workers(const struct crowd *crowd)
{
	uint64_t ran, begin, took;
	pid_t user;
	int link;

	user = start(crowd, &link);
	pin_here(1);
	let_go(link);
	sleep(1);
	ran = workers_ran();
	begin = clock_ns(CLOCK_MONOTONIC);
	sleep(3);
	ran = workers_ran() - ran;
	took = clock_ns(CLOCK_MONOTONIC) - begin;
	stop(user, link);
	printf("workers ran for %lu of %lu ms\n", ran / 1000000, took / 1000000);
	return (double)ran / took;
}

/*
 * An eleventh of a CPU is theirs, where all of one was, as each buffer had a worker. The host may
 * stop the guest in the midst of any measure, but not of each.
 */
Test(attack_wakes, workers_take_a_small_share)
{
	const struct crowd crowd = { .buffers = 60, .outputs = 100, .watchers = 4 };
	double share = 1;

	for (int i = 0; i < TRIES && share > 0.5; i++)
		share = share_of_workers(&crowd);
	cr_expect_lt(share, 0.5);
}

/*
 * Nor is a pass over the outputs endless, where they go and come again before it: the one that is
 * mapped stays.
 */
Test(attack_wakes, workers_do_not_run_after_those_that_move)
{
	const struct crowd crowd = { .buffers = 1, .outputs = 100, .watchers = 500, .move = true };
	double share = 1;

	for (int i = 0; i < TRIES && share > 0.5; i++)
		share = share_of_workers(&crowd);
	cr_expect_lt(share, 0.5);
}

/* ---- Who waits ---- */

/* Waits for one of many outputs, five times; the status with which the process of @uid ends. */
static int wait_for_one_of_many(uid_t uid, unsigned int outputs)
{
	const struct crowd crowd = { .buffers = 1, .outputs = outputs };
	pid_t user, busy;
	int status, fd;

	user = fork_child();
	if (!user) {
		setpgid(0, 0);
		die_if(raw_become(uid), "setresuid");
		die_if(prctl(PR_SET_DUMPABLE, 1), "prctl");
		busy = fork_child();
		if (!busy)
			for (;;)
				;
		fd = gather(&crowd, busy);
		go(&crowd);
		for (int i = 0; i < 5; i++)
			die_if(!is_woken(fd, WOKEN_MS), "not woken");
		_exit(0);
	}
	cr_assert_eq(waitpid(user, &status, 0), user);
	kill(-user, SIGKILL);
	return status;
}

static void allow_many(void)
{
	struct rlimit files = { 60000, 60000 }, memory = { 32 << 20, 32 << 20 };

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &memory), 0);
}

/* However many there are, all are woken. */
Test(attack_wakes, who_waits_for_one_of_many_is_woken)
{
	allow_many();
	cr_expect_eq(wait_for_one_of_many(RAW_USER, 2000), 0);
}

/* Waits for an output; returns whether somebody has woken it. */
static void *wait_for(void *output)
{
	return is_woken(*(int *)output, WOKEN_MS) ? output : NULL;
}

/*
 * One record, of which @last, the last of all outputs, is told, while others are closed: those
 * from @from on. Who polls takes it from others who do: this one looks at the ring.
 */
static void wake_and_close(const struct perf_event_mmap_page *ring, int last, int from, int n)
{
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	pthread_t waiter;
	void *woken;

	poll(&(struct pollfd){ .fd = last, .events = POLLIN }, 1, 0);
	die_if(pthread_create(&waiter, NULL, wait_for, &last), "a thread");
	usleep(100000);
	die_if(ioctl(clocks[0], PERF_EVENT_IOC_REFRESH, 1), "refresh");
	while (__atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE) == head)
		;
	for (int fd = from; fd < from + n; fd++)
		close(fd);
	die_if(pthread_join(waiter, &woken) || !woken, "not woken");
}

/* Descriptors are in the order in which they were opened: the outputs are the last. */
Test(attack_wakes, who_waits_is_woken_while_others_are_closed)
{
	const struct crowd crowd = { .buffers = 1, .outputs = 2000, .watchers = 4 };
	const struct perf_event_mmap_page *ring;
	pid_t user, busy;
	int status, last;

	allow_many();
	user = fork_child();
	if (!user) {
		setpgid(0, 0);
		become_ordinary();
		pin_here(0);
		busy = fork_child();
		if (!busy)
			for (;;)
				;
		pin_here(1);
		last = gather(&crowd, busy);
		ring = mmap(NULL, 2 * 4096, PROT_READ, MAP_SHARED, clocks[0], 0);
		die_if(ring == MAP_FAILED, "mmap");
		for (int i = 0; i < 6; i++)
			wake_and_close(ring, last, last - 1999 + 300 * i, 300);
		_exit(0);
	}
	cr_assert_eq(waitpid(user, &status, 0), user);
	kill(-user, SIGKILL);
	cr_expect_eq(status, 0);
}

/* ---- Who frees ---- */

#define MAPPERS		10
#define MAPS		450

/* Maps as many buffers, and unmaps all of them at once when it is let go. */
static void map_many(int link)
{
	char *room = mmap(NULL, MAPS * 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	die_if(room == MAP_FAILED, "room");
	for (int i = 0; i < MAPS; i++) {
		int fd = event_try(dummy(), 0);

		die_if(fd < 0, "an event");
		die_if(mmap(room + i * 8192, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			    0) == MAP_FAILED, "a buffer");
	}
	tell(link, 0);
	await(link);
	munmap(room, MAPS * 8192);
	tell(link, 0);
	_exit(0);
}

/* A worker wakes for one buffer of the user's, all the time, while his others are freed. */
static void free_many(void)
{
	const struct crowd crowd = { .buffers = 1, .outputs = 100 };
	int links[MAPPERS][2];
	pid_t busy;

	for (int i = 0; i < MAPPERS; i++) {
		die_if(socketpair(AF_UNIX, SOCK_STREAM, 0, links[i]), "socketpair");
		if (!fork_child())
			map_many(links[i][1]);
	}
	for (int i = 0; i < MAPPERS; i++)
		await(links[i][0]);
	busy = fork_child();
	if (!busy)
		for (;;)
			;
	gather(&crowd, busy);
	go(&crowd);
	usleep(300000);
	for (int i = 0; i < MAPPERS; i++)
		tell(links[i][0], 0);
	for (int i = 0; i < MAPPERS; i++)
		await(links[i][0]);
	sleep(1);
}

/* Workers that freed buffers waited for one that had no room beside them, for ever. */
Test(attack_wakes, who_frees_waits_for_no_worker)
{
	pid_t user;
	int status;

	allow_many();
	user = fork_child();
	if (!user) {
		setpgid(0, 0);
		become_ordinary();
		free_many();
		_exit(0);
	}
	cr_assert_eq(waitpid(user, &status, 0), user);
	kill(-user, SIGKILL);
	cr_assert_eq(status, 0);
	cr_expect_eq(wait_for_one_of_many(RAW_OTHER_USER, 100), 0);
}

/* ---- Interrupts ---- */

/* How often a task that comes before all others sleeps for a millisecond in a second */
static unsigned int naps(void)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	unsigned int n = 0;

	while (clock_ns(CLOCK_MONOTONIC) - begin < 1000000000) {
		usleep(1000);
		n++;
	}
	return n;
}

/*
 * While both CPUs have something to do: of one that is idle a busy host takes less than of one with
 * a crowd.
 */
static unsigned int naps_beside_loops(void)
{
	pid_t loops[] = { fork_child(), 0 };
	unsigned int n;

	if (loops[0])
		loops[1] = fork_child();
	if (!loops[0] || !loops[1]) {
		sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
		pin_here(!!loops[0]);
		for (;;)
			;
	}
	n = naps();
	raw_reap(loops[0]);
	raw_reap(loops[1]);
	return n;
}

/* The share of its naps that is left with a crowd on the same CPU */
static double share_of_naps(const struct crowd *crowd)
{
	struct sched_param first = { .sched_priority = 50 };
	unsigned int before, meanwhile;
	pid_t user;
	int link;

	user = start(crowd, &link);
	pin_here(0);
	cr_assert_eq(sched_setscheduler(0, SCHED_FIFO, &first), 0);
	before = naps_beside_loops();
	let_go(link);
	usleep(500000);
	meanwhile = naps();
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
	stop(user, link);
	printf("%u naps before, %u meanwhile\n", before, meanwhile);
	return (double)meanwhile / before;
}

/* With the thousand watchers of all outputs woken in the interrupt, a fourteenth was left. */
Test(attack_wakes, interrupts_wake_for_a_moment)
{
	const struct crowd crowd = { .buffers = 1, .outputs = 60, .watchers = 1000 };
	double share = 0;

	for (int i = 0; i < TRIES && share < 0.25; i++)
		share = share_of_naps(&crowd);
	cr_expect_geq(share, 0.25);
}
