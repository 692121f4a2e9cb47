// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overflow of the hardware counters: with a small headroom each of them overflows
 * thousands of times a second, and no count may show it. And NMIs that are not ours
 * come through.
 */
#include "busy.h"
#include "pmu.h"

#define N		100000ull
#define PARAMETERS	"/sys/module/pmuctl/parameters/"

static void write_text(const char *path, const char *text)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);

	cr_assert(fd >= 0, "%s: %m", path);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text), "%s: %m",
		     path);
}

static void set_headroom(unsigned int headroom)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", headroom);
	write_text(PARAMETERS "counter_headroom", text);
}

/* A PMU that we have kept has counters that are close to their overflow. */
static void reset_headroom(void)
{
	set_headroom(0);
	cr_assert_eq(raw_give_back(), 0);
}

TestSuite(count_overflow, .init = reset_headroom, .fini = reset_headroom);

/* NMIs of all CPUs since boot */
static uint64_t nmis(void)
{
	FILE *f = fopen("/proc/interrupts", "re");
	uint64_t a = 0, b = 0;
	char line[512];

	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " NMI: %lu %lu", &a, &b) >= 1)
			break;
	fclose(f);
	return a + b;
}

/* As many events as there are counters, on a task or CPU */
struct full {
	unsigned int n;
	uint64_t configs[PMU_MAX];
	int fd[PMU_MAX];
};

static void open_all(struct full *all, pid_t pid, int cpu)
{
	struct perf_event_attr attr;
	unsigned int i;

	all->n = pmu_fill(all->configs);
	for (i = 0; i < all->n; i++) {
		attr = user_attr(all->configs[i]);
		all->fd[i] = event_open(attr, pid, cpu);
	}
}

static void close_all(const struct full *all)
{
	unsigned int i;

	for (i = 0; i < all->n; i++)
		close(all->fd[i]);
}

Test(count_overflow, without_headroom_there_is_no_nmi)
{
	struct perf_event_attr attr = instructions_u();
	int fd = event_open(attr);
	uint64_t before = nmis();

	user_loop(10 * N);
	cr_expect_eq(nmis(), before);
	cr_expect_gt(event_value(fd), 20 * N);
}

/* One counter: an NMI each time that it has counted the headroom, and none more */
Test(count_overflow, nmis_come_as_often_as_the_counter_overflows)
{
	struct perf_event_attr attr = instructions_u();
	static const unsigned int headrooms[] = { 200, 333, 5000, 100000 };
	uint64_t n, before, expected, switches;
	unsigned int i;
	int fd;

	attr.disabled = 1;
	for (i = 0; i < sizeof(headrooms) / sizeof(headrooms[0]); i++) {
		set_headroom(headrooms[i]);
		fd = event_open(attr);
		n = headrooms[i] * 500ull;
		switches = task_switches(gettid());
		before = nmis();
		bracket(fd, n);
		before = nmis() - before;
		switches = task_switches(gettid()) - switches;
		cr_expect_eq(event_value(fd), bracket_instructions(n),
			     "headroom %u: %lu", headrooms[i], event_value(fd));
		/*
		 * A context switch arms the counter anew, which may cost an NMI, and
		 * each may come a few instructions late.
		 */
		expected = bracket_instructions(n) / headrooms[i];
		cr_expect_leq(before, expected, "headroom %u: %lu NMIs",
			      headrooms[i], before);
		cr_expect_geq(before + switches, expected * 8 / 10,
			      "headroom %u: %lu NMIs, %lu switches", headrooms[i],
			      before, switches);
		close(fd);
	}
}

/* How often all can be read while their task loops @n times; each only grows. */
static unsigned int read_while_it_loops(struct worker *w, const struct full *all, uint64_t n,
					const uint64_t *start)
{
	uint64_t last[PMU_MAX], now;
	unsigned int reads, k;

	memcpy(last, start, sizeof(last));
	worker_order(w, n);
	for (reads = 0; last[0] - start[0] < 2 * n; reads++) {
		if (reads % 1000 == 999 && worker_is_done(w))
			break; /* something is lost, as will be seen */
		for (k = 0; k < all->n; k++) {
			now = event_value(all->fd[k]);
			cr_assert_geq(now, last[k], "counter %u went back", k);
			last[k] = now;
		}
	}
	worker_wait(w);
	return reads;
}

/* As often as it takes until they have been read some times in between */
static void check_all(struct worker *w, const struct full *all, unsigned int headroom,
		      uint64_t n)
{
	uint64_t start[PMU_MAX], count[PMU_MAX], came, switches;
	unsigned int reads = 0, k;

	do {
		for (k = 0; k < all->n; k++)
			start[k] = event_value(all->fd[k]);
		switches = task_switches(w->tid);
		came = nmis();
		reads += read_while_it_loops(w, all, n, start);
		came = nmis() - came;
		switches = task_switches(w->tid) - switches;
		cr_expect_gt(came + switches, 2 * n / headroom / 2,
			     "headroom %u: %lu NMIs, %lu switches", headroom, came,
			     switches);
		for (k = 0; k < all->n; k++)
			count[k] = event_value(all->fd[k]) - start[k];
		cr_expect_geq(count[0], 2 * n);
		for (k = 0; k < all->n; k++) {
			if (all->configs[k] == PERF_COUNT_HW_REF_CPU_CYCLES)
				continue;
			/* A cycle is an instruction here. */
			cr_expect_eq(count[k], count[all->configs[k] ==
						     PERF_COUNT_HW_BRANCH_INSTRUCTIONS],
				     "event %u", k);
		}
	} while (reads <= 2);
}

/* One CPU loops with every counter overflowing, the other reads them all the time. */
Test(count_overflow, all_counters_stay_exact_while_they_are_read)
{
	static const unsigned int headrooms[] = { 200, 777, 5000, 100000 };
	struct full all;
	struct worker w;
	unsigned int i;

	pin_here(0);
	worker_start(&w, false);
	pin_task(w.tid, 1);
	open_all(&all, w.tid, -1);
	for (i = 0; i < sizeof(headrooms) / sizeof(headrooms[0]); i++) {
		set_headroom(headrooms[i]);
		worker_run(&w, 1); /* armed from here on */
		check_all(&w, &all, headrooms[i],
			  headrooms[i] < 5000 ? 20 * N : 300 * N);
	}
	close_all(&all);
	worker_end(&w);
}

Test(count_overflow, all_counters_are_exact_to_the_loop)
{
	static const unsigned int headrooms[] = { 200, 1009, 60000 };
	struct full all;
	struct worker w;
	unsigned int i;

	worker_start(&w, false);
	open_all(&all, w.tid, -1);
	for (i = 0; i < sizeof(headrooms) / sizeof(headrooms[0]); i++) {
		set_headroom(headrooms[i]);
		cr_expect_eq(worker_count_loop(&w, all.fd[0], 4 * N), 8 * N);
		cr_expect_eq(worker_count_loop(&w, all.fd[1], 4 * N), 4 * N);
		cr_expect_eq(worker_count_loop(&w, all.fd[2], 4 * N), 8 * N);
		cr_expect_eq(worker_count_loop(&w, all.fd[3], 4 * N), 4 * N);
	}
	close_all(&all);
	worker_end(&w);
}

/*
 * How far apart overflows must be where the kernel is counted: its way out of an NMI counts
 * too, and were it longer than that, one NMI would follow the other for ever. With KASAN
 * and lockdep it is some ten thousand instructions.
 */
static unsigned int kernel_headroom(void)
{
	return access("/sys/kernel/debug/kmemleak", F_OK) ? 5000 : 500000;
}

/*
 * What the three may differ by. They are on and off at the same instants; but where each has a
 * register of its own, an overflow's NMI can come between two of these writes, and those
 * that count already count its way in and out: some 400 instructions, a few times.
 */
static int64_t between_writes(void)
{
	return pmu_info().pmu_version >= 2 ? 0 : 5 * 500;
}

/* Overflows in the kernel too */
Test(count_overflow, user_and_kernel_add_up)
{
	struct perf_event_attr attr[3];
	uint64_t count[3];
	struct worker w;
	unsigned int i;
	int fd[3];

	set_headroom(kernel_headroom());
	worker_start(&w, false);
	for (i = 0; i < 3; i++) {
		attr[i] = event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
		attr[i].exclude_kernel = i == 0;
		attr[i].exclude_user = i == 1;
		fd[i] = event_open(attr[i], w.tid);
	}
	for (i = 0; i < 50; i++)
		worker_run(&w, N / 5);
	for (i = 0; i < 3; i++)
		count[i] = event_value(fd[i]);
	cr_expect_gt(count[0], 50 * N / 5 * LOOP_INSTRUCTIONS);
	cr_expect_leq(labs((int64_t)(count[0] + count[1] - count[2])), between_writes(),
		      "%lu user + %lu kernel, %lu both", count[0], count[1], count[2]);
	worker_end(&w);
}

/* Four busy threads that are moved all the time; returns how often. */
static unsigned int move_four(void)
{
	unsigned int moves = 0, i;
	struct busy b[4];
	bool done;

	for (i = 0; i < 4; i++)
		busy_start(&b[i], (50 + 17 * i) * N, -1);
	for (i = 0; i < 4; i++)
		b[i].go = true;
	do {
		done = true;
		for (i = 0; i < 4; i++) {
			if (b[i].done)
				continue;
			pin_task(b[i].tid, moves++ / 3 % 2);
			done = false;
		}
		usleep(500);
	} while (!done);
	for (i = 0; i < 4; i++)
		busy_check(&b[i]);
	return moves;
}

Test(count_overflow, context_switches_and_migrations_stay_exact)
{
	unsigned int moves = 0;

	set_headroom(500);
	do
		moves += move_four();
	while (moves <= 20);
}

Test(count_overflow, headroom_may_change_while_counting)
{
	unsigned int i = 0;
	struct busy b;

	pin_here(0);
	do {
		busy_start(&b, 300 * N, 1);
		b.go = true;
		while (!b.done)
			set_headroom(i++ % 5 * 700);
		busy_check(&b);
	} while (i <= 5);
}

/* An event of the CPU overflows beside one of a task. */
Test(count_overflow, cpu_event_beside_a_task_event)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t before;
	struct busy b;
	int fd;

	set_headroom(400);
	pin_here(0);
	fd = event_open(attr, -1, 1);
	busy_start(&b, 40 * N, 1);
	before = event_value(fd);
	b.go = true;
	while (!b.done)
		cr_expect_geq(event_value(fd), before);
	cr_expect_gt(event_value(fd) - before, bracket_instructions(b.rounds));
	busy_check(&b);
}

/* ---- NMIs of others ---- */

/*
 * The kernel's own: a backtrace of every CPU is asked for with an NMI, which the
 * asker waits for. One that were claimed by us would never be answered, and one that
 * is left over would be in the kernel log, which the laboratory reads. Among overflows:
 * nmi_foreign.c.
 */
static void foreign_nmis(unsigned int times)
{
	uint64_t before = nmis();
	unsigned int i;

	for (i = 0; i < times; i++)
		write_text("/proc/sysrq-trigger", "l");
	cr_expect_geq(nmis() - before, times);
}

Test(count_overflow, foreign_nmis_without_events)
{
	foreign_nmis(3);
}

Test(count_overflow, foreign_nmis_with_events_that_do_not_overflow)
{
	struct perf_event_attr attr = instructions_u();
	int fd = event_open(attr);

	foreign_nmis(3);
	cr_expect_gt(event_value(fd), 0);
}

/* Software events of perf go on while our NMIs come. */
Test(count_overflow, software_events_of_perf_beside_our_nmis)
{
	struct perf_event_attr attr =
		event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	struct busy b;
	int fd;

	set_headroom(300);
	pin_here(0);
	busy_start(&b, 50 * N, 1);
	fd = perf_try(&attr, b.tid, -1);
	cr_assert(fd >= 0, "perf: %s", strerror(-fd));
	b.go = true;
	while (!b.done)
		usleep(1000);
	cr_expect_gt(event_value(fd), 1000000, "%lu ns", event_value(fd));
	busy_check(&b);
}
