// SPDX-License-Identifier: GPL-2.0-only
/*
 * A processor with performance and efficiency cores: generic events count on both, and follow a
 * task that moves between them, to the instruction and as perf counts them; events that
 * only one type has are refused where they cannot count, and stand still while their task is
 * there. For guests with --cpu hybrid, hybrid-own and hybrid-silent: what CPUID tells of the
 * counters differs.
 */
#include "groups.h"
#include "hybrid.h"
#include "pmu.h"
#include "records.h"
#include "refusal.h"

#define N		100000ull
#define MOVES		60

/* Only performance cores have it: TOPDOWN.SLOTS, fixed counter 3. Here: one a cycle */
#define SLOTS		0x0400
/* Only efficiency cores have it: accesses of the first cache of instructions */
#define L1I_ACCESSES	PERF_COUNT_HW_CACHE_L1I

static int big, small;

static void find_cpus(void)
{
	big = cpu_of_type(CORE_PERFORMANCE);
	small = cpu_of_type(CORE_EFFICIENCY);
	pin_here(0);
	sampling_init();
}

TestSuite(pmu_hybrid, .init = find_cpus, .fini = sampling_fini);

static struct perf_event_attr slots_u(void)
{
	return raw_u(SLOTS);
}

static struct perf_event_attr accesses_u(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_HW_CACHE, L1I_ACCESSES);

	attr.exclude_kernel = 1;
	return attr;
}

/* ---- What both have ---- */

Test(pmu_hybrid, info_has_what_all_cpus_have)
{
	struct pmuctl_info info = raw_info();

	cr_expect_eq(info.nr_counters, SMALL_GENERAL, "%u", info.nr_counters);
	cr_expect_eq(info.nr_fixed, SMALL_FIXED, "%u", info.nr_fixed);
	cr_expect_str_eq(info.pmu_name, "Intel architectural PMU version 5, hybrid");
	cr_expect_str_empty(info.pmu_reason);
	cr_expect_eq(info.generic_events,
		     0x7f | 1 << PERF_COUNT_HW_REF_CPU_CYCLES, "%#llx",
		     (unsigned long long)info.generic_events);
}

Test(pmu_hybrid, generic_events_count_on_both_types)
{
	static const struct {
		uint64_t config, per_round;
	} events[] = {
		{ PERF_COUNT_HW_INSTRUCTIONS, LOOP_INSTRUCTIONS },
		{ PERF_COUNT_HW_BRANCH_INSTRUCTIONS, LOOP_BRANCHES },
		{ PERF_COUNT_HW_CPU_CYCLES, LOOP_INSTRUCTIONS },
	};
	struct worker w;
	unsigned int i;
	int cpu, fd;

	worker_start(&w, false);
	for (i = 0; i < RAW_ARRAY_SIZE(events); i++) {
		struct perf_event_attr attr = user_attr(events[i].config);

		fd = event_open(attr, w.tid);
		for (cpu = 0; cpu < 2; cpu++) {
			pin_task(w.tid, cpu);
			cr_expect_eq(worker_count_loop(&w, fd, N), events[i].per_round * N,
				     "event %lu on CPU %d", events[i].config, cpu);
		}
		cr_expect_eq(event_read(fd).enabled, event_read(fd).running);
		close(fd);
	}
	worker_end(&w);
}

/* All counters of each at once, with events of the CPU */
Test(pmu_hybrid, each_cpu_uses_all_its_counters)
{
	struct perf_event_attr attr = branches_u();
	int fd[2][BIG_GENERAL], cpu, i, n[2];
	struct worker w;

	n[big] = BIG_GENERAL;
	n[small] = SMALL_GENERAL;
	worker_start(&w, false);
	for (cpu = 0; cpu < 2; cpu++)
		for (i = 0; i < n[cpu]; i++)
			fd[cpu][i] = event_open(attr, -1, cpu);
	for (cpu = 0; cpu < 2; cpu++) {
		pin_task(w.tid, cpu);
		worker_run(&w, N);
		for (i = 0; i < n[cpu]; i++) {
			struct counts c = event_read(fd[cpu][i]);

			cr_expect_geq(c.value, N, "CPU %d", cpu);
			cr_expect_eq(c.enabled, c.running, "CPU %d", cpu);
		}
	}
	worker_end(&w);
}

/* Loops of the worker, here and there, and moved while it loops. Returns their rounds. */
static uint64_t run_moving(struct worker *w)
{
	unsigned int i;

	for (i = 0; i < MOVES; i++) {
		pin_task(w->tid, i % 2);
		worker_run(w, N);
	}
	worker_order(w, 100 * N);
	for (i = 0; !worker_is_done(w); i++) {
		pin_task(w->tid, i % 2);
		usleep(1000);
	}
	return (MOVES + 100) * N;
}

Test(pmu_hybrid, a_task_that_moves_is_counted_to_the_instruction)
{
	struct perf_event_attr insns = instructions_u(), branches = branches_u();
	uint64_t around, around_b, rounds;
	struct worker w;
	int fd, fd_b;

	worker_start(&w, false);
	fd = event_open(insns, w.tid);
	fd_b = event_open(branches, w.tid);
	around = worker_count(&w, fd, 1) - LOOP_INSTRUCTIONS;
	around_b = event_value(fd_b) - LOOP_BRANCHES;
	rounds = run_moving(&w);
	cr_expect_eq(event_value(fd), LOOP_INSTRUCTIONS * (rounds + 1) + (MOVES + 2) * around,
		     "%lu", event_value(fd));
	cr_expect_eq(event_value(fd_b), LOOP_BRANCHES * (rounds + 1) + (MOVES + 2) * around_b,
		     "%lu", event_value(fd_b));
	cr_expect_eq(event_read(fd).enabled, event_read(fd).running);
	worker_end(&w);
}

/* What perf's PMUs for each type count together, or the one that it has for all */
static uint64_t perfs_of_moving(struct perf_event_attr attr, struct worker *w)
{
	static const unsigned int types[] = { CORE_PERFORMANCE, CORE_EFFICIENCY };
	unsigned int i, n = perf_has_types() ? 2 : 1;
	uint64_t value = 0;
	int fd[2];

	for (i = 0; i < n; i++) {
		struct perf_event_attr of_type = perf_attr(attr, types[i]);

		fd[i] = perf_try(&of_type, w->tid, -1);
		cr_assert_geq(fd[i], 0, "type %#x: %d", types[i], fd[i]);
	}
	run_moving(w);
	for (i = 0; i < n; i++) {
		cr_expect_gt(event_value(fd[i]), 0);
		value += event_value(fd[i]);
		close(fd[i]);
	}
	return value;
}

Test(pmu_hybrid, perf_counts_the_same_of_a_task_that_moves)
{
	struct perf_event_attr attrs[] = { instructions_u(), branches_u() };
	uint64_t ours, perfs;
	struct worker w;
	unsigned int i;
	int fd;

	worker_start(&w, false);
	for (i = 0; i < RAW_ARRAY_SIZE(attrs); i++) {
		fd = event_open(attrs[i], w.tid);
		run_moving(&w);
		ours = event_value(fd);
		close(fd);
		perfs = perfs_of_moving(attrs[i], &w);
		cr_expect_eq(ours, perfs, "event %u: %lu, perf %lu", i, ours, perfs);
	}
	worker_end(&w);
}

Test(pmu_hybrid, samples_of_a_task_that_moves_are_complete)
{
	struct perf_event_attr attr = sampling_attr(10007);
	uint64_t samples = 0, value;
	struct ring ring;
	struct worker w;
	unsigned int i;
	int fd;

	worker_start(&w, false);
	attr.disabled = 0;
	fd = event_open(attr, w.tid);
	ring_map(&ring, fd, 64);
	for (i = 0; i < MOVES; i++) {
		pin_task(w.tid, i % 2);
		worker_run(&w, N);
		samples += ring_drain(&ring, PERF_RECORD_SAMPLE);
	}
	value = sampling_value(fd);
	cr_expect_gt(value, MOVES * LOOP_INSTRUCTIONS * N);
	cr_expect_eq(samples, value / 10007, "%lu samples of %lu", samples, value);
	ring_unmap(&ring);
	worker_end(&w);
}

Test(pmu_hybrid, all_cpus_through_one_descriptor)
{
	struct perf_event_attr attr = branches_u();
	struct pmuctl_cpu_count before[2], after[2];
	struct pmuctl_read_cpus args = { .size = sizeof(args), .nr = 2,
		.entry_size = sizeof(*before) };
	int cpu, fd = event_open(attr, -1);

	args.counts = (uintptr_t)before;
	cr_assert_eq(ioctl(fd, PMUCTL_IOC_READ_CPUS, &args), 0, "%m");
	for (cpu = 0; cpu < 2; cpu++) {
		pin_here(cpu);
		user_loop(N);
	}
	args.nr = 2;
	args.counts = (uintptr_t)after;
	cr_assert_eq(ioctl(fd, PMUCTL_IOC_READ_CPUS, &args), 0, "%m");
	for (cpu = 0; cpu < 2; cpu++)
		cr_expect_geq(after[cpu].value - before[cpu].value, N, "CPU %d", cpu);
}

/* ---- What only one type has ---- */

static void check_other_cpus(struct perf_event_attr attr, pid_t pid, int cpu, int at)
{
	char sentence[256];

	snprintf(sentence, sizeof(sentence),
		 "CPU %d (Intel %s core, PMU version 5) cannot count this, CPUs of another type can: open it on these, or for a task with cpu -1, which is counted while it is there",
		 at, at == big ? "performance" : "efficiency");
	check_refused(OPEN(attr, pid, cpu), ENOENT, PMUCTL_WHY_EVENT_OTHER_CPUS, "cpu", "%s",
		      sentence);
}

/* ---- What is for one type ---- */

/* The same event, on CPUs of a type */
static struct perf_event_attr of_type(struct perf_event_attr attr, int cpu)
{
	uint64_t type = cpu == big ? PMUCTL_TYPE_CPU_CORE : PMUCTL_TYPE_CPU_ATOM;

	if (attr.type == PERF_TYPE_RAW)
		attr.type = type;
	else
		attr.config |= type << 32;
	return attr;
}

Test(pmu_hybrid, an_event_of_one_type_counts_there_alone)
{
	const struct perf_event_attr attrs[] = { branches_u(), raw_u(0x00c4) };
	struct worker w;
	int cpu, at, fd;

	worker_start(&w, false);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(attrs); i++) {
		for (cpu = 0; cpu < 2; cpu++) {
			struct perf_event_attr attr = of_type(attrs[i], cpu);

			fd = event_open(attr, w.tid);
			for (at = 0; at < 2; at++) {
				pin_task(w.tid, at);
				cr_expect_eq(worker_count_loop(&w, fd, N),
					     at == cpu ? LOOP_BRANCHES * N : 0,
					     "event %zu of CPU %d on %d", i, cpu, at);
			}
			cr_expect_gt(event_read(fd).running, 0);
			cr_expect_lt(event_read(fd).running, event_read(fd).enabled);
			close(fd);
			attr.disabled = 0;
			fd = event_open(attr, -1, cpu);
			pin_here(cpu);
			user_loop(N);
			cr_expect_geq(event_value(fd), N);
			close(fd);
		}
	}
	worker_end(&w);
}

Test(pmu_hybrid, both_types_add_up)
{
	struct perf_event_attr attr = branches_u(), of_big = of_type(attr, big),
			       of_small = of_type(attr, small);
	uint64_t on_big, on_small;
	int fd, fd_big, fd_small;
	struct worker w;

	worker_start(&w, false);
	fd = event_open(attr, w.tid);
	fd_big = event_open(of_big, w.tid);
	fd_small = event_open(of_small, w.tid);
	for (int cpu = 0; cpu < 2; cpu++) {
		pin_task(w.tid, cpu);
		worker_run(&w, N);
	}
	/* Enabled while it sleeps, so that all see the same of it */
	for (int at = 0; at < 3; at++)
		event_ioctl((int[]){ fd, fd_big, fd_small }[at], PERF_EVENT_IOC_ENABLE);
	run_moving(&w);
	on_big = event_value(fd_big);
	on_small = event_value(fd_small);
	cr_expect_gt(on_big, N);
	cr_expect_gt(on_small, N);
	cr_expect_eq(on_big + on_small, event_value(fd), "%lu and %lu of %lu", on_big, on_small,
		     event_value(fd));
	worker_end(&w);
}

Test(pmu_hybrid, an_event_of_one_type_is_refused_elsewhere)
{
	struct perf_event_attr attr = of_type(branches_u(), big), sibling = of_type(slots_u(), small);
	int fd = event_open(attr);

	check_other_cpus(of_type(branches_u(), big), -1, small, small);
	check_other_cpus(of_type(branches_u(), small), 0, big, big);
	check_other_cpus(of_type(raw_u(0x00c4), small), -1, big, big);
	/* Its own reason, not that of the other type */
	check_refused(OPEN(sibling), ENOENT, PMUCTL_WHY_EVENT_NOT_HERE, "attr.config",
		      "this CPU (Intel efficiency core, PMU version 5) has no event for that counter's event: use a raw event of this CPU, 'pmuctl list' shows them");
	attr = of_type(branches_u(), small);
	check_refused(OPEN(attr, .group = fd), EINVAL, PMUCTL_WHY_GROUP_OTHER_CPUS, "group_fd",
		      "no type of CPU can count both this event and all that its group has: open it in another group");
	close(fd);
}

Test(pmu_hybrid, a_cpu_that_lacks_an_event_refuses_it)
{
	struct perf_event_attr attr = slots_u();

	check_other_cpus(slots_u(), -1, small, small);
	check_other_cpus(slots_u(), 0, small, small);
	check_other_cpus(slots_u(), -1, -1, small);
	check_other_cpus(accesses_u(), -1, big, big);
	check_other_cpus(accesses_u(), 0, big, big);
	check_other_cpus(accesses_u(), -1, -1, big);
	close(event_open(attr, -1, big));
	close(event_open(attr, 0, big));
	attr = accesses_u();
	close(event_open(attr, -1, small));
	close(event_open(attr, 0, small));
}

/* Its time runs, but not the time in which it counts; others are not in its way. */
static void check_stands_still(struct perf_event_attr attr)
{
	struct perf_event_attr other = instructions_u();
	struct counts before, after;
	struct worker w;
	int fd, beside;
	unsigned int i;

	worker_start(&w, false);
	fd = event_open(attr, w.tid);
	beside = event_open(other, w.tid);
	for (i = 0; i < 3; i++) {
		pin_task(w.tid, big);
		before = event_read(fd);
		cr_expect_eq(worker_count_loop(&w, fd, N), LOOP_INSTRUCTIONS * N);
		after = event_read(fd);
		cr_expect_gt(after.running, before.running);
		cr_expect_eq(after.running - before.running, after.enabled - before.enabled);

		pin_task(w.tid, small);
		before = event_read(fd);
		worker_run(&w, N);
		after = event_read(fd);
		cr_expect_eq(after.value, before.value);
		cr_expect_eq(after.running, before.running);
		cr_expect_gt(after.enabled, before.enabled);
	}
	cr_expect_eq(event_read(beside).enabled, event_read(beside).running);
	worker_end(&w);
}

Test(pmu_hybrid, an_event_stands_still_where_it_cannot_count)
{
	check_stands_still(slots_u());
}

Test(pmu_hybrid, a_pinned_event_is_not_in_error_where_it_cannot_count)
{
	check_stands_still(pinned(slots_u()));
}

#define TURNS	200u

/* Loop as often as a byte comes, and pass it on; in the second half on a small CPU. */
static pid_t take_turns(const int in[2], const int out[2])
{
	pid_t pid = fork();
	char byte;

	if (pid)
		return pid;
	for (unsigned int i = 0; i < TURNS; i++) {
		if (read(in[0], &byte, 1) != 1)
			_exit(1);
		if (i == TURNS / 2)
			pin_here(small);
		user_loop(1000);
		if (write(out[1], &byte, 1) != 1)
			_exit(2);
	}
	_exit(0);
}

/* Two children that have the same events exchange what runs, and what does not stands still. */
Test(pmu_hybrid, children_take_turns_where_an_event_cannot_count)
{
	struct perf_event_attr slots = slots_u(), instructions = instructions_u();
	int there[2], back[2], fd, beside, status;
	struct counts c;
	pid_t pid[2];

	pin_here(big);
	slots.inherit = 1;
	slots.inherit_stat = 1;
	instructions.inherit = 1;
	fd = event_open(slots);
	beside = event_open(instructions);
	cr_assert_eq(pipe(there) | pipe(back), 0);
	pid[0] = take_turns(there, back);
	pid[1] = take_turns(back, there);
	cr_assert_eq(write(there[1], "x", 1), 1);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(waitpid(pid[i], &status, 0), pid[i]);
		cr_expect_eq(status, 0, "%#x", status);
	}
	c = event_read(fd);
	cr_expect_geq(c.value, TURNS * 1000 * LOOP_INSTRUCTIONS, "one a cycle");
	cr_expect_lt(c.running, c.enabled);
	c = event_read(beside);
	cr_expect_geq(c.value, 2 * TURNS * 1000 * LOOP_INSTRUCTIONS);
	cr_expect_eq(c.running, c.enabled);
}

/* The group stands still as a whole. */
Test(pmu_hybrid, a_group_counts_where_all_of_it_can)
{
	struct perf_event_attr attr = slots_u(), member = instructions_u();
	struct worker w;
	uint64_t value;
	int fd, sibling;

	worker_start(&w, false);
	pin_task(w.tid, small);
	fd = event_open(attr, w.tid);
	sibling = event_try(member, w.tid, .group = fd);
	cr_assert_geq(sibling, 0, "%s", event_why.sentence);
	worker_run(&w, N);
	cr_expect_eq(event_value(fd), 0);
	cr_expect_eq(event_value(sibling), 0);
	pin_task(w.tid, big);
	cr_expect_eq(worker_count_loop(&w, sibling, N), LOOP_INSTRUCTIONS * N);
	value = event_value(sibling);
	cr_expect_eq(event_value(fd), value, "%lu, %lu", event_value(fd), value);
	worker_end(&w);
}

Test(pmu_hybrid, a_group_that_no_cpu_has_is_refused)
{
	check_refused(OPEN(accesses_u(), .group = event_open(slots_u())), EINVAL,
		      PMUCTL_WHY_GROUP_OTHER_CPUS, "group_fd",
		      "no type of CPU can count both this event and all that its group has: open it in another group");
}

static void check_room(struct perf_event_attr first, pid_t pid, int cpu, unsigned int room,
		       unsigned int general, unsigned int fixed)
{
	int leader = event_try(first, pid, cpu);
	bool of_branches = first.type == PERF_TYPE_HARDWARE;
	char sentence[256];
	unsigned int i;

	cr_assert_geq(leader, 0, "%s", event_why.sentence);
	for (i = of_branches; i < room; i++)
		cr_assert_geq(event_try(branches_u(), pid, cpu, .group = leader), 0, "%s",
			      event_why.sentence);
	snprintf(sentence, sizeof(sentence),
		 "this event and the %u already in its group can never be on the PMU at once (%u general and %u fixed counters, not every event can use each): open it in another group",
		 room + !of_branches, general, fixed);
	check_refused(OPEN(branches_u(), pid, cpu, .group = leader), EINVAL,
		      PMUCTL_WHY_GROUP_TOO_BIG, "group_fd", "%s", sentence);
}

/* A group must fit where it can be: all CPUs for a task, unless only some have its events. */
Test(pmu_hybrid, a_group_has_the_room_of_its_cpus)
{
	check_room(branches_u(), -1, big, BIG_GENERAL, BIG_GENERAL, BIG_FIXED);
	check_room(branches_u(), -1, small, SMALL_GENERAL, SMALL_GENERAL, SMALL_FIXED);
	check_room(branches_u(), 0, -1, SMALL_GENERAL, SMALL_GENERAL, SMALL_FIXED);
	check_room(slots_u(), 0, -1, BIG_GENERAL, BIG_GENERAL, BIG_FIXED);
}
