// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inherited groups that have more members than there are counters, or that somebody cannot join.
 */
#include "family.h"
#include "refusal.h"
#include "sampling.h"
#include "soft.h"

TestSuite(inherit_group, .init = sampling_init, .fini = sampling_fini);

#define MEMBERS		300

/* What each member has counted; all the same */
static uint64_t read_members(int leader)
{
	uint64_t got[1 + MEMBERS];

	cr_assert_eq(read(leader, got, sizeof(got)), (ssize_t)sizeof(got), "%m");
	cr_assert_eq(got[0], MEMBERS);
	for (unsigned int i = 2; i <= MEMBERS; i++)
		cr_assert_eq(got[i], got[1], "member %u", i);
	return got[1];
}

static uint64_t in_child(int leader, unsigned int pages)
{
	uint64_t before = read_members(leader);
	pid_t child = fork();

	if (!child) {
		touch_pages(fresh_pages(pages), pages);
		_exit(0);
	}
	reap(child);
	return read_members(leader) - before;
}

/* One of many more events than there are counters */
Test(inherit_group, follows_and_is_summed_as_a_whole)
{
	struct perf_event_attr attr =
		inherited(event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS));
	uint64_t few, many;
	int leader;

	attr.read_format = PERF_FORMAT_GROUP;
	leader = event_open(attr);
	for (unsigned int i = 1; i < MEMBERS; i++)
		event_open(attr, .group = leader);
	in_child(leader, 1);
	few = in_child(leader, 10);
	many = in_child(leader, 500);
	cr_expect_eq(many - few, 490, "%lu, %lu", few, many);
	cr_assert_eq(ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), 0);
	cr_expect_eq(in_child(leader, 100), 0);
	cr_assert_eq(ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), 0);
	cr_expect_geq(in_child(leader, 100), 100);
	cr_assert_eq(ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP), 0);
	cr_expect_lt(read_members(leader), 100);
}

/* It was on its way into the group when it was refused: that can be locked as before. */
Test(inherit_group, goes_on_after_one_that_cannot_join)
{
	struct perf_event_attr attr = inherited(soft_attr(PERF_COUNT_SW_DUMMY));
	int leader = event_open(attr), refused;

	attr = inherited(instructions_u());
	do
		refused = event_try(attr, .group = leader);
	while (refused >= 0);
	cr_assert_eq(refused, -EINVAL, "%s", strerror(-refused));
	cr_assert_eq(event_why.code, PMUCTL_WHY_GROUP_TOO_BIG, "code %u", event_why.code);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP), 0);
	event_open(attr);
	event_open(inherited(soft_attr(PERF_COUNT_SW_DUMMY)), .group = leader);
}
