// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library against the driver: lists of events, opened by one call, read, enabled,
 * disabled and reset; and more than the driver takes at once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <pmuctl_list.h>

#define MANY	(PMUCTL_LIST_MAX + 10)

static struct pmuctl_device *dev;
static struct pmuctl_explanation why;
static struct perf_event_attr attr;
static struct pmuctl_list_entry list[MANY];
static struct pmuctl_list_reading readings[MANY];
static struct pmuctl_reading values[MANY];
static struct pmuctl_event *events[MANY];

static void setup(void)
{
	int ret = pmuctl_device_open(NULL, &why, &dev);

	cr_assert_eq(ret, 0, "%s", ret ? why.sentence : "");
	attr = (struct perf_event_attr){ .type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS, .disabled = 1, .exclude_kernel = 1 };
	for (int i = 0; i < MANY; i++) {
		list[i] = (struct pmuctl_list_entry){ .attr = &attr, .cpu = -1 };
		readings[i] = (struct pmuctl_list_reading){ .readings = &values[i], .max = 1 };
	}
}

static void teardown(void)
{
	pmuctl_device_close(dev);
}

TestSuite(lib_list, .init = setup, .fini = teardown);

static void open_list(size_t nr)
{
	int ret = pmuctl_list_open(dev, list, nr);

	pmuctl_device_explain(dev, &why);
	cr_assert_eq(ret, 0, "%s: %s", why.field, why.sentence);
	for (size_t i = 0; i < nr; i++) {
		events[i] = list[i].event;
		readings[i].event = list[i].event;
	}
}

/* Two instructions a round */
static __attribute__((noinline)) void loop(uint64_t rounds)
{
	__asm__ volatile("1:\tdecq %0\n\t"
			 "jnz 1b"
			 : "+r" (rounds) : : "cc");
}

Test(lib_list, events_are_enabled_read_and_reset)
{
	open_list(3);
	cr_assert_eq(pmuctl_list_enable(dev, events, 3), 0);
	loop(1000);
	cr_assert_eq(pmuctl_list_disable(dev, events, 3), 0);
	cr_assert_eq(pmuctl_list_read(dev, readings, 3), 0);
	for (int i = 0; i < 3; i++) {
		struct pmuctl_reading alone;

		cr_assert_eq(pmuctl_event_read(events[i], &alone), 0);
		cr_assert_eq(readings[i].got, 1);
		cr_assert_geq(values[i].value, 2000);
		cr_assert_eq(values[i].value, alone.value);
	}
	cr_assert_eq(pmuctl_list_reset(dev, events + 1, 2), 0);
	cr_assert_eq(pmuctl_list_read(dev, readings, 3), 0);
	cr_assert_geq(values[0].value, 2000);
	cr_assert_eq(values[1].value, 0);
	cr_assert_eq(values[2].value, 0);
	for (int i = 0; i < 3; i++)
		pmuctl_event_close(events[i]);
}

/* All members of a group count the same, and stand one after the other. */
Test(lib_list, a_group_is_read_through_its_leader)
{
	struct perf_event_attr leader = attr, sibling = attr;

	leader.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	sibling.read_format = leader.read_format;
	sibling.disabled = 0;
	list[1].attr = &leader;
	for (int i = 2; i < 4; i++) {
		list[i].attr = &sibling;
		list[i].flags = PMUCTL_OPEN_GROUP_ENTRY;
		list[i].leader_entry = 1;
	}
	open_list(4);
	cr_assert_eq(pmuctl_list_enable(dev, events, 2), 0);
	loop(1000);
	cr_assert_eq(pmuctl_list_disable(dev, events, 2), 0);
	readings[1].max = 3;
	cr_assert_eq(pmuctl_list_read(dev, readings, 2), 0);
	cr_assert_eq(readings[0].got, 1);
	cr_assert_eq(readings[1].got, 3);
	for (int i = 1; i < 4; i++) {
		uint64_t id;

		cr_assert_eq(pmuctl_event_id(events[i], &id), 0);
		cr_assert_eq(values[i].id, id);
		cr_assert_eq(values[i].value, values[1].value);
		cr_assert_geq(values[i].value, 2000);
	}
	readings[1].max = 2;
	cr_assert_eq(pmuctl_list_read(dev, readings, 2), -ENOSPC);
	pmuctl_device_explain(dev, &why);
	cr_assert_eq(why.entry, 1);
	for (int i = 0; i < 4; i++)
		pmuctl_event_close(events[i]);
}

Test(lib_list, what_is_refused_is_named_and_nothing_is_opened)
{
	struct perf_event_attr wrong = attr;

	wrong.config = 99;
	list[2].attr = &wrong;
	cr_assert_eq(pmuctl_list_open(dev, list, 4), -EINVAL);
	pmuctl_device_explain(dev, &why);
	cr_assert_eq(why.code, PMUCTL_WHY_EVENT_UNKNOWN);
	cr_assert_eq(why.entry, 2);
	cr_assert_str_eq(why.field, "[2].attr.config");
	for (int i = 0; i < 4; i++)
		cr_assert_null(list[i].event);
	list[2].attr = NULL;
	cr_assert_eq(pmuctl_list_open(dev, list, 4), -EINVAL);
	list[2].attr = &attr;
	list[3].reserved[1] = 1;
	cr_assert_eq(pmuctl_list_open(dev, list, 4), -EINVAL);
	cr_assert_eq(pmuctl_list_open(dev, list, 0), -EINVAL);
	cr_assert_eq(pmuctl_list_open(dev, NULL, 1), -EINVAL);
	cr_assert_eq(pmuctl_list_read(dev, readings, 0), -EINVAL);
	cr_assert_eq(pmuctl_list_read(dev, readings, 1), -EINVAL); /* which event? */
	cr_assert_eq(pmuctl_list_enable(dev, events, 0), -EINVAL);
	cr_assert_eq(pmuctl_list_enable(dev, NULL, 1), -EINVAL);
}

/* Reading, on and off are split where the driver's limit is; opening is not, as it is all or none. */
Test(lib_list, more_than_the_driver_takes_at_once)
{
	struct rlimit limit = { 4096, 4096 };
	struct perf_event_attr clock = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(clock),
		.config = PERF_COUNT_SW_DUMMY, .disabled = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED };

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int i = 0; i < MANY; i++)
		list[i].attr = &clock;
	cr_assert_eq(pmuctl_list_open(dev, list, MANY), -EINVAL);
	pmuctl_device_explain(dev, &why);
	cr_assert_eq(why.code, PMUCTL_WHY_LIST_LENGTH);
	for (int i = 0; i < MANY; i++) {
		cr_assert_eq(pmuctl_event_open(dev, &clock, 0, -1, 0, &events[i]), 0);
		readings[i].event = events[i];
	}
	cr_assert_eq(pmuctl_list_enable(dev, events, MANY), 0);
	cr_assert_eq(pmuctl_list_disable(dev, events, MANY), 0);
	cr_assert_eq(pmuctl_list_read(dev, readings, MANY), 0);
	for (int i = 0; i < MANY; i++)
		cr_assert_gt(values[i].time_enabled, 0, "event %d", i);
	/* The numbers of entries are those of the caller's list. */
	close(pmuctl_event_fd(events[MANY - 3]));
	cr_assert_eq(pmuctl_list_read(dev, readings, MANY), -EBADF);
	pmuctl_device_explain(dev, &why);
	cr_assert_eq(why.code, PMUCTL_WHY_LIST_FD);
	cr_assert_eq(why.entry, MANY - 3);
	cr_assert_str_eq(why.field, "[1031].fd");
}
