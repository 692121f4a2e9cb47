// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inherited groups that have more members than there are counters.
 */
#include "family.h"
#include "sampling.h"

#include <sys/mman.h>

TestSuite(inherit_group, .init = sampling_init, .fini = sampling_fini);

#define MEMBERS		300

static void touch_pages(unsigned int n)
{
	char *map = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned int i = 0; i < n; i++)
		map[i * PAGE] = 1;
}

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
		touch_pages(pages);
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
	cr_expect_eq(many - few, 490);
	cr_assert_eq(ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), 0);
	cr_expect_eq(in_child(leader, 100), 0);
	cr_assert_eq(ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), 0);
	cr_expect_geq(in_child(leader, 100), 100);
	cr_assert_eq(ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP), 0);
	cr_expect_lt(read_members(leader), 100);
}
