// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/bts_window.c module/pmu/bts_config.c module/explain/explain.c */
/*
 * Starting, stopping and pausing a Branch Trace Store, unmapping its buffer, taking its CPU
 * offline and unloading the module, in every order, interrupted by NMIs in every place there
 * is: before any access to a register, to the management area or to what the NMI shares. The
 * file of the module itself runs, on a processor of a few lines that stores branches at each
 * step. Nothing is stored when it has been stopped, each record is published once, and nobody
 * is left to own the CPU. A trace that somebody turns on again after its end writes to nobody's
 * memory, is in nobody's way, and has ended when the CPU is given back.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

static void step(void);
#define PURE_SCHEDULE()		step()

#include "compat/pure.h"
#include "pmu/bts.h"

/* ---- What the file needs of the kernel ---- */

#define PMUCTL_PMU_PRIVATE_H
#define __init
#define __ro_after_init
#define __aligned(n)			__attribute__((aligned(n)))
#define barrier()			step()
#define wmb()				barrier()
#define memset(p, c, n)			(step(), memset(p, c, n))
#define container_of(p, type, m)	((type *)((char *)(p) - offsetof(type, m)))
#define DEFINE_PER_CPU_ALIGNED(type, name) type name
#define this_cpu_ptr(p)			(p)
#define this_cpu_read(v)		READ_ONCE(v)
#define this_cpu_cmpxchg(v, old, new)	({					\
	__typeof__(v) was_ = READ_ONCE(v);					\
	if (was_ == (old))							\
		(v) = (new);							\
	was_; })
#define on_each_cpu(f, arg, wait)	f(arg)
#define hwtrace_is_taken_by_others(unit) ((unit)->is_taken())
#define cpumask_clear(mask)
#define cpumask_set_cpu(cpu, mask)	((void)(mask), ran_here = true)
#define for_each_cpu(cpu, mask)		for ((cpu) = 0; ran_here; ran_here = false)
#define work_on_cpu(cpu, f, arg)	((void)(cpu), f(arg))
#define local_irq_disable()
#define local_irq_enable()
#define on_each_cpu_mask(mask, f, arg, wait) f(arg)
#define PAGE_SHIFT			12
#define kvcalloc(n, size, flags)	calloc(n, size)
#define kvfree(p)			free(p)
#define vmap(pages, nr, flags, prot)	map(nr)
#define vunmap(p)			unmap(p)
#define boot_cpu_has(feature)		false
#define MSR_IA32_MISC_ENABLE_BTS_UNAVAIL 0
#define rdmsrq_safe(number, value)	(*(value) = 0, 0)
#define hwpmu_reason()			NULL
#define PMUCTL_PMU_LBR_H
#define lbr_is_barred()			false

#define MSR_IA32_DS_AREA		0
#define MSR_IA32_DEBUGCTLMSR		1

struct cpumask {
	int unused;
};

static bool ran_here;
static u64 msr[2];

#define rdmsrq(number, value)		(step(), (value) = msr[number])
#define wrmsrq(number, value)		({ u64 v_ = (value); step(); msr[number] = v_; })

static struct {
	bool owned;
} hwpmu_cpu;

static const struct hwpmu_ops {
	void (*trace)(struct hwtrace *trace);
} *hwpmu_core_ops;

#define SIZE		4096ULL
#define LAP		(SIZE / BTS_RECORD)	/* records */

static u64 memory[SIZE / sizeof(u64)];
static bool mapped;

static void *map(unsigned long nr)
{
	cr_assert_eq(nr, SIZE >> PAGE_SHIFT);
	mapped = true;
	return memory;
}

static void unmap(const void *p)
{
	cr_assert_eq(p, memory);
	mapped = false;
}

struct page *auxbuf_page(const struct auxbuf *buf, unsigned long n)
{
	(void)buf;
	(void)n;
	return NULL;
}

#pragma GCC diagnostic ignored "-Wunused-parameter"	/* the kernel has no such warning */
#include "pmu/bts.c"

/* ---- What is run ---- */

enum op { START, STOP, PAUSE, RESUME, UNMAP, TURN_ON_AND_UNMAP, TURN_ON, OFFLINE, UNLOAD, OPS };

#define LENGTH	4

/* Whether everything is read, only a little fits, or what is old is overwritten */
enum mode { STREAM, TIGHT, SNAPSHOT, MODES };

static enum mode mode;
static enum op script[LENGTH];

enum action { NOTHING, INTERRUPT, LAST_INTERRUPT, NMI_PAUSE, NMI_RESUME, ACTIONS };

static struct {
	unsigned int at;
	enum action action;
} nmis[2];

static unsigned int steps, now;
static bool in_nmi;

#define fail_unless(what, text)							\
	cr_assert(what, "%s: mode %d, op %u of %d %d %d %d, NMIs %d at %u and %d at %u", text, \
		  mode, now, script[0], script[1], script[2], script[3],	\
		  nmis[0].action, nmis[0].at, nmis[1].action, nmis[1].at)

/* ---- The processor ---- */

#define FOUND		0x1234ULL	/* in IA32_DS_AREA, before and afterwards */
#define VAIN		(~0ULL)

static bool paused;
static struct bts_trace trace;
static u64 stored, published;		/* records */
static u64 stored_ever;			/* in all runs */
static u64 position;			/* of the reader, bytes */
static bool open_for_records;		/* they are going to be published */
static bool turned_on;			/* past the module */
static bool busy;			/* in an operation */
static bool pending;			/* an interrupt, of the trace that is on */
static bool masked;			/* by the one before, until its handler is done */
static unsigned int late;		/* interrupts after the end */
static u64 dropped;			/* since it was started */
static bool full;			/* nobody reads any more */

static bool is_on(void)
{
	return (msr[MSR_IA32_DEBUGCTLMSR] & (BTS_CTL_TRACE | BTS_CTL_STORE)) ==
	       (BTS_CTL_TRACE | BTS_CTL_STORE);
}

static void store(void)
{
	bool interrupts = msr[MSR_IA32_DEBUGCTLMSR] & BTS_CTL_INTERRUPT;
	struct bts_area *area = &bts_cpu.area;
	u64 *record;

	fail_unless(msr[MSR_IA32_DS_AREA] == (uintptr_t)area, "it is on with somebody else's area");
	if (area->next + BTS_RECORD > area->end) {
		dropped += interrupts && !turned_on;
		if (interrupts)
			return;
		area->next = area->base;
	}
	record = (u64 *)(uintptr_t)area->next;
	if (record == bts_cpu.parked) {
		fail_unless(turned_on || (busy && !open_for_records), "a record is lost");
		goto stored;
	}
	fail_unless(!turned_on, "a store to somebody's memory");
	fail_unless(mapped, "a store to memory that is not its own any more");
	fail_unless(open_for_records || busy, "a store after the end");
	fail_unless(record >= memory && record + 3 <= memory + SIZE / 8, "a store elsewhere");
	record[0] = record[1] = record[2] = open_for_records ? ++stored : VAIN;
	stored_ever++;
stored:
	area->next += BTS_RECORD;
	if (interrupts && area->next >= area->threshold && !masked)
		pending = true;
}

/* ---- A core that publishes ---- */

static void read_stream(const struct hwtrace_result *result)
{
	u64 i;

	for (i = 0; i < result->skipped; i += 8)
		fail_unless(!memory[(position + i) % SIZE / 8], "not zero");
	position += result->skipped;
	fail_unless(result->bytes % BTS_RECORD == 0, "a part of a record");
	for (i = 0; i < result->bytes; i += BTS_RECORD)
		fail_unless(memory[(position + i) % SIZE / 8] == ++published, "another record");
	position += result->bytes;
	fail_unless(!dropped || result->stopped, "there was no more room");
}

static void read_snapshot(void)
{
	u64 at = position % SIZE, n;

	fail_unless(!dropped, "not round and round");
	for (n = 0; n < stored && n < LAP; n++) {
		at = (at ? at : LAP * BTS_RECORD) - BTS_RECORD;
		fail_unless(memory[at / 8] == stored - n, "another record");
	}
}

static void begin(void)
{
	struct auxbuf_span span = {
		.from = position,
		.room = mode == TIGHT ? 1200 : SIZE,
		.wake = mode == SNAPSHOT ? ~0ULL : position + 5 * BTS_RECORD,
	};

	if (full)
		return;
	pending = false;
	dropped = 0;
	open_for_records = true;
	if (bts_unit.start(&trace.base, &span) != HWTRACE_STARTED)
		open_for_records = false;
	late = 0;
}

static void end(void)
{
	struct hwtrace_result result;

	if (!bts_unit.stop(&trace.base, &result))
		return;
	open_for_records = false;
	if (mode == SNAPSHOT)
		position += result.bytes;
	else
		read_stream(&result);
}

static void publish_and_begin(struct hwtrace *base)
{
	(void)base;
	end();
	begin();
}

static const struct hwpmu_ops ops = { .trace = publish_and_begin };

/* ---- NMIs ---- */

static void interrupt(void)
{
	bool was_pending = pending, was_active = bts_cpu.active || turned_on, claimed;

	pending = false;
	masked = true;
	claimed = bts_nmi();
	masked = false;
	fail_unless(claimed || !was_pending, "an NMI that nobody claims");
	late += claimed && !was_active;
	fail_unless(late <= 1, "more than one NMI after the end");
}

static void act(enum action action)
{
	if (action == LAST_INTERRUPT)
		full = true;
	if (action == INTERRUPT || action == LAST_INTERRUPT)
		interrupt();
	else if (action == NMI_PAUSE || action == NMI_RESUME)
		bts_unit.pause(&trace.base, action == NMI_PAUSE);
}

static void step(void)
{
	unsigned int i;

	if (is_on())
		for (i = 0; i < (mode == STREAM ? 1 : 6); i++)
			store();
	turned_on = turned_on && is_on();
	if (in_nmi)
		return;
	steps++;
	in_nmi = true;
	for (i = 0; i < 2; i++)
		if (nmis[i].action != NOTHING && nmis[i].at == steps)
			act(nmis[i].action);
	in_nmi = false;
}

/* ---- Operations, as the core calls them ---- */

/* Nothing is being done. */
static void rest(void)
{
	busy = false;
	step();
	step();
	fail_unless(is_on() == (bts_cpu.active && !paused) || turned_on, "on or off");
	busy = true;
}

static void get_memory(void)
{
	static struct auxbuf buf = { .size = SIZE };

	cr_assert(bts_unit.alloc(&trace.base, &buf));
	memset(memory, 0xff, sizeof(memory));
	position = 125 * BTS_RECORD;	/* not far from its end */
}

static void turn_on(void)
{
	end();
	pending = false;	/* so late it does not come */
	turned_on = bts_cpu.ours;
	if (turned_on)
		msr[MSR_IA32_DEBUGCTLMSR] |= BTS_CTL_TRACE | BTS_CTL_STORE |
					     (mode == SNAPSHOT ? 0 : BTS_CTL_INTERRUPT);
}

static void unmap_buffer(void)
{
	end();
	pending = false;
	bts_unit.free(&trace.base, NULL);
	turned_on = false;
	rest();
	if (mode == SNAPSHOT)
		stored = 0;
	get_memory();
}

static void lose_cpu(bool offline)
{
	end();
	pending = false;
	if (offline)
		bts_cpu_offline();
	else
		bts_unit.release();
	turned_on = false;
	fail_unless(!is_on() && msr[MSR_IA32_DS_AREA] == FOUND, "not as it was found");
	rest();
	begin();
	fail_unless(!bts_cpu.active && !is_on(), "it is on, on a CPU that is not ours");
	if (offline)
		bts_cpu_online();
	else
		cr_assert_eq(bts_unit.reserve(), 0);
}

static void operate(enum op op)
{
	switch (op) {
	case START:
		full = false;
		if (!bts_cpu.active)
			begin();
		break;
	case STOP:
		end();
		break;
	case PAUSE:
	case RESUME:
		bts_unit.pause(&trace.base, op == PAUSE);
		break;
	case TURN_ON:
		turn_on();
		break;
	case TURN_ON_AND_UNMAP:
		turn_on();
		/* fall through */
	case UNMAP:
		unmap_buffer();
		break;
	default:
		lose_cpu(op == OFFLINE);
	}
}

static void prepare(void)
{
	in_nmi = true;		/* none before it begins */
	memset(msr, 0, sizeof(msr));
	memset(&bts_cpu, 0, sizeof(bts_cpu));
	memset(&trace, 0, sizeof(trace));
	paused = false;
	trace.base.paused = &paused;
	msr[MSR_IA32_DS_AREA] = FOUND;
	hwpmu_core_ops = &ops;
	hwpmu_cpu.owned = true;
	bts_is_ours = false;
	trace.ctl = BTS_CTL_TRACE | BTS_CTL_STORE;
	stored = published = dropped = late = 0;
	open_for_records = turned_on = pending = full = false;
	get_memory();
	cr_assert_eq(bts_unit.reserve(), 0);
	steps = 0;
	in_nmi = false;
	busy = true;
}

/* Returns how many steps it takes. */
static unsigned int run(void)
{
	prepare();
	for (now = 0; now < LENGTH; now++) {
		operate(script[now]);
		rest();
	}
	end();
	rest();
	if (mode == SNAPSHOT)
		read_snapshot();
	else
		fail_unless(published == stored, "records that nobody gets");
	pending = false;
	bts_unit.free(&trace.base, NULL);
	bts_unit.release();
	fail_unless(!bts_cpu.active && !is_on() && msr[MSR_IA32_DS_AREA] == FOUND,
		    "not as it was found");
	return steps;
}

/* ---- */

static unsigned int runs;

static unsigned int run_quietly(void)
{
	nmis[0].action = nmis[1].action = NOTHING;
	return run();
}

static void run_with_one_nmi(void)
{
	unsigned int length = run_quietly();

	for (int action = INTERRUPT; action < ACTIONS; action++)
		for (unsigned int at = 1; at <= length + 20; at++) {
			nmis[0].action = action;
			nmis[0].at = at;
			run();
			runs++;
		}
}

/* A number whose digits are the operations */
static void choose_script(unsigned int number)
{
	script[0] = START;
	for (unsigned int i = 1; i < LENGTH; i++) {
		script[i] = number % OPS;
		number /= OPS;
	}
}

Test(bts_model, an_nmi_in_every_place_of_every_order)
{
	runs = 0;
	for (mode = STREAM; mode < MODES; mode++)
		for (unsigned int number = 0; number < OPS * OPS * OPS; number++) {
			choose_script(number);
			run_with_one_nmi();
		}
	cr_log_info("%u runs", runs);
}

static void run_with_two_nmis(void)
{
	unsigned int length = run_quietly();

	cr_assert_gt(length, 20);
	cr_assert_gt(stored_ever, 0);
	for (int first = INTERRUPT; first < ACTIONS; first++)
		for (int second = INTERRUPT; second < ACTIONS; second++)
			for (unsigned int i = 1; i <= length + 20; i++)
				for (unsigned int j = i; j <= length + 20; j++) {
					nmis[0].action = first;
					nmis[0].at = i;
					nmis[1].action = second;
					nmis[1].at = j;
					run();
					runs++;
				}
}

Test(bts_model, two_nmis_in_every_place)
{
	static const enum op scripts[][LENGTH] = {
		{ START, PAUSE, RESUME, STOP },
		{ START, STOP, START, UNMAP },
		{ START, OFFLINE, START, UNLOAD },
	};

	runs = 0;
	for (mode = STREAM; mode < MODES; mode++)
		for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
			for (unsigned int n = 0; n < LENGTH; n++)
				script[n] = scripts[i][n];
			run_with_two_nmis();
		}
	cr_log_info("%u runs", runs);
}
