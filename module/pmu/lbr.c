// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers of the last branch records. Sections are of the SDM, Vol. 3B, chapter "Debug,
 * Branch Profile, TSC, ...".
 *
 * They are on while an event that wants them is on the PMU of the CPU, and that is ours then: so
 * perf's own events, which need counters too, never want them at the same time.
 *
 * The processor stops noting with each interrupt of the PMU (FREEZE_LBRS_ON_PMI), so that the
 * kernel's way to the handler is not noted; before version 4 it clears LBR in IA32_DEBUGCTL, later
 * it sets a bit of the status, which the handler clears: so it switches them off before that, reads
 * them if a sample is to have them, and switches them on at its end, whatever the processor did.
 * In call-stack mode a frozen stack would not be one any more, so there it is the handler alone.
 *
 * They are emptied whenever somebody begins to be told of them, or another task comes. That is
 * some 100 registers, and a task that comes may have many events, on a CPU that has some, too: so
 * whoever wants it only leaves a note, with which they are off, and it is done once when all is
 * arranged.
 *
 * The NMI may come between any two instructions here. What it switches on again is in @ctl, which
 * is 0 while anything is changed.
 */
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include <asm/cpufeature.h>
#include <asm/cpuid/api.h>
#include <asm/msr.h>

#include "pmu/lbr.h"
#include "pmu/private.h"
#include "pmu/pt_config.h"

/* "IA32_DEBUGCTL MSR" */
#define CTL_LBR			BIT_ULL(0)
#define CTL_FREEZE		BIT_ULL(11)
#define CTL_ALL			(CTL_LBR | CTL_FREEZE)

/* CPUID.7.0:EDX[19]; older kernels do not know it. */
#define CPUID_ARCHITECTURAL	BIT(19)

/**
 * struct lbr_cpu - of one CPU
 * @ctl: its bits of IA32_DEBUGCTL while they are on; else 0.
 * @users: events on the PMU that want them.
 * @select: what they want.
 * @was_read: @records is what was noted when this NMI came.
 * @barred: somebody else traces there, or may at any time.
 * @records: of the NMI.
 */
struct lbr_cpu {
	u64 ctl;
	unsigned int users;
	u16 select;
	bool was_read;
	bool barred;
	struct lbr_records records;
};

static DEFINE_PER_CPU_ALIGNED(struct lbr_cpu, lbr_cpu);
static const char *no_lbr_reason __ro_after_init = PMUCTL_NO_LBR_ABSENT;
static bool has_transactions __ro_after_init;

/* Attached events; pmuctl_mutex of the core */
static unsigned int nr_used[2];

const char *lbr_reason(void)
{
	return no_lbr_reason;
}

bool lbr_has_transactions(void)
{
	return has_transactions;
}

/* On this CPU, with Processor Trace: then accesses to the others are refused where they are. */
static bool __init somebody_traces(void)
{
	u64 ctl;

	return boot_cpu_has(X86_FEATURE_INTEL_PT) && !rdmsrq_safe(MSR_IA32_RTIT_CTL, &ctl) &&
		ctl & PT_CTL_TRACE;
}

static bool __init registers_are_there(void)
{
	unsigned int i;
	u64 value;

	if (rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &value))
		return false;
	if (somebody_traces())
		return true;
	if (rdmsrq_safe(MSR_LBR_SELECT, &value) || rdmsrq_safe(MSR_LBR_TOS, &value))
		return false;
	for (i = 0; i < LBR_DEPTH; i++)
		if (rdmsrq_safe(MSR_LBR_NHM_FROM + i, &value) ||
		    rdmsrq_safe(MSR_LBR_NHM_TO + i, &value) ||
		    rdmsrq_safe(MSR_LBR_INFO_0 + i, &value))
			return false;
	return true;
}

void __init lbr_init(void)
{
	struct lbr_cpuid id = {
		.intel = boot_cpu_data.x86_vendor == X86_VENDOR_INTEL,
		.pdcm = boot_cpu_has(X86_FEATURE_PDCM),
	};

	if (id.intel && boot_cpu_data.cpuid_level >= 7)
		id.architectural = cpuid_edx(7) & CPUID_ARCHITECTURAL;
	if (id.pdcm && rdmsrq_safe(MSR_IA32_PERF_CAPABILITIES, &id.capabilities))
		id.pdcm = false;
	no_lbr_reason = lbr_caps_decode(&id);
	if (!no_lbr_reason && hwpmu_reason())
		no_lbr_reason = PMUCTL_NO_TRACE_PMU;
	if (!no_lbr_reason && !registers_are_there())
		no_lbr_reason = PMUCTL_NO_LBR_MSR;
	has_transactions = boot_cpu_has(X86_FEATURE_RTM);
}

int lbr_encode(struct hwpmu_counter *counter, const struct perf_event_attr *attr, u64 branches,
	       struct pmuctl_explanation *why)
{
	if (no_lbr_reason)
		return pmuctl_refuse(why, NO_LBR, "attr.sample_type", no_lbr_reason);
	counter->lbr = attr->sample_period;
	return lbr_select_encode(branches, &counter->lbr_select, why);
}

/* ---- Who has them ---- */

void lbr_use_get(enum lbr_use use)
{
	nr_used[use]++;
}

void lbr_use_put(enum lbr_use use)
{
	nr_used[use]--;
}

bool lbr_is_used(enum lbr_use use)
{
	return nr_used[use];
}

void lbr_bar(const struct cpumask *cpus, bool bar)
{
	unsigned int cpu;

	for_each_cpu(cpu, cpus)
		WRITE_ONCE(per_cpu(lbr_cpu, cpu).barred, bar);
}

bool lbr_is_barred(void)
{
	return READ_ONCE(this_cpu_ptr(&lbr_cpu)->barred);
}

bool hwpmu_lbr_is_free(const struct hwpmu_counter *counter)
{
	const struct lbr_cpu *cpu = this_cpu_ptr(&lbr_cpu);

	if (READ_ONCE(cpu->barred))
		return false;
	return !cpu->users || cpu->select == counter->lbr_select;
}

/* ---- On and off ---- */

/*
 * Change our bits of the register to @bits. The NMI leaves them as it has found them, and changes
 * no others: branches are not traced meanwhile.
 */
static void write_ctl(u64 bits)
{
	u64 ctl;

	rdmsrq(MSR_IA32_DEBUGCTLMSR, ctl);
	wrmsrq(MSR_IA32_DEBUGCTLMSR, (ctl & ~CTL_ALL) | bits);
}

static void switch_off(struct lbr_cpu *cpu)
{
	WRITE_ONCE(cpu->ctl, 0);
	barrier(); /* an NMI from here on leaves them off */
	write_ctl(0);
}

static void switch_on(struct lbr_cpu *cpu)
{
	u64 bits = cpu->select & LBR_SELECT_CALL_STACK ? CTL_LBR : CTL_ALL;

	WRITE_ONCE(cpu->ctl, bits);
	barrier();
	write_ctl(bits);
}

static void forget(void)
{
	unsigned int i;

	for (i = 0; i < LBR_DEPTH; i++) {
		wrmsrq(MSR_LBR_NHM_FROM + i, 0);
		wrmsrq(MSR_LBR_NHM_TO + i, 0);
		wrmsrq(MSR_LBR_INFO_0 + i, 0);
	}
}

static void make_stale(struct lbr_cpu *cpu)
{
	if (this_cpu_read(hwpmu_cpu.lbr_stale))
		return;
	switch_off(cpu);
	this_cpu_write(hwpmu_cpu.lbr_stale, true);
}

void lbr_start(const struct hwpmu_counter *counter)
{
	struct lbr_cpu *cpu = this_cpu_ptr(&lbr_cpu);

	make_stale(cpu);
	if (!cpu->users++) {
		cpu->select = counter->lbr_select;
		wrmsrq(MSR_LBR_SELECT, cpu->select);
	}
}

void lbr_commit(void)
{
	struct lbr_cpu *cpu = this_cpu_ptr(&lbr_cpu);

	this_cpu_write(hwpmu_cpu.lbr_stale, false);
	if (!cpu->users)
		return;
	forget();
	switch_on(cpu);
}

void lbr_stop(void)
{
	struct lbr_cpu *cpu = this_cpu_ptr(&lbr_cpu);

	if (!--cpu->users)
		switch_off(cpu);
}

void lbr_switch(void)
{
	struct lbr_cpu *cpu = this_cpu_ptr(&lbr_cpu);

	if (cpu->users)
		make_stale(cpu);
}

void lbr_crash(void)
{
	if (this_cpu_read(lbr_cpu.users))
		switch_off(this_cpu_ptr(&lbr_cpu));
}

/* ---- The NMI ---- */

bool lbr_nmi_begin(void)
{
	struct lbr_cpu *cpu = this_cpu_ptr(&lbr_cpu);

	if (likely(!READ_ONCE(cpu->ctl))) {
		/* They are off, or just being changed: what there may be to read is nobody's. */
		cpu->was_read = true;
		cpu->records.nr = 0;
		return false;
	}
	write_ctl(0);
	cpu->was_read = false;
	return true;
}

void lbr_nmi_end(void)
{
	write_ctl(READ_ONCE(this_cpu_ptr(&lbr_cpu)->ctl));
}

const struct lbr_records *lbr_read(void)
{
	struct lbr_cpu *cpu = this_cpu_ptr(&lbr_cpu);
	struct lbr_records *records = &cpu->records;
	unsigned int i, reg;
	u64 tos;

	if (cpu->was_read)
		return records;
	cpu->was_read = true;
	rdmsrq(MSR_LBR_TOS, tos);
	records->tos = tos % LBR_DEPTH;
	for (i = 0; i < LBR_DEPTH; i++) {
		struct lbr_record *record = &records->record[i];

		reg = (records->tos - i) % LBR_DEPTH;
		rdmsrq(MSR_LBR_NHM_FROM + reg, record->from);
		if (!record->from)
			break; /* not since they were forgotten */
		rdmsrq(MSR_LBR_NHM_TO + reg, record->to);
		rdmsrq(MSR_LBR_INFO_0 + reg, record->info);
	}
	records->nr = i;
	return records;
}
