// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ordinary user makes the kernel call no other CPUs again and again: how often a CPU has been
 * called is what the kernel says itself.
 */
#include "bound.h"
#include "userpage.h"

#define ROUNDS		200
#define OWN_CPU		0
#define OTHER_CPU	1

static int own;

static pid_t prepare_page(unsigned int n)
{
	struct perf_event_attr attr = instructions_u();

	(void)n;
	own = event_try(attr);
	die_if(own < 0, "open");
	return getpid();
}

static void work_page(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		void *page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, own, 0);

		die_if(page == MAP_FAILED, "mmap");
		die_if(munmap(page, PAGE_BYTES), "munmap");
	}
}

/* The memory of a new process is on no other CPU, which would have to be called for that. */
Test(attack_calls, a_page_that_is_mapped_in_a_loop)
{
	struct attack a = { prepare_page, work_page, 1 };
	uint64_t before, calls;
	int link[2];
	pid_t user;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link), 0);
	pin_here(OWN_CPU);
	user = fork_child();
	if (!user)
		attack(&a, link[1]);
	close(link[1]);
	hear(link[0]);
	before = calls_of_cpu(OTHER_CPU);
	let_go(link[0]);
	hear(link[0]);
	calls = calls_of_cpu(OTHER_CPU) - before;
	let_go(link[0]);
	raw_reap(user);
	close(link[0]);
	expect_calls_of_others("a mapping", calls, ROUNDS);
}

static void work_processes(void)
{
	struct perf_event_attr attr = instructions_u();
	int status;
	pid_t pid;

	for (int i = 0; i < 10; i++) {
		pid = fork_child();
		if (!pid) {
			own = event_try(attr);
			die_if(own < 0, "open");
			work_page();
			_exit(0);
		}
		die_if(waitpid(pid, &status, 0) != pid || status, "the child");
	}
}

static pid_t prepare_nothing(unsigned int n)
{
	(void)n;
	return getpid();
}

/* Each of several has its page, and may use it. */
Test(attack_calls, several_processes_get_their_pages)
{
	struct attack a = { prepare_nothing, work_processes, 1 };
	int link[2];
	pid_t user;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link), 0);
	user = fork_child();
	if (!user)
		attack(&a, link[1]);
	close(link[1]);
	hear(link[0]);
	let_go(link[0]);
	hear(link[0]);
	let_go(link[0]);
	raw_reap(user);
	close(link[0]);
}
