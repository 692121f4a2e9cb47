// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's own drivers of tracing units; perf_exclusive.h explains it. Process context only.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/init_task.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "pmu/perf_exclusive.h"

/*
 * perf takes an event of a CPU as its opener's, even if it is the kernel's own. But this one
 * tells nobody anything, and who may trace we have decided: so it is the kernel that opens it.
 */
static struct perf_event *open_idle(u32 type, u64 config, int cpu)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	struct cred *kernels = prepare_kernel_cred(&init_task);
	const struct cred *callers;
	struct perf_event *event;

	if (!kernels)
		return ERR_PTR(-ENOMEM);
	callers = override_creds(kernels);
	event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	revert_creds(callers);
	put_cred(kernels);
	return event;
}

/* perf's drivers are on a bus without a name for modules; each event leads there. */
void perf_exclusive_find(struct perf_exclusive *ex)
{
	struct perf_event *event;
	struct device *dev;
	struct pmu *pmu;

	event = open_idle(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0);
	if (IS_ERR(event))
		return;
	dev = event->pmu->dev ?
		bus_find_device_by_name(event->pmu->dev->bus, NULL, ex->name) : NULL;
	if (dev) {
		pmu = dev_get_drvdata(dev);
		if (pmu && pmu->capabilities & PERF_PMU_CAP_EXCLUSIVE)
			ex->type = pmu->type;
		put_device(dev);
	}
	perf_event_release_kernel(event);
}

/*
 * An open event of such a driver makes perf look at each NMI, and take the counters' status
 * for its own. This one never traces: the driver may forget it, only perf's core does not.
 */
static void let_driver_forget(struct perf_event *event)
{
	void (*destroy)(struct perf_event *event) = event->destroy;

	event->destroy = NULL;
	if (destroy)
		destroy(event);
}

static int reserve_cpu(struct perf_exclusive *ex, int cpu)
{
	struct perf_event *event = open_idle(ex->type, 0, cpu);

	if (IS_ERR(event))
		return PTR_ERR(event);
	let_driver_forget(event);
	ex->events[cpu] = event;
	return 0;
}

bool perf_exclusive_cpu_online(struct perf_exclusive *ex, int cpu)
{
	if (!ex->events)
		return true;
	if (ex->events[cpu])
		perf_event_release_kernel(ex->events[cpu]);
	ex->events[cpu] = NULL;
	return !reserve_cpu(ex, cpu);
}

int perf_exclusive_reserve(struct perf_exclusive *ex)
{
	unsigned int first = ex->refused;
	int cpu, err = 0;

	ex->had_events = false;
	if (!ex->type)
		return 0;
	ex->events = kcalloc(nr_cpu_ids, sizeof(*ex->events), GFP_KERNEL);
	if (!ex->events)
		return -ENOMEM;
	for_each_cpu_wrap(cpu, cpu_online_mask, first) {
		err = reserve_cpu(ex, cpu);
		if (err)
			break;
		ex->had_events = true;
	}
	if (err) {
		ex->refused = cpu;
		perf_exclusive_release(ex);
	}
	return err;
}

void perf_exclusive_release(struct perf_exclusive *ex)
{
	unsigned int cpu;

	if (!ex->events)
		return;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		if (ex->events[cpu])
			perf_event_release_kernel(ex->events[cpu]);
	kfree(ex->events);
	ex->events = NULL;
}
