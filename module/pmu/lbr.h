/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last branch records of this CPU (LBR): a ring of registers in which the processor notes each
 * branch that it takes, or those of some kinds. A CPU has one of them, for all its events: those
 * that are on the PMU at the same time want the same kinds.
 */
#ifndef PMUCTL_PMU_LBR_H
#define PMUCTL_PMU_LBR_H

#include "pmu/hwpmu.h"
#include "pmu/lbr_config.h"

struct cpumask;

/**
 * struct lbr_records - what the processor had noted when an overflow's NMI came
 * @nr: how many.
 * @tos: number of the register of the newest one.
 * @record: the newest first.
 */
struct lbr_records {
	u32 nr;
	u32 tos;
	struct lbr_record record[LBR_DEPTH];
};

/* Find out what this CPU has. Module load, after hwpmu_init(). */
void lbr_init(void);

/* Why there are none that can be used, a constant sentence; NULL if there are. Any context. */
const char *lbr_reason(void);

/* Do they tell of transactions? Constant after init. */
bool lbr_has_transactions(void);

/**
 * lbr_encode() - have an event sample branches
 * @counter: is changed: while it is on the PMU they are noted, if it has a period.
 * @attr: has PERF_SAMPLE_BRANCH_STACK.
 * @branches: pmuctl_attr_branches() of it.
 * @why: filled on refusal.
 *
 * Context: Any.
 * Return: 0; -EOPNOTSUPP if there are none; -EINVAL as lbr_select_encode().
 */
int lbr_encode(struct hwpmu_counter *counter, const struct perf_event_attr *attr, u64 branches,
	       struct pmuctl_explanation *why);

/*
 * An event is about to start, or was stopped, that wants them. After a start they are forgotten,
 * so that nobody is told of what ran before; nothing is noted until hwpmu_commit(), which is next.
 * Own CPU, IRQs off; hwpmu_lbr_is_free() before.
 */
void lbr_start(const struct hwpmu_counter *counter);
void lbr_stop(void);

/*
 * Another task is about to run: it is not told where this one was. As lbr_start().
 */
void lbr_switch(void);

/* All that was to be stopped and started was: forget them, and go on. hwpmu_cpu.lbr_stale. */
void lbr_commit(void);

/* An NMI has begun: from here to the end nothing is noted. Returns true if anything was. */
bool lbr_nmi_begin(void);
void lbr_nmi_end(void);

/*
 * What was noted when this NMI came; valid until its end. NMI that lbr_nmi_begin() has begun; of
 * an event that is on the PMU and wants them.
 */
const struct lbr_records *lbr_read(void);

/* The kernel has crashed: as hwpmu_crash(). */
void lbr_crash(void);

/*
 * Branches are noted, or traced, not both: how many events that note, or that trace, are attached.
 * As perf has it, wherever they are. Serialized by the caller.
 */
enum lbr_use { LBR_NOTED, LBR_TRACED };

void lbr_use_get(enum lbr_use use);
void lbr_use_put(enum lbr_use use);
bool lbr_is_used(enum lbr_use use);

/* Where somebody else may trace they are free for nobody: whoever wants them waits. Any context. */
void lbr_bar(const struct cpumask *cpus, bool bar);

/* Are they on this CPU? Then BTS is for nobody either. IRQs off, or NMI. */
bool lbr_is_barred(void);

#endif /* PMUCTL_PMU_LBR_H */
