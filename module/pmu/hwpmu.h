/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The PMU as the core sees it: own it, and make counters count on this CPU.
 * Nothing here knows of tasks, contexts or user memory.
 */
#ifndef PMUCTL_PMU_HWPMU_H
#define PMUCTL_PMU_HWPMU_H

#include <linux/jump_label.h>

#include "pmu/cpuid.h"
#include "pmu/events.h"
#include "ringbuf/userpage.h"

/* How many types of CPU a processor may have that is hybrid */
#define HWPMU_MAX_TYPES	3

/**
 * struct hwpmu_rdpmc - what user space needs to read a counter by itself
 * @userpage: the page that tells it. As hwpmu_counter.count.
 * @base: count at which the value is 0. As hwpmu_counter.running.
 */
struct hwpmu_rdpmc {
	struct userpage userpage;
	u64 base;
};

/**
 * struct hwpmu_counter - one event as the PMU sees it, embedded in the core's
 * @config: constant after hwpmu_counter_init(); if CPUs differ, what it was last on the owner
 *	CPU.
 * @usable: those of @config.allowed that it may use now; the core's to restrict while it
 *	does not run.
 * @index: the counter it is on, or was on last, or -1. Owner CPU.
 * @running: it is on the PMU of the owner CPU. Owner CPU.
 * @user: it is read by user space too; else NULL. Set by hwpmu_rdpmc_attach().
 * @seq: odd never; changes whenever the NMI has changed @count and @prev. Owner CPU,
 *	NMI may interrupt.
 * @count: what has been counted up to @prev. Owner CPU, NMI may interrupt; if not
 *	@running, whoever holds the lock under which the core stopped it.
 * @prev: raw value of the hardware counter when @count was right. As @count.
 * @period: events from one overflow to the next that the core is told of; 0: it is told
 *	of none. Set by hwpmu_set_period(). As @count.
 * @left: events left until that overflow; not positive if it is due. As @count.
 * @stopped: its core wants it to stand still although it is @running. As @count.
 * @lbr: while it is on the PMU the processor notes branches, see lbr.h. Constant.
 * @lbr_select: which. Constant.
 * @extra: the other register that it has now, @config.extra or @config.other_extra, or none; see
 *	extra.h. Owner CPU.
 * @of_type: only if CPUs differ: what to program on each type of them, which @config is one
 *	of; nothing is allowed on those that cannot count it. Constant after
 *	hwpmu_counter_init().
 *
 * The owner CPU is the one that last called hwpmu_start() for it; the core sees to it
 * that there is only one at a time.
 */
struct hwpmu_counter {
	struct hwpmu_config config;
	u64 usable;
	s8 index;
	bool running;
	u32 seq;
	struct hwpmu_rdpmc *user;
	u64 count;
	u64 prev;
	u64 period;
	s64 left;
	bool stopped;
	bool lbr;
	u16 lbr_select;
	u8 extra;
	struct hwpmu_config of_type[HWPMU_MAX_TYPES];
};

struct pt_regs;
struct hwtrace;

/**
 * struct hwpmu_ops - what the core wants to be told
 * @overflow: @counter, which is running, has counted @period events since the last time,
 *	or more. @regs is what was interrupted. It may change the period. Returns true
 *	if it is to go on; false: it stands still until hwpmu_resume(), or it is given up.
 *	NMI; all counters of this CPU stand still.
 * @stopped: the PMU of this CPU was given up, or is about to be given back: nothing that is
 *	started counts any more, and nothing can be started; or it has become ours. IRQs off.
 * @trace: a trace that is on has reached a watermark, or its end. NMI, or on its CPU with
 *	IRQs off.
 */
struct hwpmu_ops {
	bool (*overflow)(struct hwpmu_counter *counter, struct pt_regs *regs);
	void (*stopped)(void);
	void (*trace)(struct hwtrace *trace);
};

/**
 * struct hwpmu_stats - what happened on a CPU since the module was loaded
 * @nmis_seen: NMIs that came by while the PMU was ours.
 * @nmis_claimed: those that were overflows of ours.
 * @overflows: of counters.
 * @stuck: times when overflows did not end and all counters were stopped.
 */
struct hwpmu_stats {
	u64 nmis_seen;
	u64 nmis_claimed;
	u64 overflows;
	u64 stuck;
};

/**
 * struct hwpmu_snapshot - the PMU of a CPU, for people
 * @owned: it is ours there; if not, of the rest only @stats are meaningful.
 * @global_ctrl: and the following: registers as they are.
 * @active: what is on each counter, or NULL; only to be compared.
 */
struct hwpmu_snapshot {
	bool owned;
	u64 global_ctrl;
	u64 global_status;
	u64 fixed_ctrl;
	u64 evtsel[HWPMU_MAX_GENERAL];
	u64 counter[HWPMU_MAX_COUNTERS];
	const struct hwpmu_counter *active[HWPMU_MAX_COUNTERS];
	struct hwpmu_stats stats;
};

/* Fill in a snapshot of this CPU's PMU. Context: that CPU, IRQs off. */
void hwpmu_snapshot(struct hwpmu_snapshot *snapshot);

/**
 * hwpmu_init() - find out what the PMU is, register the NMI handler
 * @ops: constant.
 *
 * A machine without a usable PMU is not an error: see hwpmu_reason().
 *
 * Context: Process, may sleep. At module load.
 * Return: 0, or -errno of the handler's registration.
 */
int hwpmu_init(const struct hwpmu_ops *ops);

/**
 * hwpmu_exit() - undo hwpmu_init(); the PMU has been put
 *
 * Context: Process, may sleep. At module unload.
 */
void hwpmu_exit(void);

/* What the PMU is; caps->version is 0 if there is none. If CPUs differ: all counters that
 * there are on any. Constant after init.
 */
const struct hwpmu_caps *hwpmu_caps(void);

/* Why there is no usable PMU, a constant sentence; NULL if there is one. */
const char *hwpmu_reason(void);

/**
 * hwpmu_get() - own the PMU of all CPUs
 * @why: filled on refusal.
 *
 * Reserves the PMU, saves its registers and points LVTPC to NMI. hwpmu_put() undoes that, after
 * hwpmu_leave(), which stops what is on the PMU of each CPU and lets nothing start any more. The
 * core is told of either on each CPU.
 *
 * Context: Process, may sleep; cpus_read_lock held. The caller serializes.
 * Return: 0; -ENOENT if there is no usable PMU; -EBUSY if somebody else owns it.
 */
int hwpmu_get(struct pmuctl_explanation *why);
void hwpmu_leave(void);
void hwpmu_put(void);

/* Is the PMU of this CPU ours, and not given up? IRQs off. */
bool hwpmu_may_start(void);

/* Was that of any CPU given up since hwpmu_get()? Serialization: as that. */
bool hwpmu_is_stuck(void);

/**
 * hwpmu_owner() - who owns the PMU now?
 * @try: find out whether somebody else does, by reserving it for an instant; perf could
 *	be refused then, so not on behalf of everybody.
 *
 * Context and serialization: as hwpmu_get().
 * Return: PMUCTL_OWNER_*.
 */
u32 hwpmu_owner(bool try);

/* Somebody else may have written to the global control register: once more. Own CPU, IRQs off. */
void hwpmu_refresh(void);

/**
 * hwpmu_cpu_online() - the PMU of this CPU comes under our control if we own it
 * hwpmu_cpu_offline() - and goes out of it; nothing runs on it any more
 *
 * Context: On that CPU, IRQs off. Serialized with hwpmu_get() by CPU hotplug.
 */
void hwpmu_cpu_online(void);
void hwpmu_cpu_offline(void);

/*
 * From now on hwpmu_cpu_online() does nothing, and who has the PMU has it on no CPU that is not
 * ours yet. The other CPUs know when they have answered a call. Any context.
 */
void hwpmu_close(void);

/**
 * hwpmu_crash() - the kernel has crashed: nothing counts or traces on this CPU any more
 *
 * Registers only: whoever is interrupted never goes on, and nothing that he has may be trusted.
 *
 * Context: Any, NMI too; IRQs off.
 */
void hwpmu_crash(void);

/**
 * hwpmu_counter_init() - encode an event
 * @counter: is filled; not running, count 0.
 * @attr: validated by pmuctl_attr_check().
 * @why: filled on refusal.
 *
 * Context: Any.
 * Return: 0; -ENOENT if there is no PMU or it cannot count this; -EINVAL if there is
 * no such event.
 */
int hwpmu_counter_init(struct hwpmu_counter *counter,
		       const struct perf_event_attr *attr,
		       struct pmuctl_explanation *why);

/**
 * hwpmu_counter_check() - leave out the counters that count nothing on this machine
 * @counter: as hwpmu_counter_init() has filled it.
 * @why: filled on refusal.
 *
 * What they are is found when the PMU is taken.
 *
 * Context: Any; since hwpmu_get().
 * Return: 0; -ENOENT if there is no other counter for it.
 */
int hwpmu_counter_check(struct hwpmu_counter *counter, struct pmuctl_explanation *why);

/* The same event once more, with a count of its own. Any context. */
void hwpmu_counter_copy(struct hwpmu_counter *counter,
			const struct hwpmu_counter *from);

/**
 * hwpmu_start() - put counters on the PMU of this CPU
 * @counters: not running; their values go on from where they were.
 * @n: how many, at most HWPMU_MAX_COUNTERS.
 *
 * They count from hwpmu_commit() on, all at the same instant with those of other starts.
 *
 * Context: Owner CPU, IRQs off.
 * Return: true; false if the PMU is not ours on this CPU, or they do not fit beside those
 * that run: then none is started.
 */
bool hwpmu_start(struct hwpmu_counter *const *counters, unsigned int n);

/* Let all that have been started count. Context: Owner CPU, IRQs off. */
void hwpmu_commit(void);

/**
 * hwpmu_stop() - take counters off the PMU of this CPU, all at the same instant
 * @counters: those that do not run are left alone.
 * @n: how many.
 *
 * After it counter->count is the value, and no NMI touches them any more.
 *
 * Context: Owner CPU, IRQs off.
 */
void hwpmu_stop(struct hwpmu_counter *const *counters, unsigned int n);

/**
 * hwpmu_hand_over() - let other counters go on where some are
 * @from: running on this CPU; they are stopped.
 * @to: not running, each of the same event; they run.
 * @n: how many.
 *
 * What is counted until now is @from's, what comes is @to's; "now" is a moment for each. None
 * has a period or a user.
 *
 * Context: Owner CPU, IRQs off.
 */
void hwpmu_hand_over(struct hwpmu_counter *const *from,
		     struct hwpmu_counter *const *to, unsigned int n);

/* ---- hybrid.c: processors whose CPUs are not all alike ---- */

/* CPUs are of several types. */
DECLARE_STATIC_KEY_FALSE(hwpmu_is_hybrid);

/* How many types of CPU there are; 1 if they are alike. Constant after init. */
unsigned int hwpmu_nr_types(void);

/* The PMU of CPUs of a type; constant after init. */
const struct hwpmu_caps *hwpmu_caps_of_type(unsigned int type);

/* That of a CPU; of one that has never been online, that of another. Any context. */
const struct hwpmu_caps *hwpmu_caps_of_cpu(int cpu);

/* What they all have, in @caps, and which PERF_COUNT_HW_* all can count. Process context. */
u64 hwpmu_caps_common(struct hwpmu_caps *caps);

/* What an event is on CPUs of a type, or on a CPU. Any context. */
const struct hwpmu_config *hwpmu_config_on_type(const struct hwpmu_counter *counter,
						unsigned int type);
const struct hwpmu_config *hwpmu_config_on_cpu(const struct hwpmu_counter *counter, int cpu);

/*
 * lbr.c: does nobody else trace, and nobody on this CPU want other branches noted than @counter?
 * Owner CPU, IRQs off.
 */
bool hwpmu_lbr_is_free(const struct hwpmu_counter *counter);

/* hwpmu_allowed_here(), if CPUs differ */
u64 hwpmu_hybrid_here(struct hwpmu_counter *counter);

/**
 * hwpmu_allowed_here() - the counters on which an event can be on this CPU
 * @counter: not running; it is about to be started, if there are any.
 *
 * Of one that wants other branches noted than somebody who is there now: none.
 *
 * Context: Owner CPU, IRQs off.
 */
static inline u64 hwpmu_allowed_here(struct hwpmu_counter *counter)
{
	if (unlikely(counter->lbr) && !hwpmu_lbr_is_free(counter))
		return 0;
	if (static_branch_unlikely(&hwpmu_is_hybrid))
		return hwpmu_hybrid_here(counter);
	return counter->config.allowed;
}

/* Does it count in the kernel? Any context. */
bool hwpmu_counts_kernel(const struct hwpmu_counter *counter);

/**
 * hwpmu_read() - value of a counter
 * @counter: running on this CPU, or not running at all.
 *
 * Exact also if an overflow is handled while it reads.
 *
 * Context: Owner CPU, IRQs off; or, if not running, under the core's lock.
 * Return: events counted since hwpmu_counter_init().
 */
u64 hwpmu_read(const struct hwpmu_counter *counter);

/* The same in an NMI, which may have come while it is being stopped, or its period changed */
u64 hwpmu_read_in_nmi(const struct hwpmu_counter *counter);

/**
 * hwpmu_set_period() - let a counter overflow after some events from now, and every so many
 * @counter: running on this CPU, or not running at all.
 * @period: how many; at least 1.
 *
 * Context: as hwpmu_read().
 */
void hwpmu_set_period(struct hwpmu_counter *counter, u64 period);

/* Events left until the end of the period; as hwpmu_read() */
s64 hwpmu_left(const struct hwpmu_counter *counter);

/**
 * hwpmu_resume() - let a counter go on that is @stopped; after hwpmu_commit()
 * @counter: running on this CPU, or not running at all.
 *
 * Context: as hwpmu_read().
 */
void hwpmu_resume(struct hwpmu_counter *counter);

/**
 * hwpmu_freeze() - let all counters of this CPU stand still
 * hwpmu_thaw() - and go on
 *
 * In between, hwpmu_read() of several counters reads one instant.
 *
 * Context: Owner CPU, IRQs off, for a short time.
 */
void hwpmu_freeze(void);
void hwpmu_thaw(void);

/**
 * hwpmu_rdpmc_attach() - from now on user space reads the counter too
 * @counter: running on this CPU, or not running at all.
 * @user: stays as long as the counter; hwpmu_rdpmc_write() follows.
 *
 * Context: as hwpmu_read().
 */
void hwpmu_rdpmc_attach(struct hwpmu_counter *counter, struct hwpmu_rdpmc *user);

/**
 * hwpmu_rdpmc_write() - tell user space where the counter is, after it was started or
 * stopped
 * @counter: attached to a user; running on this CPU, or not running at all.
 * @times: what its times are.
 *
 * Context: as hwpmu_read(), IRQs off.
 */
void hwpmu_rdpmc_write(struct hwpmu_counter *counter,
		       const struct userpage_times *times);

/**
 * hwpmu_rdpmc_hide() - clear the counters of this CPU that nobody uses now
 *
 * Context: Owner CPU, IRQs off; before a program that may read counters runs.
 */
void hwpmu_rdpmc_hide(void);

/**
 * hwpmu_rdpmc_allow() - let the program that runs on this CPU read counters, or not
 * @allow: hides what is not its business, too.
 *
 * The kernel does the same at every switch, according to the process.
 *
 * Context: That CPU, IRQs off.
 */
void hwpmu_rdpmc_allow(bool allow);

/**
 * hwpmu_rdpmc_unsettled() - might perf clear our counters at the next switch of this CPU to
 * a process that may read them?
 * hwpmu_rdpmc_settle() - such a switch is over, and no counter was running meanwhile
 *
 * Context: That CPU, IRQs off.
 */
bool hwpmu_rdpmc_unsettled(void);
void hwpmu_rdpmc_settle(void);

#endif /* PMUCTL_PMU_HWPMU_H */
