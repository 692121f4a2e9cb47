// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's way to read a counter without a system call.
 */
#include "loops.h"

#include <pmuctl.h>

#define N	100000ull

static struct pmuctl_device *device(void)
{
	struct pmuctl_device *dev;

	cr_assert_eq(pmuctl_device_open(NULL, NULL, &dev), 0);
	return dev;
}

Test(lib_user, value_is_that_of_read)
{
	struct perf_event_attr attr = instructions_u();
	const struct perf_event_mmap_page *page;
	struct pmuctl_device *dev = device();
	uint64_t before, value, after;
	struct pmuctl_reading reading;
	struct pmuctl_event *event;

	attr.disabled = 1;
	cr_assert_eq(pmuctl_event_open(dev, &attr, 0, -1, 0, &event), 0);
	cr_assert_eq(pmuctl_event_map(event, &page), 0);
	cr_assert_eq(pmuctl_page_value(page, &value), 0, "it is off");
	cr_assert_eq(pmuctl_event_value(event, page, &value), 0);
	cr_assert_eq(value, 0);

	cr_assert_eq(pmuctl_event_enable(event), 0);
	user_loop(N);
	cr_assert_eq(pmuctl_page_value(page, &before), 1);
	cr_assert_eq(pmuctl_event_value(event, page, &value), 0);
	cr_assert_eq(pmuctl_event_value(event, NULL, &after), 0);
	cr_expect_gt(before, 2 * N);
	cr_expect(before < value && value < after && after - before < 3000,
		  "%lu, %lu, %lu", before, value, after);

	cr_assert_eq(pmuctl_event_disable(event), 0);
	cr_assert_eq(pmuctl_event_value(event, page, &value), 0);
	cr_assert_eq(pmuctl_event_read(event, &reading), 0);
	cr_expect_eq(value, reading.value);
	pmuctl_event_close(event);
	pmuctl_event_unmap(page);
	pmuctl_event_unmap(NULL);
	pmuctl_device_close(dev);
}

/* Two reads in a row, the second tells what the first has cost. */
Test(lib_user, read_costs_a_few_dozen_instructions)
{
	struct perf_event_attr attr = instructions_u();
	const struct perf_event_mmap_page *page;
	struct pmuctl_device *dev = device();
	uint64_t first, second, least = -1;
	struct pmuctl_event *event;

	cr_assert_eq(pmuctl_event_open(dev, &attr, 0, -1, 0, &event), 0);
	cr_assert_eq(pmuctl_event_map(event, &page), 0);
	for (unsigned int i = 0; i < 100; i++) {
		cr_assert_eq(pmuctl_page_value(page, &first), 1);
		cr_assert_eq(pmuctl_page_value(page, &second), 1);
		if (second - first < least)
			least = second - first;
	}
	cr_expect_leq(least, 29, "%lu instructions", least);
	pmuctl_event_unmap(page);
	pmuctl_event_close(event);
	pmuctl_device_close(dev);
}

Test(lib_user, event_of_a_cpu_is_read_with_a_system_call)
{
	struct perf_event_attr attr = instructions_u();
	const struct perf_event_mmap_page *page;
	struct pmuctl_device *dev = device();
	struct pmuctl_event *event;
	uint64_t value = 0;

	cr_assert_eq(pmuctl_event_open(dev, &attr, -1, 0, 0, &event), 0);
	cr_assert_eq(pmuctl_event_map(event, &page), 0);
	pin_here(0);
	user_loop(N);
	cr_expect_eq(pmuctl_page_value(page, &value), 0);
	cr_expect_eq(pmuctl_event_value(event, page, &value), 0);
	cr_expect_gt(value, 2 * N);
	pmuctl_event_unmap(page);
	pmuctl_event_close(event);
	pmuctl_device_close(dev);
}
