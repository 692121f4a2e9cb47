// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clocks, cpu-clock and task-clock: their value is the time for which the event has been
 * running, so those of a task count its time on CPUs, those of a CPU all time. Samples
 * come from a timer, which runs while the event does.
 */
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include <asm/irq_regs.h>

#include "core/times.h"
#include "sample/sample.h"
#include "sample/sampling.h"
#include "soft/soft.h"

/* What a sample that has come since the times were brought up to date has told beyond them */
static u64 told_beyond(const struct pmuctl_count_state *state)
{
	s64 late = READ_ONCE(state->told) - state->stamp;

	return max(late, 0LL);
}

/* What an NMI tells is what the clock becomes, at least. */
static u64 read_clock(const struct pmuctl_event *event)
{
	struct pmuctl_count_state *state = event->state;

	if (likely(!in_nmi()))
		return pmuctl_times_now(state).running;
	if (READ_ONCE(event->sw.kept))
		return state->time_running + told_beyond(state);
	return pmuctl_times_tell(state).running;
}

static void start_timer(struct pmuctl_event *event)
{
	struct hwpmu_counter *c = &event->own.counter;

	if (c->stopped)
		return;
	if (c->left <= 0) /* it was over when the event was stopped */
		c->left = PMUCTL_CLOCK_PERIOD_MIN;
	hrtimer_start(&event->sampling->timer, ns_to_ktime(c->left),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void start_clock(struct pmuctl_event *event)
{
	if (event->sampling)
		start_timer(event);
}

/*
 * The times of its group have just been brought up to date, but an NMI may have told what it was
 * later, and another one may do so until it stands still.
 */
static void stop_at_told(struct pmuctl_event *event)
{
	struct pmuctl_count_state *state = event->state;
	u64 late;

	WRITE_ONCE(event->sw.kept, true);
	barrier(); /* no NMI adds to @told from now on */
	late = told_beyond(state);
	WRITE_ONCE(state->counter.count, state->time_running + late);
	barrier(); /* that is what they tell */
	WRITE_ONCE(state->counter.running, false);
	barrier(); /* and they look at nothing else now */
	state->time_enabled += late;
	state->time_running += late;
	state->stamp += late;
	WRITE_ONCE(event->sw.kept, false);
}

static void stop_clock(struct pmuctl_event *event)
{
	struct hrtimer *timer;

	stop_at_told(event);
	if (!event->sampling)
		return;
	timer = &event->sampling->timer;
	if (!hrtimer_active(timer))
		return;
	event->own.counter.left = ktime_to_ns(hrtimer_get_remaining(timer));
	/* It cannot be running: it is this CPU's, and IRQs are off. */
	hrtimer_try_to_cancel(timer);
}

static bool wants_sample(const struct pmuctl_event *event, struct pt_regs *regs)
{
	return regs && !pmuctl_soft_excludes(event, regs) &&
	       !(event->exclude_idle && is_idle_task(current));
}

static DEFINE_PER_CPU(unsigned long, last_tick);

/* All that are over in one jiffy are one hit: there may be one interrupt right after the other. */
static void begin_hit(void)
{
	unsigned long now = READ_ONCE(jiffies);

	if (this_cpu_read(last_tick) == now)
		return;
	this_cpu_write(last_tick, now);
	pmuctl_sample_begin_hit();
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct pmuctl_sampling *s =
		container_of(timer, struct pmuctl_sampling, timer);
	struct hwpmu_counter *c = &s->event->own.counter;
	struct pt_regs *regs = get_irq_regs();
	unsigned int level;

	if (!c->running)
		return HRTIMER_NORESTART;
	if (wants_sample(s->event, regs) && pmuctl_soft_enter(&level)) {
		begin_hit();
		if (!pmuctl_overflow(c, regs))
			c->stopped = true;
		pmuctl_soft_exit_level(level);
	}
	c->left = c->period;
	if (c->stopped)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(c->period));
	return HRTIMER_RESTART;
}

static void init_timer(struct pmuctl_event *event)
{
	struct hrtimer *timer = &event->sampling->timer;

	hrtimer_setup(timer, tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
}

static void set_period(struct pmuctl_event *event, u64 period)
{
	pmuctl_soft_set_period(event, max_t(u64, period, PMUCTL_CLOCK_PERIOD_MIN));
	if (event->own.counter.running)
		start_clock(event); /* from now on */
}

static void resume(struct pmuctl_event *event)
{
	pmuctl_soft_resume(event);
	if (event->own.counter.running)
		start_clock(event);
}

const struct pmuctl_event_ops pmuctl_soft_clock_ops = {
	.weight = PMUCTL_WEIGHT_CLOCK,
	.start = start_clock,
	.stop = stop_clock,
	.read = read_clock,
	.init_timer = init_timer,
	.set_period = set_period,
	.resume = resume,
	.left = pmuctl_soft_left,
};
