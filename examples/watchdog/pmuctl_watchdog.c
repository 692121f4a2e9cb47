// SPDX-License-Identifier: GPL-2.0-only
/*
 * An example for pmuctl's in-kernel API: a watchdog that says who burns instructions. There
 * is a counter for each CPU; whenever it has counted as many instructions as the parameter
 * "period" says, the kernel's log tells whom that was at.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/pmuctl.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

static unsigned long long period = 1000000000;
module_param(period, ullong, 0444);
MODULE_PARM_DESC(period, "Instructions of a CPU after which it tells who is running (default 10^9)");

static DEFINE_PER_CPU(struct pmuctl_counter *, counters);

/* In an NMI: printk() keeps the text until somebody can write it. */
static bool tell(struct pmuctl_counter *counter, const struct pmuctl_sample *sample,
		 struct pt_regs *regs, void *context)
{
	pr_info_ratelimited("CPU %d: %s[%d], in %s mode, after %llu instructions\n",
			    raw_smp_processor_id(), current->comm, current->pid,
			    user_mode(regs) ? "user" : "kernel", sample->value);
	return true;
}

static void pmuctl_watchdog_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (per_cpu(counters, cpu))
			pmuctl_counter_release(per_cpu(counters, cpu));
}

static int __init pmuctl_watchdog_init(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = period,
		.exclude_idle = 1,
	};
	struct pmuctl_explanation why;
	struct pmuctl_counter *counter;
	int cpu;

	for_each_online_cpu(cpu) {
		counter = pmuctl_counter_create(&attr, cpu, NULL, tell, NULL, &why);
		if (IS_ERR(counter)) {
			pr_err("CPU %d: %s\n", cpu, why.sentence);
			pmuctl_watchdog_exit();
			return PTR_ERR(counter);
		}
		per_cpu(counters, cpu) = counter;
	}
	return 0;
}

module_init(pmuctl_watchdog_init);
module_exit(pmuctl_watchdog_exit);

MODULE_DESCRIPTION("Says who burns instructions: an example for pmuctl's in-kernel API");
MODULE_LICENSE("GPL");
