// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ownership of the PMU: the kernel's reservation of performance counters, which
 * in-tree perf and the NMI watchdog use too, and what goes with it on each CPU.
 *
 * The reservation knows only MSRs near the first event-select register: the event
 * selects are what excludes perf; fixed and full-width counters come along with them.
 */
#include <linux/cpu.h>
#include <linux/lockdep.h>
#include <linux/smp.h>

#include <asm/apic.h>
#include <asm/nmi.h>
#include <asm/perf_event.h>

#include "explain/explain.h"
#include "pmu/bts.h"
#include "pmu/extra.h"
#include "pmu/lbr.h"
#include "pmu/private.h"
#include "pmu/pt.h"

/* Each CPU's registers as they were before we came; large, so not static per-CPU data */
static struct hwpmu_saved __percpu *hwpmu_saved;

/* Serialized by the caller of hwpmu_get() and hwpmu_put(). */
static bool hwpmu_ours;

/* For good, as the system stops: no CPU's PMU comes under our control any more. */
static bool hwpmu_closed;

static u32 evtsel_msr(unsigned int index)
{
	return hwpmu_regs.evtsel + (index << hwpmu_regs.shift);
}

static u32 counter_msr(unsigned int index)
{
	return hwpmu_regs.counter + (index << hwpmu_regs.shift);
}

static void release_general(unsigned int n)
{
	while (n--) {
		release_evntsel_nmi(evtsel_msr(n));
		release_perfctr_nmi(counter_msr(n));
	}
}

static bool hwpmu_reserve(void)
{
	unsigned int n = hwpmu_the_caps.nr_general;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (!reserve_perfctr_nmi(counter_msr(i)))
			goto err_release;
		if (!reserve_evntsel_nmi(evtsel_msr(i))) {
			release_perfctr_nmi(counter_msr(i));
			goto err_release;
		}
	}
	return true;

err_release:
	release_general(i);
	return false;
}

static void hwpmu_release(void)
{
	release_general(hwpmu_the_caps.nr_general);
}

int __init hwpmu_owner_init(void)
{
	hwpmu_saved = alloc_percpu(struct hwpmu_saved);
	return hwpmu_saved ? 0 : -ENOMEM;
}

void hwpmu_owner_exit(void)
{
	free_percpu(hwpmu_saved);
}

void hwpmu_cpu_online(void)
{
	struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);
	struct hwpmu_saved *saved;

	lockdep_assert_irqs_disabled();
	if (!hwpmu_ours || cpu->owned || READ_ONCE(hwpmu_closed))
		return;
	if (static_branch_unlikely(&hwpmu_is_hybrid) && !hwpmu_hybrid_online())
		return;

	saved = this_cpu_ptr(hwpmu_saved);
	hwpmu_regs_take(hwpmu_caps_here(), saved);
	cpu->enabled = 0;
	cpu->written = 0;
	cpu->counting = 0;
	cpu->seen = 0;
	cpu->stuck = false;
	cpu->leaving = false;
	cpu->unsettled = true;
	cpu->used = 0;
	cpu->fixed_ctrl = 0;
	memset(cpu->evtsel, 0, sizeof(cpu->evtsel));
	saved->lvtpc = apic->read(APIC_LVTPC);
	hwpmu_extra_cpu_online();
	cpu->owned = true;
	hwpmu_lvtpc_set_nmi();
	bts_cpu_online();
}

void hwpmu_cpu_offline(void)
{
	struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);
	struct hwpmu_saved *saved;

	lockdep_assert_irqs_disabled();
	if (!cpu->owned)
		return;

	bts_cpu_offline();
	saved = this_cpu_ptr(hwpmu_saved);
	hwpmu_regs_give_back(hwpmu_caps_here(), saved);
	apic->write(APIC_LVTPC, saved->lvtpc);
	cpu->owned = false;
	hwpmu_extra_cpu_offline();
}

void hwpmu_cpu_retry(void)
{
	const struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);

	if (!cpu->owned || !READ_ONCE(cpu->stuck) || READ_ONCE(hwpmu_closed))
		return;
	hwpmu_cpu_offline();
	hwpmu_cpu_online();
	hwpmu_core_ops->stopped();
}

void hwpmu_close(void)
{
	WRITE_ONCE(hwpmu_closed, true);
}

void hwpmu_crash(void)
{
	struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);

	/* An NMI that is on its way starts nothing anew. */
	WRITE_ONCE(cpu->stuck, true);
	pt_crash();
	bts_crash();
	lbr_crash();
	if (cpu->owned)
		hwpmu_regs_clear(hwpmu_caps_here());
}

static void take_on_cpu(void *unused)
{
	hwpmu_cpu_online();
	hwpmu_core_ops->stopped();
}

/* Events may still be there: they find the PMU given up. */
static void leave_on_cpu(void *unused)
{
	WRITE_ONCE(this_cpu_ptr(&hwpmu_cpu)->leaving, true);
	hwpmu_core_ops->stopped();
}

static void give_back_on_cpu(void *unused)
{
	hwpmu_cpu_offline();
}

bool hwpmu_may_start(void)
{
	const struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);

	return cpu->owned && !READ_ONCE(cpu->closed);
}

bool hwpmu_is_stuck(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (hwpmu_ours && READ_ONCE(per_cpu(hwpmu_cpu, cpu).stuck))
			return true;
	return false;
}

int hwpmu_get(struct pmuctl_explanation *why)
{
	if (hwpmu_reason())
		return pmuctl_refuse(why, NO_PMU, "attr.type", hwpmu_reason());
	if (!hwpmu_reserve())
		return pmuctl_refuse(why, PMU_BUSY, "attr.type");
	hwpmu_ours = true;
	hwpmu_self_check(); /* takes this CPU; nothing runs anywhere yet */
	on_each_cpu(take_on_cpu, NULL, 1);
	return 0;
}

void hwpmu_leave(void)
{
	/* No CPU takes it anew from here on. */
	hwpmu_ours = false;
	on_each_cpu(leave_on_cpu, NULL, 1);
}

void hwpmu_put(void)
{
	on_each_cpu(give_back_on_cpu, NULL, 1);
	hwpmu_release();
}

u32 hwpmu_owner(bool try)
{
	if (hwpmu_ours)
		return PMUCTL_OWNER_PMUCTL;
	if (hwpmu_reason())
		return PMUCTL_OWNER_NOBODY;
	if (!try)
		return PMUCTL_OWNER_UNKNOWN;
	if (!hwpmu_reserve())
		return PMUCTL_OWNER_OTHER;
	hwpmu_release();
	return PMUCTL_OWNER_NOBODY;
}
