// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that go and come back while events are open: counts are kept, and go on.
 */
#include "busy.h"
#include "hybrid.h"
#include "module.h"

#define N	100000ull

static void make_ready(void)
{
	all_online();
	module_ensure();
}

TestSuite(load_hotplug, .init = make_ready, .fini = make_ready);

Test(load_hotplug, offline_cpu_is_refused)
{
	struct perf_event_attr attr = instructions_u();

	set_online(1, false);
	cr_expect_eq(event_try(attr, -1, 1), -ENODEV);
	cr_expect_eq(event_why.code, PMUCTL_WHY_CPU_OFFLINE);
	cr_expect_not_null(strstr(event_why.sentence, "cpu1"), "%s",
			   event_why.sentence);
	cr_expect_eq(event_try(attr, 0, 1), -ENODEV);
	set_online(1, true);
	close(event_open(attr, -1, 1));
}

Test(load_hotplug, events_of_the_cpu_keep_their_counts_and_go_on)
{
	struct perf_event_attr attr = instructions_u();
	struct counts before, gone, later;
	struct worker w;
	unsigned int i;
	int fd;

	pin_here(0);
	fd = event_open(attr, -1, 1);
	worker_start(&w, false);
	for (i = 0; i < 3; i++) {
		pin_task(w.tid, 1);
		before = event_read(fd);
		worker_run(&w, N);
		cr_expect_geq(event_value(fd), before.value + 2 * N);

		before = event_read(fd);
		set_online(1, false);
		gone = event_read(fd);
		cr_expect_geq(gone.value, before.value);
		sleep_ms(50);
		worker_run(&w, N); /* elsewhere */
		later = event_read(fd);
		cr_expect_eq(later.value, gone.value);
		cr_expect_eq(later.enabled, gone.enabled, "time went on");
		event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		cr_expect_eq(event_value(fd), gone.value);
		set_online(1, true);
	}
	pin_task(w.tid, 1);
	before = event_read(fd);
	worker_run(&w, N);
	cr_expect_geq(event_value(fd), before.value + 2 * N);
	event_ioctl(fd, PERF_EVENT_IOC_RESET);
	cr_expect_lt(event_value(fd), before.value);
	worker_end(&w);
}

/* CPU 1 goes and comes while a thread is busy there; returns how often. */
static unsigned int go_and_come(void)
{
	unsigned int times = 0;
	cpu_set_t both;
	struct busy b;

	CPU_ZERO(&both);
	CPU_SET(0, &both);
	CPU_SET(1, &both);
	busy_start(&b, 1500 * N, -1);
	pin_task(b.tid, 1);
	b.go = true;
	do {
		/*
		 * There a task runs on a CPU that goes until the very end, when perf's own events still
		 * count and ours no longer do.
		 */
		if (raw_kernel_before(5, 11))
			pin_task(b.tid, 0);
		set_online(1, times++ % 2);
		/* It was driven off CPU 1 when that went; it may go back. */
		sched_setaffinity(b.tid, sizeof(both), &both);
		usleep(10000);
	} while (!b.done);
	set_online(1, true);
	busy_check(&b);
	return times;
}

Test(load_hotplug, events_of_tasks_stay_exact)
{
	unsigned int times = 0;

	pin_here(0);
	do
		times += go_and_come();
	while (times <= 2);
}

Test(load_hotplug, event_of_a_task_for_the_cpu_that_went)
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	uint64_t value;
	int fd;

	worker_start(&w, false);
	fd = event_open(attr, w.tid, 1);
	pin_task(w.tid, 1);
	cr_expect_eq(worker_count_loop(&w, fd, N), 2 * N);
	set_online(1, false);
	value = event_value(fd);
	worker_run(&w, N);
	cr_expect_eq(event_value(fd), value);
	set_online(1, true);
	pin_task(w.tid, 1);
	cr_expect_eq(worker_count_loop(&w, fd, N), 2 * N);
	worker_end(&w);
}

Test(load_hotplug, last_event_closed_while_its_cpu_is_offline)
{
	struct perf_event_attr attr = instructions_u();
	int fd;

	fd = event_open(attr, -1, 1);
	set_online(1, false);
	close(fd);
	cr_expect_eq(module_settled_info().pmu_owner, PMUCTL_OWNER_NOBODY);
	set_online(1, true);
	fd = perf_try(&attr, -1, 1);
	cr_expect(fd >= 0, "perf on CPU 1: %s", strerror(-fd));
	close(fd);
	close(event_open(attr, -1, 1));
}

/* Loaded, and its first event opened, while a CPU is not there */
Test(load_hotplug, cpu_that_comes_later_counts_too)
{
	struct perf_event_attr attr = instructions_u();
	int fd, fd_cpu1;

	set_online(1, false);
	module_reload();
	fd = event_open(attr);
	set_online(1, true);
	if (is_hybrid()) { /* The other type */
		cr_expect_eq(event_try(attr, -1, 1), -ENODEV);
		cr_expect_eq(event_why.code, PMUCTL_WHY_CPU_OF_NEW_TYPE);
		cr_expect_str_eq(event_why.field, "cpu");
		cr_expect_str_eq(event_why.sentence,
				 "CPU 1 is of a type that no CPU was when pmuctl was loaded, and nothing counts there: load the module again");
		close(fd);
		module_reload();
		return;
	}
	fd_cpu1 = event_open(attr, -1, 1);
	pin_here(1);
	bracket(fd, N);
	cr_expect_geq(event_value(fd_cpu1), 2 * N);
	cr_expect_geq(event_value(fd), 2 * N);
	close(fd);
	close(fd_cpu1);
}

Test(load_hotplug, unload_while_a_cpu_is_offline)
{
	struct perf_event_attr attr = instructions_u();
	int fd;

	close(event_open(attr, -1, 1));
	set_online(1, false);
	cr_assert_eq(module_unload(), 0);
	set_online(1, true);
	fd = perf_try(&attr, -1, 1);
	cr_expect(fd >= 0, "perf on CPU 1: %s", strerror(-fd));
	close(fd);
}
