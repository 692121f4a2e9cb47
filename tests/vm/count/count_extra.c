// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that count what another register selects, by attr.config1: the same as the kernel's own
 * perf counts, and refused where it refuses. The emulated ones count by the lowest bit of
 * the value: bit 0 instructions, 1 branches, n every (1 << n)th instruction. The guest is a Skylake.
 */
#include "hybrid.h"
#include "loops.h"
#include "refusal.h"

#define N	100000ull

#define OFFCORE_0	0x01b7
#define OFFCORE_1	0x01bb
#define FRONTEND	0x01c6
#define ANY_RESPONSE	0x10000ull
#define OVERCOMMIT	"/sys/module/pmuctl/parameters/overcommit"

static struct perf_event_attr extra_attr(uint64_t config, uint64_t value)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_RAW, config);

	attr.config1 = value;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	return attr;
}

/* ---- What is counted ---- */

static const struct {
	uint32_t type;
	uint64_t config, value;
	uint64_t count, more;	/* of a bracket; what is every so manyth may be one more */
} counted[] = {
#define INSN	(LOOP_INSTRUCTIONS * N + 3)
#define BRANCHES	(LOOP_BRANCHES * N + 1)	/* the system call is one */
	{ PERF_TYPE_RAW, OFFCORE_0, ANY_RESPONSE | 1, INSN, 0 },
	{ PERF_TYPE_RAW, OFFCORE_0, ANY_RESPONSE | 2, BRANCHES, 0 },
	{ PERF_TYPE_RAW, OFFCORE_1, ANY_RESPONSE | 1, INSN, 0 },
	{ PERF_TYPE_RAW, OFFCORE_1, ANY_RESPONSE | 2, BRANCHES, 0 },
	{ PERF_TYPE_RAW, OFFCORE_0, 0x3fffff8fff, INSN, 0 },
	{ PERF_TYPE_RAW, OFFCORE_0, ANY_RESPONSE | 8, INSN / 8, 1 },
	{ PERF_TYPE_RAW, OFFCORE_1, ANY_RESPONSE | 0x800, INSN / 0x800, 1 },
	{ PERF_TYPE_RAW, FRONTEND, 0x11, INSN, 0 },
	{ PERF_TYPE_RAW, FRONTEND, 0x12, BRANCHES, 0 },
	{ PERF_TYPE_RAW, FRONTEND, 0x7fff14, INSN / 4, 1 },
	/* No request, no response, nothing at all */
	{ PERF_TYPE_RAW, OFFCORE_0, ANY_RESPONSE, 0, 0 },
	{ PERF_TYPE_RAW, OFFCORE_0, 1, 0, 0 },
	{ PERF_TYPE_RAW, OFFCORE_1, 0, 0, 0 },
	{ PERF_TYPE_RAW, FRONTEND, 0, 0, 0 },
	/* Demand reads and writes of the last level, and of nodes */
	{ PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL, 0, INSN, 0 },
	{ PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL | 0x10000, 0, INSN, 0 },
	{ PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL | 0x100, 0, BRANCHES, 0 },
	{ PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_NODE, 0, INSN, 0 },
	{ PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_NODE | 0x10100, 0, BRANCHES, 0 },
	/* Without a register for it config1 has no effect, and generic events have their own. */
	{ PERF_TYPE_RAW, 0x00c0, ~0ull, INSN, 0 },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, ~0ull, INSN, 0 },
	{ PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL, ~0ull, INSN, 0 },
};

static void check_count(unsigned int i, int fd, const char *who)
{
	uint64_t count;

	cr_assert_geq(fd, 0, "%s, row %u: %s", who, i, strerror(-fd));
	count = count_bracket(fd, N);
	cr_expect(count >= counted[i].count && count <= counted[i].count + counted[i].more,
		  "%s, row %u: %lu in place of %lu", who, i, count, counted[i].count);
	close(fd);
}

Test(count_extra, the_same_is_counted_as_by_perf)
{
	unsigned int i;

	pin_where_perf_counts();
	for (i = 0; i < RAW_ARRAY_SIZE(counted); i++) {
		struct perf_event_attr attr = extra_attr(counted[i].config, counted[i].value);

		attr.type = counted[i].type;
		check_count(i, event_try(attr), "pmuctl");
		check_count(i, perf_try(&attr, 0, -1), "perf");
	}
}

/* ---- What is refused ---- */

Test(count_extra, bits_that_are_not_there_are_refused_as_by_perf)
{
	static const struct {
		uint64_t config, value, valid;
		unsigned int msr;
	} refused[] = {
		{ OFFCORE_0, 1ull << 63, 0x3fffff8fff, 0x1a6 },
		{ OFFCORE_0, 1ull << 38 | 1, 0x3fffff8fff, 0x1a6 },
		{ OFFCORE_1, 1ull << 12, 0x3fffff8fff, 0x1a7 },
		{ FRONTEND, 1ull << 3, 0x7fff17, 0x3f7 },
		{ FRONTEND, 0x18 | 1 << 23, 0x7fff17, 0x3f7 },
	};

	for (unsigned int i = 0; i < RAW_ARRAY_SIZE(refused); i++) {
		struct perf_event_attr attr = extra_attr(refused[i].config, refused[i].value);

		cr_expect_eq(perf_try(&attr, 0, -1), -EINVAL, "row %u", i);
		check_refused(OPEN(attr), EINVAL, PMUCTL_WHY_EXTRA_BITS, "attr.config1",
			      "config1 0x%lx has bits outside of 0x%lx, those that MSR 0x%x of this CPU has for this event: clear 0x%lx",
			      refused[i].value, refused[i].valid, refused[i].msr,
			      refused[i].value & ~refused[i].valid);
	}
}

/* Its samples are what counts, which need PEBS. */
Test(count_extra, load_latency_is_refused)
{
	struct perf_event_attr attr = extra_attr(0x01cd, 3);

	check_refused(OPEN(attr), ENOENT, PMUCTL_WHY_EVENT_REGISTER, "attr.config",
		      "raw event 0x1cd of this CPU counts only what MSR 0x3f6 selects besides, which this version of pmuctl does not set: perf can count it");
}

static int perf_in_group(const struct perf_event_attr *attr, int leader)
{
	int fd = syscall(__NR_perf_event_open, attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

#define GROUP_EXTRA "the events of this group want more values of config1 at once than the registers for them can hold, one each: use the same value, or open it in another group"

Test(count_extra, a_group_has_no_more_values_than_registers)
{
	struct perf_event_attr one = extra_attr(OFFCORE_0, ANY_RESPONSE | 1);
	struct perf_event_attr two = extra_attr(OFFCORE_0, ANY_RESPONSE | 2);
	struct perf_event_attr three = extra_attr(OFFCORE_1, ANY_RESPONSE | 4);
	struct perf_event_attr front = extra_attr(FRONTEND, 0x11);
	struct perf_event_attr other = extra_attr(FRONTEND, 0x12);
	int leader = event_open(one);

	event_open(two, .group = leader);
	check_refused(OPEN(three, .group = leader), EINVAL, PMUCTL_WHY_GROUP_EXTRA,
		      "attr.config1", GROUP_EXTRA);
	event_open(front, .group = leader);
	check_refused(OPEN(other, .group = leader), EINVAL, PMUCTL_WHY_GROUP_EXTRA,
		      "attr.config1", GROUP_EXTRA);
	/* The same values again need none. */
	event_open(front, .group = leader);
}

/* As far as they are enabled: what is not, perf leaves out of its account. */
Test(count_extra, perf_refuses_the_same_groups)
{
	struct perf_event_attr one = extra_attr(OFFCORE_0, ANY_RESPONSE | 1);
	struct perf_event_attr two = extra_attr(OFFCORE_0, ANY_RESPONSE | 2);
	struct perf_event_attr three = extra_attr(OFFCORE_1, ANY_RESPONSE | 4);
	struct perf_event_attr front = extra_attr(FRONTEND, 0x11);
	struct perf_event_attr other = extra_attr(FRONTEND, 0x12);
	int leader = perf_try(&one, 0, -1);

	two.disabled = three.disabled = front.disabled = other.disabled = 0;
	cr_assert_geq(leader, 0, "%s", strerror(-leader));
	cr_assert_geq(perf_in_group(&two, leader), 0);
	cr_expect_eq(perf_in_group(&three, leader), -EINVAL);
	cr_assert_geq(perf_in_group(&front, leader), 0);
	cr_expect_eq(perf_in_group(&other, leader), -EINVAL);
	cr_assert_geq(perf_in_group(&front, leader), 0);
}

Test(count_extra, without_overcommit_a_third_value_is_refused)
{
	struct perf_event_attr three = extra_attr(OFFCORE_0, ANY_RESPONSE | 4);

	cr_assert_eq(raw_write_file(OVERCOMMIT, "0"), 0);
	event_open(extra_attr(OFFCORE_0, ANY_RESPONSE | 1));
	event_open(extra_attr(OFFCORE_0, ANY_RESPONSE | 2));
	check_refused(OPEN(three), EBUSY, PMUCTL_WHY_EXTRA_TAKEN, "attr.config1",
		      "no register is left for this value of config1 beside those of the 2 events of a task and 0 of CPU 0 that are open: close some, use the same value, or allow overcommit");
	event_open(extra_attr(OFFCORE_1, ANY_RESPONSE | 1));
	cr_assert_eq(raw_write_file(OVERCOMMIT, "1"), 0);
}

/* ---- Several at once ---- */

static void check_all_the_time(int fd, uint64_t count)
{
	struct counts c = event_read(fd);

	cr_expect_eq(c.value, count, "%lu in place of %lu", c.value, count);
	cr_expect_eq(c.enabled, c.running);
	cr_expect_gt(c.running, 0);
}

/* By one number of event, which becomes the other's for one of them */
Test(count_extra, two_values_count_at_once)
{
	int one = event_open(extra_attr(OFFCORE_0, ANY_RESPONSE | 1));
	int two = event_open(extra_attr(OFFCORE_0, ANY_RESPONSE | 2), .group = one);
	int alone = event_open(extra_attr(OFFCORE_0, ANY_RESPONSE | 2));

	event_ioctl(two, PERF_EVENT_IOC_ENABLE);
	bracket(one, N);
	check_all_the_time(one, bracket_instructions(N));
	check_all_the_time(two, BRANCHES);
	bracket(alone, N);
	check_all_the_time(alone, BRANCHES);
}

/* Four of one value are on four counters, and need one register. */
Test(count_extra, equal_values_share_a_register)
{
	int fd[4];

	fd[0] = event_open(extra_attr(OFFCORE_0, ANY_RESPONSE | 1));
	for (unsigned int i = 1; i < 4; i++) {
		fd[i] = event_open(extra_attr(i & 1 ? OFFCORE_1 : OFFCORE_0, ANY_RESPONSE | 1),
				   .group = fd[0]);
		event_ioctl(fd[i], PERF_EVENT_IOC_ENABLE);
	}
	bracket(fd[0], N);
	for (unsigned int i = 0; i < 4; i++)
		check_all_the_time(fd[i], bracket_instructions(N));
}

struct piece {
	uint64_t value, enabled, running;
};

/* The same code each time: what is counted of it depends on nothing but the event. */
static __attribute__((noinline)) struct piece count_piece(int fd)
{
	struct counts before, after;

	before = event_read(fd);
	user_loop(N / 10);
	after = event_read(fd);
	return (struct piece){ after.value - before.value, after.enabled - before.enabled,
			       after.running - before.running };
}

#define PIECES	5

/* More values than registers: they take turns, and each counts right while it is its turn. */
static void check_turns(const struct perf_event_attr *attr, unsigned int n)
{
	unsigned int right[4] = { 0 }, off[4] = { 0 }, done = 0;
	uint64_t whole[4];
	int fd[4];

	for (unsigned int i = 0; i < n; i++) {
		AUTO_CLOSE int alone = event_open(attr[i]);
		struct piece p;

		event_ioctl(alone, PERF_EVENT_IOC_ENABLE);
		p = count_piece(alone);
		cr_assert_eq(p.enabled, p.running);
		whole[i] = p.value;
	}
	for (unsigned int i = 0; i < n; i++) {
		fd[i] = event_open(attr[i]);
		event_ioctl(fd[i], PERF_EVENT_IOC_ENABLE);
	}
	while (done < n)
		for (unsigned int i = 0; i < n; i++) {
			struct piece p = count_piece(fd[i]);

			if (p.running == p.enabled) {
				cr_assert_eq(p.value, whole[i], "event %u: %lu in place of %lu", i,
					     p.value, whole[i]);
				right[i]++;
			} else if (!p.running) {
				cr_assert_eq(p.value, 0, "event %u: %lu", i, p.value);
				off[i]++;
			} else {
				continue;
			}
			if ((right[i] == PIECES && off[i] >= PIECES) ||
			    (off[i] == PIECES && right[i] >= PIECES))
				done++;
		}
}

Test(count_extra, values_without_a_register_take_turns, .timeout = 600)
{
	const struct perf_event_attr offcore[] = {
		extra_attr(OFFCORE_0, ANY_RESPONSE | 1), extra_attr(OFFCORE_0, ANY_RESPONSE | 2),
		extra_attr(OFFCORE_1, ANY_RESPONSE | 0x83),
	};
	const struct perf_event_attr frontend[] = {
		extra_attr(FRONTEND, 0x11), extra_attr(FRONTEND, 0x12),
	};

	check_turns(offcore, 3);
	check_turns(frontend, 2);
}

/* The second one finds no register, and waits for none. */
Test(count_extra, a_pinned_event_without_a_register_is_in_error)
{
	struct perf_event_attr first = extra_attr(FRONTEND, 0x11);
	struct perf_event_attr second = extra_attr(FRONTEND, 0x12);
	struct counts c;
	int fd[2];

	first.pinned = second.pinned = 1;
	first.disabled = second.disabled = 0;
	fd[0] = event_open(first);
	fd[1] = event_open(second);
	cr_assert_eq(read(fd[0], &c, sizeof(c)), (ssize_t)sizeof(c));
	cr_assert_eq(read(fd[1], &c, sizeof(c)), 0);
	close(fd[0]);
	event_ioctl(fd[1], PERF_EVENT_IOC_ENABLE);
	cr_assert_eq(read(fd[1], &c, sizeof(c)), (ssize_t)sizeof(c));
}

/* ---- Whose ---- */

Test(count_extra, an_ordinary_user_counts_his_own_tasks)
{
	struct perf_event_attr attr = extra_attr(OFFCORE_0, ANY_RESPONSE | 1);
	int fd;

	cr_assert_eq(raw_become(RAW_USER), 0);
	fd = event_open(attr);
	cr_assert_eq(count_bracket(fd, N), bracket_instructions(N));
	cr_assert_eq(event_try(attr, -1, 0), -EACCES);
}

/* Children have what their parent has; both count by the same value. */
Test(count_extra, children_count_too)
{
	struct perf_event_attr attr = extra_attr(OFFCORE_0, ANY_RESPONSE | 2);
	uint64_t before;
	pid_t child;
	int fd;

	attr.inherit = 1;
	fd = event_open(attr);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	before = event_value(fd);
	child = fork_child();
	if (!child) {
		user_loop(10 * N);
		_exit(0);
	}
	cr_assert_eq(waitpid(child, NULL, 0), child);
	cr_assert_geq(event_value(fd) - before, 10 * LOOP_BRANCHES * N);
	cr_assert_lt(event_value(fd) - before, 11 * LOOP_BRANCHES * N);
}

Test(count_extra, a_cpu_that_was_offline_counts_again)
{
	struct perf_event_attr attr = extra_attr(OFFCORE_0, ANY_RESPONSE | 1);
	int fd = event_open(attr), other = event_open(extra_attr(OFFCORE_0, ANY_RESPONSE | 2));
	int of_cpu;

	attr.disabled = 0;
	of_cpu = event_open(attr, -1, 1);
	for (unsigned int i = 0; i < 3; i++) {
		pin_here(1);
		cr_assert_eq(count_bracket(fd, N), bracket_instructions(N));
		cr_assert_eq(count_bracket(other, N), BRANCHES);
		set_online(1, false);
		cr_assert_eq(count_bracket(fd, N), bracket_instructions(N));
		set_online(1, true);
	}
	cr_assert_gt(event_value(of_cpu), 2 * bracket_instructions(N));
}
