// SPDX-License-Identifier: GPL-2.0-only
/*
 * The example of a module that uses the in-kernel API: it names who burns instructions, and
 * keeps the product loaded.
 */
#include "kapi.h"
#include "module.h"
#include "nmis.h"

#define NAME	"pmuctl_watchdog"

static pid_t start_burner(int cpu)
{
	pid_t pid = fork_child();

	if (pid)
		return pid;
	pin_here(cpu);
	prctl(PR_SET_NAME, "burner");
	for (;;)
		user_loop(1000000);
}

Test(kapi_watchdog, names_who_burns_instructions)
{
	int log = log_open(), err;
	unsigned int found = 0;
	char line[64];
	pid_t pid;

	err = kmod_load(NAME, "period=20000000");
	cr_assert_eq(err, 0, "%s", strerror(-err));
	pid = start_burner(1);
	snprintf(line, sizeof(line), "CPU 1: burner[%d], in user mode", pid);
	while (!found) {
		usleep(10000);
		found = log_count(log, line);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	cr_expect_eq(module_info().hw_events, 2, "one for each CPU");
	cr_expect_eq(module_unload(), -EWOULDBLOCK);
	cr_expect_eq(kmod_unload(NAME), 0, "%m");
	cr_expect_eq(module_info().hw_events, 0);
	close(log);
}

/* What pmuctl refuses keeps it from being loaded, and nothing stays behind. */
Test(kapi_watchdog, is_refused_with_a_sentence)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);
	int perf = perf_try(&attr, 0, -1), log = log_open();

	cr_assert(perf >= 0, "%s", strerror(-perf));
	cr_expect_eq(kmod_load(NAME, ""), -EBUSY);
	cr_expect_eq(log_count(log, NAME ": CPU 0: the kernel's NMI watchdog or perf holds the PMU"),
		     1);
	close(perf);
	close(log);
	cr_expect_eq(module_info().hw_events, 0);
	cr_expect_eq(kmod_unload(NAME), -ENOENT);
}
