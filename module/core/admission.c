// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admission: whether an event may be opened beside those that are open. Its group alone
 * must always fit the PMU. If the parameter overcommit is 0, counters must also be there
 * for all events that can meet on a CPU, if all were enabled: those of the CPU with those
 * of any one task; tasks do not meet each other.
 *
 * The parameter reserve_percpu keeps general counters for the events of CPUs.
 *
 * And whether it may join the group that its opener names.
 *
 * Whatever it is that goes through all events of a context does so with interrupts off, at each
 * switch: so the parameter max_events_per_context limits how many an ordinary user may put there.
 * Its default is such that this takes less than a million instructions, whatever they are.
 */
#include <linux/cpumask.h>
#include <linux/module.h>

#include "compat/uninitialized.h"
#include "core/admission.h"
#include "core/context.h"
#include "core/sampling_state.h"
#include "pmu/assign.h"
#include "pmu/events_extra.h"

static bool overcommit = true;
module_param(overcommit, bool, 0644);
MODULE_PARM_DESC(overcommit,
		 "1 (default): more events than counters are multiplexed; 0: they are refused at open");

unsigned int pmuctl_reserve_percpu;

static int set_reserve(const char *value, const struct kernel_param *kp)
{
	unsigned int n;
	int err;

	err = kstrtouint(value, 0, &n);
	if (err)
		return err;
	if (n > hwpmu_caps()->nr_general)
		return -ERANGE;
	WRITE_ONCE(pmuctl_reserve_percpu, n);
	return 0;
}

static const struct kernel_param_ops reserve_ops = {
	.set = set_reserve,
	.get = param_get_uint,
};
module_param_cb(reserve_percpu, &reserve_ops, &pmuctl_reserve_percpu, 0644);
MODULE_PARM_DESC(reserve_percpu,
		 "General counters of each CPU that only events of CPUs may use (default 0)");

static unsigned int max_events_per_context = 512;
module_param(max_events_per_context, uint, 0644);
MODULE_PARM_DESC(max_events_per_context,
		 "Events that a task or a CPU may have, of those without CAP_PERFMON and CAP_SYS_RESOURCE (default 512)");

bool pmuctl_has_room(const struct pmuctl_context *ctx, const struct pmuctl_event *event)
{
	return event->unlimited || READ_ONCE(ctx->nr_events) + pmuctl_event_weight(event) <=
		READ_ONCE(max_events_per_context);
}

int pmuctl_refuse_number(const struct pmuctl_context *ctx, struct pmuctl_explanation *why)
{
	return pmuctl_refuse(why, EVENTS_CONTEXT, ctx->task ? "pid" : "cpu",
			     ctx->task ? "task" : "CPU", READ_ONCE(max_events_per_context),
			     PMUCTL_WEIGHT_CLOCK);
}

bool pmuctl_may_inherit(const struct pmuctl_context *ctx, const struct pmuctl_context *parent,
			const struct pmuctl_event *root)
{
	unsigned int max = max(READ_ONCE(max_events_per_context), parent->nr_events);

	lockdep_assert_held(&ctx->lock);
	lockdep_assert_held(&parent->lock);
	return root->unlimited || ctx->nr_events + pmuctl_event_weight(root) <= max;
}

/* The counters of a CPU with @caps that the events of a context may use */
static u64 usable_of(const struct pmuctl_context *ctx, const struct hwpmu_caps *caps)
{
	unsigned int general = caps->nr_general;
	unsigned int reserved = min(READ_ONCE(pmuctl_reserve_percpu), general);

	if (!ctx->task || !reserved)
		return ~0ULL;
	return ~GENMASK_ULL(general - 1, general - reserved);
}

u64 pmuctl_usable_beside_reserved(const struct pmuctl_context *ctx, int cpu)
{
	return usable_of(ctx, hwpmu_caps_of_cpu(cpu));
}

bool pmuctl_group_can_be_here(struct pmuctl_event *leader)
{
	struct pmuctl_event *event;

	for_each_group_member(event, leader)
		if (pmuctl_event_is_hw(event) && !event->state->counter.running &&
		    !hwpmu_allowed_here(&event->state->counter))
			return false;
	return true;
}

/**
 * struct counter_demand - events that want counters at the same time
 * @caps: on such a CPU.
 * @allowed: counters of each.
 * @n: how many; more than HWPMU_MAX_COUNTERS never fit.
 * @extra: other registers that they want.
 */
struct counter_demand {
	const struct hwpmu_caps *caps;
	u64 allowed[HWPMU_MAX_COUNTERS];
	unsigned int n;
	struct hwpmu_extra_demand extra;
};

/* Of nothing yet. It is large, and would be cleared for its first few words. */
static void demand_init(struct counter_demand *demand, const struct hwpmu_caps *caps)
{
	demand->caps = caps;
	demand->n = 0;
	memset(&demand->extra, 0, sizeof(demand->extra));
}

/* @hw: what the event is on this CPU */
static void demand_add(struct counter_demand *demand, const struct hwpmu_config *hw,
		       const struct pmuctl_context *ctx)
{
	if (demand->n < ARRAY_SIZE(demand->allowed))
		demand->allowed[demand->n] = hw->allowed & usable_of(ctx, demand->caps);
	demand->n++;
	hwpmu_extra_demand_add(&demand->extra, hw);
}

/* On a CPU of a type that does not have it, an event of a task needs no counter. */
static unsigned int demand_add_on(struct counter_demand *demand, const struct pmuctl_event *event,
				  const struct pmuctl_context *ctx, int cpu)
{
	const struct hwpmu_config *hw;

	if (!pmuctl_event_is_hw(event))
		return 0;
	hw = hwpmu_config_on_cpu(&event->own.counter, cpu);
	if (!hw->allowed)
		return 0;
	demand_add(demand, hw, ctx);
	return 1;
}

/* Add the events of a context that can run on @cpu. */
static unsigned int demand_add_context(struct counter_demand *demand,
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
		for_each_group_member(event, leader)
			n += demand_add_on(demand, event, ctx, cpu);
	}
	raw_spin_unlock_irqrestore(&ctx->lock, flags);
	return n;
}

/* Add the events of a group that want counters of a type of CPU. */
static void demand_add_group(struct counter_demand *demand, struct pmuctl_event *leader,
			     const struct pmuctl_context *ctx, unsigned int type)
{
	struct pmuctl_event *event;
	unsigned long flags;

	raw_spin_lock_irqsave(&leader->context->lock, flags);
	for_each_group_member(event, leader)
		if (pmuctl_event_is_hw(event))
			demand_add(demand, hwpmu_config_on_type(&event->own.counter, type), ctx);
	raw_spin_unlock_irqrestore(&leader->context->lock, flags);
}

/* If each may use as many counters as there are events, no order of them can fail. */
static bool each_has_enough(const struct counter_demand *demand)
{
	unsigned int i;

	for (i = 0; i < demand->n; i++)
		if (hweight64(demand->allowed[i] & demand->caps->counters) < demand->n)
			return false;
	return true;
}

static bool demand_fits(const struct counter_demand *demand)
{
	s8 index[HWPMU_MAX_COUNTERS];

	if (demand->n > ARRAY_SIZE(demand->allowed))
		return false;
	if (each_has_enough(demand))
		return true;
	memset(index, -1, sizeof(index));
	return hwpmu_assign(demand->allowed, demand->n, index);
}

/**
 * struct admission - the question: does @event fit on @cpu?
 * @event: the new one.
 * @ctx: whose it will be.
 * @cpu: where.
 * @of_task: events of a task that it met there last.
 * @of_cpu: events of the CPU that it met there last.
 * @extra: there are counters, but other registers are missing.
 */
struct admission {
	const struct pmuctl_event *event;
	struct pmuctl_context *ctx;
	int cpu;
	unsigned int of_task;
	unsigned int of_cpu;
	bool extra;
};

/* The events of one task, or none, with those of the CPU and the new one */
static bool fits_beside(struct admission *a, struct pmuctl_context *task)
{
	struct counter_demand demand pmuctl_uninitialized;

	demand_init(&demand, hwpmu_caps_of_cpu(a->cpu));
	a->of_cpu = demand_add_context(&demand, pmuctl_context_of_cpu(a->cpu),
				       a->cpu);
	a->of_task = task ? demand_add_context(&demand, task, a->cpu) : 0;
	demand_add_on(&demand, a->event, a->ctx, a->cpu);
	if (!demand_fits(&demand))
		return false;
	a->extra = !hwpmu_extra_demand_fits(&demand.extra);
	return !a->extra;
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

/* Which types of CPU may these events be on? Bit n stands for type n. */
static unsigned int types_of_target(const struct pmuctl_context *ctx,
				    const struct pmuctl_event *event)
{
	int cpu = ctx->task ? event->cpu : ctx->cpu;
	unsigned int type, types = 0;

	for (type = 0; type < hwpmu_nr_types(); type++)
		if (cpu < 0 || hwpmu_caps_of_cpu(cpu) == hwpmu_caps_of_type(type))
			types |= BIT(type);
	return types;
}

/* Those of @types that have the event */
static unsigned int types_of_event(const struct pmuctl_event *event, unsigned int types)
{
	unsigned int type;

	for (type = 0; pmuctl_event_is_hw(event) && type < hwpmu_nr_types(); type++)
		if (!hwpmu_config_on_type(&event->own.counter, type)->allowed)
			types &= ~BIT(type);
	return types;
}

/* Those of @types that have all events of a group */
static unsigned int types_of_group(struct pmuctl_event *leader, unsigned int types)
{
	struct pmuctl_event *event;
	unsigned long flags;

	raw_spin_lock_irqsave(&leader->context->lock, flags);
	for_each_group_member(event, leader)
		types = types_of_event(event, types);
	raw_spin_unlock_irqrestore(&leader->context->lock, flags);
	return types;
}

/* The new event, of hardware, with the group that it joins, on an empty PMU of a type */
static int admit_on_type(const struct pmuctl_context *ctx, const struct pmuctl_event *new,
			 unsigned int type, struct pmuctl_explanation *why)
{
	struct counter_demand demand pmuctl_uninitialized;

	demand_init(&demand, hwpmu_caps_of_type(type));
	if (new->leader != new)
		demand_add_group(&demand, new->leader, ctx, type);
	demand_add(&demand, hwpmu_config_on_type(&new->own.counter, type), ctx);
	if (!hwpmu_extra_demand_fits(&demand.extra))
		return pmuctl_refuse(why, GROUP_EXTRA, "attr.config1");
	if (demand.n == 1 ? demand.allowed[0] != 0 : demand_fits(&demand))
		return 0;
	if (demand.n == 1)
		return pmuctl_refuse(why, COUNTERS_RESERVED, "attr.config",
				     READ_ONCE(pmuctl_reserve_percpu));
	return pmuctl_refuse(why, GROUP_TOO_BIG, "group_fd", demand.n - 1,
			     demand.caps->nr_general, demand.caps->nr_fixed);
}

/* It must fit on each type of CPU that has all its events, and there must be one. */
static int admit_group(const struct pmuctl_context *ctx,
		       const struct pmuctl_event *new,
		       struct pmuctl_explanation *why)
{
	unsigned int type, types = types_of_target(ctx, new);
	int cpu = ctx->task ? new->cpu : ctx->cpu;
	int err = 0;

	if (!types && !cpu_online(cpu))
		return 0; /* it has never been */
	if (!types)
		return pmuctl_refuse(why, CPU_OF_NEW_TYPE, "cpu", cpu);
	types = types_of_event(new, types);
	if (!types)
		return pmuctl_refuse(why, EVENT_OTHER_CPUS, "cpu", cpu,
				     hwpmu_caps_of_cpu(cpu)->name);
	if (new->leader != new)
		types = types_of_group(new->leader, types);
	if (!types)
		return pmuctl_refuse(why, GROUP_OTHER_CPUS, "group_fd");
	for (type = 0; !err && type < hwpmu_nr_types(); type++)
		if (types & BIT(type))
			err = admit_on_type(ctx, new, type, why);
	return err;
}

int pmuctl_admit(struct pmuctl_context *ctx, const struct pmuctl_event *event,
		 struct pmuctl_explanation *why)
{
	struct admission a = { .event = event, .ctx = ctx };
	int err;

	lockdep_assert_held(&pmuctl_mutex);
	err = admit_group(ctx, event, why);
	if (err)
		return err;
	if (READ_ONCE(overcommit) || fits(&a))
		return 0;
	if (a.extra)
		return pmuctl_refuse(why, EXTRA_TAKEN, "attr.config1", a.of_task, a.of_cpu, a.cpu);
	return pmuctl_refuse(why, COUNTERS_TAKEN, "attr.config", a.of_task,
			     a.of_cpu, a.cpu, hwpmu_caps_of_cpu(a.cpu)->nr_general,
			     hwpmu_caps_of_cpu(a.cpu)->nr_fixed);
}

/* ---- Joining a group ---- */

int pmuctl_refuse_ended(struct task_struct *task, const struct pmuctl_event *leader,
			struct pmuctl_explanation *why)
{
	if (leader && !(READ_ONCE(task->flags) & PF_EXITING))
		return pmuctl_refuse(why, GROUP_ENDED, "group_fd");
	return pmuctl_refuse(why, TASK_EXITING, "pid", task_pid_vnr(task));
}

/**
 * struct group - what an exec of its task may change of a group at any time
 * @leads: the event is no sibling.
 * @ended: nothing may join it any more.
 * @members: how many there are.
 * @other_branches: one of them has other branches noted than the event.
 * @limit: how many there may be, with the event.
 */
struct group {
	bool leads;
	bool ended;
	bool other_branches;
	unsigned int members, limit;
};

/* The processor notes either, or none. */
static bool has_other_branches(const struct pmuctl_event *member, const struct pmuctl_event *event)
{
	const struct hwpmu_counter *a = &member->own.counter, *b = &event->own.counter;

	return a->lbr && b->lbr && a->lbr_select != b->lbr_select;
}

static bool tells_group(const struct pmuctl_event *event)
{
	return event->sampling && event->sampling->tells_group;
}

unsigned int pmuctl_group_limit(struct pmuctl_event *leader, const struct pmuctl_event *event)
{
	struct pmuctl_event *member;
	bool told = tells_group(event);

	for_each_group_member(member, leader)
		told |= tells_group(member);
	return told ? PMUCTL_GROUP_SAMPLED_MAX : PMUCTL_GROUP_MAX;
}

int pmuctl_refuse_long_group(unsigned int limit, struct pmuctl_explanation *why)
{
	return pmuctl_refuse(why, GROUP_LONG, "group_fd", limit,
			     limit < PMUCTL_GROUP_MAX ? " of which samples tell all values" : "");
}

static struct group look_at_group(struct pmuctl_event *leader, const struct pmuctl_event *event)
{
	struct group group = { .members = 0 };
	struct pmuctl_event *member;
	unsigned long flags;

	raw_spin_lock_irqsave(&leader->context->lock, flags);
	group.leads = leader->leader == leader;
	group.limit = pmuctl_group_limit(leader, event);
	group.ended = group.leads && !pmuctl_may_join(leader->context, leader);
	for_each_group_member(member, leader) {
		group.members++;
		group.other_branches |= has_other_branches(member, event);
	}
	raw_spin_unlock_irqrestore(&leader->context->lock, flags);
	return group;
}

/* The contexts of a task are several if an exec has ended one. */
static bool is_same_target(const struct pmuctl_context *a, const struct pmuctl_context *b)
{
	return a == b || (a->task && a->task == b->task);
}

int pmuctl_admit_to_group(const struct pmuctl_context *ctx, const struct pmuctl_event *event,
			  struct pmuctl_event *leader, struct pmuctl_explanation *why)
{
	struct group group = look_at_group(leader, event);

	if (!group.leads)
		return pmuctl_refuse(why, GROUP_NOT_LEADER, "group_fd");
	if (!is_same_target(leader->context, ctx) || leader->cgroup != event->cgroup)
		return pmuctl_refuse(why, GROUP_OTHER_TARGET, "group_fd");
	if (group.ended || leader->context != ctx)
		return pmuctl_refuse_ended(ctx->task, leader, why);
	if (leader->cpu != event->cpu)
		return pmuctl_refuse(why, GROUP_OTHER_CPU, "cpu", event->cpu,
				     leader->cpu);
	if (event->class == PMUCTL_PINNED)
		return pmuctl_refuse(why, SIBLING_FLAG, "attr.pinned", "pinned");
	if (event->exclusive)
		return pmuctl_refuse(why, SIBLING_FLAG, "attr.exclusive",
				     "exclusive");
	if (event->aux_action & (PMUCTL_AUX_PAUSE | PMUCTL_AUX_RESUME) && !leader->aux)
		return pmuctl_refuse(why, AUX_LEADER, "group_fd");
	if (group.members >= group.limit)
		return pmuctl_refuse_long_group(group.limit, why);
	if (group.other_branches)
		return pmuctl_refuse(why, GROUP_BRANCHES, "group_fd");
	return 0;
}
