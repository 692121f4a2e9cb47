// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/topa.c module/pmu/pt_filter.c module/pmu/pt_config.c module/explain/explain.c */
/*
 * Starting, stopping and pausing a trace, interrupted by NMIs in every place there is: one or
 * two of them, before any access to a register or to what the NMI shares. The file of the
 * module itself runs, on a processor of a few lines that writes while TraceEn is set. No byte is
 * published twice, none is missing, and the trace is on when it should be.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

static void step(void);
#define PURE_SCHEDULE()		step()

#include "compat/pure.h"
#include "pmu/pt.h"

/* ---- What the file needs of the kernel ---- */

#define PMUCTL_PMU_PRIVATE_H
#define PMUCTL_PMU_PERF_EXCLUSIVE_H
#define __init
#define __ro_after_init
#define barrier()			asm volatile("" ::: "memory")
#define wmb()				barrier()
#define container_of(p, type, m)	((type *)((char *)(p) - offsetof(type, m)))
#define DEFINE_PER_CPU(type, name)	type name
#define this_cpu_ptr(p)			(p)
#define this_cpu_read(v)		READ_ONCE(v)
#define this_cpu_cmpxchg(v, old, new)	({					\
	__typeof__(v) was_ = READ_ONCE(v);					\
	if (was_ == (old))							\
		(v) = (new);							\
	was_; })
#define on_each_cpu(f, arg, wait)	f(arg)
#define on_each_cpu_mask(mask, f, arg, wait) f(arg)
#define smp_call_function_single(cpu, f, arg, wait) f(arg)
#define virt_to_phys(p)			((u64)(uintptr_t)(p))
#define page_to_phys(p)			((u64)(uintptr_t)(p))
#define get_zeroed_page(flags)		((uintptr_t)calloc(1, 4096))
#define free_page(p)			free((void *)(p))
#define kvcalloc(n, size, flags)	calloc(n, size)
#define kvfree(p)			free(p)
#define boot_cpu_has(feature)		false
#define X86_FEATURE_INTEL_PT		0
#define cpuid_count(l, s, a, b, c, d)	(*(a) = *(b) = *(c) = *(d) = 0)
#define rdmsrq_safe(number, value)	(*(value) = 0, 0)
#define hwpmu_reason()			NULL
#define hwpmu_refresh()			do { } while (0)

#define MSR_IA32_RTIT_OUTPUT_BASE	0
#define MSR_IA32_RTIT_OUTPUT_MASK	1
#define MSR_IA32_RTIT_CTL		2
#define MSR_IA32_RTIT_STATUS		3
#define MSR_IA32_RTIT_ADDR0_A		4
#define MSR_IA32_RTIT_ADDR0_B		5
#define HWPMU_STATUS_TOPA		BIT_ULL(55)
#define RTIT_STATUS_ERROR		BIT_ULL(4)
#define RTIT_STATUS_STOPPED		BIT_ULL(5)

static u64 msr[8];
static bool refuses;		/* CTL: as a hypervisor does that is there since the trace began */

#define rdmsrq(number, value)		(step(), (value) = msr[number])
#define wrmsrq(number, value)		({ u64 v_ = (value); step();			\
	cr_assert(!refuses || (number) != MSR_IA32_RTIT_CTL, "a write that warns");	\
	msr[number] = v_; })
#define wrmsrq_safe(number, value)	(refuses ? -EIO : ({ wrmsrq(number, value); 0; }))

static struct { int cpuid_level; u8 x86, x86_model; } boot_cpu_data;

struct perf_exclusive {
	const char *name;
	void *events;
	bool had_events;
};

static void perf_exclusive_find(struct perf_exclusive *ex) { (void)ex; }
static int perf_exclusive_reserve(struct perf_exclusive *ex) { (void)ex; return 0; }
static void perf_exclusive_release(struct perf_exclusive *ex) { (void)ex; }
static bool perf_exclusive_cpu_online(struct perf_exclusive *ex, int cpu) { (void)ex; (void)cpu; return true; }

static const struct hwpmu_ops {
	void (*trace)(struct hwtrace *trace);
} *hwpmu_core_ops;

#pragma GCC diagnostic ignored "-Wunused-parameter"	/* the kernel has no such warning */
#include "pmu/pt.c"

/* ---- The processor, and a core that publishes ---- */

#define REGIONS		4
#define SHIFT		12
#define SIZE		((u64)REGIONS << SHIFT)
#define WRITES		8	/* bytes at each step */

static bool paused;
static struct pt_trace trace = { .base.paused = &paused };
static u64 wrote, published;
static bool full;		/* nobody reads any more */

static void publish_and_begin(struct hwtrace *base);
static const struct hwpmu_ops ops = { .trace = publish_and_begin };

static void begin(void)
{
	struct auxbuf_span span = { .from = published, .room = SIZE, .wake = ~0ULL };

	if (!full)
		pt_unit.start(&trace.base, &span);
}

static void end(void)
{
	struct hwtrace_result result;

	if (pt_unit.stop(&trace.base, &result))
		published += result.bytes;
}

static void publish_and_begin(struct hwtrace *base)
{
	(void)base;
	end();
	begin();
}

/* ---- NMIs ---- */

enum action { NOTHING, INTERRUPT, LAST_INTERRUPT, PAUSE, RESUME, ACTIONS };

static struct {
	unsigned int at;
	enum action action;
} nmis[2];

static unsigned int steps;
static bool in_nmi;

static void act(enum action action)
{
	if (action == LAST_INTERRUPT)
		full = true;
	if (action == INTERRUPT || action == LAST_INTERRUPT)
		pt_nmi();
	else if (action == PAUSE || action == RESUME)
		pt_unit.pause(&trace.base, action == PAUSE);
}

static void step(void)
{
	unsigned int i;

	if (msr[MSR_IA32_RTIT_CTL] & PT_CTL_TRACE) {
		msr[MSR_IA32_RTIT_OUTPUT_MASK] += (u64)WRITES << 32;
		wrote += WRITES;
	}
	if (in_nmi)
		return;
	steps++;
	in_nmi = true;
	for (i = 0; i < 2; i++)
		if (nmis[i].action != NOTHING && nmis[i].at == steps)
			act(nmis[i].action);
	in_nmi = false;
}

static void check(const char *when)
{
	bool on = msr[MSR_IA32_RTIT_CTL] & PT_CTL_TRACE;
	bool meant = pt_cpu.active && !paused;

	cr_assert_eq(on, meant, "%s: it is %s, with NMIs %d at %u and %d at %u", when,
		     on ? "on" : "off", nmis[0].action, nmis[0].at, nmis[1].action, nmis[1].at);
}

/* What is interrupted; returns how many steps it takes. */
static unsigned int run(void)
{
	memset(msr, 0, sizeof(msr));
	memset(&pt_cpu, 0, sizeof(pt_cpu));
	wrote = published = 0;
	full = false;
	paused = false;
	steps = 0;
	begin();
	check("started");
	pt_unit.pause(&trace.base, true);
	check("paused");
	pt_unit.pause(&trace.base, false);
	check("resumed");
	end();
	check("stopped");
	/* Who resumes it when it has just been ended for good lets it write a little in vain. */
	cr_assert(full ? published <= wrote : published == wrote, "%llu bytes published, %llu written, with NMIs %d at %u and %d at %u",
		     published, wrote, nmis[0].action, nmis[0].at, nmis[1].action, nmis[1].at);
	cr_assert_null(pt_cpu.active);
	return steps;
}

static void make(void)
{
	static char pages[REGIONS];
	static struct page *chunks[REGIONS];
	static struct auxbuf buf = { .size = SIZE, .chunk_shift = SHIFT, .chunks = chunks };

	for (unsigned int i = 0; i < REGIONS; i++)
		chunks[i] = (struct page *)&pages[i];
	hwpmu_core_ops = &ops;
	trace.ctl = PT_CTL_TOPA | PT_CTL_USER;
	cr_assert(pt_unit.alloc(&trace.base, &buf));
	pt_unit.reserve();
}

Test(pt_model, two_nmis_in_every_place)
{
	unsigned int runs = 0, length, i, j;

	make();
	nmis[0].action = nmis[1].action = NOTHING;
	length = run();
	cr_assert_gt(length, 20);
	cr_assert_gt(wrote, 0);
	for (int first = NOTHING; first < ACTIONS; first++)
		for (int second = INTERRUPT; second < ACTIONS; second++)
			for (i = 1; i <= length + 20; i++)
				for (j = i; j <= length + 20; j++) {
					nmis[0].action = first;
					nmis[0].at = i;
					nmis[1].action = second;
					nmis[1].at = j;
					run();
					runs++;
				}
	cr_log_info("%u runs of %u steps", runs, length);
	pt_unit.free(&trace.base, NULL);
}

/* In VMX operation the processor has ended it by itself (SDM Vol. 3C, "VMXON"), and refuses. */
Test(pt_model, a_refused_stop_is_an_error)
{
	struct auxbuf_span span = { .room = SIZE, .wake = ~0ULL };
	struct hwtrace_result result;

	make();
	for (int refused = 1; refused >= 0; refused--) {
		cr_assert_eq(pt_unit.start(&trace.base, &span), HWTRACE_STARTED);
		refuses = refused;
		if (refused)
			msr[MSR_IA32_RTIT_CTL] &= ~PT_CTL_TRACE;
		cr_assert(pt_unit.stop(&trace.base, &result));
		cr_expect_eq(result.error, refused);
		refuses = false;
	}
	pt_unit.free(&trace.base, NULL);
}

/* A trace that cannot go on says so where it ends, and the next one is none of its business. */
Test(pt_model, a_refused_resumption_is_an_error)
{
	struct auxbuf_span span = { .room = SIZE, .wake = ~0ULL };
	struct hwtrace_result result;

	make();
	for (int refused = 1; refused >= 0; refused--) {
		cr_assert_eq(pt_unit.start(&trace.base, &span), HWTRACE_STARTED);
		pt_unit.pause(&trace.base, true);
		refuses = refused;
		pt_unit.pause(&trace.base, false);
		cr_assert_eq(!(msr[MSR_IA32_RTIT_CTL] & PT_CTL_TRACE), refused);
		cr_assert(pt_unit.stop(&trace.base, &result));
		cr_expect_eq(result.error, refused);
		refuses = false;
	}
	pt_unit.free(&trace.base, NULL);
}
