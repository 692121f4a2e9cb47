// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refusals that come from around the call: no file descriptor, no file, a fatal signal,
 * somebody else's PMU.
 *
 * Some explanations cannot be had by a program at will: PMUCTL_WHY_NO_MEMORY (the kernel
 * kills somebody before such small allocations fail), PMUCTL_WHY_NO_HOOK,
 * PMUCTL_WHY_NO_SOFT_HOOK and PMUCTL_WHY_NO_MMAP_HOOK (every kernel that the module can be
 * built for has those tracepoints, and the functions that the probes are set on). Nor can "that counter's event",
 * a PMU without the third fixed counter, be emulated.
 */
#include "refusal.h"

#include <sys/resource.h>

#define FILE_MAX	"/proc/sys/fs/file-max"
#define WATCHDOG	"/proc/sys/kernel/nmi_watchdog"

#define BUSY_SENTENCE \
	"the kernel's NMI watchdog or perf holds the PMU: 'echo 0 > /proc/sys/kernel/nmi_watchdog' stops the watchdog; or end the perf sessions that count hardware events"

Test(refuse_call, no_descriptor_is_free)
{
	union raw_attr a = raw_instructions();
	struct rlimit limit = { 0, 0 };
	struct rlimit before;

	raw_device();
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit.rlim_max = before.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	check_refused(OPEN(a), EMFILE, PMUCTL_WHY_NO_FD, "",
		      "no file descriptor is free: close some, or raise the limit (ulimit -n)");
	cr_assert_eq(raw_info().hw_events, 0);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	close(event_open(a));
}

static long file_max;

static void restore_file_max(void)
{
	raw_write_number(FILE_MAX, file_max);
}

/* Those with CAP_SYS_ADMIN know no such limit. */
static void check_no_file(bool of_another_task)
{
	union raw_attr a = raw_instructions();
	struct pmuctl_explanation why;
	int report[2], status;
	pid_t pid;

	raw_device();
	cr_assert_eq(pipe(report), 0);
	file_max = raw_read_number(FILE_MAX);
	cr_assert_eq(raw_write_file(FILE_MAX, "1"), 0);
	close(event_open(a));
	pid = fork();
	if (!pid) {
		if (raw_become(RAW_USER) || prctl(PR_SET_DUMPABLE, 1))
			_exit(1);
		pid = of_another_task ? raw_sleeper() : 0;
		if (raw_open(&a, pid, -1, 0, &why) != -ENFILE)
			_exit(1);
		_exit(write(report[1], &why, sizeof(why)) != sizeof(why));
	}
	waitpid(pid, &status, 0);
	restore_file_max();
	cr_assert(WIFEXITED(status) && !WEXITSTATUS(status));
	cr_assert_eq(read(report[0], &why, sizeof(why)), (ssize_t)sizeof(why));
	check_why(&why, ENFILE, PMUCTL_WHY_NO_FILE, "",
		  "the system's limit of open files is reached: raise it (sysctl fs.file-max) or close some");
	cr_assert_eq(raw_info().hw_events, 0);
}

Test(refuse_call, no_file_is_free, .fini = restore_file_max)
{
	check_no_file(false);
}

/* The check whether a user may look at a task needs one before the event does. */
Test(refuse_call, no_file_is_free_to_look_at_another_task, .fini = restore_file_max)
{
	check_no_file(true);
}

/* ---- A fatal signal ---- */

static void open_and_close(int device)
{
	union raw_attr a = raw_instructions();
	struct pmuctl_open request = raw_request(&a, 0, -1, 0, NULL);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int fd = ioctl(device, PMUCTL_IOC_OPEN, &request);

		if (fd >= 0)
			close(fd);
	}
}

static pid_t start_opener(int device)
{
	pid_t pid = fork();

	if (!pid)
		open_and_close(device < 0 ? open(PMUCTL_DEVICE, O_RDWR) : device);
	return pid;
}

/*
 * Who dies while it waits for its turn cannot read why; but somebody else who has the same
 * device open can. Several that open and close all the time make sure that one waits often.
 */
Test(refuse_call, a_fatal_signal_ends_the_wait)
{
	struct pmuctl_explanation why = { .code = 0 };
	pid_t others[3];

	raw_device();
	for (int i = 0; i < 3; i++)
		others[i] = start_opener(-1);
	for (int i = 0; why.code != PMUCTL_WHY_INTERRUPTED; i++) {
		pid_t pid = start_opener(raw_device());

		usleep(1000 + i % 7 * 1500);
		raw_reap(pid);
		cr_assert_eq(raw_explain(raw_device(), &why), 0);
	}
	for (int i = 0; i < 3; i++)
		raw_reap(others[i]);
	check_why(&why, EINTR, PMUCTL_WHY_INTERRUPTED, "",
		  "a fatal signal arrived before the event was opened");
	cr_assert_eq(raw_info().hw_events, 0);
}

/* ---- Somebody else's PMU ---- */

Test(refuse_call, perf_holds_the_pmu)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr), .config = PERF_COUNT_HW_INSTRUCTIONS,
		.disabled = 1 };
	union raw_attr a = raw_instructions();
	int perf;

	cr_assert_eq(raw_give_back(), 0);
	perf = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	cr_assert_geq(perf, 0);
	check_refusals(
		{ "a task", OPEN(a), EBUSY, PMUCTL_WHY_PMU_BUSY, "attr.type", BUSY_SENTENCE },
		{ "a CPU", OPEN(a, -1, 0), EBUSY, PMUCTL_WHY_PMU_BUSY, "attr.type", BUSY_SENTENCE }
	);
	close(perf);
	close(event_open(a));
}

static void stop_watchdog(void)
{
	raw_write_file(WATCHDOG, "0");
}

Test(refuse_call, the_watchdog_holds_the_pmu, .fini = stop_watchdog)
{
	union raw_attr a = raw_instructions();

	cr_assert_eq(raw_give_back(), 0);
	cr_assert_eq(raw_write_file(WATCHDOG, "1"), 0);
	check_refused(OPEN(a), EBUSY, PMUCTL_WHY_PMU_BUSY, "attr.type", BUSY_SENTENCE);
	/* What the sentence says helps. */
	cr_assert_eq(raw_write_file(WATCHDOG, "0"), 0);
	close(event_open(a));
}
