// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user who traces, and whose cgroup puts him to sleep in the middle of an allocation: nobody else
 * who traces waits for him.
 */
#include "aux.h"
#include "throttle.h"

TestSuite(aux_throttle, .init = cgroup_make, .fini = cgroup_remove);

static void trace_large(void)
{
	union raw_attr attr = trace_attr();
	struct trace t = { .fd = raw_open(&attr, 0, -1, 0, &event_why) };

	die_if(t.fd < 0, "open");
	die_if(trace_try_map(&t, PAGES_SLOW, PROT_READ | PROT_WRITE) != 0, "mmap");
	trace_close(&t);
}

static void trace_small(void)
{
	union raw_attr attr = trace_attr();
	struct trace t;

	trace_open(&t, &attr, 0, -1, 16, PROT_READ | PROT_WRITE);
	trace_close(&t);
}

Test(aux_throttle, nobody_waits_for_a_trace_of_somebody_else)
{
	pid_t user;

	/* Without it the user could not have the PMU. */
	event_open(raw_instructions());
	user = slow_start(NULL, trace_large);
	cr_expect(others_go_on(user, "auxbuf_alloc", trace_small));
	raw_reap(user);
}
