// SPDX-License-Identifier: GPL-2.0-only
/*
 * Side-band records beside the kernel's own: an event of perf that counts nothing and an
 * event of ours are told of the same task, and must be told the same in the same order.
 * Times and the ids of the events differ, and so does nothing else.
 */
#include "tellers.h"

#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

static struct perf_event_attr all_but_switches(void)
{
	struct perf_event_attr attr = side_attr();

	attr.comm = 1;
	attr.comm_exec = 1;
	attr.task = 1;
	attr.mmap = 1;
	attr.mmap2 = 1;
	return attr;
}

/* ---- What the child does ---- */

static int run_shell(void *script)
{
	execl("/bin/bash", "bash", "-c", (const char *)script, NULL);
	return 127;
}

static int run_nothing(void *arg)
{
	return arg != NULL;
}

static void *rename_and_fork(void *arg)
{
	int i, status;
	pid_t child;

	for (i = 0; i < 5; i++) {
		prctl(PR_SET_NAME, i % 2 ? "odd" : "a long even name", 0, 0, 0);
		child = fork();
		if (!child)
			_exit(0);
		waitpid(child, &status, 0);
	}
	return arg;
}

static int run_threads(void *arg)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 3; i++) {
		if (pthread_create(&thread, NULL, rename_and_fork, arg))
			return 1;
		pthread_join(thread, NULL);
		rename_and_fork(NULL);
	}
	return 0;
}

/* Mappings of each kind; their names and what they are of */
static int run_mappings(void *path)
{
	static const int prots[] = {
		PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC,
		PROT_READ | PROT_WRITE | PROT_EXEC,
	};
	static const int flags[] = {
		MAP_PRIVATE, MAP_SHARED, MAP_PRIVATE | MAP_ANONYMOUS,
		MAP_SHARED | MAP_ANONYMOUS, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	};
	int fd = open(path, O_RDWR);
	char *map;

	if (fd < 0)
		return 1;
	for (unsigned int i = 0; i < RAW_ARRAY_SIZE(prots); i++) {
		for (unsigned int k = 0; k < RAW_ARRAY_SIZE(flags); k++) {
			map = mmap(NULL, 3 * PAGE, prots[i], flags[k], fd, PAGE);
			if (map == MAP_FAILED)
				return 2;
			mprotect(map + PAGE, PAGE, PROT_READ | PROT_EXEC);
			mprotect(map, PAGE, PROT_READ);
			munmap(map, 3 * PAGE);
		}
	}
	return 0;
}

/* Namespaces of each kind, its own and others', and tasks that have them from the start */
static int run_namespaces(void *arg)
{
	static const int kinds[] = {
		CLONE_NEWNET, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWNS, CLONE_NEWCGROUP,
		CLONE_NEWUSER, CLONE_NEWPID,
	};
	int fd, status;
	pid_t child;

	fd = open("/proc/self/ns/uts", O_RDONLY);
	for (unsigned int i = 0; i < RAW_ARRAY_SIZE(kinds); i++)
		if (unshare(kinds[i]))
			return 1;
	child = fork();
	if (!child)
		_exit(unshare(CLONE_NEWUTS) ? 1 : 0);
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		return 2;
	/* Not its own user's any more */
	if (!setns(fd, CLONE_NEWUTS))
		return 3;
	return arg != NULL;
}

static int run_setns(void *arg)
{
	int fd = open("/proc/1/ns/uts", O_RDONLY);

	return arg || fd < 0 || unshare(CLONE_NEWUTS) || setns(fd, 0);
}

/* 20 cgroups, each in the one before: the last one's path is longer than 1024 bytes */
static int run_cgroups(void *path)
{
	char name[101];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	if (chdir(path))
		return 1;
	for (int i = 0; i < 20; i++) {
		name[i] = 'N';
		if (mkdir(name, 0755) || chdir(name))
			return 2;
	}
	for (int i = 19; i >= 0; i--) {
		if (chdir("..") || rmdir(name))
			return 3;
		name[i] = 'n';
	}
	return 0;
}

/* ---- Tests ---- */

Test(side_same, program_that_is_executed)
{
	struct perf_event_attr attr = all_but_switches();

	/* COMM, and at least the program, its interpreter, the vdso, libc; EXIT */
	cr_assert_geq(tellers_run(&attr, 0, -1, run_shell, "exit 0"), 6);
}

Test(side_same, programs_one_after_another)
{
	struct perf_event_attr attr = all_but_switches();

	cr_assert_geq(tellers_run(&attr, 0, -1, run_shell,
				  "exec bash -c 'exec sh -c \"exec /bin/true\"'"), 10);
}

Test(side_same, program_enables_the_event)
{
	struct perf_event_attr attr = all_but_switches();

	attr.disabled = 1;
	attr.enable_on_exec = 1;
	cr_assert_geq(tellers_run(&attr, 0, -1, run_shell, "exit 0"), 6);
}

Test(side_same, disabled_event_is_told_nothing)
{
	struct perf_event_attr attr = all_but_switches();

	attr.disabled = 1;
	cr_assert_eq(tellers_run(&attr, 0, -1, run_shell, "exit 0"), 0);
}

Test(side_same, older_form_of_mappings)
{
	struct perf_event_attr attr = all_but_switches();

	attr.mmap2 = 0;
	cr_assert_geq(tellers_run(&attr, 0, -1, run_shell, "exit 0"), 6);
}

Test(side_same, tasks_that_begin_and_end)
{
	struct perf_event_attr attr = all_but_switches();

	/* 30 renamings and 30 forks of the task, 3 threads; half are a thread's own */
	cr_assert_geq(tellers_run(&attr, 0, -1, run_threads, NULL), 15 * 2 + 3 + 1);
	cr_assert_eq(tellers_run(&attr, 0, -1, run_nothing, NULL), 1);
}

Test(side_same, mappings_of_every_kind)
{
	char path[] = "/tmp/side_same.XXXXXX";
	struct perf_event_attr attr = all_but_switches();
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, 4 * PAGE), 0);
	/* 12 that may be executed, and at least as many of the others' pages made so; EXIT */
	cr_assert_geq(tellers_run(&attr, 0, -1, run_mappings, path), 12 + 18 + 1);
	attr.mmap_data = 1;
	cr_assert_geq(tellers_run(&attr, 0, -1, run_mappings, path), 30 + 18 + 1);
	attr.mmap = 0;
	cr_assert_geq(tellers_run(&attr, 0, -1, run_mappings, path), 30 + 18 + 1);
	attr.mmap2 = 0;
	cr_assert_geq(tellers_run(&attr, 0, -1, run_mappings, path), 18 + 1);
	unlink(path);
}

/* What one kind of records needs is all that is asked for. */
Test(side_same, each_flag_alone)
{
	for (unsigned int i = 0; i < 5; i++) {
		struct perf_event_attr attr = side_attr();

		attr.comm = i == 0;
		attr.task = i == 1;
		attr.mmap = i == 2;
		attr.mmap_data = i == 3;
		attr.context_switch = i == 4;
		cr_assert_geq(tellers_run(&attr, 0, -1, run_shell,
					  "/bin/true | /bin/true"), 1);
	}
}

Test(side_same, switches_of_a_task)
{
	struct perf_event_attr attr = side_attr();

	attr.context_switch = 1;
	cr_assert_geq(tellers_run(&attr, 0, -1, run_threads, NULL), 30);
}

/* All records of the CPU on which the child runs, whoever else does */
Test(side_same, all_of_a_cpu)
{
	struct perf_event_attr attr = all_but_switches();

	pin_here(1);
	cr_assert_geq(tellers_run(&attr, -1, 0, run_shell,
				  "/bin/true; /bin/true | /bin/true"), 20);
}

Test(side_same, switches_of_a_cpu)
{
	struct perf_event_attr attr = side_attr();

	attr.context_switch = 1;
	pin_here(1);
	cr_assert_geq(tellers_run(&attr, -1, 0, run_threads, NULL), 60);
}

Test(side_same, namespaces_of_a_task)
{
	struct perf_event_attr attr = side_attr();

	attr.namespaces = 1;
	/* 7 that it takes */
	cr_assert_geq(tellers_run(&attr, 0, -1, run_namespaces, NULL), 7);
	cr_assert_eq(tellers_run(&attr, 0, -1, run_setns, NULL), 2);
	attr.task = 1;
	attr.inherit = 1;
	cr_assert_geq(tellers_run(&attr, 0, 0, run_namespaces, NULL), 7 + 4 + 1);
}

Test(side_same, namespaces_of_a_cpu)
{
	struct perf_event_attr attr = all_but_switches();

	attr.namespaces = 1;
	pin_here(1);
	cr_assert_geq(tellers_run(&attr, -1, 0, run_namespaces, NULL), 7 + 4 + 1);
}

Test(side_same, cgroups)
{
	char path[] = "/tmp/side_same.XXXXXX", control[100];
	struct perf_event_attr attr = side_attr();

	cr_assert_not_null(mkdtemp(path));
	cr_assert_eq(mount("none", path, "cgroup2", 0, NULL), 0, "%m");
	/* Before that perf's controller is in no cgroup but the first. */
	snprintf(control, sizeof(control), "%s/cgroup.subtree_control", path);
	cr_assert_eq(raw_write_file(control, "+memory"), 0);
	attr.cgroup = 1;
	cr_assert_eq(tellers_run(&attr, 0, -1, run_cgroups, path), 20);
	attr.task = 1;
	pin_here(1);
	cr_assert_geq(tellers_run(&attr, -1, 0, run_cgroups, path), 20);
	umount(path);
	rmdir(path);
}

/* Whoever asks for nothing else is not told of a CPU's, as with perf. */
Test(side_same, containers_alone_are_not_told_to_a_cpu)
{
	struct perf_event_attr attr = side_attr();
	struct sample end;

	attr.namespaces = 1;
	attr.cgroup = 1;
	pin_here(1);
	for (int something = 0; something < 2; something++) {
		struct side_child c;
		struct teller both[2];

		attr.comm_exec = something;
		side_start(&c, run_namespaces, NULL);
		pin_task(c.pid, 0);
		tellers_open(both, &attr, -1, 0);
		side_go(&c);
		side_end(&c);
		for (int i = 0; i < 2; i++)
			cr_assert_eq(!!side_next(&attr, &both[i].ring, &end), something, "%s",
				     both[i].name);
		tellers_close(both);
	}
}
