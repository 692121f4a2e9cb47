// SPDX-License-Identifier: GPL-2.0-only
#include "aux_decode.h"
#include "aux_family.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

pid_t family_start(void (*code)(void))
{
	pid_t pid = fork();
	int status;

	cr_assert_geq(pid, 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raise(SIGSTOP); /* nothing is executed until all events are open */
		code();
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, WUNTRACED), pid);
	cr_assert(WIFSTOPPED(status), "%#x", status);
	return pid;
}

void family_run(pid_t pid)
{
	int status;

	cr_assert_eq(kill(pid, SIGCONT), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0, "%#x", status);
}

union raw_attr aux_inherited(union raw_attr a)
{
	a.attr.inherit = 1;
	a.attr.enable_on_exec = 0;
	return a;
}

void family_traces(struct trace *t, pid_t pid)
{
	union raw_attr a = aux_inherited(trace_attr());

	a.attr.disabled = 0;
	trace_ring_pages = FAMILY_RECORD_PAGES;
	for (int cpu = 0; cpu < FAMILY_CPUS; cpu++)
		trace_open(&t[cpu], &a, pid, cpu, FAMILY_PAGES, PROT_READ | PROT_WRITE);
}

void family_go_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}
