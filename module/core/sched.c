// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which groups are on the PMU of a CPU, and when.
 *
 * Pinned groups come first, the CPU's before the task's, whichever was there first: they take
 * counters away from flexible ones, the CPU's from the task's pinned ones too, and if that does
 * not help they are in error. Flexible groups are put on in the order of their lists as long as
 * counters last, a group as a whole or not at all. While one of them has to wait a timer rotates:
 * those that ran go to the end of their list, so that those that waited are the first to choose,
 * and the CPU's groups and the task's choose first in turn. A task whose time is over before the
 * timer comes rotates when it is switched out.
 *
 * A group that is on the PMU and can stay there is not touched.
 */
#include <linux/module.h>
#include <linux/sched/clock.h>

#include "core/admission.h"
#include "core/cgroup.h"
#include "core/cpu_state.h"
#include "core/rdpmc.h"
#include "core/rotation.h"
#include "core/sampling_state.h"
#include "core/sched.h"
#include "core/times.h"

void pmuctl_sched_account(struct pmuctl_event *leader)
{
	struct pmuctl_event *event;
	u64 now = sched_clock();

	for_each_group_member(event, leader)
		pmuctl_times_account(event->state, now);
}

/**
 * struct runner - who runs on this CPU, as far as it matters to its events
 * @idle: its idle task.
 * @cgroup: a task of this one; NULL if nobody asks.
 */
struct runner {
	bool idle;
	const struct cgroup_subsys_state *cgroup;
};

static struct runner runner_of(const struct pmuctl_cpuctx *pc, const struct task_struct *task)
{
	return (struct runner){
		.idle = is_idle_task(task),
		.cgroup = pc->context.nr_cgroup ? pmuctl_cgroup_of(task) : NULL,
	};
}

/* ---- One group ---- */

static bool may_count(const struct pmuctl_event *event, const struct runner *runner)
{
	return event->enabled && !(runner->idle && event->exclude_idle) &&
		(!event->cgroup || pmuctl_cgroup_has(event->cgroup, runner->cgroup));
}

/* May it count, as far as it is concerned itself? */
static bool is_eligible(struct pmuctl_event *event, const struct runner *runner)
{
	if (event->sampling)
		pmuctl_sampling_expire(event);
	return may_count(event, runner);
}

/*
 * Bring times up to date, and who may count. Returns true if what is on the PMU is what
 * should be, if the group is on at all.
 */
static bool update_group(struct pmuctl_event *leader, const struct runner *runner, u64 now)
{
	struct pmuctl_count_state *state = leader->state;
	bool on = state->counter.running;
	struct pmuctl_event *event;
	bool may, right;

	may = is_eligible(leader, runner) && !leader->error;
	pmuctl_times_account(state, now);
	state->eligible = may;
	right = may || !on;
	for (event = pmuctl_group_next(leader); event;
	     event = pmuctl_group_next(event)) {
		state = event->state;
		pmuctl_times_account(state, now);
		state->eligible = is_eligible(event, runner) && may;
		if (state->counter.running != (on && state->eligible))
			right = false;
	}
	return right;
}

static void clear_eligible(struct pmuctl_event *event)
{
	for (; event; event = pmuctl_group_next(event))
		event->state->eligible = false;
}

static void leave_pmu(struct pmuctl_cpuctx *pc, struct pmuctl_count_state *leader)
{
	if (!leader->on_pmu)
		return;
	leader->on_pmu = false;
	if (!--pc->nr_groups)
		pc->exclusive = false;
}

static void stop_batch(struct pmuctl_cpuctx *pc, unsigned int n)
{
	hwpmu_stop(pc->batch, n);
	if (READ_ONCE(pmuctl_times_asked))
		pmuctl_times_add_told(pc->batch, n);
}

static unsigned int add_one(struct pmuctl_cpuctx *pc, unsigned int n, struct pmuctl_event *event)
{
	if (!event->state->counter.running)
		return n;
	if (pmuctl_event_is_hw(event)) {
		pc->batch[n++] = &event->state->counter;
		return n;
	}
	event->ops->stop(event);
	event->own.counter.running = false;
	return n;
}

/* Add a group's counters to the batch that is to be stopped; software events stop now. */
static unsigned int add_running(struct pmuctl_cpuctx *pc, unsigned int n,
				struct pmuctl_event *leader)
{
	struct pmuctl_event *event;

	if (!leader->state->counter.running)
		return n;
	for_each_group_member(event, leader)
		n = add_one(pc, n, event);
	leave_pmu(pc, leader->state);
	return n;
}

void pmuctl_sched_stop(struct pmuctl_cpuctx *pc, struct pmuctl_event *event)
{
	unsigned int n = 1;

	pmuctl_sched_account(event->leader);
	if (event->leader == event)
		n = add_running(pc, 0, event);
	else
		n = add_one(pc, 0, event);
	stop_batch(pc, n);
}

/* Those of a group, whose others are on the PMU */
static noinline void start_soft(struct pmuctl_cpuctx *pc, struct pmuctl_event *leader)
{
	struct pmuctl_event *event;

	for_each_group_member(event, leader) {
		if (pmuctl_event_is_hw(event) || !event->own.eligible || event->own.counter.running)
			continue;
		if (event->sampling)
			pmuctl_sampling_start(pc, event);
		event->ops->start(event);
		event->own.counter.running = true;
	}
}

/* From its first counter on a group is one of those that are on the PMU. */
static bool group_can_go_on(const struct pmuctl_cpuctx *pc, const struct pmuctl_event *leader)
{
	return leader->state->on_pmu ||
	       !(pc->exclusive || (leader->exclusive && pc->nr_groups));
}

/*
 * Put on the PMU those of a group that may count and are not there: all, or none of them.
 * A group of nothing but software events always can.
 */
static bool group_sched_in(struct pmuctl_cpuctx *pc, struct pmuctl_event *leader)
{
	u64 usable = pmuctl_usable_counters(leader->context, pc->context.cpu);
	struct pmuctl_event *event;
	bool soft = false, traces = false;
	unsigned int n = 0;

	/* It is neither waiting nor in error: its time runs, and it does not. */
	if (leader->cpu >= 0 && leader->cpu != pc->context.cpu)
		return true;
	if (static_branch_unlikely(&hwpmu_is_hybrid) && !pmuctl_group_can_be_here(leader))
		return true;
	for_each_group_member(event, leader) {
		struct pmuctl_count_state *state = event->state;

		if (!state->eligible || state->counter.running)
			continue;
		if (!pmuctl_event_is_hw(event)) {
			soft = true;
			traces |= event->ops->needs_pmu;
			continue;
		}
		if (n == ARRAY_SIZE(pc->batch))
			return false;
		state->counter.usable = hwpmu_allowed_here(&state->counter) & usable;
		if (pc->full && !(state->counter.usable & ~pc->full))
			return false;
		if (event->sampling)
			pmuctl_sampling_start(pc, event);
		pc->batch[n++] = &state->counter;
	}
	if (n && !group_can_go_on(pc, leader))
		return false;
	if (n ? hwpmu_start(pc->batch, n) : !traces || hwpmu_may_start()) {
		if (n && !leader->state->on_pmu) {
			leader->state->on_pmu = true;
			pc->nr_groups++;
			pc->exclusive = leader->exclusive;
		}
		if (soft)
			start_soft(pc, leader);
		return true;
	}
	/* As above; but what is pinned was to count all the time. */
	if (!hwpmu_may_start())
		return leader->class != PMUCTL_PINNED;
	/* All counters that it could get by moving others are taken. */
	if (n == 1)
		pc->full |= pc->batch[0]->usable;
	return false;
}

/* ---- All groups of a CPU ---- */

/* Take off what may not be on, and bring all times up to date. */
static void sched_out_ineligible(struct pmuctl_cpuctx *pc, struct pmuctl_context *ctx,
				 const struct runner *runner, u64 now)
{
	struct pmuctl_event *leader;
	enum pmuctl_class class;
	unsigned int n = 0;

	for_each_group(leader, class, ctx)
		if (!update_group(leader, runner, now))
			n = add_running(pc, n, leader);
	if (n)
		stop_batch(pc, n);
}

static void stop_class(struct pmuctl_cpuctx *pc, struct pmuctl_context *ctx,
		       enum pmuctl_class class)
{
	struct pmuctl_event *leader;
	unsigned int n = 0;

	list_for_each_entry(leader, &ctx->groups[class], node)
		if (!pmuctl_group_is_soft(leader))
			n = add_running(pc, n, leader);
	stop_batch(pc, n);
}

static void stop_all_flexible(struct pmuctl_cpuctx *pc)
{
	stop_class(pc, &pc->context, PMUCTL_FLEXIBLE);
	if (pc->task_context)
		stop_class(pc, pc->task_context, PMUCTL_FLEXIBLE);
}

static void set_error(struct pmuctl_event *leader)
{
	leader->error = true;
	leader->context->clone_id = 0;
	clear_eligible(leader);
}

/* Who is off already for pinned groups that found no place, in this round of choosing */
enum stopped { NOBODY, FLEXIBLE, TASKS_PINNED };

/*
 * Take off who stands back for a pinned group, the task's pinned ones too if it is the CPU's: they
 * choose after that. Each once in a round: there may be many pinned ones that find nothing. Returns
 * false if there is nobody more.
 */
static bool make_room(struct pmuctl_cpuctx *pc, const struct pmuctl_context *ctx,
		      enum stopped *stopped)
{
	if (*stopped == NOBODY)
		stop_all_flexible(pc);
	else if (*stopped == FLEXIBLE && ctx == &pc->context && pc->task_context)
		stop_class(pc, pc->task_context, PMUCTL_PINNED);
	else
		return false;
	(*stopped)++;
	pc->full = 0;
	return true;
}

static void start_pinned(struct pmuctl_cpuctx *pc, struct pmuctl_context *ctx,
			 enum stopped *stopped)
{
	struct pmuctl_event *leader;
	bool on;

	list_for_each_entry(leader, &ctx->groups[PMUCTL_PINNED], node) {
		if (!leader->state->eligible || leader->state->counter.running)
			continue;
		do {
			on = group_sched_in(pc, leader);
		} while (!on && make_room(pc, ctx, stopped));
		if (!on)
			set_error(leader);
	}
}

/* Returns whether any had to wait. */
static bool start_flexible(struct pmuctl_cpuctx *pc, struct pmuctl_context *ctx)
{
	struct pmuctl_event *leader;
	bool waiting = false;

	list_for_each_entry(leader, &ctx->groups[PMUCTL_FLEXIBLE], node)
		if (leader->state->eligible && !leader->state->counter.running &&
		    !group_sched_in(pc, leader))
			waiting = true;
	pc->rotate_necessary |= waiting;
	return waiting;
}

/* In the order of whose turn it is. Returns whether any had to wait whose turn it is. */
static bool start_all_flexible(struct pmuctl_cpuctx *pc)
{
	struct pmuctl_context *of_task = pc->task_context;
	bool waiting = false;

	if (of_task && of_task->goes_first)
		waiting = start_flexible(pc, of_task);
	if (pmuctl_context_has_groups(&pc->context))
		start_flexible(pc, &pc->context);
	if (of_task && !of_task->goes_first)
		start_flexible(pc, of_task);
	return waiting;
}

/* Tell user space what is on which counter now; events of CPUs have no such pages. */
static void write_pages(struct pmuctl_cpuctx *pc)
{
	if (pc->task_context && pc->task_context->nr_user_pages)
		pmuctl_userpage_write_all(pc->task_context);
}

/* Why it is time to ctx_resched */
enum sched_reason {
	CHANGE,		/* some state has changed */
	LOAD,		/* the task's context has just been loaded */
	ROTATE,		/* those that run have had their time */
};

/* It may come early, but is not put off: switches can be closer together than it can be set. */
static void start_timer(struct pmuctl_cpuctx *pc, u64 now)
{
	ktime_t left = pmuctl_rotation_left(pc, now);

	if (!hrtimer_active(&pc->timer) || left < hrtimer_get_remaining(&pc->timer))
		hrtimer_start(&pc->timer, left, HRTIMER_MODE_REL_PINNED_HARD);
}

/* All of it happens at one instant. */
static void ctx_resched(struct pmuctl_cpuctx *pc, const struct task_struct *task,
			enum sched_reason why, u64 now)
{
	struct pmuctl_context *of_task = pc->task_context;
	bool of_cpu = pmuctl_context_has_groups(&pc->context);
	const struct runner runner = runner_of(pc, task);
	enum stopped stopped = NOBODY;
	bool waited = pc->rotate_necessary, in_order = why == ROTATE, redo;

	lockdep_assert_held(&pc->context.lock);
	pc->rotate_necessary = false;
	if (pc->context.loaded_cpu < 0)
		return; /* the CPU goes offline, its PMU is not ours any more */

	pc->cgroup = runner.cgroup;
	if (of_cpu)
		sched_out_ineligible(pc, &pc->context, &runner, now);
	if (of_task)
		sched_out_ineligible(pc, of_task, &runner, now);
	if (why == ROTATE) {
		pmuctl_rotate(pc, now);
		stop_all_flexible(pc);
	} else if (why == LOAD && of_task->goes_first && of_task->rotate_necessary) {
		stop_class(pc, &pc->context, PMUCTL_FLEXIBLE);
		in_order = true;
	}
	pc->full = 0;

	if (of_cpu)
		start_pinned(pc, &pc->context, &stopped);
	if (of_task)
		start_pinned(pc, of_task, &stopped);
	redo = start_all_flexible(pc) ||
	       (why == CHANGE && pc->rotate_necessary && !waited);
	if (unlikely(redo && !in_order)) {
		/* Those that were on are not those whose turn it is. */
		stop_all_flexible(pc);
		pc->full = 0;
		pc->rotate_necessary = false;
		start_all_flexible(pc);
	}
	hwpmu_commit();
	if (waited || pc->rotate_necessary)
		pmuctl_rotation_note(pc, waited, why == LOAD, now);
	else if (of_task)
		of_task->rotate_necessary = false;

	write_pages(pc);
	if (pc->ticking && !hrtimer_active(&pc->tick))
		pmuctl_sched_start_ticking(pc);
	if (pc->rotate_necessary)
		start_timer(pc, now);
}

void pmuctl_sched(struct pmuctl_cpuctx *pc, const struct task_struct *task)
{
	ctx_resched(pc, task, CHANGE, sched_clock());
}

static void stop_all(struct pmuctl_cpuctx *pc, struct pmuctl_context *ctx)
{
	struct pmuctl_event *leader;
	enum pmuctl_class class;
	unsigned int n = 0;

	for_each_group(leader, class, ctx) {
		if (!pmuctl_group_needs_pmu(leader))
			continue;
		pmuctl_sched_account(leader);
		n = add_running(pc, n, leader);
	}
	stop_batch(pc, n);
}

void pmuctl_sched_stopped(void)
{
	struct pmuctl_cpuctx *pc = pmuctl_cpu_of(smp_processor_id());

	pmuctl_cpu_lock(pc);
	stop_all(pc, &pc->context);
	if (pc->task_context)
		stop_all(pc, pc->task_context);
	ctx_resched(pc, current, CHANGE, sched_clock());
	pmuctl_cpu_unlock(pc);
}

void pmuctl_sched_in(struct pmuctl_cpuctx *pc, const struct task_struct *task)
{
	ctx_resched(pc, task, pc->task_context ? LOAD : CHANGE, sched_clock());
}

/*
 * Of a group that is on take off, and put on, those members that are not as they should be;
 * the others go on. Returns false if one finds no counter: then the group is off.
 */
static bool group_resched(struct pmuctl_cpuctx *pc, struct pmuctl_event *leader)
{
	struct pmuctl_event *event;
	unsigned int n = 0;

	for_each_group_member(event, leader)
		if (!event->state->eligible)
			n = add_one(pc, n, event);
	stop_batch(pc, n);
	if (group_sched_in(pc, leader))
		return true;
	stop_batch(pc, add_running(pc, 0, leader));
	return false;
}

bool pmuctl_sched_group(struct pmuctl_cpuctx *pc, struct pmuctl_event *leader)
{
	const struct runner runner = runner_of(pc, current);

	if (pc->rotate_necessary || pc->context.loaded_cpu < 0 || runner.cgroup != pc->cgroup)
		return false;

	pc->full = 0;
	if (!update_group(leader, &runner, sched_clock()) &&
	    !(leader->state->eligible && group_resched(pc, leader)))
		stop_batch(pc, add_running(pc, 0, leader));
	if (leader->state->eligible && !leader->state->counter.running &&
	    !group_sched_in(pc, leader)) {
		clear_eligible(leader); /* its time begins when it is chosen */
		return false;
	}
	hwpmu_commit();
	write_pages(pc);
	if (pc->ticking && !hrtimer_active(&pc->tick))
		pmuctl_sched_start_ticking(pc);
	return true;
}

/* As add_running(), and nothing of it may count; one pass, as switches need it. */
static unsigned int unload_group(struct pmuctl_cpuctx *pc, unsigned int n,
				 struct pmuctl_event *leader, u64 now)
{
	struct pmuctl_event *event;

	for_each_group_member(event, leader) {
		struct pmuctl_count_state *state = event->state;

		pmuctl_times_account(state, now);
		state->eligible = false;
		n = add_one(pc, n, event);
	}
	leave_pmu(pc, leader->state);
	return n;
}

void pmuctl_sched_out(struct pmuctl_cpuctx *pc, struct pmuctl_context *ctx)
{
	struct pmuctl_event *leader;
	u64 now = sched_clock();
	enum pmuctl_class class;
	unsigned int n = 0;

	lockdep_assert_held(&ctx->lock);
	if (pc->rotate_necessary)
		pmuctl_rotation_pause(pc, ctx, now);
	for_each_group(leader, class, ctx)
		n = unload_group(pc, n, leader, now);
	if (n)
		stop_batch(pc, n);
	if (ctx->nr_user_pages)
		pmuctl_userpage_write_all(ctx);
}

/* ---- Rotation ---- */

static enum hrtimer_restart rotate(struct hrtimer *timer)
{
	struct pmuctl_cpuctx *pc = container_of(timer, struct pmuctl_cpuctx, timer);
	ktime_t left;
	u64 now;

	/* The timers of a CPU that went offline come to another one. */
	if (pc->context.cpu != smp_processor_id())
		return HRTIMER_NORESTART;

	pmuctl_cpu_lock(pc);
	now = sched_clock();
	if (pc->rotate_necessary && pmuctl_rotation_is_due(pc, now))
		ctx_resched(pc, current, ROTATE, now);
	left = pmuctl_rotation_left(pc, now);
	pmuctl_cpu_unlock(pc);

	if (!pc->rotate_necessary)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, left);
	return HRTIMER_RESTART;
}

void pmuctl_sched_init(struct pmuctl_cpuctx *pc)
{
	raw_spin_lock_init(&pc->no_task_lock);
	hrtimer_setup(&pc->timer, rotate, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	pmuctl_tick_init(pc);
}
