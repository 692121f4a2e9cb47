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
	check_why(&o->why, ENOMEM, PMUCTL_WHY_NO_MEMORY, "", NO_MEMORY);
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

/* Fail all in turn of opening @o; with @unhooked each time when no hook is set. */
static struct refusals fail_each(struct opening *o, bool unhooked)
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
		fd = with_fault(nth, call_open, o, &fault);
		if (fd < 0) {
			check_refusal(o, fd, fault, nth);
			r.memory += fault == MEMORY;
			r.copies += fault == COPY;
		} else {
			if (o->pid == 0 && o->attr.attr.type == PERF_TYPE_HARDWARE)
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
static void fail_opens(struct opening *o, bool unhooked, unsigned int least)
{
	struct refusals r = { 0 };

	for (int tries = 0; tries < 3 && r.memory < least; tries++)
		r = fail_each(o, unhooked);
	cr_assert_geq(r.memory, least, "only %u opens were refused for memory", r.memory);
	cr_assert_geq(r.copies, 2, "only %u opens were refused for copies", r.copies);
	printf("%u refused for memory, %u for copies\n", r.memory, r.copies);
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

	fail_opens(&o, true, 8);
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
	fail_opens(&o, true, 8);
}

Test(debug_faults, of_opening_an_event_that_tells_of_the_kernels_code)
{
	struct opening o = { .pid = 0, .cpu = -1 };

	o.attr = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	o.attr.attr.ksymbol = 1;
	o.attr.attr.text_poke = 1;
	fail_opens(&o, true, 8);
}

Test(debug_faults, of_opening_an_event_of_page_faults)
{
	struct opening o = { .pid = 0, .cpu = -1 };

	o.attr = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	fail_opens(&o, true, 8);
}

/*
 * Each of the tasks that can be followed at a time has memory of its own: not all are tried. How
 * many of the first places are others, which are made up for, is chance: pages of slabs.
 */
Test(debug_faults, of_opening_an_event_of_minor_faults)
{
	struct opening o = { .pid = 0, .cpu = -1, .most = 32 };

	o.attr = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN);
	fail_opens(&o, true, 8);
}

Test(debug_faults, of_opening_an_event_of_a_tracepoint)
{
	struct opening o = { .pid = 0, .cpu = -1, .tracepoint = "sched:sched_process_fork" };

	o.attr = raw_attr(PERF_TYPE_TRACEPOINT, 0);
	o.attr.attr.exclude_kernel = 0;
	fail_opens(&o, true, 8);
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

/* ---- Of what has been opened ---- */

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
	int fd = event_open(attr);

	cr_assert_eq(fail_calls(call_switch, &fd, 0), 0);
	cr_assert_leq(fail_calls(call_read, &fd, 0), 1);
	cr_assert_leq(fail_calls(call_id, &fd, 0), 1);
	close(fd);
}

/* ---- What an event gets later, when it is used so for the first time ---- */

/**
 * struct use - a call on an event that is new each time
 * @attr: what it is, and @tracepoint: likewise.
 * @call: gets its descriptor.
 */
struct use {
	union raw_attr attr;
	const char *tracepoint;
	int (*call)(void *fd);
};

/* Fail all in turn of the call; how often it was refused for memory. */
static unsigned int fail_each_use(const struct use *use)
{
	struct opening o = { .attr = use->attr, .pid = 0, .cpu = -1,
			     .tracepoint = use->tracepoint };
	int nr_fds = raw_count_fds(), fd, ret;
	unsigned int nth, refused = 0;
	enum fault fault = MEMORY;

	for (nth = 1; !faults_over(fault) && nth < FAULTS_MAX; nth++) {
		struct pmuctl_explanation why;

		fd = call_open(&o);
		cr_assert_geq(fd, 0, "%s", o.why.sentence);
		nr_fds = raw_count_fds() - 1;
		ret = with_fault(nth, use->call, &fd, &fault);
		if (ret) {
			cr_assert_eq(ret, fault == COPY ? -EFAULT : -ENOMEM,
				     "fault %u (%d): %d", nth, fault, ret);
			/* The kernel itself may have had no memory, which nobody explains. */
			cr_assert_eq(raw_explain(fd, &why), 0);
			if (fault == MEMORY && why.error)
				check_why(&why, ENOMEM, PMUCTL_WHY_NO_MEMORY, "", NO_MEMORY);
			refused += fault == MEMORY && why.error;
			/* It is as good as before: the same again is done. */
			cr_assert_eq(use->call(&fd), 0, "after fault %u", nth);
		}
		close(fd);
		check_nothing_left(nr_fds, nth);
	}
	cr_assert_lt(nth, FAULTS_MAX);
	return refused;
}

/* At least @least times; see fail_opens(). */
static void fail_uses(const struct use *use, unsigned int least)
{
	unsigned int refused = 0;

	for (int tries = 0; tries < 3 && refused < least; tries++)
		refused = fail_each_use(use);
	cr_assert_geq(refused, least, "only %u were refused for memory", refused);
	printf("%u refused for memory\n", refused);
}

#define RING	(9 * 4096ul)

static int map_and_unmap(int fd, size_t size)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	if (munmap(map, size))
		return munmap(map, size) ? -EIO : -ENOMEM;
	return 0;
}

static int call_map_ring(void *fd)
{
	return map_and_unmap(*(int *)fd, RING);
}

/* Where nothing is mapped nearby, so that the kernel needs page tables as well */
static int call_map_far(void *fd)
{
	void *place = (void *)0x100000000000, *map;

	map = mmap(place, RING, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
		   *(int *)fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	if (munmap(map, RING))
		return munmap(map, RING) ? -EIO : -ENOMEM;
	return 0;
}

static int call_map_page(void *fd)
{
	return map_and_unmap(*(int *)fd, 4096);
}

/* The output, the ring, its pages, and where they are mapped */
Test(debug_faults, of_mapping_a_ring)
{
	struct use use = { .attr = raw_instructions(), .call = call_map_ring };

	fail_uses(&use, 8);
}

/* The same, and three levels of page tables */
Test(debug_faults, of_mapping_a_ring_far_from_all)
{
	struct use use = { .attr = raw_instructions(), .call = call_map_far };

	fail_uses(&use, 11);
}

Test(debug_faults, of_mapping_the_page_of_an_event)
{
	struct use use = { .attr = raw_instructions(), .call = call_map_page };

	fail_uses(&use, 1);
}

static int call_no_output(void *fd)
{
	return ioctl(*(int *)fd, PERF_EVENT_IOC_SET_OUTPUT, -1) ? -errno : 0;
}

Test(debug_faults, of_setting_the_output)
{
	struct use use = { .attr = raw_instructions(), .call = call_no_output };

	fail_uses(&use, 1);
}

static int call_filter(void *fd)
{
	return ioctl(*(int *)fd, PERF_EVENT_IOC_SET_FILTER, "parent_pid > 1") ? -errno : 0;
}

Test(debug_faults, of_setting_a_filter)
{
	struct use use = { .tracepoint = "sched:sched_process_fork", .call = call_filter };

	use.attr = raw_attr(PERF_TYPE_TRACEPOINT, 0);
	use.attr.attr.exclude_kernel = 0;
	fail_uses(&use, 1);
}

/* ---- A group of which a read needs more memory than the stack has ---- */

#define MEMBERS	12

static int call_read_group(void *arg)
{
	uint64_t words[1 + MEMBERS];
	ssize_t n = read(*(int *)arg, words, sizeof(words));

	if (n < 0)
		return -errno;
	return n == sizeof(words) && words[0] == MEMBERS ? 0 : -EIO;
}

Test(debug_faults, of_reading_a_large_group)
{
	union raw_attr attr = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	int fds[MEMBERS];

	attr.attr.read_format = PERF_FORMAT_GROUP;
	for (int i = 0; i < MEMBERS; i++) {
		struct pmuctl_open request = raw_request(&attr, 0, -1, 0, NULL);

		request.group_fd = i ? fds[0] : -1;
		fds[i] = ioctl(raw_device(), PMUCTL_IOC_OPEN, &request);
		cr_assert_geq(fds[i], 0, "%m");
	}
	cr_assert_eq(call_read_group(&fds[0]), 0);
	cr_assert_geq(fail_calls(call_read_group, &fds[0], -ENOMEM), 1);
	for (int i = MEMBERS; i--;)
		close(fds[i]);
}
