// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that come and go, a system that sleeps and wakes, and one that stops: nothing
 * counts or traces where the PMU is about to go, and what should does when it is back.
 *
 * There is one way to quiet: pmuctl_context_cpu_offline(), on the CPU that is meant. An event runs
 * only while its context is loaded, so what is unloaded is off, traces too.
 */
#include <linux/cpu.h>
#include <linux/reboot.h>
#include <linux/smp.h>
#include <linux/syscore_ops.h>
#include <linux/workqueue.h>

#include "core/context.h"
#include "core/event.h"
#include "core/rivals.h"
#include "event/hotplug.h"

static int hotplug_state;

/* The system stops: whatever comes or wakes stays quiet. */
static bool stopping;

/* Where somebody traces already, it is tried again. */
#define RIVALS_RETRY	(HZ / 10)

/* Those of which rivals.c has not been told; it waits for CPUs that are on their way. */
static struct cpumask came;

static void tell_rivals(struct work_struct *work)
{
	bool again = false;
	int cpu;

	for_each_possible_cpu(cpu) {
		if (!cpumask_test_and_clear_cpu(cpu, &came) || pmuctl_rivals_cpu_came(cpu))
			continue;
		cpumask_set_cpu(cpu, &came);
		again = true;
	}
	if (again)
		schedule_delayed_work(to_delayed_work(work), RIVALS_RETRY);
}

static DECLARE_DELAYED_WORK(rivals_work, tell_rivals);

static int hotplug_online(unsigned int cpu)
{
	if (READ_ONCE(stopping))
		return 0;
	pmuctl_rivals_cpu_comes(cpu);
	pmuctl_context_cpu_online();
	cpumask_set_cpu(cpu, &came);
	mod_delayed_work(system_percpu_wq, &rivals_work, 0);
	return 0;
}

static int hotplug_offline(unsigned int cpu)
{
	pmuctl_context_cpu_offline();
	return 0;
}

/*
 * The last CPU goes to sleep and wakes up: the others went offline before. What was in
 * its PMU is lost, and it may not be ours when we come back. IRQs off.
 */
static int system_sleeps(void *unused)
{
	pmuctl_context_cpu_offline();
	return 0;
}

static void system_wakes(void *unused)
{
	pmuctl_context_cpu_online();
	pmuctl_context_load_current();
}

static const struct syscore_ops sleep_ops = {
	.suspend = system_sleeps,
	.resume = system_wakes,
};

static struct syscore sleep = { .ops = &sleep_ops };

static void quiet_here(void *unused)
{
	pmuctl_context_cpu_offline();
}

/*
 * The system halts, restarts or starts another kernel (kexec). The next one knows nothing of
 * traces that write to memory, so none may go on. Programs do, and open events, which count
 * nothing: so it is of no use to wait for them, nor for a lock of ours that they may hold.
 */
static int system_stops(struct notifier_block *block, unsigned long action, void *unused)
{
	WRITE_ONCE(stopping, true);
	hwpmu_close();
	on_each_cpu(quiet_here, NULL, 1);
	return NOTIFY_DONE;
}

/* The last one: what others have of us they may still read and close. */
static struct notifier_block stop_block = {
	.notifier_call = system_stops,
	.priority = INT_MIN,
};

int __init pmuctl_hotplug_init(void)
{
	hotplug_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "pmuctl:online",
					  hotplug_online, hotplug_offline);
	if (hotplug_state < 0)
		return hotplug_state;
	register_syscore(&sleep);
	register_reboot_notifier(&stop_block);
	return 0;
}

void pmuctl_hotplug_exit(void)
{
	unregister_reboot_notifier(&stop_block);
	unregister_syscore(&sleep);
	cpuhp_remove_state(hotplug_state);
	cancel_delayed_work_sync(&rivals_work);
}
