// SPDX-License-Identifier: GPL-2.0-only
/*
 * More events than counters while overcommit is 0: refused with the numbers of those that are in the way, on
 * general and fixed counters, for tasks, for CPUs, and where both meet. Any number of
 * counters will do, so this runs on PMUs of several sizes.
 */
#include "hybrid.h"
#include "pmu.h"
#include "refusal.h"

#define MAX_EVENTS	64
#define BRANCHES	pmu_raw_branches()	/* general counters only */
#define INSTRUCTIONS	0xc0			/* general, or fixed counter 0 */
#define CYCLES		pmu_raw_cycles()	/* general, or fixed counter 1 */
#define REF_CYCLES	0x300			/* fixed counter 2 only */

/* The CPU that has the fewest counters, the first of several, and how many these are */
static int first, n;

static int general_of(int cpu)
{
	if (!is_hybrid())
		return raw_info().nr_counters;
	return cpu == first ? SMALL_GENERAL : BIG_GENERAL;
}

static int fixed_of(int cpu)
{
	if (!is_hybrid())
		return raw_info().nr_fixed;
	return cpu == first ? SMALL_FIXED : BIG_FIXED;
}

static void forbid_overcommit(void)
{
	first = is_hybrid() ? cpu_of_type(CORE_EFFICIENCY) : 0;
	n = general_of(first);
	raw_write_file("/sys/module/pmuctl/parameters/overcommit", "0");
}

static void allow_overcommit(void)
{
	raw_write_file("/sys/module/pmuctl/parameters/overcommit", "1");
}

TestSuite(refuse_counters, .init = forbid_overcommit, .fini = allow_overcommit);

static int fds[MAX_EVENTS];
static int nr_fds;

static void push(uint64_t config, int pid, int cpu)
{
	union raw_attr a = raw_attr(PERF_TYPE_RAW, config);

	cr_assert_lt(nr_fds, MAX_EVENTS);
	fds[nr_fds++] = event_open(a, pid, cpu);
}

static void push_many(int n, uint64_t config, int pid, int cpu)
{
	while (n--)
		push(config, pid, cpu);
}

static void pop(void)
{
	close(fds[--nr_fds]);
}

/* One more event is refused: there are @of_task events of its task, @of_cpu of @on. */
static void check_full(uint64_t config, int pid, int cpu, unsigned int of_task,
		       unsigned int of_cpu, unsigned int on)
{
	union raw_attr a = raw_attr(PERF_TYPE_RAW, config);

	check_refused(OPEN(a, pid, cpu), EBUSY, PMUCTL_WHY_COUNTERS_TAKEN, "attr.config",
		      "no counter is left: %u events of a task and %u of CPU %u are open, on %u general and %u fixed counters that not every event can use: close some, or allow overcommit",
		      of_task, of_cpu, on, general_of(on), fixed_of(on));
	cr_assert_eq(raw_info().hw_events, (unsigned int)nr_fds);
}

Test(refuse_counters, of_a_task)
{
	push_many(n, BRANCHES, 0, -1);
	check_full(BRANCHES, 0, -1, n, 0, first);
	pop();
	push(BRANCHES, 0, -1);
	check_full(BRANCHES, 0, -1, n, 0, first);
}

Test(refuse_counters, software_events_need_none)
{
	union raw_attr a = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);

	event_open(a);
	event_open(a, -1, first);
	push_many(n, BRANCHES, 0, -1);
	check_full(BRANCHES, 0, -1, n, 0, first);
}

Test(refuse_counters, of_a_cpu)
{
	push_many(general_of(1), BRANCHES, -1, 1);
	check_full(BRANCHES, -1, 1, 0, general_of(1), 1);
	/* The other CPU has counters of its own. */
	push_many(general_of(0), BRANCHES, -1, 0);
	check_full(BRANCHES, -1, 0, 0, general_of(0), 0);
	pop();
	push(BRANCHES, -1, 0);
}

Test(refuse_counters, fixed_ones_serve_their_own_event_only)
{
	push_many(n, BRANCHES, 0, -1);
	if (!pmu_fixed()) {
		check_full(INSTRUCTIONS, 0, -1, n, 0, first);
		check_full(CYCLES, 0, -1, n, 0, first);
		return;
	}
	push(INSTRUCTIONS, 0, -1);
	check_full(INSTRUCTIONS, 0, -1, n + 1, 0, first);
	push(CYCLES, 0, -1);
	check_full(CYCLES, 0, -1, n + 2, 0, first);
	/* A fixed counter knows no counter mask, so this needs a general one. */
	check_full(INSTRUCTIONS | 1 << 24, 0, -1, n + 2, 0, first);
	push(REF_CYCLES, 0, -1);
	check_full(BRANCHES, 0, -1, n + 3, 0, first);
}

Test(refuse_counters, reference_cycles_have_one_counter)
{
	union raw_attr a = raw_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES);
	struct pmuctl_info info = raw_info();

	if (!pmu_fixed()) {
		check_refused(OPEN(a), ENOENT, PMUCTL_WHY_EVENT_NOT_HERE, "attr.config",
			      "this CPU (%s) has no event for ref-cycles: use a raw event of this CPU, 'pmuctl list' shows them",
			      info.pmu_name);
		return;
	}
	push(REF_CYCLES, 0, -1);
	check_full(REF_CYCLES, 0, -1, 1, 0, 0);
	pop();
	push(REF_CYCLES, 0, -1);
}

/* What could be on a fixed counter goes there when a general one is wanted. */
Test(refuse_counters, every_placement_is_found)
{
	int all = n + !!pmu_fixed();

	push_many(all, INSTRUCTIONS, 0, -1);
	check_full(INSTRUCTIONS, 0, -1, all, 0, first);
	check_full(BRANCHES, 0, -1, all, 0, first);
	pop();
	push(BRANCHES, 0, -1);
	check_full(BRANCHES, 0, -1, all, 0, first);
}

Test(refuse_counters, of_a_task_and_a_cpu_that_meet)
{
	int half = n / 2, there = is_hybrid() ? first : 1, other = !there;
	int all = general_of(other);

	push_many(half, BRANCHES, -1, there);
	push_many(n - half, BRANCHES, 0, -1);
	check_full(BRANCHES, 0, -1, n - half, half, there);
	check_full(BRANCHES, 0, there, n - half, half, there);
	check_full(BRANCHES, -1, there, n - half, half, there);
	/* On the other CPU there is nothing but the task. */
	push_many(all - (n - half), BRANCHES, 0, other);
	check_full(BRANCHES, 0, other, all, 0, other);
	check_full(BRANCHES, -1, other, all, 0, other);
}

Test(refuse_counters, events_bound_to_a_cpu_count_there_only)
{
	push_many(general_of(0), BRANCHES, 0, 0);
	check_full(BRANCHES, 0, 0, general_of(0), 0, 0);
	push_many(general_of(1), BRANCHES, 0, 1);
	check_full(BRANCHES, 0, 1, general_of(1), 0, 1);
	check_full(BRANCHES, 0, -1, general_of(0), 0, 0);
}

Test(refuse_counters, tasks_do_not_take_them_from_each_other)
{
	pid_t pid = raw_sleeper();

	push_many(n, BRANCHES, 0, -1);
	push_many(n, BRANCHES, pid, -1);
	check_full(BRANCHES, pid, -1, n, 0, first);
	check_full(BRANCHES, -1, first, n, 0, first);
	raw_reap(pid);
}

Test(refuse_counters, of_a_task_that_has_ended_are_free)
{
	pid_t pid = raw_sleeper();

	push_many(n, BRANCHES, pid, -1);
	check_full(BRANCHES, -1, first, n, 0, first);
	raw_reap(pid);
	push_many(n, BRANCHES, -1, first);
}

/* A refusal takes nothing away: all that were open go on counting. */
Test(refuse_counters, those_that_are_open_count_on)
{
	push_many(n, BRANCHES, 0, -1);
	for (int i = 0; i < n; i++)
		cr_assert_eq(ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0), 0);
	check_full(BRANCHES, 0, -1, n, 0, first);
	user_loop(100000);
	for (int i = 0; i < n; i++)
		cr_assert_eq(ioctl(fds[i], PERF_EVENT_IOC_DISABLE, 0), 0);
	for (int i = 0; i < n; i++)
		cr_assert_geq(raw_read(fds[i]), 100000);
}

/* ---- Counters that are kept for events of CPUs ---- */

#define RESERVE	"/sys/module/pmuctl/parameters/reserve_percpu"

static void allow_all(void)
{
	raw_write_file(RESERVE, "0");
	allow_overcommit();
}

Test(refuse_counters, reserve_percpu_is_a_number_of_general_counters, .fini = allow_all)
{
	int general = raw_info().nr_counters;

	cr_assert_eq(raw_write_file(RESERVE, "many"), -EINVAL);
	cr_assert_eq(raw_write_file(RESERVE, "-1"), -EINVAL);
	cr_assert_eq(raw_write_number(RESERVE, general + 100), -ERANGE);
	cr_assert_eq(raw_write_number(RESERVE, general), 0);
	cr_assert_eq(raw_read_number(RESERVE), general);
}

/* A task's event is refused, a CPU's is not; and what is left a task's may use. */
Test(refuse_counters, reserved_counters_are_not_for_tasks, .fini = allow_all)
{
	union raw_attr a = raw_attr(PERF_TYPE_RAW, BRANCHES);

	cr_assert_eq(raw_write_number(RESERVE, n), 0);
	if (!is_hybrid())
		check_refused(OPEN(a), EBUSY, PMUCTL_WHY_COUNTERS_RESERVED, "attr.config",
			      "all counters that this event could use are kept for events of CPUs: lower the module's parameter reserve_percpu, now %d, or count a CPU",
			      n);
	close(event_open(a, -1, first));
	cr_assert_eq(raw_write_number(RESERVE, n - 1), 0);
	push(BRANCHES, 0, -1);
	cr_assert_eq(raw_open(&a, 0, -1, 0, NULL), -EBUSY);
	cr_assert_eq(ioctl(fds[0], PERF_EVENT_IOC_ENABLE, 0), 0);
	user_loop(1000);
	cr_assert_eq(ioctl(fds[0], PERF_EVENT_IOC_DISABLE, 0), 0);
	cr_assert_geq(raw_read(fds[0]), 1000);
	/* The CPU's may use that one too, but not at the same time. */
	push_many(n - 1, BRANCHES, -1, first);
	cr_assert_eq(raw_open(&a, -1, first, 0, NULL), -EBUSY);
	while (nr_fds)
		pop();
}
