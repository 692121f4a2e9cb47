// SPDX-License-Identifier: GPL-2.0-only
/*
 * Software events among those of hardware: in their groups, and beside a PMU that is full.
 * And what is refused of them.
 */
#include "pmu.h"
#include "refusal.h"
#include "soft.h"

#include <sys/resource.h>

#define PAGES	29u
#define ROUNDS	100000ull
#define LARGEST	2048

static struct perf_event_attr faults(void)
{
	return event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
}

static struct perf_event_attr grouped(struct perf_event_attr attr)
{
	attr.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	return attr;
}

static struct group_read read_group(int leader, unsigned int nr)
{
	struct group_read got;

	cr_assert_gt(read(leader, &got, sizeof(got)), 0);
	cr_assert_eq(got.nr, nr);
	return got;
}

/* A group of two: which of them counts what */
static void check_group(int leader, int instructions, int page_faults)
{
	struct group_read a, b;

	for (unsigned int i = 0; i < 3; i++) {
		uint8_t *map;

		a = read_group(leader, 2);
		bracket(leader, ROUNDS);
		b = read_group(leader, 2);
		cr_expect_eq(b.each[instructions].value - a.each[instructions].value,
			     bracket_instructions(ROUNDS));
		cr_expect_eq(b.each[page_faults].value, a.each[page_faults].value);

		map = fresh_pages(PAGES);
		a = read_group(leader, 2);
		event_ioctl(leader, PERF_EVENT_IOC_ENABLE);
		touch_pages(map, PAGES);
		event_ioctl(leader, PERF_EVENT_IOC_DISABLE);
		b = read_group(leader, 2);
		cr_expect_eq(b.each[page_faults].value - a.each[page_faults].value,
			     PAGES);
		cr_expect_eq(b.enabled, b.running);
		munmap(map, PAGES * PAGE);
	}
}

Test(soft_group, a_software_event_in_a_group_of_hardware)
{
	int leader = event_open(disabled(grouped(instructions_u())));

	event_open(faults(), .group = leader);
	check_group(leader, 0, 1);
}

Test(soft_group, a_hardware_event_in_a_group_of_software)
{
	int leader = event_open(disabled(grouped(faults())));

	event_open(instructions_u(), .group = leader);
	check_group(leader, 1, 0);
}

/* As long as its group waits, a software event does too. */
Test(soft_group, a_mixed_group_takes_turns_as_a_whole)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE,
						 PERF_COUNT_SW_TASK_CLOCK);
	struct counts counts = { 0 };
	int all[PMU_TOO_MANY], clock;

	for (size_t i = 0; i < RAW_ARRAY_SIZE(all); i++)
		all[i] = event_open(branches_u());
	clock = event_open(attr, .group = all[0]);
	while (counts.running == counts.enabled || counts.enabled < 100000000) {
		user_loop(ROUNDS);
		counts = event_read(clock);
	}
	cr_expect_lt(counts.running, counts.enabled);
	/* They are not read at the same instant. */
	cr_expect_leq(counts.value, counts.running + 1000000);
	cr_expect_leq(counts.running, counts.value + 1000000);
}

Test(soft_group, one_of_only_software_events_always_runs)
{
	struct perf_event_attr all = pinned(instructions_u());
	uint8_t *map = fresh_pages(PAGES);
	int leader, sibling;
	struct counts c;

	all.exclusive = 1;
	event_open(all);
	leader = event_open(pinned(faults()));
	sibling = event_open(event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK),
			     .group = leader);
	touch_pages(map, PAGES);
	c = event_read(leader);
	cr_expect_geq(c.value, PAGES);
	cr_expect_eq(c.enabled, c.running);
	c = event_read(sibling);
	cr_expect_gt(c.value, 0);
	cr_expect_eq(c.enabled, c.running);
}

/* An exclusive one of only software events keeps nobody off the PMU. */
Test(soft_group, exclusive_software_events_disturb_nobody)
{
	struct perf_event_attr attr = faults();
	struct counts c;
	int fd;

	attr.exclusive = 1;
	event_open(attr);
	fd = event_open(instructions_u());
	user_loop(ROUNDS);
	c = event_read(fd);
	cr_expect_gt(c.value, 2 * ROUNDS);
	cr_expect_eq(c.enabled, c.running);
}

/* perf holds the PMU meanwhile. */
Test(soft_group, the_pmu_is_not_needed)
{
	struct perf_event_attr hardware = instructions_u(), software = faults();
	int theirs = perf_try(&hardware, 0, -1), fd;

	cr_assert_geq(theirs, 0);
	cr_assert_eq(event_try(hardware), -EBUSY);
	fd = event_open(software);
	touch_pages(fresh_pages(PAGES), PAGES);
	cr_expect_geq(event_value(fd), PAGES);
	cr_expect_eq(raw_info().hw_events, 0);
}

/* ---- Refusals ---- */

#define OF_OTHERS(config, name)							\
	"software event " #config " (" name ") is told of by parts of the kernel that modules cannot hear: use another, 'pmuctl list' shows them"

Test(soft_group, what_cannot_be_heard_is_refused)
{
	union raw_attr output = raw_attr(PERF_TYPE_SOFTWARE, 10);

	check_refusals(
		{ "BPF's output", OPEN(output), ENOENT, PMUCTL_WHY_SOFT_UNSUPPORTED,
		  "attr.config", OF_OTHERS(10, "bpf-output") }
	);
}

Test(soft_group, what_does_not_exist_is_refused)
{
	static const uint64_t configs[] = { 12, 13, 1ull << 32, 1ull << 63, ~0ull };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(configs); i++) {
		union raw_attr a = raw_attr(PERF_TYPE_SOFTWARE, configs[i]);

		check_refused(OPEN(a), ENOENT, PMUCTL_WHY_SOFT_UNKNOWN, "attr.config",
			      "config 0x%lx is no software event: see PERF_COUNT_SW_* in <linux/perf_event.h>",
			      configs[i]);
	}
}

Test(soft_group, a_group_has_an_end)
{
	const struct rlimit files = { LARGEST + 100, LARGEST + 100 };
	struct perf_event_attr tells = faults();
	int leader;

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	leader = event_open(faults());
	for (int i = 1; i < LARGEST; i++)
		event_open(faults(), .group = leader);
	check_refused(OPEN(faults(), .group = leader), E2BIG, PMUCTL_WHY_GROUP_LONG,
		      "group_fd",
		      "its group already has 2048 events, and no group has more: open it in another group");
	close_range(leader, ~0u, 0);

	tells.sample_period = 1;
	tells.sample_type = PERF_SAMPLE_READ;
	tells.read_format = PERF_FORMAT_GROUP;
	leader = event_open(tells);
	for (int i = 1; i < 64; i++)
		event_open(faults(), .group = leader);
	check_refused(OPEN(faults(), .group = leader), E2BIG, PMUCTL_WHY_GROUP_LONG, "group_fd",
		      "its group already has 64 events, and no group of which samples tell all values has more: open it in another group");
	/* Nor can who tells of it join one that has more. */
	leader = event_open(faults());
	for (int i = 1; i < 65; i++)
		event_open(faults(), .group = leader);
	cr_expect_eq(event_try(tells, 0, .group = leader), -E2BIG);
	cr_expect_eq(event_why.code, PMUCTL_WHY_GROUP_LONG);
}

#define LARGE	100

/* More than a read has room for on the stack, and more than it has first elsewhere */
Test(soft_group, a_read_of_a_large_group_gives_all)
{
	struct perf_event_attr attr = soft_attr(PERF_COUNT_SW_DUMMY);
	struct {
		uint64_t nr;
		struct {
			uint64_t value, id;
		} each[LARGE];
	} got;
	int fds[LARGE];

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	for (unsigned int i = 0; i < LARGE; i++) {
		fds[i] = event_open(attr, .group = i ? fds[0] : -1);
		if (i + 1 < 7)
			continue;
		cr_assert_eq(read(fds[0], &got, sizeof(got)), (ssize_t)(8 + 16 * (i + 1)));
		cr_assert_eq(got.nr, i + 1);
		for (unsigned int k = 0; k <= i; k++)
			cr_assert_eq(got.each[k].id, event_id(fds[k]));
	}
	cr_assert_eq(read(fds[0], &got, sizeof(got) - 1), -1);
	cr_assert_eq(errno, ENOSPC);
}
