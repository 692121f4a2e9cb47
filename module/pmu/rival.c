// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's own drivers of tracing units; rival.h explains it. Process context only.
 */
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/init_task.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "pmu/rival.h"

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
void rival_find(struct rival *rival)
{
	struct perf_event *event;
	struct device *dev;
	struct pmu *pmu;

	event = open_idle(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0);
	if (IS_ERR(event))
		return;
	dev = event->pmu->dev ?
		bus_find_device_by_name(event->pmu->dev->bus, NULL, rival->name) : NULL;
	if (dev) {
		pmu = dev_get_drvdata(dev);
		if (pmu && pmu->capabilities & PERF_PMU_CAP_EXCLUSIVE)
			rival->type = pmu->type;
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

static int keep_away_from(struct rival *rival, int cpu)
{
	struct perf_event *event = open_idle(rival->type, 0, cpu);

	if (IS_ERR(event))
		return PTR_ERR(event);
	let_driver_forget(event);
	rival->held[cpu] = event;
	return 0;
}

bool rival_cpu_came(struct rival *rival, int cpu)
{
	if (!rival->held)
		return true;
	if (rival->held[cpu])
		perf_event_release_kernel(rival->held[cpu]);
	rival->held[cpu] = NULL;
	return !keep_away_from(rival, cpu);
}

int rival_keep_away(struct rival *rival)
{
	int cpu, err = 0;

	if (!rival->type)
		return 0;
	rival->held = kcalloc(nr_cpu_ids, sizeof(*rival->held), GFP_KERNEL);
	if (!rival->held)
		return -ENOMEM;
	for_each_online_cpu(cpu) {
		err = keep_away_from(rival, cpu);
		if (err)
			break;
	}
	if (err)
		rival_let_go(rival);
	return err;
}

void rival_let_go(struct rival *rival)
{
	unsigned int cpu;

	if (!rival->held)
		return;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		if (rival->held[cpu])
			perf_event_release_kernel(rival->held[cpu]);
	kfree(rival->held);
	rival->held = NULL;
}
