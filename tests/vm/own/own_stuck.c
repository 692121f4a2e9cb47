// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PMU that is broken: however often the handler acknowledges an overflow, the status says
 * that there is one. For a guest whose emulated PMU loses acknowledgements when
 * it is told to (--cpu intel-stuck or amd-stuck). The handler gives up, stops the counters and says so
 * once; the machine goes on. They are tried again after ten seconds, which none of the other tests
 * takes.
 */
#include "hybrid.h"
#include "module.h"
#include "msrs.h"
#include "nmis.h"

#define N		100000ull
#define HEADROOM	1000
#define WARNING		"overflow without end"
/* After so many seconds it is tried again, and after twice as many once more. */
#define WAIT		10
/* The emulator's own register: how many acknowledgements it is to lose */
#define LOSE_ACKS	0x400000f0
#define FOR_EVER	(~0ull)
/* How often the handler acknowledges before it gives up; module/pmu/nmi.c */
#define LOOPS		64

static uint64_t acks_to_lose(int cpu)
{
	return msr_read(cpu, LOSE_ACKS);
}

static void lose_acks(int cpu, uint64_t n)
{
	msr_write(cpu, LOSE_ACKS, n);
}

static void set_headroom(unsigned int headroom)
{
	cr_assert_eq(raw_write_number("/sys/module/pmuctl/parameters/counter_headroom",
				      headroom), 0);
}

static void heal(void)
{
	lose_acks(0, 0);
	lose_acks(1, 0);
}

static void begin(void)
{
	module_ensure();
	sampling_init();
	msrs_load_driver();
	set_headroom(HEADROOM);
	lose_acks(1, FOR_EVER);
	cr_assert_eq(acks_to_lose(1), FOR_EVER, "this guest needs --cpu intel-stuck or amd-stuck");
	heal();
}

static void end(void)
{
	heal();
	set_headroom(0);
	sampling_fini();
}

TestSuite(own_stuck, .init = begin, .fini = end);

/* User instructions of a CPU */
static int open_cpu(int cpu)
{
	struct perf_event_attr attr = instructions_u();

	return event_open(attr, -1, cpu);
}

/* Counters of this CPU count exactly, and overflow while they do. */
static void check_counts(void)
{
	struct perf_event_attr attr = instructions_u();
	int fd;

	attr.disabled = 1;
	fd = event_open(attr);
	bracket(fd, N);
	cr_expect_eq(event_value(fd), bracket_instructions(N), "%lu", event_value(fd));
	close(fd);
}

/* Let the counters of CPU 1 overflow until they are stopped once more than @before. */
static void wait_stuck(uint64_t before)
{
	pin_here(1);
	while (nmi_stats(1).stuck <= before)
		user_loop(N);
}

static void break_it(void)
{
	uint64_t before = nmi_stats(1).stuck;

	lose_acks(1, FOR_EVER);
	wait_stuck(before);
}

Test(own_stuck, acknowledgements_that_succeed_at_last_are_no_reason_to_stop)
{
	static const unsigned int lost[] = { 1, 2, 10, LOOPS - 1 };
	struct nmi_stats before = nmi_stats(1), after;
	int log = log_open();
	unsigned int i;

	pin_here(1);
	for (i = 0; i < RAW_ARRAY_SIZE(lost); i++) {
		lose_acks(1, lost[i]);
		check_counts();
		cr_expect_eq(acks_to_lose(1), 0);
	}
	after = nmi_stats(1);
	cr_expect_gt(after.claimed, before.claimed);
	cr_expect_eq(after.stuck, before.stuck);
	cr_expect_eq(log_count(log, WARNING), 0);
	close(log);
}

Test(own_stuck, one_more_is)
{
	struct nmi_stats before = nmi_stats(1);
	int log = log_open(), fd;

	pin_here(1);
	fd = open_cpu(1);
	lose_acks(1, LOOPS);
	user_loop(N);
	cr_expect_eq(acks_to_lose(1), 0);
	cr_expect_eq(nmi_stats(1).stuck, before.stuck + 1);
	cr_expect_eq(log_count(log, WARNING), 1);
	close(fd);
	check_counts();
	close(log);
}

Test(own_stuck, counters_are_stopped_and_it_is_told_once)
{
	struct nmi_stats before = nmi_stats(1), other = nmi_stats(0), after;
	int log = log_open(), fd;
	struct counts old, c;
	uint64_t value;

	fd = open_cpu(1);
	break_it();
	value = event_value(fd);
	cr_expect_geq(value, HEADROOM);
	after = nmi_stats(1);
	cr_expect_eq(after.stuck, before.stuck + 1);
	cr_expect_eq(log_count(log, "pmuctl: CPU 1: counters overflow without end and are stopped; they are tried again in"),
		     1);

	old = event_read(fd);
	user_loop(10 * N);
	c = event_read(fd);
	cr_expect_gt(c.enabled, old.enabled);
	cr_expect_eq(c.running, old.running, "its time goes on");
	cr_expect_eq(nmi_stats(1).claimed, after.claimed, "there are still NMIs");
	cr_expect_eq(event_value(fd), value, "it still counts");
	cr_expect_eq(ioctl(fd, PERF_EVENT_IOC_RESET, 0), 0);
	cr_expect_eq(event_value(fd), 0);

	/* The other CPU does not care. */
	pin_here(0);
	check_counts();
	cr_expect_eq(nmi_stats(0).stuck, other.stuck);
	cr_expect_eq(log_count(log, WARNING), 0);
	close(fd);
	close(log);
}

Test(own_stuck, the_remedy_works)
{
	int fd[3], i;

	for (i = 0; i < 3; i++)
		fd[i] = open_cpu(1);
	break_it();
	lose_acks(1, 0);
	for (i = 0; i < 3; i++)
		close(fd[i]);
	check_counts();
}

static double seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* It is tried and fails, and is tried after twice that time and does not: nobody has closed it. */
Test(own_stuck, it_counts_again_by_itself, .timeout = 300)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t before = nmi_stats(1).stuck, value;
	int log = log_open(), fd, own;
	struct counts old, c;
	double start;

	fd = open_cpu(1);
	attr.disabled = 1;
	own = event_open(attr);
	break_it();
	start = seconds_now();
	wait_stuck(before + 1);
	cr_expect_geq(seconds_now() - start, WAIT - 1);
	cr_expect_eq(log_count(log, "tried again in 20 s"), 1);

	lose_acks(1, 0);
	old = event_read(fd);
	do {
		user_loop(N);
		c = event_read(fd);
	} while (c.running == old.running);
	cr_expect_geq(seconds_now() - start, 3 * WAIT - 1);
	value = event_value(fd);
	bracket(own, N);
	cr_expect_eq(event_value(own), bracket_instructions(N));
	cr_expect_geq(event_value(fd) - value, bracket_instructions(N));
	cr_expect_lt(c.running, c.enabled);
	cr_expect_eq(nmi_stats(1).stuck, before + 2);
	cr_expect_eq(log_count(log, WARNING), 0);
	close(own);
	close(fd);
	close(log);
}

/* Who keeps the PMU has it anew after the last event, without its being given to others. */
Test(own_stuck, the_remedy_works_if_it_is_kept_always)
{
	int fd;

	cr_assert_eq(raw_write_file(RAW_CLAIM, "always"), 0);
	fd = open_cpu(1);
	break_it();
	lose_acks(1, 0);
	cr_expect_eq(event_value(fd) > 0, true);
	close(fd);
	cr_expect_eq(module_info().pmu_owner, PMUCTL_OWNER_PMUCTL);
	check_counts();
	cr_assert_eq(raw_write_file(RAW_CLAIM, "anyone"), 0);
}

/* What comes while they are stopped gets no counter, and says so. */
Test(own_stuck, new_events_there_do_not_count)
{
	struct perf_event_attr attr = instructions_u();
	int fd = open_cpu(1), late, pinned_one;
	struct counts c;

	break_it();
	late = event_open(attr, -1, 1);
	attr.pinned = 1;
	pinned_one = event_open(attr, -1, 1);
	user_loop(N);
	c = event_read(late);
	cr_expect_eq(c.value, 0);
	cr_expect_eq(c.running, 0);
	cr_expect_gt(c.enabled, 0);
	cr_expect_eq(read(pinned_one, &c, sizeof(c)), 0, "it is not in error");
	close(late);
	close(pinned_one);
	close(fd);
}

/* A task comes and goes while its event's counter is stopped. */
Test(own_stuck, it_is_told_once_of_an_event_of_a_task)
{
	struct perf_event_attr attr = instructions_u();
	struct nmi_stats before;
	int log = log_open(), fd;
	struct worker w;
	int i;

	worker_start(&w, false);
	pin_task(w.tid, 1);
	fd = event_open(attr, w.tid);
	before = nmi_stats(1);
	pin_here(0);
	lose_acks(1, FOR_EVER);
	for (i = 0; i < 50; i++)
		worker_run(&w, N);
	cr_expect_eq(nmi_stats(1).stuck, before.stuck + 1);
	i = log_count(log, WARNING);
	cr_expect_eq(i, 1, "told %d times", i);

	/* Elsewhere it counts on. */
	pin_task(w.tid, 0);
	cr_expect_eq(worker_count_loop(&w, fd, N), LOOP_INSTRUCTIONS * N);
	worker_end(&w);
	close(fd);
	close(log);
}

/* The status says for ever that there is an overflow, but it is not claimed any more. */
Test(own_stuck, nmis_of_others_are_left_to_them)
{
	struct foreign before, after;
	int log = log_open(), fd, i;
	struct nmi_stats stats;

	fd = open_cpu(1);
	break_it();
	foreign_load();
	stats = nmi_stats(1);
	before = foreign_read(1);
	for (i = 0; i < 20; i++)
		foreign_send(1);
	after = foreign_read(1);
	cr_expect_eq(after.unknown - before.unknown, after.all - before.all,
		     "%lu of %lu", after.unknown - before.unknown, after.all - before.all);
	cr_expect_gt(after.all, before.all);
	cr_expect_eq(nmi_stats(1).claimed, stats.claimed);
	cr_expect_eq(nmi_stats(1).stuck, stats.stuck);
	cr_expect_eq(log_count(log, WARNING), 1);
	foreign_unload();
	close(fd);
	close(log);
}

Test(own_stuck, sampling_ends_with_the_sample_that_was_due)
{
	struct perf_event_attr attr = sampling_attr(1000);
	int log = log_open(), fd;
	struct ring r;
	uint64_t n;

	attr.disabled = 0;
	fd = event_open(attr, -1, 1);
	ring_map(&r, fd, 64);
	pin_here(1);
	user_loop(N);
	break_it();
	n = ring_drain(&r, PERF_RECORD_SAMPLE);
	cr_expect_gt(n, 100, "%lu samples", n);
	/* One sample each period until then, however often its overflow was seen */
	cr_expect_eq(n, sampling_value(fd) / 1000, "%lu samples of %lu", n,
		     sampling_value(fd));
	user_loop(N);
	cr_expect_eq(ring_drain(&r, PERF_RECORD_SAMPLE), 0);
	cr_expect_eq(log_count(log, WARNING), 1);
	ring_unmap(&r);
	close(fd);
	close(log);
}

/* Opened anew while it is still broken, it is found out and told anew. */
Test(own_stuck, each_time_it_is_used_it_is_told)
{
	struct nmi_stats before = nmi_stats(1);
	int log = log_open(), fd, i;

	lose_acks(1, FOR_EVER);
	for (i = 0; i < 5; i++) {
		fd = open_cpu(1);
		wait_stuck(before.stuck + i);
		close(fd);
	}
	cr_expect_eq(nmi_stats(1).stuck, before.stuck + 5);
	cr_expect_eq(log_count(log, WARNING), 5);
	close(log);
}

Test(own_stuck, the_module_can_be_unloaded)
{
	int fd = open_cpu(1);

	break_it();
	cr_expect_eq(module_unload(), -EWOULDBLOCK);
	close(fd);
	cr_assert_eq(module_unload(), 0);

	/* Perf finds a PMU that works, once it does. */
	heal();
	check_perf_counts(N);
	module_ensure();
	check_counts();
}
