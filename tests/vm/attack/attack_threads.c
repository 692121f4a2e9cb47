// SPDX-License-Identifier: GPL-2.0-only
/*
 * AnyThread, bit 21 of a raw event on PMU versions 3 and 4: the counter counts what the other
 * hyperthread of its core executes too, whoever's program that is. It takes the rights of an
 * event of a CPU. Where there is no such bit it is refused to everybody. The witness is
 * perf.
 */
#include "loops.h"
#include "perm.h"

#define ANY_THREAD	(1ULL << 21)
#define RETIRED		0x00c0	/* INST_RETIRED.ANY_P, architectural */

static bool has_any_thread(void)
{
	struct raw_cpuid leaf = raw_cpuid(0xa);

	return (leaf.eax & 0xff) >= 3 && !(leaf.edx & 1 << 15);
}

static struct perf_event_attr any_thread(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_RAW, RETIRED | ANY_THREAD);

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	return attr;
}

/* What is said to a caller, in a process of its own; ours, then perf's */
static int answers(enum perm_caller caller, int *perf)
{
	int *said = perm_shared(2 * sizeof(*said));
	pid_t pid;

	raw_settled_info();
	pid = fork();
	if (!pid) {
		struct perf_event_attr attr = any_thread();

		if (perm_become(caller))
			_exit(1);
		said[0] = event_try(attr);
		if (said[0] >= 0) {
			close(said[0]);
			said[0] = 0;
		} else if (said[0] == -EACCES) {
			check_why(&event_why, EACCES, PMUCTL_WHY_PERM_THREADS, "attr.config",
				  "config bit 21 (any thread) counts the other hyperthread's tasks too, which needs CAP_PERFMON at paranoid level %d: clear it, gain CAP_PERFMON, or set the module's parameter paranoid to 0",
				  (int)raw_read_number(RAW_PARANOID));
		}
		_exit(0);
	}
	perm_join(pid);
	raw_settled_info();
	pid = fork();
	if (!pid) {
		struct perf_event_attr attr = any_thread();

		if (perm_become(caller))
			_exit(1);
		said[1] = perf_try_once(&attr, 0, -1);
		said[1] = said[1] < 0 ? said[1] : 0;
		_exit(0);
	}
	perm_join(pid);
	*perf = said[1];
	return said[0];
}

static void check(enum perm_caller caller, int level, int expected)
{
	int ours, perfs;

	perm_set_level(level);
	ours = answers(caller, &perfs);
	perm_default_level();
	if (!has_any_thread()) {
		cr_assert_eq(ours, -EINVAL, "%s at level %d: %d", perm_caller_names[caller], level,
			     ours);
		return;
	}
	cr_assert_eq(ours, expected, "%s at level %d: %d, expected %d", perm_caller_names[caller],
		     level, ours, expected);
	cr_assert_eq(perfs, ours, "perf says %d", perfs);
}

Test(attack_threads, a_user_does_not_count_his_neighbours)
{
	for (int level = 1; level <= 2; level++)
		check(PERM_USER, level, -EACCES);
}

Test(attack_threads, where_a_cpu_may_be_counted_so_may_its_neighbour)
{
	check(PERM_USER, 0, 0);
	check(PERM_USER, -1, 0);
}

Test(attack_threads, whoever_may_count_a_cpu_may_count_its_neighbour)
{
	static const enum perm_caller callers[] = { PERM_ROOT, PERM_USER_PERFMON,
						    PERM_USER_ADMIN };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(callers); i++)
		check(callers[i], 2, 0);
}

/* The right to look into tasks is none to look at a neighbour. */
Test(attack_threads, whoever_may_look_into_tasks_may_not)
{
	check(PERM_USER_PTRACE, 2, -EACCES);
}
