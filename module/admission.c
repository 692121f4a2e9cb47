// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admission: whether an event may be opened beside those that are open. Its group alone
 * must always fit the PMU. If the parameter overcommit is 0, counters must also be there
 * for all events that can meet on a CPU, if all were enabled: those of the CPU with those
 * of any one task; tasks do not meet each other.
 *
 * The parameter reserve_percpu keeps general counters for the events of CPUs.
 */
#include <linux/cpumask.h>
#include <linux/module.h>

#include "core.h"
#include "pmu/place.h"

static bool overcommit = true;
module_param(overcommit, bool, 0644);
MODULE_PARM_DESC(overcommit,
		 "1 (default): more events than counters take turns; 0: they are refused at open");

static unsigned int reserve_percpu;

static int set_reserve(const char *value, const struct kernel_param *kp)
{
	unsigned int n;
	int err;

	err = kstrtouint(value, 0, &n);
	if (err)
		return err;
	if (n > hwpmu_caps()->nr_general)
		return -ERANGE;
	WRITE_ONCE(reserve_percpu, n);
	return 0;
}

static const struct kernel_param_ops reserve_ops = {
	.set = set_reserve,
	.get = param_get_uint,
};
module_param_cb(reserve_percpu, &reserve_ops, &reserve_percpu, 0644);
MODULE_PARM_DESC(reserve_percpu,
		 "General counters of each CPU that only events of CPUs may use (default 0)");

u64 pmuctl_usable_counters(const struct pmuctl_context *ctx)
{
	unsigned int general = hwpmu_caps()->nr_general;
	unsigned int reserved = min(READ_ONCE(reserve_percpu), general);

	if (!ctx->task || !reserved)
		return ~0ULL;
	return ~GENMASK_ULL(general - 1, general - reserved);
}

/**
 * struct crowd - events that want counters at the same time
 * @allowed: counters of each.
 * @n: how many; more than HWPMU_MAX_COUNTERS never fit.
 */
struct crowd {
	u64 allowed[HWPMU_MAX_COUNTERS];
	unsigned int n;
};

static void crowd_add(struct crowd *crowd, const struct pmuctl_event *event,
		      const struct pmuctl_context *ctx)
{
	if (event->soft)
		return;
	if (crowd->n < ARRAY_SIZE(crowd->allowed))
		crowd->allowed[crowd->n] = event->counter.config.allowed &
			pmuctl_usable_counters(ctx);
	crowd->n++;
}

/* Add the events of a context that can run on @cpu. */
static unsigned int crowd_add_context(struct crowd *crowd,
				      struct pmuctl_context *ctx, int cpu)
{
	struct pmuctl_event *leader, *event;
	enum pmuctl_class class;
	unsigned long flags;
	unsigned int n = 0;

	raw_spin_lock_irqsave(&ctx->lock, flags);
	for_each_group(leader, class, ctx) {
		if (leader->cpu >= 0 && leader->cpu != cpu)
			continue;
		for_each_group_member(event, leader) {
			crowd_add(crowd, event, ctx);
			n += !event->soft;
		}
	}
	raw_spin_unlock_irqrestore(&ctx->lock, flags);
	return n;
}

/* If each may use as many counters as there are events, no order of them can fail. */
static bool each_has_enough(const struct crowd *crowd)
{
	unsigned int i;

	for (i = 0; i < crowd->n; i++)
		if (hweight64(crowd->allowed[i] & hwpmu_caps()->counters) < crowd->n)
			return false;
	return true;
}

static bool crowd_fits(const struct crowd *crowd)
{
	s8 index[HWPMU_MAX_COUNTERS];

	if (crowd->n > ARRAY_SIZE(crowd->allowed))
		return false;
	if (each_has_enough(crowd))
		return true;
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
	struct pmuctl_context *ctx;
	int cpu;
	unsigned int of_task;
	unsigned int of_cpu;
};

/* The events of one task, or none, with those of the CPU and the new one */
static bool fits_beside(struct admission *a, struct pmuctl_context *task)
{
	struct crowd crowd = { .n = 0 };

	a->of_cpu = crowd_add_context(&crowd, pmuctl_context_of_cpu(a->cpu),
				      a->cpu);
	a->of_task = task ? crowd_add_context(&crowd, task, a->cpu) : 0;
	crowd_add(&crowd, a->event, a->ctx);
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

/* The new event, of hardware, with the group that it joins, on an empty PMU */
static int admit_group(const struct pmuctl_context *ctx,
		       const struct pmuctl_event *new,
		       struct pmuctl_explanation *why)
{
	const struct hwpmu_caps *caps = hwpmu_caps();
	struct crowd crowd = { .n = 0 };
	struct pmuctl_event *event;

	if (new->leader != new)
		for_each_group_member(event, new->leader)
			crowd_add(&crowd, event, ctx);
	crowd_add(&crowd, new, ctx);
	if (crowd.n == 1 ? crowd.allowed[0] != 0 : crowd_fits(&crowd))
		return 0;
	if (crowd.n == 1)
		return pmuctl_refuse(why, COUNTERS_RESERVED, "attr.config",
				     READ_ONCE(reserve_percpu));
	return pmuctl_refuse(why, GROUP_TOO_BIG, "group_fd", crowd.n - 1,
			     caps->nr_general, caps->nr_fixed);
}

int pmuctl_admit(struct pmuctl_context *ctx, const struct pmuctl_event *event,
		 struct pmuctl_explanation *why)
{
	struct admission a = { .event = event, .ctx = ctx };
	int err;

	lockdep_assert_held(&pmuctl_mutex);
	if (event->soft)
		return 0; /* it needs nothing that there could be too little of */
	err = admit_group(ctx, event, why);
	if (err)
		return err;
	if (READ_ONCE(overcommit) || fits(&a))
		return 0;
	return pmuctl_refuse(why, COUNTERS_TAKEN, "attr.config", a.of_task,
			     a.of_cpu, a.cpu, hwpmu_caps()->nr_general,
			     hwpmu_caps()->nr_fixed);
}
