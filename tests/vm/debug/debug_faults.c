// SPDX-License-Identifier: GPL-2.0-only
/*
 * What comes of calls whose allocations, or whose copies from and to user space,
 * fail one after the other: the first of a call, then only the second, and so on
 * until a call has no more of them. Each must be refused with ENOMEM (EFAULT for a
 * copy) and its explanation, or not need what it did not get; and nothing may be
 * left behind. Needs a kernel with fault injection (the laboratory's debug kernel).
 */
#include "faults.h"
#include "hooks.h"
#include "refusal.h"

#include <pthread.h>

#define BAD_POINTER	"the memory at this address cannot be read or written: pass a pointer into your own address space"

struct opening {
	union raw_attr attr;
	int pid;
	int cpu;
	uint32_t flags;
	const char *tracepoint;
	unsigned int most; /* how many of its places are tried; 0: all */
	struct pmuctl_explanation why;
};

static int call_open(void *arg)
{
	struct opening *o = arg;
	struct pmuctl_open request =
		raw_request(&o->attr, o->pid, o->cpu, PERF_FLAG_FD_CLOEXEC | o->flags, &o->why);
	int fd;

	request.tracepoint = (uintptr_t)o->tracepoint;
	fd = ioctl(raw_device(), PMUCTL_IOC_OPEN, &request);
	return fd < 0 ? -errno : fd;
}

/* What a refusal must have said, by what had failed. */
static void check_refusal(const struct opening *o, int ret, enum fault fault,
			  unsigned int nth)
{
	cr_assert_neq(fault, NONE, "%d without a fault: %s", ret, o->why.sentence);
	if (fault == COPY) {
		cr_assert_eq(ret, -EFAULT, "fault %u, a copy: %d: %s", nth, ret,
			     o->why.sentence);
		/* It could not be told if it was its own copy that failed. */
		if (o->why.size)
			cr_assert_str_eq(o->why.sentence, BAD_POINTER);
		return;
	}
	cr_assert_eq(ret, -ENOMEM, "fault %u, of memory: %d: %s", nth, ret,
		     o->why.sentence);
	check_why(&o->why, ENOMEM, PMUCTL_WHY_NO_MEMORY, "", FAULTS_NO_MEMORY);
}

/* An event that was opened all the same is as good as any. */
static void check_counts(int fd, unsigned int nth)
{
	uint64_t before = raw_read(fd);

	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	user_loop(1000);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	cr_assert_geq(raw_read(fd) - before, 2000, "fault %u", nth);
}

/* How many opens were refused, for memory and for copies */
struct refusals {
	unsigned int memory, copies;
};

typedef int (*with_fault_fn)(unsigned int nth, int (*call)(void *arg), void *arg,
			     enum fault *fault);

/* Fail all in turn of opening @o, by @with; with @unhooked each time when no hook is set. */
static struct refusals fail_each(struct opening *o, with_fault_fn with, bool unhooked)
{
	enum fault fault = MEMORY;
	struct refusals r = { 0 };
	int fd = call_open(o), nr_fds;
	unsigned int nth;

	cr_assert_geq(fd, 0, "%s", o->why.sentence);
	close(fd);
	nr_fds = raw_count_fds();
	for (nth = 1; !faults_over(fault) && nth < FAULTS_MAX; nth++) {
		if (o->most && nth > o->most)
			break;
		if (unhooked)
			hooks_wait_for_none();
		memset(&o->why, 0, sizeof(o->why));
		fd = with(nth, call_open, o, &fault);
		if (fd < 0) {
			check_refusal(o, fd, fault, nth);
			r.memory += fault == MEMORY;
			r.copies += fault == COPY;
		} else {
			if (o->pid == 0 && o->attr.attr.type == PERF_TYPE_HARDWARE)
				check_counts(fd, nth);
			close(fd);
		}
		faults_left_nothing(nr_fds, nth);
	}
	cr_assert_lt(nth, FAULTS_MAX);
	return r;
}

/*
 * At least @least of the allocations must be ones that an event cannot do without; those of
 * hooks, which workers set, are more. One may be missed when the kernel's own checks allocate
 * something before it.
 */
static void fail_opens(struct opening *o, bool unhooked, unsigned int least)
{
	struct refusals r = { 0 };

	for (int tries = 0; tries < 3 && r.memory < least; tries++)
		r = fail_each(o, with_fault, unhooked);
	cr_assert_geq(r.memory, least, "only %u opens were refused for memory", r.memory);
	cr_assert_geq(r.copies, 2, "only %u opens were refused for copies", r.copies);
	printf("%u refused for memory, %u for copies\n", r.memory, r.copies);
}

/* Likewise, when no hook is set; and of what setting them takes at least @hooks */
static void fail_unhooked(struct opening *o, unsigned int least, unsigned int hooks)
{
	struct refusals r = { 0 };

	fail_opens(o, true, least);
	for (int tries = 0; tries < 3 && r.memory < hooks; tries++)
		r = fail_each(o, with_worker_fault, true);
	cr_assert_geq(r.memory, hooks, "only %u hooks could not be set", r.memory);
	printf("%u as a hook could not be set\n", r.memory);
}

TestSuite(debug_faults, .init = faults_set_up);

/* The event, its context, its file's own part, and the file itself */
Test(debug_faults, of_opening_an_event_of_ones_own)
{
	struct opening o = { .attr = raw_instructions(), .pid = 0, .cpu = -1 };

	fail_opens(&o, false, 4);
}

Test(debug_faults, of_opening_an_event_that_counts_at_once)
{
	struct opening o = { .attr = raw_instructions(), .pid = 0, .cpu = -1 };

	o.attr.attr.disabled = 0;
	fail_opens(&o, false, 4);
}

/* The first event of a task hooks the scheduler, with memory for each hook. */
Test(debug_faults, of_opening_the_first_event_in_a_while)
{
	struct opening o = { .attr = raw_instructions(), .pid = 0, .cpu = -1 };

	fail_unhooked(&o, 5, 4);
}

Test(debug_faults, of_opening_an_event_of_a_cpu)
{
	struct opening o = { .attr = raw_instructions(), .pid = -1, .cpu = 1 };

	fail_opens(&o, false, 3);
}

/* The event, where each CPU's is, and that of each CPU */
Test(debug_faults, of_opening_an_event_of_all_cpus)
{
	struct opening o = { .attr = raw_instructions(), .pid = -1, .cpu = -1 };

	fail_opens(&o, false, 5);
}

Test(debug_faults, of_opening_an_event_of_another_task)
{
	struct opening o = { .attr = raw_instructions(), .cpu = -1 };

	o.pid = raw_sleeper();
	fail_opens(&o, false, 3);
	raw_reap(o.pid);
}

/* The check whether a user may look at a task, which root passes anyway, takes memory. */
Test(debug_faults, of_opening_an_event_of_a_users_other_task)
{
	struct opening o = { .attr = raw_instructions(), .cpu = -1 };

	cr_assert_eq(raw_become(RAW_USER), 0);
	cr_assert_eq(prctl(PR_SET_DUMPABLE, 1), 0);
	o.pid = raw_sleeper();
	fail_opens(&o, false, 6);
	raw_reap(o.pid);
}

/* What it samples to, and room for what a sample tells */
Test(debug_faults, of_opening_an_event_that_samples)
{
	struct opening o = { .attr = raw_instructions(), .pid = 0, .cpu = -1 };

	o.attr.attr.sample_period = 1000003;
	o.attr.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	fail_opens(&o, false, 4);
}

/* The hooks of one kind each, which are dropped in between */
Test(debug_faults, of_opening_an_event_that_tells_of_mappings)
{
	struct opening o = { .pid = 0, .cpu = -1 };

	o.attr = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	o.attr.attr.mmap = 1;
	fail_unhooked(&o, 5, 4);
}

Test(debug_faults, of_opening_an_event_that_tells_of_the_kernels_code)
{
	struct opening o = { .pid = 0, .cpu = -1 };

	o.attr = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	o.attr.attr.ksymbol = 1;
	o.attr.attr.text_poke = 1;
	fail_unhooked(&o, 5, 4);
}

Test(debug_faults, of_opening_an_event_of_page_faults)
{
	struct opening o = { .pid = 0, .cpu = -1 };

	o.attr = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	fail_unhooked(&o, 5, 4);
}

/*
 * Each of the tasks that can be followed at a time has memory of its own: not all are tried. How
 * many of the first places are others, which are made up for, is chance: pages of slabs.
 */
Test(debug_faults, of_opening_an_event_of_minor_faults)
{
	struct opening o = { .pid = 0, .cpu = -1, .most = 32 };

	o.attr = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN);
	fail_unhooked(&o, 5, 4);
}

Test(debug_faults, of_opening_an_event_of_a_tracepoint)
{
	struct opening o = { .pid = 0, .cpu = -1, .tracepoint = "sched:sched_process_fork" };

	o.attr = raw_attr(PERF_TYPE_TRACEPOINT, 0);
	o.attr.attr.exclude_kernel = 0;
	fail_unhooked(&o, 5, 4);
}

static void *wait_for_ever(void *unused)
{
	pause();
	return unused;
}

/* The list of the threads, and each one's context and event */
Test(debug_faults, of_opening_an_event_that_threads_inherit)
{
	struct opening o = { .attr = raw_instructions(), .pid = 0, .cpu = -1 };
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
	o.attr.attr.inherit = 1;
	fail_opens(&o, false, 5);
}

static const struct opening of_process = { .cpu = -1, .flags = PMUCTL_OPEN_PROCESS };

/* A process of three threads, to be counted as a whole */
static pid_t process_start(void)
{
	int ready[2];
	pid_t pid;
	char byte;

	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < 2; i++)
			if (pthread_create(&thread, NULL, wait_for_ever, NULL))
				_exit(1);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* The list of its threads, twice; each one's context and event; and what tells of its end */
Test(debug_faults, of_opening_an_event_of_a_process)
{
	struct opening o = of_process;

	o.attr = raw_instructions();
	o.attr.attr.inherit = 1;
	o.pid = process_start();
	fail_opens(&o, false, 8);
	raw_reap(o.pid);
}

/* The same, and whether a user may look at each thread */
Test(debug_faults, of_opening_an_event_of_a_users_process)
{
	struct opening o = of_process;

	o.attr = raw_instructions();
	o.attr.attr.inherit = 1;
	cr_assert_eq(raw_become(RAW_USER), 0);
	cr_assert_eq(prctl(PR_SET_DUMPABLE, 1), 0);
	o.pid = process_start();
	fail_opens(&o, false, 10);
	raw_reap(o.pid);
}
