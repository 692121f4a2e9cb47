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

/* What is told of a hook */
static void read_line(const char *name, char *line, size_t size)
{
	size_t length = strlen(name);
	bool found = false;
	FILE *f = fopen(HOOKS, "re");

	cr_assert_not_null(f, "%s: %m", HOOKS);
	while (!found && fgets(line, size, f))
		found = !strncmp(line, name, length) && line[length] == ':';
	fclose(f);
	cr_assert(found, "%s", name);
}

/* The number after a word of it */
static unsigned long number_of(const char *name, const char *word)
{
	char line[256];
	const char *at;

	read_line(name, line, sizeof(line));
	at = strstr(line, word);
	cr_assert_not_null(at, "%s: %s", line, word);
	return strtoul(at + strlen(word), NULL, 10);
}

static bool is_set(const char *name)
{
	char line[256];

	read_line(name, line, sizeof(line));
	return !strstr(line, "not set");
}

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
		unsigned long before = number_of(loops[i].line, "set "), set;
		double begin = now(), seconds;

		if (!loops[i].tracepoint)
			cr_assert_eq(setresuid(-1, RAW_USER, -1), 0);
		for (int n = 0; n < TIMES; n++)
			open_and_close(i);
		cr_assert_eq(setresuid(-1, 0, -1), 0);
		set = number_of(loops[i].line, "set ") - before;
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
	before = number_of("tracepoints", "set ");
	begin = now();
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < MANY; i++)
			close(event_open(attr, .tracepoint = names[i]));
		usleep(2000000);
	}
	set = number_of("tracepoints", "set ") - before;
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
Test(attack_hooks, nobody_waits_for_who_has_one_set)
{
	struct perf_event_attr faults = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN);
	struct perf_event_attr dummy = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	pid_t first, loops[LOOPS];

	faults.exclude_kernel = 1;
	pin_here(0);
	event_open(dummy);	/* the scheduler's is set */
	for (int round = 0; round < 8; round++) {
		while (is_set(FAULTS))
			usleep(100000);
		first = fork_child();
		if (!first) {
			be_idle();
			event_open(faults);
			_exit(0);
		}
		usleep(1000 * round);
		start_loops(loops);
		close(event_open(dummy));
		close(event_open(faults));
		for (int i = 0; i < LOOPS; i++)
			raw_reap(loops[i]);
		cr_assert_eq(waitpid(first, NULL, 0), first);
	}
}

/* It stays, but not for ever. */
Test(attack_hooks, they_go)
{
	open_and_close(0);
	while (is_set(FAULTS))
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
		while (is_set(FAULTS))
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

/* ---- Forks that outlast a hook ---- */

/* A fork of ours waits until that is told of, when it has copied the memory. Returns where. */
static int hold_up_forks(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_EVENT_FORK };
	struct uffdio_register area = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);

	cr_assert_geq(uffd, 0, "userfaultfd: %m");
	area.range.start = (uintptr_t)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	area.range.len = 4096;
	cr_assert_eq(ioctl(uffd, UFFDIO_API, &api), 0, "%m");
	cr_assert_eq(ioctl(uffd, UFFDIO_REGISTER, &area), 0, "%m");
	return uffd;
}

/* The child tells whether it may read counters. It has no copy of the descriptors, which would
 * keep the event.
 */
static void *fork_slowly(void *child)
{
	*(pid_t *)child = syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (!*(pid_t *)child)
		_exit(!counter_faults());
	return NULL;
}

/* Who forks while he may read counters has a child that may not, however long that takes. */
Test(attack_hooks, a_fork_that_outlasts_all_events_gives_no_right)
{
	struct pollfd forks = { .fd = hold_up_forks(), .events = POLLIN };
	struct perf_event_attr attr = event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	int fd = event_open(attr), status;
	user_page *page = page_map(fd);
	struct uffd_msg message;
	pthread_t thread;
	pid_t child;

	cr_assert_not(counter_faults());
	cr_assert_eq(pthread_create(&thread, NULL, fork_slowly, &child), 0);
	cr_assert_eq(poll(&forks, 1, -1), 1);
	page_unmap(page);
	close(fd);
	while (is_set("rights of forks"))
		usleep(100000);
	cr_assert_eq(read(forks.fd, &message, sizeof(message)), (ssize_t)sizeof(message));
	cr_assert_eq(message.event, UFFD_EVENT_FORK);
	pthread_join(thread, NULL);
	cr_assert_eq(waitpid(child, &status, 0), child, "%m");
	cr_expect_eq(status, 0, "%#x", status);
}

/* But not for longer than a process runs that might read */
Test(attack_hooks, forks_are_not_looked_at_for_ever)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	pid_t child = fork_child();

	if (!child) {
		page_map(event_open(attr));
		_exit(0);
	}
	cr_assert_eq(waitpid(child, NULL, 0), child);
	while (number_of("forks", "looked at for "))
		usleep(100000);
}

/* ---- Whom perf has left the right ---- */

/* Asked by a byte, it answers with another: whether it may. One comes unasked. */
static int stranger[2];

static void be_a_stranger(void)
{
	char byte = 0;

	do {
		die_if(write(stranger[1], &byte, 1) != 1, "write");
		if (read(stranger[1], &byte, 1) != 1)
			_exit(0);
		byte = !counter_faults();
	} while (true);
}

static bool stranger_may(void)
{
	char byte = 0;

	cr_assert_eq(write(stranger[0], &byte, 1), 1, "%m");
	cr_assert_eq(read(stranger[0], &byte, 1), 1, "%m");
	return byte;
}

/*
 * A child of a process that has read a counter of perf's on this CPU, which perf will clear there at
 * the next switch to one that may read. perf's event has gone.
 */
static void leave_a_stranger(void)
{
	struct perf_event_attr attr = instructions_u();
	char byte;
	pid_t reader, child;
	int status;

	while (number_of("forks", "looked at for "))
		usleep(100000);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stranger), 0, "%m");
	reader = fork();
	if (!reader) {
		int fd = perf_try(&attr, 0, -1);

		die_if(fd < 0, "perf's event");
		die_if(mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED, "mmap");
		child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
		if (!child) {
			close(fd);
			close(stranger[0]);
			be_a_stranger();
		}
		die_if(read(stranger[0], &byte, 1) != 1, "the child");
		wait_asleep(child);
		user_loop(1000000);
		_exit(0); /* and nobody has taken the right out of the child */
	}
	cr_assert_eq(waitpid(reader, &status, 0), reader);
	cr_assert_eq(status, 0, "%#x", status);
	close(stranger[1]);
}

Test(attack_hooks, a_child_of_a_reader_of_perf_may_not)
{
	leave_a_stranger();
	cr_expect(stranger_may(), "perf has not left it the right");
	event_open(instructions_u());
	cr_expect_not(stranger_may());
}

/* Not even once: with the right, perf would clear what counts now. */
Test(attack_hooks, nor_does_it_clear_what_counts)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t before;
	int fd;

	pin_here(0);
	leave_a_stranger();
	fd = event_open(attr, -1, 0);
	for (int i = 0; i < 4; i++) {
		user_loop(1000000);
		before = event_value(fd);
		cr_expect_not(stranger_may());
		cr_assert_geq(event_value(fd), before);
	}
}

static void let_read(const char *who)
{
	cr_assert_eq(raw_write_file("/sys/devices/cpu/rdpmc", who), 0);
}

static void let_readers(void)
{
	let_read("1");
}

/* Where the administrator lets everybody read, nobody loses that for a stranger's sake. */
Test(attack_hooks, others_may_still_if_everybody_may, .fini = let_readers)
{
	pid_t other;
	int status;

	let_read("2");
	leave_a_stranger();
	other = fork_child();
	if (!other) {
		pin_here(1);
		for (;;)
			counter_read(0);
	}
	sleep_ms(500);
	event_open(instructions_u());
	sleep_ms(500);
	cr_assert_eq(waitpid(other, &status, WNOHANG), 0, "%#x", status);
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
	unsigned long before = number_of(FAULTS, "missed "), missed;
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
	missed = number_of(FAULTS, "missed ") - before;
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
	cr_assert_geq(number_of(FAULTS, "missed ") - before, missed);
}
