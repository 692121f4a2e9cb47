// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists of which an allocation, or a copy from or to user space, fails: each in turn. Such a
 * list is refused with ENOMEM or EFAULT and its explanation, and nothing is left of it. Needs a
 * kernel with fault injection (the laboratory's debug kernel).
 */
#include "faults.h"
#include "refusal.h"

#define ENTRIES		3

static union raw_attr attr;
static struct pmuctl_open opens[ENTRIES];
static struct pmuctl_explanation why;
static int fds[ENTRIES];

static void set_up(void)
{
	faults_set_up();
	attr = raw_instructions();
	attr.attr.disabled = 0;
	for (int i = 0; i < ENTRIES; i++) {
		opens[i] = raw_request(&attr, 0, -1, PERF_FLAG_FD_CLOEXEC, NULL);
		opens[i].explanation_size = 0;
		opens[i].explanation = 0;
	}
}

TestSuite(debug_many, .init = set_up);

static int call_open(void *arg)
{
	struct pmuctl_open_list list = { .size = sizeof(list), .nr = ENTRIES,
		.entry_size = sizeof(*opens), .opens = (uintptr_t)opens, .fds = (uintptr_t)fds,
		.explanation = (uintptr_t)&why, .explanation_size = sizeof(why) };

	(void)arg;
	return ioctl(raw_device(), PMUCTL_IOC_OPEN_LIST, &list) ? -errno : 0;
}

static void close_all(void)
{
	for (int i = 0; i < ENTRIES; i++)
		close(fds[i]);
}

/*
 * As many refusals as each entry has places of its own: four allocations and one copy, of its
 * attr, at least. Single words, get_user() and put_user(), do not fail by injection.
 */
Test(debug_many, of_opening)
{
	unsigned int nth, memory = 0, copies = 0;
	enum fault fault = MEMORY;
	int ret, nr_fds;

	cr_assert_eq(call_open(NULL), 0, "%s", why.sentence);
	close_all();
	nr_fds = raw_count_fds();
	for (nth = 1; !faults_over(fault) && nth < FAULTS_MAX; nth++) {
		memset(&why, 0, sizeof(why));
		ret = with_fault(nth, call_open, NULL, &fault);
		if (ret) {
			cr_assert_eq(ret, fault == COPY ? -EFAULT : -ENOMEM, "fault %u: %d: %s",
				     nth, ret, why.sentence);
			memory += fault == MEMORY;
			copies += fault == COPY;
		} else {
			close_all();
		}
		cr_assert_eq(raw_settled_info().hw_events, 0, "fault %u", nth);
		cr_assert_eq(raw_count_fds(), nr_fds, "fault %u", nth);
	}
	cr_assert_lt(nth, FAULTS_MAX);
	cr_assert_geq(memory, 4 * ENTRIES);
	cr_assert_geq(copies, ENTRIES, "%u", copies);
}

static int call_control(void *arg)
{
	struct pmuctl_control_list list = { .size = sizeof(list), .nr = ENTRIES,
		.request = PERF_EVENT_IOC_ENABLE, .fds = (uintptr_t)fds };

	(void)arg;
	return ioctl(raw_device(), PMUCTL_IOC_CONTROL_LIST, &list) ? -errno : 0;
}

static uint64_t values[ENTRIES];

static int call_read(void *arg)
{
	struct pmuctl_read_entry entries[ENTRIES];
	struct pmuctl_read_list list = { .size = sizeof(list), .nr = ENTRIES,
		.entry_size = sizeof(*entries), .entries = (uintptr_t)entries };

	(void)arg;
	for (int i = 0; i < ENTRIES; i++)
		entries[i] = (struct pmuctl_read_entry){ .fd = fds[i], .length = 8,
			.buffer = (uintptr_t)&values[i] };
	return ioctl(raw_device(), PMUCTL_IOC_READ_LIST, &list) ? -errno : 0;
}

/* @least: places that can fail */
static void fail_each(int (*call)(void *arg), unsigned int least)
{
	enum fault fault = MEMORY;
	unsigned int nth, refused = 0;
	int ret;

	for (nth = 1; !faults_over(fault) && nth < FAULTS_MAX; nth++) {
		ret = with_fault(nth, call, NULL, &fault);
		cr_assert(!ret || ret == (fault == COPY ? -EFAULT : -ENOMEM), "fault %u: %d", nth,
			  ret);
		refused += !!ret;
	}
	cr_assert_lt(nth, FAULTS_MAX);
	cr_assert_geq(refused, least, "%u", refused);
}

Test(debug_many, of_reading_and_of_on_and_off)
{
	cr_assert_eq(call_open(NULL), 0, "%s", why.sentence);
	/* The list itself, and memory for its files */
	fail_each(call_control, 2);
	fail_each(call_read, ENTRIES);
	cr_assert_eq(call_read(NULL), 0);
}
