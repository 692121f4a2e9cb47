// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may count what: every caller, every kind of target, with and without the kernel, at
 * every level. What is expected follows from the rules as perf_event_open(2) and ptrace(2)
 * have them; perf itself, asked the same at the same level, is the witness.
 */
#include "perm.h"

#include <pthread.h>

#define PROGRAM	"/pmuctl/tests/prog/perm-run"

enum target {
	SELF,
	THREAD,			/* another of the caller's own process */
	OWN,			/* a task of the same user */
	OWN_OTHER_GROUP,	/* ... whose group ids are another group's */
	OWN_SAVED_ROOT,		/* ... that may become root again */
	OWN_NOT_DUMPABLE,
	OWN_SET_UID,		/* ... that executed a program that is set-user-id */
	OWN_CAPABLE,		/* ... that has a capability */
	FOREIGN,		/* another user's */
	ROOTS,
	KERNEL_THREAD,
	A_CPU,
	TARGETS
};

static const char *const target_names[TARGETS] = {
	"itself", "its thread", "an own task", "an own task of another group",
	"an own task with root as saved id", "an own task that is not dumpable",
	"an own task that is set-user-id", "an own task with a capability",
	"another user's task", "root's task", "a kernel thread", "a CPU",
};

/* ---- What is expected ---- */

static bool is_privileged(enum perm_caller caller)
{
	return caller == PERM_ROOT || caller == PERM_USER_PERFMON ||
	       caller == PERM_USER_ADMIN;
}

/* PMUCTL_WHY_*, or 0 if it is allowed */
static uint32_t expected(enum perm_caller caller, enum target target, bool kernel,
			 int level)
{
	if (is_privileged(caller))
		return 0;
	if (level == 3)
		return PMUCTL_WHY_PERM_ANY;
	if (level >= 2 && kernel)
		return PMUCTL_WHY_PERM_KERNEL;
	if (target == A_CPU)
		return level >= 1 ? PMUCTL_WHY_PERM_CPU : 0;
	if (target == SELF || target == THREAD || target == OWN)
		return 0;
	if (target == KERNEL_THREAD)
		return PMUCTL_WHY_PERM_KTHREAD;
	return caller == PERM_USER_PTRACE ? 0 : PMUCTL_WHY_PERM_TASK;
}

/* Where we mean to differ from perf */
static bool differs_from_perf(enum perm_caller caller, enum target target, int level)
{
	/* Level 3 is Debian's; it wants CAP_SYS_ADMIN. */
	if (level == 3 && caller == PERM_USER_PERFMON)
		return true;
	/* Work that kernel threads do is everybody's: that is for CAP_PERFMON. */
	return target == KERNEL_THREAD && caller == PERM_USER_PTRACE && level < 3;
}

static void check_sentence(const struct pmuctl_explanation *why, int pid, int level)
{
	switch (why->code) {
	case PMUCTL_WHY_PERM_ANY:
		check_why(why, EACCES, why->code, "",
			  "paranoid level %d forbids every event without CAP_PERFMON: gain it, or set the module's parameter paranoid to 2",
			  level);
		break;
	case PMUCTL_WHY_PERM_KERNEL:
		check_why(why, EACCES, why->code, "attr.exclude_kernel",
			  "counting in the kernel needs CAP_PERFMON at paranoid level %d: count user space only (attr.exclude_kernel, modifier :u), gain CAP_PERFMON, or set the module's parameter paranoid to 1",
			  level);
		break;
	case PMUCTL_WHY_PERM_CPU:
		check_why(why, EACCES, why->code, "pid",
			  "counting all tasks of a CPU needs CAP_PERFMON at paranoid level %d: count a task, gain CAP_PERFMON, or set the module's parameter paranoid to 0",
			  level);
		break;
	case PMUCTL_WHY_PERM_TASK:
		check_why(why, EACCES, why->code, "pid",
			  "task %d is not yours to inspect (the ptrace read check refused it): count a task of your own, or gain CAP_PERFMON",
			  pid);
		break;
	case PMUCTL_WHY_PERM_KTHREAD:
		check_why(why, EACCES, why->code, "pid",
			  "task %d is a kernel thread: counting it needs CAP_PERFMON", pid);
		break;
	}
}

/* ---- The targets ---- */

static pid_t targets[TARGETS];

/* What a target does before it waits: 0 if that succeeded. */
static int prepare(enum target target)
{
	switch (target) {
	case OWN:
		return perm_become_with(RAW_USER, -1);
	case OWN_OTHER_GROUP:
		return setresgid(RAW_OTHER_USER, RAW_OTHER_USER, RAW_OTHER_USER) ||
		       setresuid(RAW_USER, RAW_USER, RAW_USER) ||
		       prctl(PR_SET_DUMPABLE, 1);
	case OWN_SAVED_ROOT:
		return setresgid(RAW_USER, RAW_USER, RAW_USER) ||
		       setresuid(RAW_USER, RAW_USER, 0) ||
		       perm_keep_capability(-1) || prctl(PR_SET_DUMPABLE, 1);
	case OWN_NOT_DUMPABLE:
		return perm_become_with(RAW_USER, -1) || prctl(PR_SET_DUMPABLE, 0);
	case OWN_CAPABLE:
		return perm_become_with(RAW_USER, CAP_NET_RAW);
	case FOREIGN:
		return perm_become_with(RAW_OTHER_USER, -1);
	default:
		return 0;
	}
}

static pid_t start_target(enum target target, const char *set_uid_program)
{
	int ready[2];
	char who;
	pid_t pid;

	cr_assert_eq(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (target == OWN_SET_UID) {
			dup2(ready[1], STDOUT_FILENO);
			if (!raw_become(RAW_USER))
				execl(set_uid_program, set_uid_program, "0", NULL);
			_exit(1);
		}
		if (prepare(target) || write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &who, 1), 1, "no %s", target_names[target]);
	cr_assert_eq(who, 'r');
	close(ready[0]);
	return pid;
}

static char set_uid_program[] = "/tmp/perm-matrix-XXXXXX";

static void make_targets(void)
{
	char command[200];
	int fd = mkstemp(set_uid_program);

	cr_assert_geq(fd, 0);
	close(fd);
	snprintf(command, sizeof(command), "cp %s %s && chmod 4755 %s", PROGRAM,
		 set_uid_program, set_uid_program);
	cr_assert_eq(system(command), 0);
	for (enum target t = OWN; t <= ROOTS; t++)
		targets[t] = start_target(t, set_uid_program);
	targets[KERNEL_THREAD] = 2; /* kthreadd */
	targets[A_CPU] = -1;
}

static void end_targets(void)
{
	for (enum target t = OWN; t <= ROOTS; t++)
		if (targets[t] > 0)
			raw_reap(targets[t]);
	unlink(set_uid_program);
	perm_default_level();
}

/* ---- The matrix ---- */

struct answer {
	int ours, perf;		/* 0 or -errno */
	int pid;
	struct pmuctl_explanation why;
};

static int closed(int fd)
{
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void ask(enum target target, bool kernel, pid_t thread, struct answer *answer)
{
	union raw_attr a = raw_instructions();
	int pid = target == THREAD ? thread : targets[target];
	int cpu = target == A_CPU ? 0 : -1;

	a.attr.exclude_kernel = !kernel;
	answer->pid = pid;
	answer->ours = closed(raw_open(&a, pid, cpu, 0, &answer->why));
	answer->perf = closed(perm_perf_open(pid, cpu, kernel));
}

static void *tell_id_and_wait(void *arg)
{
	*(volatile pid_t *)arg = syscall(SYS_gettid);
	for (;;)
		pause();
	return NULL;
}

/* The caller, in a process of its own: fills answers[target][kernel]. */
static int be_caller(enum perm_caller caller, struct answer (*answers)[2])
{
	volatile pid_t thread = 0;
	pthread_t handle;

	if (perm_become(caller))
		return 1;
	if (pthread_create(&handle, NULL, tell_id_and_wait, (void *)&thread))
		return 2;
	while (!thread)
		usleep(100);
	for (enum target t = SELF; t < TARGETS; t++)
		for (int kernel = 0; kernel < 2; kernel++)
			ask(t, kernel, thread, &answers[t][kernel]);
	return 0;
}

static void check_answer(const struct answer *answer, enum perm_caller caller,
			 enum target target, bool kernel, int level)
{
	uint32_t want = expected(caller, target, kernel, level);
	uint32_t got = answer->ours ? answer->why.code : 0;

	cr_assert_eq(got, want,
		     "%s, %s, kernel %d, level %d: %d, code %u, expected %u; perf says %d",
		     perm_caller_names[caller], target_names[target], kernel, level,
		     answer->ours, got, want, answer->perf);
	cr_assert_eq(answer->ours, want ? -EACCES : 0);
	if (want)
		check_sentence(&answer->why, answer->pid, level);
	if (!differs_from_perf(caller, target, level))
		cr_assert_eq(answer->perf, answer->ours,
			     "%s, %s, kernel %d, level %d: we say %d, perf says %d",
			     perm_caller_names[caller], target_names[target],
			     kernel, level, answer->ours, answer->perf);
}

static void check_level(int level)
{
	struct answer (*answers)[2] = perm_shared(TARGETS * sizeof(*answers));

	raw_device();
	make_targets();
	perm_set_level(level);
	for (enum perm_caller c = PERM_ROOT; c < PERM_CALLERS; c++) {
		pid_t pid = fork();

		if (!pid)
			_exit(be_caller(c, answers));
		perm_join(pid);
		for (enum target t = SELF; t < TARGETS; t++)
			for (int kernel = 0; kernel < 2; kernel++)
				check_answer(&answers[t][kernel], c, t, kernel,
					     level);
	}
}

Test(perm_matrix, level_minus_1, .fini = end_targets)
{
	check_level(-1);
}

Test(perm_matrix, level_0, .fini = end_targets)
{
	check_level(0);
}

Test(perm_matrix, level_1, .fini = end_targets)
{
	check_level(1);
}

Test(perm_matrix, level_2, .fini = end_targets)
{
	check_level(2);
}

Test(perm_matrix, level_3, .fini = end_targets)
{
	check_level(3);
}

/* ---- The parameter ---- */

Test(perm_matrix, levels_that_do_not_exist_are_refused, .fini = perm_default_level)
{
	static const char *const bad[] = { "4", "-2", "100", "x", "2x", "1 2",
		"99999999999", "-99999999999", "0.5" };

	for (int level = -1; level <= 3; level++) {
		cr_assert_eq(raw_write_number(RAW_PARANOID, level), 0);
		cr_assert_eq(raw_info().paranoid, level);
		for (size_t i = 0; i < RAW_ARRAY_SIZE(bad); i++) {
			int err = raw_write_file(RAW_PARANOID, bad[i]);

			cr_assert(err == -EINVAL || err == -ERANGE,
				  "'%s' gives %d", bad[i], err);
			cr_assert_eq(raw_info().paranoid, level);
		}
	}
}

static void load_as_it_was(void)
{
	raw_write_number(PERM_PERF_PARANOID, 2);
	if (system("rmmod pmuctl 2>/dev/null; insmod /pmuctl/pmuctl.ko claim=anyone"))
		perror("insmod");
}

Test(perm_matrix, the_level_can_be_set_at_load, .fini = load_as_it_was)
{
	cr_assert_eq(system("rmmod pmuctl"), 0);
	cr_assert_eq(system("insmod /pmuctl/pmuctl.ko paranoid=-1"), 0);
	cr_assert_eq(raw_info().paranoid, -1);
	close(raw_device());
}

Test(perm_matrix, the_level_is_2_unless_somebody_set_it)
{
	cr_assert_eq(raw_info().paranoid, 2);
}

/* The module allows by itself what the kernel does, but no more than level 2. */
Test(perm_matrix, the_level_is_the_kernels_if_that_is_stricter, .fini = load_as_it_was)
{
	static const struct {
		int kernels, ours;
	} levels[] = { { -1, 2 }, { 0, 2 }, { 2, 2 }, { 3, 3 }, { 4, 3 }, { 1000, 3 } };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(levels); i++) {
		cr_assert_eq(raw_write_number(PERM_PERF_PARANOID, levels[i].kernels), 0);
		cr_assert_eq(system("rmmod pmuctl"), 0);
		cr_assert_eq(system("insmod /pmuctl/pmuctl.ko"), 0);
		cr_assert_eq(raw_read_number(RAW_PARANOID), levels[i].ours, "level %d",
			     levels[i].kernels);
	}
	/* What is given at load is meant. */
	cr_assert_eq(system("rmmod pmuctl"), 0);
	cr_assert_eq(system("insmod /pmuctl/pmuctl.ko paranoid=1"), 0);
	cr_assert_eq(raw_read_number(RAW_PARANOID), 1);
}

Test(perm_matrix, only_root_sets_the_level)
{
	pid_t pid = fork();

	if (!pid) {
		if (raw_become(RAW_USER))
			_exit(1);
		if (raw_write_file(RAW_PARANOID, "-1") != -EACCES)
			_exit(2);
		_exit(raw_read_number(RAW_PARANOID) == 2 ? 0 : 3);
	}
	perm_join(pid);
}

/* The level counts when an event is opened: what is open stays open. */
Test(perm_matrix, a_level_does_not_end_open_events, .fini = perm_default_level)
{
	union raw_attr a = raw_instructions();
	pid_t pid = fork();
	int fd;

	if (!pid) {
		if (raw_become(RAW_USER))
			_exit(1);
		fd = raw_open(&a, 0, -1, 0, NULL);
		if (fd < 0)
			_exit(2);
		raise(SIGSTOP);
		if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
			_exit(3);
		user_loop(1000);
		if (raw_read(fd) < 2000)
			_exit(4);
		_exit(raw_open(&a, 0, -1, 0, NULL) == -EACCES ? 0 : 5);
	}
	waitpid(pid, NULL, WUNTRACED);
	cr_assert_eq(raw_write_file(RAW_PARANOID, "3"), 0);
	kill(pid, SIGCONT);
	perm_join(pid);
}
