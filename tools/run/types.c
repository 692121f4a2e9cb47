// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose an event is: what pmuctl counts is its own, all else is passed on to the kernel.
 */
#include "request.h"

/**
 * request_find_type() - decide who counts the event
 * @r: the call.
 *
 * Return: 0 if we do, or REQUEST_PASS_ON.
 */
int request_find_type(struct request *r)
{
	switch (r->attr.type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		return 0;
	case PERF_TYPE_SOFTWARE:
		return r->attr.config == PERF_COUNT_SW_BPF_OUTPUT ||
			r->attr.config == PERF_COUNT_SW_CGROUP_SWITCHES ? REQUEST_PASS_ON : 0;
	default:
		return REQUEST_PASS_ON;
	}
}
