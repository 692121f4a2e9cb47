// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that come and go, and a system that sleeps and wakes: nothing counts where the PMU
 * is about to go, and what should count does when it is back.
 */
#include <linux/cpu.h>
#include <linux/smp.h>
#include <linux/syscore_ops.h>
#include <linux/workqueue.h>

#include "aux.h"
#include "core.h"

static int hotplug_state;

/* Where somebody traces already, it is tried again. */
#define AUX_RETRY	(HZ / 10)

/* Those of which aux.c has not been told; it waits for CPUs that are on their way. */
static struct cpumask came;

static void tell_aux(struct work_struct *work)
{
	bool again = false;
	int cpu;

	for_each_possible_cpu(cpu) {
		if (!cpumask_test_and_clear_cpu(cpu, &came) || pmuctl_aux_cpu_came(cpu))
			continue;
		cpumask_set_cpu(cpu, &came);
		again = true;
	}
	if (again)
		schedule_delayed_work(to_delayed_work(work), AUX_RETRY);
}

static DECLARE_DELAYED_WORK(aux_work, tell_aux);

static int cpu_comes(unsigned int cpu)
{
	pmuctl_context_cpu_comes();
	cpumask_set_cpu(cpu, &came);
	mod_delayed_work(system_wq, &aux_work, 0);
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	pmuctl_context_cpu_goes();
	return 0;
}

/*
 * The last CPU goes to sleep and wakes up: the others went offline before. What was in
 * its PMU is lost, and it may not be ours when we come back. IRQs off.
 */
static int system_sleeps(void)
{
	pmuctl_context_cpu_goes();
	return 0;
}

static void system_wakes(void)
{
	pmuctl_context_cpu_comes();
	pmuctl_context_load_current();
}

static struct syscore_ops sleep_ops = {
	.suspend = system_sleeps,
	.resume = system_wakes,
};

int __init pmuctl_hotplug_init(void)
{
	hotplug_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "pmuctl:online",
					  cpu_comes, cpu_goes);
	if (hotplug_state < 0)
		return hotplug_state;
	register_syscore_ops(&sleep_ops);
	return 0;
}

void pmuctl_hotplug_exit(void)
{
	unregister_syscore_ops(&sleep_ops);
	cpuhp_remove_state(hotplug_state);
	cancel_delayed_work_sync(&aux_work);
}
