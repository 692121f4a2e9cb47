// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading: as often as one likes, under load, never while it is in use,
 * and with every register of the PMU as it was before.
 */
#include "hybrid.h"
#include "module.h"
#include "msrs.h"
#include "userpage.h"

#define N	100000ull

/* Loading and unloading wait for several RCU grace periods, of 20 ms each in a guest. */
static void expedite_rcu(bool on)
{
	int fd = open("/sys/kernel/rcu_expedited", O_WRONLY | O_CLOEXEC);

	cr_assert(fd >= 0 && write(fd, on ? "1" : "0", 1) == 1, "%m");
	close(fd);
}

static void finish(void)
{
	expedite_rcu(false);
	module_ensure();
}

TestSuite(load_module, .init = module_ensure, .fini = finish);

static void read_by_the_page(void)
{
	struct perf_event_attr attr = instructions_u();
	int fd = event_open(attr);
	user_page *page = page_map(fd);

	cr_assert_not(counter_faults());
	page_unmap(page);
	close(fd);
	cr_assert(counter_faults());
}

static void count_a_bracket(pid_t pid, int cpu)
{
	struct perf_event_attr attr = instructions_u();
	int fd;

	attr.disabled = pid == 0;
	fd = event_open(attr, pid, cpu);
	if (!pid) {
		bracket(fd, 1000);
		cr_assert_eq(event_value(fd), bracket_instructions(1000));
	}
	close(fd);
}

Test(load_module, two_hundred_times)
{
	unsigned int i;

	for (i = 0; i < (is_debug_kernel() ? 40u : 200u); i++) {
		expedite_rcu(i % 20);
		cr_assert_eq(module_unload(), 0, "round %u: %m", i);
		cr_assert_eq(access(PMUCTL_DEVICE, F_OK), -1, "the device is there");
		cr_assert_eq(module_load(), 0, "round %u: %m", i);
		if (i % 20 == 0)
			count_a_bracket(0, -1);
	}
	cr_assert_eq(module_unload(), 0);
	check_perf_counts(N);
}

/* Processes come and go on both CPUs; some of them are counted. */
static pid_t start_fork_load(int cpu)
{
	pid_t load = fork_child(), child;

	if (load)
		return load;
	pin_here(cpu);
	for (;;) {
		child = fork_child();
		if (!child) {
			user_loop(1000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
		usleep(3000); /* others want to get on too */
	}
}

Test(load_module, fifty_times_under_a_fork_load_with_events_in_between)
{
	struct perf_event_attr attr = instructions_u();
	pid_t load[2];
	unsigned int i, k;
	int fd[4];

	for (i = 0; i < 2; i++)
		load[i] = start_fork_load(i);
	for (i = 0; i < (is_debug_kernel() ? 20u : 50u); i++) {
		expedite_rcu(i % 10);
		fd[0] = event_open(attr, load[0]);
		fd[1] = event_open(attr, load[1], 1);
		fd[2] = event_open(attr, -1, i % 2);
		fd[3] = event_open(attr);
		cr_assert_eq(module_unload(), -EWOULDBLOCK);
		count_a_bracket(0, -1);
		cr_expect_gt(event_value(fd[3]), 0);
		for (k = 0; k < 4; k++)
			close(fd[k]);
		cr_assert_eq(module_unload(), 0, "round %u: %m", i);
		cr_assert_eq(module_load(), 0, "round %u: %m", i);
	}
	for (i = 0; i < 2; i++) {
		kill(load[i], SIGKILL);
		waitpid(load[i], NULL, 0);
	}
}

Test(load_module, refused_while_the_device_is_open)
{
	int device = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC);

	cr_assert(device >= 0);
	cr_expect_eq(module_unload(), -EWOULDBLOCK);
	close(device);
	cr_expect_eq(module_unload(), 0);
}

Test(load_module, refused_while_an_event_is_open_anywhere)
{
	struct perf_event_attr attr = instructions_u();
	int fd, status, ends[2];
	pid_t holder;
	char byte;

	fd = event_open(attr);
	cr_expect_eq(module_unload(), -EWOULDBLOCK);
	close(fd);
	fd = event_open(attr, -1, 1);
	cr_expect_eq(module_unload(), -EWOULDBLOCK);

	/* A child has inherited the descriptor. */
	cr_assert_eq(pipe(ends), 0);
	holder = fork_child();
	if (!holder)
		_exit(read(ends[0], &byte, 1) != 1);
	close(fd);
	cr_expect_eq(module_unload(), -EWOULDBLOCK);
	cr_assert_eq(write(ends[1], "x", 1), 1);
	cr_assert_eq(waitpid(holder, &status, 0), holder);
	cr_expect_eq(module_unload(), 0);
}

/* The target has ended, its event is still open. */
Test(load_module, refused_while_the_event_of_a_dead_task_is_open)
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	int fd;

	worker_start(&w, false);
	fd = event_open(attr, w.tid);
	worker_end(&w);
	cr_expect_eq(module_unload(), -EWOULDBLOCK);
	cr_expect_gt(event_value(fd), 0);
	close(fd);
	cr_expect_eq(module_unload(), 0);
}

/* Whose forks are looked at as long as it runs, but not by a module that has gone. */
Test(load_module, unload_while_a_process_runs_that_has_read_a_counter)
{
	pid_t child;

	for (unsigned int i = 0; i < 4; i++) {
		read_by_the_page();
		cr_assert_eq(module_unload(), 0);
		child = fork_child();
		if (!child)
			_exit(0);
		cr_assert_eq(waitpid(child, NULL, 0), child);
		cr_assert_eq(module_load(), 0);
	}
}

/* Hooks stay for a moment after the last event: unload does not trip over them. */
Test(load_module, unload_right_after_the_last_event)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		expedite_rcu(i % 4);
		count_a_bracket(0, -1);
		cr_assert_eq(module_unload(), 0);
		cr_assert_eq(module_load(), 0);
	}
}

/* ---- Registers ---- */

/* Of each CPU */
static struct msrs msrs[2];

static void find_msrs(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < 2; cpu++) {
		pin_here(cpu);
		msrs[cpu] = msrs_find();
	}
}

static void read_msrs(uint64_t value[2][MSRS_MAX])
{
	unsigned int cpu;

	for (cpu = 0; cpu < 2; cpu++)
		msrs_read(&msrs[cpu], cpu, value[cpu]);
}

static void expect_same_msrs(uint64_t a[2][MSRS_MAX], uint64_t b[2][MSRS_MAX])
{
	unsigned int cpu, i;

	for (cpu = 0; cpu < 2; cpu++)
		for (i = 0; i < msrs[cpu].n; i++)
			cr_expect_eq(a[cpu][i], b[cpu][i],
				     "CPU %u, MSR %#x: %#lx became %#lx", cpu,
				     msrs[cpu].addr[i], a[cpu][i], b[cpu][i]);
}

static bool differ(uint64_t a[2][MSRS_MAX], uint64_t b[2][MSRS_MAX])
{
	return memcmp(a, b, 2 * sizeof(a[0]));
}

/* Perf leaves its counters as they were last: so there is something to give back. */
static void leave_traces_of_perf(void)
{
	raw_give_back();
	cr_assert_eq(system("perf stat -a -e instructions,branches,cycles,instructions,branches true 2>/dev/null"), 0);
}

static void use_every_counter(void)
{
	uint64_t configs[PMU_MAX];
	unsigned int cpu, i, n = pmu_fill(configs);
	int fd[2][PMU_MAX];

	for (cpu = 0; cpu < 2; cpu++)
		for (i = 0; i < n; i++) {
			struct perf_event_attr attr = user_attr(configs[i]);

			fd[cpu][i] = event_open(attr, -1, cpu);
		}
	for (cpu = 0; cpu < 2; cpu++) {
		pin_here(cpu);
		user_loop(N);
	}
	for (cpu = 0; cpu < 2; cpu++)
		for (i = 0; i < n; i++)
			close(fd[cpu][i]);
}

Test(load_module, every_register_is_given_back)
{
	uint64_t before[2][MSRS_MAX], during[2][MSRS_MAX], after[2][MSRS_MAX];
	struct perf_event_attr attr = instructions_u();
	int fd;

	find_msrs();
	cr_assert_eq(module_unload(), 0);
	leave_traces_of_perf();
	read_msrs(before);
	cr_expect_neq(before[0][0], 0, "perf has left an event");

	cr_assert_eq(module_load(), 0);
	read_msrs(after);
	expect_same_msrs(before, after);

	fd = event_open(attr, -1, 0);
	read_msrs(during);
	cr_expect(differ(before, during), "the registers are not those of the PMU");
	close(fd);
	cr_assert_eq(raw_give_back(), 0);
	read_msrs(after);
	expect_same_msrs(before, after);

	use_every_counter();
	cr_assert_eq(raw_give_back(), 0);
	read_msrs(after);
	expect_same_msrs(before, after);
	cr_assert_eq(module_unload(), 0);
	read_msrs(after);
	expect_same_msrs(before, after);
	check_perf_counts(N);
}

/* The local vector table cannot be read from here: who uses it next tells. */
Test(load_module, perf_samples_and_the_watchdog_works_after_unload)
{
	use_every_counter();
	cr_assert_eq(module_unload(), 0);
	cr_expect_eq(system("perf record -q -o /tmp/load.data -e instructions:u -c 100000 -- gzip -c /pmuctl/bin/pmuctl >/dev/null 2>&1 && test \"$(perf script -i /tmp/load.data 2>/dev/null | wc -l)\" -gt 20"),
		     0, "perf's NMIs do not come");
	cr_expect_eq(system("echo 1 >/proc/sys/kernel/nmi_watchdog && echo 0 >/proc/sys/kernel/nmi_watchdog"),
		     0);
}

/* Nothing of it is left to be seen. */
Test(load_module, no_trace_after_unload)
{
	use_every_counter();
	cr_assert_eq(module_unload(), 0);
	cr_expect_neq(system("grep -q pmuctl /proc/slabinfo /proc/modules /proc/misc /proc/devices"),
		      0);
	cr_expect_eq(access("/sys/module/pmuctl", F_OK), -1);
	cr_expect_neq(system("grep -rq pmuctl /sys/devices/system/cpu/hotplug/states"),
		      0);
}
