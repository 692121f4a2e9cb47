// SPDX-License-Identifier: GPL-2.0-only
/*
 * Software events that count: no PMU is needed. Page faults are caused one by one; what
 * a task does otherwise is compared to what the kernel itself says of it. All of it is true of
 * perf's events too.
 */
#include "soft.h"

#include <sys/resource.h>

#define PAGES	37u
#define MS	1000000ull

TestSuite(soft_count, .init = sampling_init, .fini = sampling_fini);

/* ---- Page faults ---- */

Test(soft_count, page_faults_are_those_that_happen)
{
	int all = event_open(soft_attr(PERF_COUNT_SW_PAGE_FAULTS));
	int minor = event_open(soft_attr(PERF_COUNT_SW_PAGE_FAULTS_MIN));
	int major = event_open(soft_attr(PERF_COUNT_SW_PAGE_FAULTS_MAJ));

	for (unsigned int i = 1; i <= 3; i++) {
		cr_expect_eq(count_touches(all, i * PAGES, false), i * PAGES);
		cr_expect_eq(count_touches(minor, i * PAGES, false), i * PAGES);
		cr_expect_eq(count_touches(major, i * PAGES, false), 0);
		cr_expect_eq(count_touches(all, i * PAGES, true), i * PAGES);
		cr_expect_eq(count_touches(minor, i * PAGES, true), i * PAGES);
	}
}

/* Where the CPU was matters then. */
Test(soft_count, page_faults_of_user_mode_or_of_the_kernel)
{
	static const uint64_t configs[] = { PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_PAGE_FAULTS_MIN };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(configs); i++) {
		struct perf_event_attr user = soft_attr(configs[i]), kernel = user;
		int fd;

		user.exclude_kernel = 1;
		fd = event_open(user);
		cr_expect_eq(count_touches(fd, PAGES, false), PAGES);
		cr_expect_eq(count_touches(fd, PAGES, true), 0);
		kernel.exclude_user = 1;
		fd = event_open(kernel);
		cr_expect_eq(count_touches(fd, PAGES, false), 0);
		cr_expect_eq(count_touches(fd, PAGES, true), PAGES);
	}
}

Test(soft_count, page_faults_equal_those_of_getrusage)
{
	int fd = event_open(soft_attr(PERF_COUNT_SW_PAGE_FAULTS));
	uint8_t *map = fresh_pages(PAGES);
	struct rusage before, after;
	uint64_t count;

	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	getrusage(RUSAGE_THREAD, &after);
	count = sampling_value(fd);
	getrusage(RUSAGE_THREAD, &before);
	count = sampling_value(fd);
	touch_pages(map, PAGES);
	getrusage(RUSAGE_THREAD, &after);
	count = sampling_value(fd) - count;
	cr_expect_eq(count, (uint64_t)(after.ru_minflt - before.ru_minflt +
				       after.ru_majflt - before.ru_majflt));
}

/* ---- Switches and migrations ---- */

Test(soft_count, switches_are_those_of_the_tasks_status)
{
	struct perf_event_attr attr = soft_attr(PERF_COUNT_SW_CONTEXT_SWITCHES);
	struct worker w;
	uint64_t before;
	int fd;

	attr.disabled = 0;
	worker_start(&w, false);
	fd = event_open(attr, w.tid);
	for (int round = 0; round < 5; round++) {
		before = task_switches(w.tid) - sampling_value(fd);
		for (int i = 0; i < 20; i++)
			worker_run(&w, 1000);
		cr_expect_eq(task_switches(w.tid) - sampling_value(fd), before);
	}
	cr_expect_geq(sampling_value(fd), 100);
	worker_end(&w);
}

Test(soft_count, migrations_are_those_that_the_scheduler_counts)
{
	struct perf_event_attr attr = soft_attr(PERF_COUNT_SW_CPU_MIGRATIONS);
	struct worker w;
	uint64_t before;
	int fd;

	attr.disabled = 0;
	worker_start(&w, false);
	pin_task(w.tid, 0);
	worker_run(&w, 1000);
	fd = event_open(attr, w.tid);
	before = task_migrations(w.tid);
	for (int i = 1; i <= 20; i++) {
		pin_task(w.tid, i & 1);
		worker_run(&w, 1000);
	}
	cr_expect_eq(sampling_value(fd), task_migrations(w.tid) - before);
	cr_expect_eq(sampling_value(fd), 20);
	worker_end(&w);
}

Test(soft_count, migrations_while_it_is_disabled_do_not_count)
{
	int fd = event_open(soft_attr(PERF_COUNT_SW_CPU_MIGRATIONS));

	for (int i = 0; i < 20; i++) {
		pin_here(i & 1);
		if (i == 10)
			event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		if (i == 14)
			event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	}
	cr_expect_eq(sampling_value(fd), 4);
}

/* Both happen in the kernel. */
Test(soft_count, switches_of_user_mode_do_not_exist)
{
	static const uint64_t configs[] = { PERF_COUNT_SW_CONTEXT_SWITCHES,
		PERF_COUNT_SW_CPU_MIGRATIONS };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(configs); i++) {
		struct perf_event_attr attr = soft_attr(configs[i]);
		int fd;

		attr.exclude_kernel = 1;
		attr.disabled = 0;
		fd = event_open(attr);
		for (int k = 0; k < 6; k++) {
			pin_here(k & 1);
			sleep_ms(1);
		}
		cr_expect_eq(sampling_value(fd), 0);
	}
}

/* ---- Clocks ---- */

/* How far the clock is from the kernel's own after some work, in millionths */
static uint64_t clock_error(int fd, clockid_t clock)
{
	uint64_t before, kernels, counted;

	before = sampling_value(fd);
	kernels = clock_ns(clock);
	do {
		user_loop(1000000);
	} while (clock_ns(clock) - kernels < 50 * MS);
	/* In the order of above: what lies between the two is in neither or in both. */
	counted = sampling_value(fd) - before;
	kernels = clock_ns(clock) - kernels;
	return (counted > kernels ? counted - kernels : kernels - counted) *
		1000000 / kernels;
}

static void check_clock(uint64_t config, pid_t pid, int cpu, clockid_t clock,
			uint64_t most)
{
	struct perf_event_attr attr = soft_attr(config);
	uint64_t error, least = UINT64_MAX;
	int fd;

	attr.disabled = 0;
	fd = event_open(attr, pid, cpu);
	for (int i = 0; i < 100 && least > most; i++) {
		error = clock_error(fd, clock);
		least = error < least ? error : least;
	}
	cr_expect_leq(least, most, "clock %lu is wrong by %lu millionths", config,
		      least);
	close(fd);
}

Test(soft_count, clocks_of_a_task_are_its_time_on_cpus)
{
	check_clock(PERF_COUNT_SW_TASK_CLOCK, 0, -1, CLOCK_THREAD_CPUTIME_ID, 1000);
	check_clock(PERF_COUNT_SW_CPU_CLOCK, 0, -1, CLOCK_THREAD_CPUTIME_ID, 1000);
}

/* The kernel measures how fast its two clocks are, each by itself. */
Test(soft_count, clocks_of_a_cpu_are_all_time)
{
	check_clock(PERF_COUNT_SW_CPU_CLOCK, -1, 0, CLOCK_MONOTONIC, 10000);
	check_clock(PERF_COUNT_SW_TASK_CLOCK, -1, 1, CLOCK_MONOTONIC, 10000);
}

Test(soft_count, clocks_stand_still_while_the_task_sleeps)
{
	int fd = event_open(soft_attr(PERF_COUNT_SW_TASK_CLOCK));
	uint64_t before, wall, least = UINT64_MAX;

	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 100 && least > 10 * MS; i++) {
		wall = clock_ns(CLOCK_MONOTONIC);
		before = sampling_value(fd);
		sleep_ms(50);
		before = sampling_value(fd) - before;
		cr_assert_leq(before, clock_ns(CLOCK_MONOTONIC) - wall);
		least = before < least ? before : least;
	}
	cr_expect_leq(least, 10 * MS);
}

/* ---- Nothing ---- */

Test(soft_count, what_never_happens_is_counted_as_nothing)
{
	static const uint64_t configs[] = { PERF_COUNT_SW_DUMMY,
		PERF_COUNT_SW_ALIGNMENT_FAULTS, PERF_COUNT_SW_EMULATION_FAULTS };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(configs); i++) {
		AUTO_CLOSE int fd = event_open(soft_attr(configs[i]));

		cr_expect_eq(count_touches(fd, PAGES, false), 0);
	}
}

/* ---- CPUs ---- */

/* Others may add something, so the least of some tries is judged. */
static uint64_t least_touches(int fd)
{
	uint64_t n, least = UINT64_MAX;

	for (int i = 0; i < 100 && least > PAGES; i++) {
		n = count_touches(fd, PAGES, false);
		cr_assert_geq(n, PAGES);
		least = n < least ? n : least;
	}
	return least;
}

Test(soft_count, page_faults_of_a_cpu)
{
	struct perf_event_attr attr = soft_attr(PERF_COUNT_SW_PAGE_FAULTS);
	int here, there;

	pin_here(1);
	here = event_open(attr, -1, 1);
	cr_expect_eq(least_touches(here), PAGES);
	there = event_open(attr, -1, 0);
	for (int i = 0; i < 100; i++)
		if (count_touches(there, PAGES, false) < PAGES)
			return;
	cr_assert_fail("CPU 0 counts what CPU 1 does");
}

Test(soft_count, switches_and_migrations_of_a_cpu)
{
	struct perf_event_attr switches = soft_attr(PERF_COUNT_SW_CONTEXT_SWITCHES);
	struct perf_event_attr moves = soft_attr(PERF_COUNT_SW_CPU_MIGRATIONS);
	int on[2], to[2];
	struct worker w;

	switches.disabled = 0;
	moves.disabled = 0;
	worker_start(&w, false);
	for (int cpu = 0; cpu < 2; cpu++) {
		on[cpu] = event_open(switches, -1, cpu);
		to[cpu] = event_open(moves, -1, cpu);
	}
	for (int i = 1; i <= 20; i++) {
		pin_task(w.tid, i & 1);
		worker_run(&w, 1000);
	}
	for (int cpu = 0; cpu < 2; cpu++) {
		cr_expect_geq(sampling_value(on[cpu]), 20);
		/* The last ones may not be told yet. */
		cr_expect_geq(sampling_value(to[cpu]), 9);
		cr_expect_lt(sampling_value(to[cpu]), 1000);
	}
	worker_end(&w);
}

/* ---- Groups and children ---- */

Test(soft_count, a_group_of_software_events)
{
	struct perf_event_attr attr = soft_attr(PERF_COUNT_SW_DUMMY);
	static const uint64_t others[] = { PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_TASK_CLOCK,
		PERF_COUNT_SW_CONTEXT_SWITCHES };
	struct group_read got;
	int leader;

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID |
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	leader = event_open(attr);
	attr.disabled = 0;
	for (size_t i = 0; i < RAW_ARRAY_SIZE(others); i++) {
		attr.config = others[i];
		event_open(attr, .group = leader);
	}
	event_ioctl(leader, PERF_EVENT_IOC_ENABLE);
	touch_pages(fresh_pages(PAGES), PAGES);
	event_ioctl(leader, PERF_EVENT_IOC_DISABLE);
	cr_assert_gt(read(leader, &got, sizeof(got)), 0);
	cr_assert_eq(got.nr, 5);
	cr_expect_eq(got.enabled, got.running);
	cr_expect_eq(got.each[0].value, 0);
	cr_expect_geq(got.each[1].value, PAGES);
	cr_expect_eq(got.each[1].value, got.each[2].value);
	cr_expect_gt(got.each[3].value, 0);
	cr_expect_leq(got.each[3].value, got.running);
}

Test(soft_count, reset_lets_the_value_begin_anew)
{
	static const uint64_t configs[] = { PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_PAGE_FAULTS_MIN };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(configs); i++) {
		int fd = event_open(soft_attr(configs[i]));

		cr_expect_eq(count_touches(fd, PAGES, false), PAGES);
		event_ioctl(fd, PERF_EVENT_IOC_RESET);
		cr_expect_eq(sampling_value(fd), 0);
		cr_expect_eq(count_touches(fd, 2, false), 2);
		cr_expect_eq(sampling_value(fd), 2);
	}
}

/* By the kernel's own account */
static uint64_t faults_in(const struct rusage *usage)
{
	return usage->ru_minflt + usage->ru_majflt;
}

/*
 * What the event and the kernel have counted of this thread, at an instant without a fault. The
 * process has another, Criterion's.
 */
struct counted {
	uint64_t event;
	uint64_t own;
};

static struct counted counted_until_now(int fd)
{
	struct rusage before, after;
	struct counted counted;

	do {
		getrusage(RUSAGE_THREAD, &before);
		counted.event = sampling_value(fd);
		getrusage(RUSAGE_THREAD, &after);
	} while (faults_in(&before) != faults_in(&after));
	counted.own = faults_in(&after);
	return counted;
}

/* Until it has ended, without sleeping */
static void look_at_child(pid_t child)
{
	siginfo_t info = { .si_pid = 0 };

	while (info.si_pid != child)
		cr_assert_eq(waitid(P_PID, child, &info, WEXITED | WNOHANG | WNOWAIT), 0);
}

/* Returns how many faults the kernel says a child had that touches some pages. */
static uint64_t child_touches(size_t pages, bool look)
{
	struct rusage usage;
	pid_t child = fork();
	int status;

	if (!child) {
		touch_pages(mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), pages);
		_exit(0);
	}
	if (look)
		look_at_child(child);
	cr_assert_eq(wait4(child, &status, 0, &usage), child);
	cr_assert_eq(status, 0);
	return faults_in(&usage);
}

/*
 * How many there are beside those of the pages depends on who runs when: a fork shares all
 * pages, and at the next switch of the parent the kernel writes into one of them (struct
 * rseq); there is none if the child ends before its parent waits. So the sum must be what
 * the kernel has counted of both.
 */
Test(soft_count, children_count_too)
{
	struct perf_event_attr attr = soft_attr(PERF_COUNT_SW_PAGE_FAULTS);
	struct counted before, after;
	uint64_t child;
	int fd;

	attr.inherit = 1;
	attr.disabled = 0;
	fd = event_open(attr);
	for (unsigned int i = 0; i < 20; i++) {
		size_t pages = 1 + i % 4 * PAGES;

		before = counted_until_now(fd);
		child = child_touches(pages, i % 2);
		after = counted_until_now(fd);
		cr_expect_geq(child, pages);
		cr_expect_eq(after.event - before.event, after.own - before.own + child,
			     "round %u: %lu told, %lu own and %lu of the child", i,
			     after.event - before.event, after.own - before.own, child);
	}
}
