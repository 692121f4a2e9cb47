// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of other kernel modules on a CPU that has a PMU of its own for traces: that one is
 * refused by its type, and counting goes on beside. For --cpu intel-pt.
 */
#include "aux.h"
#include "kapi.h"

#define N	100000ull

TestSuite(kapi_aux, .init = kapi_load, .fini = kapi_unload);

static void check_create_refused(uint32_t type, uint64_t config, int pid, int cpu)
{
	struct perf_event_attr attr = kapi_attr(config);
	struct kapi_create c;
	char sentence[208];

	attr.type = type;
	c = kapi_request(&attr, pid, cpu, 0);
	snprintf(sentence, sizeof(sentence),
		 "attr.type is 0x%x, but a kernel module's counter has no records, group, children or AUX data: leave it 0, or open an event descriptor",
		 type);
	cr_expect_eq(kapi_try(&c), -EINVAL);
	cr_expect_eq(c.code, PMUCTL_WHY_KERNEL_ATTR, "%u: %s", c.code, c.sentence);
	cr_expect_str_eq(c.field, "attr.type");
	cr_expect_str_eq(c.sentence, sentence);
}

/* Of a task and of a CPU */
Test(kapi_aux, refuses_the_type_that_traces)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);
	uint32_t type = trace_type();
	int fd;

	cr_assert_geq(type, PERF_TYPE_MAX);
	check_create_refused(type, 1, 0, -1);
	check_create_refused(type, 1 << 10 | 1 << 13 | 1, 0, -1);
	check_create_refused(type, 1, KAPI_NOBODY, 0);
	fd = kapi_create(&attr, 0, -1, 0);
	bracket(fd, N);
	cr_expect_eq(event_value(fd), bracket_instructions(N));
	close(fd);
}
