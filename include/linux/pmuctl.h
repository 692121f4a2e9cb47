/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters for other kernel modules: what pmuctl exports to them (EXPORT_SYMBOL_GPL). How
 * to build against it is in docs/in-kernel.md, an example in examples/watchdog.
 *
 * A counter counts a task, or all that runs on a CPU. If it has a period, a handler is
 * called whenever that many events have been counted. Counters of the kernel have turns
 * with all other events and follow the same rules, but nobody's permission is asked for: a
 * module may look at everything.
 *
 * Contexts: every function here may sleep, and wants interrupts on and no spinlock held. None
 * may be called from a handler: that is refused with -EDEADLK. All but pmuctl_counter_release()
 * may be called for one counter by several threads at once.
 *
 * Errors tell apart what was wrong:
 *
 *	-EINVAL, -ENOENT, -EOPNOTSUPP	the attr, or what it asks for: nonsense, no such event
 *					here, not supported
 *	-ENODEV				the CPU: there is none, or it is offline
 *	-ESRCH				the task: it is exiting
 *	-ENOMEM				memory
 *	-EBUSY				the PMU: somebody else's, or all counters are taken
 *	-EINTR				a fatal signal came first
 *
 * and where there is a @why, a sentence says it in words, with the remedy: struct
 * pmuctl_explanation of the ABI, @code being one of enum pmuctl_why.
 *
 * The calls make the calling module depend on pmuctl, which cannot be unloaded before it.
 */
#ifndef _LINUX_PMUCTL_H
#define _LINUX_PMUCTL_H

#include <linux/types.h>

#include <uapi/linux/pmuctl.h>

struct perf_event_attr;
struct pt_regs;
struct task_struct;

struct pmuctl_counter;

/**
 * struct pmuctl_sample - what a handler is told of an overflow
 * @value: what the counter has counted since it was created.
 * @period: events since the last overflow.
 * @time: now, in ns of sched_clock().
 * @time_enabled: ns for which it has been enabled, and its task or CPU running.
 * @time_running: ns of these for which it was on the PMU.
 */
struct pmuctl_sample {
	u64 value;
	u64 period;
	u64 time;
	u64 time_enabled;
	u64 time_running;
};

/**
 * typedef pmuctl_handler_t - called when a counter's period is over
 * @counter: whose.
 * @sample: valid until it returns.
 * @regs: what the CPU was doing. Even if the kernel is not counted this may be a few
 *	instructions late, and in the kernel. NULL if nobody knows.
 * @context: what the creator gave.
 *
 * current is the task that was interrupted.
 *
 * Context: NMI, on the CPU that counted; of a software event, where that happened, with
 * interrupts off. Whatever the CPU was doing there: locks may be held, even
 * by current, and everything may be half changed. It may use atomics, per-CPU data, memory
 * that is there already, raw_smp_processor_id(), sched_clock(), printk() (which keeps the
 * text for later) and irq_work_queue(), by which it has something done as soon as
 * interrupts are on. It may not sleep, allocate or take a lock that anybody takes with
 * NMIs on, nor call anything of this header. It should be short: all counters of the CPU
 * stand still meanwhile.
 *
 * As samples do, handlers come at most as often as the parameter max_sample_rate says;
 * beyond, the counter stands still until the next tick of the clock.
 *
 * Return: true to go on; false to have the counter stopped at once and disabled, as by
 * pmuctl_counter_disable().
 */
typedef bool (*pmuctl_handler_t)(struct pmuctl_counter *counter,
				 const struct pmuctl_sample *sample,
				 struct pt_regs *regs, void *context);

/**
 * pmuctl_counter_create() - start to count something
 * @attr: what to count, read only during the call: type, config, config1, config2 and
 *	config3; sample_period, or sample_freq with freq; disabled, pinned, exclusive,
 *	exclude_user, _kernel, _hv and _idle, enable_on_exec, precise_ip. The others must be
 *	0, @size is not looked at: records, inheritance, groups, AUX data and tracepoints
 *	are for event descriptors.
 * @cpu: on which CPU; -1, with a task, on any.
 * @task: whom to count, referenced by the caller during the call; NULL: all that runs on
 *	@cpu.
 * @handler: is called when a period is over; NULL if and only if there is no period.
 * @context: handed to it; must stay valid until pmuctl_counter_release() has returned.
 * @why: filled if it is refused; may be NULL.
 *
 * It counts at once unless attr.disabled is set: the handler may be called before this
 * returns. With a task it ends when the task does, or executes a program that gains
 * privilege: then it counts no more, and keeps its count. While its CPU is offline it
 * stands still.
 *
 * Context: Process, may sleep.
 * Return: the counter, the caller's until pmuctl_counter_release(); or ERR_PTR of what is
 * said above.
 */
struct pmuctl_counter *pmuctl_counter_create(const struct perf_event_attr *attr,
					     int cpu, struct task_struct *task,
					     pmuctl_handler_t handler,
					     void *context,
					     struct pmuctl_explanation *why);

/**
 * pmuctl_counter_enable() - let it count
 * @counter: in any state; of a task that has ended nothing happens.
 *
 * Also after its handler has stopped it, and if it was pinned and found no counter.
 *
 * Context: Process, may sleep.
 * Return: 0; -EDEADLK in a handler.
 */
int pmuctl_counter_enable(struct pmuctl_counter *counter);

/**
 * pmuctl_counter_disable() - stop it; its count stays
 * @counter: in any state.
 *
 * When this returns it counts no more, and its handler is not running.
 *
 * Context: Process, may sleep.
 * Return: 0; -EDEADLK in a handler.
 */
int pmuctl_counter_disable(struct pmuctl_counter *counter);

/**
 * pmuctl_counter_read() - read value and times of one instant
 * @counter: in any state.
 * @value: what it has counted since it was created; may not be NULL.
 * @time_enabled: ns for which it was enabled, and its task or CPU running; or NULL.
 * @time_running: ns of these for which it was on the PMU; or NULL. If it is less, the counter
 *	had to take turns, and value * enabled / running estimates the whole.
 *
 * Context: Process, may sleep.
 * Return: 0; -ENODATA if it is pinned and found no counter: then it has no count until it
 * is enabled again; -EDEADLK in a handler.
 */
int pmuctl_counter_read(struct pmuctl_counter *counter, u64 *value,
			u64 *time_enabled, u64 *time_running);

/**
 * pmuctl_counter_set_period() - have the handler called more or less often
 * @counter: one with a handler.
 * @period: events, from now on until the next call of the handler; calls a second if it was
 *	created with attr.freq.
 * @why: filled if it is refused; may be NULL.
 *
 * Context: Process, may sleep.
 * Return: 0; -EINVAL if it has no handler, or the value is out of range; -EDEADLK in a
 * handler.
 */
int pmuctl_counter_set_period(struct pmuctl_counter *counter, u64 period,
			      struct pmuctl_explanation *why);

/**
 * pmuctl_counter_release() - end it
 * @counter: what pmuctl_counter_create() gave; nobody else uses it any more. Neither NULL
 *	nor an error.
 *
 * Waits for a handler that is running. When this returns it will never be called again, so
 * its context, and its code, may go.
 *
 * Context: Process, may sleep.
 * Return: 0; -EDEADLK in a handler, and nothing is released.
 */
int pmuctl_counter_release(struct pmuctl_counter *counter);

#endif /* _LINUX_PMUCTL_H */
