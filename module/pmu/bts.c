// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers of Branch Trace Store and the memory that it works with. Sections are of the
 * SDM, Vol. 3B, chapter "Debug, Branch Profile, TSC, ...".
 *
 * The processor finds the buffer through a management area of each CPU, IA32_DS_AREA. That is
 * ours from the first event that traces branches to the last. perf has its own there only
 * while it holds the performance counters, which are ours then; so nobody is disturbed, and
 * the register is given back as it was found.
 *
 * Both are written by linear addresses, with the page tables of whatever runs. The buffer is
 * mapped in one piece in vmalloc space, whose top level all page tables share from the
 * beginning: x86-64 fills it at boot (since 5.8). Only those that page table isolation has
 * for user mode lack it, and they are in use in some of the kernel's first instructions
 * too: so with isolation there is no Branch Trace Store.
 *
 * The NMI may come between any two instructions. It touches a trace only while that is in
 * bts_cpu.active:
 *
 *	start: the management area; active; then IA32_DEBUGCTL
 *	stop: active, in one instruction; then IA32_DEBUGCTL, then how far it got
 *
 * The status register tells nothing of such an interrupt: it is ours if the threshold has been
 * passed. One that comes when its trace is not active any more is claimed once.
 *
 * IA32_DEBUGCTL may be written by others with what they have read while a trace was on, after its
 * end: KVM does so at each VM exit of a thread until that is scheduled anew. So when nothing is
 * active the management area leads to a record of its own, whose interrupt ends such a trace; or
 * the next start does, or the one that gives IA32_DS_AREA back.
 */
#include <linux/cpufeature.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

#include <asm/msr.h>

#include "pmu/bts.h"
#include "pmu/bts_config.h"
#include "pmu/lbr.h"
#include "pmu/private.h"

/* "64-Bit DS Save Area": what of the management area is for branches, and room for the rest */
struct bts_area {
	u64 base;
	u64 next;
	u64 end;
	u64 threshold;
	u64 others[28];
};

/**
 * struct bts_cpu - of one CPU
 * @area: the processor's, too.
 * @parked: the record to which it leads when nothing is active.
 * @active: what is on and may be told; NULL while it is changed.
 * @found: IA32_DS_AREA as it was before.
 * @ours: IA32_DS_AREA leads to @area.
 * @started: something has been active since.
 */
struct bts_cpu {
	struct bts_area area;
	u64 parked[BTS_RECORD / sizeof(u64)];
	struct bts_trace *active;
	u64 found;
	bool ours;
	bool started;
} __aligned(64);

static DEFINE_PER_CPU_ALIGNED(struct bts_cpu, bts_cpu);
static const char *no_bts_reason __ro_after_init;
/* The management areas are ours. pmuctl_mutex of the core, and cpus_read_lock */
static bool bts_is_ours;
static int others_found_on = -1;

#define NO_THRESHOLD	(~0ULL)

static const char *bts_reason(void)
{
	return no_bts_reason;
}

static struct bts_trace *bts_of(struct hwtrace *trace)
{
	return container_of(trace, struct bts_trace, base);
}

void __init bts_init(void)
{
	struct bts_cpuid id = {
		.ds = boot_cpu_has(X86_FEATURE_DS),
		.dtes64 = boot_cpu_has(X86_FEATURE_DTES64),
		.ds_cpl = boot_cpu_has(X86_FEATURE_DSCPL),
		.isolated = boot_cpu_has(X86_FEATURE_PTI),
	};
	u64 value;

	if (id.ds && !rdmsrq_safe(MSR_IA32_MISC_ENABLE, &value))
		id.unavailable = value & MSR_IA32_MISC_ENABLE_BTS_UNAVAIL;
	no_bts_reason = bts_caps_decode(&id);
	if (!no_bts_reason && (rdmsrq_safe(MSR_IA32_DS_AREA, &value) ||
			       rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &value)))
		no_bts_reason = PMUCTL_NO_BTS_MSR;
	if (!no_bts_reason && hwpmu_reason())
		no_bts_reason = PMUCTL_NO_TRACE_PMU;
}

/* ---- Owning it ---- */

/* Change our bits of the register to @bits. */
static void write_ctl(u64 bits)
{
	u64 ctl;

	rdmsrq(MSR_IA32_DEBUGCTLMSR, ctl);
	wrmsrq(MSR_IA32_DEBUGCTLMSR, (ctl & ~BTS_CTL_ALL) | bits);
}

static u64 end_of_parked(const struct bts_cpu *cpu)
{
	return (unsigned long)cpu->parked + BTS_RECORD;
}

/*
 * Nothing is active any more. An interrupt that is on its way is claimed all the same: the
 * threshold is behind everything then, until the NMI has come.
 */
static void park(struct bts_cpu *cpu)
{
	u64 begin = (unsigned long)cpu->parked, end = end_of_parked(cpu);
	u64 threshold = READ_ONCE(cpu->area.threshold);
	bool late = READ_ONCE(cpu->area.next) >= threshold;

	this_cpu_cmpxchg(bts_cpu.area.threshold, threshold, late ? 0 : NO_THRESHOLD);
	barrier();
	WRITE_ONCE(cpu->area.base, begin);
	WRITE_ONCE(cpu->area.next, begin);
	WRITE_ONCE(cpu->area.end, end);
	barrier();
	this_cpu_cmpxchg(bts_cpu.area.threshold, NO_THRESHOLD, end);
}

/*
 * Nothing is active: is a trace on that is ours, as its memory shows? Then somebody has turned it
 * on again, and it is ended. TR alone is somebody else's. Returns whether it was on.
 */
static bool end_revived(const struct bts_cpu *cpu, u64 ctl)
{
	u64 area;

	if (!cpu->ours || (~ctl & (BTS_CTL_TRACE | BTS_CTL_STORE)))
		return false;
	rdmsrq(MSR_IA32_DS_AREA, area);
	if (area != (unsigned long)&cpu->area)
		return false;
	write_ctl(0);
	return true;
}

/* Returns whether there was one. */
static bool look_for_revived(const struct bts_cpu *cpu)
{
	u64 ctl;

	if (!cpu->ours || cpu->active)
		return false;
	rdmsrq(MSR_IA32_DEBUGCTLMSR, ctl);
	return end_revived(cpu, ctl);
}

static void take_on_cpu(void *unused)
{
	struct bts_cpu *cpu = this_cpu_ptr(&bts_cpu);

	if (cpu->ours || !this_cpu_read(hwpmu_cpu.owned))
		return;
	memset(&cpu->area, 0, sizeof(cpu->area));
	cpu->area.threshold = NO_THRESHOLD;
	park(cpu);
	rdmsrq(MSR_IA32_DS_AREA, cpu->found);
	wrmsrq(MSR_IA32_DS_AREA, (unsigned long)&cpu->area);
	cpu->started = false;
	cpu->ours = true;
}

static void give_back_on_cpu(void *unused)
{
	struct bts_cpu *cpu = this_cpu_ptr(&bts_cpu);

	if (!cpu->ours)
		return;
	look_for_revived(cpu);
	cpu->ours = false;
	wrmsrq(MSR_IA32_DS_AREA, cpu->found);
}

void bts_cpu_online(void)
{
	if (bts_is_ours)
		take_on_cpu(NULL);
}

void bts_cpu_offline(void)
{
	give_back_on_cpu(NULL);
}

static bool bts_is_taken(void)
{
	struct bts_cpu *cpu = this_cpu_ptr(&bts_cpu);
	u64 ctl;

	rdmsrq(MSR_IA32_DEBUGCTLMSR, ctl);
	return (ctl & BTS_CTL_TRACE) && !cpu->active && !end_revived(cpu, ctl);
}

/* Who traces past perf has its own area: that is left alone. */
static int bts_reserve(void)
{
	if (bts_is_ours)
		return 0;
	if (hwtrace_is_taken_by_others(&bts_unit))
		return -EBUSY;
	bts_is_ours = true;
	on_each_cpu(take_on_cpu, NULL, 1);
	return 0;
}

/* KVM may have the bits, though they are off now: it turns them on at a guest's exit. */
static void find_revived(void *cpus)
{
	const struct bts_cpu *cpu = this_cpu_ptr(&bts_cpu);

	if (look_for_revived(cpu) ||
	    (cpu->ours && cpu->started && boot_cpu_has(X86_FEATURE_VMX)))
		cpumask_set_cpu(smp_processor_id(), cpus);
}

/* KVM reads the register anew when it comes back to a CPU on which a worker has run meanwhile. */
static long end_revived_for_good(void *unused)
{
	local_irq_disable();
	look_for_revived(this_cpu_ptr(&bts_cpu));
	local_irq_enable();
	return 0;
}

static void end_all_revived(void)
{
	static struct cpumask cpus;
	unsigned int cpu;

	cpumask_clear(&cpus);
	on_each_cpu(find_revived, &cpus, 1);
	for_each_cpu(cpu, &cpus)
		work_on_cpu(cpu, end_revived_for_good, NULL);
}

static void bts_release(void)
{
	if (!bts_is_ours)
		return;
	end_all_revived();
	bts_is_ours = false;
	on_each_cpu(give_back_on_cpu, NULL, 1);
}

/* ---- Memory ---- */

/* It is not meant to be on; and must not, when its memory is somebody else's. */
static void end_here(void *unused)
{
	look_for_revived(this_cpu_ptr(&bts_cpu));
}

static void bts_free(struct hwtrace *base, const struct cpumask *ran)
{
	struct bts_trace *trace = bts_of(base);

	/* No other CPU has ever been told where it is. */
	on_each_cpu_mask(ran, end_here, NULL, 1);
	vunmap(trace->memory);
	trace->memory = NULL;
}

static bool bts_alloc(struct hwtrace *base, const struct auxbuf *buf)
{
	unsigned long i, nr = buf->size >> PAGE_SHIFT;
	struct bts_trace *trace = bts_of(base);
	struct page **pages;

	pages = kvcalloc(nr, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return false;
	for (i = 0; i < nr; i++)
		pages[i] = auxbuf_page(buf, i);
	trace->memory = vmap(pages, nr, VM_MAP, PAGE_KERNEL);
	trace->size = buf->size;
	kvfree(pages);
	return trace->memory;
}

/* ---- On and off ---- */

static u64 wanted(const struct bts_cpu *cpu)
{
	const struct bts_trace *trace = READ_ONCE(cpu->active);

	if (!trace || READ_ONCE(*trace->base.paused))
		return 0;
	return trace->window.circular ? trace->ctl : trace->ctl | BTS_CTL_INTERRUPT;
}

/* Let the register be as it should; an NMI may change that meanwhile. */
static void apply(const struct bts_cpu *cpu)
{
	u64 bits = wanted(cpu), before;

	do {
		write_ctl(bits);
		barrier();
		before = bits;
		bits = wanted(cpu);
	} while (bits != before);
}

/* What a reader must not take for records */
static void clear_skipped(const struct bts_trace *trace)
{
	const struct bts_window *window = &trace->window;

	if (window->skip)
		memset(trace->memory + trace->size - window->skip, 0, window->skip);
}

static enum hwtrace_start bts_start(struct hwtrace *base, const struct auxbuf_span *span)
{
	struct bts_cpu *cpu = this_cpu_ptr(&bts_cpu);
	struct bts_trace *trace = bts_of(base);
	u64 begin = (unsigned long)trace->memory;

	/* Not where somebody may use Processor Trace: the processor refuses it beside BTS. */
	if (!cpu->ours || cpu->active || lbr_is_barred() || bts_is_taken())
		return HWTRACE_TAKEN;
	if (!bts_window_open(&trace->window, trace->size, span))
		return HWTRACE_FULL;
	clear_skipped(trace);
	/* An NMI that is late looks at them meanwhile. */
	this_cpu_cmpxchg(bts_cpu.area.threshold, end_of_parked(cpu), NO_THRESHOLD);
	WRITE_ONCE(cpu->area.base, begin);
	WRITE_ONCE(cpu->area.next, begin + trace->window.first);
	WRITE_ONCE(cpu->area.end, begin + trace->window.end);
	WRITE_ONCE(cpu->area.threshold, trace->window.circular ? NO_THRESHOLD :
					begin + trace->window.threshold);
	barrier();
	WRITE_ONCE(cpu->active, trace);
	barrier();
	cpu->started = true;
	apply(cpu);
	return HWTRACE_STARTED;
}

static bool bts_stop(struct hwtrace *base, struct hwtrace_result *result)
{
	struct bts_cpu *cpu = this_cpu_ptr(&bts_cpu);
	struct bts_trace *trace = bts_of(base);
	u64 next;

	/* From here on the NMI leaves it alone; or has ended it, and told of it. */
	if (this_cpu_cmpxchg(bts_cpu.active, trace, NULL) != trace)
		return false;
	apply(cpu);
	/* The records are in memory, but others see them only after a fence. */
	wmb();
	next = READ_ONCE(cpu->area.next) - (unsigned long)trace->memory;
	result->bytes = bts_window_written(&trace->window, trace->size, next);
	result->skipped = result->bytes ? trace->window.skip : 0;
	result->stopped = !trace->window.circular && next + BTS_RECORD > trace->window.end;
	result->error = false;
	park(cpu);
	return true;
}

static bool bts_pause(struct hwtrace *base, bool pause)
{
	struct bts_cpu *cpu = this_cpu_ptr(&bts_cpu);

	if (READ_ONCE(*base->paused) == pause)
		return false;
	WRITE_ONCE(*base->paused, pause);
	barrier(); /* an NMI from here on, which starts it anew, knows */
	if (cpu->active == bts_of(base))
		apply(cpu);
	return true;
}

int bts_nmi(void)
{
	struct bts_cpu *cpu = this_cpu_ptr(&bts_cpu);

	if (likely(!cpu->ours))
		return 0;
	if (READ_ONCE(cpu->area.next) < cpu->area.threshold)
		return 0;
	if (cpu->active)
		hwpmu_core_ops->trace(&cpu->active->base);
	if (!cpu->active) {
		cpu->area.threshold = NO_THRESHOLD;
		look_for_revived(cpu);
	}
	return 1;
}

void bts_crash(void)
{
	if (this_cpu_read(bts_cpu.ours))
		write_ctl(0);
}

static u64 bts_config(void)
{
	return 0;
}

static int bts_encode(struct hwtrace *trace, const struct perf_event_attr *attr,
		      struct pmuctl_explanation *why)
{
	return bts_config_encode(attr, &bts_of(trace)->ctl, why);
}

const struct hwtrace_unit bts_unit = {
	.reason = bts_reason,
	.config = bts_config,
	.encode = bts_encode,
	.reserve = bts_reserve,
	.release = bts_release,
	.is_taken = bts_is_taken,
	.found_on = &others_found_on,
	.alloc = bts_alloc,
	.free = bts_free,
	.start = bts_start,
	.stop = bts_stop,
	.pause = bts_pause,
};
