// SPDX-License-Identifier: GPL-2.0-only
/*
 * One PMU, three who want it: pmuctl, the kernel's perf, and its NMI watchdog. Who has
 * it is not disturbed, who comes later is told, and afterwards it is free again.
 */
#include "busy.h"
#include "hybrid.h"
#include "module.h"

#define N		100000ull
#define WATCHDOG	"/proc/sys/kernel/nmi_watchdog"

static void set_watchdog(const char *text)
{
	AUTO_CLOSE int fd = open(WATCHDOG, O_WRONLY | O_CLOEXEC);

	raw_give_back();
	cr_assert(fd >= 0, "%s: %m", WATCHDOG);
	cr_assert_eq(write(fd, text, 1), 1, "%s: %m", WATCHDOG);
}

static void watchdog_off(void)
{
	set_watchdog("0");
}

TestSuite(own_pmu, .init = watchdog_off, .fini = watchdog_off);

static uint32_t owner(void)
{
	struct pmuctl_info info = { .size = sizeof(info) };
	AUTO_CLOSE int device = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC);

	cr_assert_eq(ioctl(device, PMUCTL_IOC_INFO, &info), 0, "%m");
	return info.pmu_owner;
}

static void check_busy_with_remedy(void)
{
	struct perf_event_attr attr = instructions_u();
	int fd = event_try(attr);

	cr_assert_eq(fd, -EBUSY, "%d", fd);
	cr_expect_eq(event_why.code, PMUCTL_WHY_PMU_BUSY);
	cr_expect_eq(event_why.error, EBUSY);
	cr_expect_not_null(strstr(event_why.sentence, "nmi_watchdog"), "%s",
			   event_why.sentence);
	cr_expect_not_null(strstr(event_why.sentence, "perf"), "%s",
			   event_why.sentence);
	cr_expect_eq(owner(), PMUCTL_OWNER_OTHER);
	/* The same for a CPU */
	cr_expect_eq(event_try(attr, -1, 0), -EBUSY);
}

static void check_we_count(void)
{
	struct perf_event_attr attr = instructions_u();
	int fd;

	attr.disabled = 1;
	fd = event_open(attr);
	cr_expect_eq(owner(), PMUCTL_OWNER_PMUCTL);
	bracket(fd, N);
	cr_expect_eq(event_value(fd), bracket_instructions(N));
	close(fd);
	cr_assert_eq(raw_give_back(), 0);
	cr_expect_eq(owner(), PMUCTL_OWNER_NOBODY);
}

/* Perf's sampling needs its NMI. */
static void check_perf_samples(void)
{
	int status = system("perf record -q -o /tmp/perf.data -e instructions:u -c 100000 -- gzip -c /pmuctl/bin/pmuctl >/dev/null 2>/tmp/perf.err &&"
			    " test \"$(perf script -i /tmp/perf.data 2>/dev/null | wc -l)\" -gt 20");

	cr_expect_eq(status, 0, "perf record: %#x", status);
}

Test(own_pmu, perf_holds_it_then_we_then_perf)
{
	struct perf_event_attr attr = instructions_u();
	unsigned int round;
	int fd;

	for (round = 0; round < 5; round++) {
		pin_where_perf_counts();
		fd = perf_try(&attr, 0, -1);
		cr_assert(fd >= 0, "perf: %s", strerror(-fd));
		check_busy_with_remedy();
		user_loop(N);
		cr_expect_gt(event_value(fd), N, "perf goes on");
		close(fd);
		check_we_count();
		check_perf_counts(N);
	}
	check_perf_samples();
}

Test(own_pmu, perf_stat_of_the_system_holds_it)
{
	pid_t perf = fork_child();

	if (!perf) {
		close(1);
		close(2);
		execlp("perf", "perf", "stat", "-a", "-e", "instructions", NULL);
		_exit(1);
	}
	while (owner() == PMUCTL_OWNER_NOBODY)
		usleep(10000);
	check_busy_with_remedy();
	cr_assert_eq(kill(perf, SIGINT), 0);
	cr_assert_eq(waitpid(perf, NULL, 0), perf);
	check_we_count();
}

Test(own_pmu, we_hold_it_and_perf_gets_ebusy_but_for_software_events)
{
	static const uint64_t hardware[] = {
		PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES,
		PERF_COUNT_HW_REF_CPU_CYCLES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	};
	struct perf_event_attr attr = instructions_u(), theirs;
	unsigned int round, i;
	int fd, software, err;

	attr.disabled = 1;
	for (round = 0; round < 5; round++) {
		fd = event_open(attr, round % 2 ? 0 : -1, round % 2 ? -1 : 1);
		for (i = 0; i < 4; i++) {
			theirs = user_attr(hardware[i]);
			err = perf_try(&theirs, 0, -1);
			cr_expect_eq(err, -EBUSY, "event %u: %d", i, err);
			err = perf_try(&theirs, -1, 0);
			cr_expect_eq(err, -EBUSY, "event %u of a CPU: %d", i, err);
		}
		theirs = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
		software = perf_try(&theirs, 0, -1);
		cr_assert(software >= 0);
		user_loop(10 * N);
		cr_expect_gt(event_value(software), 0);
		close(software);
		close(fd);
		check_perf_counts(N);
		check_we_count();
	}
}

Test(own_pmu, what_perf_tries_does_not_disturb_us)
{
	struct perf_event_attr theirs = instructions_u();
	unsigned int tries = 0;
	struct busy b;

	pin_here(0);
	do {
		busy_start(&b, 300 * N, 1);
		b.go = true;
		while (!b.done) {
			cr_assert_eq(perf_try(&theirs, -1, tries % 2), -EBUSY);
			tries++;
		}
		busy_check(&b);
	} while (tries <= 10);
}

/* When the last event is closed it is given back after a moment, in whatever order. */
Test(own_pmu, it_is_given_back_with_the_last_event)
{
	struct perf_event_attr attr = instructions_u();
	unsigned int round, i;
	int fd[3];

	for (round = 0; round < 3; round++) {
		fd[0] = event_open(attr);
		fd[1] = event_open(attr, -1, 0);
		fd[2] = event_open(attr, -1, 1);
		for (i = 0; i < 3; i++) {
			cr_expect_eq(perf_try(&attr, 0, -1), -EBUSY);
			cr_expect_eq(owner(), PMUCTL_OWNER_PMUCTL);
			close(fd[(round + i) % 3]);
		}
		while (owner() == PMUCTL_OWNER_PMUCTL)
			usleep(10000);
		cr_expect_eq(owner(), PMUCTL_OWNER_NOBODY);
		check_perf_counts(N);
	}
}

Test(own_pmu, watchdog_holds_it_then_we)
{
	unsigned int round;

	for (round = 0; round < 3; round++) {
		set_watchdog("1");
		check_busy_with_remedy();
		set_watchdog("0");
		check_we_count();
	}
	check_perf_counts(N);
}

Test(own_pmu, watchdog_switched_on_while_we_hold_it_changes_nothing)
{
	unsigned int times = 0;
	struct busy b;

	pin_here(0);
	do {
		busy_start(&b, 300 * N, 1);
		b.go = true;
		while (!b.done) {
			set_watchdog(times++ % 2 ? "0" : "1");
			cr_expect_eq(owner(), PMUCTL_OWNER_PMUCTL);
		}
		busy_check(&b);
		set_watchdog("0");
	} while (times <= 2);

	/* It can have it now. */
	set_watchdog("0");
	set_watchdog("1");
	check_busy_with_remedy();
}

/* Held by the watchdog, the PMU is not ours to read: all of it still comes back. */
Test(own_pmu, refused_opens_leave_nothing_behind)
{
	struct perf_event_attr attr = instructions_u();
	unsigned int i;

	set_watchdog("1");
	for (i = 0; i < 300; i++)
		cr_assert_eq(event_try(attr, i % 2 ? 0 : -1, i % 2 ? -1 : 0), -EBUSY);
	set_watchdog("0");
	check_we_count();
	check_perf_counts(N);
}

/* A CPU goes when nobody counts on CPUs staying; for ever, if somebody has said that he does not. */
static void check_a_cpu_may_go(void)
{
	if (get_nprocs_conf() < 2)
		return;
	set_online(1, false);
	set_online(1, true);
}

/* Whatever takes the PMU, or gives it back, is done with the CPUs when it is over. */
Test(own_pmu, cpus_may_go_after_each_change_of_owner, .timeout = 100)
{
	static const char *const claims[] = { "always", "privileged", "anyone" };
	int fd;

	for (size_t i = 0; i < RAW_ARRAY_SIZE(claims); i++) {
		cr_assert_eq(raw_write_file(RAW_CLAIM, claims[i]), 0);
		check_a_cpu_may_go();
	}
	fd = event_open(instructions_u());
	check_a_cpu_may_go();
	close(fd);
	check_a_cpu_may_go();
	/* It is given back a moment later, by somebody else. */
	while (owner() == PMUCTL_OWNER_PMUCTL)
		usleep(10000);
	check_a_cpu_may_go();
}

/* Whoever has said that it is to be kept, it goes with the module. */
Test(own_pmu, it_is_given_back_by_an_unload)
{
	cr_assert_eq(raw_write_file(RAW_CLAIM, "always"), 0);
	cr_expect_eq(owner(), PMUCTL_OWNER_PMUCTL);
	cr_assert_eq(module_unload(), 0);
	check_perf_counts(N);
	cr_assert_eq(module_load(), 0);
	check_we_count();
}
