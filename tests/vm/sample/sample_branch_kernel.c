// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branches in samples of the kernel, and what of it an ordinary user is told; for --cpu intel-lbr.
 * The kernel's own perf passes the same.
 */
#include "branches.h"

#include <setjmp.h>
#include <signal.h>

TestSuite(sample_branch_kernel, .init = sampling_init, .fini = sampling_fini, .timeout = 300);

#define USER	PERF_SAMPLE_BRANCH_USER
#define ANY	PERF_SAMPLE_BRANCH_ANY

/*
 * Code runs straight from where a branch has gone to, to the next one. Returns how many there are:
 * soon after a task has come to its CPU fewer than the processor notes. perf tells zeros then.
 */
static uint64_t check_way(const struct sample *s)
{
	uint64_t n = s->nr_branches;

	if (is_witness())
		while (n && !s->branches[n - 1].from && !s->branches[n - 1].to)
			n--;
	for (uint64_t i = 0; i + 1 < n; i++)
		cr_assert_lt(s->branches[i].from - s->branches[i + 1].to, 4096,
			     "%#llx after %#llx", s->branches[i].from, s->branches[i + 1].to);
	return n;
}

static void run_calls(uint64_t branches, uint64_t *kernel, uint64_t *user)
{
	struct perf_event_attr attr = branches_attr(kernel_period(10007), branches);
	struct perf_event_header *header;
	struct sample s;
	struct ring r;
	int fd;

	attr.exclude_kernel = 0;
	fd = event_open(attr);
	ring_map(&r, fd, 128);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	syscall_loop(5000);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	*kernel = *user = 0;
	while ((header = ring_next(&r))) {
		take_sample(&attr, header, &s);
		if (branches == (ANY | USER | PERF_SAMPLE_BRANCH_KERNEL))
			check_way(&s);
		for (uint64_t i = 0; i < s.nr_branches; i++) {
			*kernel += KERNEL(s.branches[i].to);
			*user += !KERNEL(s.branches[i].to);
			if (!is_witness() && !(branches & PERF_SAMPLE_BRANCH_KERNEL))
				cr_assert_not(KERNEL(s.branches[i].from));
		}
	}
	close(fd);
}

Test(sample_branch_kernel, program_and_kernel)
{
	uint64_t kernel, user;

	/* Some sample comes within 32 branches of the program, however long a system call is. */
	do {
		run_calls(ANY | USER | PERF_SAMPLE_BRANCH_KERNEL, &kernel, &user);
		cr_assert(kernel >= 100, "%lu and %lu", kernel, user);
	} while (!user);
	run_calls(ANY | PERF_SAMPLE_BRANCH_KERNEL, &kernel, &user);
	cr_assert(kernel >= 100 && user == 0, "%lu and %lu", kernel, user);
	run_calls(ANY | USER, &kernel, &user);
	cr_assert(kernel == 0 && user >= 1, "%lu and %lu", kernel, user);
}

/*
 * Two tasks take turns, and some sample comes a few branches after one of them has got the CPU. Not
 * in the debug kernel: more than 32 branches are taken there between the write that has branches
 * noted and the one that lets counters run.
 */
Test(sample_branch_kernel, nothing_is_told_that_was_not_noted)
{
	struct perf_event_attr attr = branches_attr(kernel_period(10007),
						    ANY | USER | PERF_SAMPLE_BRANCH_KERNEL);
	struct perf_event_header *header;
	uint64_t few = 0, samples = 0;
	struct sample s;
	struct ring r;
	pid_t other;
	int fd;

	attr.exclude_kernel = 0;
	pin_here(1);
	other = fork_child();
	if (!other)
		for (;;)
			sched_yield();
	fd = event_open(attr);
	ring_map(&r, fd, 128);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	while (!few && (!is_debug_kernel() || samples < 1000)) {
		uint64_t end;

		sched_yield();
		end = ring_head(&r);
		while ((header = ring_next_before(&r, end))) {
			if (header->type != PERF_RECORD_SAMPLE)
				continue;
			take_sample(&attr, header, &s);
			few += check_way(&s) < BRANCHES_MAX;
			samples++;
		}
	}
}

static sigjmp_buf back;

static void go_back(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

/* Who may not look into the kernel gets none of its addresses, even where he has jumped to one. */
Test(sample_branch_kernel, an_ordinary_user_is_told_nothing_of_the_kernel)
{
	static const uint64_t places[] = { 0xffffffff81000000, 0xffffffffffffffff, 1ull << 63 };
	struct perf_event_attr attr = branches_attr(11, USER | ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE);
	struct sigaction action = { .sa_handler = go_back, .sa_flags = SA_NODEFER };
	struct perf_event_header *header;
	uint64_t branches = 0;
	struct sample s;
	struct ring r;
	int fd;

	/* The suite's end is root's again. */
	cr_assert_eq(setresuid(1000, 1000, 0), 0);
	sigaction(SIGSEGV, &action, NULL);
	fd = event_open(attr);
	ring_map(&r, fd, 64);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (volatile size_t i = 0; i < 300; i++)
		if (!sigsetjmp(back, 1))
			asm volatile("jmp *%0" : : "r" (places[i % RAW_ARRAY_SIZE(places)]));
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	while ((header = ring_next(&r))) {
		if (header->type != PERF_RECORD_SAMPLE)
			continue;
		take_sample(&attr, header, &s);
		/* perf tells where the program has jumped to. */
		cr_assert(is_witness() || !KERNEL(s.ip));
		for (uint64_t i = 0; i < s.nr_branches; i++, branches++)
			cr_assert_not(KERNEL(s.branches[i].to) ||
				      (!is_witness() && KERNEL(s.branches[i].from)),
				      "%#llx to %#llx", s.branches[i].from, s.branches[i].to);
	}
	cr_assert_geq(branches, 1000);
	cr_assert_eq(setresuid(0, 0, 0), 0);
}
