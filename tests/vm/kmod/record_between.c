// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests only: what happens between a record that perf makes of kmem:kmalloc and the next probe
 * that is told of the hit, and a hit of which perf makes none.
 *
 *	parameters/hold		written: it is hit, with HELD bytes. A probe behind perf's sends SIGUSR1
 *				to the parent, and waits until its own task gets a signal.
 *	parameters/nest		written 1: from now on each page fault of this task is one more hit, with
 *				NESTED bytes, inside of perf, which makes no record of it; 0: no more.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <trace/events/kmem.h>

#define HELD	1234
#define NESTED	2345

static const struct task_struct *holder;
static struct perf_event *faults;

static void hit(size_t size, gfp_t flags)
{
	kfree(kmalloc(READ_ONCE(size), flags));
}

static void hold(void *data, unsigned long call_site, const void *ptr, size_t bytes_req,
		 size_t bytes_alloc, gfp_t flags, int node)
{
	if (bytes_req != HELD || current != holder)
		return;
	send_sig(SIGUSR1, rcu_dereference_raw(current->real_parent), 1);
	while (!signal_pending(current))
		cpu_relax();
}

/* Kernels before 6.1 have no node, at which it does not look: for the compiler it has no type. */
static void *const hold_probe = hold;

static int set_hold(const char *text, const struct kernel_param *kp)
{
	int err = register_trace_prio_kmalloc(hold_probe, NULL, TRACEPOINT_DEFAULT_PRIO);

	if (err)
		return err;
	holder = current;
	hit(HELD, GFP_KERNEL);
	unregister_trace_kmalloc(hold_probe, NULL);
	tracepoint_synchronize_unregister();
	return 0;
}

static const struct kernel_param_ops hold_ops = { .set = set_hold };
module_param_cb(hold, &hold_ops, NULL, 0200);

static void at_fault(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	hit(NESTED, GFP_ATOMIC);
}

static void end_faults(void)
{
	if (faults)
		perf_event_release_kernel(faults);
	faults = NULL;
}

static int set_nest(const char *text, const struct kernel_param *kp)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
	};
	struct perf_event *event;
	bool on;
	int err = kstrtobool(text, &on);

	if (err)
		return err;
	end_faults();
	if (!on)
		return 0;
	event = perf_event_create_kernel_counter(&attr, -1, current, at_fault, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	faults = event;
	return 0;
}

static const struct kernel_param_ops nest_ops = { .set = set_nest };
module_param_cb(nest, &nest_ops, NULL, 0200);

static int __init record_between_init(void)
{
	return 0;
}

static void __exit record_between_exit(void)
{
	end_faults();
}

module_init(record_between_init);
module_exit(record_between_exit);

MODULE_DESCRIPTION("What comes between perf's records and their readers, for tests of pmuctl");
MODULE_LICENSE("GPL");
