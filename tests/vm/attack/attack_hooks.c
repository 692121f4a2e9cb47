// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks that are set for the whole machine, in the name of any user: opening and closing in a
 * loop does not set and drop them each time; and what the probe of page faults misses is told.
 */
#include "bound.h"
#include "hooks.h"
#include "loops.h"
#include "perm.h"
#include "soft.h"
#include "userpage.h"

#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define TIMES	300
/* The least between two times at which one is set, in seconds; the timer may be a tick early */
#define LINGER	0.9

TestSuite(attack_hooks, .timeout = 300);

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

#define FAULTS	"minor-faults and major-faults"

/* What any user can have; tracepoints are opened by root, as few may. */
static const struct {
	const char *name, *tracepoint, *line;
	uint32_t type;
	uint64_t config;
	bool mmap, bpf_event;
} loops[] = {
	{ "minor-faults:u", NULL, FAULTS, PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_PAGE_FAULTS_MIN, false, false },
	{ "major-faults:u", NULL, FAULTS, PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_PAGE_FAULTS_MAJ, false, false },
	{ "page-faults:u", NULL, "page-faults", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_PAGE_FAULTS, false, false },
	{ "dummy:u", NULL, "scheduler", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_DUMMY, false, false },
	{ "dummy:u with mappings", NULL, "mappings", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_DUMMY, true, false },
	{ "dummy:u with BPF programs", NULL, "BPF programs", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_DUMMY, false, true },
	{ "a tracepoint", "sched:sched_wakeup", "tracepoints",
	  PERF_TYPE_TRACEPOINT, 0, false, false },
};

static void open_and_close(size_t i)
{
	union raw_attr a = raw_attr(loops[i].type, loops[i].config);

	a.attr.exclude_kernel = !loops[i].tracepoint;
	a.attr.mmap = loops[i].mmap;
	a.attr.bpf_event = loops[i].bpf_event;
	close(event_open(a, .tracepoint = loops[i].tracepoint));
}

Test(attack_hooks, a_loop_does_not_set_them_each_time)
{
	for (size_t i = 0; i < RAW_ARRAY_SIZE(loops); i++) {
		unsigned long before = hooks_number_of(loops[i].line, "set "), set;
		double begin = now(), seconds;

		if (!loops[i].tracepoint)
			cr_assert_eq(setresuid(-1, RAW_USER, -1), 0);
		for (int n = 0; n < TIMES; n++)
			open_and_close(i);
		cr_assert_eq(setresuid(-1, 0, -1), 0);
		set = hooks_number_of(loops[i].line, "set ") - before;
		seconds = now() - begin;
		cr_assert_leq(set, 1 + seconds / LINGER, "%s: set %lu times in %f s",
			      loops[i].name, set, seconds);
	}
}

/* ---- Many hooks ---- */

#define MANY		100
#define ROUNDS		5
/* So many are dropped in a second, and may be set again, however many there are. */
#define PER_SECOND	16

/* The names of some tracepoints */
static void find_names(char names[MANY][64])
{
	unsigned int n = 0;
	FILE *list;

	mkdir("/tmp/tracefs", 0700);
	cr_assert_eq(system("mount -t tracefs none /tmp/tracefs"), 0);
	list = fopen("/tmp/tracefs/available_events", "re");
	cr_assert_not_null(list, "%m");
	while (n < MANY && fscanf(list, "%63s", names[n]) == 1) {
		struct perf_event_attr attr = event_attr(PERF_TYPE_TRACEPOINT, 0);
		int fd = event_try(attr, .tracepoint = names[n]);

		if (fd < 0)
			continue;
		close(fd);
		n++;
	}
	fclose(list);
	cr_assert_eq(system("umount /tmp/tracefs"), 0);
	cr_assert_eq(n, MANY, "%u tracepoints", n);
}

/* A limit for the whole machine, not for each. */
Test(attack_hooks, many_are_not_set_again_and_again_either)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_TRACEPOINT, 0);
	static char names[MANY][64];
	unsigned long before, set;
	double begin, seconds;

	find_names(names);
	before = hooks_number_of("tracepoints", "set ");
	begin = now();
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < MANY; i++)
			close(event_open(attr, .tracepoint = names[i]));
		usleep(2000000);
	}
	set = hooks_number_of("tracepoints", "set ") - before;
	seconds = now() - begin;
	printf("%u tracepoints opened %u times, set %lu times in %f s\n", MANY, ROUNDS, set,
	       seconds);
	cr_assert_leq(set, MANY + (1 + seconds) * PER_SECOND / LINGER, "%lu times in %f s", set,
		      seconds);
}

/* ---- Who waits ---- */

#define LOOPS	40

/* Gets no time as soon as others want it */
static void be_idle(void)
{
	const struct sched_param none = { 0 };

	pin_here(1);
	die_if(sched_setscheduler(0, SCHED_IDLE, &none), "SCHED_IDLE");
}

/* In one go: when they run, who is idle does not any more. */
static void start_loops(pid_t loops[LOOPS])
{
	for (int i = 0; i < LOOPS; i++) {
		loops[i] = fork_child();
		if (!loops[i]) {
			pin_here(1);
			for (;;)
				;
		}
	}
}

/* Neither who needs that hook, nor who needs another one: the first user may never go on. */
static pid_t start_opening(struct perf_event_attr attr)
{
	pid_t pid = fork_child();

	if (!pid) {
		close(event_open(attr));
		_exit(0);
	}
	return pid;
}

static bool ends_within(pid_t pid, double seconds)
{
	double begin = now();

	while (!waitpid(pid, NULL, WNOHANG)) {
		if (now() - begin > seconds)
			return false;
		usleep(1000);
	}
	return true;
}

enum turn { WENT_ON, WAITED, NOTHING_GOES_ON };

/*
 * Does one go on who wants what the idle one has set? If somebody who wants nothing of the kind
 * does not either, then the idle one has lost its CPU with a lock that each open takes, as it
 * can where the kernel is preempted: then this says nothing about hooks. @left: whom to wait for.
 */
static enum turn open_beside_idle(struct perf_event_attr hook, pid_t left[2])
{
	struct perf_event_attr dummy = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	const double long_enough = is_slow_kernel() ? 10 : 4;

	left[0] = start_opening(hook);
	left[1] = -1;
	if (ends_within(left[0], long_enough))
		return WENT_ON;
	left[1] = start_opening(dummy);
	if (!ends_within(left[1], long_enough))
		return NOTHING_GOES_ON;
	return ends_within(left[0], long_enough) ? WENT_ON : WAITED;
}

/* Takes a page-fault event beside loops, from the beginning as an idle task or not. */
static pid_t start_first(bool idle)
{
	struct perf_event_attr faults = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN);
	pid_t first = fork_child();

	if (first)
		return first;
	if (idle)
		be_idle();
	pin_here(1);
	faults.exclude_kernel = 1;
	event_open(faults);
	_exit(0);
}

static void end_round(pid_t first, const pid_t loops[LOOPS], const pid_t left[2])
{
	for (int i = 0; i < LOOPS; i++)
		raw_reap(loops[i]);
	for (int i = 0; i < 2; i++)
		if (left[i] > 0)
			waitpid(left[i], NULL, 0);
	cr_assert_eq(waitpid(first, NULL, 0), first);
}

static void check_turns(const unsigned int turns[3])
{
	printf("%u went on, %u waited, %u times nobody did anything\n", turns[WENT_ON], turns[WAITED],
	       turns[NOTHING_GOES_ON]);
	cr_assert_eq(turns[WAITED], 0);
	if (!is_slow_kernel())
		cr_assert_gt(turns[WENT_ON], 0);
}

/* One may take half a minute in a kernel that is slow. */
static int nr_turns(void)
{
	return is_slow_kernel() ? 3 : 8;
}

Test(attack_hooks, nobody_waits_for_who_has_one_set, .timeout = 600)
{
	struct perf_event_attr faults = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN);
	struct perf_event_attr dummy = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	pid_t first, loops[LOOPS], left[2];
	unsigned int turns[3] = { 0 };

	faults.exclude_kernel = 1;
	pin_here(0);
	event_open(dummy);	/* the scheduler's is set */
	for (int round = 0; round < nr_turns(); round++) {
		while (hooks_is_set(FAULTS))
			usleep(100000);
		first = start_first(true);
		usleep(1000 * round);
		start_loops(loops);
		turns[open_beside_idle(faults, left)]++;
		end_round(first, loops, left);
	}
	check_turns(turns);
}

/* As start_loops(), but they wait until @go is closed. */
static void prepare_loops(pid_t loops[LOOPS], int *go)
{
	int ends[2];
	char none;

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	for (int i = 0; i < LOOPS; i++) {
		loops[i] = fork_child();
		if (loops[i])
			continue;
		pin_here(1);
		close(ends[1]);
		(void)!read(ends[0], &none, 1);
		for (;;)
			;
	}
	close(ends[0]);
	*go = ends[1];
}

/* Until it sleeps in its open, for its probe most likely; false if it has ended */
static bool await_sleep(pid_t pid)
{
	char path[32], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'D' && state != 'Z') {
		f = fopen(path, "re");
		cr_assert_not_null(f, "%m");
		cr_assert_eq(fscanf(f, "%*d %*s %c", &state), 1);
		fclose(f);
	}
	return state == 'D';
}

/*
 * Nor for who waits for it, too, and gets no time from then on. It waits while it is set, or, a
 * second after the last one was closed, while it is dropped.
 */
Test(attack_hooks, nobody_waits_for_who_waits, .timeout = 600)
{
	struct perf_event_attr faults = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN);
	struct perf_event_attr dummy = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	const struct sched_param none = { 0 };
	pid_t first, loops[LOOPS], left[2];
	unsigned int turns[3] = { 0 }, waited = 0;
	int go;

	faults.exclude_kernel = 1;
	pin_here(0);
	event_open(dummy);
	for (int round = 0; round < nr_turns(); round++) {
		while (hooks_is_set(FAULTS))
			usleep(100000);
		prepare_loops(loops, &go);
		if (round % 3) {
			close(event_open(faults));
			usleep(1000000 - 8000 + 3000 * round);
		}
		first = start_first(false);
		if (await_sleep(first)) {
			waited++;
			sched_setscheduler(first, SCHED_IDLE, &none);
		}
		close(go);
		turns[open_beside_idle(faults, left)]++;
		end_round(first, loops, left);
	}
	printf("%u times somebody slept\n", waited);
	check_turns(turns);
}

/* It stays, but not for ever. */
Test(attack_hooks, they_go)
{
	open_and_close(0);
	while (hooks_is_set(FAULTS))
		usleep(100000);
}

#define WANT_ONE	64

static void *open_when_all_do(void *all_ready)
{
	pthread_barrier_wait(all_ready);
	open_and_close(0);
	return NULL;
}

/* One sets it, and the others wait: each is woken by the one before. */
Test(attack_hooks, many_who_want_one_get_it)
{
	pthread_t threads[WANT_ONE];
	pthread_barrier_t ready;

	for (int round = 0; round < 3; round++) {
		while (hooks_is_set(FAULTS))
			usleep(100000);
		cr_assert_eq(pthread_barrier_init(&ready, NULL, WANT_ONE), 0);
		for (int i = 0; i < WANT_ONE; i++)
			cr_assert_eq(pthread_create(&threads[i], NULL, open_when_all_do, &ready),
				     0);
		for (int i = 0; i < WANT_ONE; i++)
			pthread_join(threads[i], NULL);
		pthread_barrier_destroy(&ready);
	}
}

/* And is set again: what lingers, and what has gone, count as they should. */
Test(attack_hooks, what_lingers_counts)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN);
	const size_t pages = 100;

	attr.exclude_kernel = 1;
	for (int round = 0; round < 3; round++) {
		uint8_t *memory = fresh_pages(pages);
		uint64_t before;
		int fd;

		fd = event_open(attr);
		before = event_value(fd);
		touch_pages(memory, pages);
		cr_assert_geq(event_value(fd), before + pages);
		munmap(memory, pages * 4096);
		close(fd);
	}
}

/* ---- Misses ---- */

#define PARKED	600	/* tasks in a page fault at once; the probe can follow 512 */
#define STACK	(16 << 10)

static char *parking;

static void *park(void *number)
{
	((volatile char *)parking)[(size_t)number * 4096] = 1;
	return NULL;
}

static void register_parking(int uffd)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = {
		.range = { .start = (uintptr_t)parking, .len = PARKED * 4096ul },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &area))
		_exit(3);
}

/* All wait for pages that nobody gives them, and end when this process does. */
static void park_all(void)
{
	pthread_attr_t small;
	struct uffd_msg message;
	pthread_t thread;
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);

	parking = mmap(NULL, PARKED * 4096ul, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	if (uffd < 0 || parking == MAP_FAILED)
		_exit(2);
	register_parking(uffd);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK);
	for (size_t i = 0; i < PARKED; i++)
		if (pthread_create(&thread, &small, park, (void *)i))
			_exit(4);
	for (size_t i = 0; i < PARKED;) {
		if (read(uffd, &message, sizeof(message)) != sizeof(message))
			_exit(5);
		i += message.event == UFFD_EVENT_PAGEFAULT;
	}
}

static void miss_some(void)
{
	pid_t pid = fork_child();

	if (!pid) {
		park_all();
		_exit(0);
	}
	perm_join(pid);
}

/* What a read of the event says was lost of it */
static uint64_t lost_of(int fd)
{
	uint64_t value[2];

	cr_assert_eq(read(fd, value, sizeof(value)), (ssize_t)sizeof(value), "%m");
	return value[1];
}

static int open_faults(uint64_t config, bool inherit, pid_t pid)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, config);

	attr.read_format = PERF_FORMAT_LOST;
	attr.exclude_kernel = 1;
	attr.inherit = inherit;
	return event_open(attr, pid);
}

/* To maintainers, and to every reader of what they were missed by */
Test(attack_hooks, faults_that_are_missed_are_told)
{
	unsigned long before = hooks_number_of(FAULTS, "missed "), missed;
	const int fds[] = {
		open_faults(PERF_COUNT_SW_PAGE_FAULTS_MIN, false, 0),
		open_faults(PERF_COUNT_SW_PAGE_FAULTS_MAJ, false, 0),
		open_faults(PERF_COUNT_SW_PAGE_FAULTS_MIN, true, 0),
		open_faults(PERF_COUNT_SW_PAGE_FAULTS_MIN, false, -1),
	};
	int all = open_faults(PERF_COUNT_SW_PAGE_FAULTS, false, 0), late;

	for (size_t i = 0; i < RAW_ARRAY_SIZE(fds); i++)
		cr_assert_eq(lost_of(fds[i]), 0);
	miss_some();
	missed = hooks_number_of(FAULTS, "missed ") - before;
	cr_assert_geq(missed, PARKED - 512, "%lu", missed);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(fds); i++)
		cr_expect_eq(lost_of(fds[i]), missed, "%zu: %lu, not %lu", i,
			     (unsigned long)lost_of(fds[i]), missed);

	/* Not to those who did not miss them */
	cr_expect_eq(lost_of(all), 0);
	late = open_faults(PERF_COUNT_SW_PAGE_FAULTS_MIN, false, 0);
	cr_expect_eq(lost_of(late), 0);
	close(late);
	close(all);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(fds); i++)
		close(fds[i]);
	/* Also when the probe has gone meanwhile */
	cr_assert_geq(hooks_number_of(FAULTS, "missed ") - before, missed);
}
