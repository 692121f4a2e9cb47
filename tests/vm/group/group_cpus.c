// SPDX-License-Identifier: GPL-2.0-only
/*
 * All CPUs through one descriptor: sums, each CPU's own, groups, CPUs that come and go;
 * and switching all events that a thread opened.
 */
#include "groups.h"
#include "raw.h"
#include "refusal.h"

#define N		1000000ull

static int all_open(struct perf_event_attr attr, int group_fd)
{
	int fd = event_try(attr, -1, .group = group_fd);

	cr_assert_geq(fd, 0, "%s: %s", strerror(-fd), event_why.sentence);
	return fd;
}

static unsigned int read_cpus(int fd, struct pmuctl_cpu_count *counts,
			      unsigned int room)
{
	struct pmuctl_read_cpus args = {
		.size = sizeof(args), .nr = room,
		.entry_size = sizeof(*counts), .counts = (uintptr_t)counts,
	};

	cr_assert_eq(ioctl(fd, PMUCTL_IOC_READ_CPUS, &args), 0, "%m");
	return args.nr;
}

static void loop_on(int cpu, uint64_t n)
{
	pin_here(cpu);
	user_loop(n);
}

Test(group_cpus, one_descriptor_sums_all_cpus)
{
	struct pmuctl_cpu_count before[2], after[2];
	int fd = all_open(branches_u(), -1);
	uint64_t sum;

	cr_assert_eq(read_cpus(fd, before, 2), 2);
	loop_on(0, N);
	loop_on(1, 3 * N);
	pin_here(0);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	sum = event_value(fd);
	cr_assert_eq(read_cpus(fd, after, 2), 2);
	cr_assert_eq(after[0].cpu, 0);
	cr_assert_eq(after[1].cpu, 1);
	cr_assert_eq(after[0].online & after[1].online, 1);
	cr_assert_geq(after[0].value - before[0].value, N);
	cr_assert_geq(after[1].value - before[1].value, 3 * N);
	cr_assert_eq(after[0].value + after[1].value, sum);
	cr_assert_eq(after[0].time_enabled + after[1].time_enabled,
		     event_read(fd).enabled);
}

Test(group_cpus, reset_and_enable_mean_all)
{
	struct pmuctl_cpu_count c[2];
	int fd = all_open(disabled(branches_u()), -1);

	loop_on(1, N);
	cr_assert_eq(event_value(fd), 0);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	loop_on(0, N);
	loop_on(1, N);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	read_cpus(fd, c, 2);
	cr_assert_geq(c[0].value, N);
	cr_assert_geq(c[1].value, N);
	event_ioctl(fd, PERF_EVENT_IOC_RESET);
	cr_assert_eq(event_value(fd), 0);
}

Test(group_cpus, groups_go_over_all_cpus)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_RAW, 0xc0);
	struct group_read r;
	int leader, i;

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID |
			   PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	leader = all_open(disabled(attr), -1);
	all_open(attr, leader);
	cr_assert_eq(ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), 0);
	for (i = 0; i < 200; i++) {
		loop_on(i & 1, 1000);
		cr_assert_eq(read(leader, &r, sizeof(r)), (24 + 2 * 16));
		cr_assert_eq(r.nr, 2);
		cr_assert_eq(r.each[0].value, r.each[1].value, "read %d", i);
	}
}

Test(group_cpus, joins_across_kinds_are_refused)
{
	int all = all_open(branches_u(), -1);
	int own = event_open(branches_u());
	int one = event_try(branches_u(), -1, 0);
	const char *sentence =
		"group_fd counts another task, CPU or cgroup: a group's events count the same one";

	cr_assert_geq(one, 0);
	check_refusals(
		{ "all CPUs in a task's group", OPEN(branches_u(), -1, .group = own), EINVAL,
		  PMUCTL_WHY_GROUP_OTHER_TARGET, "group_fd", sentence },
		{ "all CPUs in one CPU's", OPEN(branches_u(), -1, .group = one), EINVAL,
		  PMUCTL_WHY_GROUP_OTHER_TARGET, "group_fd", sentence },
		{ "a task in that of all CPUs", OPEN(branches_u(), .group = all), EINVAL,
		  PMUCTL_WHY_GROUP_OTHER_TARGET, "group_fd", sentence },
		{ "one CPU in that of all", OPEN(branches_u(), -1, 0, .group = all), EINVAL,
		  PMUCTL_WHY_GROUP_OTHER_TARGET, "group_fd", sentence }
	);
}

Test(group_cpus, reading_by_cpu_is_refused_with_the_reason)
{
	struct pmuctl_cpu_count c[3];
	struct pmuctl_read_cpus args = {
		.size = sizeof(args), .nr = 1, .entry_size = sizeof(*c),
		.counts = (uintptr_t)c,
	};
	int own = event_open(branches_u());
	int all = all_open(branches_u(), -1);

	check_refused(IOCTL(own, PMUCTL_IOC_READ_CPUS, &args), EINVAL, PMUCTL_WHY_NOT_BY_CPU, "",
		      "this event counts a task, not CPUs: read it with read(), or open an event with pid -1");
	check_refused(IOCTL(all, PMUCTL_IOC_READ_CPUS, &args), ENOSPC, PMUCTL_WHY_NR_TOO_SMALL,
		      "nr", "there are 2 CPUs to read, but room for 1: nr now holds their number");
	cr_assert_eq(args.nr, 2);
	args.entry_size = 24;
	check_refused(IOCTL(all, PMUCTL_IOC_READ_CPUS, &args), EINVAL, PMUCTL_WHY_ENTRY_SIZE,
		      "entry_size",
		      "entry_size 24 is not the 32 bytes of struct pmuctl_cpu_count: set it to sizeof()");
	args.entry_size = sizeof(*c);
	args.flags = 1;
	check_refused(IOCTL(all, PMUCTL_IOC_READ_CPUS, &args), EINVAL, PMUCTL_WHY_FLAGS_UNKNOWN,
		      "flags", "flags 0x1 has bits that this module does not know: only 0x0 may be set");
	args.flags = 0;
	args.counts = 8;
	cr_assert_eq(ioctl(all, PMUCTL_IOC_READ_CPUS, &args), -1);
	cr_assert_eq(errno, EFAULT);
}

/* The counts can be written, their number cannot: the structure is only to be read. */
Test(group_cpus, a_number_that_cannot_be_written_is_a_fault)
{
	struct pmuctl_cpu_count c[2] = { 0 };
	struct pmuctl_read_cpus *args = raw_at_edge(4096, 0);
	int all = all_open(branches_u(), -1);

	*args = (struct pmuctl_read_cpus){
		.size = sizeof(*args), .nr = 2, .entry_size = sizeof(*c),
		.counts = (uintptr_t)c,
	};
	cr_assert_eq(mprotect(args, 4096, PROT_READ), 0);
	check_refused(IOCTL(all, PMUCTL_IOC_READ_CPUS, args), EFAULT, PMUCTL_WHY_BAD_POINTER, "nr",
		      "the memory at this address cannot be read or written: pass a pointer into your own address space");
	cr_assert_eq(c[1].cpu, 1);
}

Test(group_cpus, every_size_of_the_structure_is_checked)
{
	struct pmuctl_cpu_count c[2];
	struct {
		struct pmuctl_read_cpus args;
		uint8_t beyond[8];
	} longer = {
		.args = { .nr = 2, .entry_size = sizeof(*c),
			  .counts = (uintptr_t)c },
	};
	int fd = all_open(branches_u(), -1);

	longer.args.size = sizeof(longer.args) - 1;
	check_refused(IOCTL(fd, PMUCTL_IOC_READ_CPUS, &longer), EINVAL, PMUCTL_WHY_SIZE_TOO_SMALL,
		      "size",
		      "size 23 is less than the 24 bytes of the structure's first version: set it to sizeof()");
	longer.args.size = sizeof(longer.args) + 1;
	cr_assert_eq(ioctl(fd, PMUCTL_IOC_READ_CPUS, &longer), 0);
	longer.beyond[0] = 1;
	check_refused(IOCTL(fd, PMUCTL_IOC_READ_CPUS, &longer), E2BIG, PMUCTL_WHY_SIZE_TOO_BIG,
		      "size",
		      "size 25 is more than the 24 bytes that this module knows, and what is beyond is not zero: leave the newer fields 0 or update the module");
}

Test(group_cpus, one_cpus_event_is_read_by_cpu_too)
{
	struct pmuctl_cpu_count c[2];
	int fd = event_try(branches_u(), -1, 1);

	cr_assert_geq(fd, 0);
	loop_on(1, N);
	cr_assert_eq(read_cpus(fd, c, 2), 1);
	cr_assert_eq(c[0].cpu, 1);
	cr_assert_geq(c[0].value, N);
}

/* A task that is busy on whatever CPU there is */
static pid_t busy_task(void)
{
	pid_t pid = fork();

	cr_assert_geq(pid, 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			user_loop(N);
	}
	return pid;
}

Test(group_cpus, counts_survive_that_cpus_come_and_go)
{
	struct pmuctl_cpu_count before[2], gone[2], back[2];
	int fd = all_open(branches_u(), -1);
	pid_t busy = busy_task();
	int of_task = event_try(branches_u(), busy);
	uint64_t task_before;
	int round;

	cr_assert_geq(of_task, 0);
	loop_on(1, N);
	pin_here(0);
	for (round = 0; round < (is_debug_kernel() ? 50 : 70); round++) {
		task_before = event_value(of_task);
		read_cpus(fd, before, 2);
		set_online(1, false);
		read_cpus(fd, gone, 2);
		cr_assert_eq(gone[1].online, 0);
		cr_assert_geq(gone[1].value, before[1].value);
		read_cpus(fd, back, 2);
		cr_assert_eq(back[1].value, gone[1].value, "offline, it stands");
		cr_assert_eq(back[1].time_enabled, gone[1].time_enabled);
		set_online(1, true);
		loop_on(1, N);
		pin_here(0);
		read_cpus(fd, back, 2);
		cr_assert_geq(back[1].value - gone[1].value, N);
		cr_assert_eq(back[1].time_enabled, back[1].time_running);
		cr_assert_geq(event_value(of_task), task_before);
	}
	raw_reap(busy);
}

Test(group_cpus, opened_while_one_is_offline_it_counts_there_later)
{
	struct pmuctl_cpu_count c[2];
	int fd;

	pin_here(0);
	set_online(1, false);
	fd = all_open(branches_u(), -1);
	set_online(1, true);
	loop_on(1, N);
	read_cpus(fd, c, 2);
	cr_assert_geq(c[1].value, N);
}

static void *open_in_thread(void *fd)
{
	*(int *)fd = event_open(disabled(branches_u()));
	return NULL;
}

Test(group_cpus, task_enable_means_what_the_thread_opened)
{
	int device = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC);
	int a = event_open(disabled(branches_u()));
	int b = all_open(disabled(branches_u()), -1);
	int of_other;
	pthread_t thread;
	uint64_t value;

	pthread_create(&thread, NULL, open_in_thread, &of_other);
	pthread_join(thread, NULL);
	cr_assert_eq(ioctl(device, PMUCTL_IOC_TASK_ENABLE), 0);
	user_loop(N);
	cr_assert_eq(ioctl(device, PMUCTL_IOC_TASK_DISABLE), 0);
	value = event_value(a);
	cr_assert_geq(value, N);
	cr_assert_geq(event_value(b), N);
	cr_assert_eq(event_value(of_other), 0);
	cr_assert_eq(event_read(of_other).enabled, 0);
	user_loop(N);
	cr_assert_eq(event_value(a), value);
}

/* The kernel's own test of suspend: all but the sleep itself */
static bool suspend_and_resume(void)
{
	return !raw_write_file("/sys/module/suspend/parameters/pm_test_delay", "1") &&
		!raw_write_file("/sys/power/pm_test", "core") &&
		!raw_write_file("/sys/power/state", "mem");
}

Test(group_cpus, counts_survive_suspend_and_resume)
{
	int own = event_open(disabled(branches_u()));
	int all = all_open(branches_u(), -1);
	struct pmuctl_cpu_count c[2];
	uint64_t before;

	/* The guest does not come back there, with no module loaded neither. */
	if (!raw_kernel_before(7, 0))
		return;
	pin_here(0);
	bracket(own, N);
	before = event_value(own);
	cr_assert(suspend_and_resume(), "%m");
	cr_assert_eq(event_value(own), before);
	bracket(own, N);
	cr_assert_eq(event_value(own), 2 * before);
	loop_on(1, N);
	read_cpus(all, c, 2);
	cr_assert_geq(c[0].value, 2 * N);
	cr_assert_geq(c[1].value, N);
}
