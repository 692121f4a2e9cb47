/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Intel's events that count only what a register of their own selects: offcore responses, what
 * retires after events of the front end, snoop responses. Which register, which bits, and who
 * may have it beside whom. Pure logic: compiles in user space too; extra.c has the registers.
 */
#ifndef PMUCTL_PMU_EVENTS_EXTRA_H
#define PMUCTL_PMU_EVENTS_EXTRA_H

#include "pmu/events.h"

/* The registers. HWPMU_EXTRA_NONE is that of events without one. */
enum hwpmu_extra_reg {
	HWPMU_EXTRA_NONE,
	HWPMU_EXTRA_RSP_0,
	HWPMU_EXTRA_RSP_1,
	HWPMU_EXTRA_FRONTEND,
	HWPMU_EXTRA_SNOOP_0,
	HWPMU_EXTRA_SNOOP_1,
	HWPMU_NR_EXTRA,
};

/* Their numbers, SDM Vol. 4 */
u32 hwpmu_extra_msr(enum hwpmu_extra_reg reg);

/* The bits of a register that are valid on this CPU, 0 if it has no such register. */
u64 hwpmu_extra_valid(const struct hwpmu_caps *caps, enum hwpmu_extra_reg reg);

/* Do the threads of a core share these registers? */
bool hwpmu_extra_is_shared(const struct hwpmu_caps *caps);

/*
 * The general counters that can count an event that has such a register here, 0 if it has none. By
 * its number and unit mask in @config.
 */
u64 hwpmu_extra_counters(const struct hwpmu_caps *caps, u64 config);

/**
 * hwpmu_extra_encode() - what register an event needs
 * @caps: the PMU.
 * @config: its event select.
 * @value: what the register is to be, attr.config1.
 * @hw: its fields of the register are set if the event has one, and left alone if not.
 * @why: filled on refusal.
 *
 * Context: Any.
 * Return: 0; -EINVAL if the register does not have all bits of @value.
 */
int hwpmu_extra_encode(const struct hwpmu_caps *caps, u64 config, u64 value,
		       struct hwpmu_config *hw, struct pmuctl_explanation *why);

/**
 * hwpmu_extra_cache() - a generic cache event that is an offcore response
 * @caps: the PMU.
 * @cache: PERF_COUNT_HW_CACHE_LL or _NODE.
 * @op: and @result: each within its bounds.
 * @result: as @op.
 * @value: is set to what the register is to be.
 *
 * Context: Any.
 * Return: the event select, 0 if this CPU has none.
 */
u64 hwpmu_extra_cache(const struct hwpmu_caps *caps, unsigned int cache, unsigned int op,
		      unsigned int result, u64 *value);

/**
 * struct hwpmu_extra_regs - who has the registers of a core, or of a CPU
 * @value: what is in each while it has users.
 * @users: events on the PMU that it was set for.
 */
struct hwpmu_extra_regs {
	u64 value[HWPMU_NR_EXTRA];
	unsigned int users[HWPMU_NR_EXTRA];
};

/**
 * hwpmu_extra_choose() - which register an event can have now
 * @regs: who has them.
 * @hw: of the event, which has one.
 *
 * One that has the value already, else a free one: of two that it may have, its own first.
 *
 * Context: Any.
 * Return: the register; HWPMU_EXTRA_NONE if those have other values.
 */
enum hwpmu_extra_reg hwpmu_extra_choose(const struct hwpmu_extra_regs *regs,
					const struct hwpmu_config *hw);

/* Distinct values that go into either of two registers; one more is too much. */
#define HWPMU_EXTRA_EITHER	2

/**
 * struct hwpmu_extra_demand - registers that events want at the same time; all zero at first
 * @value: of those that can have one register only.
 * @taken: one bit for each of these.
 * @either: of those that can have either of two.
 * @nr_either: how many values these are.
 * @too_much: one register would have to have two values.
 */
struct hwpmu_extra_demand {
	u64 value[HWPMU_NR_EXTRA];
	u64 either[HWPMU_EXTRA_EITHER];
	u8 taken;
	u8 nr_either;
	bool too_much;
};

/* One event more */
void hwpmu_extra_demand_add(struct hwpmu_extra_demand *demand, const struct hwpmu_config *hw);

/* Can they all have their registers at once? */
bool hwpmu_extra_demand_fits(const struct hwpmu_extra_demand *demand);

#endif /* PMUCTL_PMU_EVENTS_EXTRA_H */
