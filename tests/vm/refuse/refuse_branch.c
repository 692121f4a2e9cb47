// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refusals of attrs that ask for branches in samples. What is wrong with them is told on every
 * machine; the rest depends on whether the CPU notes branches, as --cpu intel-lbr does, and whether it
 * traces, as --cpu intel-lbr-v4 does beside.
 */
#include "loops.h"
#include "perm.h"
#include "pmu.h"

#define USER	PERF_SAMPLE_BRANCH_USER
#define ANY	PERF_SAMPLE_BRANCH_ANY

#define BRANCHES(...)	RAW_ATTR(.exclude_hv = 1, .sample_period = 1000000,		\
				 .sample_type = PERF_SAMPLE_BRANCH_STACK, ##__VA_ARGS__)

static bool has_branches(void)
{
	AUTO_CLOSE int fd = event_try(BRANCHES(.branch_sample_type = USER | ANY));

	cr_assert(fd >= 0 || fd == -EOPNOTSUPP, "%s", event_why.sentence);
	return fd >= 0;
}

Test(refuse_branch, what_makes_no_sense)
{
	union raw_attr soft = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	union raw_attr tracepoint = raw_attr(PERF_TYPE_TRACEPOINT, 0);

	soft.attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	soft.attr.branch_sample_type = USER | ANY;
	tracepoint.attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	tracepoint.attr.branch_sample_type = USER | ANY;
	tracepoint.attr.exclude_kernel = 0;
	check_refusals(
		{ "no kind", OPEN(BRANCHES(.branch_sample_type = 0)), EINVAL,
		  PMUCTL_WHY_BRANCH_NO_KIND, "attr.branch_sample_type",
		  "attr.branch_sample_type 0x0 names no kind of branch: add PERF_SAMPLE_BRANCH_ANY, or a kind" },
		{ "privileges alone", OPEN(BRANCHES(.branch_sample_type = 7)), EINVAL,
		  PMUCTL_WHY_BRANCH_NO_KIND, "attr.branch_sample_type",
		  "attr.branch_sample_type 0x7 names no kind of branch: add PERF_SAMPLE_BRANCH_ANY, or a kind" },
		{ "an unknown bit", OPEN(BRANCHES(.branch_sample_type = 1ull << 19 | ANY)), EINVAL,
		  PMUCTL_WHY_ATTR_BITS_UNKNOWN, "attr.branch_sample_type",
		  "0x80008 has bits that no struct perf_event_attr known to this module defines: only 0x7ffff may be set" },
		{ "without the field", OPEN(RAW_ATTR(.branch_sample_type = ANY)), EINVAL,
		  PMUCTL_WHY_BRANCH_UNUSED, "attr.branch_sample_type",
		  "attr.branch_sample_type 0x8 has no effect without PERF_SAMPLE_BRANCH_STACK in attr.sample_type: set that, or leave it 0" },
		{ "of a software event", OPEN(soft), EOPNOTSUPP, PMUCTL_WHY_BRANCH_TYPE,
		  "attr.sample_type",
		  "only hardware events can sample branches: clear PERF_SAMPLE_BRANCH_STACK of attr.sample_type, or count cycles or another of the CPU's events" },
		{ "of a tracepoint", OPEN(tracepoint, .tracepoint = "sched:sched_switch"), EOPNOTSUPP,
		  PMUCTL_WHY_BRANCH_TYPE, "attr.sample_type",
		  "only hardware events can sample branches: clear PERF_SAMPLE_BRANCH_STACK of attr.sample_type, or count cycles or another of the CPU's events" },
	);
}

/* As perf does: what is wrong with a choice is told before who may ask for it. */
Test(refuse_branch, the_kernels_need_a_right)
{
	static const uint64_t kernel[] = { PERF_SAMPLE_BRANCH_KERNEL, PERF_SAMPLE_BRANCH_HV };
	static const char sentence[] = "sampling the kernel's branches needs CAP_PERFMON at paranoid level 2: sample those of user space only (PERF_SAMPLE_BRANCH_USER), gain CAP_PERFMON, or set the module's parameter paranoid to 1";
	bool there = has_branches();
	union raw_attr a;

	cr_assert_eq(raw_become(1000), 0);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(kernel); i++)
		check_refused(OPEN(BRANCHES(.branch_sample_type = ANY | USER | kernel[i])), EACCES,
			      PMUCTL_WHY_PERM_BRANCHES, "attr.branch_sample_type", "%s", sentence);
	/* The event's own privileges, among them that of a hypervisor */
	a = BRANCHES(.branch_sample_type = ANY);
	a.attr.exclude_hv = 0;
	check_refused(OPEN(a), EACCES, PMUCTL_WHY_PERM_BRANCHES, "attr.branch_sample_type", "%s",
		      sentence);
	if (there)
		event_open(BRANCHES(.branch_sample_type = ANY));
}

Test(refuse_branch, where_none_are_noted)
{
	if (has_branches())
		return;
	check_refused(OPEN(BRANCHES(.branch_sample_type = USER | ANY)), EOPNOTSUPP, PMUCTL_WHY_NO_LBR,
		      "attr.sample_type", "no branches can be sampled here: %s", pmu_is_amd() ?
		      "pmuctl reads the last branch records (LBR) of Intel's CPUs only" :
		      "this CPU has no last branch records (LBR), or the hypervisor hides them");
	check_refused(OPEN(BRANCHES(.sample_period = 0, .branch_sample_type = USER | ANY)), EOPNOTSUPP,
		      PMUCTL_WHY_NO_LBR, "attr.sample_type", "no branches can be sampled here: %s",
		      pmu_is_amd() ?
		      "pmuctl reads the last branch records (LBR) of Intel's CPUs only" :
		      "this CPU has no last branch records (LBR), or the hypervisor hides them");
}

Test(refuse_branch, where_they_are_noted)
{
	int leader;

	if (!has_branches())
		return;
	leader = event_open(BRANCHES(.branch_sample_type = USER | ANY));
	check_refusals(
		{ "a call stack with other kinds",
		  OPEN(BRANCHES(.branch_sample_type = USER | ANY | PERF_SAMPLE_BRANCH_CALL_STACK)),
		  EINVAL, PMUCTL_WHY_BRANCH_CALL_STACK, "attr.branch_sample_type",
		  "PERF_SAMPLE_BRANCH_CALL_STACK has the CPU note calls and take them away again at returns, and no other branches: choose that or other kinds" },
		{ "others than its group",
		  OPEN(BRANCHES(.branch_sample_type = USER | PERF_SAMPLE_BRANCH_COND), .group = leader),
		  EINVAL, PMUCTL_WHY_GROUP_BRANCHES, "group_fd",
		  "another event of the group samples other branches, and the CPU can note only one choice at a time: choose the same, or open it in another group" },
	);
	/* The same, or none, as it only counts */
	event_open(BRANCHES(.branch_sample_type = USER | ANY), .group = leader);
	event_open(BRANCHES(.sample_period = 0, .branch_sample_type = USER | PERF_SAMPLE_BRANCH_COND),
		   .group = leader);
}

static uint32_t tracing_type(uint32_t index)
{
	struct pmuctl_driver driver = { .size = sizeof(driver), .index = index };

	if (ioctl(raw_device(), PMUCTL_IOC_DRIVER, &driver) || driver.reason[0])
		return 0;
	return driver.type;
}

Test(refuse_branch, beside_traces)
{
	for (uint32_t i = 0; i < 2; i++) {
		union raw_attr trace = raw_attr(tracing_type(i), 0);
		int fd;

		if (!trace.attr.type || !has_branches())
			continue;
		fd = event_open(BRANCHES(.branch_sample_type = USER | ANY));
		check_refused(OPEN(trace), EBUSY, PMUCTL_WHY_AUX_BRANCHES, "attr.type",
			      "an event is open that samples branches, and the CPU does not trace beside: close it first");
		close(fd);
		fd = event_open(trace);
		check_refused(OPEN(BRANCHES(.branch_sample_type = USER | ANY)), EBUSY,
			      PMUCTL_WHY_BRANCH_TRACED, "attr.sample_type",
			      "an event is open that traces, and the CPU does not note branches beside: close it first");
		close(fd);
		trace.attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
		trace.attr.branch_sample_type = USER | ANY;
		check_refused(OPEN(trace), EOPNOTSUPP, PMUCTL_WHY_BRANCH_TYPE, "attr.sample_type",
			      "only hardware events can sample branches: clear PERF_SAMPLE_BRANCH_STACK of attr.sample_type, or count cycles or another of the CPU's events");
	}
}

/* An event of the kernel's own driver of Processor Trace; -errno */
#define PERFS		"/sys/bus/event_source/devices/intel_pt/type"

static int perfs_try(int pid, int cpu)
{
	union raw_attr theirs = raw_attr(raw_read_number(PERFS), 0);
	int fd = syscall(SYS_perf_event_open, &theirs, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static bool perf_may_trace(void)
{
	return !access(PERFS, R_OK) && has_branches();
}

/* One that traces this CPU, with its ring and its buffer */
struct perfs_trace {
	int fd;
	void *ring, *aux;
};

#define RING_SIZE	(9 * 4096)
#define AUX_SIZE	(16 * 4096)

static struct perfs_trace perfs_start(void)
{
	struct perfs_trace t = { .fd = perfs_try(-1, 0) };
	struct perf_event_mmap_page *page;

	cr_assert_geq(t.fd, 0, "%s", strerror(-t.fd));
	t.ring = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, t.fd, 0);
	cr_assert_neq(t.ring, MAP_FAILED);
	page = t.ring;
	page->aux_offset = RING_SIZE;
	page->aux_size = AUX_SIZE;
	t.aux = mmap(NULL, AUX_SIZE, PROT_READ, MAP_SHARED, t.fd, RING_SIZE);
	cr_assert_neq(t.aux, MAP_FAILED, "%m");
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	return t;
}

static void perfs_end(struct perfs_trace *t)
{
	munmap(t->aux, AUX_SIZE);
	munmap(t->ring, RING_SIZE);
	close(t->fd);
}

static void check_traced(void)
{
	check_refused(OPEN(BRANCHES(.branch_sample_type = USER | ANY)), EBUSY,
		      PMUCTL_WHY_BRANCH_TRACED, "attr.sample_type",
		      "an event is open that traces, and the CPU does not note branches beside: close it first");
}

/* It traces this CPU: perf's events and ours are not told of each other. */
Test(refuse_branch, beside_a_trace_of_perfs)
{
	struct perfs_trace t;

	if (!perf_may_trace())
		return;
	cr_assert_eq(raw_give_back(), 0);
	t = perfs_start();
	check_traced();
	perfs_end(&t);
	close(event_open(BRANCHES(.branch_sample_type = USER | ANY)));
}

/* It may begin at any time. */
Test(refuse_branch, beside_an_event_of_perfs_that_does_not_trace_yet)
{
	int fd;

	if (!perf_may_trace())
		return;
	cr_assert_eq(raw_give_back(), 0);
	fd = perfs_try(0, -1);
	cr_assert_geq(fd, 0, "%s", strerror(-fd));
	check_traced();
	close(fd);
	close(event_open(BRANCHES(.branch_sample_type = USER | ANY)));
}

/* The other way round perf refuses it; and soon no more, though the PMU stays ours. */
Test(refuse_branch, perf_does_not_trace_beside)
{
	int fd, all, perf;

	if (!perf_may_trace())
		return;
	all = event_open(RAW_ATTR());
	fd = event_open(BRANCHES(.branch_sample_type = USER | ANY));
	cr_assert_eq(perfs_try(0, -1), -EBUSY);
	cr_assert_eq(perfs_try(-1, 0), -EBUSY);
	/* Nor after one of two, or after one that was refused */
	close(event_open(BRANCHES(.branch_sample_type = USER | ANY)));
	check_refused(OPEN(BRANCHES(.branch_sample_type = USER | PERF_SAMPLE_BRANCH_COND), .group = fd),
		      EINVAL, PMUCTL_WHY_GROUP_BRANCHES, "group_fd",
		      "another event of the group samples other branches, and the CPU can note only one choice at a time: choose the same, or open it in another group");
	sleep(2);
	cr_assert_eq(perfs_try(0, -1), -EBUSY);
	close(fd);
	while ((perf = perfs_try(0, -1)) == -EBUSY)
		usleep(10000);
	cr_assert_geq(perf, 0, "%s", strerror(-perf));
	close(perf);
	close(all);
}

/*
 * The PMU is given back while an event is open, and perf begins to trace: when the PMU is ours
 * again the event waits, until nobody traces.
 */
Test(refuse_branch, waits_for_a_trace_of_perfs)
{
	struct perfs_trace t;
	struct counts c;
	union raw_attr a;
	int fd;

	if (!perf_may_trace())
		return;
	pin_here(0);
	a = BRANCHES(.branch_sample_type = USER | ANY);
	a.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	cr_assert_eq(setresuid(1000, 1000, 0), 0);
	fd = event_open(a);
	cr_assert_eq(setresuid(0, 0, 0), 0);
	cr_assert_eq(raw_write_file(RAW_CLAIM, "privileged"), 0);
	t = perfs_start();
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	c = event_read(fd);
	cr_assert_eq(raw_write_file(RAW_CLAIM, "always"), 0);
	user_loop(1000000);
	cr_assert_eq(event_read(fd).running, c.running);
	perfs_end(&t);
	do {
		user_loop(1000000);
	} while (event_read(fd).running == c.running);
	cr_assert_eq(raw_write_file(RAW_CLAIM, "anyone"), 0);
}

/* It waits on a CPU that comes until perf is kept away from there too. */
Test(refuse_branch, runs_on_a_cpu_that_comes)
{
	struct counts c;
	union raw_attr a;
	int fd;

	if (get_nprocs_conf() < 2 || !has_branches())
		return;
	set_online(1, false);
	a = BRANCHES(.branch_sample_type = USER | ANY);
	a.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = event_open(a);
	set_online(1, true);
	pin_here(1);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	c = event_read(fd);
	do {
		user_loop(1000000);
	} while (event_read(fd).running == c.running);
	if (!access(PERFS, R_OK))
		cr_assert_eq(perfs_try(-1, 1), -EBUSY);
}
