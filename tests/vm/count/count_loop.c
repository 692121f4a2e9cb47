// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exact counts of loops of known length: instructions and branches, user and kernel
 * apart, every type of event, and the states an event can be in. User counts do not
 * depend on timing, so they are asserted to the instruction on any number of CPUs.
 */
#include "hybrid.h"
#include "pmu.h"

#define N		100000ull
#define OVERCOMMIT	"/sys/module/pmuctl/parameters/overcommit"

static uint64_t count_once(const struct perf_event_attr *attr, uint64_t n)
{
	struct perf_event_attr a = *attr;
	uint64_t count;
	int fd;

	a.disabled = 1;
	fd = event_open(a);
	count = count_bracket(fd, n);
	close(fd);
	return count;
}

Test(count_loop, a_loop_is_counted_to_the_instruction)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t n;

	for (n = 1; n < 10000000; n *= 17)
		cr_expect_eq(count_once(&attr, n), bracket_instructions(n),
			     "%lu rounds: %lu", n, count_once(&attr, n));
}

Test(count_loop, twice_the_loop_differs_by_the_loop)
{
	struct perf_event_attr instructions = instructions_u();
	struct perf_event_attr branches = branches_u();

	cr_expect_eq(count_once(&instructions, 2 * N) - count_once(&instructions, N),
		     N * LOOP_INSTRUCTIONS);
	cr_expect_eq(count_once(&branches, 2 * N) - count_once(&branches, N),
		     N * LOOP_BRANCHES);
}

/* Perf counts the same bracket; its ENABLE and DISABLE have the same numbers. */
Test(count_loop, bracket_equals_that_of_perf)
{
	struct perf_event_attr attr[] = { instructions_u(), branches_u() };
	uint64_t ours[2], perfs;
	unsigned int i;
	int fd;

	pin_where_perf_counts();
	for (i = 0; i < 2; i++)
		ours[i] = count_once(&attr[i], N);
	for (i = 0; i < 2; i++) {
		attr[i].disabled = 1;
		fd = perf_try(&attr[i], 0, -1);
		cr_assert(fd >= 0, "perf_event_open: %s", strerror(-fd));
		perfs = count_bracket(fd, N);
		cr_expect_eq(ours[i], perfs, "event %u: %lu, perf %lu", i, ours[i],
			     perfs);
		close(fd);
	}
}

/*
 * What three events have counted of a task that is about to sleep, or sleeps: it may be on its way
 * out of its CPU while it is said to sleep, so until the last one does not count any more.
 */
static void read_settled(const int *fd, uint64_t *count)
{
	uint64_t before;

	do {
		before = event_value(fd[2]);
		for (unsigned int i = 0; i < 3; i++)
			count[i] = event_value(fd[i]);
	} while (count[2] != before);
}

/*
 * Three events of another task stop and start in one write of the PMU's control
 * register, so what they count at its switches is the very same.
 */
Test(count_loop, user_and_kernel_add_up)
{
	struct perf_event_attr attr[3];
	uint64_t start[3], count[3];
	struct worker w;
	unsigned int i;
	int fd[3];

	worker_start(&w, false);
	for (i = 0; i < 3; i++) {
		attr[i] = event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
		attr[i].exclude_kernel = i == 0;
		attr[i].exclude_user = i == 1;
		fd[i] = event_open(attr[i], w.tid);
	}
	read_settled(fd, start);
	worker_run(&w, N);
	read_settled(fd, count);
	for (i = 0; i < 3; i++)
		count[i] -= start[i];
	cr_expect_gt(count[0], LOOP_INSTRUCTIONS * N);
	cr_expect_lt(count[0], LOOP_INSTRUCTIONS * N + 1000);
	cr_expect_gt(count[1], 100, "read() takes some");
	cr_expect_eq(count[0] + count[1], count[2], "%lu user + %lu kernel, %lu both",
		     count[0], count[1], count[2]);
	worker_end(&w);
}

/*
 * A system call takes a few hundred instructions in the kernel, 3 here; a loop in user
 * mode only what interrupts take, which is little unless the host makes it wait.
 */
Test(count_loop, system_calls_are_the_kernels)
{
	struct perf_event_attr user = instructions_u(), kernel = user;
	uint64_t in_user, in_kernel, least = -1;
	int fd_user, fd_kernel, i;

	kernel.exclude_kernel = 0;
	kernel.exclude_user = 1;
	fd_user = event_open(user);
	fd_kernel = event_open(kernel);
	in_user = event_value(fd_user);
	in_kernel = event_value(fd_kernel);
	syscall_loop(1000);
	in_user = event_value(fd_user) - in_user;
	in_kernel = event_value(fd_kernel) - in_kernel;
	cr_expect_gt(in_user, 3000);
	cr_expect_lt(in_user, 10000, "%lu", in_user);
	cr_expect_gt(in_kernel, 30000, "%lu", in_kernel);

	for (i = 0; i < 20; i++) {
		in_kernel = event_value(fd_kernel);
		user_loop(10 * N);
		in_kernel = event_value(fd_kernel) - in_kernel;
		least = in_kernel < least ? in_kernel : least;
	}
	cr_expect_lt(least, 2 * 10 * N, "%lu", least);
}

struct same {
	const char *what;
	uint32_t type;
	uint64_t config;
	uint64_t per_round_x8;	/* what a round counts, times 8 */
	uint64_t slack;
};

/*
 * Two events of the laboratory's CPU depend on more than the loop: its bus has a cycle
 * for every eighth instruction, user's or not, and its predictor guesses by addresses.
 * Each interrupt may cost one or two then; there are far less than 100 in a loop of
 * less than a millisecond. Where the host makes it wait there may be more: another try.
 */
#define SLACK	100
#define TRIES	20

/* Some PMUs have no cache events: then we refuse them, and so does perf. */
static bool lacks(const struct perf_event_attr *attr, const struct same *same)
{
	int fd = event_try(attr), perf;

	if (fd >= 0) {
		close(fd);
		return false;
	}
	cr_expect_eq(same->type, PERF_TYPE_HW_CACHE, "%s: %s", same->what, event_why.sentence);
	cr_expect_eq(fd, -ENOENT, "%s: %d", same->what, fd);
	cr_expect_eq(event_why.code, PMUCTL_WHY_EVENT_NOT_HERE);
	perf = perf_try(attr, 0, -1);
	cr_expect_lt(perf, 0, "perf has %s", same->what);
	if (perf >= 0)
		close(perf);
	return true;
}

/* How far a loop's count is from what it should be */
static int64_t off_by(const struct perf_event_attr *attr, const struct same *same)
{
	return count_once(attr, 2 * N) - count_once(attr, N) - same->per_round_x8 * N / 8;
}

Test(count_loop, types_of_events_that_mean_the_same_count_the_same)
{
	const bool amd = pmu_is_amd();
	const struct same same[] = {
		{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 16, 0 },
		{ "r00c0", PERF_TYPE_RAW, 0x00c0, 16, 0 },
		{ "branches", PERF_TYPE_HARDWARE,
		  PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 8, 0 },
		{ "raw branches", PERF_TYPE_RAW, pmu_raw_branches(), 8, 0 },
		{ "BPU-loads", PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_BPU, 8, 0 },
		/* The laboratory's CPU needs one cycle for each instruction. */
		{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 16, 0 },
		{ "raw cycles", PERF_TYPE_RAW, pmu_raw_cycles(), 16, 0 },
		{ "branch-misses", PERF_TYPE_HARDWARE,
		  PERF_COUNT_HW_BRANCH_MISSES, 0, SLACK },
		/* It has no such unit. */
		{ "L1-dcache-loads", PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D, 0, 0 },
		/* From here on Intel only */
		{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, 2, SLACK },
		{ "r013c", PERF_TYPE_RAW, 0x013c, 2, SLACK },
	};
	unsigned int i, tries;

	for (i = 0; i < sizeof(same) / sizeof(same[0]) - (amd ? 2 : 0); i++) {
		struct perf_event_attr attr =
			event_attr(same[i].type, same[i].config);
		int64_t off;

		attr.exclude_kernel = 1;
		if (lacks(&attr, &same[i]))
			continue;
		off = off_by(&attr, &same[i]);
		for (tries = 1; same[i].slack && tries < TRIES &&
				llabs(off) > (int64_t)same[i].slack; tries++)
			off = off_by(&attr, &same[i]);
		cr_expect_leq(llabs(off), (int64_t)same[i].slack, "%s: off by %ld",
			      same[i].what, off);
	}
}

/* Every generic event that the module says it can count opens; the others do not. */
Test(count_loop, generic_events_are_those_of_info)
{
	struct pmuctl_info info = { .size = sizeof(info) };
	int device = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC);
	unsigned int i;
	int fd;

	cr_assert_eq(ioctl(device, PMUCTL_IOC_INFO, &info), 0);
	close(device);
	for (i = 0; i < PERF_COUNT_HW_MAX; i++) {
		struct perf_event_attr attr = user_attr(i);

		fd = event_try(attr);
		if (info.generic_events >> i & 1)
			cr_expect(fd >= 0, "event %u: %s", i, event_why.sentence);
		else
			cr_expect_eq(fd, -ENOENT, "event %u: %d", i, fd);
		if (fd >= 0)
			close(fd);
	}
}

/* They go on while the host lets the CPU wait, so the shortest of several counts. */
Test(count_loop, ref_cycles_go_on)
{
	struct perf_event_attr attr = user_attr(PERF_COUNT_HW_REF_CPU_CYCLES);
	uint64_t least = -1, less;
	unsigned int i;

	if (!(raw_info().generic_events >> PERF_COUNT_HW_REF_CPU_CYCLES & 1)) {
		cr_expect_eq(event_try(attr), -ENOENT);
		cr_expect_eq(event_why.code, PMUCTL_WHY_EVENT_NOT_HERE);
		return;
	}
	for (i = 0; i < 10; i++) {
		less = count_once(&attr, N);
		cr_expect_gt(less, 0);
		least = less < least ? less : least;
	}
	cr_expect_gt(count_once(&attr, 1000 * N), least);
}

Test(count_loop, all_counters_at_once)
{
	uint64_t configs[PMU_MAX], per_round;
	unsigned int i, n = pmu_fill(configs);
	struct perf_event_attr attr;
	int fd[PMU_MAX], one_more;
	struct worker w;

	worker_start(&w, false);
	for (i = 0; i < n; i++) {
		attr = user_attr(configs[i]);
		fd[i] = event_open(attr, w.tid);
	}
	attr = branches_u();
	cr_assert_eq(raw_write_file(OVERCOMMIT, "0"), 0);
	one_more = event_try(attr, w.tid);
	cr_assert_eq(raw_write_file(OVERCOMMIT, "1"), 0);
	cr_expect_eq(one_more, -EBUSY);
	cr_expect_eq(event_why.code, PMUCTL_WHY_COUNTERS_TAKEN);

	for (i = 0; i < n; i++) {
		if (configs[i] == PERF_COUNT_HW_REF_CPU_CYCLES)
			continue;
		per_round = configs[i] == PERF_COUNT_HW_BRANCH_INSTRUCTIONS ?
			LOOP_BRANCHES : LOOP_INSTRUCTIONS;
		cr_expect_eq(worker_count_loop(&w, fd[i], N), per_round * N,
			     "event %u, of config %lu", i, configs[i]);
		cr_expect_eq(event_value(fd[i]),
			     event_value(fd[per_round == LOOP_BRANCHES]));
	}
	for (i = 0; i < n; i++)
		cr_expect_eq(event_read(fd[i]).enabled, event_read(fd[i]).running);
	worker_end(&w);
}
