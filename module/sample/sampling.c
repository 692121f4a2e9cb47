// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sampling: what happens when a counter's period is over, and how long the next one is. An
 * event of a frequency has the period that would have given that frequency lately; too
 * many samples in a tick stop it until the next one; a limit (PERF_EVENT_IOC_REFRESH) ends
 * it. A timer runs only while one of these needs it.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <asm/tsc.h>

#include "core/context.h"
#include "core/cpu_state.h"
#include "core/sched.h"
#include "core/times.h"
#include "sample/output.h"
#include "sample/sample.h"
#include "sample/sampling.h"

/* Far from where computing with it overflows, and what no counter reaches in an hour */
#define PERIOD_MAX	BIT_ULL(47)
/* Less than this says nothing about a rate. */
#define MEASURE_NS_MIN	1000
#define MEASURE_NS_MAX	(1000ULL * NSEC_PER_SEC)
/* Of a rate: periods after which the weight of one has fallen to about a third */
#define MEMORY		8

/*
 * The same of how long a sample takes; how many times that is what somebody else did; and how much
 * of that is forgiven, as shares of what samples may take in a jiffy: each jiffy, and at once
 */
#define TIME_MEMORY	32
#define TIME_UNUSUAL	4
#define FORGIVEN(allowed)	((allowed) / 4)
#define FORGIVEN_MAX(allowed)	(16 * (allowed))

/* No CPU gets further than this, and computing with it does not overflow. */
#define RATE_MAX	10000000U

static unsigned int max_sample_rate = 100000;
module_param(max_sample_rate, uint, 0644);
MODULE_PARM_DESC(max_sample_rate,
		 "Samples a second and event above which it is throttled, and highest frequency (default 100000, at most 10000000)");

static unsigned int cpu_time_max_percent = 25;
module_param(cpu_time_max_percent, uint, 0644);
MODULE_PARM_DESC(cpu_time_max_percent,
		 "Share of a CPU's time that samples of its counters may take; more are throttled (default 25; 0: no limit)");

/**
 * struct sampling_time - what the samples of a CPU's counters take, in cycles of the TSC
 * @window: the jiffy that
 * @taken: is of.
 * @usual: one sample, of late.
 * @forgiven: how much of what is not usual may still be.
 */
struct sampling_time {
	unsigned long window;
	u64 taken;
	u64 usual;
	u64 forgiven;
};

static DEFINE_PER_CPU(struct sampling_time, sampling_time);

static unsigned int rate_limit(void)
{
	return clamp(READ_ONCE(max_sample_rate), 1U, RATE_MAX);
}

static unsigned int samples_per_tick(void)
{
	return DIV_ROUND_UP(rate_limit(), HZ);
}

/* ---- Frequency ---- */

/**
 * struct instant - when something is looked at, in ns
 * @ran: how long the event has run.
 * @awake: how long its CPU was looked at: pmuctl_awake_at().
 */
struct instant {
	u64 ran;
	u64 awake;
};

/* Owner CPU, also in an NMI */
static struct instant now_of(const struct pmuctl_event *event)
{
	const struct pmuctl_times times = pmuctl_times_now(&event->own);

	return (struct instant){
		.ran = times.running,
		.awake = pmuctl_awake_at(this_cpu_ptr(pmuctl_cpus), times.stamp),
	};
}

/* The last overflow or tick. If an NMI comes in between, the newer one gives the time. */
static struct instant last_of(const struct pmuctl_sampling *s)
{
	return (struct instant){ .ran = READ_ONCE(s->ran), .awake = READ_ONCE(s->awake) };
}

/* The same of what it leaves. */
static void begin_at(struct pmuctl_sampling *s, struct instant at)
{
	WRITE_ONCE(s->ran, at.ran);
	WRITE_ONCE(s->awake, at.awake);
}

/* The period with which @events in @ns would have been right */
static u64 right_period(u64 freq, u64 events, u64 ns)
{
	u64 samples;

	ns = clamp_t(u64, ns, MEASURE_NS_MIN, MEASURE_NS_MAX);
	samples = freq * ns; /* times 10^-9 */
	if (events >> 33 >= samples)
		return PERIOD_MAX; /* nothing is as fast; the quotient must fit */
	return clamp_t(u64, mul_u64_u64_div_u64(events, NSEC_PER_SEC, samples),
		       1, PERIOD_MAX);
}

/*
 * With which period a frequency begins: short enough for a rate that is low for its kind, and far
 * from one overflow after the other. As in the kernel's driver, the rates are those of a CPU of
 * 1 GHz that is busy half of the time; where nothing is known, one of a rare event.
 */
static u64 first_period(const struct perf_event_attr *attr)
{
	u64 rate = 256000;

	if (attr->type == PERF_TYPE_HARDWARE) {
		switch ((u32)attr->config) {
		case PERF_COUNT_HW_CPU_CYCLES:
		case PERF_COUNT_HW_INSTRUCTIONS:
		case PERF_COUNT_HW_BUS_CYCLES:
		case PERF_COUNT_HW_REF_CPU_CYCLES:
			rate = NSEC_PER_SEC / 2;
			break;
		case PERF_COUNT_HW_BRANCH_INSTRUCTIONS:
			rate = NSEC_PER_SEC / 12;
			break;
		}
	}
	return DIV_ROUND_UP_ULL(rate, attr->sample_freq);
}

/* From one overflow, or from one tick, to the next while something is counted */
static u64 longest_interval(const struct pmuctl_sampling *s)
{
	return max_t(u64, PMUCTL_TICK_NS, NSEC_PER_SEC / s->freq);
}

/*
 * The time in which something may have been counted: a task does not run while its CPU is idle,
 * nor does an event of a CPU that must wait for a counter. Of what is no longer than is asked for
 * nothing is left out: interrupts of an idle CPU may have been all. An overflow while it was being
 * stopped may have been later than the end of its time.
 */
static u64 ns_between(const struct pmuctl_event *event, struct instant last, struct instant now)
{
	u64 ran = max_t(s64, now.ran - last.ran, 0);

	if (event->context->task || ran <= 2 * longest_interval(event->sampling))
		return ran;
	return min_t(u64, ran, max_t(s64, now.awake - last.awake, 0));
}

/* Its CPU is idle, and has no tick. */
static bool is_asleep(const struct pmuctl_event *event)
{
	return !event->context->task &&
	       this_cpu_read(pmuctl_cpus->asleep) & PMUCTL_ASLEEP;
}

/*
 * And that is still so: a tick would end at once, and what it counts might be what the next
 * overflow is of, and the next tick.
 */
static bool is_sleeping(const struct pmuctl_event *event)
{
	return is_asleep(event) && is_idle_task(current);
}

/*
 * What has been counted in which time is known of all periods, the older the less they
 * weigh. Of single ones the mean of the rates would be too high.
 */
static void adjust_period(struct pmuctl_event *event)
{
	struct pmuctl_sampling *s = event->sampling;
	struct hwpmu_counter *c = &event->own.counter;
	const struct instant last = last_of(s), now = now_of(event);
	u64 ns = ns_between(event, last, now);

	begin_at(s, now);
	if (unlikely(is_asleep(event)) &&
	    (s64)(now.ran - last.ran) > (s64)(2 * longest_interval(s)))
		return; /* an interrupt's; the time stands still */
	WRITE_ONCE(s->events, s->events + c->period - s->events / MEMORY);
	WRITE_ONCE(s->ns, s->ns + ns - s->ns / MEMORY);
	WRITE_ONCE(c->period, right_period(s->freq, s->events, s->ns));
}

/*
 * At a tick: there may have been no overflow since the last one. If nothing was counted at
 * all, that time does not matter; if little was, the period is too long. By half at a time, so
 * that what pauses now and then is not sampled much more often in between. An overflow in the
 * midst of it makes one period a wrong guess, at most.
 */
static void shorten_period(struct pmuctl_event *event)
{
	struct pmuctl_sampling *s = event->sampling;
	struct hwpmu_counter *c = &event->own.counter;
	const struct instant last = last_of(s), now = now_of(event); /* in this order */
	u64 period = READ_ONCE(c->period), ns = ns_between(event, last, now);
	s64 left = event->ops->left(event), events = period - left;

	if (left == s->left) {
		u64 nothing = min(ns, PMUCTL_TICK_NS);

		cmpxchg_local(&s->ran, last.ran, last.ran + nothing);
		cmpxchg_local(&s->awake, last.awake, last.awake + nothing);
		ns -= nothing;
	}
	s->left = left;
	if (ns < 2 * longest_interval(s))
		return;
	if (right_period(s->freq, max(events, 0LL), ns) >= period / 2)
		return;
	WRITE_ONCE(s->events, READ_ONCE(s->events) / 2);
	event->ops->set_period(event, period / 2);
	begin_at(s, now);
}

/* ---- Overflow; NMI ---- */

static void put_throttle(struct pmuctl_event *event, u32 type)
{
	struct {
		struct perf_event_header header;
		u64 time;
		u64 id;
		u64 stream_id;
	} record = {
		.header.type = type,
		.time = event->output->clock(),
		.id = event->output->id,
		.stream_id = event->stream_id,
	};

	pmuctl_record_put(event, &record.header, sizeof(record), pmuctl_event_task(event));
}

/* Returns true if it has to pause now. */
static bool is_too_often(struct pmuctl_sampling *s)
{
	unsigned long now = READ_ONCE(jiffies);

	if (s->window != now) {
		s->window = now;
		s->in_window = 0;
		s->allowed = samples_per_tick();
	}
	return ++s->in_window > s->allowed;
}

/*
 * What of a sample is its own: one that takes many times what is usual was interrupted, by a
 * hypervisor or the firmware. That cannot be told from one that is dear, among many that are not,
 * so there is a limit to it.
 */
static u64 own_time(struct sampling_time *time, u64 took)
{
	u64 usual = TIME_UNUSUAL * time->usual, not_its_own = 0;

	time->usual += took / TIME_MEMORY - time->usual / TIME_MEMORY;
	if (took > usual)
		not_its_own = min(took - usual, time->forgiven);
	time->forgiven -= not_its_own;
	return took - not_its_own;
}

/*
 * The same for all events of the CPU together, by the time that this sample and those before
 * it took: with a period of a few instructions of the kernel, or where an NMI is dear, nothing
 * else would get on. A tick that comes late for it finds another jiffy.
 */
static bool takes_too_long(u64 began)
{
	struct sampling_time *time = this_cpu_ptr(&sampling_time);
	unsigned int percent = READ_ONCE(cpu_time_max_percent);
	/* kHz times 1000 / HZ is a jiffy, and a hundredth of that a percent. */
	u64 allowed = 10ULL * tsc_khz / HZ * percent;
	unsigned long now = READ_ONCE(jiffies);

	if (time->window != now) {
		time->forgiven += FORGIVEN(allowed) * min(now - time->window, 100UL);
		time->forgiven = min(time->forgiven, FORGIVEN_MAX(allowed));
		time->window = now;
		time->taken = 0;
	}
	time->taken += own_time(time, rdtsc() - began);
	return percent && time->taken > allowed;
}

/* The last one that REFRESH allowed? */
static bool is_last(struct pmuctl_output *output)
{
	return atomic_read(&output->limit) &&
		atomic_dec_and_test(&output->limit);
}

/* It is another module's: no sample is written, but that module is told. */
static noinline void call_handler(struct pmuctl_sampling *s,
				  struct pt_regs *regs, u64 period)
{
	if (s->handler->call(s->handler, regs, period))
		return;
	s->expired = true;
	irq_work_queue(&s->work);
}

/* The trace of its group's leader is paused or resumed, if that is its @action. */
static noinline void act_on_trace(const struct pmuctl_event *event, u8 action)
{
	struct pmuctl_event *leader = event->leader;

	if (event->aux_action & action && leader->ops->pause)
		leader->ops->pause(leader, action == PMUCTL_AUX_PAUSE);
}

/* What PERF_SAMPLE_PERIOD tells: what has been counted since the last one, or would have been */
static u64 told_period(const struct pmuctl_sampling *s, const struct hwpmu_counter *counter)
{
	if (s->data && unlikely(s->data->weight) && !s->freq)
		return s->data->weight;
	return counter->period;
}

bool pmuctl_overflow(struct hwpmu_counter *counter, struct pt_regs *regs)
{
	struct pmuctl_event *event =
		container_of(counter, struct pmuctl_event, own.counter);
	struct pmuctl_sampling *s = event->sampling;
	u64 period = told_period(s, counter), began = pmuctl_event_is_hw(event) ? rdtsc() : 0;
	bool much;

	if (s->freq) {
		adjust_period(event);
		if (unlikely(!pmuctl_sched_is_ticking()) && !is_sleeping(event))
			irq_work_queue(&s->work);
	}
	/* The sample is not in the trace of one that pauses, nor of one that resumes. */
	if (unlikely(event->aux_action))
		act_on_trace(event, PMUCTL_AUX_PAUSE);
	if (unlikely(s->handler))
		call_handler(s, regs, period);
	else
		pmuctl_sample_put(event, regs, period);
	if (unlikely(event->aux_action))
		act_on_trace(event, PMUCTL_AUX_RESUME);
	much = is_too_often(s);
	if (pmuctl_event_is_hw(event))
		much |= takes_too_long(began);
	if (unlikely(much) && !s->throttled) {
		s->throttled = true;
		this_cpu_inc(pmuctl_output_stats.throttles);
		put_throttle(event, PERF_RECORD_THROTTLE);
		irq_work_queue(&s->work);
	}
	if (unlikely(is_last(event->output))) {
		s->expired = true;
		WRITE_ONCE(event->output->hang_up, true);
		pmuctl_output_wake(event->output);
		irq_work_queue(&s->work);
	} else if (READ_ONCE(event->output->fasync)) {
		pmuctl_output_wake(event->output); /* a signal for each */
	}
	return !s->throttled && !s->expired;
}

/* After an overflow that had a consequence; hard IRQ on the CPU of the overflow */
static void sampling_work(struct irq_work *work)
{
	struct pmuctl_sampling *s =
		container_of(work, struct pmuctl_sampling, work);

	if (READ_ONCE(s->expired))
		pmuctl_context_resched_here(s->event->context);
	if (READ_ONCE(s->throttled) || READ_ONCE(s->freq))
		pmuctl_sched_start_ticking(pmuctl_cpu_of(smp_processor_id()));
}

/* ---- The tick; IRQs off, contexts locked ---- */

static void unthrottle(struct pmuctl_event *event)
{
	struct pmuctl_sampling *s = event->sampling;

	s->throttled = false;
	begin_at(s, now_of(event));
	put_throttle(event, PERF_RECORD_UNTHROTTLE);
	if (!s->expired)
		event->ops->resume(event);
}

void pmuctl_sampling_go_on(struct pmuctl_event *event)
{
	struct pmuctl_sampling *s = event->sampling;

	if (s->throttled && s->window != READ_ONCE(jiffies))
		unthrottle(event);
	else if (event->own.counter.stopped && !s->throttled && !s->expired)
		event->ops->resume(event);
}

static void tick_group(struct pmuctl_event *leader, bool *again, bool *when_busy)
{
	bool idle = is_idle_task(current);
	struct pmuctl_event *event;

	for_each_group_member(event, leader) {
		struct pmuctl_sampling *s = event->sampling;

		if (!s || !event->own.counter.running)
			continue;
		/* In the jiffy in which it was throttled it has had its samples. */
		if (s->throttled && s->window != READ_ONCE(jiffies))
			unthrottle(event);
		else if (s->freq && !s->throttled)
			shorten_period(event);
		/* Of one that is throttled there is no overflow that would start it again. */
		*again |= s->throttled || (s->freq && !idle);
		*when_busy |= s->freq && idle;
	}
}

static bool tick_context(struct pmuctl_context *ctx, bool *when_busy)
{
	struct pmuctl_event *leader;
	enum pmuctl_class class;
	bool again = false;

	for_each_group(leader, class, ctx)
		if (leader->state->counter.running)
			tick_group(leader, &again, when_busy);
	return again;
}

bool pmuctl_tick(struct pmuctl_cpuctx *pc)
{
	bool when_busy = false, again = tick_context(&pc->context, &when_busy);

	if (pc->task_context)
		again |= tick_context(pc->task_context, &when_busy);
	hwpmu_commit();
	if (when_busy && !again)
		pmuctl_sched_tick_when_busy(pc);
	return again;
}

/* ---- For the front ---- */

int pmuctl_sampling_alloc(struct pmuctl_event *event,
			  const struct perf_event_attr *attr,
			  struct pmuctl_explanation *why)
{
	struct pmuctl_sampling *s;

	if (!attr->sample_period)
		return 0;
	if (attr->freq && attr->sample_freq > rate_limit())
		return pmuctl_refuse(why, FREQ_TOO_HIGH, "attr.sample_freq",
				     attr->sample_freq, rate_limit());
	s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s || pmuctl_sample_get()) {
		kfree(s);
		return pmuctl_refuse(why, NO_MEMORY, "");
	}
	WRITE_ONCE(pmuctl_times_asked, true);
	s->event = event;
	s->tells_group = attr->sample_type & PERF_SAMPLE_READ &&
			 attr->read_format & PERF_FORMAT_GROUP;
	init_irq_work(&s->work, sampling_work);
	event->sampling = s;
	if (event->ops->init_timer) {
		event->ops->init_timer(event);
		event->ops->set_period(event, attr->freq ? NSEC_PER_SEC / attr->sample_freq :
							   attr->sample_period);
		return 0;
	}
	s->freq = attr->freq ? attr->sample_freq : 0;
	if (!s->freq)
		event->ops->set_period(event, attr->sample_period);
	else
		event->ops->set_period(event, pmuctl_event_is_hw(event) ? first_period(attr) : 1);
	return 0;
}

void pmuctl_sampling_sync(struct pmuctl_event *event)
{
	if (event->sampling)
		irq_work_sync(&event->sampling->work);
}

void pmuctl_sampling_set_period(struct pmuctl_event *event, u64 value)
{
	if (event->sampling->freq)
		event->sampling->freq = value;
	else
		event->ops->set_period(event, value);
}

int pmuctl_sampling_check_period(const struct pmuctl_event *event, u64 value,
				 struct pmuctl_explanation *why)
{
	if (!event->sampling)
		return pmuctl_refuse(why, NOT_SAMPLED, "");
	if (event->sampling->freq && value > rate_limit())
		return pmuctl_refuse(why, FREQ_TOO_HIGH, "", value,
				     rate_limit());
	if (!value || value >> 63)
		return pmuctl_refuse(why, PERIOD_RANGE, "", value);
	return 0;
}
