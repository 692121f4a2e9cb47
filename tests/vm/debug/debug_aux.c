// SPDX-License-Identifier: GPL-2.0-only
/*
 * What comes of opening a trace, of mapping its buffers and of setting its filter when one
 * allocation or copy after the other fails: ENOMEM or EFAULT, with its explanation if it is
 * ours; nothing is left behind, and the same call works afterwards. Needs a kernel with
 * fault injection (the laboratory's debug kernel), and a CPU that traces.
 */
#include "aux_faults.h"

TestSuite(debug_aux, .init = faults_set_up);

static struct pmuctl_explanation why;

static int call_open(void *attr)
{
	return raw_open(attr, 0, -1, PERF_FLAG_FD_CLOEXEC, &why);
}

Test(debug_aux, of_opening_a_trace)
{
	union raw_attr attr = trace_attr();
	unsigned int nth, refused = 0;
	enum fault fault = MEMORY;
	int nr_fds, fd;

	close(event_open(attr));
	nr_fds = raw_count_fds();
	for (nth = 1; !faults_over(fault) && nth < FAULTS_MAX; nth++) {
		memset(&why, 0, sizeof(why));
		fd = with_fault(nth, call_open, &attr, &fault);
		if (fd < 0) {
			aux_check_refusal(fd, fault, nth, &why);
			refused += fault == MEMORY;
		} else {
			close(fd);
		}
		cr_assert_eq(raw_count_fds(), nr_fds, "fault %u", nth);
		cr_assert_eq(raw_info().hw_events, 0, "fault %u", nth);
	}
	cr_assert_lt(nth, FAULTS_MAX);
	cr_assert_geq(refused, 4, "only %u were refused", refused);
}

/* Where nothing is mapped nearby, so that the kernel needs page tables as well */
static int call_map_far(void *fd)
{
	return aux_map_at(*(int *)fd, (void *)0x100000000000);
}

static int call_filter(void *fd)
{
	return ioctl(*(int *)fd, PERF_EVENT_IOC_SET_FILTER, "filter 0x1000/16@" TRACED) ?
		-errno : 0;
}

/* Its pages, its tables, and where they are mapped */
Test(debug_aux, of_mapping_the_buffer)
{
	aux_fail_uses(trace_attr(), aux_call_map, 0, 5);
}

/* The same, and three levels of page tables */
Test(debug_aux, of_mapping_the_buffer_far_from_all)
{
	aux_fail_uses(trace_attr(), call_map_far, 0, 8);
}

/* Its text, the name of the file, and the hook that tells of mappings */
Test(debug_aux, of_setting_a_filter_of_a_file)
{
	aux_fail_uses(trace_attr(), call_filter, 1500000, 2);
}
