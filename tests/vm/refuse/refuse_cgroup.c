// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of a cgroup that are refused, and what perf says to the same.
 */
#include "cgroups.h"
#include "perm.h"

#include <sys/mount.h>
#include <sys/stat.h>

TestSuite(refuse_cgroup, .init = cgroups_begin, .fini = cgroups_end);

#define NO_DIRECTORY \
	"is no descriptor of a cgroup's directory: open one of cgroup2, or of cgroup v1's perf_event, and not with O_PATH"
#define NO_CGROUP \
	"the cgroup has been removed, or perf's controller is not in it: a cgroup2 hierarchy has it below its root as soon as cgroup.subtree_control there names any controller"

/* A software event, for which perf needs no PMU */
static union raw_attr clock_attr(void)
{
	union raw_attr a = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

	a.attr.exclude_kernel = 0;
	return a;
}

static void check_perf(int fd, int cpu, int err)
{
	union raw_attr a = clock_attr();

	cr_expect_eq(counting_perfs.try(&a.attr, fd, cpu, -1), err, "perf, %d", fd);
}

Test(refuse_cgroup, what_is_no_directory_of_one)
{
	union raw_attr a = clock_attr();
	int fds[] = {
		-2, 1000000, raw_device(), open("/tmp", O_RDONLY),
		open(CGROUP_ROOT "/cgroup.procs", O_RDONLY),
		open(CGROUP_ROOT, O_PATH),
	};

	for (size_t i = 0; i < RAW_ARRAY_SIZE(fds); i++) {
		check_refused(OPEN(a, fds[i], 0, .flags = PERF_FLAG_PID_CGROUP), EBADF,
			      PMUCTL_WHY_CGROUP_FD, "pid", "pid %d " NO_DIRECTORY, fds[i]);
		check_perf(fds[i], 0, -EBADF);
	}
	check_refused(OPEN(a, -1, 0, .flags = PERF_FLAG_PID_CGROUP), EINVAL,
		      PMUCTL_WHY_CGROUP_PID, "pid",
		      "with PERF_FLAG_PID_CGROUP pid is a descriptor of the cgroup's directory, and -1 is none: open that");
	check_perf(-1, 0, -EINVAL);
}

Test(refuse_cgroup, one_that_is_removed)
{
	union raw_attr a = clock_attr();
	int fd;

	cgroup_add("a");
	fd = cgroup_fd("a");
	cgroup_del("a");
	check_refusals({ "removed", OPEN(a, fd, 0, .flags = PERF_FLAG_PID_CGROUP), ENOENT,
			 PMUCTL_WHY_CGROUP_NONE, "pid", NO_CGROUP });
	check_perf(fd, 0, -ENOENT);
}

/* Which cgroups have it is the same for perf and for us. */
Test(refuse_cgroup, one_without_perfs_controller)
{
	union raw_attr a = clock_attr();
	int fd;

	cr_assert_eq(raw_write_file(CGROUP_ROOT "/cgroup.subtree_control", "-cpu"), 0);
	cgroup_add("a");
	fd = cgroup_fd("a");
	if (counting_perfs.try(&a.attr, fd, 0, -1) == -ENOENT)
		check_refusals({ "without", OPEN(a, fd, 0, .flags = PERF_FLAG_PID_CGROUP), ENOENT,
				 PMUCTL_WHY_CGROUP_NONE, "pid", NO_CGROUP });
	else
		close(event_open(a, fd, 0, .flags = PERF_FLAG_PID_CGROUP));
	cr_assert_eq(raw_write_file(CGROUP_ROOT "/cgroup.subtree_control", "+cpu"), 0);
	close(event_open(a, fd, 0, .flags = PERF_FLAG_PID_CGROUP));
	close(event_open(a, cgroup_fd(""), 0, .flags = PERF_FLAG_PID_CGROUP));
}

Test(refuse_cgroup, a_process_too)
{
	union raw_attr a = RAW_ATTR(.inherit = 1);

	check_refusals({ "both", OPEN(a, cgroup_fd(""), 0, .flags = PERF_FLAG_PID_CGROUP |
				      PMUCTL_OPEN_PROCESS), EINVAL,
			 PMUCTL_WHY_CGROUP_PROCESS, "flags",
			 "flags 0x10004 has PERF_FLAG_PID_CGROUP and PMUCTL_OPEN_PROCESS: an event counts a cgroup or a process" });
}

Test(refuse_cgroup, cpus_and_groups)
{
	union raw_attr a = clock_attr();
	int one, other, leader, of_cpu;

	cgroup_add("a");
	cgroup_add("b");
	one = cgroup_fd("a");
	other = cgroup_fd("b");
	leader = event_open(a, one, 0, .flags = PERF_FLAG_PID_CGROUP);
	of_cpu = event_open(a, -1, 0);
	check_refusals(
		{ "no such CPU", OPEN(a, one, 7777, .flags = PERF_FLAG_PID_CGROUP), EINVAL,
		  PMUCTL_WHY_CPU_INVALID, "cpu",
		  "cpu 7777 does not exist: this machine has the CPUs 0 to 1, and -1 means any" },
		{ "of another cgroup", OPEN(a, other, 0, .flags = PERF_FLAG_PID_CGROUP,
					    .group = leader), EINVAL,
		  PMUCTL_WHY_GROUP_OTHER_TARGET, "group_fd",
		  "group_fd counts another task, CPU or cgroup: a group's events count the same one" },
		{ "of none", OPEN(a, -1, 0, .group = leader), EINVAL,
		  PMUCTL_WHY_GROUP_OTHER_TARGET, "group_fd",
		  "group_fd counts another task, CPU or cgroup: a group's events count the same one" },
		{ "to those of none", OPEN(a, one, 0, .flags = PERF_FLAG_PID_CGROUP,
					   .group = of_cpu), EINVAL,
		  PMUCTL_WHY_GROUP_OTHER_TARGET, "group_fd",
		  "group_fd counts another task, CPU or cgroup: a group's events count the same one" }
	);
	close(event_open(a, one, 0, .flags = PERF_FLAG_PID_CGROUP, .group = leader));
}

/* What is not there is refused by its name. */
Test(refuse_cgroup, events_that_are_not_for_cgroups)
{
	union raw_attr a = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS);

	a.attr.exclude_kernel = 0;
	check_refusals({ "migrations", OPEN(a, cgroup_fd(""), 0, .flags = PERF_FLAG_PID_CGROUP),
			 EOPNOTSUPP, PMUCTL_WHY_CGROUP_EVENT, "attr.config",
			 "cpu-migrations is not for cgroups in this version of pmuctl: open it for a task of the cgroup, or for the CPU" });
}

/* Who may count a CPU may count a cgroup there, as with perf. */
Test(refuse_cgroup, rights_are_those_for_cpus, .fini = cgroups_end)
{
	union raw_attr a = clock_attr();
	int fd = cgroup_fd("");

	a.attr.exclude_kernel = 1;
	for (int level = 0; level <= 2; level++) {
		perm_set_level(level);
		cr_assert_eq(setresuid(-1, RAW_USER, -1), 0);
		cr_expect_eq(counting_perfs.try(&a.attr, fd, 0, -1) == -EACCES, level > 0);
		if (level)
			check_refused(OPEN(a, fd, 0, .flags = PERF_FLAG_PID_CGROUP), EACCES,
				      PMUCTL_WHY_PERM_CPU, "pid",
				      "counting all tasks of a CPU needs CAP_PERFMON at paranoid level %d: count a task, gain CAP_PERFMON, or set the module's parameter paranoid to 0",
				      level);
		else
			close(event_open(a, fd, 0, .flags = PERF_FLAG_PID_CGROUP));
		cr_assert_eq(setresuid(-1, 0, -1), 0);
	}
	perm_default_level();
}
