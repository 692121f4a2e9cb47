// SPDX-License-Identifier: GPL-2.0-only
/*
 * What comes of calls whose allocations, or whose copies from and to user space,
 * fail one after the other: the first of a call, then only the second, and so on
 * until a call has no more of them. Each must be refused with ENOMEM (EFAULT for a
 * copy) and its explanation, or not need what it did not get; and nothing may be
 * left behind. Needs a kernel with fault injection (the laboratory's debug kernel).
 */
#include "faults.h"
#include "raw_check.h"

#define UNHOOKED_US	1500000	/* as long after the last event no hook is left */
#define NO_MEMORY	"the kernel has no memory left for the event: close other events or free memory"
#define BAD_POINTER	"the memory at this address cannot be read or written: pass a pointer into your own address space"

/* Nothing is open, nobody has the PMU, and no descriptor is in use but @nr_fds. */
static void check_nothing_left(int nr_fds, unsigned int nth)
{
	struct pmuctl_info info = raw_settled_info();

	cr_assert_eq(info.hw_events, 0, "fault %u left %u events", nth, info.hw_events);
	/* Those who may not ask who has the PMU are told if it is not us. */
	cr_assert(info.pmu_owner == PMUCTL_OWNER_NOBODY ||
		  info.pmu_owner == PMUCTL_OWNER_UNKNOWN, "fault %u: owner %u", nth,
		  info.pmu_owner);
	cr_assert_eq(raw_count_fds(), nr_fds, "fault %u", nth);
}

struct opening {
	union raw_attr attr;
	int pid;
	int cpu;
	struct pmuctl_explanation why;
};

static int call_open(void *arg)
{
	struct opening *o = arg;

	return raw_open(&o->attr, o->pid, o->cpu, PERF_FLAG_FD_CLOEXEC, &o->why);
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
	raw_check_why(&o->why, ENOMEM, PMUCTL_WHY_NO_MEMORY, "", NO_MEMORY);
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

/* Fail all in turn of opening @o, each time @pause_us after the last event. */
static struct refusals fail_each(struct opening *o, useconds_t pause_us)
{
	enum fault fault = MEMORY;
	struct refusals r = { 0 };
	int fd = call_open(o), nr_fds;
	unsigned int nth;

	cr_assert_geq(fd, 0, "%s", o->why.sentence);
	close(fd);
	nr_fds = raw_count_fds();
	for (nth = 1; !faults_over(fault) && nth < FAULTS_MAX; nth++) {
		usleep(pause_us);
		memset(&o->why, 0, sizeof(o->why));
		fd = with_fault(nth, call_open, o, &fault);
		if (fd < 0) {
			check_refusal(o, fd, fault, nth);
			r.memory += fault == MEMORY;
			r.copies += fault == COPY;
		} else {
			if (o->pid == 0)
				check_counts(fd, nth);
			close(fd);
		}
		check_nothing_left(nr_fds, nth);
	}
	cr_assert_lt(nth, FAULTS_MAX);
	return r;
}

/*
 * At least @least of the allocations must be ones that an event cannot do without. One may
 * be missed when the kernel's own checks allocate something before it.
 */
static void fail_opens(struct opening *o, useconds_t pause_us, unsigned int least)
{
	struct refusals r = { 0 };

	for (int tries = 0; tries < 3 && r.memory < least; tries++)
		r = fail_each(o, pause_us);
	cr_assert_geq(r.memory, least, "only %u opens were refused for memory", r.memory);
	cr_assert_geq(r.copies, 2, "only %u opens were refused for copies", r.copies);
	printf("%u refused for memory, %u for copies\n", r.memory, r.copies);
}

TestSuite(debug_faults, .init = faults_set_up);

/* The event, its context, its file's own part, and the file itself */
Test(debug_faults, of_opening_an_event_of_ones_own)
{
	struct opening o = { .attr = raw_instructions(), .pid = 0, .cpu = -1 };

	fail_opens(&o, 0, 4);
}

Test(debug_faults, of_opening_an_event_that_counts_at_once)
{
	struct opening o = { .attr = raw_instructions(), .pid = 0, .cpu = -1 };

	o.attr.attr.disabled = 0;
	fail_opens(&o, 0, 4);
}

/* The first event of a task hooks the scheduler, with memory for each hook. */
Test(debug_faults, of_opening_the_first_event_in_a_while)
{
	struct opening o = { .attr = raw_instructions(), .pid = 0, .cpu = -1 };

	fail_opens(&o, UNHOOKED_US, 8);
}

Test(debug_faults, of_opening_an_event_of_a_cpu)
{
	struct opening o = { .attr = raw_instructions(), .pid = -1, .cpu = 1 };

	fail_opens(&o, 0, 3);
}

Test(debug_faults, of_opening_an_event_of_another_task)
{
	struct opening o = { .attr = raw_instructions(), .cpu = -1 };

	o.pid = raw_sleeper();
	fail_opens(&o, 0, 3);
	raw_reap(o.pid);
}

/* The check whether a user may look at a task, which root passes anyway, takes memory. */
Test(debug_faults, of_opening_an_event_of_a_users_other_task)
{
	struct opening o = { .attr = raw_instructions(), .cpu = -1 };

	cr_assert_eq(raw_become(RAW_USER), 0);
	cr_assert_eq(prctl(PR_SET_DUMPABLE, 1), 0);
	o.pid = raw_sleeper();
	fail_opens(&o, 0, 6);
	raw_reap(o.pid);
}

static int call_info(void *arg)
{
	struct pmuctl_info info = { .size = sizeof(info) };

	(void)arg;
	return ioctl(raw_device(), PMUCTL_IOC_INFO, &info) ? -errno : 0;
}

static int call_explain(void *arg)
{
	return raw_explain(raw_device(), arg);
}

static int call_id(void *arg)
{
	uint64_t id;

	return ioctl(*(int *)arg, PERF_EVENT_IOC_ID, &id) ? -errno : 0;
}

static int call_read(void *arg)
{
	uint64_t value;

	return read(*(int *)arg, &value, sizeof(value)) < 0 ? -errno : 0;
}

static int call_switch(void *arg)
{
	int fd = *(int *)arg;

	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) || ioctl(fd, PERF_EVENT_IOC_RESET, 0) ||
	       ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

static int call_device(void *arg)
{
	int fd = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC);

	(void)arg;
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -errno : 0;
}

/* Fail all in turn of a call; how many made it fail, and with the error they must. */
static unsigned int fail_calls(int (*call)(void *arg), void *arg, int memory_error)
{
	enum fault fault = MEMORY;
	unsigned int nth, refused = 0;

	for (nth = 1; !faults_over(fault) && nth < FAULTS_MAX; nth++) {
		int ret = with_fault(nth, call, arg, &fault);

		if (!ret)
			continue;
		refused++;
		cr_assert_eq(ret, fault == COPY ? -EFAULT : memory_error,
			     "fault %u (%d): %d", nth, fault, ret);
	}
	cr_assert_lt(nth, FAULTS_MAX);
	return refused;
}

Test(debug_faults, of_using_the_device)
{
	struct pmuctl_explanation why;
	union raw_attr bad = raw_attr(~0U, 0);

	cr_assert_lt(raw_open(&bad, 0, -1, 0, NULL), 0);
	cr_assert_geq(fail_calls(call_device, NULL, -ENOMEM), 2);
	cr_assert_geq(fail_calls(call_info, NULL, 0), 2);
	cr_assert_geq(fail_calls(call_explain, &why, 0), 2);
}

/* Reading and switching an event takes no memory. */
Test(debug_faults, of_using_an_event)
{
	union raw_attr attr = raw_instructions();
	int fd = raw_check_opened(&attr, 0, -1, 0);

	cr_assert_eq(fail_calls(call_switch, &fd, 0), 0);
	cr_assert_leq(fail_calls(call_read, &fd, 0), 1);
	cr_assert_leq(fail_calls(call_id, &fd, 0), 1);
	close(fd);
}
