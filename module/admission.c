// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admission: an event is opened only if, on every CPU where it may run, it and all the
 * events that it can meet there have counters at the same time. A CPU's events meet
 * those of every task; tasks meet only CPUs, not each other.
 */
#include <linux/cpumask.h>

#include "core.h"
#include "pmu/place.h"

/**
 * struct crowd - events that want counters at the same time
 * @allowed: counters of each.
 * @n: how many; more than HWPMU_MAX_COUNTERS never fit.
 */
struct crowd {
	u64 allowed[HWPMU_MAX_COUNTERS];
	unsigned int n;
};

static void crowd_add(struct crowd *crowd, const struct pmuctl_event *event)
{
	if (crowd->n < ARRAY_SIZE(crowd->allowed))
		crowd->allowed[crowd->n] = event->counter.config.allowed;
	crowd->n++;
}

/* Add the events of a context that can run on @cpu; -1 for any. */
static unsigned int crowd_add_context(struct crowd *crowd,
				      const struct pmuctl_context *ctx, int cpu)
{
	const struct pmuctl_event *event;
	unsigned int n = 0;

	list_for_each_entry(event, &ctx->events, node) {
		if (cpu >= 0 && event->cpu >= 0 && event->cpu != cpu)
			continue;
		crowd_add(crowd, event);
		n++;
	}
	return n;
}

static bool crowd_fits(const struct crowd *crowd)
{
	s8 index[HWPMU_MAX_COUNTERS];

	if (crowd->n > ARRAY_SIZE(crowd->allowed))
		return false;
	memset(index, -1, sizeof(index));
	return hwpmu_place(crowd->allowed, crowd->n, index);
}

/**
 * struct admission - the question: does @event fit on @cpu?
 * @event: the new one.
 * @ctx: whose it will be.
 * @cpu: where.
 * @of_task: events of a task that it met there last.
 * @of_cpu: events of the CPU that it met there last.
 */
struct admission {
	const struct pmuctl_event *event;
	const struct pmuctl_context *ctx;
	int cpu;
	unsigned int of_task;
	unsigned int of_cpu;
};

/* The events of one task, or none, with those of the CPU and the new one */
static bool fits_beside(struct admission *a, const struct pmuctl_context *task)
{
	struct crowd crowd = { .n = 0 };

	a->of_cpu = crowd_add_context(&crowd, pmuctl_context_of_cpu(a->cpu),
				      a->cpu);
	a->of_task = task ? crowd_add_context(&crowd, task, a->cpu) : 0;
	crowd_add(&crowd, a->event);
	return crowd_fits(&crowd);
}

static bool fits_beside_task(struct pmuctl_context *task, void *arg)
{
	return fits_beside(arg, task);
}

static bool fits(struct admission *a)
{
	int cpu;

	if (!a->ctx->task) {
		a->cpu = a->ctx->cpu;
		return fits_beside(a, NULL) &&
			pmuctl_context_visit_tasks(fits_beside_task, a);
	}
	if (a->event->cpu >= 0) {
		a->cpu = a->event->cpu;
		return fits_beside(a, a->ctx);
	}
	for_each_possible_cpu(cpu) {
		a->cpu = cpu;
		if (!fits_beside(a, a->ctx))
			return false;
	}
	return true;
}

int pmuctl_admit(struct pmuctl_context *ctx, const struct pmuctl_event *event,
		 struct pmuctl_explanation *why)
{
	struct admission a = { .event = event, .ctx = ctx };

	lockdep_assert_held(&pmuctl_mutex);
	if (fits(&a))
		return 0;
	return pmuctl_refuse(why, COUNTERS_TAKEN, "attr.config", a.of_task,
			     a.of_cpu, a.cpu, hwpmu_caps()->nr_general,
			     hwpmu_caps()->nr_fixed);
}
