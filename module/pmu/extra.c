// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers that select what some events count (SDM Vol. 3B, "Off-core Response Performance
 * Monitoring", and "MSR_PEBS_FRONTEND"). One value is in a register at a time, so an event goes on
 * the PMU only while its value is, or can be, in a register for it: else it waits, as for a
 * counter. Events with the same value share.
 *
 * Since Sandy Bridge each thread has these registers for itself. Before, and where that is not
 * known, the threads of a core share them: then so does what is known of their users. The
 * lock is a leaf, held for some instructions with interrupts off. A register is written by each CPU
 * for each event that it starts: it has that value already, or no other user.
 *
 * Nobody is told when a register gets free on another thread. Who waits for it rotates, and so
 * tries again.
 *
 * They are left as they are when the PMU is given back: perf writes them too before it uses them.
 */
#include <linux/spinlock.h>
#include <linux/topology.h>

#include <asm/msr.h>

#include "pmu/extra.h"

/**
 * struct hwpmu_core - what the threads of a core share, or one CPU has for itself
 * @lock: protects @regs.
 * @regs: who has its registers.
 */
struct hwpmu_core {
	raw_spinlock_t lock;
	struct hwpmu_extra_regs regs;
};

static DEFINE_PER_CPU(struct hwpmu_core, hwpmu_core) = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(hwpmu_core.lock),
};

/* Each CPU's: its own, or another thread's. NULL while it is not ours. join_lock, or IRQs off */
static DEFINE_PER_CPU(struct hwpmu_core *, hwpmu_core_of);

/* Two threads of a core may come at once. */
static DEFINE_RAW_SPINLOCK(join_lock);

/* One bit for each that is not there. Found before anything runs. */
static unsigned int absent;

void hwpmu_extra_cpu_online(void)
{
	unsigned int here = smp_processor_id(), other;
	struct hwpmu_core *core = this_cpu_ptr(&hwpmu_core);

	raw_spin_lock(&join_lock);
	if (hwpmu_extra_is_shared(hwpmu_caps_here()))
		for_each_cpu(other, topology_sibling_cpumask(here))
			if (per_cpu(hwpmu_core_of, other))
				core = per_cpu(hwpmu_core_of, other);
	this_cpu_write(hwpmu_core_of, core);
	raw_spin_unlock(&join_lock);
}

void hwpmu_extra_cpu_offline(void)
{
	raw_spin_lock(&join_lock);
	this_cpu_write(hwpmu_core_of, NULL);
	raw_spin_unlock(&join_lock);
}

/* ---- Users ---- */

static void give_up(struct hwpmu_cpu *cpu, struct hwpmu_core *core, struct hwpmu_counter *c)
{
	core->regs.users[c->extra]--;
	cpu->nr_extra--;
	c->extra = HWPMU_EXTRA_NONE;
}

static bool get_one(struct hwpmu_cpu *cpu, struct hwpmu_core *core, struct hwpmu_counter *c)
{
	enum hwpmu_extra_reg reg = hwpmu_extra_choose(&core->regs, &c->config);

	if (reg == HWPMU_EXTRA_NONE)
		return false;
	core->regs.value[reg] = c->config.extra_value;
	core->regs.users[reg]++;
	cpu->nr_extra++;
	c->extra = reg;
	return true;
}

/* Those first that have no choice: then the others find what is left. */
static bool get_all(struct hwpmu_cpu *cpu, struct hwpmu_core *core,
		    struct hwpmu_counter *const *counters, unsigned int n)
{
	unsigned int i, choice;

	for (choice = 0; choice <= 1; choice++)
		for (i = 0; i < n; i++) {
			const struct hwpmu_config *hw = &counters[i]->config;

			if (hw->extra && !!hw->other_extra == choice &&
			    !get_one(cpu, core, counters[i]))
				return false;
		}
	return true;
}

bool hwpmu_extra_get(struct hwpmu_cpu *cpu, struct hwpmu_counter *const *counters, unsigned int n)
{
	struct hwpmu_core *core = this_cpu_read(hwpmu_core_of);
	unsigned int i;
	bool all;

	lockdep_assert_irqs_disabled();
	raw_spin_lock(&core->lock);
	all = get_all(cpu, core, counters, n);
	for (i = 0; !all && i < n; i++) {
		if (counters[i]->extra)
			give_up(cpu, core, counters[i]);
		counters[i]->usable = 0; /* counters are not what is missing */
	}
	raw_spin_unlock(&core->lock);
	return all;
}

void hwpmu_extra_put(struct hwpmu_cpu *cpu, struct hwpmu_counter *const *counters, unsigned int n)
{
	struct hwpmu_core *core = this_cpu_read(hwpmu_core_of);
	unsigned int i;

	lockdep_assert_irqs_disabled();
	raw_spin_lock(&core->lock);
	for (i = 0; i < n; i++)
		if (counters[i]->extra && !counters[i]->running)
			give_up(cpu, core, counters[i]);
	raw_spin_unlock(&core->lock);
}

void hwpmu_extra_write(const struct hwpmu_counter *c)
{
	wrmsrq(hwpmu_extra_msr(c->extra), c->config.extra_value);
}

/* ---- Are they there? ---- */

/*
 * Virtual machines may lack them: then reading or writing fails, or the value does not stay.
 * That is tried as perf does, by bits that all models have.
 */
#define TRY_BITS	0x11

static bool is_there(u32 msr, u64 bits)
{
	u64 old, value;
	bool there;

	if (rdmsrq_safe(msr, &old) || wrmsrq_safe(msr, old ^ bits))
		return false;
	there = !rdmsrq_safe(msr, &value) && value == (old ^ bits);
	wrmsrq_safe(msr, old);
	return there;
}

void hwpmu_extra_check(void)
{
	const struct hwpmu_caps *caps = hwpmu_caps_here();
	unsigned int reg;

	absent = 0;
	for (reg = HWPMU_EXTRA_RSP_0; reg < HWPMU_NR_EXTRA; reg++) {
		u64 valid = hwpmu_extra_valid(caps, reg);

		if (valid && !is_there(hwpmu_extra_msr(reg), valid & TRY_BITS))
			absent |= BIT(reg);
	}
}

bool hwpmu_extra_is_absent(const struct hwpmu_config *hw)
{
	return absent & BIT(hw->extra);
}
