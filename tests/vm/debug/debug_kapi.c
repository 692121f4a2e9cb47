// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of other kernel modules of whose making one allocation after the other fails:
 * that is told as ENOMEM, and nothing is left behind. Needs a kernel with fault injection
 * (the laboratory's debug kernel).
 */
#include "kapi.h"
#include "faults.h"
#include "module.h"

static void begin(void)
{
	faults_set_up();
	kapi_load();
}

TestSuite(debug_kapi, .init = begin, .fini = kapi_unload);

struct creating {
	int fd;
	struct perf_event_attr attr;
	struct kapi_create request;
	int pid;
	int cpu;
};

static int call_create(void *arg)
{
	struct creating *c = arg;

	c->request = kapi_request(&c->attr, c->pid, c->cpu, KAPI_HANDLER);
	return ioctl(c->fd, KAPI_CREATE, &c->request) ? -errno : 0;
}

/* Returns how many allocations it cannot do without. */
static unsigned int fail_each(int pid, int cpu)
{
	struct creating c = { .attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS),
			      .pid = pid, .cpu = cpu };
	unsigned int nth, refused = 0;
	enum fault fault = MEMORY;
	int err;

	c.attr.sample_period = 1000;
	for (nth = 1; !faults_over(fault) && nth < FAULTS_MAX; nth++) {
		c.fd = kapi_device();
		err = with_fault(nth, call_create, &c, &fault);
		if (err && fault == MEMORY) {
			cr_assert_eq(err, -ENOMEM, "fault %u: %d", nth, err);
			/* What the test's module itself allocates has no explanation. */
			if (c.request.error)
				cr_assert_eq(c.request.code, PMUCTL_WHY_NO_MEMORY);
			refused += c.request.error == ENOMEM;
		} else if (err) {
			cr_assert_eq(fault, COPY, "fault %u: %d", nth, err);
		}
		close(c.fd);
		cr_assert_eq(module_info().hw_events, 0, "fault %u", nth);
	}
	cr_assert_lt(nth, FAULTS_MAX);
	return refused;
}

/* One may be missed when the kernel's own checks allocate something before it. */
static void fail_creates(int pid, int cpu)
{
	unsigned int refused = 0;

	for (int tries = 0; tries < 3 && refused < 4; tries++)
		refused = fail_each(pid, cpu);
	cr_assert_geq(refused, 4, "only %u were refused", refused);
}

/* The counter, the event, how it is sampled, its output, the context */
Test(debug_kapi, faults_of_creating_one_for_a_task)
{
	fail_creates(0, -1);
}

Test(debug_kapi, faults_of_creating_one_for_a_cpu)
{
	fail_creates(KAPI_NOBODY, 1);
}
