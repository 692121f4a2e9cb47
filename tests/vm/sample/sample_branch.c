// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branches in samples: those that known code has taken before each, exactly, by kinds, with what
 * is told of each; for --cpu intel-lbr. The kernel's own perf passes the same.
 */
#include "branches.h"
#include "msrs.h"
#include "tracepoint.h"

TestSuite(sample_branch, .init = sampling_init, .fini = sampling_fini, .timeout = 300);

#define USER	PERF_SAMPLE_BRANCH_USER
#define ANY	PERF_SAMPLE_BRANCH_ANY

/* A prime number, so that samples are everywhere in a round; and more than 32 rounds long */
#define PERIOD	997
#define ROUNDS	2000

/* ---- What is in a sample ---- */

/*
 * The block, with these branches sampled. Interrupts take the place of one, so not each has as many
 * as there are, but each is right. Returns how many the fullest has.
 */
static uint64_t run_known(struct perf_event_attr attr, uint64_t period, uint64_t rounds)
{
	struct perf_event_header *header;
	uint64_t samples = 0, most = 0;
	AUTO_CLOSE int fd = -1;
	struct sample s;
	struct ring r;

	attr.sample_period = period;
	fd = event_open(attr);
	ring_map(&r, fd, 512);
	cr_assert_eq(branch_block(fd, rounds), 0);
	while ((header = ring_next(&r))) {
		uint64_t n;

		take_sample(&attr, header, &s);
		cr_assert_leq(s.nr_branches, (uint64_t)BRANCHES_MAX);
		cr_assert_lt(s.branch_index, (uint64_t)BRANCHES_MAX);
		n = check_known(&attr, &s);
		if (n > most)
			most = n;
		samples++;
	}
	cr_assert_eq(samples, sampling_value(fd) / period);
	cr_assert_geq(samples, 2);
	ring_unmap(&r);
	return most;
}

Test(sample_branch, the_last_32_of_user_mode)
{
	while (run_known(branches_attr(0, USER | ANY), PERIOD, ROUNDS) != BRANCHES_MAX)
		;
}

/* With hardly a branch between two samples, and from the first on */
Test(sample_branch, samples_that_follow_each_other)
{
	for (uint64_t period = 8; period < 60; period += 7)
		run_known(branches_attr(0, USER | ANY), period, 20);
}

Test(sample_branch, each_kind_alone_and_together)
{
	static const uint64_t kinds[] = {
		PERF_SAMPLE_BRANCH_ANY_CALL, PERF_SAMPLE_BRANCH_ANY_RETURN,
		PERF_SAMPLE_BRANCH_IND_CALL, PERF_SAMPLE_BRANCH_COND,
		PERF_SAMPLE_BRANCH_IND_JUMP, PERF_SAMPLE_BRANCH_CALL,
	};

	for (unsigned int set = 1; set < 1u << RAW_ARRAY_SIZE(kinds); set++) {
		uint64_t branches = USER;

		for (size_t i = 0; i < RAW_ARRAY_SIZE(kinds); i++)
			if (set >> i & 1)
				branches |= kinds[i];
		while (run_known(branches_attr(0, branches), PERIOD, ROUNDS) != BRANCHES_MAX)
			;
	}
}

Test(sample_branch, with_and_without_what_is_told_of_each)
{
	static const uint64_t more[] = {
		PERF_SAMPLE_BRANCH_NO_FLAGS, PERF_SAMPLE_BRANCH_NO_CYCLES,
		PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES,
		PERF_SAMPLE_BRANCH_TYPE_SAVE, BRANCH_PRIV_SAVE, PERF_SAMPLE_BRANCH_HW_INDEX,
		PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES |
			PERF_SAMPLE_BRANCH_TYPE_SAVE,
	};

	for (size_t i = 0; i < RAW_ARRAY_SIZE(more); i++)
		run_known(branches_attr(0, USER | ANY | more[i]), PERIOD, ROUNDS);
}

/* The privilege is that of the event if none is named. */
Test(sample_branch, without_a_privilege_it_is_the_events)
{
	run_known(branches_attr(0, ANY), PERIOD, ROUNDS);
}

/* Beside other fields */
Test(sample_branch, in_the_midst_of_all_fields)
{
	struct perf_event_attr attr = branches_attr(0, USER | ANY);

	attr.sample_type |= SAMPLE_USUAL | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
			    PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_user = 0xff0fff;
	attr.sample_regs_intr = 0xff0fff;
	attr.sample_stack_user = 128;
	run_known(attr, PERIOD, ROUNDS);
}

/* ---- Call stacks ---- */

/* Returns how many calls the fullest sample in the loop has. */
static uint64_t run_nested(void)
{
	struct perf_event_attr attr = branches_attr(PERIOD, USER | PERF_SAMPLE_BRANCH_CALL_STACK);
	AUTO_CLOSE int fd = event_open(attr);
	struct perf_event_header *header;
	uint64_t most = 0;
	struct sample s;
	struct ring r;

	ring_map(&r, fd, 64);
	cr_assert_eq(branch_nest(fd, 20000), 0);
	while ((header = ring_next(&r))) {
		take_sample(&attr, header, &s);
		if (!is_nested(s.ip))
			continue;
		cr_assert_leq(s.nr_branches, (uint64_t)NESTED_CALLS);
		for (uint64_t i = 0; i < s.nr_branches; i++) {
			cr_assert_eq(s.branches[i].from, (uintptr_t)nested_calls[i].from);
			cr_assert_eq(s.branches[i].to, (uintptr_t)nested_calls[i].to);
		}
		if (s.nr_branches > most)
			most = s.nr_branches;
	}
	ring_unmap(&r);
	return most;
}

/* What has returned is not there. */
Test(sample_branch, calls_that_have_not_returned)
{
	while (run_nested() != NESTED_CALLS)
		;
}

/* ---- Several events ---- */

/* Read all samples, and check each. Returns how many. */
static uint64_t check_ring(const struct perf_event_attr *attr, struct ring *r)
{
	struct perf_event_header *header;
	uint64_t n = 0;
	struct sample s;

	while ((header = ring_next(r))) {
		take_sample(attr, header, &s);
		check_known(attr, &s);
		n++;
	}
	return n;
}

/* An event that counts no instructions may choose the same branches. */
Test(sample_branch, two_events_of_the_same_branches)
{
	struct perf_event_attr attr = branches_attr(PERIOD, USER | ANY), other = attr;
	int leader, sibling;
	struct ring r[2];

	other.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	other.sample_period = 101;
	other.disabled = 0;
	leader = event_open(attr);
	sibling = event_open(other, .group = leader);
	ring_map(&r[0], leader, 128);
	ring_map(&r[1], sibling, 128);
	cr_assert_eq(branch_block(leader, ROUNDS), 0);
	cr_assert_eq(check_ring(&attr, &r[0]), sampling_value(leader) / PERIOD);
	cr_assert_eq(check_ring(&other, &r[1]), sampling_value(sibling) / 101);
}

/* Those that want others take turns. */
Test(sample_branch, events_of_different_branches_take_turns)
{
	struct perf_event_attr attr = branches_attr(100003, USER | ANY), other = attr;
	uint64_t n[2] = { 0, 0 };
	int one, two;
	struct ring r[2];
	struct counts c;

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	other.read_format = attr.read_format;
	other.branch_sample_type = USER | PERF_SAMPLE_BRANCH_COND;
	other.disabled = 0;
	one = event_open(attr);
	ring_map(&r[0], one, 128);
	two = event_open(other);
	ring_map(&r[1], two, 128);
	while (!n[0] || !n[1]) {
		struct perf_event_header *header;
		struct sample s;
		uint64_t end;

		cr_assert_eq(branch_block(one, 200000), 0);
		/* perf leaves in the registers what was noted for the other one. */
		n[0] += is_witness() ? ring_drain(&r[0], PERF_RECORD_SAMPLE) :
				       check_ring(&attr, &r[0]);
		/* This one runs outside of the block, too. */
		end = ring_head(&r[1]);
		while ((header = ring_next_before(&r[1], end))) {
			take_sample(&other, header, &s);
			n[1]++;
		}
	}
	c = event_read(one);
	cr_assert_lt(c.running, c.enabled);
}

Test(sample_branch, children_are_told_their_own)
{
	struct perf_event_attr attr = branches_attr(PERIOD, USER | ANY);
	struct ring r;
	pid_t child;
	int fd;

	attr.inherit = 1;
	fd = event_open(attr, 0, 1);
	ring_map(&r, fd, 128);
	pin_here(1);
	child = fork_child();
	if (!child)
		_exit(branch_block(fd, ROUNDS) != 0);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	cr_assert_geq(check_ring(&attr, &r), 2);
}

/* ---- Whose branches ---- */

static void yield_and_loop(branch_block_func block, unsigned int times)
{
	const int none = -1; /* whose events are always on */

	for (unsigned int i = 0; i < times; i++) {
		block(none, 20);
		sched_yield();
	}
}

/*
 * No sample of this task tells where another one was, which runs elsewhere on the same CPU. What
 * reads them is sampled, too.
 */
static uint64_t check_own(const struct perf_event_attr *attr, struct ring *r)
{
	uint64_t mine = 0, end = ring_head(r);
	struct perf_event_header *header;
	struct sample s;

	while ((header = ring_next_before(r, end))) {
		if (header->type != PERF_RECORD_SAMPLE)
			continue;
		take_sample(attr, header, &s);
		if (s.tid != (uint32_t)gettid())
			continue;
		mine++;
		for (uint64_t i = 0; i < s.nr_branches; i++)
			cr_assert_not(is_in_copy(s.branches[i].from) ||
				      is_in_copy(s.branches[i].to),
				      "branch %lu of the other's, at %#llx", i,
				      s.branches[i].from);
	}
	return mine;
}

/* @of_cpu: an event of the CPU keeps the processor noting, whoever runs. */
static void check_two_tasks(bool of_cpu)
{
	struct perf_event_attr attr = branches_attr(53, USER | ANY);
	uint64_t mine = 0, of_cpus = 0;
	struct ring r, cpus;
	int fd, all = -1;
	pid_t other;

	attr.disabled = 0;
	pin_here(1);
	other = fork_child();
	if (!other) {
		branch_block_func block = branches_move();

		event_open(attr);
		for (;;)
			yield_and_loop(block, 1000);
	}
	if (of_cpu) {
		all = event_open(attr, -1, 1);
		ring_map(&cpus, all, 512);
	}
	fd = event_open(attr);
	ring_map(&r, fd, 512);
	while (mine < 1000 || (of_cpu && of_cpus < 1000)) {
		yield_and_loop(branch_block, 20);
		mine += check_own(&attr, &r);
		if (of_cpu)
			of_cpus += check_own(&attr, &cpus);
	}
}

Test(sample_branch, no_task_is_told_of_another)
{
	check_two_tasks(false);
}

Test(sample_branch, nor_where_all_of_a_cpu_is_sampled)
{
	check_two_tasks(true);
}

/* ---- The registers ---- */

/* SDM Vol. 4: IA32_DEBUGCTL, LBR and FREEZE_LBRS_ON_PMI */
#define DEBUGCTL	0x1d9
#define DEBUGCTL_OURS	0x801ull

static uint64_t debugctl(void)
{
	return msr_read(1, DEBUGCTL) & DEBUGCTL_OURS;
}

/* On while an event that samples branches is on the PMU of the CPU, and else not; no other bit of it
 * changes.
 */
Test(sample_branch, noted_is_only_while_somebody_samples)
{
	struct perf_event_attr attr = branches_attr(1000003, USER | ANY);
	int fd, stack;

	msrs_load_driver();
	pin_here(1);
	cr_assert_eq(debugctl(), 0);
	fd = event_open(attr);
	cr_assert_eq(debugctl(), 0);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	cr_assert_eq(debugctl(), DEBUGCTL_OURS);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_assert_eq(debugctl(), 0);
	attr.branch_sample_type = USER | PERF_SAMPLE_BRANCH_CALL_STACK;
	stack = event_open(attr);
	event_ioctl(stack, PERF_EVENT_IOC_ENABLE);
	cr_assert_eq(debugctl(), 1);
	close(stack);
	cr_assert_eq(debugctl(), 0);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	cr_assert_eq(debugctl(), DEBUGCTL_OURS);
	close(fd);
	cr_assert_eq(debugctl(), 0);
}

/* Of perf's own events those of a CPU that has gone stay off. */
Test(sample_branch, a_cpu_that_goes_and_comes_back)
{
	struct perf_event_attr attr = branches_attr(PERIOD, USER | ANY);
	struct perf_event_header *header;
	uint64_t samples = 0;
	struct sample s;
	struct ring r;
	int fd;

	fd = event_open(attr, -1, 1);
	ring_map(&r, fd, 128);
	set_online(1, false);
	set_online(1, true);
	pin_here(1);
	cr_assert_eq(branch_block(fd, ROUNDS), 0);
	while ((header = ring_next(&r))) {
		take_sample(&attr, header, &s);
		if (s.tid == (uint32_t)gettid())
			samples += check_known(&attr, &s) > 0;
	}
	cr_assert(is_witness() || samples >= 2);
}

/* SDM Vol. 4: MSR_LASTBRANCH_n_FROM_IP, _TO_IP and _INFO_n: three of each of the 32 */
#define LBR_REGISTERS	96
#define LBR_WRITES	"(msr >= 0x680 && msr < 0x6a0) || (msr >= 0x6c0 && msr < 0x6e0) || (msr >= 0xdc0 && msr < 0xde0)"

/* A tracepoint on CPU 1, counted by perf */
static int count_tracepoint(const char *name, const char *filter, int leader)
{
	union raw_attr a = raw_attr(PERF_TYPE_TRACEPOINT, tracepoint_id(name));
	int fd;

	a.attr.disabled = 0;
	a.attr.exclude_kernel = 0;
	a.attr.read_format = PERF_FORMAT_GROUP;
	fd = syscall(SYS_perf_event_open, &a, -1, 1, leader, PERF_FLAG_FD_CLOEXEC);
	cr_assert_geq(fd, 0, "%m");
	if (filter)
		cr_assert_eq(tracepoint_filter(fd, filter), 0);
	return fd;
}

struct switches {
	uint64_t n, times, written;
};

/*
 * This task takes turns with another one. How often the CPU was switched, or to this task if there
 * is no event of the CPU, and how many of those registers were written.
 */
static struct switches count_switches(unsigned int events, bool of_cpu)
{
	struct perf_event_attr attr = branches_attr(1ull << 40, USER | ANY);
	struct switches before, after;
	char to_me[32];
	int fd;

	attr.disabled = 0;
	if (of_cpu)
		event_open(attr, -1, 1);
	for (unsigned int i = 0; i < events; i++)
		event_open(attr);
	tracepoint_mount();
	snprintf(to_me, sizeof(to_me), "next_pid == %d", gettid());
	fd = count_tracepoint("sched:sched_switch", of_cpu ? NULL : to_me, -1);
	count_tracepoint("msr:write_msr", LBR_WRITES, fd);
	cr_assert_eq(read(fd, &before, sizeof(before)), sizeof(before));
	do {
		yield_and_loop(branch_block, 20);
		cr_assert_eq(read(fd, &after, sizeof(after)), sizeof(after));
	} while (after.times - before.times < 100);
	after.times -= before.times;
	after.written -= before.written;
	return after;
}

/* perf empties them no more often than this either. */
static void check_emptied_once(unsigned int events, bool of_cpu)
{
	struct switches s;
	pid_t other;

	pin_here(1);
	other = fork_child();
	if (!other)
		for (;;)
			sched_yield();
	s = count_switches(events, of_cpu);
	if (is_witness())
		cr_assert_leq(s.written, s.times * LBR_REGISTERS);
	else
		cr_assert_eq(s.written, s.times * LBR_REGISTERS, "%lu writes at %lu switches",
			     s.written, s.times);
}

Test(sample_branch, a_switch_empties_the_registers_once)
{
	check_emptied_once(1, false);
}

Test(sample_branch, and_not_for_each_of_many_events)
{
	check_emptied_once(4, false);
}

Test(sample_branch, and_not_for_the_cpus_and_the_tasks)
{
	check_emptied_once(2, true);
}
