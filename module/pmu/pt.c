// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers of Intel Processor Trace. Sections are of the SDM, Vol. 3C, chapter
 * "Intel Processor Trace".
 *
 * The kernel's own driver is kept away while ours traces (perf_exclusive.h). Others, hypervisors or
 * modules, cannot be: so each start looks whether TraceEn is set by somebody, and leaves
 * the registers alone then.
 *
 * The NMI may come between any two instructions. It touches a trace only while that is in
 * pt_cpu.active:
 *
 *	start: tables and registers, TraceEn last; then active
 *	stop: active, in one instruction; then TraceEn, then the rest
 *
 * An NMI before active is set is not lost: start looks whether there was one. An NMI that
 * ends a trace, or pauses it, while what it interrupts is about to write TraceEn, is not lost
 * either: who writes it looks afterwards whether that is still wanted.
 */
#include <linux/cpufeature.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include <asm/cpuid/api.h>
#include <asm/io.h>
#include <asm/msr.h>

#include "pmu/perf_exclusive.h"
#include "pmu/private.h"
#include "pmu/pt.h"

/* IA32_RTIT_OUTPUT_MASK_PTRS: these bits are always set; the entry follows. */
#define MASK_LOWER	0x7fULL
#define MASK_ENTRY	GENMASK_ULL(31, 7)

/**
 * struct pt_cpu - of one CPU
 * @active: what is on and may be told; NULL while it is changed.
 * @on: or is about to be, or has just been.
 * @missed: an NMI came meanwhile.
 * @refused: it could not be resumed: it is off, though it is active.
 */
struct pt_cpu {
	struct pt_trace *active;
	bool on;
	bool missed;
	bool refused;
};

static DEFINE_PER_CPU(struct pt_cpu, pt_cpu);
static struct pt_caps the_caps __ro_after_init;
static const char *no_pt_reason __ro_after_init;
/* Others are kept away on all CPUs: else ours must not start. */
u64 hwpmu_status_topa;
/* pmuctl_mutex of the core */
static struct perf_exclusive kernels_driver = { .name = "intel_pt" };
static int others_found_on = -1;

static const char *pt_reason(void)
{
	return no_pt_reason;
}

static struct pt_trace *pt_of(struct hwtrace *trace)
{
	return container_of(trace, struct pt_trace, base);
}

const struct pt_caps *pt_caps(void)
{
	return &the_caps;
}

void __init pt_init(void)
{
	struct pt_cpuid id = {
		.max_leaf = boot_cpu_data.cpuid_level,
		.pt = boot_cpu_has(X86_FEATURE_INTEL_PT),
		.family = boot_cpu_data.x86,
		.model = boot_cpu_data.x86_model,
	};
	u32 eax, edx, ecx;
	u64 value;

	if (id.max_leaf >= 0x14) {
		cpuid_count(0x14, 0, &eax, &id.ebx, &id.ecx, &edx);
		if (eax)
			cpuid_count(0x14, 1, &id.eax1, &id.ebx1, &ecx, &edx);
	}
	no_pt_reason = pt_caps_decode(&id, &the_caps);
	if (!no_pt_reason && rdmsrq_safe(MSR_IA32_RTIT_CTL, &value))
		no_pt_reason = PMUCTL_NO_PT_MSR;
	if (!no_pt_reason && hwpmu_reason())
		no_pt_reason = PMUCTL_NO_TRACE_PMU;
	if (no_pt_reason)
		return;
	perf_exclusive_find(&kernels_driver);
}

static void refresh(void *unused)
{
	hwpmu_refresh();
}

static int pt_reserve(void)
{
	int err;

	if (kernels_driver.events)
		return 0;
	err = perf_exclusive_reserve(&kernels_driver);
	WRITE_ONCE(hwpmu_status_topa, err ? 0 : HWPMU_STATUS_TOPA);
	/* Where perf has had an event it has written the counters' registers. */
	if (kernels_driver.had_events)
		on_each_cpu(refresh, NULL, 1);
	return err;
}

static void pt_release(void)
{
	WRITE_ONCE(hwpmu_status_topa, 0);
	perf_exclusive_release(&kernels_driver);
}

static bool pt_cpu_came(int cpu)
{
	bool kept = perf_exclusive_cpu_online(&kernels_driver, cpu);

	smp_call_function_single(cpu, refresh, NULL, 1);
	return kept;
}

static bool pt_is_taken(void)
{
	u64 ctl;

	rdmsrq(MSR_IA32_RTIT_CTL, ctl);
	return (ctl & PT_CTL_TRACE) && !this_cpu_read(pt_cpu.active);
}

/* ---- Tables ---- */

static void free_tables(struct topa *topa)
{
	unsigned int i;

	if (topa->tables)
		for (i = 0; i < topa_nr_tables(topa->nr_regions); i++)
			free_page((unsigned long)topa->tables[i]);
	kvfree(topa->tables);
	kvfree(topa->addresses);
	memset(topa, 0, sizeof(*topa));
}

static bool pt_alloc(struct hwtrace *trace, const struct auxbuf *buf)
{
	struct topa *topa = &pt_of(trace)->topa;
	unsigned int nr, i;

	topa->nr_regions = auxbuf_nr_chunks(buf);
	topa->shift = buf->chunk_shift;
	topa->marked[0] = -1;
	topa->marked[1] = -1;
	nr = topa_nr_tables(topa->nr_regions);
	topa->tables = kvcalloc(nr, sizeof(*topa->tables), GFP_KERNEL_ACCOUNT);
	topa->addresses = kvcalloc(nr, sizeof(*topa->addresses), GFP_KERNEL_ACCOUNT);
	if (!topa->tables || !topa->addresses)
		goto err;
	for (i = 0; i < nr; i++) {
		topa->tables[i] = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
		if (!topa->tables[i])
			goto err;
		topa->addresses[i] = virt_to_phys(topa->tables[i]);
	}
	for (i = 0; i < topa->nr_regions; i++)
		topa_set(topa, i, page_to_phys(buf->chunks[i]));
	return true;

err:
	free_tables(topa);
	return false;
}

/* ---- On and off ---- */

static void write_place(const struct topa *topa, const struct topa_place *place)
{
	wrmsrq(MSR_IA32_RTIT_STATUS, 0);
	wrmsrq(MSR_IA32_RTIT_OUTPUT_BASE, topa->addresses[place->table]);
	wrmsrq(MSR_IA32_RTIT_OUTPUT_MASK, (u64)place->offset << 32 |
	       (u64)place->entry << 7 | MASK_LOWER);
}

/* Where it is now; false if that is none of our tables. */
static bool read_place(const struct topa *topa, struct topa_place *place)
{
	unsigned int i;
	u64 base, mask;

	rdmsrq(MSR_IA32_RTIT_OUTPUT_BASE, base);
	rdmsrq(MSR_IA32_RTIT_OUTPUT_MASK, mask);
	place->offset = mask >> 32;
	place->entry = (mask & MASK_ENTRY) >> 7;
	for (i = 0; i < topa_nr_tables(topa->nr_regions); i++)
		if (topa->addresses[i] == base) {
			place->table = i;
			return true;
		}
	return false;
}

/* Where it is full, it stays at the end of a region. */
static bool place_has_room(const struct topa *topa, const struct topa_place *place)
{
	return place->offset != BIT_ULL(topa->shift);
}

/* It is not meant to be on; and must not, when its memory is somebody else's. */
static void end_here(void *topa)
{
	struct topa_place place;
	u64 ctl;

	rdmsrq(MSR_IA32_RTIT_CTL, ctl);
	if ((ctl & PT_CTL_TRACE) && read_place(topa, &place))
		wrmsrq(MSR_IA32_RTIT_CTL, 0);
}

static void pt_free(struct hwtrace *trace, const struct cpumask *ran)
{
	struct topa *topa = &pt_of(trace)->topa;

	/* No other CPU has ever been told where our tables are. */
	on_each_cpu_mask(ran, end_here, topa, 1);
	free_tables(topa);
}

static void write_filter(const struct pt_filter *filter)
{
	unsigned int i;

	for (i = 0; i < filter->nr; i++) {
		wrmsrq(MSR_IA32_RTIT_ADDR0_A + 2 * i, filter->ranges[i].from);
		wrmsrq(MSR_IA32_RTIT_ADDR0_B + 2 * i, filter->ranges[i].to);
	}
}

static u64 ctl_of(const struct pt_trace *trace)
{
	u64 ctl = trace->ctl | pt_filter_ctl(&trace->filter);

	return READ_ONCE(*trace->base.paused) ? ctl : ctl | PT_CTL_TRACE;
}

static u64 wanted(const struct pt_cpu *cpu)
{
	const struct pt_trace *trace = READ_ONCE(cpu->active);

	return trace ? ctl_of(trace) : 0;
}

/*
 * Let the register, which is @ctl now, be as it should; an NMI may change that meanwhile. A
 * hypervisor that has come meanwhile, on CPUs that do not trace in VMX operation, refuses that.
 */
static void apply(struct pt_cpu *cpu, u64 ctl)
{
	u64 now;

	while ((now = wanted(cpu)) != ctl) {
		ctl = now;
		if (wrmsrq_safe(MSR_IA32_RTIT_CTL, ctl)) {
			WRITE_ONCE(cpu->refused, true);
			return;
		}
		barrier();
	}
}

static enum hwtrace_start pt_start(struct hwtrace *base, const struct auxbuf_span *span)
{
	struct pt_cpu *cpu = this_cpu_ptr(&pt_cpu);
	struct pt_trace *trace = pt_of(base);
	struct topa_place place;
	u64 ctl;

	if (cpu->active || !READ_ONCE(hwpmu_status_topa) || pt_is_taken())
		return HWTRACE_TAKEN;
	if (!topa_prepare(&trace->topa, span, &place))
		return HWTRACE_FULL;
	trace->from = span->from;
	write_place(&trace->topa, &place);
	write_filter(&trace->filter);
	WRITE_ONCE(cpu->missed, false);
	WRITE_ONCE(cpu->refused, false);
	ctl = ctl_of(trace);
	WRITE_ONCE(cpu->on, true);
	/* A hypervisor, or VMX on old CPUs, may refuse. */
	if (wrmsrq_safe(MSR_IA32_RTIT_CTL, ctl)) {
		WRITE_ONCE(cpu->on, false);
		return HWTRACE_TAKEN;
	}
	barrier();
	WRITE_ONCE(cpu->active, trace);
	barrier();
	apply(cpu, ctl);
	if (READ_ONCE(cpu->missed))
		hwpmu_core_ops->trace(base);
	return HWTRACE_STARTED;
}

static bool pt_stop(struct hwtrace *base, struct hwtrace_result *result)
{
	struct pt_trace *trace = pt_of(base);
	struct topa_place place;
	bool refused;
	u64 status;

	/* From here on the NMI leaves it alone; or has ended it, and told of it. */
	if (this_cpu_cmpxchg(pt_cpu.active, trace, NULL) != trace)
		return false;
	/* In VMX operation, which has ended it, old CPUs refuse that, too. */
	refused = wrmsrq_safe(MSR_IA32_RTIT_CTL, 0) || READ_ONCE(this_cpu_ptr(&pt_cpu)->refused);
	WRITE_ONCE(this_cpu_ptr(&pt_cpu)->on, false);
	/* The packets are in memory, but others see them only after a fence. */
	wmb();
	rdmsrq(MSR_IA32_RTIT_STATUS, status);
	result->stopped = status & RTIT_STATUS_STOPPED;
	result->error = (status & RTIT_STATUS_ERROR) || refused;
	result->bytes = 0;
	result->skipped = 0;
	if (read_place(&trace->topa, &place))
		result->bytes = topa_written(&trace->topa, trace->from, &place);
	else
		result->error = true;
	/* It may have stopped where the filter said: then there was room. */
	if (pt_filter_stops(&trace->filter) && place_has_room(&trace->topa, &place))
		result->stopped = false;
	return true;
}

static bool pt_pause(struct hwtrace *base, bool pause)
{
	struct pt_cpu *cpu = this_cpu_ptr(&pt_cpu);
	struct pt_trace *trace = pt_of(base);

	if (READ_ONCE(*base->paused) == pause)
		return false;
	WRITE_ONCE(*base->paused, pause);
	barrier(); /* an NMI from here on, which starts it anew, knows */
	if (READ_ONCE(cpu->active) == trace)
		apply(cpu, ctl_of(trace) ^ PT_CTL_TRACE);
	return true;
}

void pt_nmi(void)
{
	struct pt_cpu *cpu = this_cpu_ptr(&pt_cpu);

	if (cpu->active)
		hwpmu_core_ops->trace(&cpu->active->base);
	else
		WRITE_ONCE(cpu->missed, true);
}

bool pt_is_on(void)
{
	return READ_ONCE(this_cpu_ptr(&pt_cpu)->on);
}

static u64 pt_config(void)
{
	return the_caps.allowed;
}

/* Whether or not it is told of: who stops it may just have been interrupted. */
void pt_crash(void)
{
	u64 ctl;

	if (!READ_ONCE(hwpmu_status_topa))
		return;
	rdmsrq(MSR_IA32_RTIT_CTL, ctl);
	if (ctl & PT_CTL_TRACE)
		wrmsrq(MSR_IA32_RTIT_CTL, ctl & ~PT_CTL_TRACE);
}

static int pt_encode(struct hwtrace *trace, const struct perf_event_attr *attr,
		     struct pmuctl_explanation *why)
{
	return pt_config_encode(&the_caps, attr, &pt_of(trace)->ctl, why);
}

const struct hwtrace_unit pt_unit = {
	.reason = pt_reason,
	.config = pt_config,
	.encode = pt_encode,
	.reserve = pt_reserve,
	.release = pt_release,
	.cpu_came = pt_cpu_came,
	.is_taken = pt_is_taken,
	.found_on = &others_found_on,
	.alloc = pt_alloc,
	.free = pt_free,
	.start = pt_start,
	.stop = pt_stop,
	.pause = pt_pause,
};
