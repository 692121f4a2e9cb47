/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeping the kernel's own driver of a tracing unit away while ours traces.
 *
 * The kernel has no reservation for such units. But perf takes their drivers as exclusive:
 * whoever has an event of a CPU there keeps out events of that CPU and of all tasks, even
 * if it is never enabled. So for as long as we trace we have one for each CPU. If somebody
 * uses the driver we do not get it, and he is not disturbed.
 */
#ifndef PMUCTL_PMU_PERF_EXCLUSIVE_H
#define PMUCTL_PMU_PERF_EXCLUSIVE_H

#include <linux/types.h>

struct perf_event;

/**
 * struct perf_exclusive - a driver of the kernel's
 * @name: what it is called in /sys/bus/event_source/devices/.
 * @type: attr.type of its events; 0 if this kernel has no such driver.
 * @events: by CPU number, while it is reserved.
 * @refused: the CPU that could not be had the last time: it is tried first, so that who tries in a
 *	loop has no events made on all others.
 * @had_events: the last try made some.
 */
struct perf_exclusive {
	const char *name;
	u32 type;
	struct perf_event **events;
	unsigned int refused;
	bool had_events;
};

/* Is it there? Module load. */
void perf_exclusive_find(struct perf_exclusive *ex);

/**
 * perf_exclusive_reserve() - from now on it traces nothing
 * @ex: is not reserved.
 *
 * CPUs that come online later are kept from perf_exclusive_cpu_online() on.
 *
 * Context: Process, may sleep; cpus_read_lock held.
 * Return: 0; -EBUSY if somebody uses it; -ENOMEM; another error that perf gives.
 */
int perf_exclusive_reserve(struct perf_exclusive *ex);

/*
 * A CPU has come online. What perf had of it has gone when it went, so it has a new event if
 * the driver is kept away. Returns false if that failed, as somebody was faster, who stays: try
 * again.
 * Context: as perf_exclusive_reserve().
 */
bool perf_exclusive_cpu_online(struct perf_exclusive *ex, int cpu);

/* The reverse; fine if it was not kept away. Process, may sleep. */
void perf_exclusive_release(struct perf_exclusive *ex);

#endif /* PMUCTL_PMU_PERF_EXCLUSIVE_H */
