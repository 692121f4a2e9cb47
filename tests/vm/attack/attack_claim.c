// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may take the PMU: whoever has it keeps it from perf, from the NMI watchdog and from KVM's
 * guests. An ordinary user alone never has it by default, before, beside or after others who
 * may; and nobody takes and gives it back in a loop.
 */
#include "loops.h"
#include "perm.h"

#include <sys/sysinfo.h>

#define N	100000ull
#define SENTENCE "only who has CAP_PERFMON may take the PMU from perf: gain it, wait until somebody who has it counts, or write anyone or always to /sys/module/pmuctl/parameters/claim (for good: modprobe.d)"

static void set_claim(const char *claim)
{
	int err = raw_write_file(RAW_CLAIM, claim);

	cr_assert_eq(err, 0, "%s: %s", claim, strerror(-err));
}

static void privileged(void)
{
	raw_write_file("/proc/sys/kernel/nmi_watchdog", "0");
	set_claim("privileged");
}

static void anyone(void)
{
	set_claim("anyone");
}

static void set_headroom(const char *instructions)
{
	cr_assert_eq(raw_write_file("/sys/module/pmuctl/parameters/counter_headroom", instructions), 0);
}

static void default_headroom(void)
{
	set_headroom("0");
	perm_default_level();
	anyone();
}

TestSuite(attack_claim, .init = privileged, .fini = anyone);

/* From here on we are an ordinary user, or again who may do everything. */
static void become_user(bool user)
{
	cr_assert_eq(setresuid(-1, user ? RAW_USER : 0, -1), 0, "%m");
}

static int user_try(struct perf_event_attr attr)
{
	int fd;

	become_user(true);
	fd = event_try(attr);
	become_user(false);
	return fd;
}

static int user_open(struct perf_event_attr attr)
{
	int fd = user_try(attr);

	cr_assert_geq(fd, 0, "%s: %s", strerror(-fd), event_why.sentence);
	return fd;
}

static int root_open(void)
{
	struct perf_event_attr attr = instructions_u();

	return event_open(attr);
}

static void check_claim_refused(void)
{
	int fd = user_try(instructions_u());

	cr_assert_eq(fd, -EACCES, "%d", fd);
	check_why(&event_why, EACCES, PMUCTL_WHY_PERM_CLAIM, "attr.type", SENTENCE);
}

static uint32_t owner(void)
{
	struct pmuctl_info info = { .size = sizeof(info) };
	AUTO_CLOSE int device = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC);

	cr_assert_eq(ioctl(device, PMUCTL_IOC_INFO, &info), 0, "%m");
	return info.pmu_owner;
}

static int perf_now(void)
{
	struct perf_event_attr attr = instructions_u();

	attr.disabled = 1;
	return perf_try_once(&attr, 0, -1);
}

/* Perf, too, finds it free, and it works. */
static void check_free(void)
{
	int fd = perf_now();

	cr_assert_geq(fd, 0, "perf: %s", strerror(-fd));
	bracket(fd, N);
	cr_assert_eq(event_value(fd), bracket_instructions(N));
	close(fd);
}

static void wait_until_free(void)
{
	int fd;

	while ((fd = perf_now()) == -EBUSY)
		usleep(10000);
	cr_assert_geq(fd, 0, "perf: %s", strerror(-fd));
	close(fd);
	check_free();
}

/* How often the PMU was taken since the module was loaded */
static unsigned long times_taken(void)
{
	FILE *f = fopen("/sys/kernel/debug/pmuctl/cpus", "re");
	unsigned long n;

	cr_assert_not_null(f);
	cr_assert_eq(fscanf(f, "PMU taken %lu times", &n), 1);
	fclose(f);
	return n;
}

static int counting_bracket(int fd)
{
	struct counts before = event_read(fd), after;

	bracket(fd, N);
	after = event_read(fd);
	cr_assert_gt(after.enabled, before.enabled);
	if (after.value == before.value) {
		cr_assert_eq(after.running, before.running);
		return 0;
	}
	cr_assert_eq(after.value - before.value, bracket_instructions(N));
	return 1;
}

/* ---- privileged ---- */

static struct perf_event_attr disabled_instructions(void)
{
	struct perf_event_attr attr = instructions_u();

	attr.disabled = 1;
	return attr;
}

Test(attack_claim, a_user_alone_is_refused)
{
	pid_t pid = fork_child();

	if (!pid) {
		struct perf_event_attr attr = instructions_u();
		struct perf_event_attr other = event_attr(PERF_TYPE_SOFTWARE,
							  PERF_COUNT_SW_TASK_CLOCK);

		if (perm_become(PERM_USER))
			_exit(1);
		for (int i = 0; i < 100; i++)
			if (event_try(attr) != -EACCES ||
			    event_why.code != PMUCTL_WHY_PERM_CLAIM)
				_exit(2);
		other.exclude_kernel = 1;
		_exit(event_try(other) < 0 ? 3 : 0);
	}
	perm_join(pid);
	check_claim_refused();
	check_free();
}

Test(attack_claim, whoever_has_the_capability_may)
{
	static const enum perm_caller callers[] = { PERM_ROOT, PERM_USER_PERFMON,
						    PERM_USER_ADMIN };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(callers); i++) {
		pid_t pid = fork_child();

		if (!pid) {
			struct perf_event_attr attr = instructions_u();

			if (perm_become(callers[i]))
				_exit(1);
			_exit(event_try(attr) < 0 ? 2 : 0);
		}
		perm_join(pid);
		wait_until_free();
		check_claim_refused();
	}
}

/* Who has no more than the right to look into other's tasks has none to the PMU. */
Test(attack_claim, other_capabilities_are_not_enough)
{
	pid_t pid = fork_child();

	if (!pid) {
		struct perf_event_attr attr = instructions_u();

		if (perm_become(PERM_USER_PTRACE))
			_exit(1);
		_exit(event_try(attr) == -EACCES ? 0 : 2);
	}
	perm_join(pid);
}

Test(attack_claim, beside_a_holder_a_user_counts_exactly)
{
	int holder = root_open(), fd = user_open(disabled_instructions());

	for (int i = 0; i < 3; i++)
		cr_assert_eq(counting_bracket(fd), 1);
	close(fd);
	close(holder);
	wait_until_free();
}

/* The attack: an event that is opened while somebody else counts, and left open. */
Test(attack_claim, what_is_left_open_does_not_hold_it)
{
	struct perf_event_attr clock_attr = event_attr(PERF_TYPE_SOFTWARE,
						       PERF_COUNT_SW_TASK_CLOCK);
	struct perf_event_attr pinned_attr = instructions_u();
	int holder = root_open(), fd, enabled, other, pinned_one;
	struct counts counts, later;
	char nothing[64];

	clock_attr.exclude_kernel = 1;
	pinned_attr.pinned = 1;
	fd = user_open(disabled_instructions());
	enabled = user_open(instructions_u());
	pinned_one = user_open(pinned_attr);
	other = user_open(clock_attr);
	cr_assert_eq(counting_bracket(fd), 1);

	close(holder);
	wait_until_free();
	cr_assert_eq(owner(), PMUCTL_OWNER_NOBODY);
	check_claim_refused();

	/* What was counted is kept, no more comes, and that is told. */
	counts = event_read(enabled);
	cr_assert_gt(counts.value, 0);
	cr_assert_eq(counting_bracket(fd), 0);
	later = event_read(enabled);
	cr_assert_eq(later.value, counts.value);
	cr_assert_eq(later.running, counts.running);
	cr_assert_gt(later.enabled, counts.enabled);
	cr_assert_eq(read(pinned_one, nothing, sizeof(nothing)), 0);

	/* Whatever its owner does with it */
	event_ioctl(pinned_one, PERF_EVENT_IOC_ENABLE);
	cr_assert_eq(read(pinned_one, nothing, sizeof(nothing)), 0);
	event_ioctl(enabled, PERF_EVENT_IOC_RESET);
	event_ioctl(enabled, PERF_EVENT_IOC_ENABLE);
	cr_assert_eq(event_read(enabled).value, 0);
	check_free();
	/* A software event needs no PMU. */
	counts = event_read(other);
	user_loop(N);
	cr_assert_gt(event_read(other).value, counts.value);

	/* With the next holder it goes on. */
	holder = root_open();
	cr_assert_eq(counting_bracket(fd), 1);
	cr_assert_gt(event_read(enabled).value, 0);
	event_ioctl(pinned_one, PERF_EVENT_IOC_ENABLE);
	cr_assert_gt(read(pinned_one, nothing, sizeof(nothing)), 0);
	close(holder);
	close(fd);
	close(enabled);
	close(pinned_one);
	close(other);
	wait_until_free();
}

/* While it is given back, a task that is counted runs and is switched on either CPU. */
Test(attack_claim, it_goes_from_under_tasks_that_run)
{
	struct perf_event_attr attr = instructions_u();
	pid_t pid[4];
	int fd[4];

	for (int i = 0; i < 4; i++) {
		pid[i] = fork_child();
		if (!pid[i]) {
			if (setresuid(RAW_USER, RAW_USER, RAW_USER) ||
			    prctl(PR_SET_DUMPABLE, 1))
				_exit(1);
			for (;;) {
				user_loop(1000);
				sched_yield();
			}
		}
	}
	for (int round = 0; round < 3; round++) {
		int holder = root_open();

		for (int i = 0; i < 4; i++)
			fd[i] = event_open(attr, pid[i]);
		for (int i = 0; i < 4; i++)
			while (!event_value(fd[i]))
				usleep(1000);
		close(holder);
		for (int i = 0; i < 4; i++)
			close(fd[i]);
		wait_until_free();
	}
	for (int i = 0; i < 4; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
}

/* A second is the least between two times at which it is taken; it may end a tick early. */
Test(attack_claim, opening_and_closing_does_not_take_it_each_time)
{
	unsigned long before = times_taken(), taken;
	struct timespec begin, end;
	double seconds;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < 300; i++)
		close(root_open());
	clock_gettime(CLOCK_MONOTONIC, &end);
	taken = times_taken() - before;
	seconds = end.tv_sec - begin.tv_sec + 1e-9 * (end.tv_nsec - begin.tv_nsec);
	cr_assert_geq(taken, 1);
	cr_assert_leq(taken, 2 + seconds, "%lu times in %f s", taken, seconds);
	wait_until_free();
}

/* What goes on when the PMU is taken anew counts each instruction, and so does who takes it. */
Test(attack_claim, what_goes_on_is_not_disturbed_by_the_taking, .timeout = 100)
{
	int holder, fd;
	struct counts c, later;

	pin_here(0);
	set_claim("anyone");
	fd = user_open(instructions_u());
	set_claim("privileged");
	wait_until_free();
	for (int round = 0; round < 3; round++) {
		holder = root_open();
		c = event_read(fd);
		bracket(holder, N);
		later = event_read(fd);
		cr_expect_geq(later.value - c.value, bracket_instructions(N), "round %d: %lu", round,
			      later.value - c.value);
		close(holder);
		wait_until_free();
	}
	close(fd);
}

/* ---- anyone ---- */

Test(attack_claim, anyone_may_if_that_is_set)
{
	int fd;

	set_claim("anyone");
	fd = user_open(disabled_instructions());
	cr_assert_eq(counting_bracket(fd), 1);
	cr_assert_eq(perf_now(), -EBUSY);
	cr_assert_eq(owner(), PMUCTL_OWNER_PMUCTL);
	close(fd);
	wait_until_free();
}

Test(attack_claim, taking_the_right_away_takes_the_pmu_away)
{
	int fd;

	set_claim("anyone");
	fd = user_open(disabled_instructions());
	cr_assert_eq(counting_bracket(fd), 1);
	set_claim("privileged");
	check_free();
	cr_assert_eq(counting_bracket(fd), 0);
	set_claim("anyone");
	cr_assert_eq(counting_bracket(fd), 1);
	close(fd);
}

/* How often the kernel has got an NMI that nobody wanted, since @log was opened */
static unsigned int unknown_nmis(int log)
{
	char line[8192];
	unsigned int n = 0;
	ssize_t length;

	while ((length = read(log, line, sizeof(line) - 1)) > 0) {
		line[length] = '\0';
		n += !!strstr(line, "NMI received for unknown reason");
	}
	return n;
}

/* A counter overflows each 200 instructions, of which there are many until all events are stopped. */
Test(attack_claim, what_overflows_while_it_is_given_back_is_handled, .fini = default_headroom)
{
	struct perf_event_attr attr = instructions_u();
	AUTO_CLOSE int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	cr_assert_neq(lseek(log, 0, SEEK_END), -1);
	attr.exclude_kernel = 0;
	perm_set_level(-1);
	set_headroom("200");
	set_claim("anyone");
	become_user(true);
	for (int cpu = 0; cpu < get_nprocs(); cpu++)
		event_open(attr, -1, cpu);
	become_user(false);
	for (unsigned int i = 0; i < 100; i++) {
		set_claim("privileged");
		set_claim("anyone");
	}
	cr_expect_eq(unknown_nmis(log), 0);
}

/* ---- always ---- */

Test(attack_claim, always_is_at_once_and_until_something_else_is_set)
{
	int fd;

	set_claim("always");
	cr_assert_eq(owner(), PMUCTL_OWNER_PMUCTL);
	cr_assert_eq(perf_now(), -EBUSY);
	fd = user_open(disabled_instructions());
	cr_assert_eq(counting_bracket(fd), 1);
	close(fd);
	close(root_open());
	cr_assert_eq(owner(), PMUCTL_OWNER_PMUCTL);
	set_claim("privileged");
	check_free();
}

Test(attack_claim, always_is_refused_while_perf_has_it)
{
	char claim[16] = "";
	int perf = perf_now(), fd;

	cr_assert_geq(perf, 0);
	cr_assert_eq(raw_write_file(RAW_CLAIM, "always"), -EBUSY);
	fd = open(RAW_CLAIM, O_RDONLY | O_CLOEXEC);
	cr_assert_gt(read(fd, claim, sizeof(claim) - 1), 0);
	cr_assert_str_eq(claim, "privileged\n");
	close(fd);
	close(perf);
	check_free();
}

/* ---- The parameter ---- */

Test(attack_claim, only_root_sets_it_and_to_what_there_is)
{
	static const char *const bad[] = { "any", "anyone else", "0", "1", "Always" };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(bad); i++)
		cr_assert_eq(raw_write_file(RAW_CLAIM, bad[i]), -EINVAL, "'%s'", bad[i]);
	become_user(true);
	cr_assert_eq(raw_write_file(RAW_CLAIM, "anyone"), -EACCES);
	become_user(false);
	check_claim_refused();
}

Test(attack_claim, setting_it_gives_back_at_once)
{
	close(root_open());
	set_claim("privileged");
	check_free();
}
